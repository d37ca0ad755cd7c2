//! Bounces of reflection rays, which start from the surfaces of the picture and then from the previous
//! bounce's hits. Hits get a G-buffer of their own and are lit like the picture.

use super::{
    reflection_ambient::ReflectionAmbient,
    reflection_classify::ReflectionClassify,
    reflection_layers::ReflectionLayers,
    reflection_light::ReflectionLight,
    reflection_list::{Bounce, ListKey, ReflectionList},
    reflection_lobes::ReflectionLobes,
    reflection_rays::ReflectionRays,
    reflection_sort::ReflectionSort,
    reflection_surface::ReflectionSurface,
};
use crate::{
    bindings::Layouts,
    frame::{Frame, recording::Recording},
    layout::{HitRange, REFLECTION_RAYS, REFLECTION_TILES},
    resources::{FogFroxels, GBuffer, Hits, Lobes, ReflectedRadiance, ReflectionStart, UNUSED, try_create},
    settings::{HitOrder, RayListing},
    shadows::Shadows,
    stats::ReflectionCounts,
    upload::scene_buffers::SceneBuffers,
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{Gpu, GpuImage, readback::Counters},
};

/// Additional blur of texture and environment lookups at hits, as a fraction of the lobe's width, if
/// neighbours are averaged anyway. It reduces noise and widens the lobe by 3 %.
const BLUR: f32 = 0.5;
/// Number of words that are read back from the start of the indirect arguments: the workgroup counts of the
/// sort, then the counts of rays and tiles.
const COUNTS: usize = REFLECTION_TILES as usize + 1;
const RANGE_WORDS: usize = size_of::<HitRange>() / 4;

/// List key of a frame that traces no reflections.
const NOTHING: ListKey = ListKey {
    size: [1, 1],
    batch: 1,
    bounces: 1,
    blur: 0.0,
    listing: RayListing::Pixels,
    order: HitOrder::Material,
    bins: 1,
};

/// Passes of a bounce and the buffers between them.
#[derive(Debug)]
pub struct Bounces {
    classify: ReflectionClassify,
    rays: ReflectionRays,
    sort: ReflectionSort,
    surface: ReflectionSurface,
    ambient: ReflectionAmbient,
    light: ReflectionLight,
    lobes: ReflectionLobes,
    layers: ReflectionLayers,
    /// Hits of even and odd bounces, because each bounce starts from the previous one's hits.
    hits: [Hits; 2],
    list: ReflectionList,
    /// Readback of the number of the first bounce's rays and of the tiles that cast them.
    sent: Counters<COUNTS>,
    /// Readback of the first bounce's range of all hits.
    hit: Counters<RANGE_WORDS>,
}

/// Inputs of the first bounce and outputs of all bounces.
#[derive(Debug, Clone, Copy)]
pub struct BounceResources<'a> {
    /// Kind of the surfaces.
    pub start: ReflectionStart,
    /// G-buffer of the surfaces.
    pub gbuffer: &'a GBuffer,
    /// BSDF lobes of the surfaces.
    pub lobes: &'a Lobes,
    /// Reflections of the pixels, which every bounce adds to.
    pub reflected: &'a ReflectedRadiance,
    /// Means over frames, which become zero where no ray is cast. A placeholder if nothing is averaged.
    pub mean: &'a GpuImage,
    /// First rays, which neighbours reuse. A placeholder if nothing reads them.
    pub sent: &'a GpuImage,
    /// Fog that rays pass through.
    pub fog: FogFroxels<'a>,
}

