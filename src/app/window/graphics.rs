//! Resources of the GPU device, and their re-creation after the device is lost.

use crate::{
    Result,
    app::{schedule::in_flight::PartTimes, window::screen::Screen},
    config::Config,
    gpu::Gpu,
    render::{Renderer, UploadedScene},
    scene::{Scene, environment::EnvironmentImage},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use winit::window::Window;

/// Maximum number of device losses in quick succession before canopy gives up.
const MAX_LOSSES: u32 = 3;

/// Lifetime of a device that resets the count of losses.
const LASTING: Duration = Duration::from_secs(30);

/// The device and its resources.
pub(in crate::app) struct Graphics {
    /// Surface of the window, and the composed image.
    pub(in crate::app) screen: Screen,
    /// The device.
    pub(in crate::app) gpu: Arc<Gpu>,
    /// Renderer of the scene.
    pub(in crate::app) renderer: Renderer,
    /// Buffers of the shown scene.
    pub(in crate::app) uploaded: Option<UploadedScene>,
    /// Measured times of the parts of frames.
    pub(in crate::app) part_times: PartTimes,
    losses: Losses,
}

impl Graphics {
    /// Opens a device that draws to `window`.
    pub(in crate::app) fn new(
        instance: wgpu::Instance,
        window: Arc<Window>,
        config: &Config,
    ) -> Result<Self> {
        let (screen, gpu) = Screen::new(instance, window, config)?;
        Ok(Self {
            renderer: renderer(&gpu)?,
            screen,
            gpu: Arc::new(gpu),
            uploaded: None,
            part_times: PartTimes::default(),
            losses: Losses::new(Instant::now()),
        })
    }

    /// Returns the name and backend of the adapter, with a note if it is a software renderer.
    pub(in crate::app) fn adapter(&self) -> String {
        let info = &self.gpu.info;
        let software = if self.gpu.capabilities.has_gpu {
            ""
        } else {
            " — software renderer"
        };
        format!("{} ({}){software}", info.name, info.backend.to_str())
    }

    /// True if the device is lost. Waits for the queue, because wgpu reports a loss only then.
    pub(in crate::app) fn is_lost(&self) -> bool {
        self.gpu.wait().is_err() && self.gpu.lost().is_some()
    }

    /// True if so many devices were lost that another attempt is pointless.
    pub(in crate::app) fn gives_up(&self) -> bool {
        self.losses.count >= MAX_LOSSES
    }

    /// Re-creates everything on another device, and uploads `scene` and `environment` again.
    ///
    /// # Errors
    ///
    /// Any error of the new device, or the error of the lost one after too many losses.
    pub(in crate::app) fn recover(
        &mut self,
        config: &Config,
        scene: Option<&Scene>,
        environment: Option<&EnvironmentImage>,
    ) -> Result<()> {
        if !self.losses.add(Instant::now()) {
            return Ok(self.gpu.check()?);
        }
        let why = self.gpu.lost().unwrap_or_default();
        log::warn!("the GPU device was lost ({why}); canopy continues with a new one");
        let gpu = self.screen.renew(config)?;
        self.renderer = renderer(&gpu)?;
        self.renderer.set_environment(&gpu, environment)?;
        let uploader = self.renderer.uploader();
        let upload = |scene| uploader.upload(&gpu, scene, config);
        self.uploaded = scene.map(upload).transpose()?;
        self.gpu = Arc::new(gpu);
        Ok(())
    }

    /// For tests: loses the first device in the frame that `CANOPY_LOSE_DEVICE` names.
    #[cfg(debug_assertions)]
    pub(in crate::app) fn lose_on_demand(&self, frame: u64) {
        let wanted = std::env::var("CANOPY_LOSE_DEVICE").ok();
        if wanted.is_some_and(|wanted| wanted.parse() == Ok(frame)) && self.losses.count == 0 {
            self.gpu.device.destroy();
        }
    }
}

/// Creates a renderer that keeps the old environment while a new one is prepared.
fn renderer(gpu: &Gpu) -> Result<Renderer> {
    let mut renderer = Renderer::new(gpu)?;
    renderer.spreads_environment = true;
    Ok(renderer)
}

/// Device losses in quick succession.
#[derive(Debug)]
struct Losses {
    /// Time at which the current device was opened.
    opened: Instant,
    count: u32,
}

impl Losses {
    fn new(now: Instant) -> Self {
        Self {
            opened: now,
            count: 0,
        }
    }

    /// Counts the loss of the current device. Returns `false` if there were too many to open another one.
    fn add(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.opened) >= LASTING {
            self.count = 0;
        }
        if self.count >= MAX_LOSSES {
            return false;
        }
        self.opened = now;
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_losses_in_quick_succession_give_up() {
        let start = Instant::now();
        let mut losses = Losses::new(start);
        let seconds = |seconds| start + Duration::from_secs(seconds);
        assert!(losses.add(seconds(100)) && losses.add(seconds(101)));
        assert!(losses.count < MAX_LOSSES && losses.add(seconds(102)));
        assert!(losses.count >= MAX_LOSSES && !losses.add(seconds(103)));
        // The last device opened at 102 s.
        assert!(!losses.add(seconds(131)) && losses.add(seconds(132)));
        assert_eq!(losses.count, 1);
    }
}
