//! The trees of a scene: their buffers, what of them is built next, and how they are bound and read back.

use super::{
    geometry::GeometryArrays,
    implementation::NodeStages,
    layout::{BOUNDS_WORDS, BuildParams, LeafTriangle, MeshRange, Node, TlasEntry, TreeInfo},
    pairs::{Digits, SortBuffers},
    stages::Bound,
};
use crate::{
    Result,
    gpu::{
        Array, Gpu, bind_group,
        pass::{self, Binding},
    },
};

/// A scene's trees, and what is needed to build them again.
#[derive(Debug)]
pub struct Tree {
    /// A [`TlasEntry`] per mesh.
    pub tlas: wgpu::Buffer,
    /// Four rows a [`Node`], with room for one per triangle and then per mesh: those of a mesh begin at its
    /// first triangle and those of the TLAS behind the last triangle. Where no node lies, there may be one of
    /// an earlier build.
    pub nodes: Array,
    /// An `f32` a node: the area of its box; −1 where no node lies.
    pub node_areas: wgpu::Buffer,
    /// Three rows a [`LeafTriangle`], in leaf order, and then the meshes in theirs.
    pub triangles: Array,
    pub(super) info: wgpu::Buffer,
    pub(super) triangle_count: u32,
    pub(super) leaf_cutoff: u32,
    pub(super) meshes: Vec<MeshRange>,
    pub(super) mesh_bounds: wgpu::Buffer,
    pub(super) codes: Array,
    pub(super) order: Array,
    pub(super) geometry: GeometryArrays,
    pub(super) pairs: SortBuffers,
    pub(super) params: wgpu::Buffer,
    /// What `params` holds when all items are built.
    pub(super) params_all: BuildParams,
    pub(super) items: wgpu::Buffer,
    pub(super) sorts: Vec<Sort>,
    pub(super) selection: Selection,
    /// Whose order the last sort made: as [`Selection::meshes`]. `None` before the first one.
    pub(super) sorted: Option<Vec<bool>>,
    pub(super) dispatches: u32,
    pub(super) stages: TreeStages,
}

/// The items of the next builds.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Whether each mesh is built; empty for all.
    pub(super) meshes: Vec<bool>,
    pub(super) item_count: u32,
    pub(super) item_triangles: u32,
}

/// One sort of a build.
#[derive(Debug)]
pub(super) struct Sort {
    /// What makes its keys from the order of the sort before, with its bind group.
    pub(super) regroup: Option<(Regroup, Bound)>,
    pub(super) digits: Digits,
}

/// The bits that the keys of a further sort hold.
#[derive(Debug, Clone, Copy)]
pub(super) enum Regroup {
    /// The upper word of wide codes, and the mesh's lowest bit.
    Code,
    /// The mesh's bits that had no room in keys of 30-bit codes.
    MeshAfterShortCode,
    /// The mesh's bits that had no room in keys of wide codes.
    MeshAfterWideCode,
}

/// The bind groups of a tree's stages.
#[derive(Debug)]
pub(super) struct TreeStages {
    pub(super) bounds: Bound,
    pub(super) tlas: Bound,
    pub(super) morton: Bound,
    pub(super) nodes: NodeStages,
}

/// Trees as they are in GPU memory.
#[derive(Debug, Clone)]
pub struct TreeData {
    /// Triangles up to which a range of them has no node.
    pub leaf_cutoff: u32,
    /// One per mesh.
    pub tlas: Vec<TlasEntry>,
    /// One per triangle, then one per mesh for the TLAS: see [`Tree::nodes`].
    pub nodes: Vec<Node>,
    /// Area of the box of each node; negative where no node lies.
    pub node_areas: Vec<f32>,
    /// In leaf order, then the meshes, as `common/leaf.wgsl` writes them.
    pub triangles: Vec<LeafTriangle>,
}

impl Tree {
    /// From now on builds only the trees of those meshes (and the TLAS), or of all again with `None`. The
    /// others stay as they were built last. Cheap where nothing changes. It takes effect through the queue:
    /// what has been recorded has to be submitted before.
    pub fn build_only(&mut self, gpu: &Gpu, meshes: Option<&[bool]>) {
        let meshes = meshes.unwrap_or_default();
        let meshes = &meshes[..meshes.len().min(self.meshes.len())];
        if self.selection.item_count > 0 && self.selection.meshes == meshes {
            return;
        }
        let mut item_triangles = self.triangle_count;
        if !meshes.is_empty() {
            let mut items = Vec::new();
            for (range, _) in self.meshes.iter().zip(meshes).filter(|(_, built)| **built) {
                items.extend(range.first_triangle..range.first_triangle + range.triangle_count);
            }
            item_triangles = items.len() as u32;
            items.extend(self.triangle_count..self.triangle_count + self.mesh_count());
            gpu.queue
                .write_buffer(&self.items, 0, bytemuck::cast_slice(&items));
        }
        let item_count = item_triangles + self.mesh_count();
        self.params_all.leaf_cutoff = self.leaf_cutoff;
        let params = BuildParams {
            item_count,
            item_triangles,
            all_items: u32::from(meshes.is_empty()),
            ..self.params_all
        };
        gpu.queue
            .write_buffer(&self.params, 0, bytemuck::bytes_of(&params));
        for sort in &mut self.sorts {
            sort.digits.set_count(gpu, item_count);
        }
        let mesh_count = self.mesh_count();
        self.stages
            .nodes
            .set_counts(gpu, item_triangles, mesh_count);
        self.selection = Selection {
            meshes: meshes.to_vec(),
            item_count,
            item_triangles,
        };
    }

