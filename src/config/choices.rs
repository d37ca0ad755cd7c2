//! The settings that are words, as enums.

use super::{
    allowed::Allows as _,
    describe::{Describe, one_of},
};
use serde::{Deserialize, Serialize};
use std::{fmt, ops::RangeInclusive};

/// Declares an enum whose variants are written in lower case in `config.toml`.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl Describe for $name {
            fn what() -> String {
                one_of(&[$(stringify!($variant)),*]).to_lowercase()
            }
        }
    };
}

choice! {
    /// How the viewer's camera moves.
    CameraMode {
        /// It orbits and flies through everything.
        Orbit,
        /// It is the eye of a person who walks.
        Walk,
    }
}

choice! {
    /// When trees are built again.
    Rebuild {
        /// All of them in every frame.
        Frame,
        /// Those of meshes whose vertices have changed.
        Changed,
        /// Those whose refitted boxes have become too large.
        Refit,
    }
}

impl Rebuild {
    /// All policies, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Frame, Self::Changed, Self::Refit];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Changed => "changed",
            Self::Refit => "refit",
        }
    }
}

choice! {
    /// How good trees are, and what they cost to build.
    TreeQuality {
        /// High until something moves, then fast for what moves; in software fast.
        Auto,
        /// Cheap to build.
        Fast,
        /// Cheap to trace.
        High,
    }
}

/// The axis of a file that points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpAxis {
    /// As the files state it; else +Y.
    #[serde(rename = "auto")]
    Auto,
    /// +Y, as in glTF.
    #[serde(rename = "y")]
    Y,
    /// +Z.
    #[serde(rename = "z")]
    Z,
    /// +X.
    #[serde(rename = "x")]
    X,
    /// −Y.
    #[serde(rename = "-y")]
    NegativeY,
    /// −Z.
    #[serde(rename = "-z")]
    NegativeZ,
    /// −X.
    #[serde(rename = "-x")]
    NegativeX,
}

impl Describe for UpAxis {
    fn what() -> String {
        one_of(&Self::ALL.map(Self::name))
    }
}

impl UpAxis {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::Y,
        Self::Z,
        Self::X,
        Self::NegativeY,
        Self::NegativeZ,
        Self::NegativeX,
    ];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Y => "y",
            Self::Z => "z",
            Self::X => "x",
            Self::NegativeY => "-y",
            Self::NegativeZ => "-z",
            Self::NegativeX => "-x",
        }
    }

    /// The next axis after this one, around the list.
    pub fn next(self) -> Self {
        let axes = &Self::ALL[1..];
        let now = axes.iter().position(|axis| *axis == self);
        axes[now.map_or(0, |now| (now + 1) % axes.len())]
    }
}

choice! {
    /// How the picture is made.
    ImageMode {
        /// By the passes of the frame, for one frame after another.
        Fast,
        /// By paths of light, as a reference.
        Path,
    }
}

choice! {
    /// By how many kernels paths of light are followed.
    PathKernels {
        /// As it is faster on this adapter.
        Auto,
        /// By one, from the eye to the end.
        One,
        /// By one for each step, all paths together from surface to surface.
        Separate,
    }
}

impl PathKernels {
    /// All of them, in the order in which lists show them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::One, Self::Separate];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::One => "one",
            Self::Separate => "separate",
        }
    }
}

choice! {
    /// How shadows are made.
    ShadowMode {
        /// No shadows.
        Off,
        /// Shadow maps.
        Map,
        /// Rays through the trees.
        Rays,
    }
}

choice! {
    /// Where environment lighting comes from.
    EnvironmentSource {
        /// The file, where one is named; else the studio, and for the built-in scene the sky.
        Auto,
        /// The studio that comes with canopy.
        Studio,
        /// The sky.
        Sky,
        /// A colour that is the same in every direction.
        Color,
    }
}

choice! {
    /// What is seen behind the scene.
    Background {
        /// The environment.
        Environment,
        /// `image.background`.
        Color,
        /// Nothing: pictures have an alpha of 0 there.
        Transparent,
    }
}

choice! {
    /// What lies below the scene.
    GroundMode {
        /// As [`GroundMode::Shadow`] below scenes that have no floor of their own.
        Auto,
        /// Nothing.
        Off,
        /// The background, on which shadows fall.
        Shadow,
        /// The same, with lines that tell metres.
        Grid,
    }
}

impl GroundMode {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Off, Self::Shadow, Self::Grid];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Shadow => "shadow",
            Self::Grid => "grid",
        }
    }
}

choice! {
    /// How ambient occlusion is found.
    OcclusionMode {
        /// By rays in pictures of `canopy render`, and in the window on GPUs.
        Auto,
        /// Not at all: ambient visibility is 1 everywhere.
        Off,
        /// By rays through the trees.
        Rays,
    }
}

impl OcclusionMode {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Off, Self::Rays];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Rays => "rays",
        }
    }
}

choice! {
    /// How it is found what glossy surfaces reflect.
    ReflectionMode {
        /// By rays in pictures of `canopy render`, and in the window on GPUs.
        Auto,
        /// The environment alone, prefiltered, as if there were no scene.
        Off,
        /// By rays through the trees.
        Rays,
    }
}

