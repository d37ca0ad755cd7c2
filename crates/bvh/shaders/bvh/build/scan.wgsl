// scan: computes an exclusive prefix sum in place, followed by the total.
//
// scan_blocks  in numbers; out numbers: prefix sums within a block of SCAN_BLOCK; sums: the total of each block
// scan_sums    in sums; out sums: prefix sums of the block totals; numbers: the overall total, after the last number
// scan_add     in sums; out numbers
// Sums saturate at 2^32 − 1, so the caller detects an overflow in the total. The caller makes sure that `numbers` has
// room for the total after the numbers to sum. One workgroup per block. scan_sums has a single workgroup, which
// processes SCAN_THREADS sums at a time. Each entry point is a dispatch of its own.
#import "bvh/dispatch.wgsl"

// x: number of numbers to sum. y: number of blocks.
@group(0) @binding(0) var<uniform> scan: vec4u;
@group(0) @binding(1) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

const SCAN_THREADS = 256u;
const SCAN_RUN = SCAN_BLOCK / SCAN_THREADS;

var<workgroup> partial: array<u32, SCAN_THREADS>;

fn saturating(a: u32, b: u32) -> u32 {
    let sum = a + b;
    return select(sum, 0xffffffffu, sum < a);
}

// Returns the exclusive prefix sum of `own` over the workgroup. The last element of `partial` then holds the total.
fn scan_threads(thread: u32, own: u32) -> u32 {
    partial[thread] = own;
    workgroupBarrier();
    for (var reach = 1u; reach < SCAN_THREADS; reach *= 2u) {
        var before = 0u;
        if thread >= reach {
            before = partial[thread - reach];
        }
        workgroupBarrier();
        partial[thread] = saturating(partial[thread], before);
        workgroupBarrier();
    }
    if thread == 0u {
        return 0u;
    }
    return partial[thread - 1u];
}

@compute @workgroup_size(SCAN_THREADS)
fn scan_blocks(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    let first = block * SCAN_BLOCK + thread * SCAN_RUN;
    let end = min(first + SCAN_RUN, scan.x);
    var own = 0u;
    for (var i = first; i < end; i++) {
        own = saturating(own, numbers[i]);
    }
    var sum = scan_threads(thread, own);
    for (var i = first; i < end; i++) {
        let number = numbers[i];
        numbers[i] = sum;
        sum = saturating(sum, number);
    }
    if thread == SCAN_THREADS - 1u && block < scan.y {
        sums[block] = partial[thread];
    }
}

@compute @workgroup_size(SCAN_THREADS)
fn scan_sums(@builtin(local_invocation_index) thread: u32) {
    var before = 0u;
    for (var first = 0u; first < scan.y; first += SCAN_THREADS) {
        let i = first + thread;
        var own = 0u;
        if i < scan.y {
            own = sums[i];
        }
        let sum = scan_threads(thread, own);
        if i < scan.y {
            sums[i] = saturating(before, sum);
        }
        before = saturating(before, partial[SCAN_THREADS - 1u]);
        workgroupBarrier();
    }
    if thread == 0u {
        numbers[scan.x] = before;
    }
}

@compute @workgroup_size(SCAN_THREADS)
fn scan_add(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    let first = block * SCAN_BLOCK + thread * SCAN_RUN;
    for (var i = first; i < min(first + SCAN_RUN, scan.x); i++) {
        numbers[i] = saturating(numbers[i], sums[block]);
    }
}
