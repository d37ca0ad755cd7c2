// path_emitters, path_environment, path_scan: build the distributions by which the path tracer samples light.
//
// path_emitters     one thread per emissive triangle: its area times the luminance of its material
// path_environment  one thread per texel of a level of the environment cube: its luminance times its solid angle.
//                   Paths sample the cube with a linear filter, so this is the mean filtered luminance over the texel.
//                   A light of one texel spreads nearly half of its light to the texels around it.
// path_scan         one workgroup: replaces these weights by their inclusive prefix sums, divided by the total; zeros
//                   if the total is 0
#import "environment/cube_map.wgsl"
#import "bvh/dispatch.wgsl"
#import "path/path_table.wgsl"
#import "frame/scene.wgsl"

@group(1) @binding(0) var<uniform> params: PathParams;
@group(1) @binding(1) var<storage, read_write> table: array<u32>;
@group(1) @binding(2) var cube: texture_2d_array<f32>;

const LUMINANCE = vec3f(0.2126, 0.7152, 0.0722);

@compute @workgroup_size(64)
fn path_emitters(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    let count = params.emitter_count;
    if number >= count {
        return;
    }
    let triangle = table[params.emitter_word + number];
    let index = table[params.emitter_word + 2u * count + number];
    let at = params.material_word + params.material_stride * index + 4u;
    let glow = bitcast<vec3f>(vec3u(table[at], table[at + 1u], table[at + 2u]));
    let v0 = scene_position(indices(3u * triangle));
    let v1 = scene_position(indices(3u * triangle + 1u));
    let v2 = scene_position(indices(3u * triangle + 2u));
    let weight = length(cross(v1 - v0, v2 - v0)) * dot(glow, LUMINANCE);
    let is_finite = weight >= 0.0 && weight < 1.0e30;
    table[params.emitter_word + count + number] = bitcast<u32>(select(0.0, weight, is_finite));
}

// Returns the luminance of a texel of a face. The texel may lie beyond an edge, on the neighbouring face.
fn luminance_at(face: u32, texel: vec2i, side: u32) -> f32 {
    var at = CubeMapPlace(face, 2.0 * (vec2f(texel) + 0.5) / f32(side) - 1.0);
    if any(texel < vec2i(0)) || any(texel >= vec2i(i32(side))) {
        at = cube_map_place(cube_map_direction(face, at.coords));
    }
    let found = min(vec2u(saturate(0.5 * at.coords + 0.5) * f32(side)), vec2u(side - 1u));
    return max(dot(textureLoad(cube, found, at.face, 0).rgb, LUMINANCE), 0.0);
}

@compute @workgroup_size(64)
fn path_environment(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    let side = params.environment_face;
    if number >= 6u * side * side {
        return;
    }
    let texel = vec2u(number % side, number / side % side);
    var luminance = 0.0;
    for (var i = 0u; i < 9u; i++) {
        let step = vec2i(vec2u(i % 3u, i / 3u)) - 1;
        // The mean of a linear filter over a texel weights it with 6/8, and either neighbour with 1/8.
        let shares = select(vec2f(0.125), vec2f(0.75), step == vec2i(0));
        luminance += shares.x * shares.y * luminance_at(number / (side * side), vec2i(texel) + step, side);
    }
    let coords = 2.0 * (vec2f(texel) + 0.5) / f32(side) - 1.0;
    let distance = cube_map_length(coords.x, coords.y);
    let weight = luminance / (distance * distance * distance);
    table[params.environment_word + number] = bitcast<u32>(weight);
}

var<workgroup> sums: array<f32, 256>;

@compute @workgroup_size(256)
fn path_scan(@builtin(local_invocation_index) thread: u32) {
    let word = params.scan_word;
    let count = params.scan_count;
    let run = (count + 255u) / 256u;
    let first = word + min(run * thread, count);
    let end = word + min(run * (thread + 1u), count);
    var own = 0.0;
    for (var i = first; i < end; i++) {
        own += bitcast<f32>(table[i]);
    }
    sums[thread] = own;
    workgroupBarrier();
    var before = 0.0;
    var all = 0.0;
    for (var i = 0u; i < 256u; i++) {
        before = select(before, all, i == thread);
        all += sums[i];
    }
    let most = min(before + own, all);
    var sum = before;
    for (var i = first; i < end; i++) {
        // Rounding must not lift a sum above the first sum of the next run.
        sum = min(sum + bitcast<f32>(table[i]), most);
        table[i] = bitcast<u32>(select(0.0, sum / all, all > 0.0));
    }
    if end > first && end == word + count {
        table[end - 1u] = bitcast<u32>(select(0.0, 1.0, all > 0.0));
    }
}
