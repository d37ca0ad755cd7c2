//! CPU twins of the GPU stages: plain functions over slices, and the specification that tests compare the shaders with.

pub mod deform;
