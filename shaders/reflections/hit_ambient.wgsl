// Ambient visibility of a hit of a reflection ray, packed as bounced light in two words (math/rgb16.wgsl) and the sum
// of the occlusion that its rays found. It is the layer HITS_AMBIENT of `hits_texture`.
#import "frame/ambient_visibility.wgsl"
#import "frame/frame.wgsl"
#import "reflections/reflection_ray.wgsl"
#import "math/rgb16.wgsl"

fn hit_ambient_unpack(words: vec4u, normal: vec3f) -> AmbientVisibility {
    let visibility = 1.0 - bitcast<f32>(words.z) / f32(HIT_AMBIENT_RAYS);
    var ambient = ambient_traced(normal, visibility, rgb16_unpack(words.xy));
    ambient.is_pair = 1.0;
    return ambient;
}
