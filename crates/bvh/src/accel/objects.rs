//! `objects`: BVHs over boxes or balls in your own buffer, built like BVHs over triangles.

use super::{
    codes::Codes,
    geometry::Geometry,
    layout::{MeshRange, Objects, TRACE_BLOCK},
    lbvh::{Lbvh, Work},
    tree::{Quality, Tree},
};
use crate::{
    Error, Result,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Boxes or balls in GPU memory.
#[derive(Debug, Clone, Copy)]
pub struct ObjectGeometry<'a> {
    /// Kind of object, and so the buffer's format. [`Objects::Boxes`] are two rows of four `f32` each, the
    /// lower and the upper corner, whose fourth numbers are ignored. A [`BoxQuery`](super::BoxQuery) has this
    /// format. [`Objects::Balls`] are one row each, the centre and the radius, which is 0 for points. Boxes
    /// with the lower corner above the upper one, balls with a negative radius, and objects with NaN are
    /// never found.
    pub objects: Objects,
    /// Buffer of the objects, with the usage `STORAGE`. Every build reads it.
    pub buffer: &'a wgpu::Buffer,
    /// Number of objects in each set. The sets lie one after another, and correspond to the meshes of a tree
    /// over triangles.
    pub sets: &'a [u32],
    /// Mesh and payload of each object, in the format of [`Geometry::triangle_info`].
    pub object_info: Option<&'a wgpu::Buffer>,
}

/// Tree over boxes or balls. Queries identify an object by its set and its index within the set.
#[derive(Debug)]
pub struct ObjectTree {
    /// Tree to pass to [`Search`](super::Search).
    pub tree: Tree,
    positions: wgpu::Buffer,
    params: wgpu::Buffer,
    source: wgpu::Buffer,
}

/// Builder of object trees: the triangle builder, and the kernels that convert boxes and balls to its input.
#[derive(Debug)]
pub struct ObjectLbvh {
    lbvh: Lbvh,
    boxes: Kernel,
    balls: Kernel,
}

impl ObjectLbvh {
    /// Creates the builder for trees of [`Quality::Fast`]. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_quality(gpu, Quality::Fast)
    }

    /// Creates the builder for trees of the quality `best`, like [`Lbvh::with_quality`].
    pub fn with_quality(gpu: &Gpu, best: Quality) -> Self {
        let kernel = |entry| {
            let bindings = [Uniform, Read, Write];
            Kernel::new(gpu, "bvh/build/objects.wgsl", entry, &[], &bindings)
        };
        Self {
            lbvh: Lbvh::with_quality(gpu, best),
            boxes: kernel("object_boxes"),
            balls: kernel("object_balls"),
        }
    }

    /// Adds the kernels of [`Lbvh::pipelines`] and its own to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.lbvh.pipelines(set);
        self.boxes.pipelines(set);
        self.balls.pipelines(set);
    }

    /// Creates the buffers for a tree over `geometry`, which is not built yet. It takes 48 bytes per object
    /// in addition to the tree.
    ///
    /// # Errors
    ///
    /// Any error of [`Lbvh::tree`]. [`Error::Tree`] if the buffer holds fewer objects than the sets, or for
    /// [`Objects::Triangles`].
    pub fn tree(&self, gpu: &Gpu, geometry: &ObjectGeometry<'_>, codes: Codes) -> Result<ObjectTree> {
        let mut meshes = Vec::with_capacity(geometry.sets.len());
        let mut count = 0_u32;
        for set in geometry.sets {
            meshes.push(MeshRange {
                first_triangle: count,
                triangle_count: *set,
                ..MeshRange::default()
            });
            count = count.saturating_add(*set);
        }
        let bytes = match geometry.objects {
            Objects::Boxes => 32,
            Objects::Balls => 16,
            Objects::Triangles => {
                return Err(Error::Tree("triangles are built by Lbvh".into()));
            }
        };
        let held = geometry.buffer.size() / bytes;
        if u64::from(count) > held {
            return Err(Error::Tree(format!(
                "the sets have {count} objects, and their buffer holds {held}"
            )));
        }
        gpu.check_binding("objects.positions", 36 * u64::from(count))?;
        let corners: Vec<u32> = (0..3 * count).collect();
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let (positions, indices, params) = gpu.catch(|| {
            (
                gpu.buffer("objects.positions", 36 * u64::from(count.max(1)), usage),
                gpu.buffer_with("objects.indices", &corners, usage),
                gpu.buffer_with("objects.params", &[[count, 0, 0, 0]], Usage::UNIFORM),
            )
        })?;
        let triangles = Geometry {
            positions: &positions,
            indices: &indices,
            meshes: &meshes,
            triangle_info: geometry.object_info,
        };
        let mut tree = self.lbvh.tree(gpu, &triangles, codes)?;
        tree.objects = geometry.objects;
        Ok(ObjectTree {
            tree,
            positions,
            params,
            source: geometry.buffer.clone(),
        })
    }

    /// Records a build of the tree from the current contents of your buffer, or a refit: see
    /// [`Lbvh::record`].
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernels were not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &mut ObjectTree,
        work: Work,
    ) -> Result<()> {
        let kernel = match tree.tree.objects {
            Objects::Boxes => &self.boxes,
            _ => &self.balls,
        };
        let workgroups = Workgroups::Count(tree.tree.triangle_count.div_ceil(TRACE_BLOCK));
        {
            let mut pass = recorder.scoped_compute_pass("objects");
            let own: [&dyn Bind; 3] = [&tree.params, &tree.source, &tree.positions];
            kernel.dispatch(gpu, &mut pass, &[], &own, workgroups)?;
        }
        self.lbvh.record(gpu, recorder, &mut tree.tree, work)
    }
}
