// Rays through the picture.

// The ray through the picture's middle, and what half a picture adds to it to the right and up: to the direction in a
// perspective, to the origin in a parallel projection. Where pixels are sampled off their middles, it goes a little
// beside the picture's middle.
struct ViewRays {
    origin: vec3f,
    direction: vec3f,
    origin_right: vec3f,
    origin_up: vec3f,
    direction_right: vec3f,
    direction_up: vec3f,
}

// `direction` advances the depth by a metre.
struct ViewRay {
    origin: vec3f,
    direction: vec3f,
}

// `at` goes from 0 to 1 along rows and columns.
fn view_ray(rays: ViewRays, at: vec2f) -> ViewRay {
    let ndc = at * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
    return ViewRay(
        rays.origin + ndc.x * rays.origin_right + ndc.y * rays.origin_up,
        rays.direction + ndc.x * rays.direction_right + ndc.y * rays.direction_up,
    );
}
