//! Output files of `canopy render`: checked before any work is done, then encoded and written.

use super::{
    args::{Frames, PictureFormat, RenderArgs, is_stdout, usage},
    video,
};
use crate::{
    Error, Result,
    cli::{console::print_bytes, offscreen::Offscreen},
    config::{self, Config, ImageMode, ShadowMode},
    lab::view::heat_of,
    output::{
        self, embedded, numbers,
        path_part::{self, PartInfo, PathPart},
        picture,
    },
    provenance::{PictureInputs, Provenance, SOFTWARE},
    render::Channel,
};
use std::{
    collections::{BTreeSet, HashSet},
    io::IsTerminal as _,
    ops::Range,
    path::{Path, PathBuf},
};

/// A picture to write.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) channel: Channel,
    /// File name, or `None` for standard output.
    name: Option<output::Template>,
    format: PictureFormat,
}

/// Checks all output files before any work is done.
///
/// # Errors
///
/// [`Error::Usage`] for names that cannot be written, for formats that cannot hold the requested data, and
/// for channels that the settings do not compute. [`Error::Io`] for missing folders.
pub(super) fn outputs(
    args: &RenderArgs,
    config: &Config,
    frames: &Range<u32>,
    is_video: bool,
) -> Result<Vec<Output>> {
    let mut outputs = match is_video {
        true => Vec::new(),
        false => vec![picture_output(args, frames.len())?],
    };
    if let (Some(_), 1, Some(picture)) = (args.part, frames.len(), outputs.first())
        && picture.format != PictureFormat::Exr
    {
        return usage(format!(
            "{}: a part of a picture's samples must be an .exr file",
            args.output.display()
        ));
    }
    let holds_no_alpha = match outputs.first() {
        None => Some("a video"),
        Some(picture) => (picture.format == PictureFormat::Jpg).then_some("JPEG"),
    };
    let is_transparent = config.environment.background == config::Background::Transparent;
    if let Some(what) = holds_no_alpha.filter(|_| is_transparent) {
        return usage(format!(
            "{}: {what} stores no transparency; write .png or .exr",
            args.output.display()
        ));
    }
    for (channel, path) in &args.aov {
        check_computed(*channel, config)?;
        outputs.push(Output {
            channel: *channel,
            name: Some(output::Template::new(path)?),
            format: PictureFormat::of(output::extension(path, &["png", "exr"])?),
        });
    }
    let mut taken = HashSet::new();
    for output in &outputs {
        let Some(name) = &output.name else { continue };
        let path = name.frame(frames.start);
        if frames.len() > 1 && !name.is_numbered() {
            let what = match args.frames {
                Some(Frames::Count(count)) => format!("--frames {count} needs"),
                _ => format!("{} frames need", frames.len()),
            };
            return usage(format!(
                "{}: {what} a name with {{frame}}, or every picture would replace the last",
                path.display(),
            ));
        }
        // Different minimum widths of the number give different names for the first picture, but may give the
        // same name for the last.
        let ends: BTreeSet<_> = [frames.start, frames.end - 1]
            .map(|n| place(&name.frame(n)))
            .into();
        take(ends, &path, &mut taken)?;
        output::check_writable(&path)?;
    }
    if let Some(path) = &args.stats {
        output::extension(path, &["json"])?;
        take([place(path)], path, &mut taken)?;
        output::check_writable(path)?;
    }
    if let Some(path) = &args.checkpoint {
        output::extension(path, &["exr"])?;
        take([place(path)], path, &mut taken)?;
        output::check_writable(path)?;
    }
    Ok(outputs)
}

/// Adds `places` to the `taken` paths. Fails if one of them is already there.
fn take(places: impl IntoIterator<Item = PathBuf>, path: &Path, taken: &mut HashSet<PathBuf>) -> Result<()> {
    match places.into_iter().all(|place| taken.insert(place)) {
        true => Ok(()),
        false => usage(format!("{}: two outputs have this path", path.display())),
    }
}

/// Normalises a path so that all spellings of it are equal. Resolves links and `..` in its folder, and keeps
/// its file name.
fn place(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = absolute.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, absolute.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => absolute,
    }
}

