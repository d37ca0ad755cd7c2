//! The frame.

use crate::{
    Result,
    config::Config,
    gpu::{Gpu, profiler::PassTiming},
    scene::{Pose, Projection, Scene},
};
use glam::Mat4;

/// Where the picture is taken from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The camera, looking along its −Z.
    pub world_from_view: Mat4,
    /// Its projection.
    pub projection: Projection,
    /// Distance of the near plane in metres.
    pub near: f32,
    /// Distance of the far plane in metres.
    pub far: f32,
}

/// What a picture shows: the lit image, or a channel of the frame as floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Channel {
    /// The finished picture.
    #[default]
    Lit,
    /// World position in metres; NaN where there is nothing.
    Position,
    /// World normal, as shaded.
    Normal,
    /// Base colour, linear.
    Albedo,
    /// Perceptual roughness.
    Roughness,
    /// Metalness.
    Metallic,
    /// Ambient occlusion from the material.
    Occlusion,
    /// Emitted radiance.
    Emissive,
    /// Distance along the view axis in metres.
    Depth,
    /// Index of the mesh instance.
    Mesh,
    /// Index of the material.
    Material,
    /// 1 where the first light arrives.
    Shadow,
    /// Nodes and triangles visited by the pixel's shadow rays.
    Cost,
}

impl Channel {
    /// All channels, in the order of lists.
    pub const ALL: [Self; 13] = [
        Self::Lit,
        Self::Position,
        Self::Normal,
        Self::Albedo,
        Self::Roughness,
        Self::Metallic,
        Self::Occlusion,
        Self::Emissive,
        Self::Depth,
        Self::Mesh,
        Self::Material,
        Self::Shadow,
        Self::Cost,
    ];

    /// The name on the command line and in lists, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lit => "lit",
            Self::Position => "position",
            Self::Normal => "normal",
            Self::Albedo => "albedo",
            Self::Roughness => "roughness",
            Self::Metallic => "metallic",
            Self::Occlusion => "occlusion",
            Self::Emissive => "emissive",
            Self::Depth => "depth",
            Self::Mesh => "mesh",
            Self::Material => "material",
            Self::Shadow => "shadow",
            Self::Cost => "cost",
        }
    }
}

/// All that a frame needs.
#[derive(Debug, Clone, Copy)]
pub struct FrameInput<'a> {
    /// What is shown.
    pub scene: &'a Scene,
    /// The same, uploaded.
    pub buffers: &'a SceneBuffers,
    /// The moment.
    pub pose: &'a Pose,
    /// From where.
    pub view: View,
    /// How.
    pub config: &'a Config,
    /// Exposure in stops, settled from the configuration.
    pub exposure_ev: f32,
    /// What the picture shows.
    pub channel: Channel,
    /// Pixels that are traced and shaded; the target may be larger.
    pub size: [u32; 2],
}

/// What a frame took and did.
#[derive(Debug, Clone, Default)]
pub struct FrameStats {
    /// Every pass on the GPU, in order.
    pub passes: Vec<PassTiming>,
    /// Time the CPU took to record the last frame.
    pub cpu_record_ms: f64,
    /// Triangles in the merged buffers.
    pub triangles: u32,
    /// Vertices in the merged buffers.
    pub vertices: u32,
    /// Meshes, each with a tree of its own.
    pub meshes: u32,
    /// Inner nodes of all trees.
    pub nodes: u32,
    /// Lights, with the sun.
    pub lights: u32,
    /// Shadow rays of the last frame whose count has come back.
    pub rays: u64,
    /// Compute dispatches that regrow the trees.
    pub tree_dispatches: u32,
}

/// A scene in GPU memory.
#[derive(Debug)]
pub struct SceneBuffers {}

/// An image of floats, rows from the top.
#[derive(Debug, Clone)]
pub struct FloatImage {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four floats a pixel; what a channel does not use is 0, and alpha is 1 where there is something.
    pub texels: Vec<[f32; 4]>,
}

/// Triangles read back from the merged buffers.
#[derive(Debug, Clone)]
pub struct Merged {
    /// World positions.
    pub positions: Vec<glam::Vec3>,
    /// World normals.
    pub normals: Vec<glam::Vec3>,
    /// Vertices of each triangle.
    pub indices: Vec<[u32; 3]>,
    /// Range of triangles of each mesh instance.
    pub meshes: Vec<std::ops::Range<u32>>,
}

/// The renderer.
#[derive(Debug)]
pub struct Renderer {}

impl Renderer {
    /// Compiles every pass.
    pub fn new(_gpu: &Gpu) -> Result<Self> {
        todo!()
    }

    /// Brings `scene` into GPU memory, or says what did not fit.
    pub fn upload(&self, _gpu: &Gpu, _scene: &Scene, _config: &Config) -> Result<SceneBuffers> {
        todo!()
    }

    /// Records a frame into `encoder` that ends in `target`, a view of a non-sRGB 8-bit format (the values are sRGB-encoded here).
    pub fn record(
        &mut self,
        _gpu: &Gpu,
        _encoder: &mut wgpu::CommandEncoder,
        _input: &FrameInput<'_>,
        _target: &wgpu::TextureView,
        _target_format: wgpu::TextureFormat,
    ) -> Result<()> {
        todo!()
    }

    /// Submits what was recorded (and what the caller added, such as the panel) and takes in timings of earlier frames. Never waits.
    pub fn submit(&mut self, _gpu: &Gpu, _encoder: wgpu::CommandEncoder) {
        todo!()
    }

    /// The figures of the last frames.
    pub fn stats(&self) -> &FrameStats {
        todo!()
    }

    /// A channel of the last frame, waiting for it. `Channel::Lit` is linear radiance before exposure.
    pub fn read_channel(&mut self, _gpu: &Gpu, _channel: Channel) -> Result<FloatImage> {
        todo!()
    }

    /// The merged buffers of the last frame, waiting for them.
    pub fn read_merged(&self, _gpu: &Gpu, _buffers: &SceneBuffers) -> Result<Merged> {
        todo!()
    }
}
