// prefilter: computes a level of the prefiltered cube. A texel is the mean radiance over the GGX lobe around its
// direction, weighted by n · l.
//
// in   radiance, with all levels; samples: unit vectors to the light about the normal z. Their w is the mip level to
//      read at the centre of a face. It is half the base-2 logarithm of the sample's solid angle over the texel's
//      (Křivánek and Colbert 2008, "Real-time shading with filtered importance sampling").
// out  prefiltered: the level
// The approximation n = v = r is from Karis 2013, "Real Shading in Unreal Engine 4". Rough levels have few texels and
// many samples. Therefore each texel has eight threads, which take every eighth sample each, and their sums are added
// in workgroup memory. A workgroup has eight texels of a row, and neighbouring threads read the same sample.
#import "environment/cube_map.wgsl"
#import "math/half_float.wgsl"

const PARTS = 8u;

struct PrefilterParams {
    // Number of samples.
    count: u32,
    // First row of each face that the dispatch writes.
    row_offset: u32,
}

@group(0) @binding(0) var<uniform> params: PrefilterParams;
@group(0) @binding(1) var<uniform> samples: array<vec4f, PREFILTER_SAMPLES_MAX>;
@group(0) @binding(2) var radiance: texture_cube<f32>;
@group(0) @binding(3) var linear: sampler;
@group(0) @binding(4) var prefiltered: texture_storage_2d_array<rgba16float, write>;

// Radiance × weight, and the weight, by part and texel.
var<workgroup> sums: array<array<vec4f, 8>, PARTS>;

@compute @workgroup_size(8, PARTS)
fn prefilter(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let face_size = textureDimensions(prefiltered).x;
    let at = vec2u(8u * group.x + local.x, group.y + params.row_offset);
    let coords = (vec2f(at) + 0.5) * (2.0 / f32(face_size)) - 1.0;
    let normal = normalize(cube_map_direction(group.z, coords));
    let right = cube_map_direction(group.z, vec2f(1.0, 0.0)) - cube_map_direction(group.z, vec2f(0.0));
    let tangent = normalize(right - normal * dot(normal, right));
    let bitangent = cross(normal, tangent);
    var sum = vec4f(0.0);
    for (var i = local.y; i < params.count; i += PARTS) {
        let s = samples[i];
        let to_light = tangent * s.x + bitangent * s.y + normal * s.z;
        let sides = abs(to_light);
        // Towards the corners, a texel's solid angle shrinks with the third power.
        let lod = s.w - 1.5 * log2(max(sides.x, max(sides.y, sides.z)));
        sum += s.z * vec4f(textureSampleLevel(radiance, linear, to_light, lod).rgb, 1.0);
    }
    sums[local.y][local.x] = sum;
    workgroupBarrier();
    if local.y > 0u || at.x >= face_size {
        return;
    }
    for (var part = 1u; part < PARTS; part++) {
        sum += sums[part][local.x];
    }
    textureStore(prefiltered, at, group.z, half_float_round(vec4f(sum.rgb / sum.w, 1.0)));
}
