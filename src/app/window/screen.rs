//! Surface of the window, and the composed image: the scene with the panel over it.

use crate::{Error, Result, gpu::Gpu, scene::error::guarded};
use egui_wgpu::ScreenDescriptor;
use std::sync::Arc;
use wgpu::CurrentSurfaceTexture as Acquired;
use winit::window::Window;

/// Format of all render targets. The tone mapper and egui write sRGB-encoded values.
pub(in crate::app) const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// A surface and the textures that are composed for it.
pub(in crate::app) struct Screen {
    instance: wgpu::Instance,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    surface_config: wgpu::SurfaceConfiguration,
    view_format: wgpu::TextureFormat,
    blitter: wgpu::util::TextureBlitter,
    egui: egui_wgpu::Renderer,
    /// Last finished picture of the scene, at the size of the viewport. `None` before the first.
    picture: Option<wgpu::Texture>,
    /// Render target of the next picture.
    next_picture: Option<wgpu::Texture>,
    /// The picture resized to the new viewport, until there is a picture of that size.
    stretched: Option<wgpu::Texture>,
    stretch: wgpu::util::TextureBlitter,
    /// Composed image of the whole window.
    composite: wgpu::Texture,
    /// True if the surface has to be configured again before its next image.
    suboptimal: bool,
}

/// A rectangle of the window in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::app) struct Area {
    /// Upper left corner.
    pub(in crate::app) origin: [u32; 2],
    /// Width and height.
    pub(in crate::app) size: [u32; 2],
}

/// Output of egui. egui panics if its textures are dropped without having been cleared.
pub(in crate::app) struct Paint {
    /// Triangles.
    pub(in crate::app) triangles: Vec<egui::ClippedPrimitive>,
    /// Changes of textures.
    pub(in crate::app) textures: egui::TexturesDelta,
    /// Physical pixels per logical pixel.
    pub(in crate::app) pixels_per_point: f32,
}

impl Drop for Paint {
    fn drop(&mut self) {
        self.textures.clear();
    }
}

