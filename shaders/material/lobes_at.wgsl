// Lobes of the surface that a pixel sees: from `layers_texture` and `glass_texture`, which the importer binds.
#import "material/lobes.wgsl"

// Only of a surface with layers.
fn packed_lobes_at(pixel: vec2u) -> PackedLobes {
    let layers = textureLoad(layers_texture, pixel, 0);
    return PackedLobes(layers, textureLoad(glass_texture, pixel, 0).xy);
}

fn lobes_at(pixel: vec2u, s: Surface) -> Lobes {
    if s.layered {
        return lobes_unpack(packed_lobes_at(pixel), s.normal);
    }
    return lobes_plain(s);
}

// Whether the surface finds by a ray what it shows; `seen` is its id in the G-buffer.
fn sends_ray(pixel: vec2u, seen: u32, s: Surface) -> bool {
    if !gbuffer_is_triangle(seen) {
        return false;
    }
    if s.layered {
        return lobes_send(packed_lobes_at(pixel), s);
    }
    return reflection_share(s) > 0.0;
}
