//! Passes of small frames compared with their CPU references: deformation, visibility, shadows, occlusion,
//! lighting and display.

use super::checks::{Checks, Verdict, within, worse};
use crate::{
    Error, Result,
    cli::{
        bench::inputs::{TriangleKind, generate},
        offscreen::{Moment, Offscreen},
    },
    config::{
        Antialias, Background, Config, EnvironmentSource, ExposureMode, OcclusionMode, ReflectionMode,
        ShadowMode, Tonemap,
    },
    gpu::{Gpu, GpuImage, Recorder},
    reference::{
        antialias,
        bounced_light::Surroundings,
        deform,
        environment::brdf_table,
        exposure,
        fog::{self, Fog},
        lbvh::{self, Triangle},
        lighting,
        motion::Camera,
        occlusion, reflections,
        shadow_start::VisiblePoint,
        signal::{self, SurfacePoint},
        tonemap,
        trace::closest_hit,
    },
    render::{
        self, Channel, FrameSample,
        frame::blue_noise,
        layout::{EXPOSURE_BINS, Exposure, ExposureBin, ExposureParams, TonemapParams},
        light::lights,
    },
    scene::{
        Material, Pose, Progress, Scene,
        framing::Look,
        opened::{OpenedScene, Span},
    },
};

use glam::{DVec2, DVec3, Mat4, Vec3, Vec4};
use half::f16;
use std::sync::Arc;

const NAME: &str = "chosen";
const SIZE: [u32; 2] = [96, 72];
const ASPECT: f32 = SIZE[0] as f32 / SIZE[1] as f32;
/// Maximum displacement of drawn triangle corners along each axis, in pixels. Vulkan guarantees four bits of
/// subpixel precision.
const SUBPIXEL: f64 = 1.0 / 16.0;
/// Offsets from the pixel centre. At least one of them sees the surface that the pixel shows.
const SUBPIXELS: [[f64; 2]; 5] = [
    [0.0, 0.0],
    [-SUBPIXEL, -SUBPIXEL],
    [SUBPIXEL, -SUBPIXEL],
    [-SUBPIXEL, SUBPIXEL],
    [SUBPIXEL, SUBPIXEL],
];
/// Maximum ray distance in metres, effectively infinite.
const FAR: f64 = 1e30;

/// Device to draw on, with its settings.
pub(super) struct Device<'a> {
    pub(super) gpu: &'a Arc<Gpu>,
    pub(super) config: &'a Config,
}

pub(super) fn check(checks: &mut Checks, device: &Device<'_>) {
    checks.make(NAME, "deform", || moving(device));
    checks.make(NAME, "gbuffer", || Stage::drawn(device, |_| {})?.gbuffer());
    checks.make(NAME, "shadow_rays", || shadows(device));
    checks.make(NAME, "occlusion_rays", || occlusion_rays(device, 1, false));
    checks.make(NAME, "history of occlusion", || occlusion_rays(device, 3, false));
    checks.make(NAME, "filter of occlusion", || occlusion_rays(device, 1, true));
    checks.make(NAME, "bounced_light", || bounced_light(device));
    checks.make(NAME, "reflection_rays", || reflection_rays(device));
    checks.make(NAME, "fog", || fog(device));
    checks.make(NAME, "lighting", || light(device));
    checks.make(NAME, "motion", || motions(device));
    checks.make(NAME, "exposure", || exposures(device));
    checks.make(NAME, "tonemap", || display(device));
    checks.make(NAME, "antialias", || edges(device));
}

/// A frame, usually of spheres with various materials, and the data that the CPU references need.
struct Stage {
    offscreen: Offscreen,
    moment: Moment,
    triangles: Vec<Triangle>,
    corner_normals: Vec<[Vec3; 3]>,
    seen: Vec<Option<VisiblePoint>>,
}

impl Stage {
    /// Draws the frame with a uniform environment, a hard sun and no filtering, apart from the changes of
    /// `set`.
    fn drawn(device: &Device<'_>, set: impl Fn(&mut Config)) -> Result<Self> {
        let mut stage = Self::new(&scene(), device, set)?;
        stage.draw()?;
        Ok(stage)
    }

