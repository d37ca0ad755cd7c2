//! Channel `lab`: traces rays through a structure of the laboratory ([`lab_rays`], the kernels of [`crate`],
//! [`lab_show`]), next to canopy's own BVH. It is a guest pass of the renderer.

pub mod lab_rays;
pub mod lab_scene;
pub mod lab_show;

use crate::{
    Kernels, RayList,
    settings::{self, LabRays, LabShow, LabTest, LabWalk},
};
use canopy_bvh::{
    Result,
    accel::{
        Query, Trace,
        layout::TRACE_BLOCK,
        trace::{Ray, RayBatch},
    },
    gpu::{Gpu, GpuImage, Recorder},
};
use canopy_render::{
    FrameStats, Renderer,
    aov::{Channel, Heat},
    frame::{life_cycle::LifeCycle, recording::Recording},
    inspect::guest::GuestPass,
    resources::GBuffer,
    settings::Settings,
    world::World,
};
use lab_rays::LabRaysPass;
use lab_scene::LabScene;
use lab_show::{LabCounts, LabShowPass};
use std::sync::Arc;

pub use crate::kernels::LABEL;

/// Leaf cutoff of canopy's own traversal. A subtree with at most this many triangles counts as a leaf.
const LEAF_CUTOFF: u32 = 4;

/// Passes of the channel. They use no memory until the channel is requested.
#[derive(Debug)]
pub struct LabView {
    /// Settings of the next frame.
    settings: settings::Lab,
    rays: LabRaysPass,
    show: LabShowPass,
    /// Traversal of the same rays through canopy's own BVHs.
    own: Trace,
    /// Kernels that have been used so far.
    kernels: Vec<(LabTest, LabWalk, Kernels)>,
    scene: Option<Arc<LabScene>>,
    list: Option<RayList>,
    own_hits: Option<RayBatch>,
}

/// Returns the number of rays of a picture, one for each pixel of the tiles that cover it.
fn ray_count([width, height]: [u32; 2]) -> u32 {
    TRACE_BLOCK * width.div_ceil(8) * height.div_ceil(8)
}

/// Returns the query type of these rays.
fn query(rays: LabRays) -> Query {
    match rays {
        LabRays::Primary => Query::ClosestHit,
        LabRays::Shadow => Query::AnyHit,
    }
}

/// Fails if the device cannot hold the rays of a picture of `size` pixels.
///
/// # Errors
///
/// [`Error::Limit`](canopy_bvh::Error::Limit).
pub fn check_size(gpu: &Gpu, size: [u32; 2]) -> Result<()> {
    let bytes = u64::from(ray_count(size)) * size_of::<Ray>() as u64;
    gpu.check_binding("the rays of the channel lab", bytes)
}

impl LabView {
    /// Returns the guest of `renderer`, which is created if the renderer has no `LabView`.
    pub fn within<'a>(renderer: &'a mut Renderer, gpu: &Gpu, settings: &settings::Lab) -> &'a mut Self {
        let view = renderer.guest_or(|layouts| Self {
            settings: settings.clone(),
            rays: LabRaysPass::new(gpu, layouts),
            show: LabShowPass::new(gpu),
            own: Trace::new(gpu),
            kernels: Vec::new(),
            scene: None,
            list: None,
            own_hits: None,
        });
        view.settings.clone_from(settings);
        view
    }

    /// Returns the guest of `renderer`, if it is a `LabView`.
    pub fn of(renderer: &Renderer) -> Option<&Self> {
        renderer.guest()
    }

    /// Sets the settings for the next frame if the guest of `renderer` is a `LabView`.
    pub fn follow(renderer: &mut Renderer, settings: &settings::Lab) {
        if let Some(view) = renderer.guest_mut::<Self>() {
            view.settings.clone_from(settings);
        }
    }

    /// Sets the structure to trace through.
    pub fn set(&mut self, scene: Option<Arc<LabScene>>) {
        self.scene = scene;
    }

    /// Returns the structure that rays are traced through.
    pub fn scene(&self) -> Option<&Arc<LabScene>> {
        self.scene.as_ref()
    }

    /// Returns the rays of the last frame and their hits.
    pub fn list(&self) -> Option<&RayList> {
        self.list.as_ref()
    }

    /// Returns the counts of the last frame that has been read back.
    pub fn counts(&self) -> Option<LabCounts> {
        self.show.counts()
    }

    /// Returns the index of the kernels of a test and a traversal.
    fn kernels(&mut self, gpu: &Gpu, test: LabTest, walk: LabWalk) -> usize {
        let known = |(t, w, _): &(LabTest, LabWalk, Kernels)| (*t, *w) == (test, walk);
        self.kernels.iter().position(known).unwrap_or_else(|| {
            self.kernels.push((test, walk, Kernels::new(gpu, test, walk)));
            self.kernels.len() - 1
        })
    }
}

