//! Enums for settings that are words.

use canopy_scene::{
    choice,
    settings::{allowed::Allows as _, describe::Describe},
};
use serde::{Deserialize, Serialize};
use std::{fmt, ops::RangeInclusive};

choice! {
    /// BVH update policy.
    Rebuild {
        /// Rebuilds all BVHs in every frame.
        Frame = "frame",
        /// Rebuilds the BVHs of meshes whose vertices have changed.
        Changed = "changed",
        /// Refits, and rebuilds when the refitted boxes have become too large.
        Refit = "refit",
    }
}

choice! {
    /// BVH quality, which trades build time for traversal time.
    TreeQuality {
        /// High until something moves, then fast. Always fast on software adapters.
        Auto = "auto",
        /// Fast to build.
        Fast = "fast",
        /// Fast to trace.
        High = "high",
    }
}

choice! {
    /// Rendering method.
    ImageMode {
        /// Real-time passes.
        Fast = "fast",
        /// Path tracing, as a reference.
        Path = "path",
    }
}

choice! {
    /// Kernel layout of the path tracer.
    PathKernels {
        /// Whichever is faster on this adapter.
        Auto = "auto",
        /// A single kernel that traces complete paths (megakernel).
        One = "one",
        /// A kernel per step, which advances all paths from surface to surface together (wavefront).
        Separate = "separate",
    }
}

choice! {
    /// Shadow method.
    ShadowMode {
        /// No shadows.
        Off = "off",
        /// Shadow maps.
        Map = "map",
        /// Rays through the BVHs.
        Rays = "rays",
    }
}

choice! {
    /// Source of environment lighting.
    EnvironmentSource {
        /// The file, if there is one; otherwise the studio, or the sky for outdoor scenes.
        Auto = "auto",
        /// Built-in studio.
        Studio = "studio",
        /// Procedural sky.
        Sky = "sky",
        /// Constant colour.
        Color = "color",
    }
}

choice! {
    /// Background of the scene.
    Background {
        /// The environment.
        Environment = "environment",
        /// `image.background`.
        Color = "color",
        /// Transparent: images have an alpha of 0 there.
        Transparent = "transparent",
    }
}

choice! {
    /// Ambient-occlusion method.
    OcclusionMode {
        /// Rays in pictures of `canopy render`, and in the window on GPUs.
        Auto = "auto",
        /// Off: ambient visibility is 1 everywhere.
        Off = "off",
        /// Rays through the BVHs.
        Rays = "rays",
    }
}

choice! {
    /// Light that bounces between surfaces.
    IndirectLight {
        /// None, so shadows that do not see the sky are black.
        Off = "off",
        /// One bounce of lights off matte surfaces in their mean colour.
        One = "one",
        /// All bounces: of lights, glowing surfaces and the environment.
        Full = "full",
    }
}

choice! {
    /// Reflection method.
    ReflectionMode {
        /// Rays in pictures of `canopy render`, and in the window on GPUs.
        Auto = "auto",
        /// Prefiltered environment only, without the scene.
        Off = "off",
        /// Rays through the BVHs.
        Rays = "rays",
    }
}

choice! {
    /// Pixels that are listed for reflection rays.
    RayListing {
        /// Pixels that cast a ray.
        Pixels = "pixels",
        /// All pixels of tiles in which any pixel casts a ray.
        Tiles = "tiles",
        /// All pixels.
        All = "all",
    }
}

choice! {
    /// Order in which the hits of reflection rays are listed.
    HitOrder {
        /// Sorted by material.
        Material = "material",
        /// Sorted by material within each workgroup.
        Workgroup = "workgroup",
        /// In the order of the rays.
        Ray = "ray",
        /// In the order of the rays, with the entries of misses kept.
        Off = "off",
    }
}

choice! {
    /// Anti-aliasing method.
    Antialias {
        /// [`Antialias::Temporal`] on fast adapters, [`Antialias::Smaa`] on software adapters, where display
        /// pixels are expensive.
        Auto = "auto",
        /// Off.
        Off = "off",
        /// Morphological (SMAA).
        Smaa = "smaa",
        /// Temporal: accumulates jittered frames.
        Temporal = "temporal",
    }
}

choice! {
    /// Tone curve, in the order of its numbers in shaders.
    Tonemap {
        /// Clips at one.
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

/// Exposure mode: a word, or a number of stops that is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ExposureMode {
    /// Automatic, from the scene's lights.
    Auto,
    /// Automatic, from the luminance histogram of the image.
    Histogram,
    /// Fixed, in stops (EV).
    Stops(f32),
}

impl ExposureMode {
    /// Range of [`Self::Stops`].
    pub const STOPS: RangeInclusive<f32> = -64.0..=64.0;
}

impl Describe for ExposureMode {
    fn type_name() -> String {
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
                "\"{text}\" is not \"auto\", \"histogram\" or a number of stops"
            )),
        }
    }
}

choice! {
    /// Transfer function of volumes.
    VolumeTransfer {
        /// Values are densities.
        Off = "off",
        /// Grey: the larger the value, the more opaque.
        Gray = "gray",
        /// For X-ray (CT) scans: faint skin and dense bone.
        Bone = "bone",
        /// Blue for small values to red for large ones.
        Heat = "heat",
        /// Custom control points.
        Custom = "custom",
    }
}