    fn new(scene: &Scene, device: &Device<'_>, set: impl Fn(&mut Config)) -> Result<Self> {
        // Uses default settings regardless of the user's, because the references are written for them.
        let mut own = device.config.clone();
        own.frame = render::settings::Settings::default();
        own.environment.source = EnvironmentSource::Color;
        own.environment.background = Background::Color;
        own.occlusion.mode = OcclusionMode::Off;
        own.reflections.mode = ReflectionMode::Off;
        own.sun.angle = 0.0;
        own.lights.radius = 0.0;
        own.image.dither = false;
        own.image.antialias = Antialias::Off;
        own.image.exposure = ExposureMode::Stops(0.0);
        own.output.size = SIZE;
        set(&mut own);
        let gpu = device.gpu.clone();
        let opened = OpenedScene::new(scene.clone(), &own, Span::MOMENT);
        let mut offscreen = Offscreen::new(gpu, opened.checked()?, &Look::default(), own)?;
        let moment = offscreen.moment(0.0);
        Ok(Self {
            offscreen,
            moment,
            triangles: Vec::new(),
            corner_normals: Vec::new(),
            seen: Vec::new(),
        })
    }

    fn draw(&mut self) -> Result<()> {
        self.offscreen.draw(&self.moment, FrameSample::SINGLE)?;
        let merged = self.offscreen.merged()?;
        self.triangles = lbvh::triangles(&merged.positions, &merged.indices);
        let normals = |vertices: &[u32; 3]| vertices.map(|v| merged.normals[v as usize]);
        self.corner_normals = merged.indices.iter().map(normals).collect();
        let [position, normal] = self.channels([Channel::Position, Channel::Normal])?;
        let eye = self.moment.view.eye();
        let at = |(p, n): (&[f32; 4], &[f32; 4])| {
            let position = Vec3::from_slice(p);
            let along = position - eye;
            let hit = || closest_hit(&self.triangles, eye, along, 1e-3, FAR);
            let (triangle, _) = (p[3] == 1.0).then(hit).flatten()?;
            Some(VisiblePoint {
                position,
                normal: Vec3::from_slice(n),
                triangle: self.triangles[triangle],
                corner_normals: self.corner_normals[triangle],
                to_eye: -along.normalize(),
            })
        };
        self.seen = position.iter().zip(&normal).map(at).collect();
        Ok(())
    }

    fn channels<const N: usize>(&mut self, channels: [Channel; N]) -> Result<[Vec<[f32; 4]>; N]> {
        let mut texels = [(); N].map(|()| Vec::new());
        for (texels, channel) in texels.iter_mut().zip(channels) {
            *texels = self.offscreen.channel(channel)?.texels;
        }
        Ok(texels)
    }

    fn camera(&self) -> Camera {
        let view = self.moment.view;
        Camera {
            clip_from_offset: view.clip_from_offset(ASPECT).as_dmat4(),
            eye: view.eye().as_dvec3(),
        }
    }

    /// Passes if each pixel shows the nearest triangle, and pixels without one show none.
    fn gbuffer(&mut self) -> Result<Verdict> {
        let [position] = self.channels([Channel::Position])?;
        let (eye, camera) = (self.moment.view.eye(), self.camera());
        let offset_from_clip = camera.clip_from_offset.inverse();
        let [_, pixel_side] = self.moment.view.pixel_side(SIZE[1]);
        let is_right = |(index, texel): (u32, &[f32; 4])| {
            let middle = DVec2::new((index % SIZE[0]).into(), (index / SIZE[0]).into()) + 0.5;
            let at = Vec3::from_slice(texel);
            let is_seen = texel[3] == 1.0;
            let place = is_seen.then(|| camera.in_picture(at.as_dvec3(), SIZE));
            if place.is_some_and(|at| at.is_none_or(|at| at.distance(middle) > 0.01)) {
                return false;
            }
            SUBPIXELS.iter().any(|beside| {
                let size = DVec2::new(SIZE[0].into(), SIZE[1].into());
                let place = middle + DVec2::from_array(*beside);
                let clip = (2.0 * place / size - 1.0) * DVec2::new(1.0, -1.0);
                let along = offset_from_clip.project_point3(clip.extend(0.5)).as_vec3();
                let hit = closest_hit(&self.triangles, eye, along, 0.0, FAR);
                hit.map_or(!is_seen, |(triangle, _)| {
                    let [a, b, c] = self.triangles[triangle];
                    let off = (at - a).dot((b - a).cross(c - a).normalize_or_zero()).abs();
                    // The plane of the triangle moves by as much as its corners.
                    let beside = SUBPIXEL as f32 * f32::sqrt(2.0) * pixel_side;
                    is_seen && off < (1e-4 + beside) * at.distance(eye)
                })
            })
        };
        let right = (0..).zip(&position).filter(|pixel| is_right(*pixel)).count();
        let covered = position.iter().filter(|texel| texel[3] == 1.0).count();
        if covered < 300 {
            return Ok(Err(format!("{covered} pixels show anything")));
        }
        // Rounding decides which triangle a pixel at an edge shows.
        Ok(tally(
            position.len() - right,
            position.len(),
            position.len() / 200,
        ))
    }
}

