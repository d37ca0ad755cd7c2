//! The settings that are words, as enums.

use canopy_scene::{
    choice,
    settings::{allowed::Allows as _, describe::Describe},
};
use serde::{Deserialize, Serialize};
use std::{fmt, ops::RangeInclusive};

choice! {
    /// When trees are built again.
    Rebuild {
        /// All of them in every frame.
        Frame = "frame",
        /// Those of meshes whose vertices have changed.
        Changed = "changed",
        /// Those whose refitted boxes have become too large.
        Refit = "refit",
    }
}

choice! {
    /// How good trees are, and what they cost to build.
    TreeQuality {
        /// High until something moves, then fast for what moves; in software fast.
        Auto = "auto",
        /// Cheap to build.
        Fast = "fast",
        /// Cheap to trace.
        High = "high",
    }
}

choice! {
    /// How the picture is made.
    ImageMode {
        /// By the passes of the frame, for one frame after another.
        Fast = "fast",
        /// By paths of light, as a reference.
        Path = "path",
    }
}

choice! {
    /// By how many kernels paths of light are followed.
    PathKernels {
        /// As it is faster on this adapter.
        Auto = "auto",
        /// By one, from the eye to the end.
        One = "one",
        /// By one for each step, all paths together from surface to surface.
        Separate = "separate",
    }
}

choice! {
    /// How shadows are made.
    ShadowMode {
        /// No shadows.
        Off = "off",
        /// Shadow maps.
        Map = "map",
        /// Rays through the trees.
        Rays = "rays",
    }
}

choice! {
    /// Where environment lighting comes from.
    EnvironmentSource {
        /// The file, where one is named; else the studio, and for the built-in scene the sky.
        Auto = "auto",
        /// The studio that comes with canopy.
        Studio = "studio",
        /// The sky.
        Sky = "sky",
        /// A colour that is the same in every direction.
        Color = "color",
    }
}

choice! {
    /// What is seen behind the scene.
    Background {
        /// The environment.
        Environment = "environment",
        /// `image.background`.
        Color = "color",
        /// Nothing: pictures have an alpha of 0 there.
        Transparent = "transparent",
    }
}

choice! {
    /// How ambient occlusion is found.
    OcclusionMode {
        /// By rays in pictures of `canopy render`, and in the window on GPUs.
        Auto = "auto",
        /// Not at all: ambient visibility is 1 everywhere.
        Off = "off",
        /// By rays through the trees.
        Rays = "rays",
    }
}

choice! {
    /// How it is found what glossy surfaces reflect.
    ReflectionMode {
        /// By rays in pictures of `canopy render`, and in the window on GPUs.
        Auto = "auto",
        /// The environment alone, prefiltered, as if there were no scene.
        Off = "off",
        /// By rays through the trees.
        Rays = "rays",
    }
}

choice! {
    /// Of which pixels reflection rays are listed.
    RayListing {
        /// Those that send one.
        Pixels = "pixels",
        /// All of tiles where any does.
        Tiles = "tiles",
        /// All.
        All = "all",
    }
}

choice! {
    /// In which order the hits of reflection rays are listed.
    HitOrder {
        /// By the material.
        Material = "material",
        /// Those that a workgroup lists by the material.
        Workgroup = "workgroup",
        /// As their rays are listed.
        Ray = "ray",
        /// As their rays are listed, which keep their entries where they hit nothing.
        Off = "off",
    }
}

choice! {
    /// How steps of edges are smoothed.
    Antialias {
        /// [`Antialias::Temporal`] on adapters that are fast, [`Antialias::Smaa`] in software, where pixels
        /// are dear that are only shown.
        Auto = "auto",
        /// Not at all.
        Off = "off",
        /// By their shape (SMAA).
        Smaa = "smaa",
        /// By the frames before, which looked at other points of the pixels.
        Temporal = "temporal",
    }
}

choice! {
    /// The curve from radiance to display, in the order of its numbers in shaders.
    Tonemap {
        /// Clip at one.
        None = "none",
        /// Reinhard's x / (1 + x).
        Reinhard = "reinhard",
        /// Hill's fit of the ACES reference and output transforms.
        Aces = "aces",
        /// Khronos PBR Neutral.
        Neutral = "neutral",
        /// Troy Sobotka's AgX, its base look.
        Agx = "agx",
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
        Off = "off",
        /// The larger, the more opaque.
        Gray = "gray",
        /// Of a scan by X-rays: skin faintly, bone densely.
        Bone = "bone",
        /// From blue for small values to red for large ones.
        Heat = "heat",
        /// Control points say it.
        Custom = "custom",
    }
}
