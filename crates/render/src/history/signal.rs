//! A sampled signal that is averaged over frames and over neighbouring pixels: eight bytes a pixel, whose
//! meaning its shaders know.

use crate::{
    edges::{FRESH, FRESH_FORMAT, Reprojection, SURFACES, TAPS, UNUSED, fitted},
    frame::{Frame, recording::Recording},
    layout::SignalParams,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Needs, UniformArray,
        pass::Binding::{self, Store, StoreArray},
    },
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

const FORMAT: Format = Format::Rg32Uint;
const PARAMS: &str = "signal.params";

/// Means of a signal, over frames or neighbours.
pub const MEANS: Binding = Binding::Texels(FORMAT);

/// The images of a signal. They belong to the history of [`History`](crate::history::History).
#[derive(Debug)]
pub struct Signal {
    /// Means: of the last frame and of this one, by the parity of [`Reprojection::index`].
    means: [GpuImage; 2],
    /// The result of the filter's second round.
    smooth: GpuImage,
    /// Parameters of each [`Tap`].
    params: UniformArray<SignalParams>,
}

/// How a signal is averaged.
#[derive(Debug, Clone, Copy)]
pub struct Averaging {
    /// Earlier frames that count.
    pub remembered: u32,
    /// Rays of a pixel that a frame stands for.
    pub rays: u32,
    /// Whether neighbours are averaged.
    pub filters: bool,
    /// First layer of what is fresh.
    pub layer: u32,
    /// Of two lights: 1 where the light has a size.
    pub soft: [f32; 2],
    /// Whether edges of their shadows get more rays.
    pub sharpens: bool,
    /// Of radiance: how much less bright radiance counts among neighbours, over the radiance that is shown like a colour
    /// of 1.
    pub compression: f32,
}

/// What a frame adds to a signal.
#[derive(Debug, Clone, Copy)]
pub struct Fresh<'a> {
    /// What its rays found, of [`FRESH_FORMAT`].
    pub found: &'a GpuImage,
    /// Where the last frame has the means.
    pub taps: &'a [&'a GpuImage],
    /// The edges of the last frame, and where this one's are told, of shaders that find them.
    pub edges: Option<[&'a GpuImage; 2]>,
}

/// The shaders of a signal.
#[derive(Debug, Clone, Copy)]
pub struct Shaders {
    /// Label of their passes.
    pub label: &'static str,
    /// Their file.
    pub path: &'static str,
    /// Entry points that average over frames and over neighbours.
    pub entries: [&'static str; 2],
    /// Images of taps: one, or one for each light of two.
    pub taps: usize,
    /// Whether averaging over frames finds edges.
    pub finds_edges: bool,
}

/// How far apart the filter reads neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tap {
    /// Not at all.
    None,
    /// One pixel.
    Nearest,
    /// Two pixels.
    Near,
    /// Four pixels.
    Far,
}

/// Distance of each [`Tap`] in pixels.
const TAP_STEPS: [u32; 4] = [0, 1, 2, 4];

/// What is left to be done by the pass that knows what the signal means: the last round.
#[derive(Debug)]
pub struct LastRound<'a> {
    /// Its parameters.
    pub params: wgpu::BufferBinding<'a>,
    /// The signal so far.
    pub signal: &'a GpuImage,
}

/// `signal_filter`: the passes that average a signal.
#[derive(Debug)]
pub struct SignalFilter {
    label: &'static str,
    accumulate: Kernel,
    filter: Kernel,
}

