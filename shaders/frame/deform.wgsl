// deform: applies morph targets, then the skin or the node's matrix, and writes every vertex of the scene into the
// merged buffers.
//
// in   parts, part_of_vertex, sources (bind pose), influences, deltas, pose (matrices, then morph weights)
// out  positions (3 floats per vertex), frames (normal 3, tangent 4). The tangent's w is the bitangent's sign times the
//      length in world space of a unit step along the normal. That length scales thicknesses below the surface.
// One thread per merged vertex. By glTF 2.0, section 3.7.2, morph targets are added first. A skinned vertex then uses
// its blended joint matrices instead of its node's matrix. Normals are transformed by the cofactor matrix, which is
// correct for any scale. A mirroring matrix flips the bitangent's sign.
#import "bvh/dispatch.wgsl"

struct DeformPart {
    first_vertex: u32,
    first_source: u32,
    // All ones if the part has no skin.
    first_influence: u32,
    influences_per_vertex: u32,
    first_delta: u32,
    target_count: u32,
    vertex_count: u32,
    first_matrix: u32,
    first_weight: u32,
}

@group(0) @binding(0) var<storage, read> parts: array<DeformPart>;
@group(0) @binding(1) var<storage, read> part_of_vertex: array<u32>;
// Ten floats per vertex: position 3, normal 3, tangent 4.
@group(0) @binding(2) var<storage, read> sources: array<f32>;
// Pairs of joint and weight (as bits).
@group(0) @binding(3) var<storage, read> influences: array<vec2u>;
// Nine floats per target and vertex: position 3, normal 3, tangent 3.
@group(0) @binding(4) var<storage, read> deltas: array<f32>;
@group(0) @binding(5) var<storage, read> pose: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> positions: array<f32>;
@group(0) @binding(7) var<storage, read_write> frames: array<f32>;

fn source(at: u32) -> vec3f {
    return vec3f(sources[at], sources[at + 1u], sources[at + 2u]);
}

fn delta(at: u32) -> vec3f {
    return vec3f(deltas[at], deltas[at + 1u], deltas[at + 2u]);
}

fn pose_matrix(index: u32) -> mat4x4f {
    return mat4x4f(pose[4u * index], pose[4u * index + 1u], pose[4u * index + 2u], pose[4u * index + 3u]);
}

fn normalize_or(v: vec3f, fallback: vec3f) -> vec3f {
    let largest = max(abs(v.x), max(abs(v.y), abs(v.z)));
    if !(largest > 0.0) {
        return fallback;
    }
    return normalize(v / largest);
}

@compute @workgroup_size(256)
fn deform(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let vertex = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if vertex >= arrayLength(&part_of_vertex) {
        return;
    }
    let part = parts[part_of_vertex[vertex]];
    let local = vertex - part.first_vertex;
    if local >= part.vertex_count {
        return;
    }
    let at = 10u * (part.first_source + local);
    var position = source(at);
    var normal = source(at + 3u);
    var tangent = source(at + 6u);
    for (var target_index = 0u; target_index < part.target_count; target_index++) {
        let word = part.first_weight + target_index;
        let weight = pose[word / 4u][word % 4u];
        if weight != 0.0 {
            let first = 9u * (part.first_delta + target_index * part.vertex_count + local);
            position += weight * delta(first);
            normal += weight * delta(first + 3u);
            tangent += weight * delta(first + 6u);
        }
    }

    var world_from_mesh = mat4x4f();
    if part.first_influence == 0xffffffffu {
        world_from_mesh = pose_matrix(part.first_matrix);
    } else {
        for (var i = 0u; i < part.influences_per_vertex; i++) {
            let influence = influences[part.first_influence + local * part.influences_per_vertex + i];
            let weight = bitcast<f32>(influence.y);
            if weight != 0.0 {
                world_from_mesh += weight * pose_matrix(part.first_matrix + influence.x);
            }
        }
    }
    let x = world_from_mesh[0].xyz;
    let y = world_from_mesh[1].xyz;
    let z = world_from_mesh[2].xyz;
    let cofactors = mat3x3f(cross(y, z), cross(z, x), cross(x, y));
    let mirrored = select(1.0, -1.0, dot(x, cofactors[0]) < 0.0);

    let world_position = (world_from_mesh * vec4f(position, 1.0)).xyz;
    let world_normal = normalize_or(mirrored * (cofactors * normal), vec3f(0.0, 1.0, 0.0));
    let world_tangent = normalize_or(mat3x3f(x, y, z) * tangent, vec3f(1.0, 0.0, 0.0));
    for (var axis = 0u; axis < 3u; axis++) {
        positions[3u * vertex + axis] = world_position[axis];
        frames[7u * vertex + axis] = world_normal[axis];
        frames[7u * vertex + 3u + axis] = world_tangent[axis];
    }
    // Clamped away from zero, which has no sign, and from infinity.
    let scale = clamp(length(mat3x3f(x, y, z) * normalize_or(normal, vec3f(0.0, 1.0, 0.0))), 1.0e-6, 1.0e6);
    frames[7u * vertex + 6u] = mirrored * sources[at + 9u] * scale;
}
