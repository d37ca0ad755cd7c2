//! Shadow visibility of each pixel, by traced rays (compacted into a list or not) or by shadow maps, as the
//! settings ask.

pub mod light_choice;
pub mod shadow_classify;
pub(super) mod shadow_edges;
pub mod shadow_filter;
pub mod shadow_map;
pub mod shadow_motion;
pub mod shadow_rays;
pub mod shadow_shafts;

use super::{
    bindings::Layouts,
    frame::{Frame, FrameSetup, life_cycle::LifeCycle, ray_list::RayList, recording::Recording},
    layout::SHADOW_HEADER,
    light::lights,
    resources::{GBuffer, ShadowJob, ShadowMaps, Visibility, VisibilityPlan, VisibleSurfaces, try_create},
    stats::FrameStats,
    world::World,
};
use crate::settings::{Settings, ShadowMode};
use canopy_bvh::{
    Result,
    gpu::{Gpu, PipelineSet, readback::Counters},
};
use canopy_scene::Scene;
use light_choice::LightChoice;
use shadow_classify::ShadowClassify;
use shadow_edges::ShadowEdges;
use shadow_filter::ShadowFilter;
use shadow_map::ShadowMap;
use shadow_motion::ShadowMotion;
use shadow_rays::ShadowRays;
use shadow_shafts::ShadowShafts;

/// Shadow passes and the resources that they share.
#[derive(Debug)]
pub struct Shadows {
    map: ShadowMap,
    choice: LightChoice,
    classify: ShadowClassify,
    rays: ShadowRays,
    motion: ShadowMotion,
    edges: ShadowEdges,
    shafts: ShadowShafts,
    filter: ShadowFilter,
    picture: Targets,
    /// Ray list and visibility for the hits of reflection rays.
    hits: Targets,
    /// Readback of the number of shadow rays and of the tiles that cast any.
    counters: Counters<{ SHADOW_HEADER as usize }>,
}

/// Ray list and visibility buffers for one set of pixels.
#[derive(Debug)]
struct Targets {
    list: RayList,
    /// Size, slots and maximum number of entries that `list` was made for.
    list_is_for: ([u32; 2], u32, u32),
    output: Visibility,
}

impl Targets {
    fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self {
            list: RayList::new(gpu, [1, 1], 0, 1),
            list_is_for: ([1, 1], 0, 1),
            output: Visibility::new(gpu, VisibilityPlan::untraced([1, 1]))?,
        })
    }

    /// Reallocates for `plan`. The list has room for up to `most` entries at once if rays are `listed`.
    fn fit(&mut self, gpu: &Gpu, plan: VisibilityPlan, listed: bool, most: u32) -> Result<()> {
        if self.output.plan() != plan {
            self.output = Visibility::new(gpu, plan)?;
        }
        let slots = plan.traced_slots.filter(|_| listed).unwrap_or(0);
        if self.list_is_for != (plan.size, slots, most) {
            let size = plan.size;
            self.list = try_create(gpu, size, || RayList::new(gpu, size, slots, most))?;
            self.list_is_for = (size, slots, most);
        }
        Ok(())
    }
}

