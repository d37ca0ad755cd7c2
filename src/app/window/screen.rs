//! The window's surface, and the image that is composed for it: the scene and the panel over it.

use crate::{Error, Result, gpu::Gpu, scene::error::guarded};
use egui_wgpu::ScreenDescriptor;
use std::sync::Arc;
use wgpu::CurrentSurfaceTexture as Acquired;
use winit::window::Window;

/// Format that everything is drawn in. Values are sRGB-encoded by the tone mapper and by egui.
pub(in crate::app) const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// A surface with the textures that are drawn to it.
pub(in crate::app) struct Screen {
    instance: wgpu::Instance,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    surface_config: wgpu::SurfaceConfiguration,
    view_format: wgpu::TextureFormat,
    blitter: wgpu::util::TextureBlitter,
    egui: egui_wgpu::Renderer,
    /// The picture of the scene that was finished last, in the size that the panel left; none before the first.
    picture: Option<wgpu::Texture>,
    /// Where the next one is drawn.
    next_picture: Option<wgpu::Texture>,
    /// The picture stretched to another size, until there is one of that size.
    stretched: Option<wgpu::Texture>,
    stretch: wgpu::util::TextureBlitter,
    /// The whole window.
    composite: wgpu::Texture,
    /// Whether the surface has to be configured again before its next image.
    suboptimal: bool,
}

/// A part of the window in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::app) struct Area {
    /// Upper left corner.
    pub(in crate::app) origin: [u32; 2],
    /// Width and height.
    pub(in crate::app) size: [u32; 2],
}

/// What egui draws. egui panics if its textures are dropped without having been cleared.
pub(in crate::app) struct Paint {
    /// Triangles.
    pub(in crate::app) triangles: Vec<egui::ClippedPrimitive>,
    /// Textures that have changed.
    pub(in crate::app) textures: egui::TexturesDelta,
    /// Pixels per logical pixel.
    pub(in crate::app) pixels_per_point: f32,
}

impl Drop for Paint {
    fn drop(&mut self) {
        self.textures.clear();
    }
}

impl Screen {
    /// A surface on `window`, and the GPU that draws to it.
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
        // A view without sRGB of an sRGB format accepts values that are already encoded.
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

    /// Makes everything anew on a new device, after the last one was lost.
    pub(in crate::app) fn renew(&mut self, options: &crate::config::Config) -> Result<Gpu> {
        let (screen, gpu) = Self::new(self.instance.clone(), self.window.clone(), options)?;
        *self = screen;
        Ok(gpu)
    }

    /// Follows the window's size. Returns `None` while it has none, as when it is minimised.
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

    /// Configures the surface, also after the system has changed it.
    ///
    /// wgpu first waits until the queue is idle, and fails if another thread keeps it busy, as while a scene
    /// is uploaded.
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

    /// The texture that the next picture of the scene is drawn to, in this size. The last one is still shown.
    pub(in crate::app) fn next_picture(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<wgpu::TextureView> {
        let texture = sized(gpu, "picture", &mut self.next_picture, size)?;
        Ok(view(texture, "picture"))
    }

    /// The picture of the scene that is shown.
    pub(in crate::app) fn picture(&self) -> Option<&wgpu::Texture> {
        self.picture.as_ref()
    }

    /// The next picture is finished: from now on it is shown.
    pub(in crate::app) fn show_next_picture(&mut self) {
        std::mem::swap(&mut self.picture, &mut self.next_picture);
    }

    /// Records what the window shows: the last picture of the scene in `area`, what `overlay` draws to the target
    /// that it is handed, and `paint` over everything.
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
        // Command buffers come from paint callbacks, which record none of their own.
        let (device, queue) = (&gpu.device, &gpu.queue);
        // egui panics if there is no memory for its triangles, as on a device that was just lost.
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

    /// Copies the last picture into `area`; one of another size is stretched, until the next one is there.
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

    /// The surface's next image; `None` when none is available now.
    pub(in crate::app) fn acquire(&mut self, gpu: &Gpu) -> Result<Option<wgpu::SurfaceTexture>> {
        if std::mem::take(&mut self.suboptimal) {
            self.configure(gpu)?;
        }
        match self.surface.get_current_texture() {
            Acquired::Success(image) => Ok(Some(image)),
            Acquired::Suboptimal(image) => {
                // It can still be shown; the surface is configured again afterwards.
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

    /// Records the copy of the composed image to an image of the surface.
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

    /// Reads the last picture of the scene back, opaque: width, height and pixels. `None` before the first.
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

    /// Reads the composed image back: width, height and pixels.
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

/// The texture in `slot`, made anew where it has another size.
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
