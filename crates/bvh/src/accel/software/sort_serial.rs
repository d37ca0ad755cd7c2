//! `sort_serial`: the kernels of the radix sort where each thread sorts a run of pairs.

use crate::{
    accel::{layout::SERIAL_THREADS, pairs::SortKernels, sort_parallel::BINDINGS},
    gpu::{Gpu, Kernel},
};

/// The kernels.
pub(in crate::accel) fn kernels(gpu: &Gpu) -> SortKernels {
    let path = "bvh/software/sort_serial.wgsl";
    let kernel = |entry| Kernel::new(gpu, path, entry, &[], &BINDINGS);
    SortKernels {
        histogram: kernel("histogram_serial"),
        scan: kernel("scan_serial"),
        scatter: kernel("scatter_serial"),
        // It would have to read and write one array in a dispatch, which textures do not allow.
        small: None,
        // As long as leaves work for 256 threads: counting the digits of a run then costs less than sorting
        // its pairs.
        block_size: |count| count.div_ceil(256).clamp(256, 8192),
        workgroups: |blocks| [blocks.div_ceil(SERIAL_THREADS), 256 / SERIAL_THREADS],
    }
}
