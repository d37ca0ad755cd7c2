//! Command line that reproduces the current picture.

use crate::{
    app::state::{Stage, State},
    config::Config,
    scene::{self, Projection},
};
use std::path::Path;

/// Returns a shell command that opens the same files with the same settings, view and time, in a window of
/// this size in logical pixels. Standard input is left out, because another process cannot read it again.
pub(in crate::app) fn command_line(state: &State, [width, height]: [u32; 2]) -> String {
    let time = state.stage.as_ref().map_or(0.0, |stage| stage.time);
    let words = words(state, &state.config, [width, height], Seen::FromHere, time);
    let words = std::iter::once("canopy".to_owned()).chain(words);
    let quoted: Vec<String> = words.map(|word| quote(&word)).collect();
    quoted.join(" ")
}

/// Source of the viewpoint: the current camera, or arguments that the caller adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Seen {
    FromHere,
    FromElsewhere,
}

/// Returns arguments for the same files with the settings of `config`, a picture of this size in pixels, and
/// the clip at `time` in seconds. They contain the current view only for [`Seen::FromHere`].
pub(in crate::app) fn words(
    state: &State,
    config: &Config,
    [width, height]: [u32; 2],
    seen: Seen,
    time: f32,
) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(stage) = &state.stage {
        let files = stage.files.iter().filter(|file| !scene::is_stdin(file));
        words.extend(files.map(|file| absolute(file)));
    }
    words.extend(["--size".to_owned(), format!("{width}x{height}")]);
    if seen == Seen::FromHere {
        words.extend(view(state));
    }
    if let Some(stage) = &state.stage {
        words.extend(moment(stage, time));
    }
    words.extend(settings(config));
    words
}

fn absolute(file: &Path) -> String {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    path.to_string_lossy().into_owned()
}

/// Returns the arguments for the view: the camera of the file if the window looks through one, or else eye,
/// target and field of view.
fn view(state: &State) -> Vec<String> {
    if let Some(camera) = state.camera_of_file() {
        return vec!["--camera".into(), camera.to_string()];
    }
    let view = state.camera.viewpoint();
    let eye = view.eye();
    let target = eye + view.forward() * state.camera.distance();
    let vector = |v: glam::Vec3| format!("{},{},{}", v.x, v.y, v.z);
    // A vector may begin with a minus, so it needs an equals sign, or it would be parsed as an option.
    let mut words = vec![
        format!("--eye={}", vector(eye)),
        format!("--target={}", vector(target)),
    ];
    if let Projection::Perspective { fov_y } = view.projection {
        words.extend(["--fov".into(), fov_y.to_degrees().to_string()]);
    }
    words
}

/// Returns the arguments for the clip at `time` in seconds, the morph targets, and the material variant.
fn moment(stage: &Stage, time: f32) -> Vec<String> {
    let mut words = Vec::new();
    if !stage.scene.clips.is_empty() {
        let clip = stage.blend.text(stage.clip);
        words.extend(["--clip".into(), clip, format!("--time={time}")]);
        words.extend(["--set".into(), "animation.play=off".into()]);
    }
    let morphs: Vec<_> = stage.blend.morph_texts().collect();
    if !morphs.is_empty() {
        let morphs = toml::Value::from(morphs);
        words.extend(["--set".into(), format!("animation.morphs={morphs}")]);
    }
    if let Some(variant) = stage.variant {
        words.extend(["--variant".into(), variant.to_string()]);
    }
    words
}

/// Configuration keys that the other arguments already set.
const OF_OPTIONS: [&str; 8] = [
    "animation.clip",
    "animation.morphs",
    "animation.play",
    "animation.time",
    "camera.fov",
    "camera.name",
    "scene.variant",
    "window.size",
];

