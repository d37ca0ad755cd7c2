//! `antialias`: morphological anti-aliasing of the display-encoded picture (SMAA).

use crate::{
    frame::recording::{FullscreenDraw, Recording},
    resources::{PICTURE_FORMAT, try_create},
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, FullscreenPass, Gpu, GpuImage, PipelineSet, image,
        pass::Binding::{Filtered, Float, Sampler, Uint},
    },
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

const EDGES_FORMAT: Format = Format::R8Uint;

/// Morphological anti-aliasing pass.
#[derive(Debug)]
pub struct Antialias {
    edges: FullscreenPass,
    weights: FullscreenPass,
    blend: FullscreenPass,
    stretch: FullscreenPass,
    sampler: wgpu::Sampler,
    images: Images,
    /// Smoothed picture before it is scaled up to the target; one texel until it is needed.
    smooth: GpuImage,
}

/// Images passed between its draws.
#[derive(Debug)]
struct Images {
    edges: GpuImage,
    /// Fraction of a pixel that its neighbours cover.
    weights: GpuImage,
}

impl Antialias {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu) -> Self {
        let cover =
            |entry, bindings: &[_]| FullscreenPass::new(gpu, "picture/antialias.wgsl", entry, bindings);
        Self {
            edges: cover("edges", &[Float]),
            weights: cover("weights", &[Uint]),
            blend: cover("blend_neighbours", &[Float; 2]),
            stretch: cover("stretch", &[Filtered, Sampler]),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("antialias"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            images: Images::new(gpu, [1, 1]),
            smooth: smooth(gpu, [1, 1]),
        }
    }

    /// Anti-aliases `picture` into `target`, which may be larger.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        picture: &GpuImage,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let (gpu, size) = (recording.gpu, picture.size());
        if self.images.edges.size() != size {
            self.images = try_create(gpu, size, || Images::new(gpu, size))?;
        }
        let fits = image::size_of_view(target) == size;
        if !fits {
            self.fit_smooth(gpu, size)?;
        }
        let Images { edges, weights } = &self.images;
        let smooth = if fits { target } else { &self.smooth.view };
        let covers: [FullscreenDraw<'_>; 4] = [
            ("edges", &self.edges, &edges.view, &[picture]),
            ("weights", &self.weights, &weights.view, &[edges]),
            ("blend", &self.blend, smooth, &[picture, weights]),
            ("stretch", &self.stretch, target, &[&self.smooth, &self.sampler]),
        ];
        recording.draw_fullscreen_each("antialias", &covers[..if fits { 3 } else { 4 }])
    }

    /// Adds the pipeline that scales a picture up to targets of `format`.
    pub fn upscale_pipelines(&self, format: Format, set: &mut PipelineSet) {
        self.stretch.pipelines(format, set);
    }

    /// Returns the target for a picture of `size`, which [`Antialias::upscale`] scales up to a larger target.
    pub fn upscale_source(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<&GpuImage> {
        self.fit_smooth(gpu, size)?;
        Ok(&self.smooth)
    }

    /// Scales the picture in [`Antialias::upscale_source`] up to a larger `target`.
    pub fn upscale(&self, recording: &mut Recording<'_>, target: &wgpu::TextureView) -> Result<()> {
        let own: &[&dyn Bind] = &[&self.smooth, &self.sampler];
        recording.draw_fullscreen("stretch", &self.stretch, target, own)
    }

    fn fit_smooth(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<()> {
        if self.smooth.size() != size {
            self.smooth = try_create(gpu, size, || smooth(gpu, size))?;
        }
        Ok(())
    }
}

const USAGE: Usage = Usage::RENDER_ATTACHMENT.union(Usage::TEXTURE_BINDING);

fn smooth(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    GpuImage::new(gpu, "smooth", size, PICTURE_FORMAT, USAGE)
}

impl Images {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        Self {
            edges: GpuImage::new(gpu, "edges", size, EDGES_FORMAT, USAGE),
            weights: GpuImage::new(gpu, "weights", size, PICTURE_FORMAT, USAGE),
        }
    }
}
