// Vertex shader of a full-screen triangle, with texture coordinates from the top-left corner of the target.

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn fullscreen(@builtin(vertex_index) i: u32) -> Corner {
    let uv = vec2f(f32((i << 1u) & 2u), f32(i & 2u));
    return Corner(vec4f(uv * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0), 0.0, 1.0), uv);
}