/// Passes if at most `allowed` pixels are wrong, which accounts for rounding, and more than 300 were
/// compared.
fn tally(wrong: usize, compared: usize, allowed: usize) -> Verdict {
    let text = format!("{wrong} of {compared} pixels differ");
    // A picture without enough surfaces tests nothing.
    if wrong <= allowed && compared > 300 {
        Ok(text)
    } else {
        Err(text)
    }
}

/// Passes if all errors are within a tolerance and there are more than 300.
fn at_most(errors: impl Iterator<Item = f64>, tolerance: f64, unit: &str) -> Verdict {
    let (mut worst, mut count) = (0.0, 0);
    for error in errors {
        worst = worse(worst, error);
        count += 1;
    }
    if count <= 300 {
        return Err(format!("only {count} values; the test needs more than 300"));
    }
    within(worst, tolerance, unit).map(|text| format!("{count} values, {text}"))
}

/// Creates a scene of spheres with many materials.
fn scene() -> Scene {
    let mut scene = generate(TriangleKind::Meshes, 4000, 8, 6).scene();
    scene.materials.clear();
    for (number, mesh) in scene.meshes.iter_mut().enumerate() {
        let share = number as f32 / 8.0;
        for primitive in &mut mesh.primitives {
            primitive.material = number;
        }
        scene.materials.push(Material {
            base_color: Vec4::new(0.9, 0.3 + 0.5 * share, 0.1, 1.0),
            roughness: 0.15 + 0.85 * share,
            metallic: (number % 3) as f32 * 0.5,
            emissive: Vec3::new(0.0, 0.0, 0.2 * share),
            double_sided: true,
            ..Material::default()
        });
    }
    scene
}

/// Checks the vertices of the built-in scene in motion.
fn moving(device: &Device<'_>) -> Result<Verdict> {
    let scene = crate::scene::load(&[], &device.config.load, &Progress::default())?;
    let mut stage = Stage::new(&scene, device, |_| {})?;
    let mut errors = Vec::new();
    for time in [0.0, 0.7, 2.9] {
        stage.moment = stage.offscreen.moment(time);
        stage.offscreen.draw(&stage.moment, FrameSample::SINGLE)?;
        let merged = stage.offscreen.merged()?;
        let pose = Pose::new(&scene, stage.offscreen.clip, time);
        let twin = deform::deform(&scene, &pose);
        if merged.indices != twin.indices || merged.positions.len() != twin.positions.len() {
            return Ok(Err("other triangles than its twin's".into()));
        }
        let positions = merged.positions.iter().zip(&twin.positions);
        errors.extend(positions.map(|(a, b)| f64::from(a.distance(*b))));
        // Normals are unit vectors and not in metres. The factor makes their tolerance 1e-4.
        let normals = merged.normals.iter().zip(&twin.normals);
        errors.extend(normals.map(|(a, b)| 0.2 * f64::from(a.distance(*b))));
    }
    Ok(at_most(errors.into_iter(), 2e-5, "metres"))
}

