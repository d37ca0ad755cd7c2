//! `shadow_filter`: this frame's shadow rays, averaged over frames and, as far as the penumbra is wide, over
//! neighbouring pixels.

use super::{
    bindings::Layouts,
    edges::Visibility,
    frame::Frame,
    history::Reprojection,
    recording::Recording,
    signal::{Averaging, Signal, SignalFilter, Width},
};
use crate::{
    Result,
    gpu::{
        Gpu, Kernel, Needs,
        layout::Light,
        pass::Binding::{self, Uint, UintArray, Write},
    },
};

/// Frames that are averaged of a light that moves: all of its shadows do.
const MOVED: u32 = 3;
/// Label of the pass.
const LABEL: &str = "shadow_filter";

/// The pass, with the signals that it keeps: one for two slots.
#[derive(Debug)]
pub struct ShadowFilter {
    signals: Vec<Signal>,
    /// The lights of the last frame.
    lights: Vec<Light>,
    filter: SignalFilter,
    last_round: Kernel,
}

impl ShadowFilter {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let uniform = Binding::Uniform;
        let bindings = [uniform, uniform, Uint, Uint, UintArray, Write];
        let shared = [(0, &layouts.frame)];
        let path = "render/shadow_filter.wgsl";
        Self {
            signals: Vec::new(),
            lights: Vec::new(),
            filter: SignalFilter::new(gpu, layouts, Width::Penumbra),
            last_round: Kernel::new(gpu, path, LABEL, &shared, &bindings),
        }
    }

    /// What it compiles; `filters` as in the settings.
    pub fn needs(&self, filters: bool, needs: &mut Needs) {
        self.filter.needs(filters, needs);
        self.last_round.needs(needs);
    }

    /// Forgets what it keeps, where no shadows are filtered any more.
    pub fn clear(&mut self) {
        self.signals.clear();
    }

    /// Adds this frame's rays to lights that have a size to their histories, and replaces their visibility.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        history: Reprojection<'_>,
        visibility: &Visibility,
    ) -> Result<()> {
        let settings = &frame.config.shadows;
        let pairs = frame.lights.chunks(2);
        self.signals.truncate(pairs.len());
        while self.signals.len() < pairs.len() {
            self.signals.push(Signal::new(recording.gpu)?);
        }
        let rays = frame.light_plan.rays;
        // The samples of a picture come together by themselves, the first one of a picture that is shown at
        // once apart. The more there are, the less they are filtered.
        let (remembered, rays) = match frame.is_one_of_many() {
            true => (0, rays * frame.sample.count),
            false => (history.remembered(settings.history), rays),
        };
        for ((index, pair), signal) in (0..).zip(pairs).zip(&mut self.signals) {
            let softness = |light: Option<&Light>| {
                light.map_or(0.0, |light| f32::from(u8::from(light.radius > 0.0)))
            };
            let change = [pair.first(), pair.get(1)].map(softness);
            if change == [0.0; 2] {
                continue;
            }
            signal.fit(recording.gpu, frame.size)?;
            let last = self.lights.chunks(2).nth(index as usize);
            let averaging = Averaging {
                remembered: match last.is_some_and(|last| are_in_place(last, pair)) {
                    true => remembered,
                    false => remembered.min(MOVED - 1),
                },
                rays,
                filters: settings.filter,
                layer: 2 * index,
                change,
                settled: history.settled(),
            };
            let signal = (&visibility.blocked, signal);
            let left = self
                .filter
                .record(recording, LABEL, frame, history, signal, averaging)?;
            recording.dispatch_pixels(
                LABEL,
                &self.last_round,
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
            )?;
        }
        self.lights.clone_from(&frame.lights);
        Ok(())
    }
}

/// Whether lights are where they were, and as large.
fn are_in_place(last: &[Light], now: &[Light]) -> bool {
    let place = |light: &Light| (light.position, light.direction, light.radius, light.kind);
    last.iter().map(place).eq(now.iter().map(place))
}
