// View rays of the camera.

// The ray through the picture centre, and its derivatives over half the picture to the right and up. They change the
// direction in a perspective projection, and the origin in an orthographic one. With sample jitter, the central ray
// goes slightly past the picture centre.
struct ViewRays {
    origin: vec3f,
    direction: vec3f,
    origin_right: vec3f,
    origin_up: vec3f,
    direction_right: vec3f,
    direction_up: vec3f,
}

// `direction` is scaled to advance the view depth by one metre.
struct ViewRay {
    origin: vec3f,
    direction: vec3f,
}

// Returns the view ray at a picture position from 0 to 1 along each axis.
fn view_ray(rays: ViewRays, at: vec2f) -> ViewRay {
    let ndc = at * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
    return ViewRay(
        rays.origin + ndc.x * rays.origin_right + ndc.y * rays.origin_up,
        rays.direction + ndc.x * rays.direction_right + ndc.y * rays.direction_up,
    );
}