impl Bounces {
    /// Creates the passes without compiling their pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        Ok(Self {
            classify: ReflectionClassify::new(gpu, layouts),
            rays: ReflectionRays::new(gpu, layouts),
            sort: ReflectionSort::new(gpu),
            surface: ReflectionSurface::new(gpu, layouts),
            ambient: ReflectionAmbient::new(gpu, layouts),
            light: ReflectionLight::new(gpu, layouts),
            lobes: ReflectionLobes::new(gpu, layouts),
            layers: ReflectionLayers::new(gpu, layouts),
            hits: [(); 2].map(|()| Hits::new(gpu, UNUSED, UNUSED)),
            list: ReflectionList::new(gpu, NOTHING)?,
            sent: Counters::new(gpu, "reflections.sent"),
            hit: Counters::new(gpu, "reflections.hit"),
        })
    }

    /// Allocates buffers for the rays of a frame, or frees them if the frame traces none.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn fit(
        &mut self,
        recording: &Recording<'_>,
        frame: &Frame<'_>,
        buffers: &SceneBuffers,
    ) -> Result<()> {
        let gpu = recording.gpu;
        let size = frame.traces_reflections.then_some(frame.size);
        let settings = &frame.config.reflections;
        // From the second bounce on, the previous bounce's hits are needed as ray origins.
        let further = size.filter(|_| settings.bounces > 1);
        let lobes = further.filter(|_| buffers.has_layers()).unwrap_or(UNUSED);
        for (hits, size) in self.hits.iter_mut().zip([size, further]) {
            let size = size.unwrap_or(UNUSED);
            if (hits.size(), hits.lobes.size()) != (size, lobes) {
                *hits = try_create(gpu, size, || Hits::new(gpu, size, lobes))?;
            }
        }
        let key = size.map_or(NOTHING, |size| ListKey {
            size,
            batch: recording.budget.occlusion_pixels(1).min(size[0] * size[1]),
            bounces: settings.bounces,
            blur: if settings.filter { BLUR } else { 0.0 },
            listing: settings.list,
            order: settings.sort,
            bins: buffers.materials.hits.bin_count(),
        });
        if self.list.key() != key {
            self.list = try_create(gpu, frame.size, || ReflectionList::new(gpu, key))??;
        }
        Ok(())
    }

    /// Returns the lists of the bounce that was traced last. The list of tiles that cast rays is from the
    /// first bounce.
    pub fn list(&self) -> &ReflectionList {
        &self.list
    }

    /// Traces the reflections of `traced`, bounce by bounce. `shadows` traces the visibility of lights at the
    /// hits. Call [`Bounces::fit`] first.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        shadows: &mut Shadows,
        traced: BounceResources<'_>,
    ) -> Result<()> {
        let World { frame, geometry, .. } = world;
        let (list, start) = (&self.list, traced.start);
        let bounces = frame.config.reflections.bounces;
        let layered = geometry.buffers.has_layers();
        for (number, at_hits) in (0..).zip(frame.at_hits(start)) {
            let [even, odd] = &self.hits;
            let (before, hits) = match number % 2 {
                0 => (odd, even),
                _ => (even, odd),
            };
            let (gbuffer, lobes) = match number {
                0 => (traced.gbuffer, traced.lobes),
                _ => (&before.gbuffer, &before.lobes),
            };
            let bounce = Bounce {
                start,
                number,
                gbuffer,
                lobes,
                found: &before.found,
                list,
                hits,
                reflected: traced.reflected,
            };
            // Rays use the uniforms of the surfaces that they start from. Their hits have uniforms of their
            // own.
            let at_source = frame.at_bounce(start, number);
            let (mean, sent, fog) = (traced.mean, traced.sent, traced.fog);
            self.classify.record(recording, &at_source, bounce, mean)?;
            self.rays
                .record(recording, world.with_frame(&at_source), bounce, sent, fog)?;
            // Statistics count the rays from the G-buffer's surfaces.
            let counts = number == 0 && start == ReflectionStart::Solid;
            if counts {
                self.sent.record(&mut recording.scope, &list.arguments);
            }
            self.sort.record(recording, world, bounce)?;
            if counts {
                self.hit.record(&mut recording.scope, &list.ranges);
            }
            let at_hits = world.with_frame(&at_hits);
            self.surface.record(recording, at_hits, bounce)?;
            if layered && number + 1 < bounces {
                self.lobes.record(recording, at_hits, bounce)?;
            }
            self.ambient.record(recording, at_hits, hits)?;
            let visibility = shadows.record_at_hits(recording, at_hits, &hits.gbuffer)?;
            self.light.record(recording, at_hits, bounce, visibility)?;
            if layered {
                self.layers.record(recording, at_hits, bounce, visibility)?;
            }
        }
        Ok(())
    }

    /// Collects the counts read back for the first bounce of the last frame that traced any.
    pub fn collect(&mut self) -> ReflectionCounts {
        self.sent.collect();
        self.hit.collect();
        let (sent, range) = (self.sent.last(), self.hit.last());
        let range: HitRange = bytemuck::cast(range);
        ReflectionCounts {
            rays: sent[REFLECTION_RAYS as usize],
            tiles: sent[REFLECTION_TILES as usize],
            hits: range.count,
            bins: range.bins,
        }
    }
}
