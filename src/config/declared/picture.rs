//! The tab `Picture`.

use super::setting::{
    Control, Group, Idle, Setting, Tab, choice, digits, idle, list, named, number, own, same, slider, switch,
    whole,
};
use crate::config::{ImageMode, PathKernels};

const NOT_METERED: Idle = idle("the exposure does not follow the picture", |s| {
    !s.config.image.is_metered()
});

const COLOUR: Group = Group {
    tab: Some(Tab::Picture),
    title: "Exposure and colour",
    help: "From radiance to the screen",
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
            "brighter by",
            [-5.0, 5.0],
            digits(2, " EV"),
        )
        .idle(&[NOT_METERED]),
        Setting::new(
            "exposure.percentiles",
            "metered",
            Control::Rising(digits(1, " %").speed(0.25), 1.0),
        )
        .words("histogram percentiles")
        .idle(&[NOT_METERED]),
        Setting::new(
            "exposure.range",
            "EV range",
            Control::Rising(digits(1, " EV").speed(0.1), 0.0),
        )
        .idle(&[NOT_METERED]),
        slider("exposure.adaptation", "adapts in", [0.0, 10.0], digits(2, " s")).idle(&[NOT_METERED]),
        switch("image.dither", "dither", "against bands").words("banding noise"),
    ],
};

const SHARPNESS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Edges and resolution",
    help: "How finely the picture is drawn, at rest and while something moves",
    settings: &[
        list(
            "image.antialias",
            "anti-aliasing",
            &[same("auto"), same("off"), named("smaa", "SMAA"), same("temporal")],
        )
        .words("antialiasing aa smaa taa tsr upscaling")
        .keys(&["antialias"]),
        number("window.still_samples", "still picture", whole(" samples"))
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

const ORTHOGRAPHIC: Idle = idle("the view is orthographic", |s| s.is_orthographic);
const SHARP: Idle = idle("nothing is blurred", |s| !s.config.depth_of_field.enabled);

const LENS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Depth of field",
    help: "What a lens with an aperture shows sharp",
    settings: &[switch("depth_of_field.enabled", "blur", "by distance")
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
            "sensor",
            digits(2, " mm").speed(0.1),
        )
        .words("focal length")
        .idle(&[ORTHOGRAPHIC, SHARP]),
    ],
};

const NO_PATHS: Idle = idle("no paths are traced", |s| s.config.image.mode != ImageMode::Path);
const ONE_KERNEL: Idle = idle("one kernel traces the paths", |s| {
    s.config.paths.kernels == PathKernels::One
});

const PATHS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Path tracer",
    help: "The picture by paths of light, as a reference",
    settings: &[
        choice(
            "image.mode",
            "picture by",
            &[named("fast", "the frame"), named("path", "paths of light")],
        )
        .words("path tracing reference ground truth global illumination gi")
        .keys(&["paths"]),
        own("path progress", "done"),
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
    help: "Textures, colours and light of surfaces, each on or off",
    settings: &[
        switch("materials.clay", "clay", "all surfaces").words("matte white solid override"),
        own("textures", "textures"),
    ],
    more: &[
        switch("materials.base_color_texture", "base colour", "texture").words("albedo diffuse map"),
        switch("materials.normal_texture", "normals", "texture").words("normal map bump"),
        switch("materials.metallic_roughness_texture", "metal, rough", "texture")
            .words("metalness roughness orm"),
        switch("materials.occlusion_texture", "occlusion", "texture").words("ao baked"),
        switch("materials.emissive_texture", "emission", "texture").words("emissive glow"),
        switch("materials.vertex_colors", "vertices", "colours").words("vertex colors"),
        switch("materials.emission", "emitted", "light").words("emissive glow"),
        switch("materials.multiple_scattering", "scattering", "multiple").words("energy brdf turquin"),
        switch("materials.normal_terminator", "terminator", "normal maps").words("chiang brdf"),
        switch("materials.smooth_terminator", "grazing", "smooth terminator")
            .words("hanika shadow terminator"),
        switch("materials.glint_filter", "glints", "filtered").words("specular aliasing tokuyoshi"),
    ],
};

const LOOKS: Group = Group {
    tab: Some(Tab::Picture),
    title: "Looks",
    help: "Settings of light and picture under a name",
    settings: &[own("looks", "looks")],
    more: &[],
};

pub(super) const GROUPS: &[Group] = &[COLOUR, SHARPNESS, LENS, PATHS, MATERIALS, LOOKS];
