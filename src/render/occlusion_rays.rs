//! `occlusion_rays`: ambient visibility, sampled by rays through the trees.

use super::{
    bindings::Layouts,
    edges::{GBuffer, Geometry, Trees},
    frame::Frame,
    occlusion_history::{History, SURFACES_FORMAT},
    recording::Recording,
};
use crate::{
    Result,
    gpu::{
        Gpu, Kernel, Needs, Workgroups,
        pass::Binding::{self, Float, Store, Uint},
    },
};

/// The pass.
#[derive(Debug)]
pub struct OcclusionRays {
    kernel: Kernel,
}

impl OcclusionRays {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Float, Uint, Uint, Binding::Uniform, Store(SURFACES_FORMAT)];
        let shared = [(0, &layouts.frame), (1, &layouts.tree), (2, &layouts.scene)];
        let (path, entry) = ("render/occlusion_rays.wgsl", "occlusion_rays");
        Self {
            kernel: Kernel::new(gpu, path, entry, &shared, &bindings),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Traces the rays of band `band` of the picture.
    #[expect(clippy::too_many_arguments, reason = "they are the edges of the frame")]
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        trees: Trees<'_>,
        gbuffer: &GBuffer,
        history: &History,
        band: usize,
    ) -> Result<()> {
        let [_, rows] = history.bands[band];
        recording.dispatch(
            "occlusion_rays",
            &self.kernel,
            &[(0, &frame.group), (1, trees.group), (2, geometry.group)],
            &[
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.ids,
                &history.band_params(band),
                &history.fresh,
            ],
            Workgroups::Pixels([frame.size[0], rows]),
        )
    }
}
