// Visible fraction of a light, found by shadow rays.
#import "light/light_area.wgsl"
#import "shadow/shadow_ray.wgsl"

struct VisibleShare {
    // From 0 to 1.
    share: f32,
    // Mean distance in metres from the surface to the blockers, weighted by the light that each blocks; 0 if there is
    // no blocker.
    to_blocker: f32,
    // Leaf of a triangle that blocks one of the rays; BVH_MISS without a blocker.
    blocker: u32,
}

// Traces `rays` shadow rays. `dimension` is the first dimension of the sampling sequence. The centre of the light is
// above the surface's horizon.
fn light_visible_share(
    start: ShadowStart,
    light: Light,
    sample: LightSample,
    pixel: vec2u,
    rays: u32,
    dimension: u32,
) -> VisibleShare {
    var taken = 0.0;
    var to_blocker = 0.0;
    var blocker = BVH_MISS;
    for (var i = 0u; i < rays; i++) {
        let k = frame.sample_index * rays + i;
        let ray = light_area_ray_above(light, sample, start.horizon_normal, pixel, k, dimension);
        if ray.distance > 0.0 {
            let hit = shadow_ray_hit(start, ray.direction, ray.distance, true);
            taken += hit.blocked;
            to_blocker += hit.blocked * hit.blocker_distance;
            blocker = select(blocker, hit.leaf, hit.t >= 0.0);
        }
    }
    return VisibleShare(1.0 - taken / f32(rays), to_blocker / max(taken, 1.0e-6), blocker);
}
