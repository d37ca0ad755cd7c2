// sum_sh: sums the coefficients of all workgroups of project_sh, scales them to the full sphere, and convolves them
// with the cosine lobe.
//
// in   partials: coefficients of each workgroup, grouped by coefficient; w is the solid angle of one texel of each
//      group of eight mirror images
// out  result: 25 coefficients of radiance, then 25 of irradiance, zero past the order
// One workgroup per coefficient. Its threads add every THREADS-th workgroup. project_sh.wgsl describes this pass and
// project_sh.

// Number of bands: 3 or 5.
override ORDER: u32 = 3u;

// Threads of a workgroup, at most 64.
override THREADS: u32 = 64u;
// π/2 sr, the solid angle of an octant. `w` of the partial sums counts one texel of each group of eight mirror images.
const EIGHTH = 1.5707963267948966;

@group(0) @binding(0) var<storage, read> partials: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f, 50>;

var<workgroup> sums: array<vec4f, MAX_THREADS>;

// Returns the factor of the cosine lobe for a coefficient's band (Ramamoorthi and Hanrahan 2001, equation 8): π, 2π/3,
// π/4, 0, −π/24.
fn cosine_lobe(coefficient: u32) -> f32 {
    let low = select(
        select(0.7853981633974483, 2.0943951023931953, coefficient < 4u),
        3.141592653589793,
        coefficient < 1u,
    );
    return select(select(-0.1308996938995747, 0.0, coefficient < 16u), low, coefficient < 9u);
}

@compute @workgroup_size(THREADS)
fn sum_sh(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let coefficient = workgroup.x;
    let count = select(0u, arrayLength(&partials) / (ORDER * ORDER), coefficient < ORDER * ORDER);
    var sum = vec4f();
    for (var i = thread; i < count; i += THREADS) {
        sum += partials[coefficient * count + i];
    }
    sums[thread] = sum;
    workgroupBarrier();
    if thread == 0u {
        for (var i = 1u; i < THREADS; i++) {
            sum += sums[i];
        }
        // There are no sums past the order.
        let radiance = select(vec3f(), sum.xyz * (EIGHTH / sum.w), count > 0u);
        result[coefficient] = vec4f(radiance, 0.0);
        result[25u + coefficient] = vec4f(cosine_lobe(coefficient) * radiance, 0.0);
    }
}
