//! Settings of a frame.

mod auto;
mod boxes;
mod choices;
mod cost_count;

pub use auto::AdapterTraits;
pub use boxes::{BoxDepths, BoxTrees};
pub use canopy_scene::settings::*;
pub use choices::{
    Antialias, Background, EnvironmentSource, ExposureMode, HitOrder, ImageMode, IndirectLight,
    OcclusionMode, PathKernels, RayListing, Rebuild, ReflectionMode, ShadowMode, Tonemap, TreeQuality,
    VolumeTransfer,
};
pub use cost_count::CostCount;

use canopy_scene::{section, settings, settings::Settings as OpeningSettings};
use std::ops::RangeInclusive;

section! {
    /// `[deviation]`: surface to measure the distance from.
    Deviation {
        file: String,
        tolerance: f32 => TOLERANCE: RangeInclusive<f32> = 0.0..=1e12,
    }
}

section! {
    /// `[tree]`: BVH construction and traversal.
    Tree {
        leaf_cutoff: u32 => LEAF_CUTOFF: RangeInclusive<u32> = 1..=32,
        code_bits: u32 => CODE_BITS: [u32; 3] = [0, 30, 63],
        quality: TreeQuality,
        rebuild: Rebuild,
        refit_growth: f32 => REFIT_GROWTH: RangeInclusive<f32> = 1.0..=100.0,
    }
}

section! {
    /// `[tree_boxes]`: boxes of BVH nodes drawn over the picture.
    TreeBoxes {
        show: BoxDepths,
        of: BoxTrees,
        hidden: f32 => HIDDEN: RangeInclusive<f32> = 0.0..=1.0,
        width: f32 => WIDTH: RangeInclusive<f32> = 0.5..=8.0,
    }
}

section! {
    /// `[overlay]`: mesh edges, vertices, normals and tangents drawn over the picture.
    Overlay {
        wireframe: bool,
        vertices: bool,
        normals: bool,
        tangents: bool,
        face_normals: bool,
        mesh: i32 => MESH: RangeInclusive<i32> = -1..=i32::MAX,
        length: f32 => LENGTH: RangeInclusive<f32> = 0.0..=1.0,
        hidden: f32 => HIDDEN: RangeInclusive<f32> = 0.0..=1.0,
        width: f32 => WIDTH: RangeInclusive<f32> = 0.5..=8.0,
    }
}

section! {
    /// `[cost]`: display of the channel `cost`.
    Cost {
        count: CostCount,
        range: f32 => RANGE: ZeroOr<f32> = ZeroOr(1.0..=1e6),
    }
}

section! {
    /// `[shadows]`: shadow rays and shadow maps.
    Shadows {
        mode: ShadowMode,
        compact_rays: bool,
        blended_cast: bool,
        rays: u32 => RAYS: RangeInclusive<u32> = 1..=64,
        edge_rays: u32 => EDGE_RAYS: RangeInclusive<u32> = 1..=64,
        retrace: u32 => RETRACE: RangeInclusive<u32> = 1..=64,
        max_rays: u32 => MAX_RAYS: RangeInclusive<u32> = 1..=1024,
        history: u32 => HISTORY: RangeInclusive<u32> = 1..=1000,
        filter: bool,
        map_resolution: u32 => MAP_RESOLUTION: RangeInclusive<u32> = 64..=8192,
        map_pcf_width: u32 => MAP_PCF_WIDTHS: [u32; 4] = [1, 3, 5, 7],
        map_depth_bias: f32 => MAP_DEPTH_BIAS: RangeInclusive<f32> = 0.0..=1e3,
        map_normal_bias: f32 => MAP_NORMAL_BIAS: RangeInclusive<f32> = 0.0..=1e3,
    }
}

section! {
    /// `[materials]`: parts of materials that are shown.
    Materials {
        base_color_texture: bool,
        normal_texture: bool,
        metallic_roughness_texture: bool,
        occlusion_texture: bool,
        emissive_texture: bool,
        vertex_colors: bool,
        emission: bool,
        clay: bool,
        multiple_scattering: bool,
        normal_terminator: bool,
        smooth_terminator: bool,
        glint_filter: bool,
    }
}