/// Checks ray-traced shadows of the sun.
fn shadows(device: &Device<'_>) -> Result<Verdict> {
    let mut stage = Stage::drawn(device, |own| own.shadows.mode = ShadowMode::Rays)?;
    let to_sun = stage.offscreen.config.sun.to_sun().as_dvec3().normalize();
    let [shadow] = stage.channels([Channel::Shadow])?;
    let (mut compared, mut wrong) = (0, 0);
    for (seen, lit) in stage.seen.iter().zip(&shadow) {
        let Some(seen) = seen else { continue };
        let start = seen.start();
        // Surfaces that face away from the sun get no ray.
        if seen.normal.as_dvec3().dot(to_sun) < 1e-3 || start.geometric_normal.dot(to_sun) < 1e-3 {
            continue;
        }
        let is_lit = !start.is_blocked(&stage.triangles, to_sun, FAR);
        wrong += usize::from(is_lit != (lit[0] > 0.5));
        compared += 1;
    }
    Ok(tally(wrong, compared, compared / 200))
}

/// Checks the hit distances of reflection rays.
fn reflection_rays(device: &Device<'_>) -> Result<Verdict> {
    let mut stage = Stage::drawn(device, |own| {
        own.shadows.mode = ShadowMode::Off;
        own.reflections.mode = ReflectionMode::Rays;
        own.reflections.max_roughness = 1.0;
        own.reflections.bounces = 1;
        own.reflections.history = 1;
        own.reflections.filter = false;
    })?;
    let [distances, roughness] = stage.channels([Channel::ReflectionDistance, Channel::Roughness])?;
    let (mut compared, mut wrong) = (0, 0);
    for (index, seen) in (0_u32..).zip(&stage.seen) {
        let Some(seen) = seen else { continue };
        let pixel = [index % SIZE[0], index / SIZE[0]];
        let (noise, rough) = ((blue_noise::mask(), pixel), roughness[index as usize][0]);
        // All surfaces are double-sided.
        let twin = reflections::sample(seen, rough.into(), noise, 0)
            .and_then(|sample| reflections::hit(&stage.triangles, seen, sample.direction, |_, _| true));
        let found = f64::from(distances[index as usize][0]);
        // Distances are quantized to 32 steps per octave. A miss is beyond the whole scene.
        let is_right = match twin {
            Some((_, t)) => (found / t.max(1e-4)).log2().abs() < 1.0 / 16.0,
            None => found > 1e4,
        };
        wrong += usize::from(!is_right);
        compared += 1;
    }
    Ok(tally(wrong, compared, compared / 50))
}

/// Checks ray-traced ambient visibility, its mean over several frames, or its filtered result.
fn occlusion_rays(device: &Device<'_>, frames: u32, filter: bool) -> Result<Verdict> {
    const RAYS: u32 = 4;
    let mut stage = Stage::drawn(device, |own| {
        own.shadows.mode = ShadowMode::Off;
        own.occlusion.mode = OcclusionMode::Rays;
        own.occlusion.history = frames;
        own.occlusion.filter = filter;
        own.occlusion.rays = RAYS;
        own.occlusion.radius = 0.0;
    })?;
    for _ in 1..frames {
        stage.draw()?;
    }
    let words = stage.offscreen.ambient_visibility()?;
    let pixel = |(index, seen): (u32, &Option<VisiblePoint>)| {
        let seen = seen.as_ref()?;
        let pixel = [index % SIZE[0], index / SIZE[0]];
        let (random, rays) = ((blue_noise::mask(), pixel), (0, frames * RAYS));
        let point = SurfacePoint {
            position: seen.position.as_dvec3(),
            last_position: seen.position.as_dvec3(),
            normal: seen.start().geometric_normal,
            mesh: 0,
            frames,
        };
        let occluded = occlusion::rays(&stage.triangles, seen, random, rays, FAR);
        Some((point, occluded))
    };
    let mut twin: signal::Frame<_> = (0..).zip(&stage.seen).map(pixel).collect();
    if filter {
        let view = stage.moment.view;
        let eye = signal::Eye {
            clip_from_offset: view.clip_from_offset(ASPECT).as_dmat4(),
            position: view.eye().as_dvec3(),
            forward: view.forward().as_dvec3(),
            size: SIZE,
            pixel_side: view.pixel_side(SIZE[1]).map(f64::from),
        };
        for step in [4, 2, 1] {
            twin = signal::filter(&twin, &eye, frames * RAYS, step);
        }
    }
    // The tolerance is a step of ten bits. With the filter, a ray that passes an edge on the other side
    // affects many pixels.
    let tolerance = if filter { 0.02 } else { 6e-4 };
    let (mut compared, mut wrong) = (0, 0);
    for ((twin, seen), word) in twin.iter().zip(&stage.seen).zip(&words) {
        let (Some((_, twin)), Some(seen)) = (twin, seen) else {
            continue;
        };
        let (_, visibility) = twin.visibility(seen.normal);
        let (_, found) = occlusion::unpack_visibility(*word);
        wrong += usize::from((f64::from(found) - visibility).abs() > tolerance);
        compared += 1;
    }
    Ok(tally(wrong, compared, compared / 50))
}

