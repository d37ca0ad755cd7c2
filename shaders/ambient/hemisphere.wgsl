// Rays into the hemisphere of a surface, and the conversion of their hits.
#import "math/basis.wgsl"
#import "ambient/occlusion_hit.wgsl"
#import "shadow/shadow_ray.wgsl"

// Samples a cosine-weighted direction about a unit vector.
fn cosine_direction(normal: vec3f, u: vec2f) -> vec3f {
    let basis = basis_about(normal);
    let turn = 6.2831853 * u.x;
    let radius = sqrt(u.y);
    return radius * cos(turn) * basis.tangent + radius * sin(turn) * basis.bitangent
        + sqrt(1.0 - u.y) * normal;
}

// Returns the offset towards the triangle's centroid that moves a point on an edge inside by four times the step of ray
// origins. Rounding may have put the point outside the triangle. Where two walls meet, that is outside the room.
fn hemisphere_inwards(triangle: u32, start: ShadowStart) -> vec3f {
    let v0 = scene_position(indices(3u * triangle));
    let v1 = scene_position(indices(3u * triangle + 1u));
    let v2 = scene_position(indices(3u * triangle + 2u));
    let longest = max(length(v1 - v0), max(length(v2 - v1), length(v0 - v2)));
    let height = length(cross(v1 - v0, v2 - v0) / max(longest, 1.0e-30));
    let share = min(12.0 * distance(start.origin, start.position) / max(height, 1.0e-30), 1.0);
    return share * ((v0 + v1 + v2) / 3.0 - start.position);
}

// Samples a cosine-weighted direction about the shading normal. No light can come from below the surface's horizon, so
// a direction there is mirrored at the horizon.
fn hemisphere_direction(start: ShadowStart, normal: vec3f, u: vec2f) -> vec3f {
    let along = cosine_direction(normal, u);
    return along - min(2.0 * dot(along, start.horizon_normal), 0.0) * start.horizon_normal;
}

// Converts the closest hit of a ray with the direction `along`.
fn occlusion_hit(hit: ShadowRayHit, along: vec3f) -> OcclusionHit {
    let blocker = tree_triangle(hit.leaf);
    let front = cross(blocker.v1 - blocker.v0, blocker.v2 - blocker.v0);
    return OcclusionHit(hit.leaf, hit.barycentric, dot(front, along) > 0.0);
}
