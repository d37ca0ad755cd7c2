//! Radix sort for GPUs. Workgroups rank their pairs with subgroup ballots, or with a ballot in workgroup
//! memory.

use super::{
    layout::{SORT_BLOCK, SORT_ROUNDS, SORT_SERIAL_BLOCKS},
    pairs::SortKernels,
};
use crate::gpu::{
    Gpu, Kernel,
    pass::Binding::{self, ReadArray, Uniform, Write},
};

/// Bindings of the kernels for one digit: parameters, input keys and values, output keys and values, counts,
/// totals.
pub(super) const BINDINGS: [Binding; 7] = [Uniform, ReadArray(1), ReadArray(1), Write, Write, Write, Write];

/// Bindings of `sort_small`, whose single workgroup reads and writes both arrays.
const SMALL_BINDINGS: [Binding; 5] = [Uniform, Write, Write, Write, Write];

/// Returns the kernels. `by_subgroups` selects the variant with subgroup operations.
pub(super) fn kernels(gpu: &Gpu, by_subgroups: bool) -> SortKernels {
    let kernel = |path, entry| Kernel::new(gpu, path, entry, &[], &BINDINGS);
    SortKernels {
        histogram: kernel("bvh/build/sort.wgsl", "histogram"),
        scan: kernel("bvh/build/sort.wgsl", "scan"),
        scatter: if by_subgroups {
            let (path, entry) = ("bvh/build/sort_subgroups.wgsl", "scatter_subgroups");
            let least = gpu.capabilities.sort_subgroup_size;
            let constants = [("MIN_SUBGROUP", f64::from(least))];
            Kernel::with_constants(gpu, path, entry, &[], &BINDINGS, &constants)
        } else {
            kernel("bvh/build/sort.wgsl", "scatter")
        },
        small: Some(Kernel::new(
            gpu,
            "bvh/build/sort_small.wgsl",
            "sort_small",
            &[],
            &SMALL_BINDINGS,
        )),
        block_size: |_| SORT_BLOCK * SORT_ROUNDS,
        workgroups: |blocks| {
            let rows = if blocks <= SORT_SERIAL_BLOCKS { 1 } else { 256 };
            [blocks, rows]
        },
    }
}
