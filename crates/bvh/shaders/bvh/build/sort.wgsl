// sort: one pass of a stable least-significant-digit radix sort of key-value pairs, eight bits at a time.
//
// histogram   in   keys_in
//             out  counts[digit × block_count + block]: how often the block holds the digit
// scan        in   counts
//             out  counts: exclusive prefix sums along each digit's row; totals[digit]: the row's sum
// scatter     in   keys_in, values_in, counts, totals
//             out  keys_out, values_out in the order of the digit, equal digits in input order
//
// Reduce-then-scan: no workgroup waits for another, and a dispatch boundary separates all communication between
// workgroups. A block is SORT_BLOCK threads × SORT_ROUNDS rounds of pairs. scan has one workgroup per digit. Up to
// SORT_SERIAL_BLOCKS blocks, it has a single workgroup with one thread per digit. scatter ranks the pairs of a round
// with a ballot in shared memory: each thread sets its bit in the mask of its digit, and counts the bits below its own.
// Then scatter reorders the block in that memory and stores it. Nothing in this file depends on the subgroup size.
// sort_subgroups.wgsl has the subgroup variant of scatter.
#import "bvh/build/sort_scatter.wgsl"

@compute @workgroup_size(SORT_BLOCK)
fn histogram(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    load_keys(block, thread);
    atomicStore(&tally[thread], 0u);
    workgroupBarrier();
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        if block_index(block, round, thread) < params.count {
            atomicAdd(&tally[digit_of(keys[round])], 1u);
        }
    }
    workgroupBarrier();
    if block < params.block_count {
        counts[thread * params.block_count + block] = atomicLoad(&tally[thread]);
    }
}

@compute @workgroup_size(SORT_BLOCK)
fn scan(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    if params.block_count <= SORT_SERIAL_BLOCKS {
        var sum = 0u;
        for (var block = 0u; block < params.block_count; block++) {
            let at = thread * params.block_count + block;
            let count = counts[at];
            counts[at] = sum;
            sum += count;
        }
        totals[thread] = sum;
        return;
    }
    let row = workgroup.x * params.block_count;
    var carry = 0u;
    for (var first = 0u; first < params.block_count; first += SORT_BLOCK) {
        let block = first + thread;
        var count = 0u;
        if block < params.block_count {
            count = counts[row + block];
        }
        sums[thread] = vec2u(count, 0u);
        scan_sums(thread);
        if block < params.block_count {
            counts[row + block] = carry + sums[thread].x - count;
        }
        carry += sums[DIGITS - 1u].x;
        workgroupBarrier();
    }
    if thread == 0u {
        totals[workgroup.x] = carry;
    }
}

@compute @workgroup_size(SORT_BLOCK)
fn scatter(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    scatter_begin(block, thread);
    rank_rounds_by_masks(block, thread);
    scatter_end(block, thread);
}
