//! Kernels for software adapters, where a barrier costs more than the work between two of them. Each thread
//! processes a run of elements by itself. [`implementation`](super::implementation) selects them, except
//! `pairs_descend`, which belongs to a query and not to the builder.

pub(super) mod hierarchy_serial;
pub(super) mod pairs_descend;
pub(super) mod sort_serial;
