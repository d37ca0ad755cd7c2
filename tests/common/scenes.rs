//! Small scenes built in code, and pictures of them.

use canopy::{
    config::{Background, Config, EnvironmentSource, OcclusionMode, ReflectionMode, Switch},
    gpu::{Gpu, GpuImage, PipelineSet},
    reference::{lbvh::Triangle, lighting, shadow_start::VisiblePoint, signal::Eye, trace::closest_hit},
    render::{Channel, FloatImage, FrameInput, FrameSample, Merged, Renderer, UploadedScene, View},
    scene::{
        AlphaMode, Image, Light, LightKind, Material, Mesh, Node, Pose, Primitive, Projection, Sampler,
        Scene, Texture, TextureRef, Transform, Wrap, framing::Ground,
    },
};
use glam::{Affine2, Mat4, Quat, Vec2, Vec3, Vec4};

/// A node at `transform`.
pub(crate) fn node(transform: Mat4) -> Node {
    Node {
        name: String::new(),
        parent: None,
        transform: Transform::Matrix(transform.as_dmat4()),
        mesh: None,
        skin: None,
        weights: Vec::new(),
        light: None,
        camera: None,
        ..Node::default()
    }
}

/// Flat-shaded triangles of one material.
pub(crate) fn primitive(triangles: &[[Vec3; 3]], material: usize) -> Primitive {
    let mut out = Primitive {
        material,
        ..Primitive::default()
    };
    for [a, b, c] in triangles {
        let base = out.positions.len() as u32;
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
        let tangent = (b - a).normalize_or(Vec3::X).extend(1.0);
        out.positions.extend([*a, *b, *c]);
        out.normals.extend([normal; 3]);
        out.tangents.extend([tangent; 3]);
        out.indices.push([base, base + 1, base + 2]);
    }
    out
}

/// A rectangle from `corner` along `u` and `v`, facing `u × v`, with texture coordinates 0..1.
pub(crate) fn quad(corner: Vec3, u: Vec3, v: Vec3, material: usize) -> Primitive {
    let mut out = primitive(
        &[
            [corner, corner + u, corner + u + v],
            [corner, corner + u + v, corner + v],
        ],
        material,
    );
    let (o, x, xy, y) = (Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y);
    out.uv0 = vec![o, x, xy, o, xy, y];
    out
}

/// A smooth sphere.
pub(crate) fn sphere(center: Vec3, radius: f32, rings: u32, material: usize) -> Primitive {
    let mut out = Primitive {
        material,
        ..Primitive::default()
    };
    let sectors = 2 * rings;
    for ring in 0..=rings {
        for sector in 0..=sectors {
            let (polar, azimuth) = (
                std::f32::consts::PI * ring as f32 / rings as f32,
                std::f32::consts::TAU * sector as f32 / sectors as f32,
            );
            let normal = Vec3::new(
                polar.sin() * azimuth.cos(),
                polar.cos(),
                -polar.sin() * azimuth.sin(),
            );
            out.positions.push(center + radius * normal);
            out.normals.push(normal);
            out.tangents
                .push(Vec4::new(-azimuth.sin(), 0.0, -azimuth.cos(), 1.0));
        }
    }
    let at = |ring, sector| ring * (sectors + 1) + sector;
    for ring in 0..rings {
        for sector in 0..sectors {
            let (a, b) = (at(ring, sector), at(ring + 1, sector));
            if ring > 0 {
                out.indices.push([a, b, a + 1]);
            }
            if ring + 1 < rings {
                out.indices.push([b, b + 1, a + 1]);
            }
        }
    }
    out
}

/// A scene of one mesh and node per primitive.
pub(crate) fn scene(primitives: impl IntoIterator<Item = Primitive>, materials: Vec<Material>) -> Scene {
    let mut scene = Scene {
        materials,
        ..Scene::default()
    };
    for primitive in primitives {
        let mut node = node(Mat4::IDENTITY);
        node.mesh = Some(scene.meshes.len());
        scene.nodes.push(node);
        scene.meshes.push(Mesh {
            name: String::new(),
            primitives: vec![primitive],
        });
    }
    scene
}

/// Adds a light that shines from `from` to `to`.
pub(crate) fn add_light(scene: &mut Scene, kind: LightKind, intensity: f32, from: Vec3, to: Vec3) {
    let rotation = Quat::from_rotation_arc(Vec3::NEG_Z, (to - from).normalize());
    let mut node = node(Mat4::from_rotation_translation(rotation, from));
    node.light = Some(scene.lights.len());
    scene.nodes.push(node);
    scene.lights.push(Light {
        name: String::new(),
        kind,
        color: Vec3::ONE,
        intensity,
        range: None,
        radius: None,
    });
}

