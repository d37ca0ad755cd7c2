//! The bounces of reflection rays: from the surfaces of the picture, then from what the bounce before has
//! hit. Hits are made a G-buffer of their own, and lit as what the picture shows.

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
    edges::{Air, GBuffer, Hits, Lobes, Reflected, ReflectionStart, UNUSED, fitted},
    frame::{Frame, recording::Recording},
    layout::{HitRange, REFLECTION_RAYS, REFLECTION_TILES},
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

/// The part of a lobe's width that levels of textures and of the environment are wider by, where neighbours
/// are averaged anyway: less noise for a lobe that is 3 % wider.
const BLUR: f32 = 0.5;
/// Words of counts in front of the arguments.
const COUNTS: usize = REFLECTION_TILES as usize + 1;
const RANGE_WORDS: usize = size_of::<HitRange>() / 4;

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

/// The passes of a bounce, with what they hand each other.
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
    /// Those of odd and of even bounces, which start from each other.
    hits: [Hits; 2],
    list: ReflectionList,
    /// Rays of the first bounce, and tiles that sent them.
    sent: Counters<COUNTS>,
    /// Their hits: the range of all.
    hit: Counters<RANGE_WORDS>,
}

/// What the first bounce starts from, and where what rays find goes to.
#[derive(Debug, Clone, Copy)]
pub struct Traced<'a> {
    /// Which surfaces these are.
    pub start: ReflectionStart,
    /// The surfaces.
    pub gbuffer: &'a GBuffer,
    /// Their lobes.
    pub lobes: &'a Lobes,
    /// What each pixel reflects.
    pub reflected: &'a Reflected,
    /// Means over frames, which become zeros where nothing is sent; not used where there are none.
    pub mean: &'a GpuImage,
    /// The first rays, for neighbours; not used where nobody reads them.
    pub sent: &'a GpuImage,
    /// The air that rays pass.
    pub air: Air<'a>,
}

impl Bounces {
    /// Ready to be compiled.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
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

    /// Makes room for the rays of a frame, or gives it back where the frame traces none.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
    pub fn fit(
        &mut self,
        recording: &Recording<'_>,
        frame: &Frame<'_>,
        buffers: &SceneBuffers,
    ) -> Result<()> {
        let gpu = recording.gpu;
        let size = frame.traces_reflections.then_some(frame.size);
        let settings = &frame.config.reflections;
        // From the second bounce on, hits are needed that the next ones start from.
        let further = size.filter(|_| settings.bounces > 1);
        let lobes = further.filter(|_| buffers.has_layers()).unwrap_or(UNUSED);
        for (hits, size) in self.hits.iter_mut().zip([size, further]) {
            let size = size.unwrap_or(UNUSED);
            if (hits.size(), hits.lobes.size()) != (size, lobes) {
                *hits = fitted(gpu, size, || Hits::new(gpu, size, lobes))?;
            }
        }
        let made_for = size.map_or(NOTHING, |size| ListKey {
            size,
            batch: recording.budget.occlusion_pixels(1).min(size[0] * size[1]),
            bounces: settings.bounces,
            blur: if settings.filter { BLUR } else { 0.0 },
            listing: settings.list,
            order: settings.sort,
            bins: buffers.materials.hits.bin_count(),
        });
        if self.list.made_for() != made_for {
            self.list = fitted(gpu, frame.size, || ReflectionList::new(gpu, made_for))??;
        }
        Ok(())
    }

    /// The lists of the bounce that was traced last; the tiles that send rays are those of its first bounce.
    pub fn list(&self) -> &ReflectionList {
        &self.list
    }

    /// Traces what `traced` reflects, bounce after bounce. `shadows` finds which lights the hits see.
    /// [`Bounces::fit`] comes first.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        shadows: &mut Shadows,
        traced: Traced<'_>,
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
            // The look of surfaces and their light depend on which bounce has hit them.
            let at_source = frame.at_bounce(start, number);
            let (mean, sent, air) = (traced.mean, traced.sent, traced.air);
            self.classify.record(recording, &at_source, bounce, mean)?;
            self.rays
                .record(recording, world.seen_by(&at_source), bounce, sent, air)?;
            // What is told are the rays of what the G-buffer shows.
            let counts = number == 0 && start == ReflectionStart::Solid;
            if counts {
                self.sent.record(&mut recording.scope, &list.arguments);
            }
            self.sort.record(recording, world, bounce)?;
            if counts {
                self.hit.record(&mut recording.scope, &list.ranges);
            }
            let at_hits = world.seen_by(&at_hits);
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

    /// Reads counts that have come back, of the first bounce of a frame that traced any.
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