section! {
    /// `[lights]`: positional and directional lights of the scene.
    Lights {
        enabled: bool,
        radius: f32 => RADIUS: RangeInclusive<f32> = -1.0..=1e6,
        radii: Vec<f32> => RADII: RangeInclusive<f32> = -1.0..=1e6,
    }
}

section! {
    /// `[occlusion]`: ambient occlusion.
    Occlusion {
        mode: OcclusionMode,
        rays: u32 => RAYS: ZeroOr<u32> = ZeroOr(1..=16),
        radius: f32 => RADIUS: RangeInclusive<f32> = 0.0..=1e6,
        bounce: IndirectLight,
        history: u32 => HISTORY: RangeInclusive<u32> = 1..=1000,
        filter: bool,
    }
}

section! {
    /// `[fog]`: fog that scatters light.
    Fog {
        density: f32 => DENSITY: RangeInclusive<f32> = 0.0..=1e6,
        albedo: [f32; 3] => ALBEDO: RangeInclusive<f32> = 0.0..=1.0,
        anisotropy: f32 => ANISOTROPY: RangeInclusive<f32> = -0.95..=0.95,
        height: f32 => HEIGHT: RangeInclusive<f32> = -1e6..=1e6,
        height_falloff: f32 => HEIGHT_FALLOFF: RangeInclusive<f32> = 0.0..=1e6,
        noise: f32 => NOISE: RangeInclusive<f32> = 0.0..=1.0,
        noise_size: f32 => NOISE_SIZE: RangeInclusive<f32> = 0.001..=1e6,
        range: f32 => RANGE: ZeroOr<f32> = ZeroOr(0.001..=1e6),
        rows: u32 => ROWS: ZeroOr<u32> = ZeroOr(8..=270),
        slices: u32 => SLICES: ZeroOr<u32> = ZeroOr(8..=128),
        history: u32 => HISTORY: RangeInclusive<u32> = 1..=1000,
    }
}

section! {
    /// `[reflections]`: reflections of glossy surfaces.
    Reflections {
        mode: ReflectionMode,
        max_roughness: f32 => MAX_ROUGHNESS: RangeInclusive<f32> = 0.0..=1.0,
        bounces: u32 => BOUNCES: RangeInclusive<u32> = 1..=8,
        history: u32 => HISTORY: RangeInclusive<u32> = 1..=1000,
        filter: bool,
        list: RayListing,
        sort: HitOrder,
    }
}

section! {
    /// `[sun]`: sun for scenes without lights.
    Sun {
        enabled: Switch,
        direction: [f32; 3] => DIRECTION: Direction = Direction,
        angle: f32 => ANGLE: RangeInclusive<f32> = 0.0..=90.0,
        strength: f32 => STRENGTH: RangeInclusive<f32> = 0.0..=1e9,
        color: [f32; 3] => COLOR: RangeInclusive<f32> = 0.0..=1e6,
    }
}

section! {
    /// `[environment]`: environment lighting and background.
    Environment {
        file: String,
        source: EnvironmentSource,
        color: [f32; 3] => COLOR: RangeInclusive<f32> = 0.0..=1e6,
        sun: bool,
        intensity: f32 => INTENSITY: RangeInclusive<f32> = 0.0..=1e9,
        rotation: f32 => ROTATION: RangeInclusive<f32> = -1e6..=1e6,
        haze: f32 => HAZE: RangeInclusive<f32> = 0.0..=20.0,
        ground_albedo: f32 => GROUND_ALBEDO: RangeInclusive<f32> = 0.0..=1.0,
        order: u32 => ORDERS: [u32; 2] = [3, 5],
        face: u32 => FACE: ZeroOr<u32> = ZeroOr(8..=2048),
        background: Background,
        blur: f32 => BLUR: RangeInclusive<f32> = 0.0..=1.0,
    }
}

