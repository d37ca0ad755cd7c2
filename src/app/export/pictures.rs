//! Number and names of exported pictures, and the arguments of the process that draws them.

use crate::{
    app::{
        export::model::Motion,
        files::command_line::{Seen, words},
        state::State,
    },
    config::{Config, ExposureMode},
    scene::{self, Projection, timeline::LoopRange},
};
use std::path::{Path, PathBuf};

impl State {
    /// Returns the number of pictures of an export with the current settings, at least 1.
    pub(in crate::app) fn exported_frames(&self) -> u32 {
        let fps = self.config.output.fps;
        let seconds = match self.files.export.motion {
            Motion::Clip => {
                let LoopRange { from, to } = self.loop_range();
                (to - from) / self.config.animation.speed.abs()
            }
            Motion::Turn => self.files.export.turn_secs,
            Motion::Path => {
                return self.motion.path.path(1.0).map_or(1, |path| path.frames(fps));
            }
        };
        let frames = seconds * fps;
        match frames.is_finite() {
            true => (frames.round() as u32).max(1),
            false => 1,
        }
    }

    /// Returns the reason why nothing can be exported now, if there is one.
    pub(in crate::app) fn no_export(&self) -> Option<&'static str> {
        let Some(stage) = &self.stage else {
            return Some("there is no scene");
        };
        let is_orthographic = matches!(self.camera.projection, Projection::Orthographic { .. });
        let is_video = self.files.export.format == "mp4" || self.files.export.format == "webm";
        let size = self.config.output.size;
        if stage.files.iter().any(|file| scene::is_stdin(file)) {
            Some("a scene from standard input cannot be exported")
        } else if self.files.export.motion == Motion::Path && self.motion.path.keys().is_empty() {
            Some("the camera path has no keyframes")
        } else if self.files.export.motion != Motion::Path && is_orthographic {
            Some("exports need a perspective view")
        } else if is_video && size.iter().any(|side| !side.is_multiple_of(2)) {
            Some("videos need an even width and height")
        } else {
            None
        }
    }

    /// Returns the settings of an export: those of the window, with an automatic exposure fixed to its
    /// current value.
    fn exported_config(&self) -> Config {
        let mut config = self.config.clone();
        if let (ExposureMode::Auto, Some(stage)) = (config.image.exposure, &self.stage) {
            config.image.exposure = ExposureMode::Stops(stage.last_exposure());
        }
        config
    }

    /// Returns the arguments of the process that draws the export to `output`. `path` and `edits` are the
    /// files of the camera path and of the edits, which the caller writes.
    pub(in crate::app) fn export_arguments(&self, output: &Path, [path, edits]: [&Path; 2]) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let seen = match self.files.export.motion {
            Motion::Path => Seen::FromElsewhere,
            Motion::Clip | Motion::Turn => Seen::FromHere,
        };
        let mut arguments = vec!["render".to_owned()];
        let now = self.stage.as_ref().map_or(0.0, |stage| stage.time);
        let start = match self.files.export.motion {
            Motion::Clip => self.loop_range().from,
            Motion::Turn | Motion::Path => now,
        };
        let config = self.exported_config();
        arguments.extend(words(self, &config, config.output.size, seen, start));
        match self.files.export.motion {
            Motion::Clip => {}
            Motion::Turn => {
                arguments.extend(["--turntable".into(), self.files.export.turn_secs.to_string()]);
            }
            Motion::Path => {
                // Keys without a field of view use the current one.
                let fov = config.camera.fov;
                arguments.extend(["--path".into(), text(path)]);
                arguments.extend(["--set".into(), format!("camera.fov={fov}")]);
            }
        }
        arguments.extend(["--edits".into(), text(edits)]);
        arguments.extend(["--frames".into(), self.exported_frames().to_string()]);
        arguments.extend(["--samples".into(), self.files.export.samples.to_string()]);
        arguments.extend(["--progress".into(), "-o".into(), text(output)]);
        arguments
    }

    /// Returns the path of the exported files. Unless it is a video, the name contains a placeholder for the
    /// number of the frame. `new` creates a path with an extension, for an export without a chosen path.
    pub(in crate::app) fn exported_file(&self, new: impl FnOnce(&str) -> PathBuf) -> PathBuf {
        let format = self.files.export.format;
        let path = match self.files.export.file.as_str() {
            "" => new(format),
            name => PathBuf::from(name).with_extension(format),
        };
        let is_video = format == "mp4" || format == "webm";
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        match is_video || name.contains("{frame") {
            true => path,
            false => path.with_file_name(format!("{name} {{frame:4}}.{format}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Config,
        scene::{
            Clip, Scene,
            framing::Look,
            opened::{OpenedScene, Span},
        },
    };

    fn state() -> State {
        let scene = Scene {
            clips: vec![Clip {
                duration_secs: 2.0,
                ..Clip::default()
            }],
            ..Scene::default()
        };
        let config = Config::default();
        let mut state = State::new(config.clone());
        let opened = OpenedScene::new(scene, &config, Span::Clip);
        state.show(vec!["/a.glb".into()], opened, &Look::default(), 1.0);
        state
    }

    #[test]
    fn the_number_of_exported_frames_follows_the_motion() {
        let mut state = state();
        state.config.output.fps = 10.0;
        assert_eq!(state.exported_frames(), 20);
        state.set_loop_range(LoopRange { from: 0.5, to: 1.5 });
        assert_eq!(state.exported_frames(), 10);
        state.config.animation.speed = -0.5;
        assert_eq!(state.exported_frames(), 20);
        state.config.animation.speed = 0.0;
        assert_eq!(state.exported_frames(), 1);
        state.files.export.motion = Motion::Turn;
        assert_eq!(state.exported_frames(), 80);
        state.files.export.motion = Motion::Path;
        assert_eq!(state.no_export(), Some("the camera path has no keyframes"));
        state.add_path_key();
        state.add_path_key();
        // Both ends are included.
        assert_eq!((state.exported_frames(), state.no_export()), (21, None));
    }

    #[test]
    fn exported_image_sequences_have_numbered_names() {
        let mut state = state();
        let named = |state: &State| state.exported_file(|format| format!("/p/new.{format}").into());
        assert_eq!(named(&state), Path::new("/p/new {frame:4}.png"));
        state.files.export.format = "mp4";
        assert_eq!(named(&state), Path::new("/p/new.mp4"));
        state.files.export.file = "b/a{frame}.png".into();
        state.files.export.format = "exr";
        assert_eq!(named(&state), Path::new("b/a{frame}.exr"));
    }

    #[test]
    fn export_arguments_parse_as_a_render_command() {
        use crate::cli::{Cli, Command};
        let mut state = state();
        state.config.camera.fov = 31.5;
        for motion in [Motion::Clip, Motion::Turn, Motion::Path] {
            state.files.export.motion = motion;
            state.add_path_key();
            let arguments =
                state.export_arguments(Path::new("a {frame}.png"), ["p.json", "e.json"].map(Path::new));
            let all = std::iter::once("canopy".to_owned()).chain(arguments.iter().cloned());
            let cli = Cli::parse_from_os(all.map(std::ffi::OsString::from)).unwrap();
            let Command::Render(render) = cli.command else {
                panic!("{arguments:?}")
            };
            assert_eq!(render.samples, Some(16));
            assert_eq!(
                render.frames,
                Some(crate::cli::render::Frames::Count(state.exported_frames()))
            );
            assert_eq!(render.path.is_some(), motion == Motion::Path);
            let has_fov = arguments.iter().any(|word| word == "camera.fov=31.5");
            assert_eq!(has_fov, motion == Motion::Path);
            let sets_exposure = arguments.iter().any(|word| word == "image.exposure=\"0\"");
            assert!(sets_exposure, "{arguments:?}");
            assert_eq!(render.turntable, (motion == Motion::Turn).then_some(8.0));
        }
    }

    #[test]
    fn impossible_exports_report_the_reason() {
        let mut state = state();
        assert_eq!(state.no_export(), None);
        state.config.output.size = [641, 360];
        assert_eq!(state.no_export(), None);
        state.files.export.format = "webm";
        assert_eq!(state.no_export(), Some("videos need an even width and height"));
        state.camera.switch_projection(1.0);
        assert!(state.no_export().unwrap().contains("perspective"));
        state.stage.as_mut().unwrap().files = vec!["-".into()];
        assert!(state.no_export().unwrap().contains("standard input"));
        state.stage = None;
        assert_eq!(state.no_export(), Some("there is no scene"));
    }
}
