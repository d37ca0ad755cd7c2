//! `nearest_sign`: distances that are negative inside of the surface.

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
        Bind, Gpu, Needs, Recorder,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// What tells the inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sign {
    /// The side of the nearest surface that a point is on, by angle-weighted pseudonormals (Bærentzen and Aanæs 2005):
    /// right for one closed shell that neither touches nor crosses itself. Corners that meet have equal positions.
    #[default]
    Pseudonormal,
    /// How often all meshes together go round the point ([`Winding`]), above one half: for any closed surface,
    /// and for surfaces with holes.
    Winding,
}

/// The nearest points with the sign of their distance, for trees over triangles: all of them, whatever the mask of a
/// [`Search`].
#[derive(Debug)]
pub struct SignedDistance {
    nearest: NearestPoints,
    pseudonormal: QueryKernel,
    winding: Winding,
}

impl SignedDistance {
    /// The query, compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [Uniform, Read, Write, ReadArray(1), ReadArray(1), Read];
        let path = ("bvh/query/nearest_sign.wgsl", "nearest_sign");
        Self {
            nearest: NearestPoints::new(gpu),
            pseudonormal: QueryKernel::new(gpu, path, &bindings, &[], None),
            winding: Winding::new(gpu),
        }
    }

    /// Adds the kernels for that `sign` to what has to be compiled.
    pub fn needs(&self, sign: Sign, needs: &mut Needs) {
        self.nearest.needs(needs);
        match sign {
            Sign::Pseudonormal => self.pseudonormal.needs(needs),
            Sign::Winding => self.winding.needs(needs),
        }
    }

    /// The room for what [`Sign::Winding`] needs of a tree; `None` for other signs.
    ///
    /// # Errors
    ///
    /// Those of [`Winding::moments`].
    pub fn moments(&self, gpu: &Gpu, tree: &Tree, sign: Sign) -> Result<Option<Moments>> {
        match sign {
            Sign::Pseudonormal => Ok(None),
            Sign::Winding => self.winding.moments(gpu, tree).map(Some),
        }
    }

    /// Records the nearest points of all points of `batch`, whose distances are negative inside: by the winding
    /// numbers where there are `moments`, which are made anew, and by pseudonormals otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`] for a tree over other objects; those of compiling the kernels, where they were not compiled
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
            return Err(Error::Tree("the sign of a distance is that of triangles".into()));
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

    /// Finds what is nearest to `points`, as [`PointBatch::new`] takes them, and waits for it.
    ///
    /// # Errors
    ///
    /// Those of [`PointBatch::new`], [`SignedDistance::moments`] and [`SignedDistance::record`]; [`Error::Gpu`] where
    /// the device is lost.
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
