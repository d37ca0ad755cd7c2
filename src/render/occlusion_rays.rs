//! `occlusion_rays`: ambient visibility, sampled by rays through the trees.

use super::{
    bindings::Layouts,
    edges::{GBuffer, Geometry, Trees},
    frame::Frame,
    occlusion_history::{History, SURFACES_FORMAT, Tap},
    recording::Recording,
};
use crate::{
    Result,
    gpu::{
        Gpu, Kernel, Needs,
        pass::Binding::{self, Float, Store, Uint},
    },
};

/// Rays in all directions take about so many times as long as rays to one light.
const SLOWER: u32 = 4;

/// The pass.
#[derive(Debug)]
pub struct OcclusionRays {
    kernel: Kernel,
}

impl OcclusionRays {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let (uniform, surfaces) = (Binding::Uniform, Store(SURFACES_FORMAT));
        let bindings = [uniform, Float, Uint, Uint, uniform, surfaces];
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

    /// Traces the rays of all pixels.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        trees: Trees<'_>,
        gbuffer: &GBuffer,
        history: &History,
    ) -> Result<()> {
        let rays = frame.config.occlusion.rays.max(1);
        recording.dispatch_pixels(
            "occlusion_rays",
            &self.kernel,
            &[(0, &frame.group), (1, trees.group), (2, geometry.group)],
            &[
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.ids,
                &history.tap_params(Tap::None),
                &history.fresh,
            ],
            frame.size,
            recording.budget.batch_rays / (SLOWER * rays),
        )
    }
}
