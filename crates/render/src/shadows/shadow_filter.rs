//! `shadow_filter`: this frame's shadow rays, averaged over frames and, as far as the penumbra is wide, over
//! neighbouring pixels.

use super::shadow_edges::ShadowEdges;
use crate::{
    bindings::Layouts,
    edges::{FRESH, Reprojection, SURFACES, Visibility},
    frame::{
        Frame,
        life_cycle::{Carried, LifeCycle},
        recording::Recording,
    },
    history::signal::{Averaging, Fresh, MEANS, Shaders, Signal, SignalFilter},
    layout::Light,
    light::lights,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Needs,
        library::wgsl_constants,
        pass::Binding::{self, Write},
    },
};

/// Frames that are averaged of a light that moves, as all of its shadows do, and of shadows that move and are not
/// followed.
const MOVED: u32 = 3;
wgsl_constants! {
    /// Widest penumbra that the filter tells apart, in pixels.
    const PENUMBRA_MAX: f64 = 256.0;
}

/// Label of the pass.
const LABEL: &str = "shadow_filter";

const PATH: &str = "shadow/shadow_filter.wgsl";
const SHADERS: Shaders = Shaders {
    label: LABEL,
    path: PATH,
    entries: ["shadow_accumulate", "shadow_smooth"],
    taps: 2,
    finds_edges: true,
};

/// The pass, with the signals that it keeps: one for two slots.
#[derive(Debug)]
pub struct ShadowFilter {
    signals: Vec<Signal>,
    /// The lights of the last frame.
    lights: Carried<Vec<Light>>,
    /// By [`lights::filtered`], from 1 on.
    kernels: [Kernels; 2],
}

#[derive(Debug)]
struct Kernels {
    filter: SignalFilter,
    last_round: Kernel,
}

impl ShadowFilter {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let uniform = Binding::Uniform;
        let bindings = [uniform, uniform, MEANS, SURFACES, FRESH, Write];
        let shared = [(0, &layouts.frame)];
        let kernels = |lights: u32| {
            let constants = [("SHADOW_LIGHTS", lights.into())];
            Kernels {
                filter: SignalFilter::new(gpu, layouts, SHADERS, &constants),
                last_round: Kernel::with_constants(gpu, PATH, LABEL, &shared, &bindings, &constants),
            }
        };
        Self {
            signals: Vec::new(),
            lights: Carried::default(),
            kernels: [1, 2].map(kernels),
        }
    }

    /// Forgets what it keeps, where no shadows are filtered any more.
    pub fn clear(&mut self) {
        self.signals.clear();
    }

    /// The pairs of lights of which one has a size at least, by their numbers. They are what is filtered.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
    pub fn pairs(&mut self, gpu: &Gpu, frame: &Frame<'_>) -> Result<Vec<usize>> {
        let pairs = frame.lights.chunks(2);
        self.signals.truncate(pairs.len());
        while self.signals.len() < pairs.len() {
            self.signals.push(Signal::new(gpu)?);
        }
        let soft = pairs.enumerate().filter(|(_, pair)| softness(pair) != [0.0; 2]);
        Ok(soft.map(|(index, _)| index).collect())
    }

    /// Adds this frame's rays to those lights of a pair that have a size to their histories, which the last frame has
    /// at `taps`, and replaces their visibility. Finds the edges of their shadows that have little history, and where
    /// they have settled.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        history: Reprojection<'_>,
        (pair, taps): (usize, [&GpuImage; 2]),
        visibility: &Visibility,
        edges: &ShadowEdges,
    ) -> Result<()> {
        let settings = &frame.config.shadows;
        let rays = frame.light_plan.rays;
        // The samples of a picture come together by themselves. The more there are, the less they are filtered.
        let (remembered, rays) = match frame.accumulates() {
            true => (0, rays * frame.sample.filtered_for()),
            false => (history.remembered(settings.history), rays),
        };
        let signal = &mut self.signals[pair];
        signal.fit(recording.gpu, frame.size)?;
        let last = self.lights.last().map_or(&[][..], Vec::as_slice);
        let [last, lights] = [last, &frame.lights[..]].map(|lights| lights::pair(lights, pair));
        let is_followed = visibility.has_blockers() || !history.moves;
        let in_place = are_in_place(last, lights);
        let kernels = &self.kernels[lights::filtered(lights) - 1];
        let averaging = Averaging {
            remembered: match in_place && is_followed {
                true => remembered,
                false => remembered.min(MOVED - 1),
            },
            rays,
            filters: settings.filter,
            layer: 2 * pair as u32,
            soft: softness(lights),
            // A light that moves has edges without history wherever its shadows have edges.
            sharpens: in_place || history.index == 0,
            compression: 0.0,
        };
        let fresh = Fresh {
            found: &visibility.blocked,
            taps: &taps,
            edges: Some(edges.found(history)),
        };
        let left = kernels
            .filter
            .record(recording, frame, history, fresh, signal, averaging)?;
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

    /// All pairs of a frame have been recorded.
    pub fn settle(&mut self, frame: &Frame<'_>) {
        self.lights.leave(frame.lights.clone());
    }

    /// Adds its kernels for a scene of at most so many `lights`.
    pub fn announce(&self, lights: u32, filters: bool, needs: &mut Needs) {
        for kernels in self.kernels.iter().take(lights as usize) {
            kernels.filter.announce(filters, needs);
            kernels.last_round.needs(needs);
        }
    }
}

/// Of two lights: 1 where the light has a size.
fn softness(pair: &[Light]) -> [f32; 2] {
    [0, 1].map(|i| match pair.get(i) {
        Some(light) if light.radius > 0.0 => 1.0,
        _ => 0.0,
    })
}

/// Whether lights are where they were, and as large.
fn are_in_place(last: &[Light], now: &[Light]) -> bool {
    let place = |light: &Light| (light.position, light.direction, light.radius, light.kind);
    last.iter().map(place).eq(now.iter().map(place))
}

impl LifeCycle for ShadowFilter {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.lights]
    }
}
