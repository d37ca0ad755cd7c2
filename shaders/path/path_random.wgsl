// Random numbers for tracking a medium along a ray, which takes as many as it takes.
#import "path/path_state.wgsl"

var<private> random_seed: u32;

fn path_random() -> f32 {
    random_seed = path_hash(random_seed);
    return (f32(random_seed >> 8u) + 0.5) / 16777216.0;
}

// Begins those of a ray of a surface: RAY_….
fn path_random_begin(pixel: vec2u, bounce: u32, ray: u32) {
    random_seed = path_hash(pixel.y + path_hash(pixel.x + path_hash(params.index * 512u + bounce * 8u + ray)));
}
