//! Actions: one table of their names, their keys by default, and the words of the help.

use crate::{app::camera::model::StandardView, config::ShadowMode, render::Channel};
use winit::keyboard::KeyCode;

/// What a key or a button does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Action {
    Help,
    /// Opens the command palette.
    Palette,
    /// Goes to the field that finds settings in the panel.
    Find,
    Panel,
    /// Opens or closes the scene tree.
    Outline,
    /// Opens or closes the profiler.
    Profiler,
    /// Holds the profiler's frames, or follows them again.
    FreezeProfiler,
    /// Saves the profile as a file with this extension.
    SaveProfile(&'static str),
    /// Runs the benchmark of the clip or of a turn around the scene, or ends it.
    Benchmark,
    Open,
    OpenEnvironment,
    /// Asks for a file to compare the scene with.
    OpenCompared,
    /// Saves edits and hidden meshes as a file.
    SaveEdits,
    /// Asks for such a file, and lays its edits over the scene.
    LoadEdits,
    /// Asks for a scene or a picture to compare with side by side.
    OpenSide,
    /// Asks for a look to import.
    ImportLook,
    /// Saves the settings as a look where the person says.
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
    /// Orbits to the left and up by steps of [`ORBIT_STEPS`] to a half turn.
    Orbit([i8; 2]),
    Projection,
    NextUpAxis,
    NextCamera,
    /// Saves this view among those of the scene.
    Bookmark,
    /// Goes to a view that was saved, counted from 0.
    GoToBookmark(usize),
    /// Begins or ends walking.
    Walk,
    Camera(usize),
    Play,
    NextClip,
    /// Shows or hides the timeline.
    Timeline,
    /// Goes on by so many frames of the timeline, and pauses.
    StepFrame(i32),
    /// Goes to where the clip begins to play, and pauses.
    ClipStart,
    /// Goes to where it ends, and pauses.
    ClipEnd,
    /// Turns the camera around the scene, or stops.
    Turntable,
    /// Adds this view to the camera path.
    PathKey,
    /// Starts the export, or cancels the one that goes on.
    Export,
    StartExport,
    Clip(Option<usize>),
    Variant(Option<usize>),
    Shadows(ShadowMode),
    NextShadows,
    NextOcclusion,
    /// Clear air, or the fog that there was.
    Fog,
    /// Paths of light, or the passes of the frame.
    Paths,
    /// The next way to find what surfaces reflect.
    NextReflections,
    NextEnvironment,
    NextGround,
    Antialias,
    Cutoff(i32),
    Channel(Channel),
    NextChannel,
    PreviousChannel,
    /// Shows which triangles pass through those of other meshes, or the lit picture.
    Intersections,
    /// Shows boxes of the trees, or none.
    TreeBoxes,
    /// The next depth of boxes; the leaves come last.
    NextTreeBoxes,
    /// Shows the edges of the triangles, or no more.
    Wireframe,
    /// Shows the normals of the vertices, or no more.
    Normals,
    /// Opens or closes the texture viewer.
    Textures,
    /// Traces rays by clicks, or no more.
    TraceRay,
    /// Goes on by so many steps of the ray that was traced.
    RayStep(i32),
    /// Compares side by side with what was compared last, or ends that.
    Compare,
    /// The next way to show both sides.
    CompareMode,
    /// Shows the other side.
    CompareFlip,
    /// Compares with the scene as its files have it.
    CompareUnedited,
    /// Compares with the picture of this moment.
    ComparePicture,
    /// Begins or ends measuring.
    Measure,
    FrameSelection,
    Hide,
    Isolate,
    ShowAll,
    CopySelection,
    Reset,
    /// Takes the last change back.
    Undo,
    /// Does again what was taken back.
    Redo,
    /// Gives the keyboard to the panel, or back to the scene.
    FocusPanel,
    /// The picture alone.
    Present,
    Fullscreen,
    Screenshot,
    ScreenshotOfWindow,
    Leave,
    Quit,
}

/// An action with its name, its keys and its words.
pub(in crate::app) struct KeyBinding {
    /// The name in the section `[keys]` of `config.toml`.
    pub(in crate::app) name: &'static str,
    /// The keys by default, as [`Chord`](crate::app::input::chord::Chord) reads them.
    pub(in crate::app) keys: &'static [&'static str],
    /// The action in the help.
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

