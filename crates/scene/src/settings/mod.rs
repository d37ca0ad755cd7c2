//! Settings: sections whose keys are declared with their ranges, and the sections that determine how a scene
//! is opened.
//!
//! Each crate declares the sections that it reads. The program combines them to `config.toml`, which has
//! every default and documents every key.

pub mod allowed;
mod choices;
mod declare;
pub mod describe;

pub use allowed::{Ascending, Direction, Groups, ZeroOr};
pub use choices::{CameraMode, GroundMode, Switch, UpAxis};
pub use declare::{Expectation, Sections, defaults};

use crate::{section, settings};
use std::ops::RangeInclusive;

/// Contents of `config.toml`: every default of every crate, with its documentation.
pub const DEFAULTS: &str = include_str!("../../../../config.toml");

section! {
    /// `[load]`: limits of loading files.
    Load {
        follow_links: bool,
        max_file_bytes: u64,
        max_total_bytes: u64,
        max_json_objects: u64,
        max_image_pixels: u64,
        max_environment_pixels: u64,
        max_texture_bytes: u64,
        max_triangles: u64,
        max_vertices: u64,
        max_empty_vertices: u64,
        max_nodes: u64,
        max_joints: u64,
        max_morph_targets: u64,
        max_morph_bytes: u64,
        max_voxels: u64,
        max_volume_nodes: u64,
        obj_texture: bool,
    }
}

section! {
    /// `[scene]`: the parts of a scene that are shown.
    Scene { variant: String, up: UpAxis, ground: GroundMode }
}

section! {
    /// `[animation]`: the clip and its time.
    Animation {
        clip: String,
        time: f32 => TIME: RangeInclusive<f32> = -1e6..=1e6,
        speed: f32 => SPEED: RangeInclusive<f32> = -1e3..=1e3,
        play: Switch,
        repeat: bool,
        loop_from: f32 => LOOP_FROM: RangeInclusive<f32> = 0.0..=1e6,
        loop_to: f32 => LOOP_TO: RangeInclusive<f32> = 0.0..=1e6,
        frame_rate: f32 => FRAME_RATE: RangeInclusive<f32> = 1.0..=1000.0,
        morphs: Vec<String>,
    }
}

section! {
    /// `[camera]`: the first view.
    Camera {
        name: String,
        fov: f32 => FOV: RangeInclusive<f32> = 1.0..=170.0,
        speed: f32 => SPEED: RangeInclusive<f32> = 1e-6..=1e6,
        mode: CameraMode,
        walk_speed: f32 => WALK_SPEED: RangeInclusive<f32> = 0.01..=1000.0,
        person: f32 => PERSON: ZeroOr<f32> = ZeroOr(0.001..=100000.0),
        avoid_walls: bool,
        turntable: f32 => TURNTABLE: RangeInclusive<f32> = -3600.0..=3600.0,
    }
}

settings! {
    /// Settings that determine how a scene is opened.
    Settings {
        load: Load,
        scene: Scene,
        animation: Animation,
        camera: Camera,
    }
}
