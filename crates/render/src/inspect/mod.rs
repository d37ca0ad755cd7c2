//! Channels: what the picture shows in place of light, and what is measured for that.

pub mod channel;
pub mod compared_tree;
pub mod deviation;
pub mod guest;
pub mod intersections;

use super::{
    aov::{Channel, Heat},
    bindings::Layouts,
    edges::{Incident, Radiance, Seen, Shown},
    frame::{life_cycle::LifeCycle, recording::Recording},
    world::World,
};
use crate::settings::Settings;
use canopy_bvh::{
    Result,
    gpu::{Gpu, GpuImage},
};
use channel::{ChannelPass, ChannelSource, Measured};
use deviation::Deviation;
use guest::GuestPass;
use intersections::Intersections;
use wgpu::{TextureFormat, TextureUsages};

/// The passes.
#[derive(Debug)]
pub struct Inspect {
    pub(super) deviation: Deviation,
    pub(super) intersections: Intersections,
    /// Draws the channel `lab`.
    pub(super) guest: Option<Box<dyn GuestPass>>,
    /// Stands for the guest's image where there is none.
    nothing: GpuImage,
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

    /// Measures what the frame wants to be known, and writes the channel that it shows. Returns that, or the last one where
    /// the frame is lit. `volumes` is what all volumes do.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: Seen<'_>,
        (light, radiance): (Incident<'_>, &Radiance),
        volumes: Option<&GpuImage>,
    ) -> Result<Shown<'_>> {
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
        Ok(Shown {
            image: self.channel.output(),
            heat: self.heat(frame.channel, &frame.config),
        })
    }

    /// Image of the guest in the last frame, where it has drawn one.
    pub(super) fn guest_image(&self) -> Option<&GpuImage> {
        self.guest.as_ref()?.output()
    }

    /// Colours of magnitudes in which `channel` is shown; `None` where it has others.
    fn heat(&self, channel: Channel, config: &Settings) -> Option<Heat> {
        match channel {
            Channel::Lab => self.guest.as_ref()?.heat(),
            channel => channel.heat(config),
        }
    }

    /// The pass that writes channels, and what was measured of the surfaces of the last frame.
    pub(super) fn channel_and_measured(&mut self) -> (&mut ChannelPass, Measured<'_>) {
        let guest = self.guest.as_ref();
        let measured = Measured {
            deviation: self.deviation.output(),
            through: self.intersections.output(),
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
