// occlusion_rays: ambient occlusion by rays through the trees.
//
// in   G-buffer (position, normal, ids), the merged scene (group 2), the trees (group 1), a band of rows
// out  fresh_out: this frame's signal in two layers: the share of the light that what the rays meet takes, and
//      the sum of their directions by it; zeros where there is no triangle
//      hits_out: what one of the rays hit first, where light is to bounce there (common/occlusion_hit.wgsl)
// One thread per pixel. Directions are cosine-weighted about the shading normal. A direction below the
// horizon of the surface (common/shadow_start.wgsl), from where no light can come, is mirrored at the
// horizon. So a convex body with smooth normals is unoccluded everywhere, and within a closed room every ray
// is occluded.
//
// The numbers of a direction are those of the shared sequence (common/sampling.wgsl), whose point k counts
// the pixel's rays so far: they are spread evenly over the frames, and between neighbouring pixels within a
// frame.
#import "common/basis.wgsl"
#import "common/gbuffer.wgsl"
#import "common/gbuffer_seen.wgsl"
#import "common/occlusion_hit.wgsl"
#import "common/sampling.wgsl"
#import "common/shadow_ray.wgsl"
#import "common/signal.wgsl"
#import "common/unseen.wgsl"

@group(3) @binding(0) var<uniform> first_row: u32;
#texels 3 1 position_texture: rgba32float
#texels 3 2 normal_texture: r32uint
#texels 3 3 ids_texture: r32uint
@group(3) @binding(4) var<uniform> params: OcclusionParams;
@group(3) @binding(5) var fresh_out: texture_storage_2d_array<r32uint, write>;
// Not used where no hits are told.
@group(3) @binding(6) var hits_out: texture_storage_2d<rg32uint, write>;

fn tell(pixel: vec2u, hit: vec2u) {
    if all(pixel < textureDimensions(hits_out)) {
        textureStore(hits_out, pixel, vec4u(hit, 0u, 0u));
    }
}

// A cosine-weighted direction about a unit vector.
fn cosine_direction(normal: vec3f, u: vec2f) -> vec3f {
    let basis = basis_about(normal);
    let turn = 6.2831853 * u.x;
    let radius = sqrt(u.y);
    return radius * cos(turn) * basis.tangent + radius * sin(turn) * basis.bitangent
        + sqrt(1.0 - u.y) * normal;
}

// Offset towards the triangle's centroid that moves a point on an edge inside by four times the step of ray
// origins. Rounding may have put the point outside the triangle, which is outside of the room where two walls
// meet.
fn inwards(triangle: u32, start: ShadowStart) -> vec3f {
    let v0 = scene_position(indices(3u * triangle));
    let v1 = scene_position(indices(3u * triangle + 1u));
    let v2 = scene_position(indices(3u * triangle + 2u));
    let longest = max(length(v1 - v0), max(length(v2 - v1), length(v0 - v2)));
    let height = length(cross(v1 - v0, v2 - v0) / max(longest, 1.0e-30));
    let share = min(12.0 * distance(start.origin, start.position) / max(height, 1.0e-30), 1.0);
    return share * ((v0 + v1 + v2) / 3.0 - start.position);
}

@compute @workgroup_size(8, 8)
fn occlusion_rays(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    let seen = textureLoad(ids_texture, pixel, 0).r;
    if !gbuffer_is_triangle(seen) {
        textureStore(fresh_out, pixel, 0u, vec4u(0u));
        textureStore(fresh_out, pixel, 1u, vec4u(0u));
        tell(pixel, OCCLUSION_UNHIT);
        return;
    }
    let triangle = gbuffer_triangle(seen);
    var start = shadow_ray_start(seen, gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz);
    start.origin += inwards(triangle, start);
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    var hits = 0.0;
    var occluded = vec3f(0.0);
    var first_hit = OCCLUSION_UNHIT;
    let zero = unseen_zero(f32(pixel.x));
    let rays = zero + params.rays;
    for (var ray = 0u; ray < rays; ray++) {
        let k = params.index * params.rays + ray;
        var along = cosine_direction(normal, sampling_point(pixel, k, SAMPLE_OCCLUSION));
        let above = dot(along, start.horizon_normal);
        along -= min(2.0 * above, 0.0) * start.horizon_normal;
        let is_told = ray == zero + params.told;
        let hit = shadow_ray_hit(start, along, params.reach, !is_told);
        hits += hit.taken;
        occluded += hit.taken * along;
        if is_told && hit.t >= 0.0 {
            let blocker = tree_triangle(hit.leaf);
            let front = cross(blocker.v1 - blocker.v0, blocker.v2 - blocker.v0);
            first_hit = occlusion_hit_pack(OcclusionHit(hit.leaf, hit.barycentric, dot(front, along) > 0.0));
        }
    }
    tell(pixel, first_hit);
    let found = signal_pack(vec4f(hits, occluded) / f32(params.rays));
    textureStore(fresh_out, pixel, 0u, vec4u(found.x, 0u, 0u, 0u));
    textureStore(fresh_out, pixel, 1u, vec4u(found.y, 0u, 0u, 0u));
}