/// Every action that a key can have, in the order of the help. Letters are those that a keyboard prints,
/// wherever it has them.
#[rustfmt::skip]
pub(in crate::app) const BINDINGS: &[KeyBinding] = &[
    bind("help", &["H", "F1"], "this help", Action::Help),
    bind("palette", &["Ctrl+Shift+P", "F2"], "every command and setting, by typing", Action::Palette),
    bind("find", &["Ctrl+F", "/"], "find a setting in the panel", Action::Find),
    bind("panel", &["Tab"], "settings panel", Action::Panel),
    bind("outline", &["Alt+O"], "scene tree", Action::Outline),
    bind("focus_panel", &["F6"], "keyboard to the panel, or back", Action::FocusPanel),
    bind("profiler", &["Shift+P"], "profiler", Action::Profiler),
    bind("freeze_profiler", &["Pause"], "freeze the profiler", Action::FreezeProfiler),
    bind("open", &["Ctrl+O"], "open files (or drop them here)", Action::Open),
    bind("open_environment", &["Ctrl+E"], "open an environment (or drop it here)", Action::OpenEnvironment),
    bind("browse", &["Ctrl+P"], "browse files: recent ones and those of a folder", Action::Browse),
    bind("next_file", &["PageDown"], "next scene of the folder", Action::NextFile),
    bind("previous_file", &["PageUp"], "previous scene of the folder", Action::PreviousFile),
    bind("reload", &["F5"], "reload the files and keep the view", Action::Reload),
    bind("watch", &["Ctrl+R"], "reload by itself when files change", Action::Watch),
    bind("next_up_axis", &["U"], "another axis of the file points up", Action::NextUpAxis),
    bind("obj_texture", &["T"], "colour an OBJ with the image of its name", Action::ObjTexture),
    bind("frame", &["F"], "frame the scene", Action::Frame),
    bind("frame_selection", &["Z", "Num."], "frame the selected mesh", Action::FrameSelection),
    bind("hide", &["Shift+H"], "hide the selected mesh", Action::Hide),
    bind("isolate", &["I"], "show the selected mesh alone", Action::Isolate),
    bind("show_all", &["Alt+H"], "show all meshes", Action::ShowAll),
    bind("copy_selection", &["Ctrl+C"], "copy what the card tells", Action::CopySelection),
    bind("measure", &["Shift+M"], "measure between clicks, or stop", Action::Measure),
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
    bind("walk", &["J"], "walk, or orbit and fly again", Action::Walk),
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
    bind("turntable", &["Alt+R"], "turn around the scene, or stop", Action::Turntable),
    bind("path_key", &["Alt+P"], "add this view to the camera path", Action::PathKey),
    bind("export", &["Alt+E"], "export pictures or a video", Action::Export),
    bind("shadows_off", &["1"], "no shadows", Action::Shadows(ShadowMode::Off)),
    bind("shadows_map", &["2"], "shadows by maps", Action::Shadows(ShadowMode::Map)),
    bind("shadows_rays", &["3"], "shadows by rays", Action::Shadows(ShadowMode::Rays)),
    bind("next_shadows", &["M"], "next shadow mode", Action::NextShadows),
    bind("next_occlusion", &["O"], "next ambient occlusion mode", Action::NextOcclusion),
    bind("next_reflections", &["L"], "next reflection mode", Action::NextReflections),
    bind("fog", &["Alt+F"], "fog, or clear air", Action::Fog),
    bind("paths", &["Alt+G"], "paths of light, or the fast frame", Action::Paths),
    bind("next_environment", &["Shift+L"], "studio, sky, or the environment's file", Action::NextEnvironment),
    bind("next_ground", &["G"], "next ground below the scene", Action::NextGround),
    bind("antialias", &["X"], "next anti-aliasing", Action::Antialias),
    bind("smaller_leaves", &["["], "smaller leaves for rays", Action::Cutoff(-1)),
    bind("larger_leaves", &["]"], "larger leaves for rays", Action::Cutoff(1)),
    bind("next_channel", &["V"], "next channel", Action::NextChannel),
    bind("previous_channel", &["B"], "previous channel", Action::PreviousChannel),
    bind("intersections", &["Shift+I"], "what passes through other meshes", Action::Intersections),
    bind("tree_boxes", &["Y"], "boxes of the trees", Action::TreeBoxes),
    bind("next_tree_boxes", &["Shift+Y"], "next depth of boxes", Action::NextTreeBoxes),
    bind("wireframe", &["Alt+W"], "edges of the triangles", Action::Wireframe),
    bind("normals", &["Alt+N"], "normals of the vertices", Action::Normals),
    bind("textures", &["Alt+T"], "textures of the selection, or of the scene", Action::Textures),
    bind("trace_ray", &["Shift+R"], "trace a ray by a click, or stop", Action::TraceRay),
    bind("next_step", &["."], "next step of the ray", Action::RayStep(1)),
    bind("previous_step", &[","], "previous step of the ray", Action::RayStep(-1)),
    bind("compare", &["K"], "compare with these settings, or stop", Action::Compare),
    bind("compare_mode", &["Shift+K"], "wipe, flicker or difference", Action::CompareMode),
    bind("compare_flip", &["Alt+K"], "the other side of a comparison", Action::CompareFlip),
    bind("compare_picture", &["Ctrl+K"], "compare with a picture of now", Action::ComparePicture),
    bind("undo", &["Ctrl+Z"], "undo the last change", Action::Undo),
    bind("redo", &["Ctrl+Shift+Z", "Ctrl+Y"], "do it again", Action::Redo),
    bind("reset", &["R"], "reset all settings", Action::Reset),
    bind("present", &["F10"], "the picture alone", Action::Present),
    bind("fullscreen", &["F11"], "full screen", Action::Fullscreen),
    bind("screenshot", &["F12"], "save the scene as a picture", Action::Screenshot),
    bind("screenshot_of_window", &["Ctrl+F12"], "save the window with the panel", Action::ScreenshotOfWindow),
    bind("cancel", &["Esc"], "cancel, close, or quit", Action::Leave),
    bind("quit", &["Ctrl+Q"], "quit", Action::Quit),
];

/// Gestures of the mouse and keys that are held, for the help.
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

/// Steps of orbiting by a key in a half turn.
pub(in crate::app) const ORBIT_STEPS: i8 = 12;

/// True for keys that move or press the control that has the keyboard.
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

/// Whether a key is one of F1 to F12, which no control takes.
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

/// The direction (right, up, back) in which a held key flies. Goes by its position on the keyboard, whatever
/// is printed there.
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
