// occlusion_rays: ambient occlusion by rays through the trees.
//
// in   G-buffer (position, normal, ids), the merged scene (group 2), the trees (group 1), a band of rows
// out  occlusion_out: this frame's Occlusion and the normal of the surface's triangle; zeros where there is
//      no triangle
// One thread per pixel. Directions are cosine-weighted about the shading normal. A direction below the
// horizon of the surface (common/shadow_start.wgsl), from where no light can come, is mirrored at the
// horizon. So a convex body with smooth normals is unoccluded everywhere, and within a closed room every ray
// is occluded.
//
// The random numbers of a direction are those of point k of the (0, 2)-sequence (Kollig and Keller 2002),
// where k counts the pixel's rays so far, offset by those of the R₂ sequence (Roberts 2018) at the pixel's
// index on the Z curve. So the rays of a pixel are spread evenly over the frames, and those of neighbouring
// pixels within a frame. The numbers are integers until the last step: the same on every adapter.
#import "common/occlusion_signal.wgsl"
#import "common/gbuffer.wgsl"
#import "common/shadow_ray.wgsl"
#import "common/unseen.wgsl"

@group(3) @binding(0) var<uniform> first_row: u32;
@group(3) @binding(1) var position_texture: texture_2d<f32>;
@group(3) @binding(2) var normal_texture: texture_2d<u32>;
@group(3) @binding(3) var ids_texture: texture_2d<u32>;
@group(3) @binding(4) var<uniform> params: OcclusionParams;
@group(3) @binding(5) var occlusion_out: texture_storage_2d<rgba32uint, write>;

// Inserts a zero bit before each of the low 16 bits.
fn spread_bits(x: u32) -> u32 {
    var v = x & 0xffffu;
    v = (v | (v << 8u)) & 0x00ff00ffu;
    v = (v | (v << 4u)) & 0x0f0f0f0fu;
    v = (v | (v << 2u)) & 0x33333333u;
    return (v | (v << 1u)) & 0x55555555u;
}

// Two numbers in [0, 1) for ray k of a pixel.
fn sample_point(pixel: vec2u, k: u32) -> vec2f {
    var second = 0u;
    var column = 0x80000000u;
    for (var rest = k; rest != 0u; rest >>= 1u) {
        second ^= select(0u, column, (rest & 1u) != 0u);
        column ^= column >> 1u;
    }
    let z_curve = spread_bits(pixel.x) | (spread_bits(pixel.y) << 1u);
    // 2³² / φ and 2³² / φ² of the plastic number φ.
    let bits = vec2u(reverseBits(k), second) + z_curve * vec2u(3242174889u, 2447445414u);
    return vec2f(bits >> vec2u(8u)) / 16777216.0;
}

// A cosine-weighted direction about a unit vector, in the basis of Duff et al. 2017, "Building an Orthonormal
// Basis, Revisited".
fn cosine_direction(normal: vec3f, u: vec2f) -> vec3f {
    let side = select(-1.0, 1.0, normal.z >= 0.0);
    let a = -1.0 / (side + normal.z);
    let b = normal.x * normal.y * a;
    let tangent = vec3f(1.0 + side * normal.x * normal.x * a, side * b, -side * normal.x);
    let bitangent = vec3f(b, side + normal.y * normal.y * a, -normal.y);
    let turn = 6.2831853 * u.x;
    let radius = sqrt(u.y);
    return radius * cos(turn) * tangent + radius * sin(turn) * bitangent + sqrt(1.0 - u.y) * normal;
}

// Offset towards the triangle's centroid that moves a point on an edge inside by four times the step of ray
// origins. Rounding may have put the point outside the triangle, which is outside of the room where two walls
// meet.
fn inwards(triangle: u32, start: ShadowStart) -> vec3f {
    let v0 = scene_position(indices[3u * triangle]);
    let v1 = scene_position(indices[3u * triangle + 1u]);
    let v2 = scene_position(indices[3u * triangle + 2u]);
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
        textureStore(occlusion_out, pixel, vec4u(0u));
        return;
    }
    let triangle = seen - 1u;
    var start = shadow_ray_start(triangle, textureLoad(position_texture, pixel, 0).xyz);
    start.origin += inwards(triangle, start);
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    var hits = 0.0;
    var occluded = vec3f(0.0);
    let rays = unseen_zero(f32(pixel.x)) + params.rays;
    for (var ray = 0u; ray < rays; ray++) {
        var along =
            cosine_direction(normal, sample_point(pixel, params.index * params.rays + ray));
        let above = dot(along, start.horizon_normal);
        along -= min(2.0 * above, 0.0) * start.horizon_normal;
        if shadow_ray_occluded(start, along, params.reach) {
            hits += 1.0;
            occluded += along;
        }
    }
    let found = occlusion_pack(Occlusion(hits / f32(params.rays), occluded / f32(params.rays)));
    textureStore(occlusion_out, pixel, vec4u(found, octahedral_pack(start.geometric_normal), 1u));
}
