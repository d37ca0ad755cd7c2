// Ambient visibility of a pixel's surface, read from `occlusion_words`, or unoccluded if no rays are traced. The
// importer binds the buffer.
#import "environment/environment.wgsl"
#import "frame/frame.wgsl"
#import "math/color.wgsl"
#import "frame/ambient_visibility.wgsl"

fn ambient_visibility_at(pixel: vec2u, normal: vec3f) -> AmbientVisibility {
    if frame.occlusion == 0u {
        return ambient_unoccluded(normal);
    }
    let words = occlusion_words[pixel.y * frame.size.x + pixel.x];
    if frame.all_bounces == 0u {
        return ambient_visibility_unpack(words);
    }
    let visible = rgb9e5_unpack(words.x);
    let share = saturate(luminance(visible) / max(luminance(environment_diffuse(normal)), 1.0e-20));
    return AmbientVisibility(normal, share, rgb9e5_unpack(words.y), 0.0, true, true, visible);
}
