// reflection_surface: evaluates the materials of hits of reflection rays and stores them in their own G-buffer.
//
// reflection_surface: materials with textures
// in   the list of hits, sorted by material bins, and the range of one bin; the hits of reflection_rays; the merged
//      scene (group 2); a material with its textures and samplers (group 3)
// out  position, normal, albedo, emissive, encoded like in `gbuffer` (frame/gbuffer.wgsl)
//
// reflection_surface_plain: materials without textures
// in   the same, with the uniforms of all these materials
// out  the same
//
// One thread per hit of the range. Hits of other materials that share the range are skipped. Mip levels come from the
// ray's width.
#import "bvh/dispatch.wgsl"
#import "reflections/hit_sample.wgsl"

@group(1) @binding(4) var position_out: texture_storage_2d<rgba32float, write>;
@group(1) @binding(5) var normal_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(6) var albedo_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(7) var emissive_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(8) var<storage, read> materials: array<vec4f>;

fn material_sample(number: u32, texels: texture_2d<f32>, how: sampler, at: vec2f) -> vec4f {
    let u = material.texture_from_uv[2u * number].xy;
    let v = material.texture_from_uv[2u * number + 1u].xy;
    return hit_sample(texels, how, at, u, v, material_uv_set(number) == 2u);
}

fn store(pixel: vec2u, s: Surface) {
    let texel = gbuffer_pack(s, 0u);
    textureStore(position_out, pixel, texel.position);
    textureStore(normal_out, pixel, vec4u(texel.normal, 0u, 0u, 0u));
    textureStore(albedo_out, pixel, vec4u(texel.albedo, 0u, 0u, 0u));
    textureStore(emissive_out, pixel, vec4u(texel.emissive, 0u, 0u, 0u));
}

@compute @workgroup_size(RAY_BLOCK)
fn reflection_surface(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let listed = listed_hit(RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread);
    if !listed_hit_is_shaded(listed) {
        return;
    }
    let seen = listed_fragment(listed, listed_ray(listed));
    hit_levels = seen.levels;
    let base_color = material_base_color(seen.fragment.uv, seen.fragment.color);
    store(listed.pixel, material_surface(seen.fragment, base_color, seen.front));
}

@compute @workgroup_size(RAY_BLOCK)
fn reflection_surface_plain(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let listed = listed_hit(RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread);
    if !listed.exists {
        return;
    }
    let seen = listed_fragment(listed, listed_ray(listed));
    let at = listed.hit.material * shaded.material;
    // The words are in the order of Material (material/material_surface.wgsl).
    let base_color = material_tinted(materials[at], seen.fragment.color, vec4f(1.0));
    let emissive = materials[at + 1u].xyz;
    let factors = materials[at + 2u];
    let uv_sets = bitcast<u32>(materials[at + 3u].x);
    let flags = bitcast<u32>(materials[at + 3u].y);
    if (uv_sets | (flags & MATERIAL_LAYERED)) != 0u {
        return;
    }
    let normal = material_normal(seen.fragment);
    let facing = select(-normal, normal, seen.front);
    let unlit = (flags & MATERIAL_UNLIT) != 0u;
    let clay = material_feature_is_off(MATERIALS_CLAY);
    let relief = material_relief(facing, frame_to_eye(seen.fragment.position));
    store(listed.pixel, Surface(
        seen.fragment.position,
        facing,
        base_color.rgb,
        select(1.0, relief, (flags & MATERIAL_PLACEHOLDER) != 0u),
        select(emissive, vec3f(0.0), unlit || material_feature_is_off(MATERIALS_EMISSION)),
        select(factors.y, MATERIALS_CLAY_ROUGHNESS, clay),
        select(factors.x, 0.0, clay),
        unlit,
        false,
        facing,
    ));
}