    /// Triangles up to which a range of them gets no node, which spares the build most nodes: 1 until
    /// [`Tree::set_leaf_cutoff`].
    pub fn leaf_cutoff(&self) -> u32 {
        self.leaf_cutoff
    }

    /// From the next build on, ranges of so many triangles or fewer get no node: rays test them as a whole, as
    /// they do with a cutoff of their own. Where this lowers the number, the next build has to be one of all
    /// meshes, before any ray. It takes effect through the queue, as [`Tree::build_only`].
    pub fn set_leaf_cutoff(&mut self, gpu: &Gpu, leaf_cutoff: u32) {
        let leaf_cutoff = leaf_cutoff.max(1);
        if self.leaf_cutoff != leaf_cutoff {
            self.leaf_cutoff = leaf_cutoff;
            let info = TreeInfo {
                triangle_count: self.triangle_count,
                mesh_count: self.mesh_count(),
                leaf_cutoff,
            };
            gpu.queue
                .write_buffer(&self.info, 0, bytemuck::bytes_of(&info));
            let selection = std::mem::take(&mut self.selection);
            let meshes = Some(&selection.meshes[..]).filter(|meshes| !meshes.is_empty());
            self.build_only(gpu, meshes);
        }
    }

    pub(super) fn clear_bounds(&self, encoder: &mut wgpu::CommandEncoder) {
        let bytes = u64::from(BOUNDS_WORDS) * 4;
        if self.selection.meshes.is_empty() {
            encoder.clear_buffer(&self.mesh_bounds, 0, None);
            return;
        }
        // One command for each run of neighbours. The scene's box only grows until all is built again: it is
        // but the TLAS's grid.
        let mut first = 0;
        for run in self.selection.meshes.chunk_by(|a, b| a == b) {
            let count = run.len() as u64;
            if run[0] {
                encoder.clear_buffer(&self.mesh_bounds, first * bytes, Some(count * bytes));
            }
            first += count;
        }
    }

    /// Triangles in all trees.
    pub fn triangle_count(&self) -> u32 {
        self.triangle_count
    }

    /// Meshes, each with a tree.
    pub fn mesh_count(&self) -> u32 {
        self.meshes.len() as u32
    }

    /// Dispatches of the last build that was recorded. They depend on the adapter, on whether the scene is
    /// tiny, on the bits of the codes and of the number of meshes: never on the single meshes.
    pub fn dispatches(&self) -> u32 {
        self.dispatches
    }

    /// The positions that the trees are built over.
    pub fn positions(&self) -> &wgpu::Buffer {
        self.geometry.positions.buffer()
    }

    /// What was sorted to each position: the position that it had among the items.
    pub fn order(&self) -> &Array {
        &self.order
    }

    /// The Morton code (high word, low word) of each item, the item and its mesh.
    pub fn codes(&self) -> &Array {
        &self.codes
    }

    /// The bounds of each mesh's centroids and its box, then the scene's box: twelve, twelve, … and six `u32`
    /// as `accel/bounds.wgsl` encodes them.
    pub fn mesh_bounds(&self) -> &wgpu::Buffer {
        &self.mesh_bounds
    }

    /// The bind group layout of `common/bvh.wgsl`, group 1: sizes, nodes, triangles.
    pub fn layout(gpu: &Gpu, visibility: wgpu::ShaderStages) -> wgpu::BindGroupLayout {
        let bindings = [Binding::Uniform, Binding::ReadArray, Binding::ReadArray];
        pass::layout(gpu, "tree", &bindings.map(|binding| (visibility, binding)))
    }

    /// The bind group for [`Tree::layout`].
    pub fn bind_group(&self, gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> wgpu::BindGroup {
        bind_group(
            gpu,
            "tree",
            layout,
            &[&self.info, &self.nodes, &self.triangles],
        )
    }

    /// Reads the trees back, waiting for them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn read(&self, gpu: &Gpu) -> Result<TreeData> {
        let bytes = self.meshes.len() * size_of::<TlasEntry>();
        let areas = 4 * (self.triangle_count + self.mesh_count()) as usize;
        Ok(TreeData {
            leaf_cutoff: self.leaf_cutoff,
            tlas: bytemuck::pod_collect_to_vec(&gpu.read(&self.tlas)?[..bytes]),
            nodes: self.nodes.read(gpu)?,
            node_areas: bytemuck::pod_collect_to_vec(&gpu.read(&self.node_areas)?[..areas]),
            triangles: self.triangles.read(gpu)?,
        })
    }
}
