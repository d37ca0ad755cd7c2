// Evaluates the layers of a material at a point of a triangle, independently of the source of its parameters and
// texels.
//
// The importer defines `layered: MaterialLayers`, `layer_slot(layer: u32) -> u32`, which is 0 if the layer has no
// texture, and `layer_sample(layer: u32, uv: vec4f) -> vec4f`, which is white in that case.
// material/material_layers.wgsl defines them for bound materials.
#import "material/layers.wgsl"
#import "material/material_surface.wgsl"

struct MaterialLayers {
    specular_color: vec3f,
    specular: f32,
    sheen_color: vec3f,
    sheen_roughness: f32,
    absorption: vec3f,
    thickness: f32,
    reflectance: f32,
    clearcoat: f32,
    clearcoat_roughness: f32,
    clearcoat_normal_scale: f32,
    anisotropy_direction: vec2f,
    anisotropy: f32,
    transmission: f32,
    iridescence: f32,
    iridescence_ior: f32,
    iridescence_thickness: vec2f,
    // Index of refraction if the material encloses a volume; else 0.
    volume_ior: f32,
    layer_slots: array<vec4u, 3>,
    layer_from_uv: array<vec4f, 24>,
}

// Returns the layers of `layered` over a surface. `front` is false on back faces, whose normals are flipped.
fn material_layers(in: Fragment, s: Surface, front: bool, to_eye: vec3f) -> Layers {
    let side = select(-1.0, 1.0, front);
    let n_dot_v = abs(dot(s.normal, to_eye));
    var l: Layers;
    l.specular = layer_sample(LAYER_SPECULAR, in.uv).a * layered.specular;
    let specular_color = layer_sample(LAYER_SPECULAR_COLOR, in.uv).rgb * layered.specular_color;
    l.f0 = min(layered.reflectance * specular_color, vec3f(1.0));

    l.clearcoat = layer_sample(LAYER_CLEARCOAT, in.uv).r * layered.clearcoat;
    l.clearcoat_roughness =
        layer_sample(LAYER_CLEARCOAT_ROUGHNESS, in.uv).g * layered.clearcoat_roughness;
    let bump_texel = layer_sample(LAYER_CLEARCOAT_NORMAL, in.uv);
    let bump = select(bump_texel, MATERIAL_FLAT, material_feature_is_off(MATERIALS_NORMAL_TEXTURE));
    let coat_scale = layered.clearcoat_normal_scale;
    l.clearcoat_roughness =
        material_roughened(l.clearcoat_roughness, bump.a, coat_scale, MATERIAL_COAT_NORMALS_SPREAD);
    l.clearcoat_normal = side * material_normal(in);
    if layer_slot(LAYER_CLEARCOAT_NORMAL) != 0u {
        l.clearcoat_normal = side * material_mapped_normal(in, bump.xyz, coat_scale);
    }

    let clay = material_feature_is_off(MATERIALS_CLAY);
    l.f0 = select(l.f0, vec3f(0.04), clay);
    l.specular = select(l.specular, 1.0, clay);
    l.clearcoat = select(l.clearcoat, 0.0, clay);

    l.sheen_color = layer_sample(LAYER_SHEEN_COLOR, in.uv).rgb * layered.sheen_color;
    l.sheen_color = select(l.sheen_color, vec3f(0.0), clay);
    l.sheen_roughness =
        max(layer_sample(LAYER_SHEEN_ROUGHNESS, in.uv).a * layered.sheen_roughness, SHEEN_ROUGHNESS_MIN);
    l.sheen_albedo = sheen_albedo(n_dot_v, l.sheen_roughness);

    let grain = layer_sample(LAYER_ANISOTROPY, in.uv);
    var direction = vec2f(1.0, 0.0);
    if layer_slot(LAYER_ANISOTROPY) != 0u {
        direction = grain.xy * 2.0 - 1.0;
    }
    let turn = layered.anisotropy_direction;
    direction = vec2f(
        turn.x * direction.x - turn.y * direction.y,
        turn.y * direction.x + turn.x * direction.y,
    );
    let bitangent = cross(in.normal, in.tangent.xyz) * sign(in.tangent.w);
    let along = direction.x * in.tangent.xyz + direction.y * bitangent;
    l.anisotropy = select(0.0, grain.b * layered.anisotropy, dot(along, along) > 1.0e-20 && !clay);
    l.along = normalize(along);
    l.across = cross(material_normal(in), l.along);

    l.iridescence = layer_sample(LAYER_IRIDESCENCE, in.uv).r * select(layered.iridescence, 0.0, clay);
    let thinness = layer_sample(LAYER_IRIDESCENCE_THICKNESS, in.uv).g;
    if l.iridescence > 0.0 {
        let thickness = mix(layered.iridescence_thickness.x, layered.iridescence_thickness.y, thinness);
        l.film_dielectric = film_fresnel(layered.iridescence_ior, l.specular * l.f0, thickness, n_dot_v);
        l.film_metal = film_fresnel(layered.iridescence_ior, s.albedo, thickness, n_dot_v);
    }

    l.transmission = layer_sample(LAYER_TRANSMISSION, in.uv).r * select(layered.transmission, 0.0, clay);
    // Thickness is in the space of the mesh, absorption in world space.
    let depth = layer_sample(LAYER_THICKNESS, in.uv).g * layered.thickness * abs(in.tangent.w);
    l.attenuation = exp(-layered.absorption * depth);
    l.absorption = layered.absorption;
    l.volume_ior = layered.volume_ior;
    return layers_with_albedos(s, l, to_eye);
}

// Returns the lobes for the rays of a visible surface. Blended surfaces have no transmission lobe, because blending
// already shows the surfaces behind them.
fn material_lobes(s: Surface, l: Layers) -> Lobes {
    var lobes = layer_lobes(s, l);
    lobes.transmission = select(lobes.transmission, 0.0, (material.flags & MATERIAL_BLENDED) != 0u);
    return lobes;
}
