//! `shadow_filter`: averages this frame's shadow rays over frames, and over neighbouring pixels within the
//! width of the penumbra.

use super::shadow_edges::ShadowEdges;
use crate::{
    bindings::Layouts,
    frame::{
        Frame,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    history::denoiser::{Averaging, Denoiser, DenoiserImages, MEANS, NoisyInput, Shaders},
    layout::Light,
    light::lights,
    resources::{NOISY, Reprojection, SURFACES, Visibility},
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, PipelineSet,
        library::wgsl_constants,
        pass::Binding::{self, Write},
    },
};

/// History length, in frames, for a light that moves (all of its shadows move) and for moving shadows without
/// motion vectors.
const MOVED: u32 = 3;
wgsl_constants! {
    /// Widest penumbra that the filter distinguishes, in pixels.
    const PENUMBRA_MAX: f64 = 256.0;
}

/// Label of the pass.
const LABEL: &str = "shadow_filter";

const PATH: &str = "shadow/shadow_filter.wgsl";
const SHADERS: Shaders = Shaders {
    label: LABEL,
    path: PATH,
    entries: ["shadow_accumulate", "shadow_smooth"],
    reprojected: 2,
    finds_edges: true,
};

/// Pass and its histories, with one signal for each pair of slots.
#[derive(Debug)]
pub struct ShadowFilter {
    signals: Vec<DenoiserImages>,
    /// Lights of the last frame.
    lights: TemporalState<Vec<Light>>,
    /// Indexed by [`lights::filtered`] minus 1.
    kernels: [Kernels; 2],
}

#[derive(Debug)]
struct Kernels {
    filter: Denoiser,
    last_round: Kernel,
}

impl ShadowFilter {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let uniform = Binding::Uniform;
        let bindings = [uniform, uniform, MEANS, SURFACES, NOISY, Write];
        let shared = [(0, &layouts.frame)];
        let kernels = |lights: u32| {
            let constants = [("SHADOW_LIGHTS", lights.into())];
            Kernels {
                filter: Denoiser::new(gpu, layouts, SHADERS, &constants),
                last_round: Kernel::with_constants(gpu, PATH, LABEL, &shared, &bindings, &constants),
            }
        };
        Self {
            signals: Vec::new(),
            lights: TemporalState::default(),
            kernels: [1, 2].map(kernels),
        }
    }

    /// Frees the histories when shadows are no longer filtered.
    pub fn clear(&mut self) {
        self.signals.clear();
    }

    /// Returns the indices of the pairs of lights to filter: pairs with at least one light that has a size.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn pairs(&mut self, gpu: &Gpu, frame: &Frame<'_>) -> Result<Vec<usize>> {
        let pairs = frame.lights.chunks(2);
        self.signals.truncate(pairs.len());
        while self.signals.len() < pairs.len() {
            self.signals.push(DenoiserImages::new(gpu)?);
        }
        let soft = pairs.enumerate().filter(|(_, pair)| softness(pair) != [0.0; 2]);
        Ok(soft.map(|(index, _)| index).collect())
    }

    /// Averages this frame's rays to the area lights of a pair into their histories and replaces their
    /// visibility. `reprojected` holds the pixels' positions in the last frame. Also marks shadow edges that
    /// have a short history, and where shadows have settled.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        history: Reprojection<'_>,
        (pair, reprojected): (usize, [&GpuImage; 2]),
        visibility: &Visibility,
        edges: &ShadowEdges,
    ) -> Result<()> {
        let settings = &frame.config.shadows;
        let rays = frame.light_plan.rays;
        // Samples of a picture average themselves, so the more of them there are, the less each one is
        // filtered.
        let (max_history, rays) = match frame.accumulates() {
            true => (0, rays * frame.sample.filtered_for()),
            false => (history.max_history(settings.history), rays),
        };
        let signal = &mut self.signals[pair];
        signal.fit(recording.gpu, frame.size)?;
        let last = self.lights.last().map_or(&[][..], Vec::as_slice);
        let [last, lights] = [last, &frame.lights[..]].map(|lights| lights::pair(lights, pair));
        let is_followed = visibility.has_blockers() || !history.moves;
        let in_place = are_in_place(last, lights);
        let kernels = &self.kernels[lights::filtered(lights) - 1];
        let averaging = Averaging {
            max_history: match in_place && is_followed {
                true => max_history,
                false => max_history.min(MOVED - 1),
            },
            rays,
            filters: settings.filter,
            layer: 2 * pair as u32,
            soft: softness(lights),
            // A moving light has shadow edges without history everywhere, so they get no extra rays.
            sharpens: in_place || history.index == 0,
            compression: 0.0,
        };
        let noisy = NoisyInput {
            found: &visibility.blocked,
            reprojected: &reprojected,
            edges: Some(edges.found(history)),
        };
        let left = kernels
            .filter
            .record(recording, frame, history, noisy, signal, averaging)?;
        recording.dispatch_pixels(
            LABEL,
            &kernels.last_round,
            &[(0, &frame.group)],
            &[
                &left.params,
                left.signal,
                history.surfaces,
                &visibility.blocked,
                &visibility.words,
            ],
            frame.size,
            recording.budget.pixels(),
        )
    }

    /// Commits the lights once all pairs of a frame have been recorded.
    pub fn commit_lights(&mut self, frame: &Frame<'_>) {
        self.lights.set_pending(frame.lights.clone());
    }

    /// Adds the pipelines for a scene with at most `lights` lights.
    pub fn add_pipelines(&self, lights: u32, filters: bool, set: &mut PipelineSet) {
        for kernels in self.kernels.iter().take(lights as usize) {
            kernels.filter.add_pipelines(filters, set);
            kernels.last_round.pipelines(set);
        }
    }
}

/// Returns 1 for each light of a pair that has a size, else 0.
fn softness(pair: &[Light]) -> [f32; 2] {
    [0, 1].map(|i| match pair.get(i) {
        Some(light) if light.radius > 0.0 => 1.0,
        _ => 0.0,
    })
}

/// True if the lights have kept their placement and size.
fn are_in_place(last: &[Light], now: &[Light]) -> bool {
    let place = |light: &Light| (light.position, light.direction, light.radius, light.kind);
    last.iter().map(place).eq(now.iter().map(place))
}

impl LifeCycle for ShadowFilter {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.lights]
    }
}