impl Signal {
    /// Not used yet.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::of_size(gpu, UNUSED)
    }

    fn of_size(gpu: &Gpu, size: [u32; 2]) -> Result<Self> {
        let params = TAP_STEPS.map(|_| SignalParams::default());
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let image = |label| GpuImage::new(gpu, label, size, FORMAT, usage);
        Ok(Self {
            means: [(); 2].map(|()| image("signal.mean")),
            smooth: image("signal.smooth"),
            params: UniformArray::new(gpu, PARAMS, params.into_iter())?,
        })
    }

    /// Makes room for pictures of `size` pixels.
    pub fn fit(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<()> {
        if self.smooth.size() != size {
            *self = fitted(gpu, size, || Self::of_size(gpu, size))??;
        }
        Ok(())
    }

    fn write(&mut self, gpu: &Gpu, averaging: Averaging) -> Result<()> {
        let Averaging {
            remembered,
            rays,
            layer,
            soft,
            sharpens,
            compression,
            ..
        } = averaging;
        let params = TAP_STEPS.map(|step| SignalParams {
            remembered,
            rays,
            step,
            layer,
            soft,
            sharpens: sharpens.into(),
            compression,
        });
        self.params.write_all(gpu, PARAMS, &params)
    }
}

impl SignalFilter {
    /// Ready to be compiled, with values for `override` constants of the shaders.
    pub fn new(
        gpu: &Gpu,
        layouts: &crate::bindings::Layouts,
        shaders: Shaders,
        constants: &[(&'static str, f64)],
    ) -> Self {
        let kernel = |entry, bindings: &[Binding]| {
            let shared = [(0, &layouts.frame)];
            Kernel::with_constants(gpu, shaders.path, entry, &shared, bindings, constants)
        };
        let (uniform, signal) = (Binding::Uniform, Store(FORMAT));
        let mut accumulate = vec![uniform, uniform, FRESH];
        accumulate.extend(vec![TAPS; shaders.taps]);
        accumulate.extend([MEANS, SURFACES]);
        accumulate.push(signal);
        if shaders.finds_edges {
            accumulate.extend([StoreArray(FRESH_FORMAT), FRESH]);
        }
        let filter = [uniform, uniform, MEANS, SURFACES, signal];
        let [accumulate_entry, filter_entry] = shaders.entries;
        Self {
            label: shaders.label,
            accumulate: kernel(accumulate_entry, &accumulate),
            filter: kernel(filter_entry, &filter),
        }
    }

    /// Adds what is `fresh` to the means of `signal`, and averages neighbours but for the last round.
    pub fn record<'a>(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        history: Reprojection<'_>,
        fresh: Fresh<'_>,
        signal: &'a mut Signal,
        averaging: Averaging,
    ) -> Result<LastRound<'a>> {
        signal.write(recording.gpu, averaging)?;
        let signal = &*signal;
        let params = |tap: Tap| signal.params.at(tap as usize);
        let [even, odd] = &signal.means;
        // The last frame's means are read once, and then have room for the filter's first round.
        let (last, now) = match history.index.is_multiple_of(2) {
            true => (odd, even),
            false => (even, odd),
        };
        let shared = [(0, &frame.group)];
        let mut run = |kernel: &Kernel, own: &[&dyn Bind]| {
            let most = recording.budget.pixels();
            recording.dispatch_pixels(self.label, kernel, &shared, own, frame.size, most)
        };
        let surfaces = history.surfaces;
        let none = params(Tap::None);
        let mut own: Vec<&dyn Bind> = vec![&none, fresh.found];
        own.extend(fresh.taps.iter().map(|&taps| taps as &dyn Bind));
        own.extend([last as &dyn Bind, surfaces, now]);
        if let Some([last, now]) = fresh.edges {
            own.extend([now as &dyn Bind, last]);
        }
        run(&self.accumulate, &own)?;
        if !averaging.filters {
            return Ok(LastRound {
                params: none,
                signal: now,
            });
        }
        let (far, near) = (params(Tap::Far), params(Tap::Near));
        run(&self.filter, &[&far, now, surfaces, last])?;
        run(&self.filter, &[&near, last, surfaces, &signal.smooth])?;
        Ok(LastRound {
            params: params(Tap::Nearest),
            signal: &signal.smooth,
        })
    }

    /// Adds its kernels.
    pub fn announce(&self, filters: bool, needs: &mut Needs) {
        self.accumulate.needs(needs);
        if filters {
            self.filter.needs(needs);
        }
    }
}
