// A plain background, or the studio's backdrop: shown without exposure or tone mapping, darker towards the zenith, without a
// horizon, so that the ground below the scene runs into it.
#import "frame/frame.wgsl"

// Linear light of the display along a ray from the eye; black where the environment is seen.
fn backdrop_light(ray: vec3f) -> vec3f {
    let shade = mix(1.0, frame.backdrop_top, smoothstep(-0.2, 0.9, ray.y));
    return select(frame.background * shade, vec3f(0.0), frame.shows_environment != 0u);
}
