//! Channels: what the picture shows in place of light, and what is measured for that.

pub mod channel;
pub mod compared_tree;
pub mod deviation;
pub mod intersections;
pub mod lab;
pub mod lab_rays;
pub mod lab_scene;
pub mod lab_show;
pub mod volume_orders;

use super::{
    bindings::Layouts,
    edges::{Incident, Radiance, Seen},
    frame::{life_cycle::LifeCycle, recording::Recording},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{Gpu, GpuImage},
};
use channel::{ChannelPass, ChannelSource, Measured};
use deviation::Deviation;
use intersections::Intersections;
use lab::Lab;

/// The passes.
#[derive(Debug)]
pub struct Inspect {
    pub(super) deviation: Deviation,
    pub(super) intersections: Intersections,
    pub(super) lab: Lab,
    pub(super) channel: ChannelPass,
}

impl Inspect {
    /// Ready to be compiled.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        Ok(Self {
            deviation: Deviation::new(gpu),
            intersections: Intersections::new(gpu)?,
            lab: Lab::new(gpu, layouts),
            channel: ChannelPass::new(gpu, layouts),
        })
    }

    /// Measures what the frame wants to be known, and writes the channel that it shows. Returns that, or the last one where
    /// the frame is lit. `volumes` is what all volumes do.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: Seen<'_>,
        (light, radiance): (Incident<'_>, &Radiance),
        volumes: Option<&GpuImage>,
    ) -> Result<&GpuImage> {
        let World {
            frame, geometry, ..
        } = world;
        let gbuffer = seen.gbuffer;
        let measured = Measured {
            deviation: self.deviation.record(recording, frame, gbuffer)?,
            through: self.intersections.record(recording, world)?,
            lab: self.lab.record(recording, world, gbuffer)?,
        };
        if !frame.is_lit() {
            let source = ChannelSource {
                group: &frame.group,
                buffers: geometry.buffers,
                gbuffer,
                light,
                radiance,
                motion: seen.motion,
                measured,
                volumes,
            };
            self.channel.record(recording, frame.channel, source)?;
        }
        Ok(self.channel.output())
    }

    /// The pass that writes channels, and what was measured of the surfaces of the last frame.
    pub(super) fn channel_and_measured(&mut self) -> (&mut ChannelPass, Measured<'_>) {
        let measured = Measured {
            deviation: self.deviation.output(),
            through: self.intersections.output(),
            lab: self.lab.output(),
        };
        (&mut self.channel, measured)
    }
}

impl LifeCycle for Inspect {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.intersections, &mut self.lab]
    }
}
