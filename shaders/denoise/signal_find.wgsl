// Looks for a surface among those that the last frame saw: `last_surfaces`, which the importer binds.
#import "denoise/signal.wgsl"
#import "denoise/signal_taps.wgsl"

struct SignalFound {
    // As signal_taps_pack takes them.
    corner: vec2i,
    part: vec2f,
    same: u32,
    // The sum of what the pixels count, and the frames since they became visible, in their mean.
    weight: f32,
    frames: f32,
}

// `at` is where the surface was in the picture of the last frame, in pixels from the centre of the first one; its
// point was at `position` then. It is the one that was seen where either plane holds the other's point to within a
// pixel's width, the normals agree, and the mesh is the same.
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
