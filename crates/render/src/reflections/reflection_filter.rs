//! `reflection_filter`: averages reflections over frames and over neighbouring pixels.

use super::reflection_list::{MEAN_FORMAT, ReflectionList, SENT_FORMAT};
use crate::{
    bindings::Layouts,
    frame::{
        Frame,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    history::LightChanges,
    layout::{Light, ReflectionFilterParams},
    resources::{Lobes, ReflectedRadiance, UNUSED, VisibleSurfaces, try_create},
    settings,
    view::View,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, UniformArray, Workgroups,
        pass::Binding::{self, Float, Read, Store, Uint, Write},
    },
};
use wgpu::TextureUsages as Usage;

const LABEL: &str = "reflection_filter";
const PARAMS: &str = "reflection_filter.params";
/// Tap distances of the filter's rounds in pixels. The first is for a signal that is not filtered.
const STEPS: [u32; 4] = [0, 4, 2, 1];

/// Pipelines of the pass and the histories that it keeps.
#[derive(Debug)]
pub struct ReflectionFilter {
    accumulate: Kernel,
    smooth: Kernel,
    last_round: Kernel,
    images: Images,
    params: UniformArray<ReflectionFilterParams>,
    /// State of the last averaged frame and the history of light changes.
    past: TemporalState<(Moment, LightChanges)>,
}

/// Inputs of reflected radiance other than the scene's triangles.
#[derive(Debug, Clone, PartialEq)]
struct Moment {
    view: View,
    lights: Vec<Light>,
    environment: settings::Environment,
}

#[derive(Debug)]
struct Images {
    /// Means of the last frame and of this one, by the parity of [`Reprojection::index`].
    means: [GpuImage; 2],
    smooth: GpuImage,
    /// Rays of this frame, if neighbours reuse them.
    sent: GpuImage,
}

impl Images {
    fn new(gpu: &Gpu, size: [u32; 2], sent_size: [u32; 2]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let image = |label| GpuImage::new(gpu, label, size, MEAN_FORMAT, usage);
        Self {
            means: [(); 2].map(|()| image("reflection.mean")),
            smooth: image("reflection.smooth"),
            sent: GpuImage::new(gpu, "reflection.sent", sent_size, SENT_FORMAT, usage),
        }
    }

    /// Returns the means of the last frame and of frame `index`.
    fn by_parity(&self, index: u32) -> [&GpuImage; 2] {
        let [even, odd] = &self.means;
        match index.is_multiple_of(2) {
            true => [odd, even],
            false => [even, odd],
        }
    }
}

impl ReflectionFilter {
    /// Creates the pass without compiling its pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let uniform = Binding::Uniform;
        let round = [Read, uniform, Float, Uint, Uint, Uint, Uint, Uint];
        let kernel = |entry, last: &[Binding]| {
            let bindings = [&round[..], last].concat();
            let path = "reflections/reflection_filter.wgsl";
            Kernel::new(gpu, path, entry, &[(0, &layouts.frame)], &bindings)
        };
        let out = Store(MEAN_FORMAT);
        let taken = [out, Read, Uint, Uint, uniform, Uint];
        let params = STEPS.map(|_| ReflectionFilterParams::default());
        Ok(Self {
            accumulate: kernel("reflection_accumulate", &taken),
            smooth: kernel("reflection_smooth", &[out]),
            last_round: kernel(LABEL, &[Write]),
            images: Images::new(gpu, UNUSED, UNUSED),
            params: UniformArray::new(gpu, PARAMS, params.into_iter())?,
            past: TemporalState::default(),
        })
    }

    /// Reallocates the images for `size` pixels. Rays are stored only if the settings filter. Returns the
    /// images for this frame's means and rays.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn fit(&mut self, gpu: &Gpu, size: [u32; 2], filters: bool, index: u32) -> Result<[&GpuImage; 2]> {
        let sent_size = if filters { size } else { UNUSED };
        if [self.images.smooth.size(), self.images.sent.size()] != [size, sent_size] {
            self.images = try_create(gpu, size, || Images::new(gpu, size, sent_size))?;
            self.past.reset();
        }
        let [_, now] = self.images.by_parity(index);
        Ok([now, &self.images.sent])
    }

    /// Averages this frame's rays into the history and replaces `reflected` by the mean. Also averages over
    /// neighbours if the settings filter. Call [`ReflectionFilter::fit`] first.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        seen: VisibleSurfaces<'_>,
        lobes: &Lobes,
        list: &ReflectionList,
        reflected: &ReflectedRadiance,
    ) -> Result<()> {
        let VisibleSurfaces {
            gbuffer,
            motion,
            history,
        } = seen;
        let gpu = recording.gpu;
        let settings = &frame.config.reflections;
        let is_one_of_many = frame.accumulates();
        let now = Moment {
            view: frame.view,
            lights: frame.lights.clone(),
            environment: frame.config.environment.clone(),
        };
        let past = self.past.last();
        let differs = past.is_some_and(|(last, _)| *last != now);
        let moves = history.moves || differs;
        let mut changes = past.map_or_else(LightChanges::default, |(_, changes)| *changes);
        // While something moves, only a few frames are averaged. A sample of an accumulated picture averages
        // its own rays only.
        let most = changes.max_history(moves, is_one_of_many);
        self.past.set_pending((now, changes));
        // Samples of a picture average themselves, so the more of them there are, the less each one is
        // filtered. All have the same weight, so that no light is lost.
        let (max_history, rays, compression) = match is_one_of_many {
            true => (0, frame.sample.filtered_for(), 0.0),
            false => {
                let max_history = history.max_history(settings.history).min(most);
                (max_history, 1, frame.exposure_ev.exp2())
            }
        };
        let params = STEPS.map(|step| ReflectionFilterParams {
            max_history,
            rays,
            step,
            moves: u32::from(moves),
            compression,
            reuses: u32::from(settings.filter && !is_one_of_many),
        });
        self.params.write_all(gpu, PARAMS, &params)?;
        // The last frame's means are read once. After that their image holds the output of the filter's first
        // round.
        let [last, now] = self.images.by_parity(history.index);
        let (position, normal) = (&gbuffer.position, &gbuffer.normal);
        let surfaces = history.surfaces;
        let mut run = |kernel: &Kernel, step: usize, signal: &GpuImage, rest: &[&dyn Bind]| {
            let params = self.params.at(step);
            let mut own: Vec<&dyn Bind> = vec![
                &list.sending,
                &params,
                position,
                normal,
                surfaces,
                &lobes.layers,
                &lobes.glass,
                signal,
            ];
            own.extend(rest);
            let tiles = Workgroups::Indirect(&list.sending, 0);
            recording.dispatch(LABEL, kernel, &[(0, &frame.group)], &own, tiles)
        };
        let (reprojected, last_surfaces) = (history.reprojected, history.last_surfaces);
        let sent = &self.images.sent;
        let found: &[&dyn Bind] = &[
            now,
            &reflected.words,
            reprojected,
            last_surfaces,
            motion.params,
            sent,
        ];
        run(&self.accumulate, 0, last, found)?;
        if !settings.filter {
            return run(&self.last_round, 0, now, &[&reflected.words]);
        }
        let smooth = &self.images.smooth;
        run(&self.smooth, 1, now, &[last])?;
        run(&self.smooth, 2, last, &[smooth])?;
        run(&self.last_round, 3, smooth, &[&reflected.words])
    }
}

impl LifeCycle for ReflectionFilter {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.past]
    }
}
