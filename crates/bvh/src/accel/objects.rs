//! `objects`: trees over boxes and balls that lie in a caller's buffer, built as those over triangles are.

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
        Bind, Gpu, Kernel, Needs, Recorder, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Boxes or balls in GPU memory.
#[derive(Debug, Clone, Copy)]
pub struct ObjectGeometry<'a> {
    /// What they are: [`Objects::Boxes`] are two rows of four `f32` each, the lower corner and the upper one, whose
    /// fourth numbers are ignored ([`BoxQuery`](super::BoxQuery) is one); [`Objects::Balls`] are a row each, the
    /// centre and the radius, which is 0 for points. Boxes whose lower corner is above the upper one, balls of a
    /// negative radius, and what is no number are there but never found.
    pub objects: Objects,
    /// The objects, with the usage `STORAGE`: the builder reads them whenever it builds.
    pub buffer: &'a wgpu::Buffer,
    /// How many objects each set has, one behind the other: sets are what meshes are to triangles.
    pub sets: &'a [u32],
    /// As [`Geometry::triangle_info`], for each object.
    pub object_info: Option<&'a wgpu::Buffer>,
}

/// A tree over boxes or balls. Queries name the objects by their set and their number in it.
#[derive(Debug)]
pub struct ObjectTree {
    /// The tree: what [`Search`](super::Search) takes.
    pub tree: Tree,
    positions: wgpu::Buffer,
    params: wgpu::Buffer,
    source: wgpu::Buffer,
}

/// The builder: that of triangles, and the kernels that make boxes and balls its input.
#[derive(Debug)]
pub struct ObjectLbvh {
    lbvh: Lbvh,
    boxes: Kernel,
    balls: Kernel,
}

impl ObjectLbvh {
    /// For trees of [`Quality::Fast`], compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_quality(gpu, Quality::Fast)
    }

    /// For trees of the quality `best`, as [`Lbvh::with_quality`].
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

    /// Adds its kernels to what has to be compiled, as [`Lbvh::needs`].
    pub fn needs(&self, needs: &mut Needs) {
        self.lbvh.needs(needs);
        self.boxes.needs(needs);
        self.balls.needs(needs);
    }

    /// Makes the buffers for a tree over `geometry`, which is not built yet: 48 bytes an object besides the tree's.
    ///
    /// # Errors
    ///
    /// Those of [`Lbvh::tree`]; [`Error::Tree`] where the buffer holds fewer objects than the sets have, and for
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

    /// Builds the tree from the objects as they stand in the caller's buffer, or fits its boxes again: see
    /// [`Lbvh::record`].
    ///
    /// # Errors
    ///
    /// Those of compiling the kernels, where they were not compiled before.
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
