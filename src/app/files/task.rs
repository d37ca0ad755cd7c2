//! Opens files from dialogs, the browser, dropped files and the folder of the scene, and reloads changed
//! files.

use crate::{
    Error,
    app::{
        self,
        files::{
            browser::{Browser, Choice, Kind},
            dropped::Dropped,
            recent::Recent,
            watch::{INTERVAL, Watch},
        },
        input::keys::Action,
        ui::Answer,
        viewer::Viewer,
        window::wake::{Neighbour, Wake},
    },
    config,
    scene::{self, folder},
};
use std::path::{Path, PathBuf};

/// Reason why a scene cannot be reloaded.
const READ_ONCE: &str = "standard input can be read only once, so it cannot be reloaded";

/// True if one of `files` is standard input, which has already been read.
fn reads_stdin(files: &[PathBuf]) -> bool {
    files.iter().any(|file| scene::is_stdin(file))
}

/// Performs a file action. Returns any other action.
pub(in crate::app) fn perform_on_files(viewer: &mut Viewer, action: Action) -> Option<Action> {
    match action {
        Action::Open => ask_for(viewer, Kind::Scenes),
        Action::OpenEnvironment => ask_for(viewer, Kind::Environments),
        Action::OpenCompared => ask_for(viewer, Kind::Compared),
        Action::OpenSide => ask_for(viewer, Kind::Sides),
        Action::ImportLook => ask_for(viewer, Kind::Looks),
        Action::SaveEdits => app::edits::files::save(viewer),
        Action::LoadEdits => ask_for(viewer, Kind::Edits),
        Action::Browse if viewer.browser.take().is_some() => viewer.gui.surrender_keyboard(),
        Action::Browse => browse(viewer, Kind::Scenes),
        Action::NextFile => look_for_neighbour(viewer, true),
        Action::PreviousFile => look_for_neighbour(viewer, false),
        Action::Watch => {
            let watch = &mut viewer.state.config.window.watch;
            *watch = !*watch;
            let text = if *watch && reads_stdin(&viewer.asked) {
                READ_ONCE
            } else if *watch {
                "reloading when files change"
            } else {
                "not reloading when files change"
            };
            viewer.state.notify(text);
        }
        Action::ObjTexture => switch_obj_texture(viewer),
        other => return Some(other),
    }
    None
}

/// Opens the system's file dialog for this kind of file. If a dialog is already open or seems to be, opens
/// the built-in browser instead.
fn ask_for(viewer: &mut Viewer, kind: Kind) {
    if viewer.dialogs.ask_for(kind, &viewer.window, &viewer.waker) {
        let keys = viewer.state.ui.keymap.hint(Action::Browse);
        viewer.state.notify(format!(
            "opening the system's file dialog; Browse opens canopy's own{keys}"
        ));
    } else {
        browse(viewer, kind);
    }
}

/// Handles the files that the user chose in the system's dialog for `kind`. `None` means that the dialog
/// could not be opened, and opens the built-in browser.
pub(in crate::app) fn answered_in_dialog(viewer: &mut Viewer, kind: Kind, files: Option<Vec<PathBuf>>) {
    viewer.dialogs.answered();
    let Some(mut files) = files else {
        browse(viewer, kind);
        let why = "The system's file dialog cannot be opened (no desktop portal, no zenity). \
                   This is canopy's own file browser.";
        explain_browser(viewer, why.into());
        return;
    };
    match kind {
        Kind::Scenes if !files.is_empty() => viewer.load(files),
        Kind::Scenes => {}
        Kind::Compared => {
            if let Some(file) = files.pop() {
                app::deviation::compared::choose(viewer, &file);
            }
        }
        Kind::Environments => {
            if let Some(file) = files.pop() {
                app::environment::task::choose(viewer, &file);
            }
        }
        Kind::Edits => {
            if let Some(file) = files.pop() {
                app::edits::files::load(viewer, &file);
            }
        }
        Kind::Sides => {
            if let Some(file) = files.pop() {
                app::compare::task::with_file(viewer, &file);
            }
        }
        Kind::Looks => {
            if let Some(file) = files.pop() {
                viewer.state.import_look(&file);
            }
        }
    }
}

