//! One side of a comparison: a picture, or a scene with its settings.

use crate::{
    Error, Result,
    cli::{
        adapters::adapter_json,
        bench::timing::median,
        every_adapter,
        offscreen::{self, Moment, Offscreen},
        path_draws::PathDraws,
        report::Report,
    },
    config::{Config, ExposureMode},
    gpu::Gpu,
    render::{
        Channel, FrameSample, frame::recording::FRAME_SCOPE, materials::material_textures::texture_support,
    },
    scene::{
        framing::Look,
        is_stdin,
        opened::{OpenedScene, Span},
        picture::{self, Picture},
    },
};

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Limits of the measurement: the total time of the frames in milliseconds, and the number of frames.
const MEASURED_MS: f64 = 500.0;
const MAX_FRAMES: usize = 15;

/// A picture, or a scene to render.
#[derive(Debug)]
pub(super) struct Side {
    name: Name,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Picture(Picture),
    Scene(Box<Config>),
}

/// File and settings that identify a side in captions and messages.
#[derive(Debug)]
pub(super) struct Name {
    /// File, or `None` for the built-in scene.
    pub(super) file: Option<PathBuf>,
    /// Settings that the other side does not have, as `KEY=VALUE`.
    pub(super) with: Vec<String>,
}

/// A side after rendering.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) name: Name,
    pub(super) picture: Picture,
    /// Linear radiance of a scene, if requested.
    pub(super) radiance: Option<Picture>,
    /// Exposure of a scene, in stops.
    pub(super) exposure_ev: Option<f32>,
    /// Cost of rendering, or `None` for an input picture.
    pub(super) cost: Option<Cost>,
}

/// Options for rendering scenes.
#[derive(Debug)]
pub(super) struct Drawing {
    /// View of the first frame, as the command line selects it.
    pub(super) look: Look,
    /// Number of draws to average.
    pub(super) samples: u32,
    /// Number of single frames in a row, the last of which is compared, instead of the average.
    pub(super) frames: Option<u32>,
    /// True if linear radiance is compared.
    pub(super) is_linear: bool,
    /// True if linear radiance is kept in addition to the picture.
    pub(super) keeps_radiance: bool,
    /// Time limit of path tracing in seconds.
    pub(super) time_limit: Option<f64>,
}

/// Cost of a frame, or of all paths of a picture.
#[derive(Debug)]
pub(super) struct Cost {
    /// Adapter, as JSON.
    pub(super) adapter: Value,
    /// Median GPU time in milliseconds, if the adapter has timestamps.
    pub(super) gpu_ms: Option<f64>,
    /// Median time from submission to completion in milliseconds, or the total over all draws of a
    /// path-traced picture.
    pub(super) wall_ms: f64,
    /// Number of measured frames.
    pub(super) frames: usize,
    /// Paths per pixel of a path-traced picture.
    pub(super) paths: Option<u32>,
}

/// Checks that `files` can be compared. Returns true if linear radiance is compared.
///
/// # Errors
///
/// [`Error::Usage`].
pub(super) fn check_files([a, b]: [Option<&Path>; 2], has_with: bool, has_size: bool) -> Result<bool> {
    if b.is_some_and(is_stdin) && a == b {
        return usage("-: standard input can be read only once; name a file".into());
    }
    let pictures: Vec<&Path> = [a, b]
        .into_iter()
        .flatten()
        .filter(|f| picture::is_picture(f))
        .collect();
    if let Some(picture) = b.filter(|b| picture::is_picture(b) && has_with) {
        return usage(format!("--with: {} is a picture", picture.display()));
    }
    if let Some(picture) = pictures.first().filter(|_| has_size) {
        return usage(format!("--size: the size of {} is used", picture.display()));
    }
    match pictures[..] {
        [a, b] if picture::is_linear(a) != picture::is_linear(b) => usage(format!(
            "{} and {}: .exr and .hdr hold linear radiance, which cannot be compared with sRGB values",
            a.display(),
            b.display()
        )),
        _ => Ok(pictures.iter().any(|file| picture::is_linear(file))),
    }
}

