//! Decoding of image files to texels or compressed blocks.

pub(super) mod blocks;
pub(super) mod dds;
mod decode;
pub(super) mod ktx2;
mod pixels;
mod queue;
mod request;
mod shrink;
mod texels;
mod thumbnail;
mod uses;

pub(super) use decode::{Candidate, EncodedImage, probe};
pub(super) use pixels::decoded;
pub(super) use queue::{decode_all, start};
pub use request::TextureSupport;
pub use texels::{Image, TexelFormat};
pub(super) use uses::{Role, Uses, forget_missing, uses};
