//! The kernels for software adapters, where a barrier costs more than the work between two of them: each
//! thread works on a run of elements by itself. [`implementation`](super::implementation) chooses them, but for
//! `pairs_descend`, which queries offer and the builder does not know.

pub(super) mod hierarchy_serial;
pub(super) mod pairs_descend;
pub(super) mod sort_serial;
