//! Actions of keys and buttons, and the table of their names, default keys and descriptions.

use crate::{app::camera::model::StandardView, config::ShadowMode, render::Channel};
use winit::keyboard::KeyCode;

/// Action of a key or button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Action {
    Help,
    /// Opens the command palette.
    Palette,
    /// Focuses the search field for settings in the panel.
    Find,
    Panel,
    /// Opens or closes the scene tree.
    Outline,
    /// Opens or closes the profiler.
    Profiler,
    /// Freezes or unfreezes the frames that the profiler shows.
    FreezeProfiler,
    /// Saves the profile to a file with this extension.
    SaveProfile(&'static str),
    /// Starts or ends the benchmark, which plays the clip or turns the camera around the scene.
    Benchmark,
    Open,
    OpenEnvironment,
    /// Asks for the file of the reference surface that the deviation is measured from.
    OpenCompared,
    /// Saves edits and hidden nodes to a file.
    SaveEdits,
    /// Asks for a file of edits, which replaces the edits and hidden nodes of the scene.
    LoadEdits,
    /// Asks for a scene or a picture for a side-by-side comparison.
    OpenSide,
    /// Asks for a look file to import.
    ImportLook,
    /// Saves the settings as a look file at a path that the user chooses.
    ExportLook,
    Browse,
    NextFile,
    PreviousFile,
    Reload,
    Watch,
    ObjTexture,
    Frame,
    FirstView,
    Face(StandardView),
    /// Orbits to the left and up by these numbers of steps, of which [`ORBIT_STEPS`] make 180°.
    Orbit([i8; 2]),
    Projection,
    NextUpAxis,
    NextCamera,
    /// Saves the current view for the scene.
    Bookmark,
    /// Moves the camera to a saved view, counted from 0.
    GoToBookmark(usize),
    /// Toggles walk mode.
    Walk,
    Camera(usize),
    Play,
    NextClip,
    /// Shows or hides the timeline.
    Timeline,
    /// Pauses the clip and moves by this number of frames of the timeline.
    StepFrame(i32),
    /// Pauses the clip at the start of the loop range.
    ClipStart,
    /// Pauses the clip at the end of the loop range.
    ClipEnd,
    /// Toggles the turntable.
    Turntable,
    /// Adds the current view to the camera path.
    PathKey,
    /// Opens or closes the export card.
    Export,
    StartExport,
    Clip(Option<usize>),
    Variant(Option<usize>),
    Shadows(ShadowMode),
    NextShadows,
    NextOcclusion,
    /// Removes the fog, or restores it.
    Fog,
    /// Toggles between path tracing and the deferred renderer.
    Paths,
    /// Switches to the next reflection mode.
    NextReflections,
    NextEnvironment,
    NextGround,
    Antialias,
    Cutoff(i32),
    Channel(Channel),
    NextChannel,
    PreviousChannel,
    /// Toggles between the channel of mesh intersections and the lit picture.
    Intersections,
    /// Toggles the display of BVH node boxes.
    TreeBoxes,
    /// Switches to the next depth of BVH node boxes. The leaf boxes come last.
    NextTreeBoxes,
    /// Toggles the display of triangle edges.
    Wireframe,
    /// Toggles the display of vertex normals.
    Normals,
    /// Opens or closes the texture viewer.
    Textures,
    /// Toggles the mode in which a click traces a single ray for inspection.
    TraceRay,
    /// Moves by this number of steps along the path of the traced ray.
    RayStep(i32),
    /// Ends the side-by-side comparison, or restarts the last one.
    Compare,
    /// Switches to the next display mode of the comparison.
    CompareMode,
    /// Shows the other side of the comparison, as a paused flicker.
    CompareFlip,
    /// Compares with the unedited scene.
    CompareUnedited,
    /// Compares with a copy of the current picture.
    ComparePicture,
    /// Toggles the mode in which clicks measure distances.
    Measure,
    FrameSelection,
    Hide,
    Isolate,
    ShowAll,
    CopySelection,
    Reset,
    /// Undoes the last change.
    Undo,
    /// Redoes the last undone change.
    Redo,
    /// Focuses the panel, or returns the focus to the scene.
    FocusPanel,
    /// Toggles presentation mode.
    Present,
    Fullscreen,
    Screenshot,
    ScreenshotOfWindow,
    Leave,
    Quit,
}

