// Reconstructs a pixel's surface position from a texel of the G-buffer's image `position`.
//
// On GPUs the image holds 8 bytes per pixel: the view depth, and w. The point lies on the ray through the pixel's
// centre. Software adapters store the position itself in 16 bytes, because there a load costs instructions rather than
// bandwidth. Hits of reflection rays also store the position, because they lie on no such ray.
#import "frame/view_ray.wgsl"

// Returns the texel's w: 0 on the background (frame/gbuffer.wgsl).
fn gbuffer_w(texel: vec4f) -> f32 {
    return select(texel.y, texel.w, ARRAYS_ARE_TEXTURES);
}

// Returns the view depth in metres; undefined on the background.
fn gbuffer_depth(texel: vec4f, eye: vec3f, forward: vec3f) -> f32 {
    return select(texel.x, dot(texel.xyz - eye, forward), ARRAYS_ARE_TEXTURES);
}

// Returns the position, and w. `at` is the position in the picture, from 0 to 1 along each axis.
fn gbuffer_point(texel: vec4f, rays: ViewRays, at: vec2f) -> vec4f {
    let ray = view_ray(rays, at);
    let on_ray = vec4f(ray.origin + texel.x * ray.direction, texel.y);
    return select(on_ray, texel, ARRAYS_ARE_TEXTURES);
}
