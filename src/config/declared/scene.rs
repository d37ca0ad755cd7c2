//! Settings of the tab `Scene`.

use super::setting::{
    Group, InactiveReason, Tab, choice, digits, idle, list, named, number, own, same, slider, switch,
};

const NO_SCENE: InactiveReason = idle("no scene is open", |s| !s.has_scene);
const NO_CLIP: InactiveReason = idle("no clip is selected", |s| !s.has_clip);
const ORBITS: InactiveReason = idle("camera.mode is not walk", |s| !s.walks);
const WALKS: InactiveReason = idle("camera.mode is walk", |s| s.walks);

const FILE: Group = Group {
    tab: Some(Tab::Scene),
    title: "Content",
    help: "Clip, material variant, up axis and ground",
    settings: &[
        own("animation.clip", "clip")
            .words("animation")
            .keys(&["next_clip"]),
        own("animation.time", "time")
            .words("animation seconds")
            .idle(&[NO_CLIP]),
        own("animation.speed", "speed")
            .words("animation play pause")
            .keys(&["play"])
            .idle(&[NO_CLIP]),
        own("scene.variant", "variant").words("materials colourway"),
        list(
            "scene.up",
            "up axis",
            &[
                same("auto"),
                named("y", "Y"),
                named("z", "Z"),
                named("x", "X"),
                named("-y", "-Y"),
                named("-z", "-Z"),
                named("-x", "-X"),
            ],
        )
        .words("turn rotate upright")
        .keys(&["next_up_axis"])
        .idle(&[NO_SCENE]),
        list(
            "scene.ground",
            "ground",
            &[same("auto"), same("off"), same("shadow"), same("grid")],
        )
        .words("floor plane grid shadow catcher")
        .keys(&["next_ground"]),
    ],
    more: &[
        switch("window.watch", "watch files", "reload on change").keys(&["watch", "reload"]),
        switch("load.obj_texture", "OBJ texture", "of the same name").keys(&["obj_texture"]),
        own("counts", "counts"),
    ],
};

const ANIMATION: Group = Group {
    tab: Some(Tab::Scene),
    title: "Animation",
    help: "Blended clips, morph weights and the turntable",
    settings: &[
        choice(
            "animation.play",
            "autoplay",
            &[same("auto"), named("on", "play"), named("off", "pause")],
        )
        .words("start playing"),
        own("turntable", "turntable").words("spin rotate orbit"),
    ],
    more: &[
        own("clip weights", "blend").words("weights mix clips"),
        own("animation.loop_from", "loop start")
            .words("range in out")
            .idle(&[NO_CLIP]),
        own("animation.loop_to", "loop end")
            .words("range in out")
            .idle(&[NO_CLIP]),
        switch("animation.repeat", "repeat", "at the end").words("loop"),
        number("animation.frame_rate", "frame rate", digits(2, " /s").speed(0.1)).words("fps timeline"),
        own("animation.morphs", "morph targets").words("blend shapes shape keys weights"),
        number("camera.turntable", "turn speed", digits(0, "°/s").speed(1.0))
            .words("turntable spin")
            .idle(&[WALKS]),
    ],
};

const ORTHOGRAPHIC: InactiveReason = idle("the view is orthographic", |s| s.is_orthographic);

const CAMERA: Group = Group {
    tab: Some(Tab::Scene),
    title: "Camera",
    help: "View, projection and navigation",
    settings: &[
        own("camera.name", "camera")
            .words("view frame")
            .keys(&["frame", "next_camera"]),
        choice(
            "camera.mode",
            "navigation",
            &[named("orbit", "orbit, fly"), same("walk")],
        )
        .words("movement first person controls")
        .keys(&["walk"]),
        own("camera.fov", "field of view")
            .words("zoom lens angle perspective")
            .idle(&[ORTHOGRAPHIC]),
        own("projection", "projection")
            .words("perspective orthographic parallel")
            .keys(&["projection"]),
        own("saved views", "saved views")
            .words("bookmarks")
            .keys(&["bookmark"]),
    ],
    more: &[
        number("camera.speed", "fly speed", digits(2, "×"))
            .words("movement")
            .idle(&[WALKS]),
        slider("camera.walk_speed", "walk speed", [0.5, 10.0], digits(2, " m/s")).idle(&[ORBITS]),
        number(
            "camera.person",
            "body height",
            digits(2, " m").speed(0.01).or_auto(1.8),
        )
        .words("person eye")
        .idle(&[ORBITS]),
        switch("camera.avoid_walls", "avoid walls", "orbit and zoom")
            .words("collision")
            .idle(&[WALKS]),
        switch("window.axes", "axes", "in a corner").words("gizmo orientation"),
    ],
};

const PATH: Group = Group {
    tab: Some(Tab::Scene),
    title: "Camera path",
    help: "Keyframes that the camera moves between",
    settings: &[own("camera path", "keyframes")
        .words("flythrough keyframes")
        .keys(&["path_key"])],
    more: &[],
};

const NOTES: Group = Group {
    tab: Some(Tab::Scene),
    title: "Extensions and warnings",
    help: "glTF extensions of the files, and warnings from loading",
    settings: &[own("notes", "notes")],
    more: &[],
};

pub(super) const GROUPS: &[Group] = &[FILE, ANIMATION, CAMERA, PATH, NOTES];
