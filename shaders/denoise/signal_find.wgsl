// Searches for a surface in the last frame, in `last_surfaces`. The importer binds it.
#import "denoise/signal.wgsl"
#import "denoise/reprojected.wgsl"

struct SignalFound {
    // Arguments of reprojected_pack.
    corner: vec2i,
    part: vec2f,
    same: u32,
    // Sum of the weights of the pixels that show the surface, and their mean number of visible frames.
    weight: f32,
    frames: f32,
}

// Finds the pixels that showed a surface in the last frame. `at` is its last screen position, in pixels from the centre
// of the first pixel, and `position` is its last position. A pixel shows the same surface if its mesh is the same, the
// normals agree, and one surface's point is within `near` of the other surface's plane.
fn signal_find(at: vec2f, position: vec3f, normal: vec3f, mesh: u32, near: f32, was_in_front: bool) -> SignalFound {
    let corner = clamp(floor(at), vec2f(-1.0), vec2f(frame.size));
    let part = clamp(at - corner, vec2f(0.0), vec2f(1.0));
    var found = SignalFound(vec2i(corner), part, 0u, 0.0, 0.0);
    for (var i = 0u; i < 4u; i++) {
        let step = vec2u(i & 1u, i >> 1u);
        let tap = corner + vec2f(step);
        let was_seen = all(tap >= vec2f(0.0)) && all(tap < vec2f(frame.size)) && was_in_front;
        let tap_texel = vec2u(select(vec2f(0.0), tap, was_seen));
        let last = signal_surface_unpack(textureLoad(last_surfaces, tap_texel, 0));
        let off = last.position - position;
        let away = max(abs(dot(off, normal)), abs(dot(off, last.normal)));
        let is_same = was_seen && last.frames > 0u && away < near && dot(last.normal, normal) > 0.9
            && last.mesh == mesh;
        let sides = select(1.0 - part, part, step == vec2u(1u));
        let weight = select(0.0, sides.x * sides.y, is_same);
        found.same |= select(0u, 1u << i, is_same);
        found.weight += weight;
        found.frames += weight * f32(last.frames);
    }
    found.frames *= select(0.0, 1.0 / max(found.weight, 0.01), found.weight > 0.01);
    return found;
}
