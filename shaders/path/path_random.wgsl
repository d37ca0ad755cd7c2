// Random numbers for tracking a medium along a ray. The number of draws is not known in advance.
#import "path/path_state.wgsl"

var<private> random_seed: u32;

fn path_random() -> f32 {
    random_seed = pcg_hash(random_seed);
    return (f32(random_seed >> 8u) + 0.5) / 16777216.0;
}

// Seeds the generator for one ray of a surface. `ray` is one of the RAY_… constants.
fn path_random_begin(pixel: vec2u, bounce: u32, ray: u32) {
    random_seed = pcg_hash(pixel.y + pcg_hash(pixel.x + pcg_hash(params.index * 512u + bounce * 8u + ray)));
}