/// Creates both sides. Reads the pictures. A scene is rendered at the size of the picture that it is compared
/// with.
///
/// # Errors
///
/// Any error of [`Picture::load`]. [`Error::Argument`] for different sizes. [`Error::Config`] for settings of
/// `with`.
pub(super) fn sides(files: [Option<&Path>; 2], with: &[String], config: &Config) -> Result<[Side; 2]> {
    let load = |file: Option<&Path>| {
        let file = file.filter(|file| picture::is_picture(file));
        file.map(|file| Picture::load(file, &config.load)).transpose()
    };
    let pictures = [load(files[0])?, load(files[1])?];
    let mut config = config.clone();
    if let ([Some(picture), None], [Some(file), _]) | ([None, Some(picture)], [_, Some(file)]) =
        (&pictures, files)
    {
        let size: Vec<i64> = picture.size.map(i64::from).into();
        config.set(&file.display().to_string(), "output.size", size)?;
    }
    let mut other = config.clone();
    for set in with {
        other.set_text("--with", set)?;
    }
    let side = |file: Option<&Path>, with: &[String], picture, config: Config| {
        let scene = || Source::Scene(Box::new(config.for_still()));
        Side {
            name: Name {
                file: file.map(Path::to_owned),
                with: with.to_vec(),
            },
            source: Option::map_or_else(picture, scene, Source::Picture),
        }
    };
    let [picture_a, picture_b] = pictures;
    let sides = [
        side(files[0], &[], picture_a, config),
        side(files[1], with, picture_b, other),
    ];
    let [a, b] = [sides[0].size(), sides[1].size()];
    if a != b {
        let [[width, height], [other_width, other_height]] = [a, b];
        let [name, other_name] = [sides[0].name.text(), sides[1].name.text()];
        let other = format!("{other_name} {other_width}×{other_height}");
        let what = format!("{name} has {width}×{height} pixels, {other}; they need one size");
        return Err(Error::Argument(what));
    }
    Ok(sides)
}

impl Side {
    /// Returns the width and height in pixels.
    fn size(&self) -> [u32; 2] {
        match &self.source {
            Source::Picture(picture) => picture.size,
            Source::Scene(config) => config.output.size,
        }
    }

    /// Fixes the exposure of a scene in stops, overriding its settings.
    pub(super) fn expose(&mut self, exposure_ev: f32) {
        if let Source::Scene(config) = &mut self.source {
            config.image.exposure = ExposureMode::Stops(exposure_ev);
        }
    }

    /// Renders the side if it is a scene, on `gpu` if that was opened with the same settings. Returns the
    /// adapter in use.
    pub(super) fn drawn(
        self,
        report: &Report,
        gpu: Option<Opened>,
        drawing: &Drawing,
    ) -> Result<(Drawn, Option<Opened>)> {
        let config = match self.source {
            Source::Scene(config) => *config,
            Source::Picture(picture) => {
                let drawn = Drawn {
                    name: self.name,
                    picture,
                    radiance: None,
                    exposure_ev: None,
                    cost: None,
                };
                return Ok((drawn, gpu));
            }
        };
        let gpu = match gpu {
            Some((gpu, settings)) if settings == config.gpu => gpu,
            _ => every_adapter::open(report, &config)?.into(),
        };
        let files: Vec<PathBuf> = self.name.file.iter().cloned().collect();
        let support = texture_support(&gpu);
        let opened = offscreen::load(report, &files, |files, progress| {
            Ok(OpenedScene::load(
                files,
                &config,
                support,
                Span::MOMENT,
                progress,
            )?)
        })?;
        let opened = opened.checked()?;
        report.line.stage("uploading the scene");
        let mut offscreen = report.stage("upload", "the scene to the adapter", || {
            Offscreen::new(gpu, opened, &drawing.look, config)
        })?;
        if drawing.is_linear || drawing.keeps_radiance {
            offscreen.reads.push(Channel::Lit);
        }
        report.line.stage("drawing");
        let what = self.name.text();
        let moment = offscreen.moment(offscreen.config.animation.time);
        let traced = report.stage("draw", &what, || draw(&mut offscreen, &moment, drawing, report))?;
        let radiance = match drawing.is_linear || drawing.keeps_radiance {
            true => Some(radiance(&mut offscreen)?),
            false => None,
        };
        let (picture, radiance) = match radiance {
            Some(radiance) if drawing.is_linear => (radiance, None),
            radiance => {
                let size = offscreen.config.output.size;
                (Picture::from_rgba8(size, &offscreen.picture()?), radiance)
            }
        };
        let exposure_ev = Some(offscreen.stats().exposure_ev);
        let cost = match traced {
            Some(cost) => cost,
            None => {
                report.line.stage("measuring the time of a frame");
                report.stage("measure", &what, || cost(&mut offscreen, &moment))?
            }
        };
        offscreen.gpu.save_pipelines();
        let drawn = Drawn {
            name: self.name,
            picture,
            radiance,
            exposure_ev,
            cost: Some(cost),
        };
        Ok((drawn, Some((offscreen.gpu, offscreen.config.gpu))))
    }
}

