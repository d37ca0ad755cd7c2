//! Opening files: dialogs and the browser, what is dropped, the next file of a folder, recent files, and
//! reloading what has changed.

use crate::{
    Error,
    app::{
        files::{
            browser::{Browser, Choice, Kind},
            dropped::Dropped,
            recent::{self, Opened, Recent},
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

/// Why a scene is not read again.
const READ_ONCE: &str = "standard input is read once: it cannot be reloaded";

/// Whether one of `files` is standard input, which has been read.
fn reads_stdin(files: &[PathBuf]) -> bool {
    files.iter().any(|file| scene::is_stdin(file))
}

impl Viewer {
    /// Performs an action about files; returns any other.
    pub(in crate::app) fn perform_on_files(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::Open => self.ask_for(Kind::Scenes),
            Action::OpenEnvironment => self.ask_for(Kind::Environments),
            Action::OpenCompared => self.ask_for(Kind::Compared),
            Action::OpenSide => self.ask_for(Kind::Sides),
            Action::ImportLook => self.ask_for(Kind::Looks),
            Action::SaveEdits => self.save_edits(),
            Action::LoadEdits => self.ask_for(Kind::Edits),
            Action::Browse if self.browser.take().is_some() => self.gui.surrender_keyboard(),
            Action::Browse => self.browse(Kind::Scenes),
            Action::NextFile => self.look_for_neighbour(true),
            Action::PreviousFile => self.look_for_neighbour(false),
            Action::Watch => {
                let watch = &mut self.state.config.window.watch;
                *watch = !*watch;
                let text = if *watch && reads_stdin(&self.asked) {
                    READ_ONCE
                } else if *watch {
                    "reloads when files change"
                } else {
                    "does not reload by itself"
                };
                self.state.notify(text);
            }
            Action::ObjTexture => self.switch_obj_texture(),
            other => return Some(other),
        }
        None
    }

    /// Asks for a file. A second request while a dialog is open, or while the system takes its time, is for
    /// the built-in browser.
    fn ask_for(&mut self, kind: Kind) {
        if self.dialogs.ask_for(kind, &self.window, &self.waker) {
            self.state
                .notify("the system's file dialog opens; Ctrl+P has canopy's own");
        } else {
            self.browse(kind);
        }
    }

    /// The answer of a dialog for `kind` has come.
    pub(in crate::app) fn answered_in_dialog(&mut self, kind: Kind, files: Option<Vec<PathBuf>>) {
        self.dialogs.answered();
        let Some(mut files) = files else {
            self.browse(kind);
            let why = "The system's file dialog cannot be opened (no desktop portal, no zenity). \
                       This is canopy's own.";
            self.explain_browser(why.into());
            return;
        };
        match kind {
            Kind::Scenes if !files.is_empty() => self.load(files),
            Kind::Scenes => {}
            Kind::Compared => {
                if let Some(file) = files.pop() {
                    self.choose_compared(&file);
                }
            }
            Kind::Environments => {
                if let Some(file) = files.pop() {
                    self.choose_environment(&file);
                }
            }
            Kind::Edits => {
                if let Some(file) = files.pop() {
                    self.load_edits(&file);
                }
            }
            Kind::Sides => {
                if let Some(file) = files.pop() {
                    self.compare_with_file(&file);
                }
            }
            Kind::Looks => {
                if let Some(file) = files.pop() {
                    self.state.import_look(&file);
                }
            }
        }
    }

    /// Opens the built-in browser where the last file of this kind was.
    fn browse(&mut self, kind: Kind) {
        let environment = &self.state.config.environment.file;
        let last = match kind {
            Kind::Environments if !environment.is_empty() => Some(Path::new(environment)),
            _ => self.asked.first().map(PathBuf::as_path),
        };
        let folder = last.and_then(Path::parent).unwrap_or(Path::new(""));
        let folder = folder.to_owned();
        let recent = self.recent_file.as_deref().map(Recent::read);
        self.browse_in(kind, &folder, &recent.unwrap_or_default());
    }

    /// Opens the built-in browser at `folder`.
    fn browse_in(&mut self, kind: Kind, folder: &Path, recent: &Recent) {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let wake = self.waker.redraw();
        self.browser = Some(Browser::new(kind, folder, recent, wake));
    }

    /// Says in the browser why it has opened.
    fn explain_browser(&mut self, why: String) {
        if let Some(browser) = &mut self.browser {
            browser.note = Some(why);
        }
    }

    /// Does what the person did in the browser.
    pub(in crate::app) fn answered_in_browser(&mut self, answer: Answer) {
        if matches!(answer, Answer::Close | Answer::Choose(_)) {
            // Keys that follow are not typed into the field that is gone.
            self.gui.surrender_keyboard();
        }
        match answer {
            Answer::None => {}
            Answer::Close => self.browser = None,
            Answer::Switch(kind) => self.browse(kind),
            Answer::Choose(choice) => {
                self.browser = None;
                match choice {
                    Choice::Scene(files) => self.load(files),
                    Choice::Environment(file) => self.choose_environment(&file),
                    Choice::Compared(file) => self.choose_compared(&file),
                    Choice::Edits(file) => self.load_edits(&file),
                    Choice::Side(file) => self.compare_with_file(&file),
                    Choice::Look(file) => self.state.import_look(&file),
                }
            }
        }
    }

    /// Opens what was dropped since the last frame.
    pub(in crate::app) fn open_dropped(&mut self) {
        let dropped = Dropped::new(std::mem::take(&mut self.dropped));
        if dropped.ignored > 0 {
            let count = dropped.ignored;
            let files = if count == 1 { "file" } else { "files" };
            self.state.notify(format!("{count} other {files} ignored"));
        }
        if !dropped.scenes.is_empty() {
            self.browser = None;
            self.load(dropped.scenes);
        }
        if let Some(file) = dropped.environment {
            self.choose_environment(&file);
        }
        // While sides are compared, a picture is meant as one of them.
        if let Some(file) = dropped.picture
            && (self.state.compare.told.is_shown || !self.reopen(&file))
        {
            self.compare_with_file(&file);
        }
    }

    /// A load has failed. A folder of several scenes is no failure where the person can choose. Returns what
    /// is left to report.
    pub(in crate::app) fn choose_among_scenes(&mut self, error: Error) -> Option<Error> {
        match error {
            Error::SeveralScenes { folder, count, .. } if !self.schedule.counts_frames() => {
                self.browse_in(Kind::Scenes, &folder, &Recent::default());
                self.explain_browser(format!("This folder holds {count} scenes."));
                None
            }
            other => Some(other),
        }
    }

    /// Looks for the next or previous scene of the folder on a thread: the folder may be large.
    fn look_for_neighbour(&self, forward: bool) {
        let (waker, file) = (self.waker.clone(), self.asked.first().cloned());
        std::thread::spawn(move || {
            let found = folder::neighbour(&file.unwrap_or_default(), forward);
            waker.send(Wake::OpenNeighbour(found));
        });
    }

    /// Opens the next or previous scene of the folder.
    pub(in crate::app) fn open_neighbour(&mut self, found: Neighbour) {
        match found {
            Ok(Some((path, number, count))) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                let name = name.to_string_lossy();
                self.state.notify(format!("{name}, {number} of {count}"));
                self.load(vec![path]);
            }
            Ok(None) => self.state.notify("no other scene in this folder"),
            Err(error) => self
                .state
                .notify(format!("the folder cannot be read: {error}")),
        }
    }

    /// Lists what was opened among the recent files. Not what is opened for a count of frames: that is no
    /// person.
    pub(in crate::app) fn remember(&self, opened: Opened) {
        if let Some(file) = self.recent_file.as_deref() {
            recent::remember(file, opened);
        }
    }

    /// Colours an OBJ by the image of its name, or no longer, and reloads it.
    fn switch_obj_texture(&mut self) {
        let switch = &mut self.state.config.load.obj_texture;
        *switch = !*switch;
        let text = if *switch {
            "an OBJ without textures takes the image of its name"
        } else {
            "an OBJ takes no image that it does not name"
        };
        self.state.notify(text);
        self.state.files.offers.retain(|offer| !offer.is_texture());
        self.reload_scene();
    }

    /// Loads the files of the scene again.
    pub(in crate::app) fn reload_scene(&mut self) {
        let Some(stage) = &self.state.stage else {
            return;
        };
        if reads_stdin(&stage.files) {
            self.state.notify(READ_ONCE);
            return;
        }
        self.load(stage.files.clone());
    }

    /// Reads the files again where the settings of loading are no longer `before`; also those that could not
    /// be read.
    pub(in crate::app) fn follow_load(&mut self, before: &config::Load) {
        if self.state.config.load == *before {
            return;
        }
        if reads_stdin(&self.asked) {
            self.state.notify(READ_ONCE);
            return;
        }
        self.environment.reload();
        self.deviation.reload();
        self.load(self.asked.clone());
    }

    /// Watches the files of what is shown, or of what could not be loaded, as far as that is wanted.
    pub(in crate::app) fn follow_watches(&mut self) {
        if !self.state.config.window.watch {
            let watches = &mut self.watches;
            (watches.scene, watches.environment, watches.compared) = (None, None, None);
            return;
        }
        let shown = self.state.stage.as_ref();
        let files: &[PathBuf] = match shown.filter(|stage| stage.files == self.asked) {
            // They could not be loaded again without it.
            _ if reads_stdin(&self.asked) => &[],
            Some(stage) => &stage.scene.dependencies,
            None => &self.asked,
        };
        let watch = |watch: &mut Option<Watch>, files: &[PathBuf], wake: fn() -> Wake| {
            if watch.as_ref().is_none_or(|watch| watch.files() != files) {
                let waker = self.waker.clone();
                *watch = Some(Watch::new(files.to_vec(), INTERVAL, move || {
                    waker.send(wake());
                }));
            }
        };
        watch(&mut self.watches.scene, files, || Wake::SceneChanged);
        let config = &self.state.config;
        let environment = config.environment.is_file();
        let environment = environment.then(|| PathBuf::from(&config.environment.file));
        watch(
            &mut self.watches.environment,
            environment.as_slice(),
            || Wake::EnvironmentChanged,
        );
        let compared = self.deviation.files(config);
        watch(&mut self.watches.compared, &compared, || {
            Wake::ComparedChanged
        });
    }

    /// Loads again what has changed; also what could not be loaded before.
    pub(in crate::app) fn reload_changed(&mut self) {
        if self.state.config.window.watch && !self.asked.is_empty() {
            self.state.notify("files have changed: reloading");
            self.load(self.asked.clone());
        }
    }
}
