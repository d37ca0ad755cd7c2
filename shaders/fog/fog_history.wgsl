// fog_history: averages the visibility of each froxel over frames, and lights the froxel.
//
// in   noisy_texture and recent_texture, the outputs of fog_light; last_mean, which is mean_out of the last frame;
//      lights and environment (group 0)
// out  mean_out: layers like those of fog_light, and the history length in frames, which is 0 where nothing is known
//      light_out: radiance that the froxel scatters towards the eye, divided by its extinction and albedo; alpha is 0
//      where nothing is known
// One thread per froxel. The mean is reprojected. The differences of 3 × 3 × 3 froxels between the recent mean and the
// history are tested against their noise. If the differences exceed the noise, the recent mean replaces the history and
// the history length drops. Moving shadows thus leave no trail, and static shadows keep a long history. The first
// frames use the mean over neighbours.
#import "fog/fog_sources.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> fog: FogParams;
@group(1) @binding(2) var noisy_texture: texture_2d_array<f32>;
@group(1) @binding(3) var recent_texture: texture_2d_array<f32>;
@group(1) @binding(4) var last_mean: texture_2d_array<f32>;
@group(1) @binding(5) var fog_sampler: sampler;
@group(1) @binding(6) var mean_out: texture_storage_2d_array<rgba16float, write>;
@group(1) @binding(7) var light_out: texture_storage_2d_array<rgba16float, write>;

// Number of frames after the start of a history in which neighbours are averaged.
const FOG_SMOOTHED = 4.0;
// History length after a change.
const FOG_CHANGED = 2.0;

// Inscattering of all sources without shadows.
struct Sources {
    lamps: vec3f,
    far: vec3f,
    sky: vec3f,
}

// Returns the unshadowed sources at a froxel. Spot lights have sharp edges and are averaged over four points.
fn sources(froxel: vec3u) -> Sources {
    let middle = fog_point(froxel, fog_slice_depth(fog, f32(froxel.z) + 0.5));
    let place = fog_place_of(fog, froxel, vec2f(0.5));
    let offset = fog_place_of(fog, froxel, vec2f(0.75)) - place;
    var sum = Sources(vec3f(0.0), vec3f(0.0), fog_sky(middle.direction));
    for (var light = 0u; light < first_light_count(); light++) {
        let is_cone = first_lights[light].kind == LIGHT_SPOT;
        let points = select(1u, 4u, is_cone);
        var source = vec3f(0.0);
        for (var i = 0u; i < points; i++) {
            let side = select(vec2f(0.0), vec2f(f32(i & 1u), f32(i >> 1u)) * 2.0 - 1.0, is_cone);
            let ray = view_ray(frame.rays, place + side * offset);
            let depth = fog_slice_depth(fog, f32(froxel.z) + 0.5 + 0.25 * side.x * side.y);
            let at = ray.origin + depth * ray.direction;
            let point = FogPoint(at, middle.direction, middle.half_width);
            source += fog_source(point, first_lights[light]) / f32(points);
        }
        let is_far = first_lights[light].kind == LIGHT_DIRECTIONAL;
        sum.lamps += select(source, vec3f(0.0), is_far);
        sum.far += select(vec3f(0.0), source, is_far);
    }
    return sum;
}