impl Shadows {
    /// Creates the passes without compiling their pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        Ok(Self {
            map: ShadowMap::new(gpu, layouts),
            choice: LightChoice::new(gpu, layouts),
            classify: ShadowClassify::new(gpu, layouts),
            rays: ShadowRays::new(gpu, layouts),
            motion: ShadowMotion::new(gpu, layouts)?,
            edges: ShadowEdges::new(gpu),
            shafts: ShadowShafts::new(gpu, layouts),
            filter: ShadowFilter::new(gpu, layouts),
            picture: Targets::new(gpu)?,
            hits: Targets::new(gpu)?,
            counters: Counters::new(gpu, "shadow_rays.counters"),
        })
    }

    /// Assigns the shadow views of a frame's lights if the frame draws shadow maps. Call it before the
    /// uniforms are written, because they contain the views.
    pub fn fit_maps(&mut self, gpu: &Gpu, frame: &mut FrameSetup<'_>) -> Result<ShadowMaps<'_>> {
        match frame.config.shadows.mode {
            ShadowMode::Map => self.map.fit(gpu, frame)?,
            ShadowMode::Off | ShadowMode::Rays => self.map.clear(),
        }
        Ok(self.map.maps())
    }

    /// Traces and filters shadow rays, or draws the shadow maps that shading samples.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: VisibleSurfaces<'_>,
    ) -> Result<&Visibility> {
        let World { frame, .. } = world;
        let VisibleSurfaces { gbuffer, history, .. } = seen;
        let (gpu, shadows) = (recording.gpu, &frame.config.shadows);
        let lights = frame.light_plan;
        let traces = shadows.mode == ShadowMode::Rays;
        let plan = VisibilityPlan {
            size: frame.size,
            traced_slots: traces.then_some(lights.slots),
            untraced_slots: (frame.maps_volumes() || lights.chooses()).then_some(lights.slots),
            chooses: lights.chooses(),
            counts_cost: traces && frame.counts_cost,
            filters: frame.filters_shadows,
            // Blocker layers, once allocated, are kept as long as the history, so that motion that comes and
            // goes allocates no images. They double the number of array layers.
            keeps_blockers: frame.filters_shadows
                && 2 * lights.slots.next_multiple_of(2) <= gpu.limits.max_texture_array_layers
                && (history.moves || (history.index > 0 && self.picture.output.has_blockers())),
        };
        let most = (recording.budget.batch_rays / lights.rays).max(1);
        self.picture.fit(gpu, plan, shadows.compact_rays, most)?;
        // Samples of an accumulated picture have no history.
        let averages = frame.filters_shadows && !frame.accumulates();
        let settles = averages && shadows.retrace > 1;
        let finds_edges = settles || (averages && lights.edge_rays > lights.rays);
        let slots = finds_edges.then_some(lights.slots);
        self.edges.fit(gpu, frame.size, slots)?;
        if frame.maps_volumes() {
            let words = &self.picture.output.words;
            recording.scope.clear_buffer(words, 0, None);
        }
        if !traces && lights.chooses() {
            self.choice
                .record(recording, world, gbuffer, &self.picture.output)?;
        }
        match shadows.mode {
            ShadowMode::Off => {}
            ShadowMode::Map => {
                self.map.record(recording, world, shadows.blended_cast)?;
            }
            ShadowMode::Rays => {
                self.shafts.record(recording, world, history, settles)?;
                let job = ShadowJob {
                    label: shadow_rays::LABEL,
                    gbuffer,
                    visibility: &self.picture.output,
                    edges: self.edges.before(history, self.shafts.tiles(settles)),
                };
                self.trace(recording, world, job, &self.picture.list)?;
            }
        }
        let output = &self.picture.output;
        match frame.filters_shadows {
            true => {
                let tiles = self.shafts.tiles(settles);
                for pair in self.filter.pairs(gpu, frame)? {
                    let reprojected = self.motion.record(recording, world, seen, tiles, output, pair)?;
                    let edges = &self.edges;
                    self.filter
                        .record(recording, frame, history, (pair, reprojected), output, edges)?;
                }
                self.filter.commit_lights(frame);
            }
            false => self.filter.clear(),
        }
        if output.is_traced() {
            self.counters.record(&mut recording.scope, &output.words);
        }
        Ok(output)
    }

    /// Traces the lights' visibility at the hits of reflection rays, neither averaged nor filtered. Shadow
    /// maps are shared with the picture. `frame` and `gbuffer` belong to the hits.
    pub fn record_at_hits(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
    ) -> Result<&Visibility> {
        let World { frame, .. } = world;
        let (shadows, lights) = (&frame.config.shadows, frame.light_plan);
        let traces = shadows.mode == ShadowMode::Rays;
        let plan = VisibilityPlan {
            traced_slots: traces.then_some(lights.slots),
            untraced_slots: lights.chooses().then_some(lights.slots),
            chooses: lights.chooses(),
            ..VisibilityPlan::untraced(frame.size)
        };
        let most = (recording.budget.batch_rays / lights.rays).max(1);
        self.hits.fit(recording.gpu, plan, shadows.compact_rays, most)?;
        if traces {
            let job = ShadowJob {
                label: shadow_rays::LABEL_AT_HITS,
                gbuffer,
                visibility: &self.hits.output,
                edges: self.edges.none(self.shafts.tiles(false)),
            };
            self.trace(recording, world, job, &self.hits.list)?;
        } else if lights.chooses() {
            self.choice.record(recording, world, gbuffer, &self.hits.output)?;
        }
        Ok(&self.hits.output)
    }

    /// Frees the buffers of [`Shadows::record_at_hits`].
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn free_hits(&mut self, gpu: &Gpu) -> Result<()> {
        self.hits.fit(gpu, VisibilityPlan::untraced([1, 1]), false, 1)
    }

    /// Traces the shadow rays of `job`, through `list` if the settings compact rays.
    fn trace(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        job: ShadowJob<'_>,
        list: &RayList,
    ) -> Result<()> {
        let World { frame, .. } = world;
        let lists = frame.config.shadows.compact_rays;
        let header = 4 * u64::from(SHADOW_HEADER);
        let cleared = if lists { None } else { Some(header) };
        let visibility = job.visibility;
        recording.scope.clear_buffer(&visibility.words, 0, cleared);
        if frame.light_plan.chooses() {
            self.choice.record(recording, world, job.gbuffer, visibility)?;
        }
        if !lists {
            return self.rays.record(recording, world, job, None);
        }
        recording.scope.clear_buffer(&list.arguments, 0, None);
        for batch in &list.batches {
            self.classify.record(recording, world, job, list, batch)?;
            self.rays.record(recording, world, job, Some((list, batch)))?;
        }
        Ok(())
    }

    /// Returns the number of frames until the averages of a still picture converge, or 1 without averaging.
    pub fn frames_to_converge(scene: &Scene, config: &Settings) -> u32 {
        match config.shadows.averages() && lights::may_cast_soft_shadows(scene, config) {
            true => config.shadows.history,
            false => 1,
        }
    }

    /// Returns the visibility of the last frame.
    pub fn output(&self) -> &Visibility {
        &self.picture.output
    }

    /// Adds the pipelines that filter shadows, for any pair of lights that the scene may show.
    pub fn add_pipelines(&self, frame: &Frame<'_>, set: &mut PipelineSet) {
        if frame.filters_shadows {
            let most = lights::max_lights(frame.scene);
            self.motion.add_pipelines(most, set);
            self.filter.add_pipelines(most, frame.config.shadows.filter, set);
        }
    }
}

impl LifeCycle for Shadows {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.shafts, &mut self.filter]
    }

    fn report(&mut self, stats: &mut FrameStats) {
        self.counters.collect();
        let [rays, sending_tiles] = match self.picture.output.is_traced() {
            true => self.counters.last(),
            false => [0; 2],
        };
        (stats.rays, stats.sending_tiles) = (rays.into(), sending_tiles);
        stats.tiles = self.picture.list.tiles();
    }
}
