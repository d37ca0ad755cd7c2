// prefilter: a level of the cube that glossy surfaces mirror: for each direction the mean radiance over the lobe of GGX around it, seen from the
// direction itself (n = v = r; Karis 2013, "Real Shading in Unreal Engine 4"), weighed by n · l.
//
// in   radiance, with all levels; samples: unit vectors to the light over the normal z, and in w the level to read where a texel's solid angle is
//      that in the middle of a face: half the logarithm of the sample's over the texel's (Křivánek and Colbert 2008, "Real-time shading
//      with filtered importance sampling")
// out  prefiltered: the level
// One thread per texel of all six faces, from first_row on.
#import "common/cube_map.wgsl"
#import "common/half_float.wgsl"
#import "common/unseen.wgsl"

struct PrefilterParams {
    // Samples.
    count: u32,
    // First of the rows of each face that are written.
    first_row: u32,
    // After the last one.
    end_row: u32,
}

@group(0) @binding(0) var<uniform> params: PrefilterParams;
@group(0) @binding(1) var<uniform> samples: array<vec4f, PREFILTER_SAMPLES_MAX>;
@group(0) @binding(2) var radiance: texture_cube<f32>;
@group(0) @binding(3) var linear: sampler;
@group(0) @binding(4) var prefiltered: texture_storage_2d_array<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn prefilter(@builtin(global_invocation_id) id: vec3u) {
    let face_size = textureDimensions(prefiltered).x;
    let at = vec2u(id.x, id.y + params.first_row);
    if at.x >= face_size || at.y >= params.end_row {
        return;
    }
    let place = (vec2f(at) + 0.5) * (2.0 / f32(face_size)) - 1.0;
    let normal = normalize(cube_map_direction(id.z, place));
    let right = cube_map_direction(id.z, vec2f(1.0, 0.0)) - cube_map_direction(id.z, vec2f(0.0));
    let tangent = normalize(right - normal * dot(normal, right));
    let bitangent = cross(normal, tangent);
    let count = params.count + unseen_zero(f32(id.x));
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var i = 0u; i < count; i++) {
        let s = samples[i];
        let to_light = tangent * s.x + bitangent * s.y + normal * s.z;
        let sides = abs(to_light);
        // Towards the corners a texel covers less, by the third power.
        let lod = s.w - 1.5 * log2(max(sides.x, max(sides.y, sides.z)));
        sum += s.z * textureSampleLevel(radiance, linear, to_light, lod).rgb;
        weights += s.z;
    }
    textureStore(prefiltered, at, id.z, half_float_round(vec4f(sum / weights, 1.0)));
}