section! {
    /// `[image]`: rendering method, exposure, tone mapping and display.
    Image {
        mode: ImageMode,
        exposure: ExposureMode,
        tonemap: Tonemap,
        antialias: Antialias,
        dither: bool,
        background: [f32; 3] => BACKGROUND: RangeInclusive<f32> = 0.0..=1e6,
        anisotropy: u32 => ANISOTROPY: RangeInclusive<u32> = 1..=16,
    }
}

section! {
    /// `[paths]`: path tracing.
    Paths {
        samples: u32 => SAMPLES: RangeInclusive<u32> = 1..=1_000_000_000,
        bounces: u32 => BOUNCES: RangeInclusive<u32> = 1..=64,
        clamp: f32 => CLAMP: RangeInclusive<f32> = 0.0..=1e9,
        kernels: PathKernels,
        sort: bool,
    }
}

section! {
    /// `[depth_of_field]`: lens with an aperture.
    DepthOfField {
        enabled: bool,
        f_number: f32 => F_NUMBER: RangeInclusive<f32> = 0.01..=1000.0,
        focus: f32 => FOCUS: RangeInclusive<f32> = 0.0..=1e9,
        sensor_height: f32 => SENSOR_HEIGHT: RangeInclusive<f32> = 0.1..=1e6,
    }
}

section! {
    /// `[volumes]`: smoke, fire, clouds and scans.
    Volumes {
        enabled: bool,
        density: f32 => DENSITY: RangeInclusive<f32> = 0.0..=1e6,
        albedo: [f32; 3] => ALBEDO: RangeInclusive<f32> = 0.0..=1.0,
        anisotropy: f32 => ANISOTROPY: RangeInclusive<f32> = -0.95..=0.95,
        step: f32 => STEP: RangeInclusive<f32> = 0.1..=16.0,
        emission: f32 => EMISSION: RangeInclusive<f32> = 0.0..=1e9,
        hottest: f32 => HOTTEST: RangeInclusive<f32> = 500.0..=20000.0,
        shadows: bool,
        light_cells: u32 => LIGHT_CELLS: RangeInclusive<u32> = 4..=256,
        transfer: VolumeTransfer,
        points: Vec<f32> => POINTS: Groups = Groups { range: Volumes::SHARES, of: 5 },
        isovalue: f32 => ISOVALUE: RangeInclusive<f32> = 0.0..=1.0,
    }
}

section! {
    /// `[exposure]`: automatic exposure from the picture's histogram.
    Exposure {
        percentiles: [f32; 2] => PERCENTILES: Ascending = Ascending { range: 0.0..=100.0, gap: 1.0 },
        compensation: f32 => COMPENSATION: RangeInclusive<f32> = -16.0..=16.0,
        range: [f32; 2] => RANGE: Ascending = Ascending { range: -64.0..=64.0, gap: 0.0 },
        adaptation: f32 => ADAPTATION: RangeInclusive<f32> = 0.0..=10.0,
    }
}

settings! {
    /// Settings of a frame, in addition to the settings for opening its scene.
    Settings {
        deviation: Deviation,
        tree: Tree,
        tree_boxes: TreeBoxes,
        overlay: Overlay,
        cost: Cost,
        shadows: Shadows,
        materials: Materials,
        lights: Lights,
        occlusion: Occlusion,
        reflections: Reflections,
        fog: Fog,
        sun: Sun,
        environment: Environment,
        image: Image,
        paths: Paths,
        depth_of_field: DepthOfField,
        volumes: Volumes,
        exposure: Exposure,
    }
    over opening: OpeningSettings;
}

impl Volumes {
    /// Range of each number of a control point.
    pub const SHARES: RangeInclusive<f32> = 0.0..=1.0;
}

impl Shadows {
    /// True if shadow rays to area lights are averaged over frames or neighbours.
    pub fn averages(&self) -> bool {
        self.mode == ShadowMode::Rays && (self.filter || self.history > 1)
    }
}

impl Overlay {
    /// Returns whether each kind of line is drawn, in the order of `OVERLAY_KINDS`.
    pub fn kinds(&self) -> [bool; 6] {
        [
            self.wireframe,
            self.face_normals,
            self.vertices,
            self.normals,
            self.tangents,
            self.tangents,
        ]
    }

