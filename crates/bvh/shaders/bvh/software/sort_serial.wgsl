// sort_serial: the passes of sort.wgsl for software adapters.
//
// histogram_serial   in   keys_in
//                    out  counts[digit × block_count + block]: how often run `block` holds the digit
// scan_serial        in   counts
//                    out  counts: exclusive prefix sums along each digit's row; totals[digit]: the row's sum
// scatter_serial     in   keys_in, values_in, counts, totals
//                    out  keys_out, values_out in the order of the digit, equal digits in input order
//
// On software adapters, a barrier costs more than the work between two of them. So each thread sorts a run of `run`
// pairs by itself, and counts in its own part of the workgroup's memory.
// One thread per run. scan_serial has one per digit.
#import "bvh/dispatch.wgsl"
#import "bvh/build/sort_digit.wgsl"

#array read 0 1 keys_in: u32
#array read 0 2 values_in: u32
#array write 0 3 keys_out: u32
#array write 0 4 values_out: u32
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> totals: array<u32>;

// Per digit and thread: the count, then the destination of the next pair. This is in workgroup memory, because private
// memory would be zero-initialised, and llvmpipe takes seconds to compile that.
var<workgroup> tally: array<u32, DIGITS * SERIAL_THREADS>;

@compute @workgroup_size(SERIAL_THREADS)
fn histogram_serial(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups) * SERIAL_THREADS + thread;
    if block >= params.block_count {
        return;
    }
    for (var digit = 0u; digit < DIGITS; digit++) {
        tally[digit * SERIAL_THREADS + thread] = 0u;
    }
    let end = min((block + 1u) * params.run, params.count);
    for (var i = block * params.run; i < end; i++) {
        tally[((keys_in(i) >> params.shift) & 255u) * SERIAL_THREADS + thread] += 1u;
    }
    for (var digit = 0u; digit < DIGITS; digit++) {
        counts[digit * params.block_count + block] = tally[digit * SERIAL_THREADS + thread];
    }
}

@compute @workgroup_size(SERIAL_THREADS)
fn scan_serial(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let digit = workgroup.x * SERIAL_THREADS + thread;
    var sum = 0u;
    for (var block = 0u; block < params.block_count; block++) {
        let at = digit * params.block_count + block;
        let count = counts[at];
        counts[at] = sum;
        sum += count;
    }
    totals[digit] = sum;
}

@compute @workgroup_size(SERIAL_THREADS)
fn scatter_serial(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups) * SERIAL_THREADS + thread;
    if block >= params.block_count {
        return;
    }
    var base = 0u;
    for (var digit = 0u; digit < DIGITS; digit++) {
        tally[digit * SERIAL_THREADS + thread] = base + counts[digit * params.block_count + block];
        base += totals[digit];
    }
    let end = min((block + 1u) * params.run, params.count);
    for (var i = block * params.run; i < end; i++) {
        let key = keys_in(i);
        let digit = ((key >> params.shift) & 255u) * SERIAL_THREADS + thread;
        let rank = tally[digit];
        tally[digit] = rank + 1u;
        keys_out(rank, key);
        var value = i;
        if params.implied_values == 0u {
            value = values_in(i);
        }
        values_out(rank, value);
    }
}
