// sort_subgroups: scatter of sort.wgsl where all subgroups have one size of at least eight threads. Within a
// subgroup, eight ballots tell each thread which of the others hold its digit (multi-split, Ashkiani et al.
// 2016); the first of them puts their number into the byte that its subgroup has in the digit's words, and
// each thread adds the bytes of the subgroups before its own.
//
// Relies on a workgroup's threads being in the order of their subgroups and lanes, as desktop
// drivers have it and tests check. in and out as scatter's. Threads of different subgroups meet in workgroup
// memory with barriers between.
#import "common/sort_scatter.wgsl"

@compute @workgroup_size(SORT_BLOCK)
fn scatter_subgroups(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    scatter_begin(block, thread);
    let subgroup = thread / subgroup_size;
    let words = SORT_BLOCK / subgroup_size / 4u + select(0u, 1u, SORT_BLOCK / subgroup_size < 4u);
    // The lanes below this one.
    let lanes_below = select(vec4u(0u), vec4u(0xffffffffu), vec4u(32u, 64u, 96u, 128u) <= vec4u(lane))
        | select(vec4u(0u), vec4u((1u << (lane % 32u)) - 1u), vec4u(lane / 32u) == vec4u(0u, 1u, 2u, 3u));
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let i = (block * SORT_ROUNDS + round) * SORT_BLOCK + thread;
        let present = i < params.count;
        var key = 0u;
        if present {
            key = keys_in(i);
        }
        let digit = (key >> params.shift) & 255u;
        var peers = subgroupBallot(present);
        for (var bit = 0u; bit < 8u; bit++) {
            let is_set = ((digit >> bit) & 1u) != 0u;
            let ballot = subgroupBallot(is_set);
            peers &= select(~ballot, ballot, is_set);
        }
        let bits_below = countOneBits(peers & lanes_below);
        let bits = countOneBits(peers);
        let below_here = bits_below.x + bits_below.y + bits_below.z + bits_below.w;
        let here = bits.x + bits.y + bits.z + bits.w;
        let leads = present && below_here == 0u;
        if leads {
            atomicOr(&masks[digit * MASK_WORDS + subgroup / 4u], here << (8u * (subgroup % 4u)));
        }
        workgroupBarrier();
        var before = 0u;
        var total = 0u;
        if present {
            for (var w = 0u; w < words; w++) {
                let counts_of_four = atomicLoad(&masks[digit * MASK_WORDS + w]);
                // Sums of four bytes that are at most 128 fit ten bits: halves are added apart.
                let pairs = (counts_of_four & 0x00ff00ffu) + ((counts_of_four >> 8u) & 0x00ff00ffu);
                total += (pairs & 0xffffu) + (pairs >> 16u);
                let part = select(0u, (1u << (8u * (subgroup % 4u))) - 1u, w == subgroup / 4u);
                let earlier = counts_of_four & select(part, 0xffffffffu, w < subgroup / 4u);
                let earlier_pairs = (earlier & 0x00ff00ffu) + ((earlier >> 8u) & 0x00ff00ffu);
                before += (earlier_pairs & 0xffffu) + (earlier_pairs >> 16u);
            }
            scatter_pair(i, key, base[digit] + before + below_here);
        }
        workgroupBarrier();
        if leads {
            // The first subgroup that holds the digit moves its base on.
            if before == 0u {
                base[digit] += total;
            }
            atomicStore(&masks[digit * MASK_WORDS + subgroup / 4u], 0u);
        }
        workgroupBarrier();
    }
}