/// Checks the sunlight reflected at the hit of one ray per pixel.
fn bounced_light(device: &Device<'_>) -> Result<Verdict> {
    let mut stage = Stage::drawn(device, |own| {
        own.occlusion.mode = OcclusionMode::Rays;
        own.occlusion.history = 1;
        own.occlusion.filter = false;
        own.occlusion.rays = 1;
        own.occlusion.radius = 0.0;
    })?;
    let [bounced] = stage.channels([Channel::Bounced])?;
    let materials = stage.offscreen.merged()?.materials;
    let scene = scene();
    let scatters = |material: u32| scene.materials[material as usize].base_color.truncate();
    let around = Surroundings {
        triangles: &stage.triangles,
        corner_normals: &stage.corner_normals,
        scattered: &materials
            .iter()
            .map(|&material| scatters(material).as_dvec3())
            .collect::<Vec<_>>(),
        lights: &lights::gather(&scene, &stage.moment.pose, &stage.offscreen.config, 1.0),
    };
    let (mut compared, mut wrong) = (0, 0);
    for ((index, seen), found) in (0..).zip(&stage.seen).zip(&bounced) {
        let Some(seen) = seen else { continue };
        let random = (blue_noise::mask(), [index % SIZE[0], index / SIZE[0]]);
        let twin = around.along(seen, random, 0, FAR);
        let found = Vec3::from_slice(found).as_dvec3();
        let is_right = (found - twin).abs().max_element() < 0.01 * twin.length() + 1e-3;
        wrong += usize::from(!is_right);
        compared += 1;
    }
    // Rays that start on a smooth surface or pass an edge may hit something else.
    Ok(tally(wrong, compared, compared / 25))
}

/// Checks height fog in sunlight: transmittance and in-scattered light.
fn fog(device: &Device<'_>) -> Result<Verdict> {
    let mut stage = Stage::drawn(device, |own| {
        own.shadows.mode = ShadowMode::Off;
        own.environment.intensity = 0.0;
        own.fog.density = 0.2;
        own.fog.height_falloff = 0.3;
    })?;
    let channels = [Channel::Position, Channel::Transmittance, Channel::Scattered];
    let [position, passes, scattered] = stage.channels(channels)?;
    let own = &stage.offscreen.config;
    let medium = Fog {
        density: own.fog.density.into(),
        base: own.fog.height.into(),
        falloff: own.fog.height_falloff.into(),
        noise: 0.0,
        noise_size: 1.0,
    };
    let sun = own.sun.strength * Vec3::from(own.sun.color) * Vec3::from(own.fog.albedo);
    let (to_sun, anisotropy) = (own.sun.to_sun().as_dvec3(), own.fog.anisotropy.into());
    let eye = stage.moment.view.eye().as_dvec3();
    let texels = position.iter().zip(&passes).zip(&scattered);
    let seen = texels.filter(|((position, _), _)| position[3] == 1.0);
    let errors = seen.map(|((position, passes), scattered)| {
        let at = Vec3::from_slice(position).as_dvec3();
        let expected = (-medium.optical_depth(eye, at)).exp();
        let phase = fog::phase(anisotropy, to_sun.dot((at - eye).normalize()));
        let light = (1.0 - expected) * phase * sun.as_dvec3();
        let off = (Vec3::from_slice(scattered).as_dvec3() - light).abs();
        let share = off.max_element() / light.max_element();
        (f64::from(passes[0]) - expected).abs().max(share)
    });
    Ok(at_most(errors, 0.01, "of the light"))
}

