// Background of the scene if that is the environment.
#import "environment/environment.wgsl"
#import "environment/sky_disc.wgsl"

// Returns the radiance along a ray from the eye, or black if the environment is not visible.
fn background_radiance(ray: vec3f) -> vec3f {
    let angle = max(2.0 * length(frame.rays.direction_up) / f32(frame.size.y), 1.0e-6);
    let disc = sky_sun_disc(ray, frame.to_sun, frame.sun_radius, angle, frame.sun_horizon)
        * frame.sun_disc
        * frame.environment_scale;
    let seen = environment_prefiltered(ray, frame.background_blur)
        + select(vec3f(0.0), disc, frame.background_blur == 0.0);
    return select(vec3f(0.0), seen, frame.shows_environment != 0u);
}