/// An action with its name, keys and description.
pub(in crate::app) struct KeyBinding {
    /// Name in the section `[keys]` of `config.toml`.
    pub(in crate::app) name: &'static str,
    /// Default keys, in the notation of [`Chord`](crate::app::input::chord::Chord).
    pub(in crate::app) keys: &'static [&'static str],
    /// Description in the help.
    pub(in crate::app) what: &'static str,
    pub(in crate::app) action: Action,
}

const fn bind(
    name: &'static str,
    keys: &'static [&'static str],
    what: &'static str,
    action: Action,
) -> KeyBinding {
    KeyBinding {
        name,
        keys,
        what,
        action,
    }
}

/// Every action that can have a key, in the order of the help. A letter means the key that types it in the
/// current keyboard layout, not a physical position.
#[rustfmt::skip]
pub(in crate::app) const BINDINGS: &[KeyBinding] = &[
    bind("help", &["H", "F1"], "this help", Action::Help),
    bind("palette", &["Ctrl+Shift+P", "F2"], "command palette", Action::Palette),
    bind("find", &["Ctrl+F", "/"], "find a setting in the panel", Action::Find),
    bind("panel", &["Tab"], "settings panel", Action::Panel),
    bind("outline", &["Alt+O"], "scene tree", Action::Outline),
    bind("focus_panel", &["F6"], "keyboard focus to the panel, or back", Action::FocusPanel),
    bind("profiler", &["Shift+P"], "profiler", Action::Profiler),
    bind("freeze_profiler", &["Pause"], "freeze the profiler", Action::FreezeProfiler),
    bind("open", &["Ctrl+O"], "open files (or drop them here)", Action::Open),
    bind("open_environment", &["Ctrl+E"], "open an environment (or drop it here)", Action::OpenEnvironment),
    bind("browse", &["Ctrl+P"], "browse recent files and folders", Action::Browse),
    bind("next_file", &["PageDown"], "next scene of the folder", Action::NextFile),
    bind("previous_file", &["PageUp"], "previous scene of the folder", Action::PreviousFile),
    bind("reload", &["F5"], "reload the files and keep the view", Action::Reload),
    bind("watch", &["Ctrl+R"], "reload automatically when files change", Action::Watch),
    bind("next_up_axis", &["U"], "next up axis", Action::NextUpAxis),
    bind("obj_texture", &["T"], "OBJ texture of the same name", Action::ObjTexture),
    bind("frame", &["F"], "frame the scene", Action::Frame),
    bind("frame_selection", &["Z", "Num."], "frame the selected mesh", Action::FrameSelection),
    bind("hide", &["Shift+H"], "hide the selected mesh", Action::Hide),
    bind("isolate", &["I"], "isolate the selected mesh", Action::Isolate),
    bind("show_all", &["Alt+H"], "show all meshes", Action::ShowAll),
    bind("copy_selection", &["Ctrl+C"], "copy the card as text", Action::CopySelection),
    bind("measure", &["Shift+M"], "start or stop measuring", Action::Measure),
    bind("front", &["Num1", "Ctrl+1"], "front view", Action::Face(StandardView::Front)),
    bind("back", &["Ctrl+Num1", "Ctrl+2"], "back view", Action::Face(StandardView::Back)),
    bind("right", &["Num3", "Ctrl+3"], "right view", Action::Face(StandardView::Right)),
    bind("left", &["Ctrl+Num3", "Ctrl+4"], "left view", Action::Face(StandardView::Left)),
    bind("top", &["Num7", "Ctrl+5"], "top view", Action::Face(StandardView::Top)),
    bind("bottom", &["Ctrl+Num7", "Ctrl+6"], "bottom view", Action::Face(StandardView::Bottom)),
    bind("orbit_left", &["Num4"], "orbit to the left", Action::Orbit([1, 0])),
    bind("orbit_right", &["Num6"], "orbit to the right", Action::Orbit([-1, 0])),
    bind("orbit_up", &["Num8"], "orbit up", Action::Orbit([0, 1])),
    bind("orbit_down", &["Num2"], "orbit down", Action::Orbit([0, -1])),
    bind("orbit_behind", &["Num9"], "orbit to the other side", Action::Orbit([ORBIT_STEPS, 0])),
    bind("projection", &["P", "Num5"], "perspective or orthographic", Action::Projection),
    bind("first_view", &["Home"], "back to the first view", Action::FirstView),
    bind("walk", &["J"], "walk, or orbit and fly", Action::Walk),
    bind("next_camera", &["C"], "next camera of the file", Action::NextCamera),
    bind("bookmark", &["Ctrl+B"], "save this view", Action::Bookmark),
    bind("view_1", &["Alt+1"], "go to saved view 1", Action::GoToBookmark(0)),
    bind("view_2", &["Alt+2"], "go to saved view 2", Action::GoToBookmark(1)),
    bind("view_3", &["Alt+3"], "go to saved view 3", Action::GoToBookmark(2)),
    bind("view_4", &["Alt+4"], "go to saved view 4", Action::GoToBookmark(3)),
    bind("view_5", &["Alt+5"], "go to saved view 5", Action::GoToBookmark(4)),
    bind("view_6", &["Alt+6"], "go to saved view 6", Action::GoToBookmark(5)),
    bind("view_7", &["Alt+7"], "go to saved view 7", Action::GoToBookmark(6)),
    bind("view_8", &["Alt+8"], "go to saved view 8", Action::GoToBookmark(7)),
    bind("view_9", &["Alt+9"], "go to saved view 9", Action::GoToBookmark(8)),
    bind("play", &["Space"], "play or pause", Action::Play),
    bind("next_clip", &["N"], "next clip", Action::NextClip),
    bind("timeline", &["Alt+L"], "timeline", Action::Timeline),
    bind("next_frame", &["Alt+Right"], "next frame of the clip", Action::StepFrame(1)),
    bind("previous_frame", &["Alt+Left"], "previous frame of the clip", Action::StepFrame(-1)),
    bind("clip_start", &["Alt+Home"], "start of the clip", Action::ClipStart),
    bind("clip_end", &["Alt+End"], "end of the clip", Action::ClipEnd),
    bind("turntable", &["Alt+R"], "start or stop the turntable", Action::Turntable),
    bind("path_key", &["Alt+P"], "add a keyframe to the camera path", Action::PathKey),
    bind("export", &["Alt+E"], "export pictures or a video", Action::Export),
    bind("shadows_off", &["1"], "no shadows", Action::Shadows(ShadowMode::Off)),
    bind("shadows_map", &["2"], "shadow maps", Action::Shadows(ShadowMode::Map)),
    bind("shadows_rays", &["3"], "ray-traced shadows", Action::Shadows(ShadowMode::Rays)),
    bind("next_shadows", &["M"], "next shadow mode", Action::NextShadows),
    bind("next_occlusion", &["O"], "next ambient occlusion mode", Action::NextOcclusion),
    bind("next_reflections", &["L"], "next reflection mode", Action::NextReflections),
    bind("fog", &["Alt+F"], "fog on or off", Action::Fog),
    bind("paths", &["Alt+G"], "path tracer or real-time frame", Action::Paths),
    bind("next_environment", &["Shift+L"], "next environment: studio, sky or file", Action::NextEnvironment),
    bind("next_ground", &["G"], "next ground mode", Action::NextGround),
    bind("antialias", &["X"], "next anti-aliasing mode", Action::Antialias),
    bind("smaller_leaves", &["["], "smaller leaf cutoff", Action::Cutoff(-1)),
    bind("larger_leaves", &["]"], "larger leaf cutoff", Action::Cutoff(1)),
    bind("next_channel", &["V"], "next channel", Action::NextChannel),
    bind("previous_channel", &["B"], "previous channel", Action::PreviousChannel),
    bind("intersections", &["Shift+I"], "mesh intersections", Action::Intersections),
    bind("tree_boxes", &["Y"], "BVH boxes", Action::TreeBoxes),
    bind("next_tree_boxes", &["Shift+Y"], "next depth of BVH boxes", Action::NextTreeBoxes),
    bind("wireframe", &["Alt+W"], "wireframe", Action::Wireframe),
    bind("normals", &["Alt+N"], "vertex normals", Action::Normals),
    bind("textures", &["Alt+T"], "textures of the selection, or of the scene", Action::Textures),
    bind("trace_ray", &["Shift+R"], "start or stop tracing rays by click", Action::TraceRay),
    bind("next_step", &["."], "next step of the ray", Action::RayStep(1)),
    bind("previous_step", &[","], "previous step of the ray", Action::RayStep(-1)),
    bind("compare", &["K"], "start or stop comparing", Action::Compare),
    bind("compare_mode", &["Shift+K"], "next comparison mode", Action::CompareMode),
    bind("compare_flip", &["Alt+K"], "switch sides of a comparison", Action::CompareFlip),
    bind("compare_picture", &["Ctrl+K"], "compare with the current picture", Action::ComparePicture),
    bind("undo", &["Ctrl+Z"], "undo the last change", Action::Undo),
    bind("redo", &["Ctrl+Shift+Z", "Ctrl+Y"], "redo", Action::Redo),
    bind("reset", &["R"], "reset all settings", Action::Reset),
    bind("present", &["F10"], "presentation: only the picture", Action::Present),
    bind("fullscreen", &["F11"], "full screen", Action::Fullscreen),
    bind("screenshot", &["F12"], "save the scene as a picture", Action::Screenshot),
    bind("screenshot_of_window", &["Ctrl+F12"], "save the window with the panel", Action::ScreenshotOfWindow),
    bind("cancel", &["Esc"], "cancel or close; twice to quit", Action::Leave),
    bind("quit", &["Ctrl+Q"], "quit", Action::Quit),
];

