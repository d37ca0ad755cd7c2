// Reduction of a workgroup of project_sh only through workgroup memory, nine moments at a time.
#import "environment/project_sh_sums.wgsl"

const BATCH = 9u;
// The pitch of a row is a power of two plus one, so that threads that sum different rows access different banks.
const PITCH = MAX_THREADS + 1u;

var<workgroup> values: array<vec4f, BATCH * PITCH>;

// Sums `count` moments of the batch into `moments`. The first `split` start at `first`, the others at `second`.
fn gather_batch(batch: array<vec4f, 9>, thread: u32, first: u32, split: u32, second: u32, count: u32) {
    workgroupBarrier();
    values[thread] = batch[0];
    values[PITCH + thread] = batch[1];
    values[2u * PITCH + thread] = batch[2];
    values[3u * PITCH + thread] = batch[3];
    values[4u * PITCH + thread] = batch[4];
    values[5u * PITCH + thread] = batch[5];
    values[6u * PITCH + thread] = batch[6];
    values[7u * PITCH + thread] = batch[7];
    values[8u * PITCH + thread] = batch[8];
    workgroupBarrier();
    for (var i = thread; i < count; i += THREADS) {
        var sum = vec4f();
        for (var other = 0u; other < THREADS; other++) {
            sum += values[i * PITCH + other];
        }
        moments[select(first + i, second + i - split, i >= split)] = sum;
    }
}

// Fills `moments`. Ends with a barrier.
fn gather_moments(sums: Moments, thread: u32) {
    gather_batch(array<vec4f, 9>(
        vec4f(sums.even[0], sums.solid_angle),
        vec4f(sums.even[1], 0.0), vec4f(sums.even[2], 0.0),
        vec4f(sums.even[3], 0.0), vec4f(sums.even[4], 0.0), vec4f(sums.even[5], 0.0),
        vec4f(sums.odd[0], 0.0),
        vec4f(sums.odd[1], 0.0), vec4f(sums.odd[2], 0.0),
    ), thread, 0u, 6u, ODD, 9u);
    if ORDER == 5u {
        gather_batch(array<vec4f, 9>(
            vec4f(sums.even[6], 0.0), vec4f(sums.even[7], 0.0), vec4f(sums.even[8], 0.0),
            vec4f(sums.even[9], 0.0),
            vec4f(sums.even[10], 0.0), vec4f(sums.even[11], 0.0), vec4f(sums.even[12], 0.0),
            vec4f(sums.even[13], 0.0), vec4f(sums.even[14], 0.0),
        ), thread, 6u, 9u, 0u, 9u);
        gather_batch(array<vec4f, 9>(
            vec4f(sums.odd[3], 0.0), vec4f(sums.odd[4], 0.0), vec4f(sums.odd[5], 0.0),
            vec4f(sums.odd[6], 0.0), vec4f(sums.odd[7], 0.0), vec4f(sums.odd[8], 0.0),
            vec4f(sums.odd[9], 0.0),
            vec4f(), vec4f(),
        ), thread, ODD + 3u, 9u, 0u, 7u);
    }
    workgroupBarrier();
}
