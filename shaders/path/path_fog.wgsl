// Fog for paths. Scattering uses delta tracking (Woodcock et al. 1965). Transmittance to the light uses residual ratio
// tracking (Novák, Selle and Jarosz 2014). Both methods are unbiased. Only the density that noise adds is tracked,
// because the uniform density has a closed form. The importer binds `params`.
//
// Like in the real-time frame, the light of the sky and of the sun is the light that arrives in the scene. Rays that
// leave the scene therefore cross no fog. The exceptions are rays from the eye, rays through glass, and rays by which a
// surface shows a mirror image.
#import "fog/fog_scatter.wgsl"
#import "path/path_random.wgsl"

// Sampling density per steradian above which a surface counts as showing a mirror image.
const FOG_IMAGE = 10.0;
// Maximum number of tracking steps. A step is a mean free path on average, so almost no path needs as many.
const FOG_STEPS = 256u;

// Returns the distance in metres to the scattering event; −1 if the path crosses all of `distance`.
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

// Estimates the factor that noise applies to the transmittance.
fn fog_noise_transmittance(origin: vec3f, direction: vec3f, distance: f32) -> f32 {
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

fn fog_has_noise() -> bool {
    return HAS_FOG && min(frame.fog_density, frame.fog_noise) > 0.0;
}
