//! Channels that the picture shows instead of lit surfaces, and the measurements for them.

pub mod channel;
pub mod compared_tree;
pub mod deviation;
pub mod guest;
pub mod intersections;

use super::{
    aov::{Channel, Heat},
    bindings::Layouts,
    frame::{life_cycle::LifeCycle, recording::Recording},
    resources::{Displayed, Incident, Radiance, VisibleSurfaces},
    world::World,
};
use crate::settings::Settings;
use canopy_bvh::{
    Result,
    gpu::{Gpu, GpuImage},
};
use channel::{ChannelPass, ChannelSource, SurfaceMeasurements};
use deviation::Deviation;
use guest::GuestPass;
use intersections::Intersections;
use wgpu::{TextureFormat, TextureUsages};

/// Passes of all channels.
#[derive(Debug)]
pub struct Inspect {
    pub(super) deviation: Deviation,
    pub(super) intersections: Intersections,
    /// Pass for the channel `lab`.
    pub(super) guest: Option<Box<dyn GuestPass>>,
    /// Placeholder for the guest's image.
    nothing: GpuImage,
    pub(super) channel: ChannelPass,
}

impl Inspect {
    /// Creates the passes without compiling their pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        Ok(Self {
            deviation: Deviation::new(gpu),
            intersections: Intersections::new(gpu)?,
            guest: None,
            nothing: GpuImage::new(
                gpu,
                "inspect.nothing",
                [1, 1],
                TextureFormat::Rgba32Float,
                TextureUsages::TEXTURE_BINDING,
            ),
            channel: ChannelPass::new(gpu, layouts),
        })
    }

    /// Measures the quantities that the frame needs and writes the channel that it shows. Returns that
    /// channel, or the previous one if the frame is lit. `volumes` is the total of all volumes.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: VisibleSurfaces<'_>,
        (light, radiance): (Incident<'_>, &Radiance),
        volumes: Option<&GpuImage>,
    ) -> Result<Displayed<'_>> {
        let World { frame, geometry, .. } = world;
        let gbuffer = seen.gbuffer;
        self.deviation.record(recording, frame, gbuffer)?;
        self.intersections.record(recording, world)?;
        if let Some(guest) = &mut self.guest {
            guest.record(recording, world, gbuffer)?;
        }
        if !frame.is_lit() {
            let (channel, measured) = self.channel_and_measured();
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
            channel.record(recording, frame.channel, source)?;
        }
        Ok(Displayed {
            image: self.channel.output(),
            heat: self.heat(frame.channel, &frame.config),
        })
    }

    /// Returns the image of the guest in the last frame, if it has drawn one.
    pub(super) fn guest_image(&self) -> Option<&GpuImage> {
        self.guest.as_ref()?.output()
    }

    /// Returns the heat map of `channel`, or `None` if it has other colours.
    fn heat(&self, channel: Channel, config: &Settings) -> Option<Heat> {
        match channel {
            Channel::Lab => self.guest.as_ref()?.heat(),
            channel => channel.heat(config),
        }
    }

    /// Returns the pass that writes channels, and the measurements of the last frame's surfaces.
    pub(super) fn channel_and_measured(&mut self) -> (&mut ChannelPass, SurfaceMeasurements<'_>) {
        let guest = self.guest.as_ref();
        let measured = SurfaceMeasurements {
            deviation: self.deviation.output(),
            intersecting: self.intersections.output(),
            guest: guest.and_then(|guest| guest.output()).unwrap_or(&self.nothing),
        };
        (&mut self.channel, measured)
    }
}

impl LifeCycle for Inspect {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        let mut parts: Vec<&mut dyn LifeCycle> = vec![&mut self.intersections];
        if let Some(guest) = &mut self.guest {
            parts.push(guest.as_mut());
        }
        parts
    }
}
