//! Structs declared in both Rust and WGSL. `tests/shaders.rs` compares their names, offsets and sizes with
//! naga's.

/// Layout of a struct, for comparison with WGSL.
#[derive(Debug, Clone, Copy)]
pub struct StructLayout {
    /// Name of the struct in Rust and WGSL.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Name and byte offset of each member.
    pub members: &'static [(&'static str, usize)],
}

/// Declares a `repr(C)` struct and its [`StructLayout`]. Members that begin with `_` are padding, which WGSL
/// does not name.
#[macro_export]
macro_rules! gpu_structs {
    ($($(#[$doc:meta])* $name:ident { $($(#[$member_doc:meta])* $member:ident: $type:ty),* $(,)? })*) => {
        $($(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        #[expect(missing_docs, reason = "members without a note are padding or say it all in their name")]
        pub struct $name { $($(#[$member_doc])* pub $member: $type),* })*

        /// Layouts of all structs.
        pub const STRUCTS: &[$crate::gpu::structs::StructLayout] = &[$($crate::gpu::structs::StructLayout {
            name: stringify!($name),
            size: size_of::<$name>(),
            members: &[$((stringify!($member), std::mem::offset_of!($name, $member))),*],
        }),*];
    };
}
pub use gpu_structs;
