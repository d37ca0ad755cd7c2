// sort_subgroups: the subgroup variant of scatter in sort.wgsl.
//
// in and out as for scatter
// Within a subgroup, eight ballots give each thread the mask of the threads with its digit (multi-split, Ashkiani et
// al. 2016). The first of those writes their number into its subgroup's byte of the digit's words for that round, and
// each thread adds the bytes before its own. Several rounds share the words and the barriers: four, if subgroups have
// 32 threads.
//
// This needs threads ordered by subgroup and lane, and subgroups of equal size. WGSL guarantees neither, and drivers
// choose sizes per shader. So each workgroup checks the order and the sizes, and ranks like scatter if the check fails.
// Threads of different subgroups communicate through workgroup memory with barriers in between.
#import "bvh/build/sort_scatter.wgsl"

// Minimum subgroup size: each subgroup needs a byte in a digit's MASK_WORDS words.
override MIN_SUBGROUP: u32;

var<workgroup> is_unordered: atomic<u32>;
var<workgroup> first_size: u32;

// Per round, the number of pairs in this subgroup with this thread's digit, and the number of those before this thread.
var<private> here: array<vec2u, MASK_WORDS>;

fn count_bits(bits: vec4u) -> u32 {
    let counts = countOneBits(bits);
    return counts.x + counts.y + counts.z + counts.w;
}

// Returns the sum of four bytes, each at most 128.
fn sum_bytes(bytes: u32) -> u32 {
    let pairs = (bytes & 0x00ff00ffu) + ((bytes >> 8u) & 0x00ff00ffu);
    return (pairs & 0xffffu) + (pairs >> 16u);
}

fn rank_by_subgroups(block: u32, thread: u32, subgroup_size: u32, lane: u32) {
    let subgroup = thread / subgroup_size;
    let byte = 8u * (subgroup % 4u);
    // Words per digit and round, and rounds that share the barriers.
    let words = max(SORT_BLOCK / subgroup_size / 4u, 1u);
    let at_once = MASK_WORDS / words;
    // Mask of the lanes below this one.
    let lanes_below = select(vec4u(0u), vec4u(0xffffffffu), vec4u(32u, 64u, 96u, 128u) <= vec4u(lane))
        | select(vec4u(0u), vec4u((1u << (lane % 32u)) - 1u), vec4u(lane / 32u) == vec4u(0u, 1u, 2u, 3u));
    for (var first = 0u; first < SORT_ROUNDS; first += MASK_WORDS) {
        // at_once divides MASK_WORDS, and MASK_WORDS divides SORT_ROUNDS.
        for (var part = 0u; part < MASK_WORDS; part += at_once) {
            for (var i = 0u; i < at_once; i++) {
                let round = first + part + i;
                let present = block_index(block, round, thread) < params.count;
                let digit = digit_of(keys[round]);
                var peers = subgroupBallot(present);
                for (var bit = 0u; bit < 8u; bit++) {
                    let is_set = ((digit >> bit) & 1u) != 0u;
                    let ballot = subgroupBallot(is_set);
                    peers &= select(~ballot, ballot, is_set);
                }
                here[i] = vec2u(count_bits(peers), count_bits(peers & lanes_below));
                if present && here[i].y == 0u {
                    atomicOr(&masks[(i * words + subgroup / 4u) * DIGITS + digit], here[i].x << byte);
                }
            }
            workgroupBarrier();
            for (var i = 0u; i < at_once; i++) {
                let round = first + part + i;
                let digit = digit_of(keys[round]);
                var before = here[i].y;
                let own = i * words + subgroup / 4u;
                for (var word = 0u; word <= own; word++) {
                    let counts_of_four = atomicLoad(&masks[word * DIGITS + digit]);
                    before += sum_bytes(select(counts_of_four, counts_of_four & ((1u << byte) - 1u), word == own));
                }
                places[round] = atomicLoad(&base[digit]) + before;
            }
            workgroupBarrier();
            for (var i = 0u; i < at_once; i++) {
                let round = first + part + i;
                let present = block_index(block, round, thread) < params.count;
                let digit = digit_of(keys[round]);
                if present && here[i].y == 0u {
                    // The first thread of each digit in a subgroup advances the base. The sum does not depend on their
                    // order.
                    atomicAdd(&base[digit], here[i].x);
                    atomicStore(&masks[(i * words + subgroup / 4u) * DIGITS + digit], 0u);
                }
            }
            workgroupBarrier();
        }
    }
}

@compute @workgroup_size(SORT_BLOCK)
fn scatter_subgroups(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    if thread == 0u {
        atomicStore(&is_unordered, 0u);
        first_size = subgroup_size;
    }
    scatter_begin(block, thread);
    let first_lane = subgroupBroadcastFirst(thread);
    let is_ordered = lane == thread % subgroup_size && first_lane == thread - lane;
    if subgroup_size < MIN_SUBGROUP || subgroup_size != first_size || !is_ordered {
        atomicStore(&is_unordered, 1u);
    }
    workgroupBarrier();
    if atomicLoad(&is_unordered) == 0u {
        rank_by_subgroups(block, thread, subgroup_size, lane);
    } else {
        rank_rounds_by_masks(block, thread);
    }
    scatter_end(block, thread);
}
