// Sums of a workgroup of project_sh by workgroup memory alone, nine at a time.
#import "common/project_sh.wgsl"

const BATCH = 9u;
// Rows of a batch lie one past a power of two apart, so that threads that add them up meet in no bank.
const PITCH = COLUMNS + 1u;

var<workgroup> values: array<vec4f, BATCH * PITCH>;

fn gather_batch(batch: array<vec4f, 9>, thread: u32) -> vec4f {
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
    var sum = vec4f();
    if thread < BATCH {
        for (var column = 0u; column < COLUMNS; column++) {
            sum += values[thread * PITCH + column];
        }
    }
    return sum;
}

// Fills `moments`; ends with a barrier.
fn gather_moments(sums: Moments, thread: u32) {
    let low = gather_batch(array<vec4f, 9>(
        vec4f(sums.even[0], sums.solid_angle),
        vec4f(sums.even[1], 0.0), vec4f(sums.even[2], 0.0),
        vec4f(sums.even[3], 0.0), vec4f(sums.even[4], 0.0), vec4f(sums.even[5], 0.0),
        vec4f(sums.odd[0], 0.0),
        vec4f(sums.odd[1], 0.0), vec4f(sums.odd[2], 0.0),
    ), thread);
    if thread < BATCH {
        moments[select(thread, ODD - 6u + thread, thread >= 6u)] = low;
    }
    if ORDER == 5u {
        let even = gather_batch(array<vec4f, 9>(
            vec4f(sums.even[6], 0.0), vec4f(sums.even[7], 0.0), vec4f(sums.even[8], 0.0), vec4f(sums.even[9], 0.0),
            vec4f(sums.even[10], 0.0), vec4f(sums.even[11], 0.0), vec4f(sums.even[12], 0.0), vec4f(sums.even[13], 0.0), vec4f(sums.even[14], 0.0),
        ), thread);
        if thread < BATCH {
            moments[6u + thread] = even;
        }
        let odd = gather_batch(array<vec4f, 9>(
            vec4f(sums.odd[3], 0.0), vec4f(sums.odd[4], 0.0), vec4f(sums.odd[5], 0.0),
            vec4f(sums.odd[6], 0.0), vec4f(sums.odd[7], 0.0), vec4f(sums.odd[8], 0.0), vec4f(sums.odd[9], 0.0),
            vec4f(), vec4f(),
        ), thread);
        if thread < 7u {
            moments[ODD + 3u + thread] = odd;
        }
    }
    workgroupBarrier();
}