fn motions(device: &Device<'_>) -> Result<Verdict> {
    let mut stage = Stage::new(&scene(), device, |_| {})?;
    stage.offscreen.reads = vec![Channel::Motion];
    stage.draw()?;
    let last = stage.camera();
    let turned = Mat4::from_rotation_y(0.03) * stage.moment.view.world_from_view;
    stage.moment.view.world_from_view = turned;
    stage.draw()?;
    let now = stage.camera();
    let [motion, position] = stage.channels([Channel::Motion, Channel::Position])?;
    let error = |(motion, position): (&[f32; 4], &[f32; 4])| {
        let at = Vec3::from_slice(position).as_dvec3();
        let moved = now.in_picture(at, SIZE)? - last.in_picture(at, SIZE)?;
        let found = DVec2::new(motion[0].into(), motion[1].into());
        (position[3] == 1.0).then(|| found.distance(moved))
    };
    let errors = motion.iter().zip(&position).filter_map(error);
    Ok(at_most(errors, 0.01, "pixels"))
}

/// Checks the exposure computed from a picture's histogram.
fn exposures(device: &Device<'_>) -> Result<Verdict> {
    let mut stage = Stage::drawn(device, |_| {})?;
    let [lit] = stage.channels([Channel::Lit])?;
    let gpu = &stage.offscreen.gpu;
    let halves: Vec<_> = lit.iter().map(|texel| texel.map(f16::from_f32)).collect();
    let texels: Vec<_> = halves.iter().map(|texel| texel.map(f16::to_f32)).collect();
    let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
    let format = wgpu::TextureFormat::Rgba16Float;
    let image = GpuImage::new(gpu, "selftest", SIZE, format, usage);
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(8 * SIZE[0]),
        rows_per_image: None,
    };
    let (texture, size) = (image.texture.as_image_copy(), image.texture.size());
    let bytes = bytemuck::cast_slice(&halves);
    gpu.queue.write_texture(texture, bytes, layout, size);
    let params = ExposureParams {
        low: 0.1,
        high: 0.9,
        compensation: 0.7,
        min_ev: -64.0,
        max_ev: 64.0,
        fallback: 0.0,
        share: 1.0,
    };
    let mut pass = render::present::exposure::Exposure::new(gpu);
    let mut encoder = gpu.encoder("selftest");
    pass.record(gpu, &mut encoder.scope("selftest"), &params, &image.view)?;
    gpu.queue.submit([encoder.finish()]);
    let used: Vec<Exposure> = bytemuck::pod_collect_to_vec(&gpu.read(&pass.used)?);
    let bins: Vec<ExposureBin> = bytemuck::pod_collect_to_vec(&gpu.read(&pass.bins)?);
    let bins = &bins[..EXPOSURE_BINS as usize];
    if bins != exposure::histogram(&texels) {
        return Ok(Err("another histogram than its twin's".into()));
    }
    let twin = exposure::exposure(&params, bins, Exposure::default());
    let error = (used[0].target_ev - twin.target_ev).abs();
    let text = format!("{} pixels, {error:.1e} stops off", texels.len());
    Ok(if error < 2e-5 { Ok(text) } else { Err(text) })
}

/// Checks the radiance of surfaces lit by the sun and a uniform environment.
fn light(device: &Device<'_>) -> Result<Verdict> {
    let mut stage = Stage::drawn(device, |own| {
        own.shadows.mode = ShadowMode::Off;
        // The reference does not know triangles, which the filter needs.
        own.materials.glint_filter = false;
    })?;
    let used = stage.offscreen.config.clone();
    let scene = scene();
    let lights = lights::gather(&scene, &stage.moment.pose, &used, 1.0);
    let color = Vec3::from(used.environment.color).as_dvec3() * f64::from(used.environment.intensity);
    let ambient = lighting::EnvironmentLight {
        diffuse: &|_| color,
        mirrored: &|_, _| color,
        split: &|n_dot_v, roughness| brdf_table::albedo(n_dot_v, roughness, 96),
        multiple_scattering: true,
    };
    let [
        position,
        normal,
        albedo,
        emissive,
        roughness,
        metallic,
        occlusion,
        lit,
    ] = stage.channels([
        Channel::Position,
        Channel::Normal,
        Channel::Albedo,
        Channel::Emissive,
        Channel::Roughness,
        Channel::Metallic,
        Channel::Occlusion,
        Channel::Lit,
    ])?;
    let eye = stage.moment.view.eye();
    let error = |i: usize| {
        if position[i][3] != 1.0 {
            return None;
        }
        let surface = lighting::Surface {
            position: Vec3::from_slice(&position[i]),
            normal: Vec3::from_slice(&normal[i]),
            smooth_normal: Vec3::from_slice(&normal[i]),
            albedo: Vec3::from_slice(&albedo[i]),
            occlusion: occlusion[i][0],
            emissive: Vec3::from_slice(&emissive[i]),
            roughness: roughness[i][0],
            metallic: metallic[i][0],
        };
        let to_eye = (eye - surface.position).normalize();
        let twin = lighting::lighting(&surface, to_eye, &lights, &ambient);
        let found = Vec3::from_slice(&lit[i]).as_dvec3();
        let off = if found.is_finite() {
            (found - twin).abs().max_element()
        } else {
            f64::INFINITY
        };
        Some(off / (twin.max_element() + 0.05))
    };
    let errors = (0..position.len()).filter_map(error);
    Ok(at_most(errors, 0.005, "of the radiance"))
}

