//! `ray_nodes`: nodes for rays on GPUs, made from the nodes of a tree on the GPU. They apply the rays' leaf
//! cutoff, so a new cutoff takes effect without a build. Software adapters trace rays through the tree's own
//! nodes.

use super::{layout::RAY_NODE_THREADS, stages, tree::Tree};
use crate::{
    Result,
    gpu::{
        Array, Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups, bind_group,
        pass::Binding::{Read, Uniform, Write},
    },
};
use std::sync::atomic::Ordering::Relaxed;

/// No ray nodes are stale.
const NONE: u32 = 0;
/// The ray nodes of the selection are stale ([`Tree::build_only`]).
const SELECTED: u32 = 1;
/// All ray nodes are stale.
const ALL: u32 = 2;

/// Kernel that makes ray nodes.
#[derive(Debug)]
pub struct RayNodes {
    /// `None` on software adapters.
    kernel: Option<Kernel>,
    tree: wgpu::BindGroupLayout,
}

impl Tree {
    /// Marks all nodes for rays as stale, so that [`RayNodes::record`] records them again. Builds mark the
    /// nodes of the meshes that they build. Call it if a recording is dropped.
    pub fn invalidate_ray_nodes(&self) {
        self.ray_nodes.stale.store(ALL, Relaxed);
    }

    /// Marks the nodes of the current selection as stale, in addition to those that already are.
    pub(super) fn invalidate_selected_ray_nodes(&self) {
        let is_all = self.selection.meshes.is_empty() || self.ray_nodes.stale.load(Relaxed) != NONE;
        let stale = if is_all { ALL } else { SELECTED };
        self.ray_nodes.stale.store(stale, Relaxed);
    }

    /// Remembers that ray nodes outside of the next selection may be stale.
    pub(super) fn leave_ray_node_selection(&self) {
        if self.ray_nodes.stale.load(Relaxed) != NONE {
            self.invalidate_ray_nodes();
        }
    }

    /// Returns the resources for [`Tree::BINDINGS`] with which `bvh/bvh_rays.wgsl` traces rays, once
    /// [`RayNodes::record`] is done. Other queries need [`Tree::bindings`].
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the nodes for rays exceed the device's limits.
    /// [`Error::Gpu`](crate::Error::Gpu) if the device is out of memory.
    pub fn ray_bindings(&self, gpu: &Gpu) -> Result<[&dyn Bind; 3]> {
        let nodes = match gpu.capabilities.has_ray_nodes() {
            true => self.ray_nodes(gpu)?,
            false => &self.nodes,
        };
        Ok([&self.info, nodes, &self.triangles])
    }

    /// Creates the bind group for [`Tree::layout`] with the resources of [`Tree::ray_bindings`].
    ///
    /// # Errors
    ///
    /// The errors of [`Tree::ray_bindings`].
    pub fn ray_bind_group(&self, gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> Result<wgpu::BindGroup> {
        Ok(bind_group(gpu, "tree", layout, &self.ray_bindings(gpu)?))
    }

    /// Reads back the rows of the nodes for rays, in the layout of `bvh/ray_node.wgsl`, and waits for them. Unused
    /// slots hold anything.
    ///
    /// # Errors
    ///
    /// The errors of [`Tree::ray_bind_group`]. [`Error::Gpu`](crate::Error::Gpu) if the device is lost.
    pub fn read_ray_nodes(&self, gpu: &Gpu) -> Result<Vec<[u32; 4]>> {
        let mut rows: Vec<_> = self.ray_nodes(gpu)?.read(gpu)?;
        let nodes = self.triangle_count + self.mesh_count();
        rows.truncate((gpu.capabilities.ray_boxes.rows() * nodes) as usize);
        Ok(rows)
    }

    fn ray_nodes(&self, gpu: &Gpu) -> Result<&Array> {
        if let Some(nodes) = self.ray_nodes.nodes.get() {
            return Ok(nodes);
        }
        let (triangles, meshes) = (u64::from(self.triangle_count), u64::from(self.mesh_count()));
        let rows = u64::from(gpu.capabilities.ray_boxes.rows()) * (triangles + meshes) + meshes;
        let new = || stages::array(gpu, "lbvh.ray_nodes", self.triangle_count, 4, rows);
        let nodes = gpu.catch(new)??;
        Ok(self.ray_nodes.nodes.get_or_init(|| nodes))
    }
}

impl RayNodes {
    /// Creates the stage. Its kernel is compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let bindings = [Uniform, Read, Read, Write];
        let path = "bvh/build/ray_nodes.wgsl";
        let kernel = || Kernel::new(gpu, path, "ray_nodes", &[(1, &tree)], &bindings);
        Self {
            kernel: gpu.capabilities.has_ray_nodes().then(kernel),
            tree,
        }
    }

    /// Adds its kernel to the set of pipelines to compile, if the device needs it.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        if let Some(kernel) = &self.kernel {
            kernel.pipelines(set);
        }
    }

    /// Records the ray nodes of `tree` for this leaf cutoff: those of all meshes, or those of the meshes that
    /// the last build has built. Does nothing if they were recorded since, with the same cutoff. Call it
    /// after a build and before rays that bind [`Tree::ray_bind_group`].
    ///
    /// # Errors
    ///
    /// The errors of [`Tree::ray_bind_group`], and a compilation error if the kernel was not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        leaf_cutoff: u32,
    ) -> Result<()> {
        let leaf_cutoff = leaf_cutoff.max(1);
        let Some(kernel) = &self.kernel else {
            return Ok(());
        };
        let nodes = tree.ray_nodes(gpu)?.buffer();
        let state = &tree.ray_nodes;
        let stale = match state.leaf_cutoff.load(Relaxed) == leaf_cutoff {
            true => state.stale.load(Relaxed),
            false => ALL,
        };
        let count = match stale {
            NONE => return Ok(()),
            SELECTED => tree.selection.item_count,
            _ => tree.triangle_count + tree.mesh_count(),
        };
        let query = [leaf_cutoff, count, u32::from(stale == ALL), 0];
        let query = gpu.buffer_with("ray_nodes.query", &[query], wgpu::BufferUsages::UNIFORM);
        let group = tree.bind_group(gpu, &self.tree);
        let own: [&dyn Bind; 4] = [&query, &tree.scratch, &tree.items, nodes];
        let workgroups = Workgroups::Count(count.div_ceil(RAY_NODE_THREADS));
        let mut pass = recorder.scoped_compute_pass("ray_nodes");
        kernel.dispatch(gpu, &mut pass, &[(1, &group)], &own, workgroups)?;
        state.leaf_cutoff.store(leaf_cutoff, Relaxed);
        state.stale.store(NONE, Relaxed);
        Ok(())
    }
}
