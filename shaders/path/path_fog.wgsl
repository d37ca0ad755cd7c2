// What fog does to paths: where they are scattered by it, by delta tracking (Woodcock et al. 1965), and what of light that
// they have asked for passes it, by residual ratio tracking (Novák, Selle and Jarosz 2014): both without bias. What noise
// adds is tracked; the rest has a closed form. The importer binds `params`.
//
// As in the fast frame, the light of the sky and of the sun is what arrives in the scene: on rays that meet nothing there
// is no fog, but for those from the eye, through glass, and by which a surface shows an image.
#import "fog/fog_scatter.wgsl"
#import "path/path_random.wgsl"

// Density per steradian with which a surface sends rays that show an image.
const FOG_IMAGE = 10.0;
// Ends nearly no path: each step passes as much fog as a collision takes on average.
const FOG_STEPS = 256u;

// Metres to where the path is scattered; −1 where it passes all of `distance`.
fn fog_flight(origin: vec3f, direction: vec3f, distance: f32) -> f32 {
    let most = 1.0 + frame.fog_noise;
    var depth = 0.0;
    for (var step = 0u; step < FOG_STEPS; step++) {
        depth -= log(path_random()) / most;
        let t = fog_distance_of(origin, direction, depth);
        if t >= distance {
            break;
        }
        if path_random() * most < fog_noise(params.medium, origin + t * direction, 0.0) {
            return t;
        }
    }
    return -1.0;
}

// What noise multiplies the transmittance with, on average.
fn fog_noise_passes(origin: vec3f, direction: vec3f, distance: f32) -> f32 {
    var share = 1.0;
    var depth = 0.0;
    for (var step = 0u; step < FOG_STEPS; step++) {
        depth -= log(path_random()) / max(frame.fog_noise, 1.0e-9);
        let t = fog_distance_of(origin, direction, depth);
        if t >= distance {
            break;
        }
        let noise = fog_noise(params.medium, origin + t * direction, 0.0);
        share *= 1.0 - (noise - 1.0) / max(frame.fog_noise, 1.0e-9);
    }
    return share;
}

fn fog_is_mottled() -> bool {
    return HAS_FOG && min(frame.fog_density, frame.fog_noise) > 0.0;
}