/// Mouse gestures and held keys, for the help.
pub(in crate::app) const GESTURES: &[(&str, &str)] = &[
    ("Click", "select a mesh; Shift + click, a second one"),
    ("Left drag", "orbit the scene"),
    ("Middle drag", "pan (or Shift + left drag)"),
    ("Wheel", "zoom"),
    ("Right drag", "look around"),
    ("W A S D, arrows", "fly or walk; Shift faster"),
    ("E, Q", "fly up and down; E jumps"),
    ("Right + wheel", "fly speed"),
    ("L + left drag", "move the sun"),
];

/// Number of orbit steps by key that make 180°.
pub(in crate::app) const ORBIT_STEPS: i8 = 12;

/// True for keys that operate the focused control or move the focus.
pub(in crate::app) fn moves_control(key: KeyCode) -> bool {
    matches!(
        key,
        KeyCode::Tab
            | KeyCode::Space
            | KeyCode::Enter
            | KeyCode::NumpadEnter
            | KeyCode::Escape
            | KeyCode::ArrowLeft
            | KeyCode::ArrowRight
            | KeyCode::ArrowUp
            | KeyCode::ArrowDown
            | KeyCode::Home
            | KeyCode::End
            | KeyCode::PageUp
            | KeyCode::PageDown
    )
}