/// A rough dielectric.
pub(crate) fn matte(color: Vec3) -> Material {
    Material {
        base_color: color.extend(1.0),
        metallic: 0.0,
        roughness: 0.8,
        ..Material::default()
    }
}

/// A black material that emits this radiance.
pub(crate) fn glowing(radiance: Vec3) -> Material {
    Material {
        emissive: radiance,
        ..matte(Vec3::ZERO)
    }
}

/// Gives the scene's material 1 a mask that cuts out a circle.
pub(crate) fn add_cutout(scene: &mut Scene) {
    const SIZE: u32 = 64;
    let rgba8 = (0..SIZE * SIZE).flat_map(|i| {
        let at = Vec2::new((i % SIZE) as f32, (i / SIZE) as f32) + 0.5 - 0.5 * SIZE as f32;
        let alpha = if at.length() < 0.3 * SIZE as f32 { 0 } else { 255 };
        [255, 255, 255, alpha]
    });
    let image = Image::from_rgba8("circle", SIZE, SIZE, rgba8.collect());
    scene.images.push(image);
    let sampler = Sampler {
        wrap_u: Wrap::Clamp,
        wrap_v: Wrap::Clamp,
        ..Sampler::default()
    };
    scene.textures.push(Texture { image: 0, sampler });
    scene.materials[1].alpha_mode = AlphaMode::Mask;
    scene.materials[1].double_sided = true;
    scene.materials[1].base_color_texture = Some(TextureRef {
        texture: 0,
        uv_set: 0,
        texture_from_uv: Affine2::IDENTITY,
    });
}

/// A perspective view from `eye` to `target`, with clip planes for objects up to `reach` away.
pub(crate) fn look_at(eye: Vec3, target: Vec3, reach: f32) -> View {
    View {
        world_from_view: glam::camera::rh::view::look_at_mat4(eye, target, Vec3::Y).inverse(),
        projection: Projection::Perspective { fov_y: 0.8 },
        near: reach * 1e-3,
        far: reach,
    }
}

/// A target for pictures.
pub(crate) fn picture(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
    let format = wgpu::TextureFormat::Rgba8Unorm;
    GpuImage::new(gpu, "picture", size, format, usage)
}

