//! `lab_show`: image and sums of the laboratory's hits.

use super::lab_scene::LabScene;
use crate::{
    RayList,
    data::LabShowParams,
    settings::{self, LabRays, LabShow},
};
use canopy_bvh::{
    Result,
    accel::layout::TRACE_BLOCK,
    gpu::{
        Gpu, GpuImage, Kernel, Recorder, Uniform, Workgroups,
        library::wgsl_constants,
        pass::Binding::{self, Read, Store, Write},
        readback::Counters,
    },
};
use canopy_render::{
    frame::{Frame, recording::Recording},
    resources::try_create,
};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format, TextureUsages as Usage};

wgsl_constants! {
    const LAB_SHOW_NODES: u32 = LabShow::Nodes as u32;
    const LAB_SHOW_TRIANGLES: u32 = LabShow::Triangles as u32;
    const LAB_SHOW_BOTH: u32 = LabShow::Both as u32;
    const LAB_SHOW_DIVERGENCE: u32 = LabShow::Divergence as u32;
    /// Grey levels of surfaces that face the eye or are lit, of surfaces seen edge-on, and of surfaces in
    /// shadow.
    const LAB_LIT: f64 = 0.85;
    const LAB_GRAZING: f64 = 0.15;
    const LAB_BLOCKED: f64 = 0.2;
    /// Tolerance for equal hits, relative to their distance.
    const LAB_NEAR: f64 = 1e-4;
}

/// Number of words of the sums, two words for each of six sums.
const WORDS: usize = 12;
const FORMAT: Format = Format::Rgba32Float;

/// Statistics of a frame's rays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LabCounts {
    /// Number of rays.
    pub rays: u64,
    /// Number of rays with a hit.
    pub hits: u64,
    /// Number of nodes or cells that the rays visited.
    pub nodes: u64,
    /// Number of triangles that the rays were tested against.
    pub triangles: u64,
    /// Visited nodes and triangles of the slowest ray in each group of 32 neighbours, summed over groups.
    pub steps: u64,
    /// Number of hits that differ from the hits in canopy's own BVHs, or `None` if they were not compared.
    pub wrong: Option<u64>,
}

impl LabCounts {
    fn new(words: &[u32; WORDS], is_checked: bool) -> Self {
        let sum = |at: usize| u64::from(words[2 * at]) | u64::from(words[2 * at + 1]) << 32;
        Self {
            rays: sum(0),
            hits: sum(1),
            nodes: sum(2),
            triangles: sum(3),
            steps: sum(4),
            wrong: is_checked.then(|| sum(5)),
        }
    }

    /// Returns the average of `count` per ray.
    pub fn a_ray(&self, count: u64) -> f64 {
        count as f64 / self.rays.max(1) as f64
    }

    /// Returns the steps of the slowest ray of a group of 32 neighbours, averaged over the groups.
    pub fn lockstep(&self) -> f64 {
        32.0 * self.a_ray(self.steps)
    }
}

/// Pipeline of the pass and its image, which has one texel until it is requested.
#[derive(Debug)]
pub struct LabShowPass {
    kernel: Kernel,
    params: Uniform<LabShowParams>,
    sums: wgpu::Buffer,
    readback: Counters<WORDS>,
    /// Index of each readback in flight, and whether its hits were compared.
    checked: Vec<(u64, bool)>,
    counts: Option<LabCounts>,
    output: GpuImage,
}

impl LabShowPass {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [
            Binding::Uniform,
            Read,
            Read,
            Read,
            Read,
            Read,
            Write,
            Store(FORMAT),
        ];
        let usage = Buffer::STORAGE | Buffer::COPY_SRC | Buffer::COPY_DST;
        Self {
            kernel: Kernel::new(gpu, "lab/lab_show.wgsl", "lab_show", &[], &bindings),
            params: Uniform::new(gpu, "lab_show.params"),
            sums: gpu.buffer("lab_show.sums", 4 * WORDS as u64, usage),
            readback: Counters::new(gpu, "lab_show.readback"),
            checked: Vec::new(),
            counts: None,
            output: image(gpu, [1, 1]),
        }
    }

    /// Removes the image and the counts.
    pub fn clear(&mut self, gpu: &Gpu) {
        self.counts = None;
        if self.output.size() != [1, 1] {
            self.output = image(gpu, [1, 1]);
        }
    }

    /// Records the image and the sums of the hits of `list`. `own` has the hits of canopy's own BVHs if the
    /// rays were also traced through them.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        (frame, settings): (&Frame<'_>, &settings::Lab),
        scene: &LabScene,
        list: &RayList,
        own: Option<&wgpu::Buffer>,
    ) -> Result<()> {
        let gpu = recording.gpu;
        if self.output.size() != frame.size {
            self.output = try_create(gpu, frame.size, || image(gpu, frame.size))?;
        }
        self.params.write(
            gpu,
            &LabShowParams {
                size: frame.size,
                show: settings.show as u32,
                is_shadow: u32::from(settings.rays == LabRays::Shadow),
                is_checked: u32::from(own.is_some()),
                slack: 1e-6 * frame.bounds.radius(),
            },
        );
        recording.scope.encoder().clear_buffer(&self.sums, 0, None);
        let tiles = list.len() / TRACE_BLOCK;
        recording.dispatch(
            "lab_show",
            &self.kernel,
            &[],
            &[
                &self.params,
                &list.rays,
                &list.hits,
                &list.visits,
                &scene.normals,
                own.unwrap_or(&list.hits),
                &self.sums,
                &self.output,
            ],
            Workgroups::Count(tiles),
        )?;
        let number = self.readback.next();
        if self.readback.record(recording.scope.encoder(), &self.sums) {
            self.checked.push((number, own.is_some()));
        }
        Ok(())
    }

    /// Collects the counts that have been read back.
    pub fn collect(&mut self) {
        let (checked, counts) = (&mut self.checked, &mut self.counts);
        self.readback.collect_each(|number, words| {
            let is_checked = checked.contains(&(number, true));
            checked.retain(|(known, _)| *known > number);
            *counts = Some(LabCounts::new(&words, is_checked));
        });
    }

    /// Returns the counts of the last frame that has been read back.
    pub fn counts(&self) -> Option<LabCounts> {
        self.counts
    }

    /// Returns the image of the last frame.
    pub fn output(&self) -> &GpuImage {
        &self.output
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, "lab_show", size, FORMAT, usage)
}