fn picture_output(args: &RenderArgs, frames: usize) -> Result<Output> {
    let known = [&PictureFormat::EXTENSIONS[..], &video::EXTENSIONS[..]].concat();
    let of_name = || output::extension(&args.output, &known).map(PictureFormat::of);
    if !is_stdout(&args.output) {
        return Ok(Output {
            channel: Channel::Lit,
            format: args.format.map_or_else(of_name, Ok)?,
            name: Some(output::Template::new(&args.output)?),
        });
    }
    if frames > 1 {
        return usage("-o -: standard output can hold only one picture; --frames needs files".into());
    }
    if args.skip_existing {
        return usage("-o -: standard output holds nothing yet; --skip-existing needs a file".into());
    }
    if args.progress {
        return usage("-o -: standard output holds the picture; --progress needs a file".into());
    }
    if std::io::stdout().is_terminal() {
        return usage("-o -: standard output is a terminal; send it to a file or a program".into());
    }
    Ok(Output {
        channel: Channel::Lit,
        format: args.format.unwrap_or(PictureFormat::Png),
        name: None,
    })
}

/// Fails if a frame with these settings does not compute the channel.
fn check_computed(channel: Channel, config: &Config) -> Result<()> {
    let shadows = config.shadows.mode;
    let is_path_traced = config.image.mode == ImageMode::Path;
    let missing = match channel {
        Channel::Ambient
        | Channel::Bounced
        | Channel::Transmittance
        | Channel::Scattered
        | Channel::Reflection
        | Channel::ReflectionDistance
        | Channel::ReflectionTiles
        | Channel::Shadow
        | Channel::Cost
            if is_path_traced =>
        {
            Some("paths have no such channel; leave --paths and image.mode = \"path\" out")
        }
        Channel::Ambient if !config.occlusion.sends_rays() => {
            Some("ambient visibility is not computed with occlusion off; add --occlusion rays")
        }
        Channel::Bounced if !config.occlusion.bounces_light() => {
            Some("light does not bounce; add --occlusion rays --set occlusion.bounce=one")
        }
        Channel::Deviation if config.deviation.file.is_empty() => {
            Some("there is no surface to measure from; add --deviation FILE")
        }
        Channel::Reflection | Channel::ReflectionDistance | Channel::ReflectionTiles
            if !config.reflections.sends_rays() =>
        {
            Some("reflections are not traced; add --reflections rays")
        }
        Channel::Shadow if shadows == ShadowMode::Off => {
            Some("shadows are off; add --shadows rays or --shadows map")
        }
        Channel::Cost if shadows != ShadowMode::Rays => {
            Some("only shadow rays have a cost; add --shadows rays")
        }
        _ => None,
    };
    if channel == Channel::Lab
        && let Err(fault) = config.lab.structure.check(config.lab.walk)
    {
        return usage(format!("--aov lab: {fault}"));
    }
    match missing {
        Some(why) => usage(format!("--aov {}: {why}", channel.name())),
        None => Ok(()),
    }
}

/// Fails if the channel `shadow` is requested but the scene has no lights. Call it after the first frame,
/// which counts the lights.
///
/// # Errors
///
/// [`Error::NotFound`].
pub(super) fn check_lights(outputs: &[Output], lights: u32) -> Result<()> {
    let wanted = outputs.iter().any(|o| o.channel == Channel::Shadow);
    if wanted && lights == 0 {
        return Err(Error::NotFound(
            "--aov shadow: no light shines on the scene; add --sun X,Y,Z".into(),
        ));
    }
    Ok(())
}

/// Files written so far.
#[derive(Debug, Default)]
pub(super) struct Written {
    pictures: u32,
    /// Number of pictures that were skipped because their files existed.
    pub(super) left: u32,
    channels: u32,
    bytes: u64,
    first: String,
    last: String,
}

impl Written {
    /// Adds a written video.
    pub(super) fn add_video(&mut self, name: String, bytes: u64) {
        self.pictures = 1;
        self.bytes += bytes;
        self.first = name;
    }

    /// Describes the written files, for pictures of `size`.
    pub(super) fn text(&self, [width, height]: [u32; 2]) -> String {
        let (first, last) = (&self.first, &self.last);
        let left = match self.left {
            0 => String::new(),
            1 => ", and left 1 that was there".into(),
            more => format!(", and left {more} that were there"),
        };
        let names = match self.pictures {
            0 => return format!("nothing{left}"),
            1 => first.clone(),
            more => format!("{more} pictures, {first} to {last}"),
        };
        let channels = match self.channels {
            0 => String::new(),
            1 => " and 1 channel".into(),
            more => format!(" and {more} channels"),
        };
        let bytes = numbers::bytes(self.bytes);
        format!("{names}{channels} ({width} × {height} pixels, {bytes}){left}")
    }
}

