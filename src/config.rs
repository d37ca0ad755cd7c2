//! `config.toml` as a [`Config`]: every default in one place, compiled in, with a user's values laid over it.

use serde::{Deserialize, Serialize};

/// Every setting, section by section as in `config.toml`, which documents each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.toml is the documentation, key by key")]
pub struct Config {
    pub gpu: Gpu,
    pub window: Window,
    pub output: Output,
    pub load: Load,
    pub animation: Animation,
    pub camera: Camera,
    pub tree: Tree,
    pub shadows: Shadows,
    pub sun: Sun,
    pub ambient: Ambient,
    pub image: Image,
}

/// Declares a section of the configuration.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($key:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(missing_docs, reason = "config.toml is the documentation, key by key")]
        pub struct $name { $(pub $key: $type),* }
    };
}

section!(/// `[gpu]`: which adapter.
Gpu { adapter: String, backend: String });
section!(/// `[window]`: the viewer's window.
Window { size: [u32; 2], vsync: bool, panel: bool, render_scale: f32 });
section!(/// `[output]`: images made without a window.
Output { size: [u32; 2], fps: f32 });
section!(/// `[load]`: what a file may cost.
Load { max_file_bytes: u64, max_image_pixels: u64, max_texture_bytes: u64, max_triangles: u64, max_nodes: u64, max_morph_bytes: u64 });
section!(/// `[animation]`: the clip and its time.
Animation { clip: String, time: f32, speed: f32, play: bool });
section!(/// `[camera]`: the first view.
Camera { name: String, fov: f32, speed: f32 });
section!(/// `[tree]`: how rays use the tree.
Tree { leaf_cutoff: u32 });
section!(/// `[shadows]`: how light is blocked.
Shadows {
    mode: ShadowMode,
    blended_cast: bool,
    map_resolution: u32,
    map_pcf_width: u32,
    map_depth_bias: f32,
    map_normal_bias: f32,
});
section!(/// `[sun]`: the light of scenes that have none.
Sun { enabled: Switch, direction: [f32; 3], strength: f32, color: [f32; 3] });
section!(/// `[ambient]`: light from everywhere.
Ambient { strength: f32, sky: [f32; 3], ground: [f32; 3] });
section!(/// `[image]`: from radiance to the screen.
Image { exposure: String, tonemap: Tonemap, background: [f32; 3] });

/// How shadows are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShadowMode {
    /// No shadows.
    Off,
    /// Shadow maps.
    Map,
    /// Rays through the trees.
    Rays,
}

/// On, off, or as the scene needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// When the scene has none of its own.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// The curve from radiance to display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tonemap {
    /// Clip at one.
    Linear,
    /// Reinhard's x / (1 + x).
    Reinhard,
    /// Hill's fit of the ACES reference and output transforms.
    Aces,
    /// Khronos PBR Neutral.
    Neutral,
}