@compute @workgroup_size(8, 8)
fn fog_history(@builtin(global_invocation_id) id: vec3u) {
    let thread = id.xy + vec2u(0u, row_offset);
    if thread.x >= fog.size.x || thread.y >= fog.size.y * fog.size.z {
        return;
    }
    let froxel = fog_froxel(fog, thread);
    let slices = i32(fog.size.z);
    let most = vec3i(fog.size) - 1;
    let unblocked = sources(froxel);
    let lamps_weight = unblocked.lamps * vec3f(0.2126, 0.7152, 0.0722);
    let far_weight = vec2f(fog_luminance(unblocked.far), fog_luminance(unblocked.sky));
    let last = fog_last(fog, fog_middle(fog, froxel));
    // Nearest froxel of the last frame.
    let last_layer = select(last.layers.x, last.layers.y, last.share > 0.5);
    let last_at = vec3i(vec2i(last.texel * vec2f(fog.size.xy)), i32(last_layer));
    var around: array<vec4f, 2>;
    var difference = 0.0;
    var squares = 0.0;
    var light = 0.0;
    var found = 0.0;
    // At the grid's border, one-sided neighbours would bias the mean, so they are left out.
    let reach = select(vec3i(1), vec3i(0), vec3i(froxel) == vec3i(0) | vec3i(froxel) == most);
    for (var i = 0; i < 27; i++) {
        let offset = reach * (vec3i(i % 3, i / 3 % 3, i / 9) - 1);
        let at = vec3i(froxel) + offset;
        let before_at = clamp(last_at + offset, vec3i(0), most);
        let lamps = textureLoad(recent_texture, at.xy, at.z, 0);
        let far = textureLoad(recent_texture, at.xy, slices + at.z, 0);
        let last_lamps = textureLoad(last_mean, before_at.xy, before_at.z, 0);
        let last_far = textureLoad(last_mean, before_at.xy, slices + before_at.z, 0);
        let counts = select(0.0, 1.0, lamps.a > 0.5);
        around[0] += counts * lamps;
        around[1] += counts * far;
        // Compares the visibilities with the light of this froxel.
        let now = dot(lamps_weight, lamps.rgb) + dot(far_weight, far.xy);
        let before = dot(lamps_weight, last_lamps.rgb) + dot(far_weight, last_far.xy);
        let change = counts * (now - before);
        difference += change;
        squares += change * change;
        light += counts * (now + before);
        found += counts;
    }
    // Estimated standard deviation of `difference`.
    let noise = sqrt(max(squares - difference * difference / max(found, 1.0), 0.0));
    let has_changed = abs(difference) > 3.0 * noise + 0.01 * light;
    let is_fresh = textureLoad(noisy_texture, froxel.xy, froxel.z, 0).a > 0.0;
    let counted = min(select(0.0, last_frames(last), last.is_known), f32(fog.max_history));
    let frames = select(counted, min(counted, FOG_CHANGED), has_changed);
    // A froxel that is only known from its neighbours counts for less.
    let gained = select(0.25, 1.0, is_fresh);
    var means: array<vec4f, 2>;
    for (var part = 0u; part < 2u; part++) {
        let before = last_mean_of(last, part);
        let smooth_mean = around[part] / max(found, 1.0);
        let held = select(before, smooth_mean, has_changed);
        let noisy = textureLoad(noisy_texture, froxel.xy, part * fog.size.z + froxel.z, 0);
        let now = select(noisy, smooth_mean, !is_fresh || frames < FOG_SMOOTHED);
        means[part] = select(before, mix(held, now, gained / (frames + gained)), found > 0.0);
    }
    means[0].a = select(max(counted - 1.0, 0.0), frames + gained, found > 0.0);
    textureStore(mean_out, froxel.xy, froxel.z, means[0]);
    textureStore(mean_out, froxel.xy, froxel.z + fog.size.z, means[1]);
    let radiance = unblocked.lamps * means[0].rgb + unblocked.far * means[1].x + unblocked.sky * means[1].y;
    let is_known = select(0.0, 1.0, means[0].a > 0.0);
    textureStore(light_out, froxel.xy, froxel.z, vec4f(min(radiance, vec3f(RADIANCE_MAX)), is_known));
}

fn last_mean_of(last: FogLast, part: u32) -> vec4f {
    let first = part * fog.size.z;
    return mix(
        textureSampleLevel(last_mean, fog_sampler, last.texel, first + last.layers.x, 0.0),
        textureSampleLevel(last_mean, fog_sampler, last.texel, first + last.layers.y, 0.0),
        last.share,
    );
}

fn last_frames(last: FogLast) -> f32 {
    return last_mean_of(last, 0u).a;
}
