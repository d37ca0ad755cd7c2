// sort_small: sorts all digits of up to SORT_SMALL pairs in one dispatch of one workgroup.
//
// in   keys_a, values_a
// out  the sorted pairs, in keys_b and values_b after an odd number of digits, otherwise in keys_a and values_a
// Ranks pairs like scatter in sort.wgsl. Storage barriers order the writes of one digit before the reads of the next.
#import "bvh/build/sort_block.wgsl"

@group(0) @binding(1) var<storage, read_write> keys_a: array<u32>;
@group(0) @binding(2) var<storage, read_write> values_a: array<u32>;
@group(0) @binding(3) var<storage, read_write> keys_b: array<u32>;
@group(0) @binding(4) var<storage, read_write> values_b: array<u32>;

fn load_key(side: u32, i: u32) -> u32 {
    if side == 0u {
        return keys_a[i];
    }
    return keys_b[i];
}

@compute @workgroup_size(SORT_BLOCK)
fn sort_small(@builtin(local_invocation_index) thread: u32) {
    let rounds = (params.count + SORT_BLOCK - 1u) / SORT_BLOCK;
    clear_masks(thread);
    for (var pass_index = 0u; pass_index < params.digits; pass_index++) {
        let side = pass_index & 1u;
        let shift = params.shift + 8u * pass_index;
        atomicStore(&tally[thread], 0u);
        workgroupBarrier();
        for (var round = 0u; round < rounds; round++) {
            let i = round * SORT_BLOCK + thread;
            if i < params.count {
                atomicAdd(&tally[(load_key(side, i) >> shift) & 255u], 1u);
            }
        }
        workgroupBarrier();
        let count = atomicLoad(&tally[thread]);
        sums[thread] = vec2u(count, 0u);
        scan_sums(thread);
        atomicStore(&base[thread], sums[thread].x - count);
        workgroupBarrier();
        for (var round = 0u; round < rounds; round++) {
            let i = round * SORT_BLOCK + thread;
            let present = i < params.count;
            var key = 0u;
            if present {
                key = load_key(side, i);
            }
            let rank = rank_by_masks(thread, (key >> shift) & 255u, present);
            if present {
                let implied = pass_index == 0u && params.implied_values != 0u;
                if side == 0u {
                    keys_b[rank] = key;
                    values_b[rank] = select(values_a[i], i, implied);
                } else {
                    keys_a[rank] = key;
                    values_a[rank] = values_b[i];
                }
            }
        }
        storageBarrier();
        workgroupBarrier();
    }
}