impl Screen {
    /// Creates a surface on `window`, and opens the GPU that draws to it.
    pub(in crate::app) fn new(
        instance: wgpu::Instance,
        window: Arc<Window>,
        options: &crate::config::Config,
    ) -> Result<(Self, Gpu)> {
        let surface = create_surface(&instance, &window)?;
        let gpu = crate::device::as_set(
            Gpu::for_surface(&instance, crate::device::options(&options.gpu), &surface)?,
            &options.gpu,
        );
        let adapter = gpu.adapter.as_ref();
        let capabilities = adapter.map(|adapter| surface.get_capabilities(adapter));
        let capabilities = capabilities.unwrap_or_default();
        let formats = &capabilities.formats;
        let plain = formats.iter().find(|format| {
            let plain = [FORMAT, wgpu::TextureFormat::Bgra8Unorm];
            plain.contains(format)
        });
        let no_format = || Error::Gpu(format!("{} cannot draw to this window", gpu.info.name));
        let format = *plain.or(formats.first()).ok_or_else(no_format)?;
        // The values are already sRGB-encoded, so an sRGB format needs a view without sRGB.
        let view_format = format.remove_srgb_suffix();
        let surface_config = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: 1,
            height: 1,
            present_mode: if options.window.vsync {
                wgpu::PresentMode::AutoVsync
            } else {
                wgpu::PresentMode::AutoNoVsync
            },
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            view_formats: if view_format == format {
                Vec::new()
            } else {
                vec![view_format]
            },
        };
        let screen = Self {
            blitter: wgpu::util::TextureBlitter::new(&gpu.device, view_format),
            egui: egui_wgpu::Renderer::new(&gpu.device, FORMAT, egui_wgpu::RendererOptions::default()),
            picture: None,
            next_picture: None,
            stretched: None,
            stretch: wgpu::util::TextureBlitterBuilder::new(&gpu.device, FORMAT)
                .sample_type(wgpu::FilterMode::Linear)
                .build(),
            composite: texture(&gpu, "composite", [1, 1]),
            instance,
            window,
            surface,
            surface_config,
            view_format,
            suboptimal: false,
        };
        Ok((screen, gpu))
    }

    /// Re-creates everything on a new device after the last one was lost.
    pub(in crate::app) fn renew(&mut self, options: &crate::config::Config) -> Result<Gpu> {
        let (screen, gpu) = Self::new(self.instance.clone(), self.window.clone(), options)?;
        *self = screen;
        Ok(gpu)
    }

    /// Resizes the composed image and the surface to the window, up to the maximum texture size. Returns the
    /// size in pixels, or `None` while the window has no area, for example while minimised.
    pub(in crate::app) fn follow_size(&mut self, gpu: &Gpu) -> Result<Option<[u32; 2]>> {
        let size = self.window.inner_size();
        let most = gpu.limits.max_texture_dimension_2d;
        let size = [size.width.min(most), size.height.min(most)];
        if size.contains(&0) {
            return Ok(None);
        }
        if [self.composite.width(), self.composite.height()] != size {
            self.composite = gpu.catch(|| texture(gpu, "composite", size))?;
            [self.surface_config.width, self.surface_config.height] = size;
            self.configure(gpu)?;
        }
        Ok(Some(size))
    }

    /// Configures the surface, also after a change by the system.
    ///
    /// wgpu first waits until the queue is idle. That fails while another thread keeps the queue busy, for
    /// example during the upload of a scene, so this tries again for several seconds.
    pub(in crate::app) fn configure(&self, gpu: &Gpu) -> Result<()> {
        const TRIES: u32 = 200;
        for _ in 1..TRIES {
            match gpu.catch(|| self.surface.configure(&gpu.device, &self.surface_config)) {
                Err(canopy_bvh::Error::Gpu(busy)) if busy.contains("to come idle") => {
                    std::thread::sleep(std::time::Duration::from_millis(25));
                }
                outcome => return Ok(outcome?),
            }
        }
        Ok(gpu.catch(|| self.surface.configure(&gpu.device, &self.surface_config))?)
    }

    /// Sets whether presenting waits for the display.
    pub(in crate::app) fn set_vsync(&mut self, gpu: &Gpu, vsync: bool) -> Result<()> {
        let mode = if vsync {
            wgpu::PresentMode::AutoVsync
        } else {
            wgpu::PresentMode::AutoNoVsync
        };
        if self.surface_config.present_mode == mode {
            return Ok(());
        }
        self.surface_config.present_mode = mode;
        self.configure(gpu)
    }

    /// Returns the render target of the next picture in this size. The last picture is still shown.
    pub(in crate::app) fn next_picture(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<wgpu::TextureView> {
        let texture = sized(gpu, "picture", &mut self.next_picture, size)?;
        Ok(view(texture, "picture"))
    }

    /// Returns the shown picture of the scene.
    pub(in crate::app) fn picture(&self) -> Option<&wgpu::Texture> {
        self.picture.as_ref()
    }

    /// Shows the next picture, which is finished.
    pub(in crate::app) fn show_next_picture(&mut self) {
        std::mem::swap(&mut self.picture, &mut self.next_picture);
    }

    /// Records the composition of the window. It consists of the last picture of the scene in `area`, the
    /// output of `overlay`, and `paint` over everything.
    pub(in crate::app) fn compose(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        area: Area,
        background: wgpu::Color,
        paint: &Paint,
        overlay: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::TextureView) -> Result<()>,
    ) -> Result<()> {
        for (id, deltas) in &paint.textures.set {
            for delta in deltas {
                self.egui.update_texture(&gpu.device, &gpu.queue, *id, delta);
            }
        }
        let descriptor = ScreenDescriptor {
            size_in_pixels: [self.composite.width(), self.composite.height()],
            pixels_per_point: paint.pixels_per_point,
        };
        // Only paint callbacks return command buffers, and canopy's callbacks record none.
        let (device, queue) = (&gpu.device, &gpu.queue);
        // egui panics if there is no memory for its triangles, for example on a device that was just lost.
        let updated = guarded(|| {
            self.egui
                .update_buffers(device, queue, encoder, &paint.triangles, &descriptor)
        });
        if updated.is_none() {
            return Err(Error::Gpu("the panel cannot be drawn".into()));
        }
        let view = view(&self.composite, "window");
        drop(begin(
            encoder,
            "background",
            &view,
            wgpu::LoadOp::Clear(background),
        ));
        self.copy_picture(gpu, encoder, area)?;
        overlay(encoder, &view)?;
        let mut pass = begin(encoder, "egui", &view, wgpu::LoadOp::Load).forget_lifetime();
        self.egui.render(&mut pass, &paint.triangles, &descriptor);
        drop(pass);
        for id in &paint.textures.free {
            self.egui.free_texture(id);
        }
        Ok(())
    }

    /// Copies the last picture into `area`. A picture of another size is stretched until the next one is
    /// finished.
    fn copy_picture(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, area: Area) -> Result<()> {
        let Some(picture) = &self.picture else {
            return Ok(());
        };
        if area.size.contains(&0) {
            return Ok(());
        }
        let source = if [picture.width(), picture.height()] == area.size {
            self.stretched = None;
            picture
        } else {
            let stretched = sized(gpu, "stretched", &mut self.stretched, area.size)?;
            let views = [picture, stretched].map(|texture| view(texture, "stretched"));
            self.stretch.copy(&gpu.device, encoder, &views[0], &views[1]);
            stretched
        };
        let mut target = self.composite.as_image_copy();
        [target.origin.x, target.origin.y] = area.origin;
        let fits = |axis: usize, whole: u32| area.size[axis].min(whole.saturating_sub(area.origin[axis]));
        let extent = wgpu::Extent3d {
            width: fits(0, self.composite.width()),
            height: fits(1, self.composite.height()),
            depth_or_array_layers: 1,
        };
        encoder.copy_texture_to_texture(source.as_image_copy(), target, extent);
        Ok(())
    }

    /// Acquires the surface's next image. `None` if none is available now.
    pub(in crate::app) fn acquire(&mut self, gpu: &Gpu) -> Result<Option<wgpu::SurfaceTexture>> {
        if std::mem::take(&mut self.suboptimal) {
            self.configure(gpu)?;
        }
        match self.surface.get_current_texture() {
            Acquired::Success(image) => Ok(Some(image)),
            Acquired::Suboptimal(image) => {
                // The image can still be shown. The surface is configured again afterwards.
                self.suboptimal = true;
                Ok(Some(image))
            }
            Acquired::Outdated => {
                self.configure(gpu)?;
                Ok(None)
            }
            Acquired::Lost => {
                self.surface = create_surface(&self.instance, &self.window)?;
                self.configure(gpu)?;
                Ok(None)
            }
            Acquired::Timeout | Acquired::Occluded | Acquired::Validation => Ok(None),
        }
    }

    /// Records the copy of the composed image to a surface image.
    pub(in crate::app) fn copy_to(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        image: &wgpu::SurfaceTexture,
    ) {
        let source = view(&self.composite, "surface");
        let target = image.texture.create_view(&wgpu::TextureViewDescriptor {
            format: Some(self.view_format),
            ..Default::default()
        });
        self.blitter.copy(&gpu.device, encoder, &source, &target);
    }

    /// Reads back the last picture of the scene as opaque pixels, with its width and height. `None` before
    /// the first picture.
    pub(in crate::app) fn read_picture(&self, gpu: &Gpu) -> Result<Option<(u32, u32, Vec<u8>)>> {
        let Some(picture) = &self.picture else {
            return Ok(None);
        };
        let mut pixels = gpu.read_texture(picture)?;
        pixels
            .iter_mut()
            .skip(3)
            .step_by(4)
            .for_each(|alpha| *alpha = 255);
        Ok(Some((picture.width(), picture.height(), pixels)))
    }

    /// Reads back the composed image. Returns its width, its height, and RGBA bytes.
    pub(in crate::app) fn read(&self, gpu: &Gpu) -> Result<(u32, u32, Vec<u8>)> {
        let pixels = gpu.read_texture(&self.composite)?;
        Ok((self.composite.width(), self.composite.height(), pixels))
    }
}