/// True for F1 to F12, which no control uses.
pub(in crate::app) fn is_function(key: KeyCode) -> bool {
    matches!(
        key,
        KeyCode::F1
            | KeyCode::F2
            | KeyCode::F3
            | KeyCode::F4
            | KeyCode::F5
            | KeyCode::F6
            | KeyCode::F7
            | KeyCode::F8
            | KeyCode::F9
            | KeyCode::F10
            | KeyCode::F11
            | KeyCode::F12
    )
}

/// Returns the view-space direction (right, up, back) in which a held key flies. It depends on the key's
/// physical position, not on its character. `None` for keys that do not fly.
pub(in crate::app) fn flight(key: KeyCode) -> Option<glam::Vec3> {
    Some(match key {
        KeyCode::KeyW | KeyCode::ArrowUp => glam::Vec3::NEG_Z,
        KeyCode::KeyS | KeyCode::ArrowDown => glam::Vec3::Z,
        KeyCode::KeyA | KeyCode::ArrowLeft => glam::Vec3::NEG_X,
        KeyCode::KeyD | KeyCode::ArrowRight => glam::Vec3::X,
        KeyCode::KeyE => glam::Vec3::Y,
        KeyCode::KeyQ => glam::Vec3::NEG_Y,
        _ => return None,
    })
}
