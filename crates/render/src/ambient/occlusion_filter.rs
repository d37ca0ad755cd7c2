//! `occlusion_filter`: averages the ambient visibility of the rays over frames and over neighbouring pixels.

use crate::{
    bindings::Layouts,
    frame::{
        Bounced,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    history::{
        LightChanges, LightKey,
        denoiser::{Averaging, Denoiser, DenoiserImages, MEANS, NoisyInput, Shaders},
    },
    resources::{AmbientVisibility, GBuffer, Reprojection, SURFACES, WORDS},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel,
        pass::Binding::{self, Write},
    },
};

/// Label of the pass.
const LABEL: &str = "occlusion_filter";

const SHADERS: Shaders = Shaders {
    label: LABEL,
    path: "denoise/signal_filter.wgsl",
    entries: ["signal_accumulate", "signal_filter"],
    reprojected: 1,
    finds_edges: false,
};

/// Pass and its history.
#[derive(Debug)]
pub struct OcclusionFilter {
    signal: DenoiserImages,
    filter: Denoiser,
    last_round: Kernel,
    /// Environment of the last frame and the history of its changes.
    past: TemporalState<(LightKey, LightChanges)>,
}

impl OcclusionFilter {
    /// Creates the pass without compiling its pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let uniform = Binding::Uniform;
        let bindings = [uniform, uniform, MEANS, SURFACES, WORDS, Write];
        let shared = [(0, &layouts.frame)];
        let path = "ambient/occlusion_filter.wgsl";
        Ok(Self {
            signal: DenoiserImages::new(gpu)?,
            filter: Denoiser::new(gpu, layouts, SHADERS, &[]),
            last_round: Kernel::new(gpu, path, LABEL, &shared, &bindings),
            past: TemporalState::default(),
        })
    }

    /// Averages this frame's rays into the history and writes `output`. Also averages over neighbours if the
    /// settings filter.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        history: Reprojection<'_>,
        noisy: &GpuImage,
        output: &AmbientVisibility,
    ) -> Result<()> {
        let frame = world.frame;
        let settings = &frame.config.occlusion;
        self.signal.fit(recording.gpu, frame.size)?;
        // Samples with all bounces average other numbers than single frames do.
        let is_one_of_many = frame.bounced == Bounced::Paths;
        let light = LightKey::environment(world);
        let past = self.past.last();
        let changed = past.is_some_and(|(last, _)| *last != light);
        let mut changes = past.map_or_else(LightChanges::default, |(_, changes)| *changes);
        let most = changes.max_history_of_light(changed, is_one_of_many);
        self.past.set_pending((light, changes));
        let (max_history, rays) = match is_one_of_many {
            true => (0, frame.occlusion_rays * frame.sample.filtered_for()),
            false => {
                let max_history = history.max_history_in_motion(settings.history);
                (max_history.min(most), frame.occlusion_rays)
            }
        };
        let averaging = Averaging {
            max_history,
            rays,
            filters: settings.filter,
            layer: 0,
            soft: [0.0; 2],
            sharpens: false,
            compression: 0.0,
        };
        let noisy = NoisyInput {
            found: noisy,
            reprojected: &[history.reprojected],
            edges: None,
        };
        let signal = &mut self.signal;
        let left = self
            .filter
            .record(recording, frame, history, noisy, signal, averaging)?;
        recording.dispatch_pixels(
            LABEL,
            &self.last_round,
            &[(0, &frame.group)],
            &[
                &left.params,
                left.signal,
                history.surfaces,
                &gbuffer.normal,
                &output.words,
            ],
            frame.size,
            recording.budget.pixels(),
        )
    }
}

impl LifeCycle for OcclusionFilter {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.past]
    }
}
