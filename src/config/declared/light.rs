//! Settings of the tab `Light`, and the settings that are pinned above the tabs.

use super::setting::{
    Group, InactiveReason, Tab, choice, color, digits, idle, list, named, number, own, same, slider, switch,
    whole,
};
use crate::config::{Background, EnvironmentSource, ShadowMode};

const NOT_BY_RAYS: InactiveReason = idle("shadows.mode is not rays", |s| {
    s.config.shadows.mode != ShadowMode::Rays
});
const NOT_BY_MAPS: InactiveReason = idle("shadows.mode is not map", |s| {
    s.config.shadows.mode != ShadowMode::Map
});
const NO_SHADOWS: InactiveReason = idle("shadows are off", |s| s.config.shadows.mode == ShadowMode::Off);
const NO_RAYS: InactiveReason = idle("no shadows, ambient occlusion or reflections are traced", |s| {
    s.config.shadows.mode != ShadowMode::Rays
        && !s.config.occlusion.sends_rays()
        && !s.config.reflections.sends_rays()
        && !s.shows_cost
});

pub(super) const PINNED: &[Group] = &[Group {
    tab: None,
    title: "Shadows and BVH",
    help: "Shadow technique, and leaf size of the BVH",
    settings: &[
        choice(
            "shadows.mode",
            "shadows",
            &[same("off"), named("map", "maps"), same("rays")],
        )
        .words("technique shadow maps ray traced")
        .keys(&["shadows_off", "shadows_map", "shadows_rays", "next_shadows"]),
        slider("tree.leaf_cutoff", "leaf cutoff", [1.0, 32.0], whole(""))
            .words("bvh leaves triangles")
            .keys(&["smaller_leaves", "larger_leaves"])
            .idle(&[NO_RAYS]),
    ],
    more: &[],
}];

const SHADOWS: Group = Group {
    tab: Some(Tab::Light),
    title: "Shadows",
    help: "Quality of traced shadows and of shadow maps",
    settings: &[
        slider("shadows.rays", "rays", [1.0, 64.0], whole("").logarithmic())
            .words("samples soft penumbra")
            .idle(&[NOT_BY_RAYS]),
        switch("shadows.filter", "filter", "neighbour pixels")
            .words("denoise denoiser spatial")
            .idle(&[NOT_BY_RAYS]),
        list(
            "shadows.map_resolution",
            "map size",
            &[
                same("256"),
                same("512"),
                same("1024"),
                same("2048"),
                same("4096"),
                same("8192"),
            ],
        )
        .words("resolution texels")
        .idle(&[NOT_BY_MAPS]),
    ],
    more: &[
        slider(
            "shadows.edge_rays",
            "edge rays",
            [1.0, 64.0],
            whole("").logarithmic(),
        )
        .idle(&[NOT_BY_RAYS]),
        slider(
            "shadows.retrace",
            "retrace every",
            [1.0, 64.0],
            whole(" frames").logarithmic(),
        )
        .idle(&[NOT_BY_RAYS]),
        number("shadows.max_rays", "max rays", whole("")).idle(&[NOT_BY_RAYS]),
        number("shadows.history", "history", whole(" frames"))
            .words("temporal accumulation")
            .idle(&[NOT_BY_RAYS]),
        switch("shadows.compact_rays", "compact rays", "into a list")
            .words("compaction")
            .idle(&[NOT_BY_RAYS]),
        switch("shadows.blended_cast", "alpha-blended", "cast shadows")
            .words("alpha transparency glass")
            .idle(&[NO_SHADOWS]),
        choice(
            "shadows.map_pcf_width",
            "PCF width",
            &[same("1"), same("3"), same("5"), same("7")],
        )
        .words("pcf percentage closer filtering")
        .idle(&[NOT_BY_MAPS]),
        slider(
            "shadows.map_depth_bias",
            "depth bias",
            [0.0, 8.0],
            digits(2, " texels"),
        )
        .words("acne peter panning")
        .idle(&[NOT_BY_MAPS]),
        slider(
            "shadows.map_normal_bias",
            "normal bias",
            [0.0, 8.0],
            digits(2, " texels"),
        )
        .words("acne peter panning")
        .idle(&[NOT_BY_MAPS]),
    ],
};

const SUN: Group = Group {
    tab: Some(Tab::Light),
    title: "Sun",
    help: "The active sun. Hold L and drag with the left button to turn it",
    settings: &[
        choice("sun.enabled", "sun", &[same("auto"), same("on"), same("off")]).words("key light directional"),
        own("sun.direction", "direction").words("azimuth elevation angle time of day"),
        own("sun.angle", "angular size").words("soft shadows penumbra size"),
        own("sun.strength", "strength").words("illuminance lux brightness intensity"),
        own("sun.color", "colour").words("colour color tint"),
    ],
    more: &[],
};

const NO_LAMPS: InactiveReason = idle("the scene has no point or spot lights", |s| !s.has_lamps);

