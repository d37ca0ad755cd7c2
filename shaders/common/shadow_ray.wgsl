// Shadow rays: whether anything lies between a surface and a light. The any-hit test reads the alpha of
// masked triangles at the hit.
#import "common/alpha.wgsl"
#import "common/bvh.wgsl"
#import "common/frame.wgsl"
#import "common/light.wgsl"
#import "common/shadow_start.wgsl"

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    let header = ALPHA_HEADER * triangle.payload;
    let mode = alpha[header + ALPHA_MODE];
    if mode >= ALPHA_BLEND {
        return mode == ALPHA_BLEND && frame.blended_cast != 0u;
    }
    let value = alpha_value(header, triangle.triangle, barycentric);
    return value >= bitcast<f32>(alpha[header + ALPHA_CUTOFF]);
}

struct ShadowRayHit {
    // Metres to what blocks the ray; −1 where nothing does.
    t: f32,
    // Its leaf; BVH_MISS where there is none.
    leaf: u32,
    // Where on its triangle.
    barycentric: vec2f,
}

// How far away something lies within `distance` metres of a surface along a direction above its horizon: the nearest,
// or `any` of what does. A grazing ray starts at the smooth surface, so that neighbouring triangles do not occlude it;
// the steeper the ray, the nearer it starts to the triangle. A first ray checks that nothing occludes the way from the triangle to
// that start, so that no ray gets past a wall. If something does, the shadow ray starts at the triangle, or
// counts as occluded if it points below the triangle.
fn shadow_ray_hit(start: ShadowStart, direction: vec3f, distance: f32, any: bool) -> ShadowRayHit {
    let cosine = dot(start.geometric_normal, direction);
    let lift = start.lift * saturate(1.0 - cosine / max(start.grazing, 1.0e-6));
    let straight = Ray(start.origin, 0.0, direction, distance);
    var ray = straight;
    var lifts = cosine < start.grazing;
    if lifts {
        ray = Ray(start.origin, 0.0, lift, 1.0);
    }
    var hit = ShadowRayHit(-1.0, BVH_MISS, vec2f(0.0));
    // A loop, so that the code of the traversal, which is large, is inlined only once.
    loop {
        let found = bvh_traverse(ray, frame.leaf_cutoff, any);
        hit = ShadowRayHit(select(found.t, -1.0, found.leaf == BVH_MISS), found.leaf, found.barycentric);
        if !lifts {
            break;
        }
        if hit.t >= 0.0 && cosine <= 0.0 {
            hit.t *= length(lift);
            break;
        }
        lifts = false;
        ray = straight;
        if hit.t < 0.0 {
            ray = Ray(start.origin + lift, 0.0, direction - lift / distance, distance);
        }
    }
    return hit;
}
