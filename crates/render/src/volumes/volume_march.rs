//! `volume_march`: ray-marches a volume along the view rays in front of the surfaces.

use super::volume_grids::PlacedVolume;
use crate::{
    bindings::Layouts,
    frame::{Frame, recording::Recording},
    resources::{FogFroxels, GBuffer, HDR_FORMAT, SPAN_FORMAT, VolumeLayers, try_create},
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel,
        pass::Binding::{Filtered3d, Float, Float3d, Read, Sampler, Store, StoreArray, Uniform},
    },
};
use wgpu::{TextureUsages as Usage, TextureView, TextureViewDescriptor, TextureViewDimension};

/// Label of the pass in frame timings.
pub const LABEL: &str = "volume_march";

/// Pipeline and output of the pass.
#[derive(Debug)]
pub struct VolumeMarch {
    kernel: Kernel,
    output: Output,
}

/// Images of the marched volumes.
#[derive(Debug)]
struct Output {
    seen: GpuImage,
    spans: GpuImage,
    /// Views for each volume, one layer of `seen` and two of `spans`.
    layers: Vec<[TextureView; 2]>,
}

impl VolumeMarch {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let (out, spans) = (Store(HDR_FORMAT), StoreArray(SPAN_FORMAT));
        let bindings = [
            Uniform, Read, Float, Filtered3d, Filtered3d, Float3d, Filtered3d, Sampler, out, spans,
        ];
        let bindings = [&bindings[..], &FogFroxels::BINDINGS].concat();
        let path = "volume/volume_march.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &[(0, &layouts.frame)], &bindings),
            output: Output::new(gpu, [1, 1], None),
        }
    }

    /// Reallocates the output for `size` pixels. If `kept` is set, it holds that many volumes with their
    /// depth ranges. Otherwise it holds one volume at a time.
    pub fn fit(&mut self, gpu: &Gpu, size: [u32; 2], kept: Option<u32>) -> Result<()> {
        if !self.output.is_for(size, kept) {
            self.output = try_create(gpu, size, || Output::new(gpu, size, kept))?;
        }
        Ok(())
    }

    /// Returns the images of the volumes that are kept.
    pub fn output(&self) -> VolumeLayers<'_> {
        VolumeLayers {
            seen: &self.output.seen,
            spans: &self.output.spans,
        }
    }

    /// Marches through a volume and writes its radiance and transmittance to a layer of the output.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        volume: &PlacedVolume<'_>,
        fog: FogFroxels<'_>,
        layer: usize,
    ) -> Result<&TextureView> {
        let [seen, spans] = &self.output.layers[layer.min(self.output.layers.len() - 1)];
        let [fog, fog_texture, fog_sampler] = fog.bindings();
        recording.dispatch_pixels(
            LABEL,
            &self.kernel,
            &[(0, &frame.group)],
            &[
                volume.params,
                &gbuffer.position,
                &volume.grids.density,
                &volume.grids.color_temperature,
                volume.majorants,
                volume.light,
                volume.sampler,
                seen,
                spans,
                fog,
                fog_texture,
                fog_sampler,
            ],
            frame.size,
            recording.budget.pixels() / 8,
        )?;
        Ok(seen)
    }
}

impl Output {
    fn new(gpu: &Gpu, size: [u32; 2], kept: Option<u32>) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let image =
            |label, size, layers, format| GpuImage::with_layers(gpu, label, size, layers, format, usage);
        let layers = kept.unwrap_or(1).max(1);
        let spans_size = if kept.is_some() { size } else { [1, 1] };
        let seen = image(LABEL, size, layers, HDR_FORMAT);
        let spans = image("volume_march.spans", spans_size, 2 * layers, SPAN_FORMAT);
        let view = |image: &GpuImage, dimension, first, count| {
            image.texture.create_view(&TextureViewDescriptor {
                dimension: Some(dimension),
                base_array_layer: first,
                array_layer_count: Some(count),
                ..Default::default()
            })
        };
        let of = |layer| {
            [
                view(&seen, TextureViewDimension::D2, layer, 1),
                view(&spans, TextureViewDimension::D2Array, 2 * layer, 2),
            ]
        };
        Self {
            layers: (0..layers).map(of).collect(),
            seen,
            spans,
        }
    }

    fn is_for(&self, size: [u32; 2], kept: Option<u32>) -> bool {
        let spans_size = if kept.is_some() { size } else { [1, 1] };
        let layers = kept.unwrap_or(1).max(1) as usize;
        self.seen.size() == size && self.spans.size() == spans_size && self.layers.len() == layers
    }
}
