//! `ray_nodes`: nodes for rays on GPUs, made from the nodes of a tree on the GPU. They apply the rays' leaf
//! cutoff, so a new cutoff takes effect without a build. Software adapters trace rays through the tree's own
//! nodes.

use super::{
    layout::{RAY_NODE_ROWS, RAY_NODE_THREADS},
    stages,
    tree::Tree,
};
use crate::{
    Result,
    gpu::{
        Array, Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups, bind_group,
        pass::{
            self,
            Binding::{Read, ReadArray, Uniform, Write},
        },
    },
};
use std::sync::atomic::Ordering::Relaxed;

/// Kernel that makes ray nodes.
#[derive(Debug)]
pub struct RayNodes {
    /// `None` on software adapters.
    kernel: Option<Kernel>,
    tree: wgpu::BindGroupLayout,
}

impl Tree {
    /// Marks the nodes for rays as stale: [`RayNodes::record`] records them again. Builds do this. Call it if
    /// a recording is dropped.
    pub fn invalidate_ray_nodes(&self) {
        self.ray_nodes.leaf_cutoff.store(0, Relaxed);
    }

    /// Creates the bind group for [`Tree::layout`] with which `bvh/bvh_rays.wgsl` traces rays, once
    /// [`RayNodes::record`] is done. Other queries need [`Tree::bind_group`].
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the nodes for rays exceed the device's limits.
    /// [`Error::Gpu`](crate::Error::Gpu) if the device is out of memory.
    pub fn ray_bind_group(&self, gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> Result<wgpu::BindGroup> {
        let nodes = match gpu.capabilities.has_ray_nodes() {
            true => self.ray_nodes(gpu)?,
            false => &self.nodes,
        };
        Ok(bind_group(
            gpu,
            "tree",
            layout,
            &[&self.info, nodes, &self.triangles],
        ))
    }

    /// Reads back the nodes for rays, in the layout of `bvh/ray_node.wgsl`, and waits for them. Unused slots
    /// hold anything.
    ///
    /// # Errors
    ///
    /// The errors of [`Tree::ray_bind_group`]. [`Error::Gpu`](crate::Error::Gpu) if the device is lost.
    pub fn read_ray_nodes(&self, gpu: &Gpu) -> Result<Vec<[[u32; 4]; RAY_NODE_ROWS as usize]>> {
        self.ray_nodes(gpu)?.read(gpu)
    }

    fn ray_nodes(&self, gpu: &Gpu) -> Result<&Array> {
        if let Some(nodes) = self.ray_nodes.nodes.get() {
            return Ok(nodes);
        }
        let rows = u64::from(RAY_NODE_ROWS) * u64::from(self.triangle_count + self.mesh_count());
        let new = || stages::array(gpu, "lbvh.ray_nodes", self.triangle_count, 4, rows);
        let nodes = gpu.catch(new)??;
        Ok(self.ray_nodes.nodes.get_or_init(|| nodes))
    }
}

impl RayNodes {
    /// Creates the stage. Its kernel is compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        // Without the leaves, because the kernel writes into those of the TLAS.
        let tree = pass::compute_layout(gpu, "nodes", &[Uniform, ReadArray(4)]);
        let bindings = [Uniform, Read, Write, Write];
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

    /// Records the ray nodes of `tree` for this leaf cutoff. Does nothing if they were recorded since the
    /// last build of the tree. Call it after a build and before rays that bind [`Tree::ray_bind_group`].
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
        if tree.ray_nodes.leaf_cutoff.swap(leaf_cutoff, Relaxed) == leaf_cutoff {
            return Ok(());
        }
        let cutoff = gpu.buffer_with(
            "ray_nodes.leaf_cutoff",
            &[[leaf_cutoff; 4]],
            wgpu::BufferUsages::UNIFORM,
        );
        let group = bind_group(gpu, "nodes", &self.tree, &[&tree.info, &tree.nodes]);
        let own: [&dyn Bind; 4] = [&cutoff, &tree.scratch, nodes, tree.triangles.buffer()];
        let slots = tree.triangle_count + tree.mesh_count();
        let workgroups = Workgroups::Count(slots.div_ceil(RAY_NODE_THREADS));
        let mut pass = recorder.scoped_compute_pass("ray_nodes");
        kernel.dispatch(gpu, &mut pass, &[(1, &group)], &own, workgroups)
    }
}
