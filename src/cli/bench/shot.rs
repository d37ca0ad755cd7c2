//! A scene before the real renderer, on a device of its own.

use super::{inputs::Input, sources::Source, timing};
use crate::{
    Result,
    accel::MeshRange,
    cli::render::{light_from_file, target, view},
    config::{Config, Rebuild},
    gpu::{Gpu, profiler::Stopwatch},
    render::{Channel, FloatImage, FrameInput, FrameStats, Renderer, UploadedScene, View},
    scene::{
        Pose, Scene,
        bounds::{Aabb, Bounds},
        deform,
        framing::{Look, Viewpoint},
    },
};

/// A scene, uploaded, with the view that frames are drawn from.
#[derive(Debug)]
pub(super) struct Shot {
    pub(super) gpu: Gpu,
    pub(super) scene: Scene,
    config: Config,
    clip: Option<usize>,
    view: View,
    bounds: Aabb,
    renderer: Renderer,
    uploaded: UploadedScene,
    target: wgpu::Texture,
}

impl Shot {
    /// Opens a device, uploads the scene of `source` and stands where `canopy render` would.
    pub(super) fn new(source: &Source, config: &Config, size: [u32; 2]) -> Result<Self> {
        let mut config = config.clone();
        config.output.size = size;
        let mut scene = source.scene(&config)?;
        scene.choose_variant(scene.variant(&config.scene.variant)?);
        // As in `canopy render`: the built-in scene is made to be seen through its camera.
        let builtin = matches!(source, Source::Builtin);
        if builtin && config.camera.name.is_empty() && !scene.cameras.is_empty() {
            config.camera.name = "0".into();
        }
        let clip = scene.clip(&config.animation.clip)?;
        let pose = Pose::new(&scene, clip, config.animation.time);
        let points = deform::positions(&scene, &pose);
        let aspect = size[0] as f32 / size[1] as f32;
        let viewpoint = Viewpoint::first(
            &scene,
            &pose,
            &points,
            &Look::default(),
            &config.camera,
            aspect,
        )?;
        let bounds = Bounds::new(&scene).scene(&scene, &pose);
        let gpu = Gpu::new(&config.gpu)?;
        timing::check_timestamps(&gpu)?;
        let target = target(&gpu, size)?;
        let mut renderer = Renderer::new(&gpu)?;
        light_from_file(&gpu, &mut renderer, &config)?;
        let uploaded = renderer.uploader().upload(&gpu, &scene, &config)?;
        Ok(Self {
            view: view(&viewpoint, bounds),
            gpu,
            scene,
            config,
            clip,
            bounds,
            renderer,
            uploaded,
            target,
        })
    }

    /// Where it is seen from.
    pub(super) fn view(&self) -> &View {
        &self.view
    }

    /// Around everything, at the first moment.
    pub(super) fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// The first moment.
    pub(super) fn pose(&self) -> Pose {
        Pose::new(&self.scene, self.clip, self.config.animation.time)
    }

    /// From now on trees are built by this policy.
    pub(super) fn set_rebuild(&mut self, policy: Rebuild) {
        self.config.tree.rebuild = policy;
    }

    /// Draws the scene `later_secs` after its first moment and waits; returns the milliseconds from submission until it was done.
    pub(super) fn draw(&mut self, later_secs: f32) -> Result<f64> {
        let time = self.config.animation.time + later_secs;
        let pose = Pose::new(&self.scene, self.clip, time);
        let input = FrameInput {
            scene: &self.scene,
            pose: &pose,
            view: self.view,
            config: &self.config,
            exposure_ev: 0.0,
            elapsed_secs: f32::INFINITY,
            channel: Channel::Lit,
            size: self.config.output.size,
        };
        let mut encoder = self.gpu.encoder("frame");
        let target = self.target.create_view(&wgpu::TextureViewDescriptor {
            label: Some("picture"),
            ..Default::default()
        });
        self.renderer
            .record(&self.gpu, &mut encoder, &input, &mut self.uploaded, &target)?;
        let stopwatch = Stopwatch::new();
        self.renderer.submit(&self.gpu, encoder);
        self.gpu.wait()?;
        let wall_ms = stopwatch.ms();
        self.renderer.collect(&self.gpu);
        Ok(wall_ms)
    }

    /// The figures of the last frame.
    pub(super) fn stats(&self) -> &FrameStats {
        self.renderer.stats()
    }

    /// A channel of the last frame.
    pub(super) fn channel(&mut self, channel: Channel) -> Result<FloatImage> {
        self.renderer
            .read_channel(&self.gpu, channel, &self.uploaded.buffers)
    }

    /// The merged triangles of the last frame.
    pub(super) fn triangles(&self) -> Result<Input> {
        let merged = self
            .renderer
            .read_merged(&self.gpu, &self.uploaded.buffers)?;
        let meshes: Vec<MeshRange> = self.uploaded.buffers.meshes.clone();
        let mesh_of = |(number, mesh): (usize, &MeshRange)| {
            std::iter::repeat_n([number as u32, 0], mesh.triangle_count as usize)
        };
        Ok(Input {
            positions: merged.positions.iter().map(|p| p.to_array()).collect(),
            indices: merged.indices,
            triangle_info: meshes.iter().enumerate().flat_map(mesh_of).collect(),
            meshes,
        })
    }
}
