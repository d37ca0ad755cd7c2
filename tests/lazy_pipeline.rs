//! Pipelines are compiled by the first frame that needs them, or earlier on request, but no sooner.

use crate::common;
use canopy::{
    config::{
        Antialias, Background, Config, EnvironmentSource, ExposureMode, ImageMode, OcclusionMode, Rebuild,
        ReflectionMode, ShadowMode,
    },
    gpu::{Gpu, GpuImage, LazyPipeline, PipelineSet, lazy_pipeline::collect},
    render::{Channel, FrameInput, FrameSample, Renderer, UploadedScene},
    scene::{AlphaMode, Layers, Pose, Scene},
};
use common::{
    own_gpu,
    scenes::{look_at, matte, quad, scene},
};
use glam::Vec3;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// A renderer that records frames and never submits them, so only compilation takes time.
struct Recorder<'a> {
    gpu: &'a Gpu,
    renderer: Renderer,
    uploaded: UploadedScene,
    scene: &'a Scene,
    config: Config,
    channel: Channel,
    samples: u32,
    target_size: [u32; 2],
    /// Displacement of the first node, and its displacement per frame.
    moved: f32,
    speed: f32,
    /// Names of the pipelines that the last frame announced.
    announced: String,
}

const SIZE: [u32; 2] = [16, 16];

impl<'a> Recorder<'a> {
    fn new(gpu: &'a Gpu, scene: &'a Scene) -> Self {
        let renderer = Renderer::new(gpu).unwrap();
        let mut config = Config::default();
        config.environment.source = EnvironmentSource::Color;
        config.environment.background = Background::Color;
        config.shadows.mode = ShadowMode::Off;
        config.occlusion.mode = OcclusionMode::Off;
        config.reflections.mode = ReflectionMode::Off;
        config.image.antialias = Antialias::Off;
        Self {
            uploaded: renderer.uploader().upload(gpu, scene, &config).unwrap(),
            gpu,
            renderer,
            scene,
            config,
            channel: Channel::Lit,
            samples: 1,
            target_size: SIZE,
            moved: 0.0,
            speed: 0.0,
            announced: String::new(),
        }
    }

    /// Number of pipelines that a frame announces, and of pipelines that it compiles beyond those.
    fn record(&mut self) -> [u32; 2] {
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let target = GpuImage::new(self.gpu, "test", self.target_size, format, usage);
        let mut pose = Pose::new(self.scene, None, 0.0);
        self.moved += self.speed;
        pose.world_from_node[0].w_axis.x += f64::from(self.moved);
        let input = FrameInput {
            scene: self.scene,
            pose: &pose,
            view: look_at(Vec3::new(0.0, 2.0, 4.0), Vec3::ZERO, 45.0),
            eye_rounding: Vec3::ZERO,
            config: &self.config,
            exposure_ev: 0.0,
            elapsed_secs: f32::INFINITY,
            channel: self.channel,
            size: SIZE,
            ground: None,
            reads: &[],
        };
        let (gpu, uploaded) = (self.gpu, &mut self.uploaded);
        let start = gpu.compiled();
        let sample = |index| FrameSample::of(index, self.samples);
        let set = self
            .renderer
            .missing(gpu, &input, uploaded, sample(0), &target.view)
            .unwrap();
        assert_eq!(gpu.compiled(), start, "asking compiles nothing");
        self.announced = format!("{set:?}");
        set.compile(gpu).unwrap();
        let met = gpu.compiled();
        for index in 0..self.samples {
            self.renderer
                .record_sample(gpu, &input, uploaded, sample(index), &target.view)
                .unwrap();
        }
        [met - start, self.gpu.compiled() - met]
    }
}

fn floor() -> Scene {
    let floor = || quad(Vec3::new(-1.0, 0.0, 1.0), Vec3::X * 2.0, Vec3::Z * -2.0, 0);
    scene([floor()], vec![matte(Vec3::splat(0.5))])
}

