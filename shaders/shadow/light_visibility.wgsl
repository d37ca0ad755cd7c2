// The share of a light that a surface sees, by shadow rays.
#import "light/light_area.wgsl"
#import "shadow/shadow_ray.wgsl"

struct VisibleShare {
    // From 0 to 1.
    share: f32,
    // Metres from the surface to what blocks the light, the mean by how much of it each thing takes; 0 without
    // one.
    to_blocker: f32,
    // Leaf of what blocks one of those rays; BVH_MISS without one.
    blocker: u32,
}

// By as many `rays`; `dimension` is that of the sampling sequence. The light's middle is above the
// surface's horizon.
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
            taken += hit.taken;
            to_blocker += hit.taken * hit.taken_at;
            blocker = select(blocker, hit.leaf, hit.t >= 0.0);
        }
    }
    return VisibleShare(1.0 - taken / f32(rays), to_blocker / max(taken, 1.0e-6), blocker);
}
