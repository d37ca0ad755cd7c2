//! Acceleration structures: a radix sort, LBVH builds over many meshes in one batch, a TLAS of the same kind
//! above them, and ray and other queries.
//!
//! The builder reads triangles from buffers of your wgpu device and records into your encoder.
//!
//! ```text
//! bounds ─► tlas ─► morton ─► sort (─► regroup ─► sort)* ─► tlas_leaves ─► hierarchy ─► pyramid ─► hierarchy_across
//!                                                       ├─► hierarchy_serial ─► hierarchy_join
//!                                                       │   on software adapters
//!                                                       └─► ploc ─► ploc_leaves ─► ploc_nodes
//!                                                           for trees of high quality
//! ```
//!
//! Meshes are sorted and built like triangles, as one more mesh after the others. The TLAS needs only one
//! additional dispatch, which writes its rows.
//!
//! Your own shader can trace rays too. [`shader_module`] resolves `#import "bvh/bvh.wgsl"`, and
//! [`Tree::bind_group`] is its bind group 1. Nearest points (`bvh/bvh_nearest.wgsl`) and box overlaps
//! (`bvh/bvh_overlap.wgsl`) work the same way. The example `own_device` shows this for rays.

pub mod codes;
pub mod cost;
pub mod counted;
pub mod crossings;
pub mod figures;
mod geometry;
mod hierarchy;
mod implementation;
pub mod layout;
pub mod lbvh;
pub mod nearest;
pub mod nearest_k;
pub mod nearest_sign;
pub mod objects;
pub mod overlap;
pub mod overlap_pairs;
mod pairs;
mod ploc;
pub mod query_list;
mod query_order;
pub mod ray_nodes;
pub mod scan;
pub mod search;
mod shaders;
mod software;
pub mod sort;
mod sort_parallel;
mod stages;
pub mod sweep;
pub mod trace;
pub mod tree;
pub mod validate;
pub mod winding;

pub use codes::Codes;
pub use cost::{Cost, TreeCost};
pub use counted::{Counts, QueryResults};
pub use crossings::{Crossings, RayCrossings};
pub use figures::{MeshStatistics, TreeStatistics};
pub use geometry::{COORDINATE_LIMIT, Geometry};
pub use layout::{Hit, MeshRange, Objects, Ray};
pub use lbvh::{Lbvh, Work};
pub use nearest::{Nearest, NearestPoints};
pub use nearest_k::{NearestK, Neighbour};
pub use nearest_sign::{Sign, SignedDistance};
pub use objects::{ObjectGeometry, ObjectLbvh, ObjectTree};
pub use overlap::{BoxQuery, CapsuleQuery, FrustumQuery, Overlap};
pub use overlap_pairs::{ObjectPair, OverlapPairs, Pairs};
pub use query_list::Queries;
pub use ray_nodes::RayNodes;
pub use search::{Predicate, Search};
pub use shaders::{SHADERS, compose, shader_module};
pub use sweep::{Contact, Sweep, Sweeps};
pub use trace::{Query, Trace};
pub use tree::{Quality, Tree};
pub use winding::{Moments, Winding};
