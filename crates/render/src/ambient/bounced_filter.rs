//! `bounced_filter`: averages this frame's bounced light over frames and over neighbouring pixels.

use crate::{
    bindings::Layouts,
    frame::{
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    history::{
        LightChanges, LightKey,
        denoiser::{Averaging, Denoiser, DenoiserImages, MEANS, NoisyInput, Shaders},
    },
    resources::{AmbientVisibility, Reprojection, SURFACES},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel,
        pass::Binding::{Uniform, Write},
    },
};

/// Label of the pass.
const LABEL: &str = "bounced_filter";

const SHADERS: Shaders = Shaders {
    label: LABEL,
    path: "ambient/bounced_filter.wgsl",
    entries: ["bounced_accumulate", "bounced_smooth"],
    reprojected: 1,
    finds_edges: false,
};

/// Pass and its history.
#[derive(Debug)]
pub struct BouncedFilter {
    signal: DenoiserImages,
    filter: Denoiser,
    last_round: Kernel,
    /// Light of the last frame and the history of its changes.
    past: TemporalState<(LightKey, LightChanges)>,
}

impl BouncedFilter {
    /// Creates the pass without compiling its pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let bindings = [Uniform, Uniform, MEANS, SURFACES, Write];
        let shared = [(0, &layouts.frame)];
        Ok(Self {
            signal: DenoiserImages::new(gpu)?,
            filter: Denoiser::new(gpu, layouts, SHADERS, &[]),
            last_round: Kernel::new(gpu, SHADERS.path, LABEL, &shared, &bindings),
            past: TemporalState::default(),
        })
    }

    /// Averages this frame's light into the history and writes the result next to the visibility in `output`.
    /// Also averages over neighbours if the settings filter.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        history: Reprojection<'_>,
        noisy: &GpuImage,
        output: &AmbientVisibility,
    ) -> Result<()> {
        let frame = world.frame;
        let settings = &frame.config.occlusion;
        self.signal.fit(recording.gpu, frame.size)?;
        // An accumulated picture averages its samples. The more samples it has, the less each sample is
        // filtered. All have the same weight, so that no light is lost.
        let is_one_of_many = frame.accumulates();
        let past = self.past.last();
        let light = LightKey::of(world);
        let changed = past.is_some_and(|(last, _)| *last != light);
        let mut changes = past.map_or_else(LightChanges::default, |(_, changes)| *changes);
        let most = changes.max_history_of_light(changed, is_one_of_many);
        self.past.set_pending((light, changes));
        let (max_history, rays, compression) = match is_one_of_many {
            true => (0, frame.sample.filtered_for(), 0.0),
            false => {
                let max_history = history.max_history_in_motion(settings.history);
                (max_history.min(most), 1, frame.exposure_ev.exp2())
            }
        };
        let averaging = Averaging {
            max_history,
            rays,
            filters: settings.filter,
            layer: 0,
            soft: [0.0; 2],
            sharpens: false,
            compression,
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
            &[&left.params, left.signal, history.surfaces, &output.words],
            frame.size,
            recording.budget.pixels(),
        )
    }
}

impl LifeCycle for BouncedFilter {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.past]
    }
}