/// An adapter, with the settings that it was opened with.
pub(super) type Opened = (Arc<Gpu>, crate::config::Gpu);

impl Name {
    /// Returns the file name and the settings, for messages.
    pub(super) fn text(&self) -> String {
        let file = self.file.as_ref();
        let file = file.map_or("the built-in scene".into(), |file| file.display().to_string());
        match self.with.is_empty() {
            true => file,
            false => format!("{file} with {}", self.with.join(", ")),
        }
    }
}

/// Renders a picture. Returns the cost if it is path traced.
fn draw(
    offscreen: &mut Offscreen,
    moment: &Moment,
    drawing: &Drawing,
    report: &Report,
) -> Result<Option<Cost>> {
    if offscreen.traces_paths() {
        return trace(offscreen, moment, drawing.time_limit, report).map(Some);
    }
    if let Some(frames) = drawing.frames {
        let fps = offscreen.config.output.fps;
        for before in (0..frames).rev() {
            let time = moment.time - before as f32 / fps;
            let now = offscreen.moment(time.max(0.0));
            offscreen.draw(&now, FrameSample::SINGLE)?;
        }
        return Ok(None);
    }
    for index in 0..drawing.samples {
        let sample = FrameSample::of(index, drawing.samples);
        offscreen.draw(moment, sample)?;
    }
    Ok(None)
}

fn trace(
    offscreen: &mut Offscreen,
    moment: &Moment,
    time_limit: Option<f64>,
    report: &Report,
) -> Result<Cost> {
    let wanted = offscreen.config.paths.samples;
    let mut draws = PathDraws::new(offscreen, [0, wanted], time_limit);
    let (mut wall_ms, mut frames) = (0.0, 0);
    while draws.goes_on() {
        let [done, wanted] = [draws.done, draws.wanted].map(u64::from);
        let text = format!("path {} of {wanted}", done + 1);
        report.line.step(done, wanted, text);
        wall_ms += draws.draw(offscreen, moment)?.wall_ms;
        frames += 1;
    }
    Ok(Cost {
        adapter: adapter_json(&offscreen.gpu.info),
        gpu_ms: None,
        wall_ms,
        frames,
        paths: Some(draws.done),
    })
}

/// Reads the radiance of the last picture.
fn radiance(offscreen: &mut Offscreen) -> Result<Picture> {
    let texels = offscreen.channel(Channel::Lit)?.texels;
    Ok(Picture {
        size: offscreen.config.output.size,
        pixels: texels.iter().map(|[r, g, b, _]| [*r, *g, *b]).collect(),
        is_linear: true,
    })
}

/// Renders further frames, without one-time work, and measures them.
fn cost(offscreen: &mut Offscreen, moment: &Moment) -> Result<Cost> {
    let (mut walls, mut gpus) = (Vec::new(), Vec::new());
    while walls.len() < MAX_FRAMES && walls.iter().sum::<f64>() < MEASURED_MS {
        walls.push(offscreen.draw(moment, FrameSample::SINGLE)?.wall_ms);
        let passes = &offscreen.stats().passes;
        gpus.extend(
            passes
                .iter()
                .find(|pass| pass.name == FRAME_SCOPE)
                .map(|pass| pass.last_ms),
        );
    }
    Ok(Cost {
        adapter: adapter_json(&offscreen.gpu.info),
        gpu_ms: (!gpus.is_empty()).then(|| median(&gpus)),
        wall_ms: median(&walls),
        frames: walls.len(),
        paths: None,
    })
}

/// Returns [`Error::Usage`] with the message `what`.
pub(super) fn usage<T>(what: String) -> Result<T> {
    Err(Error::Usage(what))
}