const LAMPS: Group = Group {
    tab: Some(Tab::Light),
    title: "Scene lights",
    help: "Point, spot and directional lights of the scene",
    settings: &[
        switch("lights.enabled", "lights", "enabled").words("lamps point spot punctual"),
        own("lights.radius", "radius")
            .words("soft shadows size lamps")
            .idle(&[NO_LAMPS]),
    ],
    more: &[own("lights.radii", "light radii").words("soft shadows lamps")],
};

const NO_FILE: InactiveReason = idle("the environment is not a file", |s| {
    !s.config.environment.is_file()
});
const NO_PICTURE: InactiveReason = idle("the environment is neither a file nor the studio", |s| {
    !s.lit.is_image()
});
const NO_SKY: InactiveReason = idle("the environment is not the sky", |s| !s.lit.is_sky());
const NO_COLOR: InactiveReason = idle("the environment is not a colour", |s| {
    s.config.environment.source != EnvironmentSource::Color
});
const NOT_SEEN: InactiveReason = idle("the environment is not visible", |s| !s.lit.is_visible());
const NO_BACKGROUND: InactiveReason = idle("the background is not a colour", |s| {
    s.config.environment.background != Background::Color
});
const HAS_SIZE: InactiveReason = idle("the environment is a colour", |s| {
    s.lit.source == EnvironmentSource::Color
});

const ENVIRONMENT: Group = Group {
    tab: Some(Tab::Light),
    title: "Environment",
    help: "Environment lighting, and the background",
    settings: &[
        own("environment.source", "source")
            .words("studio sky outdoors hdri ibl image based lighting flat")
            .keys(&["next_environment"]),
        own("environment.file", "file")
            .words("hdri hdr exr ibl cube map open")
            .keys(&["open_environment"]),
        own("environment.rotation", "rotation")
            .words("turn yaw")
            .idle(&[NO_PICTURE]),
        slider("environment.intensity", "intensity", [0.0, 4.0], digits(2, "×"))
            .words("brightness strength ibl"),
        list(
            "environment.background",
            "background",
            &[same("environment"), named("color", "colour"), same("transparent")],
        )
        .words("backdrop skybox transparent alpha"),
        color("image.background", "solid colour")
            .words("background colour backdrop")
            .idle(&[NO_BACKGROUND]),
    ],
    more: &[
        switch("environment.sun", "sun in file", "casts shadows").idle(&[NO_FILE]),
        slider("environment.haze", "haze", [0.0, 20.0], digits(2, ""))
            .words("turbidity aerosols sky")
            .idle(&[NO_SKY]),
        slider(
            "environment.ground_albedo",
            "ground albedo",
            [0.0, 1.0],
            digits(2, ""),
        )
        .words("ground albedo sky")
        .idle(&[NO_SKY]),
        color("environment.color", "source colour")
            .words("ambient colour")
            .idle(&[NO_COLOR]),
        choice("environment.order", "SH bands", &[same("3"), same("5")])
            .words("spherical harmonics irradiance"),
        number(
            "environment.face",
            "cube face size",
            whole(" texels").or_auto(256.0),
        )
        .words("resolution prefiltered specular")
        .idle(&[HAS_SIZE]),
        slider("environment.blur", "blur", [0.0, 1.0], digits(2, "")).idle(&[NOT_SEEN]),
    ],
};

const NO_OCCLUSION: InactiveReason = idle("ambient occlusion is not traced", |s| {
    !s.config.occlusion.sends_rays()
});

const OCCLUSION: Group = Group {
    tab: Some(Tab::Light),
    title: "Ambient occlusion",
    help: "Traced occlusion of environment lighting",
    settings: &[choice(
        "occlusion.mode",
        "occlusion",
        &[same("auto"), same("off"), same("rays")],
    )
    .words("ao ambient occlusion technique rtao")
    .keys(&["next_occlusion"])],
    more: &[
        number("occlusion.rays", "rays", whole("").or_auto(1.0))
            .words("ao samples")
            .idle(&[NO_OCCLUSION]),
        number("occlusion.radius", "radius", digits(2, " m").speed(0.01))
            .words("ao distance length")
            .idle(&[NO_OCCLUSION]),
        choice(
            "occlusion.bounce",
            "indirect",
            &[same("off"), same("one"), same("full")],
        )
        .words("ao gi global illumination indirect bounced light")
        .idle(&[NO_OCCLUSION]),
        number("occlusion.history", "history", whole(" frames"))
            .words("ao temporal accumulation")
            .idle(&[NO_OCCLUSION]),
        switch("occlusion.filter", "filter", "neighbour pixels")
            .words("ao denoise denoiser spatial")
            .idle(&[NO_OCCLUSION]),
        own("world cache", "world cache"),
    ],
};

const NO_REFLECTIONS: InactiveReason = idle("reflections are not traced", |s| {
    !s.config.reflections.sends_rays()
});

