// Where the surface of a pixel is, of a texel of the G-buffer's image `position`.
//
// On GPUs the image holds 8 bytes a pixel: the depth along the view, and w. The point lies on the ray through the
// pixel's middle. Software adapters, where loads cost instructions rather than bytes, have the position itself in 16
// bytes, and so has what reflection rays hit, which lies on no such ray.
#import "frame/view_ray.wgsl"

// The texel's w: 0 on the background (frame/gbuffer.wgsl).
fn gbuffer_w(texel: vec4f) -> f32 {
    return select(texel.y, texel.w, ARRAYS_ARE_TEXTURES);
}

// Metres along the view; anything on the background.
fn gbuffer_depth(texel: vec4f, eye: vec3f, forward: vec3f) -> f32 {
    return select(texel.x, dot(texel.xyz - eye, forward), ARRAYS_ARE_TEXTURES);
}

// The position, `at` a place of the picture from 0 to 1 along rows and columns, and w.
fn gbuffer_point(texel: vec4f, rays: ViewRays, at: vec2f) -> vec4f {
    let ray = view_ray(rays, at);
    let on_ray = vec4f(ray.origin + texel.x * ray.direction, texel.y);
    return select(on_ray, texel, ARRAYS_ARE_TEXTURES);
}
