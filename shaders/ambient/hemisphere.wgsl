// Rays into the hemisphere of a surface, and the conversion of their hits.
#import "math/basis.wgsl"
#import "ambient/inwards.wgsl"
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
