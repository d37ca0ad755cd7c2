// Lobes of a pixel's surface, read from `layers_texture` and `glass_texture`. The importer binds them.
#import "material/lobes.wgsl"

// Reads the packed lobes of a pixel, whose surface must have layers.
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

// True if the surface traces a reflection or transmission ray. `surface_id` is its id in the G-buffer.
fn sends_ray(pixel: vec2u, surface_id: u32, s: Surface) -> bool {
    if !gbuffer_is_triangle(surface_id) {
        return false;
    }
    if s.layered {
        return lobes_send(packed_lobes_at(pixel), s);
    }
    return reflection_share(s) > 0.0;
}
