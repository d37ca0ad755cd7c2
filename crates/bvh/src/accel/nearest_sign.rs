//! `nearest_sign`: signed distances, which are negative inside the surface.

use super::{
    layout::{Nearest, Objects},
    nearest::{NearestPoints, PointBatch},
    search::{QueryKernel, Search},
    tree::Tree,
    winding::{Moments, Winding},
};
use crate::{
    Error, Result,
    gpu::{
        Bind, Gpu, PipelineSet, Recorder,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Inside test for signed distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sign {
    /// Side of the nearest surface by angle-weighted pseudonormals (Bærentzen and Aanæs 2005). Correct for a
    /// single closed shell that neither touches nor crosses itself. Vertices that belong together must have
    /// equal positions.
    #[default]
    Pseudonormal,
    /// Winding number of all meshes together ([`Winding`]), which is above one half inside. For any closed
    /// surface, and for surfaces with holes.
    Winding,
}

/// Nearest points with signed distances, for BVHs over triangles. The query covers all triangles and ignores
/// the mask of a [`Search`].
#[derive(Debug)]
pub struct SignedDistance {
    nearest: NearestPoints,
    pseudonormal: QueryKernel,
    winding: Winding,
}

impl SignedDistance {
    /// Creates the query. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [Uniform, Read, Write, ReadArray(1), ReadArray(1), Read];
        let path = ("bvh/query/nearest_sign.wgsl", "nearest_sign");
        Self {
            nearest: NearestPoints::new(gpu),
            pseudonormal: QueryKernel::new(gpu, path, &bindings, &[], None),
            winding: Winding::new(gpu),
        }
    }

    /// Adds the kernels for this `sign` to the set of pipelines to compile.
    pub fn pipelines(&self, sign: Sign, set: &mut PipelineSet) {
        self.nearest.pipelines(set);
        match sign {
            Sign::Pseudonormal => self.pseudonormal.pipelines(set),
            Sign::Winding => self.winding.pipelines(set),
        }
    }

    /// Creates the buffer that [`Sign::Winding`] needs for a tree. Returns `None` for other signs.
    ///
    /// # Errors
    ///
    /// Any error of [`Winding::moments`].
    pub fn moments(&self, gpu: &Gpu, tree: &Tree, sign: Sign) -> Result<Option<Moments>> {
        match sign {
            Sign::Pseudonormal => Ok(None),
            Sign::Winding => self.winding.moments(gpu, tree).map(Some),
        }
    }

    /// Records the nearest points of all points of `batch`, with negative distances inside. With `moments`,
    /// it recomputes them and uses winding numbers. Without, it uses pseudonormals.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`] for a tree over other objects. A compilation error, if the kernels were not compiled
    /// before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        batch: &PointBatch,
        moments: Option<&Moments>,
    ) -> Result<()> {
        let tree = search.tree;
        if tree.objects() != Objects::Triangles {
            return Err(Error::Tree("signed distances need triangles".into()));
        }
        self.nearest
            .record(gpu, recorder, tree, batch, search.leaf_cutoff)?;
        let count = batch.len();
        if let Some(moments) = moments {
            self.winding.record_moments(gpu, recorder, tree, moments)?;
            let lists = (count, &batch.points, &batch.found);
            return self.winding.record_sign(gpu, recorder, search, moments, lists);
        }
        let query = [[count, search.leaf_cutoff.max(1), 0, 0]];
        let query = gpu.buffer_with("nearest_sign.query", &query, Usage::UNIFORM);
        let geometry = &tree.geometry;
        let own: [&dyn Bind; 6] = [
            &query,
            &batch.points,
            &batch.found,
            &geometry.positions,
            &geometry.indices,
            &tree.tlas,
        ];
        let label = "nearest_sign";
        self.pseudonormal
            .record(gpu, recorder, label, search, count, &own)
    }

    /// Finds the nearest point for each of `points`, in the format of [`PointBatch::new`], and waits for the
    /// results.
    ///
    /// # Errors
    ///
    /// Any error of [`PointBatch::new`], [`SignedDistance::moments`] or [`SignedDistance::record`].
    /// [`Error::Gpu`] if the device is lost.
    pub fn run(
        &self,
        gpu: &Gpu,
        search: &Search<'_>,
        points: &[[f32; 4]],
        sign: Sign,
    ) -> Result<Vec<Nearest>> {
        let batch = self.nearest.batch(gpu, points)?;
        let moments = self.moments(gpu, search.tree, sign)?;
        let mut encoder = gpu.encoder("nearest_sign");
        self.record(gpu, &mut encoder, search, &batch, moments.as_ref())?;
        gpu.queue.submit([encoder.finish()]);
        batch.read(gpu)
    }
}
