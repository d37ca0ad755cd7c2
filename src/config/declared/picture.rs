//! Settings of the tab `Picture`.

use super::setting::{
    Control, Group, InactiveReason, Setting, Tab, choice, digits, idle, list, named, number, own, same,
    slider, switch, whole,
};
use crate::config::{ImageMode, PathKernels};

const NOT_METERED: InactiveReason = idle("image.exposure is not histogram", |s| {
    !s.config.image.is_metered()
});

const COLOUR: Group = Group {
    tab: Some(Tab::Picture),
    title: "Exposure and colour",
    help: "Exposure, tone mapping and dithering",
    settings: &[
        own("image.exposure", "exposure").words("brightness ev stops"),
        list(
            "image.tonemap",
            "tone map",
            &[
                same("none"),
                named("reinhard", "Reinhard"),
                named("aces", "ACES"),
                named("agx", "AgX"),
                named("neutral", "PBR Neutral"),
            ],
        )
        .words("tone mapping curve khronos filmic"),
    ],
    more: &[
        slider(
            "exposure.compensation",
            "compensation",
            [-5.0, 5.0],
            digits(2, " EV"),
        )
        .idle(&[NOT_METERED]),
        Setting::new(
            "exposure.percentiles",
            "percentiles",
            Control::Ascending(digits(1, " %").speed(0.25), 1.0),
        )
        .words("histogram metered")
        .idle(&[NOT_METERED]),
        Setting::new(
            "exposure.range",
            "EV range",
            Control::Ascending(digits(1, " EV").speed(0.1), 0.0),
        )
        .idle(&[NOT_METERED]),
        slider("exposure.adaptation", "adaptation", [0.0, 10.0], digits(2, " s")).idle(&[NOT_METERED]),
        switch("image.dither", "dither", "against banding").words("banding noise"),
    ],
};

const SHARPNESS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Sampling",
    help: "Anti-aliasing and resolution, at rest and while something moves",
    settings: &[
        list(
            "image.antialias",
            "anti-aliasing",
            &[same("auto"), same("off"), named("smaa", "SMAA"), same("temporal")],
        )
        .words("antialiasing aa smaa taa tsr upscaling")
        .keys(&["antialias"]),
        number("window.still_samples", "still samples", whole(" samples"))
            .words("supersampling samples per pixel noise"),
        own("samples", "samples done"),
        own("window.render_scale", "render scale").words("resolution dynamic"),
    ],
    more: &[
        number("window.frame_ms", "frame time", digits(1, " ms").or_auto(16.0))
            .words("fps budget dynamic resolution"),
        switch("window.vsync", "vsync", "wait for the display").words("tearing fps limit"),
        slider("image.anisotropy", "anisotropy", [1.0, 16.0], whole("×"))
            .words("texture filtering anisotropic"),
    ],
};

const ORTHOGRAPHIC: InactiveReason = idle("the view is orthographic", |s| s.is_orthographic);
const SHARP: InactiveReason = idle("depth_of_field.enabled is off", |s| {
    !s.config.depth_of_field.enabled
});

const LENS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Depth of field",
    help: "A thin lens with an aperture",
    settings: &[switch("depth_of_field.enabled", "blur", "out of focus")
        .words("dof bokeh lens")
        .idle(&[ORTHOGRAPHIC])],
    more: &[
        slider("depth_of_field.f_number", "f-number", [0.1, 16.0], digits(2, ""))
            .words("aperture dof")
            .idle(&[ORTHOGRAPHIC, SHARP]),
        own("depth_of_field.focus", "focus")
            .words("dof distance")
            .idle(&[ORTHOGRAPHIC, SHARP]),
        number(
            "depth_of_field.sensor_height",
            "sensor height",
            digits(2, " mm").speed(0.1),
        )
        .words("focal length")
        .idle(&[ORTHOGRAPHIC, SHARP]),
    ],
};

const NO_PATHS: InactiveReason = idle("image.mode is not path", |s| {
    s.config.image.mode != ImageMode::Path
});
const ONE_KERNEL: InactiveReason = idle("a single kernel traces the paths", |s| {
    s.config.paths.kernels == PathKernels::One
});

const PATHS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Path tracer",
    help: "A progressive reference renderer",
    settings: &[
        choice(
            "image.mode",
            "render mode",
            &[same("fast"), named("path", "path tracer")],
        )
        .words("path tracing reference ground truth global illumination gi")
        .keys(&["paths"]),
        own("path progress", "progress"),
    ],
    more: &[
        number("paths.samples", "samples", whole("").speed(16.0))
            .words("spp")
            .idle(&[NO_PATHS]),
        number("paths.bounces", "bounces", whole("").speed(0.1))
            .words("depth")
            .idle(&[NO_PATHS]),
        number("paths.clamp", "clamp", digits(2, "").speed(0.1))
            .words("fireflies")
            .idle(&[NO_PATHS]),
        choice(
            "paths.kernels",
            "kernels",
            &[same("auto"), same("one"), same("separate")],
        )
        .words("wavefront megakernel")
        .idle(&[NO_PATHS]),
        switch("paths.sort", "sort", "by material").idle(&[NO_PATHS, ONE_KERNEL]),
    ],
};

const MATERIALS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Materials",
    help: "Parts of the materials, each on or off",
    settings: &[
        switch("materials.clay", "clay", "all surfaces").words("matte white solid override"),
        own("textures", "textures"),
    ],
    more: &[
        switch("materials.base_color_texture", "base colour", "texture").words("albedo diffuse map"),
        switch("materials.normal_texture", "normals", "texture").words("normal map bump"),
        switch("materials.metallic_roughness_texture", "metal-rough", "texture")
            .words("metalness roughness orm"),
        switch("materials.occlusion_texture", "occlusion", "texture").words("ao baked"),
        switch("materials.emissive_texture", "emissive", "texture").words("emissive glow"),
        switch("materials.vertex_colors", "vertex colours", "shown").words("vertex colors"),
        switch("materials.emission", "emission", "shown").words("emissive glow"),
        switch(
            "materials.multiple_scattering",
            "microfacets",
            "multiple scattering",
        )
        .words("energy brdf turquin"),
        switch(
            "materials.normal_terminator",
            "normal maps",
            "terminator correction",
        )
        .words("chiang brdf"),
        switch(
            "materials.smooth_terminator",
            "vertex normals",
            "terminator correction",
        )
        .words("hanika shadow terminator"),
        switch("materials.glint_filter", "glints", "filtered").words("specular aliasing tokuyoshi"),
    ],
};

const LOOKS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Looks",
    help: "Named presets of light and picture settings",
    settings: &[own("looks", "looks")],
    more: &[],
};

pub(super) const GROUPS: &[Group] = &[COLOUR, SHARPNESS, LENS, PATHS, MATERIALS, LOOKS];