impl Output {
    /// True if the file of picture `frame` exists. Files appear complete or not at all. An empty file is a
    /// placeholder of another process for a picture in progress.
    pub(super) fn is_there(&self, frame: u32) -> bool {
        let path = self.name.as_ref().map(|name| name.frame(frame));
        let file = path.and_then(|path| std::fs::metadata(path).ok());
        file.is_some_and(|file| file.is_file() && file.len() > 0)
    }

    /// Encodes the last drawn picture and writes it as picture `frame`, or as the given `part` of it.
    pub(super) fn write(
        &self,
        offscreen: &mut Offscreen,
        frame: u32,
        shown: PictureInputs<'_>,
        part: Option<&PartInfo>,
        written: &mut Written,
    ) -> Result<()> {
        let path = self.name.as_ref().map(|name| name.frame(frame));
        let folder = path.as_ref().and_then(|path| path.parent());
        let config = &offscreen.config;
        let keeps = config.output.metadata && self.channel == Channel::Lit;
        let most = match self.format {
            PictureFormat::Jpg => embedded::MAX_BYTES_OF_JPEG,
            PictureFormat::Png | PictureFormat::Exr => embedded::MAX_BYTES,
        };
        let (made, left) = match keeps {
            true => Provenance::new(config, &shown, folder).text_within(most),
            false => (None, None),
        };
        let name = match &path {
            None => "standard output".to_owned(),
            Some(path) => path.display().to_string(),
        };
        let bytes = self
            .encode(offscreen, part, made)
            .map_err(|error| error.with_output(&name))?;
        match &path {
            None => print_bytes(&bytes)?,
            Some(path) => output::write(path, &bytes)?,
        }
        if let Some(left) = left {
            log::warn!("{name}: {}", left.text());
        }
        written.bytes += bytes.len() as u64;
        log::debug!("wrote {name}");
        if self.channel != Channel::Lit {
            written.channels += 1;
            return Ok(());
        }
        if written.pictures == 0 {
            written.first.clone_from(&name);
        }
        written.pictures += 1;
        written.last = name;
        Ok(())
    }

    /// Encodes the picture. `made` is the provenance text to embed.
    fn encode(
        &self,
        offscreen: &mut Offscreen,
        part: Option<&PartInfo>,
        made: Option<String>,
    ) -> Result<Vec<u8>> {
        if let (Channel::Lit, Some(about)) = (self.channel, part) {
            return path_part::exr(&PathPart {
                about: about.clone(),
                sums: offscreen.path_sums()?,
                made,
            });
        }
        let made = made.as_deref();
        let [width, height] = offscreen.config.output.size;
        let quality = offscreen.config.output.jpeg_quality;
        match (self.channel, self.format) {
            (Channel::Lit, PictureFormat::Png) => {
                let bytes = picture::png(width, height, offscreen.picture()?)?;
                Ok(made.map_or(bytes.clone(), |made| embedded::into_png(&bytes, made, SOFTWARE)))
            }
            (Channel::Lit, PictureFormat::Jpg) => {
                let bytes = picture::jpeg(width, height, offscreen.picture()?, quality)?;
                Ok(made.map_or(bytes.clone(), |made| embedded::into_jpeg(&bytes, made)))
            }
            (channel, PictureFormat::Exr) => picture::exr_with(&offscreen.channel(channel)?, made),
            (channel, _) => {
                let image = offscreen.channel(channel)?;
                if let Some(heat) = heat_of(channel, &offscreen.config, &offscreen.config.lab) {
                    let (pixels, range) = picture::cost(&image, heat.weights, heat.range);
                    let name = channel.name();
                    log::info!("the brightest colour of the channel {name} stands for {range}");
                    return picture::png(image.width, image.height, pixels);
                }
                let pixels = picture::viewable(channel, &image);
                picture::png(image.width, image.height, pixels)
            }
        }
    }

    /// True if the output is written after the last sample. Other channels come from the first sample,
    /// because averaging two mesh numbers would give the number of a third mesh.
    pub(super) fn is_of_last_sample(&self) -> bool {
        matches!(self.channel, Channel::Lit | Channel::Ambient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_the_written_files() {
        let mut written = Written {
            pictures: 1,
            bytes: 2048,
            first: "a.png".into(),
            ..Written::default()
        };
        assert_eq!(written.text([4, 3]), "a.png (4 × 3 pixels, 2.0 KiB)");
        written.pictures = 3;
        written.channels = 6;
        written.last = "c.png".into();
        assert_eq!(
            written.text([4, 3]),
            "3 pictures, a.png to c.png and 6 channels (4 × 3 pixels, 2.0 KiB)"
        );
        (written.pictures, written.left) = (0, 2);
        assert_eq!(written.text([4, 3]), "nothing, and left 2 that were there");
    }
}
