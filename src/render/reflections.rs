//! What glossy surfaces reflect, by rays where the settings enable them: bounce after bounce, hits are made a G-buffer
//! of their own, and lit as what the picture shows.

use super::{
    bindings::Layouts,
    edges::{GBuffer, Geometry, Hits, Motion, Reflected, ReflectionSource, Trees, fitted},
    frame::{Frame, FrameInput},
    history::Reprojection,
    lobes::LobesPass,
    recording::Recording,
    reflection_classify::ReflectionClassify,
    reflection_filter::ReflectionFilter,
    reflection_layers::ReflectionLayers,
    reflection_light::ReflectionLight,
    reflection_list::{ListKey, ReflectionList},
    reflection_lobes::ReflectionLobes,
    reflection_rays::ReflectionRays,
    reflection_sort::ReflectionSort,
    reflection_surface::ReflectionSurface,
    scene_buffers::SceneBuffers,
    shadows::Shadows,
    stats::ReflectionCounts,
};
use crate::{
    Result,
    config::{HitOrder, RayListing},
    gpu::{
        Gpu, Needs,
        layout::{HitRange, REFLECTION_RAYS, REFLECTION_TILES},
        readback::Counters,
    },
};
use std::sync::Once;

/// The part of a lobe's width that levels of textures and of the environment are wider by, where neighbours are
/// averaged anyway: less noise for a lobe that is 3 % wider.
const BLUR: f32 = 0.5;
/// Words of counts in front of the arguments.
const COUNTS: usize = REFLECTION_TILES as usize + 1;
const RANGE_WORDS: usize = size_of::<HitRange>() / 4;

/// That a picture is too large is said once.
static TOO_LARGE: Once = Once::new();
/// Of a frame that traces no reflections.
const NOTHING: ListKey = ListKey {
    size: [1, 1],
    batch: 1,
    bounces: 1,
    blur: 0.0,
    listing: RayListing::Pixels,
    order: HitOrder::Material,
    bins: 1,
};

/// The passes, with what they hand each other.
#[derive(Debug)]
pub struct Reflections {
    classify: ReflectionClassify,
    rays: ReflectionRays,
    sort: ReflectionSort,
    surface: ReflectionSurface,
    light: ReflectionLight,
    lobes: LobesPass,
    hit_lobes: ReflectionLobes,
    layers: ReflectionLayers,
    filter: ReflectionFilter,
    /// Those of odd and of even bounces, which start from each other.
    hits: [Hits; 2],
    list: ReflectionList,
    output: Reflected,
    /// Rays of the first bounce, and tiles that sent them.
    sent: Counters<COUNTS>,
    /// Their hits: the range of all.
    hit: Counters<RANGE_WORDS>,
}