#[test]
fn a_frame_compiles_only_the_pipelines_it_needs() {
    let gpu = own_gpu();
    let scene = floor();
    let mut recorder = Recorder::new(&gpu, &scene);
    let [bare, late] = recorder.record();
    assert_eq!(late, 0);
    // Deformation, an environment of one colour, the G-buffer, lighting and a tone curve. GPUs need a few more for
    // the same, but no nodes for rays.
    let most = if gpu.capabilities.has_ray_nodes() { 11 } else { 9 };
    assert!((4..=most).contains(&bare), "{bare}");
    assert!(
        !recorder.announced.contains("ray_nodes"),
        "{}",
        recorder.announced
    );
    assert_eq!(recorder.record(), [0, 0], "the second frame");

    // Each of these adds the pipelines that it alone needs, and announces them.
    type Change = fn(&mut Recorder<'_>);
    let changes: [(&str, Change); 12] = [
        ("sky", |r| {
            r.config.environment.source = EnvironmentSource::Sky;
        }),
        ("maps", |r| r.config.shadows.mode = ShadowMode::Map),
        ("rays", |r| r.config.shadows.mode = ShadowMode::Rays),
        ("rays by pixel", |r| r.config.shadows.compact_rays = false),
        ("occlusion", |r| {
            r.config.occlusion.mode = OcclusionMode::Rays;
        }),
        ("anti-aliasing", |r| {
            r.config.image.antialias = Antialias::Smaa;
        }),
        ("stretched", |r| r.target_size = [32, 32]),
        ("histogram", |r| {
            r.config.image.exposure = ExposureMode::Histogram;
        }),
        ("samples", |r| r.samples = 2),
        ("a channel", |r| {
            (r.channel, r.samples) = (Channel::Normal, 1);
        }),
        ("bands", |r| r.config.environment.order = 5),
        // The first frame builds the trees, and the second refits them to the motion.
        ("refits", |r| {
            (r.config.tree.rebuild, r.speed) = (Rebuild::Refit, 0.1);
        }),
    ];
    for (what, change) in changes {
        change(&mut recorder);
        let [needed, late] = recorder.record();
        assert_eq!(late, 0, "{what}");
        assert!(needed > 0, "{what} was compiled before");
        assert_eq!(recorder.record(), [0, 0], "{what}, once more");
    }
}

#[test]
fn surfaces_compile_only_the_pipelines_that_draw_them() {
    let gpu = own_gpu();
    let plain = {
        let scene = floor();
        Recorder::new(&gpu, &scene).record()[0]
    };
    let with = |change: fn(&mut canopy::scene::Material)| {
        let mut scene = floor();
        change(&mut scene.materials[0]);
        let [needed, late] = Recorder::new(&gpu, &scene).record();
        assert_eq!(late, 0);
        needed
    };
    assert_eq!(with(|m| m.double_sided = true), plain);
    assert_eq!(with(|m| m.alpha_mode = AlphaMode::Mask), plain);
    let layered = with(|m| m.layers = Some(Box::new(Layers::default())));
    assert_eq!(layered, plain + 1);
    // The G-buffer draws nothing.
    assert_eq!(with(|m| m.alpha_mode = AlphaMode::Blend), plain);
}

/// A frame with a missing pipeline has no effect. Path samples continue from those before.
#[test]
fn path_samples_survive_a_frame_with_a_missing_pipeline() {
    let gpu = own_gpu();
    let scene = floor();
    let mut recorder = Recorder::new(&gpu, &scene);
    recorder.config.image.mode = ImageMode::Path;
    let samples = |recorder: &Recorder<'_>| recorder.renderer.stats().path_samples;
    for count in 1..=3 {
        recorder.record();
        assert_eq!(samples(&recorder), Some(count));
    }
    recorder.config.overlay.wireframe = true;
    let [needed, late] = recorder.record();
    assert!(needed > 0 && late == 0, "{needed} {late}");
    assert_eq!(samples(&recorder), Some(4));
}

/// Pipelines that a thread collects are not compiled until they are needed. Other threads compile theirs
/// meanwhile.
#[test]
fn collected_pipelines_are_not_compiled_until_needed() {
    let gpu = own_gpu();
    let [missing, made] = ["missing", "made"].map(|name| LazyPipeline::new(name, |_| Ok(7)));
    made.get(&gpu).unwrap();
    let (found, set) = collect(|| {
        let other = LazyPipeline::new("another thread's", |_| Ok(8));
        let met = std::thread::scope(|scope| {
            let get = || other.get_or_collect(&gpu).unwrap();
            scope.spawn(get).join().unwrap()
        });
        assert_eq!(met, Some(8));
        [&missing, &made, &missing].map(|one| one.get_or_collect(&gpu).unwrap())
    });
    assert_eq!(
        (found, set.names()),
        ([None, Some(7), None], vec!["missing".to_owned()])
    );
    set.compile(&gpu).unwrap();
    let (found, set) = collect(|| missing.get_or_collect(&gpu).unwrap());
    assert!(found == Some(7) && set.is_empty());
    // Nothing is collected any more.
    let late = LazyPipeline::new("late", |_| Ok(9));
    assert_eq!(late.get_or_collect(&gpu).unwrap(), Some(9));
}

#[test]
fn a_failed_compilation_is_an_error_and_is_retried() {
    let gpu = own_gpu();
    let calls = Arc::new(AtomicU32::new(0));
    let seen = calls.clone();
    let made = LazyPipeline::new("test", move |_| match seen.fetch_add(1, Ordering::Relaxed) {
        0 => Err(canopy_bvh::Error::Gpu("not yet".into())),
        n => Ok(n),
    });
    let mut set = PipelineSet::default();
    set.add(&made);
    set.add(&LazyPipeline::new("other", |_| Ok(7)));
    set.add(&made.clone());
    assert_eq!(set.names(), ["test", "other"]);
    assert!(set.compile(&gpu).unwrap_err().to_string().contains("not yet"));
    set.compile(&gpu).unwrap();
    set.compile(&gpu).unwrap();
    assert_eq!((made.get(&gpu).unwrap(), calls.load(Ordering::Relaxed)), (1, 2));
    let mut met = PipelineSet::default();
    met.add(&made);
    assert!(met.is_empty());
}
