//! CPU scene representation: nodes, meshes, skins, morph targets, materials, clips, lights and cameras. It
//! does not depend on wgpu.
//!
//! Conventions are glTF's: right-handed, +Y up, metres, radians and counter-clockwise front faces. Lights and
//! cameras look along their node's −Z. Every index in a [`Scene`] is in range, and every attribute has as
//! many elements as its primitive has vertices. Loaders check this once, so that later code can rely on it.

pub mod animation;
pub mod atmosphere;
mod blend;
pub mod bounds;
mod camera;
pub mod camera_path;
mod clip;
pub mod compared;
pub mod deform;
pub mod deviation;
mod edit_values;
pub mod edits;
pub mod environment;
pub mod error;
mod files;
pub mod folder;
mod formats;
pub mod framing;
mod gltf;
mod graph;
mod image;
mod layers;
mod light;
mod load;
mod material;
mod merge;
mod mesh;
pub mod mesh_distance;
mod morphs;
mod node;
mod obj;
pub mod opened;
pub mod picture;
mod rest;
pub mod saved_edits;
pub mod settings;
pub mod signed_surface;
pub mod srgb;
mod surface;
pub mod surface_points;
mod texture;
pub mod timeline;
mod up;
mod volume;
pub mod volume_lattice;

pub use animation::Pose;
pub use blend::{Blend, MorphWeight, wrapped};
pub use camera::{Camera, Projection};
pub use clip::{Channel, Clip, Interpolation, Property, PropertyOf, UvPart};
pub use error::{Error, Result};
pub use files::{find_beside, is_stdin};
pub use formats::{load, load_bytes, load_for};
pub use graph::{ExtensionUse, Scene, Source, Treatment, UpHint, WarningPlace};
pub use image::{Image, TexelFormat, TextureSupport};
pub use layers::{LayerSlot, Layers};
pub use light::{Light, LightKind};
pub use load::Progress;
pub use material::{AlphaMode, Material};
pub use mesh::{Mesh, MorphTarget, Primitive, Shading};
pub use node::{Node, Skin, Transform};
pub use texture::{Sampler, Texture, TextureRef, TextureSlot, UvTransform, Wrap};
pub use volume::{Grid, Volume};