/// Checks the mapping from radiance to eight-bit values, with every tone curve.
fn display(device: &Device<'_>) -> Result<Verdict> {
    let curves = [
        Tonemap::None,
        Tonemap::Reinhard,
        Tonemap::Aces,
        Tonemap::Neutral,
        Tonemap::Agx,
    ];
    let mut errors = Vec::new();
    for (number, curve) in (0..).zip(curves) {
        let mut stage = Stage::drawn(device, |own| own.image.tonemap = curve)?;
        let params = TonemapParams {
            curve: number,
            ..TonemapParams::default()
        };
        let exposure = Exposure {
            scale: 1.0,
            ..Exposure::default()
        };
        let [lit] = stage.channels([Channel::Lit])?;
        let picture = stage.offscreen.picture()?;
        // The background colour is not tone mapped.
        let surfaces = stage.seen.iter().map(Option::is_some);
        for ((pixel, lit), _) in picture
            .chunks_exact(4)
            .zip(&lit)
            .zip(surfaces)
            .filter(|(_, is)| *is)
        {
            let lit = Vec3::from_slice(lit).as_dvec3();
            let twin = tonemap::tonemap(&params, &exposure, lit, DVec3::ZERO);
            let error = |axis: usize| (f64::from(pixel[axis]) - twin[axis] * 255.0).abs();
            errors.extend([0, 1, 2].map(error));
        }
    }
    Ok(at_most(errors.into_iter(), 1.01, "levels"))
}

/// Checks the anti-aliasing filter.
fn edges(device: &Device<'_>) -> Result<Verdict> {
    let picture = |filter| -> Result<Vec<u8>> {
        let stage = Stage::drawn(device, |own| own.image.antialias = filter)?;
        stage.offscreen.picture()
    };
    let (before, after) = (picture(Antialias::Off)?, picture(Antialias::Smaa)?);
    let [width, height] = SIZE.map(|side| side as usize);
    let picture = antialias::Picture {
        width,
        height,
        rgba8: &before,
    };
    let weights = antialias::weights(width, height, &antialias::edges(&picture));
    let twin = antialias::blend(&picture, &weights);
    let changed = before.chunks(4).zip(after.chunks(4));
    let changed = changed.filter(|(a, b)| a != b).count();
    if changed < 100 {
        return Err(Error::WrongResult(format!("only {changed} pixels are filtered")));
    }
    let differs = |(twin, pixel): &(&[f64; 4], &[u8])| {
        let mut channels = twin.iter().zip(pixel.iter());
        channels.any(|(a, b)| (a - f64::from(*b)).abs() > 1.01)
    };
    let wrong = twin.iter().zip(after.chunks(4)).filter(differs).count();
    Ok(tally(wrong, twin.len(), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_detect_errors() {
        assert!(tally(1, 1000, 1).is_ok());
        assert!(tally(2, 1000, 1).is_err());
        assert!(tally(0, 3, 1).is_err(), "an empty picture passes");
        let errors = |last: f64| (0..400).map(move |i| if i == 200 { last } else { 1e-6 });
        assert!(at_most(errors(1e-6), 1e-5, "metres").is_ok());
        assert!(at_most(errors(1e-4), 1e-5, "metres").is_err());
        assert!(at_most(errors(f64::NAN), 1e-5, "metres").is_err(), "NaN passes");
        assert!(
            at_most(errors(0.0).take(3), 1e-5, "metres").is_err(),
            "too few pass"
        );
    }
}
