//! Denoising of a sampled signal over frames and neighbouring pixels. A signal has eight bytes per pixel. Its
//! shaders define their meaning.

use crate::{
    frame::{Frame, recording::Recording},
    layout::SignalParams,
    resources::{NOISY, NOISY_FORMAT, REPROJECTED, Reprojection, SURFACES, UNUSED, try_create},
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, PipelineSet, UniformArray,
        pass::Binding::{self, Store, StoreArray},
    },
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

const FORMAT: Format = Format::Rg32Uint;
const PARAMS: &str = "signal.params";

/// Binding of a signal's means over frames or neighbours.
pub const MEANS: Binding = Binding::Texels(FORMAT);

/// Images of a signal. Their contents are valid as long as [`History`](crate::history::History) does not
/// restart.
#[derive(Debug)]
pub struct DenoiserImages {
    /// Temporal means of the last frame and of this one, indexed by the parity of [`Reprojection::index`].
    means: [GpuImage; 2],
    /// Result of the second spatial filter pass.
    smooth: GpuImage,
    /// Parameters for each [`Tap`].
    params: UniformArray<SignalParams>,
}

/// Averaging parameters of a signal.
#[derive(Debug, Clone, Copy)]
pub struct Averaging {
    /// Maximum history length in frames, without the current one.
    pub max_history: u32,
    /// Rays per pixel that each frame counts as.
    pub rays: u32,
    /// True if the signal is filtered spatially.
    pub filters: bool,
    /// First layer of the noisy input.
    pub layer: u32,
    /// For each of two lights, 1 if it is an area light.
    pub soft: [f32; 2],
    /// True if edges of their shadows get extra rays.
    pub sharpens: bool,
    /// For signals of radiance, compression of bright values in averages over neighbours. It is divided by
    /// the radiance that is displayed like an unlit colour of 1.
    pub compression: f32,
}

/// Inputs of a signal in one frame.
#[derive(Debug, Clone, Copy)]
pub struct NoisyInput<'a> {
    /// Noisy result of the signal's rays, in [`NOISY_FORMAT`].
    pub found: &'a GpuImage,
    /// Reprojected pixels of the last frame's means.
    pub reprojected: &'a [&'a GpuImage],
    /// Shadow edges of the last frame and of this one, for shaders that find them.
    pub edges: Option<[&'a GpuImage; 2]>,
}

/// Shaders of a signal.
#[derive(Debug, Clone, Copy)]
pub struct Shaders {
    /// Label of the passes.
    pub label: &'static str,
    /// Path of the shader file.
    pub path: &'static str,
    /// Entry points of the temporal and the spatial filter.
    pub entries: [&'static str; 2],
    /// Number of images of reprojected pixels: one, or one for each of two lights.
    pub reprojected: usize,
    /// True if the temporal filter finds edges.
    pub finds_edges: bool,
}

/// Distance between the taps of the spatial filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tap {
    /// No spatial filtering.
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

/// Input of the last filter round. The pass that interprets the signal runs this round itself.
#[derive(Debug)]
pub struct FinalRound<'a> {
    /// Filter parameters.
    pub params: wgpu::BufferBinding<'a>,
    /// Signal so far.
    pub signal: &'a GpuImage,
}

/// `signal_filter`: temporal and spatial filter of a signal.
#[derive(Debug)]
pub struct Denoiser {
    label: &'static str,
    accumulate: Kernel,
    filter: Kernel,
}

impl DenoiserImages {
    /// Creates unused images.
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

    /// Resizes the images to `size` pixels.
    pub fn fit(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<()> {
        if self.smooth.size() != size {
            *self = try_create(gpu, size, || Self::of_size(gpu, size))??;
        }
        Ok(())
    }

    fn write(&mut self, gpu: &Gpu, averaging: Averaging) -> Result<()> {
        let Averaging {
            max_history,
            rays,
            layer,
            soft,
            sharpens,
            compression,
            ..
        } = averaging;
        let params = TAP_STEPS.map(|step| SignalParams {
            max_history,
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

impl Denoiser {
    /// Creates the passes without compiling them, with values for `override` constants of the shaders.
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
        let mut accumulate = vec![uniform, uniform, NOISY];
        accumulate.extend(vec![REPROJECTED; shaders.reprojected]);
        accumulate.extend([MEANS, SURFACES]);
        accumulate.push(signal);
        if shaders.finds_edges {
            accumulate.extend([StoreArray(NOISY_FORMAT), NOISY]);
        }
        let filter = [uniform, uniform, MEANS, SURFACES, signal];
        let [accumulate_entry, filter_entry] = shaders.entries;
        Self {
            label: shaders.label,
            accumulate: kernel(accumulate_entry, &accumulate),
            filter: kernel(filter_entry, &filter),
        }
    }

    /// Accumulates `noisy` into the means of `signal`, and runs all spatial filter rounds but the last.
    pub fn record<'a>(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        history: Reprojection<'_>,
        noisy: NoisyInput<'_>,
        signal: &'a mut DenoiserImages,
        averaging: Averaging,
    ) -> Result<FinalRound<'a>> {
        signal.write(recording.gpu, averaging)?;
        let signal = &*signal;
        let params = |tap: Tap| signal.params.at(tap as usize);
        let [even, odd] = &signal.means;
        // The last frame's means are read once. Their image then takes the result of the first filter round.
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
        let mut own: Vec<&dyn Bind> = vec![&none, noisy.found];
        own.extend(
            noisy
                .reprojected
                .iter()
                .map(|&reprojected| reprojected as &dyn Bind),
        );
        own.extend([last as &dyn Bind, surfaces, now]);
        if let Some([last, now]) = noisy.edges {
            own.extend([now as &dyn Bind, last]);
        }
        run(&self.accumulate, &own)?;
        if !averaging.filters {
            return Ok(FinalRound {
                params: none,
                signal: now,
            });
        }
        let (far, near) = (params(Tap::Far), params(Tap::Near));
        run(&self.filter, &[&far, now, surfaces, last])?;
        run(&self.filter, &[&near, last, surfaces, &signal.smooth])?;
        Ok(FinalRound {
            params: params(Tap::Nearest),
            signal: &signal.smooth,
        })
    }

    /// Adds its kernels to `set`.
    pub fn add_pipelines(&self, filters: bool, set: &mut PipelineSet) {
        self.accumulate.pipelines(set);
        if filters {
            self.filter.pipelines(set);
        }
    }
}