/// Returns `--set` arguments for every other key that differs from canopy's default. Paths become absolute.
fn settings(config: &Config) -> Vec<String> {
    let mut words = Vec::new();
    for (key, value) in config.overrides() {
        if OF_OPTIONS.contains(&key.as_str()) {
            continue;
        }
        let value = match value.as_str() {
            Some(file) if key.ends_with(".file") && !file.is_empty() => absolute(Path::new(file)).into(),
            _ => value,
        };
        words.extend(["--set".into(), format!("{key}={value}")]);
    }
    words
}

/// Quotes a word for a POSIX shell.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::{Cli, Command},
        config::{Config, ExposureMode, ShadowMode, Switch},
        scene::{
            Clip, Scene,
            framing::Look,
            opened::{OpenedScene, Span},
        },
    };
    use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

    /// Splits `line` into words like a shell.
    fn words(line: &str) -> Vec<OsString> {
        let script = format!("printf '%s\\0' {line}");
        let output = std::process::Command::new("sh").args(["-c", &script]).output();
        let words = output.unwrap().stdout;
        let words = words.split(|byte| *byte == 0).map(|word| word.to_vec());
        let mut words: Vec<_> = words.map(OsString::from_vec).collect();
        words.pop();
        words
    }

    /// Parses a command line into its files, settings and view.
    fn parsed(line: &str) -> (Vec<PathBuf>, Config, Look) {
        let cli = Cli::parse_from_os(words(line)).unwrap();
        let mut config = cli.common.settings().unwrap().config;
        let Command::View(view) = cli.command else {
            panic!("{line}: not a view")
        };
        view.look.apply(&mut config, "window.size").unwrap();
        view.time.apply(&mut config).unwrap();
        (view.files, config, view.look.look())
    }

    #[test]
    fn the_command_line_reproduces_the_view() {
        let scene = Scene {
            clips: vec![Clip {
                name: "walk".into(),
                duration_secs: 4.0,
                ..Clip::default()
            }],
            ..Scene::default()
        };
        let file = PathBuf::from("/tmp/it's a \"test\" $HOME `x`.glb");
        let mut state = State::new(Config::default());
        let opened = OpenedScene::new(scene, &state.config, Span::Clip);
        let files = vec![file.clone(), "-".into()];
        state.show(files, opened, &Look::default(), 1.5);
        state.camera.orbit(glam::vec2(0.3, 0.1));
        let config = &mut state.config;
        config.shadows.mode = ShadowMode::Map;
        config.sun.enabled = Switch::On;
        config.sun.direction = [-0.25, -1.0, 0.125];
        config.image.exposure = ExposureMode::Stops(-1.5);
        config.environment.file = "/tmp/a sky's.hdr".into();
        config.environment.color[0] = 0.35000002;
        config.camera.fov = 30.0;
        state.camera.set_fov(30_f32.to_radians());
        state.stage.as_mut().unwrap().time = 1.25;

        let (files, config, look) = parsed(&command_line(&state, [800, 500]));
        assert_eq!(files, [file]);
        let mut expected = state.config.clone();
        expected.window.size = [800, 500];
        expected.animation.clip = "0".into();
        expected.animation.time = 1.25;
        expected.animation.play = Switch::Off;
        expected.camera.fov = config.camera.fov;
        assert!((config.camera.fov - 30.0).abs() < 1e-4, "{}", config.camera.fov);
        assert_eq!(config, expected);

        // The view is the same.
        let scene = Scene::default();
        let mut again = State::new(config);
        let opened = OpenedScene::new(scene, &again.config, Span::Clip);
        again.show(Vec::new(), opened, &look, 1.5);
        let (before, after) = (state.camera.viewpoint(), again.camera.viewpoint());
        let (before, after) = (before.world_from_view, after.world_from_view);
        assert!(before.abs_diff_eq(after, 1e-4), "{before} {after}");
    }

    #[test]
    fn words_are_quoted_only_where_they_must_be() {
        for (word, quoted) in [
            ("a.glb", "a.glb"),
            ("--eye=-1,2.5,3", "--eye=-1,2.5,3"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
            ("a b", "'a b'"),
            ("~/x", "'~/x'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
