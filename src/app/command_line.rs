//! What is shown, as a command line that shows it again.

use super::state::{Stage, State};
use crate::scene::Projection;
use std::path::Path;

/// A command that opens the same files with the same settings, view and time, in a window of this size in
/// logical pixels.
pub(super) fn command_line(state: &State, [width, height]: [u32; 2]) -> String {
    let mut words = vec!["canopy".to_owned()];
    if let Some(stage) = &state.stage {
        words.extend(stage.files.iter().map(|file| absolute(file)));
    }
    words.extend(["--size".to_owned(), format!("{width}x{height}")]);
    words.extend(view(state));
    if let Some(stage) = &state.stage {
        words.extend(moment(stage));
    }
    words.extend(settings(state));
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    quoted.join(" ")
}

fn absolute(file: &Path) -> String {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    path.to_string_lossy().into_owned()
}

/// The camera of the file, if it is looked through, or eye and target.
fn view(state: &State) -> Vec<String> {
    if let Some(camera) = state.camera_of_file() {
        return vec!["--camera".into(), camera.to_string()];
    }
    let view = state.camera.viewpoint();
    let eye = view.eye();
    let target = eye + view.forward() * state.camera.distance();
    let vector = |v: glam::Vec3| format!("{},{},{}", v.x, v.y, v.z);
    // With an equals sign: a vector may begin with a minus.
    let mut words = vec![format!("--eye={}", vector(eye)), format!("--target={}", vector(target))];
    if let Projection::Perspective { fov_y } = view.projection {
        words.extend(["--fov".into(), fov_y.to_degrees().to_string()]);
    }
    words
}

/// The clip and the time in it, and the variant.
fn moment(stage: &Stage) -> Vec<String> {
    let mut words = Vec::new();
    if !stage.scene.clips.is_empty() {
        let clip = stage.clip.map_or("none".into(), |clip| clip.to_string());
        words.extend(["--clip".into(), clip, format!("--time={}", stage.time)]);
        words.extend(["--set".into(), "animation.play=false".into()]);
    }
    if let Some(variant) = stage.variant {
        words.extend(["--variant".into(), variant.to_string()]);
    }
    words
}

/// Keys that the options above stand for.
const OF_OPTIONS: [&str; 7] = [
    "animation.clip",
    "animation.play",
    "animation.time",
    "camera.fov",
    "camera.name",
    "scene.variant",
    "window.size",
];

/// Every other key that is not as canopy would start with.
fn settings(state: &State) -> Vec<String> {
    let mut words = Vec::new();
    for (key, value) in state.config.overrides() {
        if OF_OPTIONS.contains(&key.as_str()) {
            continue;
        }
        let value = match value.as_str() {
            Some(file) if key == "environment.file" && !file.is_empty() => {
                absolute(Path::new(file)).into()
            }
            _ => value,
        };
        words.extend(["--set".into(), format!("{key}={value}")]);
    }
    words
}

/// A word as shells read it. Quotes are those of POSIX shells.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