/// A scene on the GPU, with its renderer.
pub(crate) struct Stage<'a> {
    pub gpu: &'a Gpu,
    pub renderer: Renderer,
    pub uploaded: UploadedScene,
    pub scene: &'a Scene,
    pub config: Config,
    pub size: [u32; 2],
    /// The displayed channel.
    pub shown: Channel,
    /// Exposure in stops.
    pub exposure_ev: f32,
    /// Seconds since the last frame.
    pub elapsed_secs: f32,
    /// Channels to record in addition to the channels of every frame.
    pub reads: Vec<Channel>,
    /// The ground below the scene.
    pub ground: Option<Ground>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(gpu: &'a Gpu, scene: &'a Scene, size: [u32; 2]) -> Self {
        let renderer = Renderer::new(gpu).unwrap();
        let mut config = Config::default();
        // The environment is uniform, and different from the visible background.
        config.environment.source = EnvironmentSource::Color;
        config.environment.background = Background::Color;
        // No ambient occlusion on GPUs either, because the twins have none.
        config.occlusion.mode = OcclusionMode::Off;
        config.reflections.mode = ReflectionMode::Off;
        // Lights have no size, and each gets its ray.
        config.sun.angle = 0.0;
        config.lights.radius = 0.0;
        config.shadows.max_rays = 1024;
        config.shadows.edge_rays = 1;
        // No dithering noise either.
        config.image.dither = false;
        let uploaded = renderer.uploader().upload(gpu, scene, &config).unwrap();
        Self {
            gpu,
            renderer,
            uploaded,
            scene,
            config,
            size,
            shown: Channel::Lit,
            exposure_ev: 0.0,
            elapsed_secs: f32::INFINITY,
            reads: vec![Channel::Cost],
            ground: None,
        }
    }

    /// Leaves only emission and the scene's own lights.
    pub(crate) fn darken(&mut self) {
        self.config.environment.intensity = 0.0;
        self.config.sun.enabled = Switch::Off;
        self.config.image.background = [0.0; 3];
    }

    /// Draws a frame and reads the picture: rows of RGBA bytes.
    pub(crate) fn draw(&mut self, pose: &Pose, view: View) -> Vec<u8> {
        self.supersampled(pose, view, 1)
    }

    /// Draws this number of frames of one picture and reads it.
    pub(crate) fn supersampled(&mut self, pose: &Pose, view: View, count: u32) -> Vec<u8> {
        let size = self.size;
        self.stretched(pose, view, count, size)
    }

    /// Draws like [`Stage::supersampled`], into a picture that may be larger than the rendered size.
    pub(crate) fn stretched(&mut self, pose: &Pose, view: View, count: u32, size: [u32; 2]) -> Vec<u8> {
        let target = picture(self.gpu, size);
        for index in 0..count {
            self.record(pose, view, FrameSample::of(index, count), &target);
        }
        self.gpu.read_texture(&target.texture).unwrap()
    }

    /// Draws a frame of a picture and waits for it.
    fn record(&mut self, pose: &Pose, view: View, sample: FrameSample, target: &GpuImage) {
        let encoder = self.record_only(pose, view, sample, target);
        self.renderer.submit(self.gpu, encoder);
        self.gpu.wait().unwrap();
    }

    /// Records a frame of a picture.
    pub(crate) fn record_only(
        &mut self,
        pose: &Pose,
        view: View,
        sample: FrameSample,
        target: &GpuImage,
    ) -> wgpu::CommandEncoder {
        let gpu = self.gpu;
        let (renderer, uploaded, input) = self.parts(pose, view);
        renderer
            .record_sample(gpu, &input, uploaded, sample, &target.view)
            .unwrap()
    }

    /// Records a frame and drops it. Returns the missing resources.
    pub(crate) fn missing(&mut self, pose: &Pose, view: View) -> PipelineSet {
        let gpu = self.gpu;
        let target = picture(gpu, self.size);
        let (renderer, uploaded, input) = self.parts(pose, view);
        let sample = FrameSample::SINGLE;
        renderer
            .missing(gpu, &input, uploaded, sample, &target.view)
            .unwrap()
    }

    fn parts<'b>(
        &'b mut self,
        pose: &'b Pose,
        view: View,
    ) -> (&'b mut Renderer, &'b mut UploadedScene, FrameInput<'b>) {
        let input = FrameInput {
            scene: self.scene,
            pose,
            view,
            eye_rounding: Vec3::ZERO,
            config: &self.config,
            exposure_ev: self.exposure_ev,
            elapsed_secs: self.elapsed_secs,
            channel: self.shown,
            size: self.size,
            ground: self.ground,
            reads: &self.reads,
        };
        (&mut self.renderer, &mut self.uploaded, input)
    }

    /// A channel of the last drawn frame.
    pub(crate) fn channel(&mut self, channel: Channel) -> FloatImage {
        self.renderer
            .read_channel(self.gpu, channel, &self.uploaded.buffers)
            .unwrap()
    }

    /// The surfaces of the last frame, from its channels, without normal textures.
    pub(crate) fn surfaces(&mut self) -> Vec<Option<lighting::Surface>> {
        let mut channel = |channel| self.channel(channel).texels;
        let (position, normal) = (channel(Channel::Position), channel(Channel::Normal));
        let (albedo, emissive) = (channel(Channel::Albedo), channel(Channel::Emissive));
        let (roughness, metallic) = (channel(Channel::Roughness), channel(Channel::Metallic));
        let occlusion = channel(Channel::Occlusion);
        let surface = |i: usize| {
            (position[i][3] == 1.0).then(|| lighting::Surface {
                position: Vec3::from_slice(&position[i]),
                normal: Vec3::from_slice(&normal[i]),
                smooth_normal: Vec3::from_slice(&normal[i]),
                albedo: Vec3::from_slice(&albedo[i]),
                occlusion: occlusion[i][0],
                emissive: Vec3::from_slice(&emissive[i]),
                roughness: roughness[i][0],
                metallic: metallic[i][0],
            })
        };
        (0..position.len()).map(surface).collect()
    }

    pub(crate) fn merged(&self) -> Merged {
        self.renderer
            .read_merged(self.gpu, &self.uploaded.buffers)
            .unwrap()
    }
}

/// The point of a triangle that a pixel shows, by its position, normal and mesh. `None` if rounding decides.
pub(crate) fn seen_at(
    merged: &Merged,
    soup: &[Triangle],
    (position, normal, mesh): (Vec3, Vec3, usize),
    eye: Vec3,
) -> Option<VisiblePoint> {
    let range = merged.meshes[mesh].clone();
    let own = &soup[range.start as usize..range.end as usize];
    let (triangle, _) = closest_hit(own, eye, position - eye, 1e-3, 1e30)?;
    let triangle = range.start as usize + triangle;
    Some(VisiblePoint {
        position,
        normal,
        triangle: soup[triangle],
        corner_normals: merged.indices[triangle].map(|v| merged.normals[v as usize]),
        to_eye: (eye - position).normalize(),
    })
}

/// The view in the form that the twins of filters need.
pub(crate) fn eye(view: View, size: [u32; 2]) -> Eye {
    let aspect = size[0] as f32 / size[1] as f32;
    Eye {
        clip_from_offset: view.clip_from_offset(aspect).as_dmat4(),
        position: view.eye().as_dvec3(),
        forward: view.forward().as_dvec3(),
        size,
        pixel_side: view.pixel_side(size[1]).map(f64::from),
    }
}
