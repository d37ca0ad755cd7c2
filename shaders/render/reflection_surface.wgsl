// reflection_surface: what hits of reflection rays are made of, into a G-buffer of their own.
//
// reflection_surface
// in   the list of hits, sorted by bins of materials, and the range of one of them; hit_ids, hits and rays of
//      reflection_rays; the merged scene (group 2); a material with its textures and samplers (group 3)
// out  position, normal, albedo, emissive, as `gbuffer` writes them (common/gbuffer.wgsl)
//
// reflection_surface_plain
// in   the same, of materials without textures, with the uniforms of all materials
// out  the same
//
// One thread per hit of the range. Those of other materials, with which the material may share its bin, are left
// out. Levels of textures come from the ray's width.
#import "common/dispatch.wgsl"
#import "common/hit_fragment.wgsl"
#import "common/hit_range.wgsl"
#import "common/ray_list.wgsl"
#import "common/reflection_ray.wgsl"

struct HitMaterial {
    range: u32,
    // The material; without textures, the vectors of one material in `materials`.
    material: u32,
}

@group(1) @binding(0) var<uniform> shaded: HitMaterial;
@group(1) @binding(1) var<uniform> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(1) @binding(2) var<storage, read> sorted: array<u32>;
@group(1) @binding(3) var<storage, read> triangle_info: array<vec2u>;
@group(1) @binding(4) var hit_ids_texture: texture_2d<u32>;
@group(1) @binding(5) var hits_texture: texture_2d<u32>;
@group(1) @binding(6) var rays_texture: texture_2d<u32>;
@group(1) @binding(7) var position_out: texture_storage_2d<rgba32float, write>;
@group(1) @binding(8) var normal_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(9) var albedo_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(10) var emissive_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(11) var<storage, read> materials: array<vec4f>;

// As HitFragment.levels.
var<private> hit_levels: vec2f;

// In place of what common/material_sample.wgsl does with the neighbouring fragments.
fn material_sample(number: u32, texels: texture_2d<f32>, how: sampler, at: vec2f) -> vec4f {
    let texel = vec2f(textureDimensions(texels));
    let u = material.texture_from_uv[2u * number].xy;
    let v = material.texture_from_uv[2u * number + 1u].xy;
    let stretch = max(abs(u.x * v.y - u.y * v.x) * texel.x * texel.y, 1.0e-30);
    let level = select(hit_levels.x, hit_levels.y, material_uv_set(number) == 2u);
    return textureSampleLevel(texels, how, at, level + 0.5 * log2(stretch));
}

struct ListedHit {
    pixel: vec2u,
    seen: u32,
    material: u32,
    // Whether the range goes as far.
    exists: bool,
}

fn listed_hit(number: u32) -> ListedHit {
    if number >= ranges[shaded.range].count {
        return ListedHit(vec2u(0u), 0u, 0u, false);
    }
    let pixel = ray_list_pixel(sorted[ranges[shaded.range].first + number]);
    let seen = textureLoad(hit_ids_texture, pixel, 0).r;
    return ListedHit(pixel, seen, triangle_info[gbuffer_triangle(seen)].y, true);
}

fn fragment_of(hit: ListedHit) -> HitFragment {
    let ray = reflection_ray_unpack(textureLoad(rays_texture, hit.pixel, 0));
    let barycentric = bitcast<vec2f>(textureLoad(hits_texture, hit.pixel, 0).xy);
    return hit_fragment(hit.seen, barycentric, ray.direction, ray.width);
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
    let hit = listed_hit(RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread);
    if !hit.exists || hit.material != shaded.material {
        return;
    }
    let seen = fragment_of(hit);
    hit_levels = seen.levels;
    let base_color = material_base_color(seen.fragment.uv, seen.fragment.color);
    store(hit.pixel, material_surface(seen.fragment, base_color, seen.front));
}

@compute @workgroup_size(RAY_BLOCK)
fn reflection_surface_plain(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let hit = listed_hit(RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread);
    if !hit.exists {
        return;
    }
    let seen = fragment_of(hit);
    let at = hit.material * shaded.material;
    // In the order of Material (common/material.wgsl).
    let base_color = materials[at] * seen.fragment.color;
    let emissive = materials[at + 1u].xyz;
    let factors = materials[at + 2u];
    let flags = bitcast<u32>(materials[at + 3u].y);
    let normal = material_normal(seen.fragment);
    let facing = select(-normal, normal, seen.front);
    let unlit = (flags & MATERIAL_UNLIT) != 0u;
    let relief = material_relief(facing, frame_to_eye(seen.fragment.position));
    store(hit.pixel, Surface(
        seen.fragment.position,
        facing,
        base_color.rgb,
        select(1.0, relief, (flags & MATERIAL_STAND_IN) != 0u),
        select(emissive, vec3f(0.0), unlit),
        factors.y,
        factors.x,
        unlit,
        false,
        facing,
    ));
}
