//! `sort_serial`: kernels of the radix sort in which each thread sorts a run of pairs.

use crate::{
    accel::{layout::SERIAL_THREADS, pairs::SortKernels, sort_parallel::BINDINGS},
    gpu::{Gpu, Kernel},
};

/// Returns the kernels.
pub(in crate::accel) fn kernels(gpu: &Gpu) -> SortKernels {
    let path = "bvh/software/sort_serial.wgsl";
    let kernel = |entry| Kernel::new(gpu, path, entry, &[], &BINDINGS);
    SortKernels {
        histogram: kernel("histogram_serial"),
        scan: kernel("scan_serial"),
        scatter: kernel("scatter_serial"),
        // The kernel would read and write one array in the same dispatch, which textures do not allow.
        small: None,
        // The longest runs that still occupy 256 threads, because clearing and scanning a run's digit counts
        // must cost less than sorting its pairs.
        block_size: |count| count.div_ceil(256).clamp(256, 8192),
        workgroups: |blocks| [blocks.div_ceil(SERIAL_THREADS), 256 / SERIAL_THREADS],
    }
}