impl ReflectionMode {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Off, Self::Rays];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Rays => "rays",
        }
    }
}

choice! {
    /// Of which pixels reflection rays are listed.
    RayListing {
        /// Those that send one.
        Pixels,
        /// All of tiles where any does.
        Tiles,
        /// All.
        All,
    }
}

impl RayListing {
    /// All of them, from the shortest list to the longest.
    pub const ALL: [Self; 3] = [Self::Pixels, Self::Tiles, Self::All];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pixels => "pixels",
            Self::Tiles => "tiles",
            Self::All => "all",
        }
    }
}

choice! {
    /// In which order the hits of reflection rays are listed.
    HitOrder {
        /// By the material.
        Material,
        /// Those that a workgroup lists by the material.
        Workgroup,
        /// As their rays are listed.
        Ray,
        /// As their rays are listed, which keep their entries where they hit nothing.
        Off,
    }
}

impl HitOrder {
    /// All of them, from the most ordered to the least.
    pub const ALL: [Self; 4] = [Self::Material, Self::Workgroup, Self::Ray, Self::Off];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Material => "material",
            Self::Workgroup => "workgroup",
            Self::Ray => "ray",
            Self::Off => "off",
        }
    }
}

/// On, off, or as the scene or the adapter needs it. Files may also say `true` and `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", from = "SwitchText")]
pub enum Switch {
    /// As is needed.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// A switch in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum SwitchText {
    Bool(bool),
    Word(SwitchWord),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SwitchWord {
    Auto,
    On,
    Off,
}

impl From<SwitchText> for Switch {
    fn from(text: SwitchText) -> Self {
        match text {
            SwitchText::Word(SwitchWord::Auto) => Self::Auto,
            SwitchText::Bool(true) | SwitchText::Word(SwitchWord::On) => Self::On,
            SwitchText::Bool(false) | SwitchText::Word(SwitchWord::Off) => Self::Off,
        }
    }
}

impl Describe for Switch {
    fn what() -> String {
        one_of(&["auto", "on", "off"])
    }
}

choice! {
    /// Colours of the panel.
    Theme {
        /// Light on dark.
        Dark,
        /// Dark on light.
        Light,
        /// As the system is set.
        System,
    }
}

choice! {
    /// How large arrays are read on the GPU.
    ArrayMode {
        /// As is fastest on the kind of adapter.
        Auto,
        /// From storage buffers.
        Buffers,
        /// From textures.
        Textures,
    }
}

choice! {
    /// How steps of edges are smoothed.
    Antialias {
        /// [`Antialias::Temporal`] on adapters that are fast, [`Antialias::Smaa`] in software, where pixels
        /// are dear that are only shown.
        Auto,
        /// Not at all.
        Off,
        /// By their shape (SMAA).
        Smaa,
        /// By the frames before, which looked at other points of the pixels.
        Temporal,
    }
}

choice! {
    /// The curve from radiance to display, in the order of its numbers in shaders.
    Tonemap {
        /// Clip at one.
        None,
        /// Reinhard's x / (1 + x).
        Reinhard,
        /// Hill's fit of the ACES reference and output transforms.
        Aces,
        /// Khronos PBR Neutral.
        Neutral,
        /// Troy Sobotka's AgX, its base look.
        Agx,
    }
}

/// Where the exposure comes from: a word, or a number of stops that is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ExposureMode {
    /// From the lights that shine.
    Auto,
    /// From the luminance of the picture.
    Histogram,
    /// Fixed, in stops (EV).
    Stops(f32),
}

impl ExposureMode {
    /// What [`Self::Stops`] may hold.
    pub const STOPS: RangeInclusive<f32> = -64.0..=64.0;
}

impl Describe for ExposureMode {
    fn what() -> String {
        let (least, most) = Self::STOPS.into_inner();
        format!("\"auto\", \"histogram\" or stops (EV) in quotes, from {least} to {most}")
    }
}

impl fmt::Display for ExposureMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Histogram => f.write_str("histogram"),
            Self::Stops(ev) => ev.fmt(f),
        }
    }
}

impl From<ExposureMode> for String {
    fn from(mode: ExposureMode) -> Self {
        mode.to_string()
    }
}

impl TryFrom<String> for ExposureMode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match (text.as_str(), text.parse::<f32>()) {
            ("auto", _) => Ok(Self::Auto),
            ("histogram", _) => Ok(Self::Histogram),
            (_, Ok(ev)) => Self::STOPS.fault(&ev).map_or(Ok(Self::Stops(ev)), Err),
            _ => Err(format!(
                "\"{text}\" is neither \"auto\", \"histogram\" nor a number of stops"
            )),
        }
    }
}

choice! {
    /// What values of a volume look like.
    VolumeTransfer {
        /// They are densities.
        Off,
        /// The larger, the more opaque.
        Gray,
        /// Of a scan by X-rays: skin faintly, bone densely.
        Bone,
        /// From blue for small values to red for large ones.
        Heat,
        /// Control points say it.
        Custom,
    }
}

impl VolumeTransfer {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 5] = [Self::Off, Self::Gray, Self::Bone, Self::Heat, Self::Custom];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Gray => "gray",
            Self::Bone => "bone",
            Self::Heat => "heat",
            Self::Custom => "custom",
        }
    }
}
