// Plain background, or the studio's backdrop. It is shown without exposure or tone mapping, and is darker towards the
// zenith. It has no horizon, so the ground below the scene blends into it.
#import "frame/frame.wgsl"

// Returns the linear display colour along a ray from the eye, or black if the environment is visible instead.
fn backdrop_light(ray: vec3f) -> vec3f {
    let shade = mix(1.0, frame.backdrop_top, smoothstep(-0.2, 0.9, ray.y));
    return select(frame.background * shade, vec3f(0.0), frame.shows_environment != 0u);
}