/// Opens the built-in browser at the folder of the scene or, for environments, of the environment file.
fn browse(viewer: &mut Viewer, kind: Kind) {
    let environment = &viewer.state.config.environment.file;
    let last = match kind {
        Kind::Environments if !environment.is_empty() => Some(Path::new(environment)),
        _ => viewer.asked.first().map(PathBuf::as_path),
    };
    let folder = last.and_then(Path::parent).unwrap_or(Path::new(""));
    let folder = folder.to_owned();
    let recent = viewer.recent_file.as_deref().map(Recent::read);
    browse_in(viewer, kind, &folder, &recent.unwrap_or_default());
}

/// Opens the built-in browser at `folder`. The empty path is the working directory.
fn browse_in(viewer: &mut Viewer, kind: Kind, folder: &Path, recent: &Recent) {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let wake = viewer.waker.redraw();
    viewer.browser = Some(Browser::new(kind, folder, recent, wake));
}

/// Sets the text that explains in the browser why it has opened.
fn explain_browser(viewer: &mut Viewer, why: String) {
    if let Some(browser) = &mut viewer.browser {
        browser.note = Some(why);
    }
}

/// Handles the user's response to the browser.
pub(in crate::app) fn answered_in_browser(viewer: &mut Viewer, answer: Answer) {
    if matches!(answer, Answer::Close | Answer::Choose(_)) {
        // Further keys must not go to the path field, which no longer exists.
        viewer.gui.surrender_keyboard();
    }
    match answer {
        Answer::None => {}
        Answer::Close => viewer.browser = None,
        Answer::Switch(kind) => browse(viewer, kind),
        Answer::Choose(choice) => {
            viewer.browser = None;
            match choice {
                Choice::Scene(files) => viewer.load(files),
                Choice::Environment(file) => app::environment::task::choose(viewer, &file),
                Choice::Compared(file) => app::deviation::compared::choose(viewer, &file),
                Choice::Edits(file) => app::edits::files::load(viewer, &file),
                Choice::Side(file) => app::compare::task::with_file(viewer, &file),
                Choice::Look(file) => viewer.state.import_look(&file),
            }
        }
    }
}

/// Opens the files that were dropped since the last frame.
pub(in crate::app) fn open_dropped(viewer: &mut Viewer) {
    let dropped = Dropped::new(std::mem::take(&mut viewer.dropped));
    if dropped.ignored > 0 {
        let count = dropped.ignored;
        let files = if count == 1 { "file" } else { "files" };
        viewer.state.notify(format!(
            "ignored {count} dropped {files}: textures and buffers come with their scene, and one environment \
             is used"
        ));
    }
    if !dropped.scenes.is_empty() {
        viewer.browser = None;
        viewer.load(dropped.scenes);
    }
    if let Some(file) = dropped.environment {
        app::environment::task::choose(viewer, &file);
    }
    // A picture with provenance is reopened. Other pictures, and all pictures during a comparison, become
    // side B.
    if let Some(file) = dropped.picture
        && (viewer.state.compare.figures.is_shown || !app::files::reopen::reopen(viewer, &file))
    {
        app::compare::task::with_file(viewer, &file);
    }
}

/// Handles a failed load. For a folder of several scenes, opens the browser there. Returns any other error.
/// With a fixed number of frames nobody can choose, so every error is returned.
pub(in crate::app) fn choose_among_scenes(viewer: &mut Viewer, error: Error) -> Option<Error> {
    match error {
        Error::SeveralScenes { folder, count, .. } if !viewer.schedule.has_frame_limit() => {
            browse_in(viewer, Kind::Scenes, &folder, &Recent::default());
            explain_browser(viewer, format!("This folder holds {count} scenes."));
            None
        }
        other => Some(other),
    }
}

/// Searches for the next or previous scene of the folder on a thread, because the folder may be large.
fn look_for_neighbour(viewer: &Viewer, forward: bool) {
    let (waker, file) = (viewer.waker.clone(), viewer.asked.first().cloned());
    std::thread::spawn(move || {
        let found = folder::neighbour(&file.unwrap_or_default(), forward);
        waker.send(Wake::OpenNeighbour(found));
    });
}

