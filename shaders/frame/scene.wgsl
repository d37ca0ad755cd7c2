// The merged scene as the renderer's passes read it (group 2).

// Three floats per vertex.
#array read 2 0 positions: u32
// Normal (3 floats) and tangent (4 floats, see deform.wgsl for w) of each vertex.
#array read 2 1 frames: u32
#array read 2 2 indices: u32
// Three pairs of words per vertex: UV set 0, UV set 1, colour as 4 × 16 bits.
@group(2) @binding(3) var<storage, read> vertices: array<vec2u>;
// Tables. First come the alpha of the materials for any-hit tests, and their mean colours: a header per material, then
// alpha texels, four per word. The frame's lights follow (light/light_table.wgsl).
@group(2) @binding(4) var<storage, read> tables: array<u32>;

fn scene_position(vertex: u32) -> vec3f {
    let first = 3u * vertex;
    return bitcast<vec3f>(vec3u(positions(first), positions(first + 1u), positions(first + 2u)));
}

fn scene_normal(vertex: u32) -> vec3f {
    let first = 7u * vertex;
    return bitcast<vec3f>(vec3u(frames(first), frames(first + 1u), frames(first + 2u)));
}

fn scene_tangent(vertex: u32) -> vec4f {
    let first = 7u * vertex + 3u;
    return bitcast<vec4f>(vec4u(frames(first), frames(first + 1u), frames(first + 2u), frames(first + 3u)));
}

fn scene_uv(vertex: u32, uv_set: u32) -> vec2f {
    return bitcast<vec2f>(vertices[3u * vertex + uv_set]);
}

fn scene_color(vertex: u32) -> vec4f {
    let packed = vertices[3u * vertex + 2u];
    return vec4f(unpack2x16unorm(packed.x), unpack2x16unorm(packed.y));
}
