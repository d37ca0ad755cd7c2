//! Settings of the tab `Output`.

use super::setting::{Control, Group, Setting, Tab, choice, digits, number, own, same, switch, whole};

const EXPORT: Group = Group {
    tab: Some(Tab::Output),
    title: "Export",
    help: "Pictures or a video of the clip, a turntable or the camera path",
    settings: &[own("export", "export")
        .words("video mp4 sequence render save")
        .keys(&["export"])],
    more: &[],
};

const PICTURES: Group = Group {
    tab: Some(Tab::Output),
    title: "Pictures",
    help: "Pictures of `canopy render` and of exports",
    settings: &[
        Setting::new("output.size", "size", Control::Size).words("resolution width height pixels"),
        number("output.samples", "samples", whole("").or_auto(64.0)).words("supersampling spp noise"),
    ],
    more: &[
        number("output.fps", "frame rate", digits(2, " /s").speed(0.1)).words("fps rate video"),
        number("output.jpeg_quality", "JPEG quality", whole(" %")).words("jpg quality"),
        switch("output.metadata", "metadata", "how it was made").words("provenance reopen"),
    ],
};

const PROGRAM: Group = Group {
    tab: Some(Tab::Output),
    title: "Window",
    help: "Window and panel",
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
        number("window.notice_secs", "notices", digits(1, " s").speed(0.05)).words("toasts messages"),
        switch("window.panel", "panel", "shown").keys(&["panel"]),
        switch("window.timeline", "timeline", "shown").keys(&["timeline"]),
        Setting::new("window.size", "window size", Control::Size).words("size width height"),
        own("all settings", "all settings").words("reset save defaults command line"),
    ],
};

const ADAPTER: Group = Group {
    tab: Some(Tab::Output),
    title: "Adapter",
    help: "Adapter, graphics API and shaders. Changes apply at the next start",
    settings: &[],
    more: &[
        Setting::new("gpu.adapter", "adapter", Control::Text("the fastest")).words("gpu device card"),
        Setting::new("gpu.backend", "graphics API", Control::Text("automatic"))
            .words("backend vulkan metal dx12 gl"),
        choice(
            "gpu.arrays",
            "arrays",
            &[same("auto"), same("buffers"), same("textures")],
        )
        .words("storage"),
        choice("gpu.ray_boxes", "ray boxes", &[same("halves"), same("bytes")]).words("nodes bvh format"),
        choice(
            "gpu.ray_stack",
            "ray stack",
            &[same("workgroup"), same("private")],
        )
        .words("memory bvh"),
        switch("gpu.shader_checks", "shader checks", "bounds and loops").words("bounds robust"),
        switch("gpu.pipeline_cache", "shader cache", "on disk").words("pipelines kernels"),
    ],
};

/// Declares a limit, which is typed rather than dragged, because each change reads the files again.
const fn limit(key: &'static str, label: &'static str, unit: &'static str) -> Setting {
    number(key, label, whole(unit).speed(1e-9))
}

const LIMITS: Group = Group {
    tab: Some(Tab::Output),
    title: "File limits",
    help: "Maximum sizes of files. A change reloads the files",
    settings: &[],
    more: &[
        switch("load.follow_links", "symlinks", "out of the folder").words("symbolic"),
        limit("load.max_file_bytes", "file size", " bytes"),
        limit("load.max_total_bytes", "total size", " bytes"),
        limit("load.max_json_objects", "JSON objects", ""),
        limit("load.max_image_pixels", "image size", " pixels"),
        limit("load.max_environment_pixels", "environment", " pixels"),
        limit("load.max_texture_bytes", "textures", " bytes"),
        limit("load.max_triangles", "triangles", ""),
        limit("load.max_vertices", "vertices", ""),
        limit("load.max_empty_vertices", "empty vertices", ""),
        limit("load.max_nodes", "nodes", ""),
        limit("load.max_joints", "joints", ""),
        limit("load.max_morph_targets", "morph targets", ""),
        limit("load.max_morph_bytes", "animation data", " bytes"),
        limit("load.max_voxels", "voxels", ""),
        limit("load.max_volume_nodes", "volume nodes", ""),
    ],
};

pub(super) const GROUPS: &[Group] = &[EXPORT, PICTURES, PROGRAM, ADAPTER, LIMITS];
