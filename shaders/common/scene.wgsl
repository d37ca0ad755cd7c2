// The merged scene as the renderer's passes read it (group 2).

@group(2) @binding(0) var<storage, read> positions: array<f32>;
// Normal (3 floats) and tangent (4 floats, whose w deform.wgsl explains) of each vertex.
@group(2) @binding(1) var<storage, read> frames: array<f32>;
@group(2) @binding(2) var<storage, read> indices: array<u32>;
// Three pairs of words a vertex: UV set 0, UV set 1, colour as 4 × 16 bits.
@group(2) @binding(3) var<storage, read> vertices: array<vec2u>;
// Alpha of the materials, for any-hit tests, and their mean colours: a header per material, then texels of alpha, four
// to a word.
@group(2) @binding(4) var<storage, read> alpha: array<u32>;

fn scene_position(vertex: u32) -> vec3f {
    return vec3f(positions[3u * vertex], positions[3u * vertex + 1u], positions[3u * vertex + 2u]);
}

fn scene_normal(vertex: u32) -> vec3f {
    return vec3f(frames[7u * vertex], frames[7u * vertex + 1u], frames[7u * vertex + 2u]);
}

fn scene_tangent(vertex: u32) -> vec4f {
    return vec4f(
        frames[7u * vertex + 3u],
        frames[7u * vertex + 4u],
        frames[7u * vertex + 5u],
        frames[7u * vertex + 6u],
    );
}

fn scene_uv(vertex: u32, uv_set: u32) -> vec2f {
    return bitcast<vec2f>(vertices[3u * vertex + uv_set]);
}

fn scene_color(vertex: u32) -> vec4f {
    let packed = vertices[3u * vertex + 2u];
    return vec4f(unpack2x16unorm(packed.x), unpack2x16unorm(packed.y));
}
