//! Draws a scene in a window of your own: `cargo run -p canopy-render --example own_window -- scene.glb`.

use canopy_bvh::gpu::{Gpu, Tier};
use canopy_render::{FrameInput, Renderer, SHADERS, UploadedScene, settings::Settings};
use canopy_scene::{
    Progress, TextureSupport,
    opened::{OpenedScene, Span},
};
use std::{error::Error, sync::Arc};
use winit::{
    application::ApplicationHandler,
    event::WindowEvent,
    event_loop::{ActiveEventLoop, EventLoop},
    window::{Window, WindowId},
};

struct Viewer {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    adapter: wgpu::Adapter,
    gpu: Gpu,
    renderer: Renderer,
    settings: Settings,
    opened: OpenedScene,
    uploaded: UploadedScene,
}

impl Viewer {
    fn new(event_loop: &ActiveEventLoop) -> Result<Self, Box<dyn Error>> {
        let window = Arc::new(event_loop.create_window(Window::default_attributes())?);
        let instance = wgpu::Instance::default();
        let surface = instance.create_surface(window.clone())?;
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
        let gpu = Gpu::open(&adapter, Tier::Adapter, &SHADERS)?;
        let settings = Settings::default();
        let files: Vec<_> = std::env::args_os().skip(1).map(Into::into).collect();
        let (support, progress) = (TextureSupport::default(), Progress::default());
        let opened = OpenedScene::load(&files, &settings, support, Span::Clip, &progress)?;
        let renderer = Renderer::new(&gpu)?;
        let uploaded = renderer.uploader().upload(&gpu, &opened.scene, &settings)?;
        Ok(Self {
            window,
            surface,
            adapter,
            gpu,
            renderer,
            settings,
            opened,
            uploaded,
        })
    }

    fn draw(&mut self) -> Result<(), Box<dyn Error>> {
        let [width, height]: [u32; 2] = self.window.inner_size().into();
        if width == 0 || height == 0 {
            return Ok(());
        }
        let config = self.surface.get_default_config(&self.adapter, width, height);
        // The tone mapper encodes sRGB itself.
        let format = wgpu::TextureFormat::Bgra8Unorm;
        let config = wgpu::SurfaceConfiguration {
            format,
            ..config.ok_or("no surface")?
        };
        self.surface.configure(&self.gpu.device, &config);
        if let wgpu::CurrentSurfaceTexture::Success(image) = self.surface.get_current_texture() {
            let target = image.texture.create_view(&Default::default());
            let input = FrameInput::first(&self.opened, &self.settings, [width, height])?;
            let frame = self
                .renderer
                .record(&self.gpu, &input, &mut self.uploaded, &target)?;
            self.renderer.submit(&self.gpu, frame);
            self.gpu.queue.present(image);
        }
        Ok(())
    }
}

struct App(Option<Viewer>, Result<(), Box<dyn Error>>);

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        match Viewer::new(event_loop) {
            Ok(shown) => self.0 = Some(shown),
            Err(error) => {
                self.1 = Err(error);
                event_loop.exit();
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if let (WindowEvent::RedrawRequested, Some(shown)) = (&event, &mut self.0) {
            self.1 = shown.draw();
        }
        if event == WindowEvent::CloseRequested || self.1.is_err() {
            event_loop.exit();
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut app = App(None, Ok(()));
    EventLoop::new()?.run_app(&mut app)?;
    app.1
}