    /// True if any kind of line is drawn.
    pub fn shows_any(&self) -> bool {
        self.kinds().contains(&true)
    }
}

impl Deviation {
    /// Returns the distance in metres at which the colours end, for a compared surface of `size` metres.
    pub fn range(&self, size: f32) -> f32 {
        match self.tolerance {
            0.0 => 0.01 * size,
            tolerance => tolerance,
        }
    }
}

impl Fog {
    /// True if there is fog.
    pub fn is_enabled(&self) -> bool {
        self.density > 0.0
    }
}

impl Occlusion {
    /// True if rays are traced. Resolve `auto` first ([`Settings::resolved`]).
    pub fn sends_rays(&self) -> bool {
        debug_assert_ne!(self.mode, OcclusionMode::Auto, "not resolved");
        self.mode == OcclusionMode::Rays
    }

    /// True if light bounces off what the rays hit.
    pub fn bounces_light(&self) -> bool {
        self.sends_rays() && self.bounce != IndirectLight::Off
    }
}

impl Reflections {
    /// True if rays are traced. Resolve `auto` first ([`Settings::resolved`]).
    pub fn sends_rays(&self) -> bool {
        debug_assert_ne!(self.mode, ReflectionMode::Auto, "not resolved");
        self.mode == ReflectionMode::Rays
    }

    /// True if reflections are averaged over frames or neighbours.
    pub fn averages(&self) -> bool {
        self.filter || self.history > 1
    }

    /// Returns the roughness below which a surface casts rays. At the largest `max_roughness` it exceeds
    /// every roughness, so that the roughest surfaces are traced without fading out.
    pub fn below(&self) -> f32 {
        if self.max_roughness >= *Self::MAX_ROUGHNESS.end() {
            return 2.0;
        }
        self.max_roughness
    }
}

impl Sun {
    /// Returns the unit vector towards the sun.
    pub fn to_sun(&self) -> glam::Vec3 {
        -glam::Vec3::from(self.direction)
            .try_normalize()
            .unwrap_or(glam::Vec3::NEG_Y)
    }
}

impl Environment {
    /// True if the light comes from an image file.
    pub fn is_file(&self) -> bool {
        self.source == EnvironmentSource::Auto && !self.file.is_empty()
    }

    /// True if the light comes from the sky.
    pub fn is_sky(&self) -> bool {
        self.source == EnvironmentSource::Sky
    }

    /// True if the light comes from the studio. Outdoor scenes use the sky instead
    /// ([`Settings::adapted_to`]).
    pub fn is_studio(&self) -> bool {
        match self.source {
            EnvironmentSource::Studio => true,
            EnvironmentSource::Auto => self.file.is_empty(),
            EnvironmentSource::Sky | EnvironmentSource::Color => false,
        }
    }

    /// True if the light comes from an image, of a file or of the studio, which may contain a sun.
    pub fn is_image(&self) -> bool {
        self.is_file() || self.is_studio()
    }

    /// True if the environment is visible as background. The studio has a backdrop instead.
    pub fn is_visible(&self) -> bool {
        self.background == Background::Environment && !self.is_studio()
    }
}

impl Image {
    /// Returns the exposure in stops, or `None` if it is automatic.
    pub fn exposure_ev(&self) -> Option<f32> {
        match self.exposure {
            ExposureMode::Stops(ev) => Some(ev),
            ExposureMode::Auto | ExposureMode::Histogram => None,
        }
    }

    /// True if the exposure follows the picture's histogram.
    pub fn is_metered(&self) -> bool {
        self.exposure == ExposureMode::Histogram
    }
}

impl Settings {
    /// True if the sun is on, for a scene with or without lights of its own.
    pub fn has_sun(&self, has_lights: bool) -> bool {
        match self.sun.enabled {
            Switch::On => true,
            Switch::Off => false,
            // Environment images contain their sun.
            Switch::Auto => !has_lights && !self.environment.is_image(),
        }
    }
}