const REFLECTIONS: Group = Group {
    tab: Some(Tab::Light),
    title: "Reflections",
    help: "Traced reflections of glossy surfaces",
    settings: &[choice(
        "reflections.mode",
        "reflections",
        &[same("auto"), same("off"), same("rays")],
    )
    .words("mirror glossy specular technique")
    .keys(&["next_reflections"])],
    more: &[
        slider(
            "reflections.max_roughness",
            "max roughness",
            [0.0, 1.0],
            digits(2, ""),
        )
        .idle(&[NO_REFLECTIONS]),
        slider("reflections.bounces", "bounces", [1.0, 8.0], whole(""))
            .words("mirrors in mirrors")
            .idle(&[NO_REFLECTIONS]),
        number("reflections.history", "history", whole(" frames"))
            .words("temporal accumulation")
            .idle(&[NO_REFLECTIONS]),
        switch("reflections.filter", "filter", "neighbour pixels")
            .words("denoise denoiser spatial")
            .idle(&[NO_REFLECTIONS]),
        choice(
            "reflections.list",
            "ray list",
            &[same("pixels"), same("tiles"), same("all")],
        )
        .words("compaction")
        .idle(&[NO_REFLECTIONS]),
        list(
            "reflections.sort",
            "sort hits",
            &[same("material"), same("workgroup"), same("ray"), same("off")],
        )
        .words("sorting bins")
        .idle(&[NO_REFLECTIONS]),
        own("reflection counts", "ray counts"),
    ],
};

const CLEAR_AIR: InactiveReason = idle("fog.density is 0", |s| !s.config.fog.is_enabled());
const NO_NOISE: InactiveReason = idle("fog.noise is 0", |s| s.config.fog.noise == 0.0);

const FOG: Group = Group {
    tab: Some(Tab::Light),
    title: "Fog",
    help: "Participating medium over the whole scene",
    settings: &[own("fog.density", "density")
        .words("mist haze volumetric god rays")
        .keys(&["fog"])],
    more: &[
        color("fog.albedo", "albedo").idle(&[CLEAR_AIR]),
        slider("fog.anisotropy", "anisotropy", [-0.95, 0.95], digits(2, ""))
            .words("phase henyey greenstein forward")
            .idle(&[CLEAR_AIR]),
        number("fog.height", "height", digits(2, " m").speed(0.05)).idle(&[CLEAR_AIR]),
        slider(
            "fog.height_falloff",
            "height falloff",
            [0.0, 4.0],
            digits(2, " /m"),
        )
        .words("falloff")
        .idle(&[CLEAR_AIR]),
        slider("fog.noise", "noise", [0.0, 1.0], digits(2, "")).idle(&[CLEAR_AIR]),
        number("fog.noise_size", "noise size", digits(2, " m").speed(0.02)).idle(&[CLEAR_AIR, NO_NOISE]),
        number("fog.range", "range", digits(2, " m").or_auto(50.0)).idle(&[CLEAR_AIR]),
        number("fog.rows", "froxel rows", whole("").or_auto(90.0)).idle(&[CLEAR_AIR]),
        number("fog.slices", "froxel slices", whole("").or_auto(64.0)).idle(&[CLEAR_AIR]),
        number("fog.history", "history", whole(" frames")).idle(&[CLEAR_AIR]),
    ],
};

const NO_VOLUMES: InactiveReason = idle("volumes.enabled is off", |s| !s.config.volumes.enabled);

const VOLUMES: Group = Group {
    tab: Some(Tab::Light),
    title: "Volumes",
    help: "Smoke, fire, clouds and scans",
    settings: &[switch("volumes.enabled", "volumes", "shown").words("smoke fire clouds vdb nrrd")],
    more: &[
        number("volumes.density", "density", digits(3, " /m")).idle(&[NO_VOLUMES]),
        color("volumes.albedo", "albedo").idle(&[NO_VOLUMES]),
        slider("volumes.anisotropy", "anisotropy", [-0.95, 0.95], digits(2, ""))
            .words("phase forward")
            .idle(&[NO_VOLUMES]),
        slider("volumes.step", "step size", [0.1, 4.0], digits(2, " voxels")).idle(&[NO_VOLUMES]),
        switch("volumes.shadows", "shadows", "cast and received").idle(&[NO_VOLUMES]),
        slider(
            "volumes.light_cells",
            "light grid",
            [4.0, 256.0],
            whole("").logarithmic(),
        )
        .idle(&[NO_VOLUMES]),
        number("volumes.emission", "emission", digits(2, ""))
            .words("fire glow")
            .idle(&[NO_VOLUMES]),
        slider("volumes.hottest", "temperature", [800.0, 6000.0], whole(" K"))
            .words("fire temperature black body")
            .idle(&[NO_VOLUMES]),
        own("volumes.transfer", "transfer")
            .words("transfer function scan ct mri")
            .idle(&[NO_VOLUMES]),
        own("volumes.points", "points")
            .words("transfer function control points")
            .idle(&[NO_VOLUMES]),
        slider("volumes.isovalue", "isovalue", [0.0, 1.0], digits(2, ""))
            .words("isosurface threshold")
            .idle(&[NO_VOLUMES]),
    ],
};

pub(super) const GROUPS: &[Group] = &[
    SHADOWS,
    SUN,
    ENVIRONMENT,
    OCCLUSION,
    REFLECTIONS,
    LAMPS,
    FOG,
    VOLUMES,
];