/// Opens the scene that [`look_for_neighbour`] has found, or notifies the user that there is none.
pub(in crate::app) fn open_neighbour(viewer: &mut Viewer, found: Neighbour) {
    match found {
        Ok(Some((path, number, count))) => {
            let name = path.file_name().unwrap_or(path.as_os_str());
            let name = name.to_string_lossy();
            viewer.state.notify(format!("{name}, {number} of {count}"));
            viewer.load(vec![path]);
        }
        Ok(None) => viewer.state.notify("no other scene in this folder"),
        Err(error) => {
            let folder = viewer.asked.first().and_then(|file| file.parent());
            // The parent of a bare file name is the empty path.
            let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).display().to_string();
            viewer
                .state
                .notify(format!("the folder {folder} cannot be read: {error}"));
        }
    }
}

/// Toggles `load.obj_texture`, with which an OBJ file without textures uses the image of the same name, and
/// reloads the scene.
fn switch_obj_texture(viewer: &mut Viewer) {
    let switch = &mut viewer.state.config.load.obj_texture;
    *switch = !*switch;
    let text = if *switch {
        "OBJ files without textures use the image of the same name"
    } else {
        "OBJ files use only the images that they refer to"
    };
    viewer.state.notify(text);
    viewer.state.files.offers.retain(|offer| !offer.is_texture());
    reload_scene(viewer);
}

/// Reloads the files of the shown scene, unless one is standard input.
pub(in crate::app) fn reload_scene(viewer: &mut Viewer) {
    let Some(stage) = &viewer.state.stage else {
        return;
    };
    if reads_stdin(&stage.files) {
        viewer.state.notify(READ_ONCE);
        return;
    }
    viewer.load(stage.files.clone());
}

/// Reloads the scene, the environment and the reference surface if the load settings differ from `before`.
/// The last requested files are loaded, even if they failed before.
pub(in crate::app) fn follow_load(viewer: &mut Viewer, before: &config::Load) {
    if viewer.state.config.load == *before {
        return;
    }
    if reads_stdin(&viewer.asked) {
        viewer.state.notify(READ_ONCE);
        return;
    }
    viewer.environment.reload();
    viewer.deviation.reload();
    viewer.load(viewer.asked.clone());
}

/// Watches the scene, the environment and the reference surface for changes if watching is enabled. For a
/// scene that could not be loaded, the requested files are watched.
pub(in crate::app) fn follow_watches(viewer: &mut Viewer) {
    if !viewer.state.config.window.watch {
        let watches = &mut viewer.watches;
        (watches.scene, watches.environment, watches.compared) = (None, None, None);
        return;
    }
    let shown = viewer.state.stage.as_ref();
    let files: &[PathBuf] = match shown.filter(|stage| stage.files == viewer.asked) {
        // Standard input cannot be read again, so such a scene is never reloaded.
        _ if reads_stdin(&viewer.asked) => &[],
        Some(stage) => &stage.scene.dependencies,
        None => &viewer.asked,
    };
    let watch = |watch: &mut Option<Watch>, files: &[PathBuf], wake: fn() -> Wake| {
        if watch.as_ref().is_none_or(|watch| watch.files() != files) {
            let waker = viewer.waker.clone();
            *watch = Some(Watch::new(files.to_vec(), INTERVAL, move || {
                waker.send(wake());
            }));
        }
    };
    watch(&mut viewer.watches.scene, files, || Wake::SceneChanged);
    let config = &viewer.state.config;
    let environment = config.environment.is_file();
    let environment = environment.then(|| PathBuf::from(&config.environment.file));
    watch(&mut viewer.watches.environment, environment.as_slice(), || {
        Wake::EnvironmentChanged
    });
    let compared = viewer.deviation.files(config);
    watch(&mut viewer.watches.compared, &compared, || Wake::ComparedChanged);
}

/// Reloads the last requested files after a change on disk, even if they could not be loaded before.
pub(in crate::app) fn reload_changed(viewer: &mut Viewer) {
    if viewer.state.config.window.watch && !viewer.asked.is_empty() {
        viewer.state.notify("files have changed; reloading");
        viewer.load(viewer.asked.clone());
    }
}