impl GuestPass for LabView {
    fn record(&mut self, recording: &mut Recording<'_>, world: World<'_>, gbuffer: &GBuffer) -> Result<()> {
        let World { frame, trees, .. } = world;
        let is_wanted = frame.needs_channel(Channel::Lab);
        let gpu = recording.gpu;
        let scene = self.scene.clone();
        let scene = scene.filter(|_| is_wanted && check_size(gpu, frame.size).is_ok());
        let Some(scene) = scene else {
            (self.list, self.own_hits) = (None, None);
            self.show.clear(gpu);
            return Ok(());
        };
        let settings = self.settings.clone();
        let count = ray_count(frame.size);
        if self.list.as_ref().is_none_or(|list| list.len() != count) {
            (self.list, self.own_hits) = (None, None);
            self.list = Some(RayList::with_room(gpu, count)?);
        }
        let at = self.kernels(gpu, scene.build.test, scene.build.walk);
        let Some(list) = &self.list else {
            return Ok(());
        };
        self.rays
            .record(recording, world, gbuffer, (settings.rays, &list.rays))?;
        let is_checked = settings.show == LabShow::Difference;
        if !is_checked {
            self.own_hits = None;
        } else if self.own_hits.is_none() {
            self.own_hits = Some(RayBatch::from_buffer(gpu, list.rays.clone(), count)?);
        }
        let (kernels, query) = (&self.kernels[at].2, query(settings.rays));
        // Each part traces its rays and then counts their visits, so it has half the budget of rays.
        let most = match recording.budget.in_parts {
            true => recording.budget.batch_rays / 2,
            false => count,
        };
        for first in (0..count).step_by(most as usize) {
            let part = first..count.min(first.saturating_add(most));
            list.begin(recording.scope.encoder());
            let how = (query, settings.threads);
            let (scope, uploaded) = (&mut recording.scope, &scene.uploaded);
            kernels.record_part(gpu, scope, uploaded, list, how, part.clone())?;
            kernels.record_count(gpu, scope, uploaded, list, query, part.clone())?;
            recording.split(LABEL);
            if let Some(batch) = &self.own_hits {
                let how = (query, LEAF_CUTOFF);
                let scope = &mut recording.scope;
                self.own.record_part(gpu, scope, trees.tree, batch, how, part)?;
                recording.split(LABEL);
            }
        }
        let own = self.own_hits.as_ref().map(|batch| &batch.hits);
        self.show
            .record(recording, (frame, &settings), &scene, list, own)?;
        Ok(())
    }

    fn output(&self) -> Option<&GpuImage> {
        self.list.is_some().then(|| self.show.output())
    }

    fn heat(&self) -> Option<Heat> {
        heat(&self.settings)
    }
}

impl LifeCycle for LabView {
    fn report(&mut self, _stats: &mut FrameStats) {
        self.show.collect();
    }
}

/// Returns the heat map of `channel`, for the laboratory or the renderer, or `None` if it has other colours.
pub fn heat_of(channel: Channel, frame: &Settings, lab: &settings::Lab) -> Option<Heat> {
    match channel {
        Channel::Lab => heat(lab),
        channel => channel.heat(frame),
    }
}

fn heat(settings: &settings::Lab) -> Option<Heat> {
    // The first component of a divergence image is a percentage.
    let (weights, range) = match settings.show {
        LabShow::Divergence => ([1.0, 0.0], 100.0),
        show => (show.weights()?, settings.range),
    };
    Some(Heat { weights, range })
}

impl LabCounts {
    /// Returns millions of rays per second in the frame of `stats`. `None` on a software adapter, because
    /// llvmpipe ends a pass before its last dispatch has completed.
    pub fn mrays(&self, stats: &FrameStats, has_gpu: bool) -> Option<f64> {
        let ms = stats.pass_ms(LABEL).filter(|ms| *ms > 0.0 && has_gpu);
        Some(self.rays as f64 / ms? / 1e3)
    }
}
