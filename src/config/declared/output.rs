//! The tab `Output`.

use super::{
    Control, Group, Setting, Tab, choice, digits, number, own, same, switch, whole,
};

const EXPORT: Group = Group {
    tab: Some(Tab::Output),
    title: "Export",
    help: "Pictures or a video of the clip, a turn or the camera path",
    settings: &[own("export", "export").words("video mp4 sequence render save").keys(&["export"])],
    more: &[],
};

const PICTURES: Group = Group {
    tab: Some(Tab::Output),
    title: "Pictures",
    help: "Files of `canopy render` and of exports",
    settings: &[
        Setting::new(
            "output.size",
            "size",
            Control::Numbers(whole("").speed(1.0), "×"),
        )
        .words("resolution width height pixels"),
        number("output.samples", "samples", whole("").or_auto(64.0)).words("supersampling spp noise"),
    ],
    more: &[
        number("output.fps", "frames", digits(2, " /s").speed(0.1)).words("fps rate video"),
        number("output.jpeg_quality", "JPEG", whole(" %")).words("jpg quality"),
        switch("output.metadata", "metadata", "how it was made").words("provenance reopen"),
    ],
};

const PROGRAM: Group = Group {
    tab: Some(Tab::Output),
    title: "Window",
    help: "The window, and the panel itself",
    settings: &[
        choice(
            "window.theme",
            "theme",
            &[same("dark"), same("light"), same("system")],
        )
        .words("colours dark mode"),
        number("window.font_size", "text size", digits(1, " pt").speed(0.05)).words("font zoom scale"),
    ],
    more: &[
        number(
            "window.notice_secs",
            "notices",
            digits(1, " s").speed(0.05),
        )
        .words("toasts messages"),
        switch("window.panel", "panel", "at the start").keys(&["panel"]),
        switch("window.timeline", "timeline", "shown").keys(&["timeline"]),
        Setting::new(
            "window.size",
            "window",
            Control::Numbers(whole("").speed(1.0), "×"),
        )
        .words("size width height"),
        own("all settings", "all settings").words("reset save defaults command line"),
    ],
};

const ADAPTER: Group = Group {
    tab: Some(Tab::Output),
    title: "Adapter",
    help: "The GPU and its driver; from the next start",
    settings: &[],
    more: &[
        Setting::new("gpu.adapter", "adapter", Control::Text("the fastest")).words("gpu device card"),
        Setting::new("gpu.backend", "backend", Control::Text("any")).words("vulkan metal dx12 gl"),
        choice(
            "gpu.arrays",
            "arrays",
            &[same("auto"), same("buffers"), same("textures")],
        )
        .words("storage"),
        switch("gpu.shader_checks", "checks", "of indices and loops").words("bounds robust"),
        switch("gpu.pipeline_cache", "cache", "compiled shaders").words("pipelines kernels"),
    ],
};

const LIMITS: Group = Group {
    tab: Some(Tab::Output),
    title: "Limits of files",
    help: "What a file may cost; the files are read again",
    settings: &[],
    more: &[
        switch("load.follow_links", "links", "out of the folder").words("symbolic"),
        number("load.max_file_bytes", "a file", whole(" bytes")),
        number("load.max_total_bytes", "all files", whole(" bytes")),
        number("load.max_json_objects", "JSON objects", whole("")),
        number("load.max_image_pixels", "an image", whole(" pixels")),
        number("load.max_environment_pixels", "environment", whole(" pixels")),
        number("load.max_texture_bytes", "textures", whole(" bytes")),
        number("load.max_triangles", "triangles", whole("")),
        number("load.max_vertices", "vertices", whole("")),
        number("load.max_empty_vertices", "empty vertices", whole("")),
        number("load.max_nodes", "nodes", whole("")),
        number("load.max_joints", "joints", whole("")),
        number("load.max_morph_targets", "morph targets", whole("")),
        number("load.max_morph_bytes", "animation", whole(" bytes")),
        number("load.max_voxels", "voxels", whole("")),
        number("load.max_volume_nodes", "volumes", whole("")),
    ],
};

pub(super) const GROUPS: &[Group] = &[EXPORT, PICTURES, PROGRAM, ADAPTER, LIMITS];