impl Reflections {
    /// Ready to be compiled.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where the adapter has no memory left.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        Ok(Self {
            classify: ReflectionClassify::new(gpu, layouts),
            rays: ReflectionRays::new(gpu, layouts),
            sort: ReflectionSort::new(gpu),
            surface: ReflectionSurface::new(gpu, layouts),
            light: ReflectionLight::new(gpu, layouts),
            lobes: LobesPass::new(gpu, layouts),
            hit_lobes: ReflectionLobes::new(gpu, layouts),
            layers: ReflectionLayers::new(gpu, layouts),
            filter: ReflectionFilter::new(gpu, layouts)?,
            hits: [(); 2].map(|()| Hits::new(gpu, [1, 1], [1, 1])),
            list: ReflectionList::new(gpu, NOTHING)?,
            output: Reflected::new(gpu, None)?,
            sent: Counters::new(gpu, "reflections.sent"),
            hit: Counters::new(gpu, "reflections.hit"),
        })
    }

    /// What a frame compiles.
    pub fn needs(
        &self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        buffers: &SceneBuffers,
        needs: &mut Needs,
    ) {
        let settings = &input.config.reflections;
        if !settings.sends_rays(gpu.capabilities.fast_rays) {
            return;
        }
        self.classify.needs(needs);
        self.rays.needs(needs);
        self.sort.needs(settings.sort, needs);
        self.surface.needs(needs);
        self.light.needs(needs);
        self.lobes.needs(buffers, needs);
        if buffers.layered(true).next().is_some() {
            self.hit_lobes.needs(needs);
            self.layers.needs(needs);
        }
        if settings.averages() {
            self.filter.needs(settings.filter, needs);
        }
    }

    /// Traces what each pixel reflects, where the settings enable it. `shadows` finds which lights the hits see.
    #[expect(clippy::too_many_arguments, reason = "they are the edges of the frame")]
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        trees: Trees<'_>,
        gbuffer: &GBuffer,
        motion: Motion<'_>,
        history: Reprojection<'_>,
        shadows: &mut Shadows,
    ) -> Result<&Reflected> {
        let gpu = recording.gpu;
        let size = frame.traces_reflections.then_some(frame.size);
        if self.output.size() != size {
            self.output = fitted(gpu, frame.size, || Reflected::new(gpu, size))??;
        }
        let settings = &frame.config.reflections;
        // From the second bounce on, hits are needed that the next ones start from.
        let further = size.filter(|_| settings.bounces > 1);
        let layered = geometry.buffers.layered(true).next().is_some();
        let lobes = further.filter(|_| layered).unwrap_or([1, 1]);
        for (hits, size) in self.hits.iter_mut().zip([size, further]) {
            let size = size.unwrap_or([1, 1]);
            if (hits.size(), hits.lobes.size()) != (size, lobes) {
                *hits = fitted(gpu, size, || Hits::new(gpu, size, lobes))?;
            }
        }
        if size.is_none() {
            if settings.sends_rays(gpu.capabilities.fast_rays) {
                let [width, height] = frame.size;
                TOO_LARGE.call_once(|| {
                    log::warn!("{width} × {height} pixels are too many for reflections by rays");
                });
            }
            if self.list.made_for() != NOTHING {
                self.list = ReflectionList::new(gpu, NOTHING)?;
            }
            self.filter.fit(gpu, [1, 1], false, 0)?;
            self.lobes.forget(gpu)?;
            shadows.forget_hits(gpu)?;
            return Ok(&self.output);
        }
        let made_for = ListKey {
            size: frame.size,
            batch: recording
                .budget
                .occlusion_pixels(1)
                .min(frame.size[0] * frame.size[1]),
            bounces: settings.bounces,
            blur: if settings.filter { BLUR } else { 0.0 },
            listing: settings.list,
            order: settings.sort,
            bins: geometry.buffers.materials.hits.bin_count(),
        };
        if self.list.made_for() != made_for {
            self.list = fitted(gpu, frame.size, || ReflectionList::new(gpu, made_for))??;
        }
        // Where nothing is averaged there is one texel of the means.
        let averaged = if settings.averages() {
            frame.size
        } else {
            [1, 1]
        };
        let [mean, sent] = self
            .filter
            .fit(gpu, averaged, settings.filter, history.index)?;
        let (list, output) = (&self.list, &self.output);
        let lobes = self.lobes.record(recording, frame, geometry, gbuffer)?;
        for (bounce, at_hits) in (0..).zip(frame.at_hits()) {
            let [even, odd] = &self.hits;
            let (before, hits) = match bounce % 2 {
                0 => (odd, even),
                _ => (even, odd),
            };
            let (gbuffer, lobes) = match bounce {
                0 => (gbuffer, lobes),
                _ => (&before.gbuffer, &before.lobes),
            };
            let source = ReflectionSource {
                bounce,
                gbuffer,
                lobes,
                found: &before.found,
            };
            // What surfaces look like and are lit by depends on which bounce has hit them.
            let at_source = frame.at_bounce(bounce);
            self.classify
                .record(recording, &at_source, source, list, hits, output, mean)?;
            self.rays.record(
                recording, &at_source, geometry, trees, source, list, hits, output, sent,
            )?;
            if bounce == 0 {
                self.sent.record(&mut recording.scope, &list.arguments);
            }
            self.sort.record(recording, geometry, list, hits)?;
            if bounce == 0 {
                self.hit.record(&mut recording.scope, &list.ranges);
            }
            self.surface
                .record(recording, &at_hits, geometry, list, hits)?;
            if layered && bounce + 1 < settings.bounces {
                self.hit_lobes
                    .record(recording, &at_hits, geometry, list, hits)?;
            }
            let visibility =
                shadows.record_at_hits(recording, &at_hits, geometry, trees, &hits.gbuffer)?;
            self.light.record(
                recording, &at_hits, geometry, list, hits, visibility, output,
            )?;
            if layered {
                self.layers.record(
                    recording, &at_hits, geometry, list, hits, visibility, output,
                )?;
            }
        }
        if settings.averages() {
            self.filter.record(
                recording, frame, gbuffer, lobes, motion, history, list, output,
            )?;
        }
        Ok(output)
    }

    /// What the last frame reflects.
    pub fn output(&self) -> &Reflected {
        &self.output
    }

    /// The last frame is not going to be submitted whole.
    pub fn abandon(&mut self) {
        self.sent.withdraw();
        self.hit.withdraw();
    }

    /// Reads counts that have come back, of the first bounce of a frame that traced any.
    pub fn collect(&mut self) -> Option<ReflectionCounts> {
        self.sent.collect();
        self.hit.collect();
        let (sent, range) = (self.sent.last(), self.hit.last());
        let range: HitRange = bytemuck::cast(range);
        self.output.size().map(|_| ReflectionCounts {
            rays: sent[REFLECTION_RAYS as usize],
            tiles: sent[REFLECTION_TILES as usize],
            hits: range.count,
            bins: range.bins,
        })
    }
}