fn create_surface(instance: &wgpu::Instance, window: &Arc<Window>) -> Result<wgpu::Surface<'static>> {
    instance
        .create_surface(window.clone())
        .map_err(|e| Error::Gpu(format!("the window cannot be drawn to: {e}")))
}

fn begin<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    label: &str,
    view: &wgpu::TextureView,
    load: wgpu::LoadOp<wgpu::Color>,
) -> wgpu::RenderPass<'e> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load,
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    })
}

/// Returns the texture in `slot`, re-created if its size differs.
fn sized<'t>(
    gpu: &Gpu,
    label: &str,
    slot: &'t mut Option<wgpu::Texture>,
    size: [u32; 2],
) -> Result<&'t wgpu::Texture> {
    let fits = |texture: &wgpu::Texture| [texture.width(), texture.height()] == size;
    let texture = match slot.take().filter(fits) {
        Some(texture) => texture,
        None => gpu.catch(|| texture(gpu, label, size))?,
    };
    Ok(slot.insert(texture))
}

fn view(texture: &wgpu::Texture, label: &str) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        label: Some(label),
        ..Default::default()
    })
}

fn texture(gpu: &Gpu, label: &str, size: [u32; 2]) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width: size[0],
            height: size[1],
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT
            | wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::COPY_SRC
            | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    })
}
