//! A glTF file that is being read: its JSON, its bytes, and what there is to say about it.

use super::container::Doubles;
use crate::{
    Error, Result,
    files::{Bytes, Folder, clip},
    graph::WarningPlace,
};
use ::gltf::json::Root;
use serde_json::{Map, Value};
use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    path::Path,
    rc::Rc,
};

/// The most warnings that are kept of a file.
const MAX_WARNINGS: usize = 100;

/// The most places of warnings that are kept of a file.
const MAX_PLACES: usize = 300;

/// A glTF file that is being read.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) path: &'a Path,
    pub(super) root: Root,
    /// The extras of each light.
    pub(super) light_extras: Vec<Map<String, Value>>,
    /// The names of each mesh's morph targets, as far as it gives them.
    pub(super) target_names: Vec<Vec<String>>,
    /// The URIs of volumes that nodes place, by the file's numbers of the nodes.
    pub(super) node_volumes: HashMap<usize, String>,
    /// The numbers of nodes' transforms that `root` rounds.
    pub(super) doubles: Doubles,
    /// The extensions that the file requires.
    pub(super) required: HashSet<String>,
    /// The bytes of each buffer, or why there are none: an error only if something reads them.
    pub(super) buffers: Vec<Result<Bytes, String>>,
    /// The bytes of compressed buffer views, by the file's numbers; `None` for plain ones.
    pub(super) views: Vec<Option<DecodedView>>,
    pub(super) folder: Folder,
    /// The indices of sparse accessors that have been read: thousands of primitives may share one.
    pub(super) sparse_indices: RefCell<HashMap<usize, Rc<[u32]>>>,
    pub(super) warnings: RefCell<Vec<String>>,
    /// What is being read: warnings are about it.
    pub(super) place: Cell<Option<WarningPlace>>,
    /// What warnings are about, by their index.
    pub(super) warning_places: RefCell<Vec<(usize, WarningPlace)>>,
}

impl File<'_> {
    pub(super) fn error(&self, what: impl Into<String>) -> Error {
        Error::scene(self.path, what)
    }

    /// Keeps a warning about what was ignored or repaired; the same one only once.
    pub(super) fn warn(&self, what: impl AsRef<str>) {
        // Names of any length come from the file.
        let line = format!("{}: {}", self.path.display(), clip(what.as_ref(), 300));
        let mut warnings = self.warnings.borrow_mut();
        let known = warnings.iter().position(|known| *known == line);
        if let Some(place) = self.place.get() {
            let warning = known.unwrap_or(warnings.len());
            self.add_place(warning, place);
        }
        if warnings.len() < MAX_WARNINGS && known.is_none() {
            warnings.push(line);
            if warnings.len() == MAX_WARNINGS {
                warnings.push(format!("{}: further warnings are left out", self.path.display()));
            }
        }
    }

    /// A warning is about this too.
    pub(super) fn add_place(&self, warning: usize, place: WarningPlace) {
        let mut places = self.warning_places.borrow_mut();
        if warning < MAX_WARNINGS && places.len() < MAX_PLACES && !places.contains(&(warning, place)) {
            places.push((warning, place));
        }
    }

    /// Whether the file requires an extension.
    pub(super) fn requires(&self, extension: &str) -> bool {
        self.required.contains(extension)
    }

    /// The thing that an index in `from` refers to. Fails if it is out of range.
    pub(super) fn get<'t, T>(
        &self,
        things: &'t [T],
        kind: &str,
        index: usize,
        from: impl FnOnce() -> String,
    ) -> Result<&'t T> {
        things.get(index).ok_or_else(|| {
            let missing = if index == u32::MAX as usize {
                String::new()
            } else {
                format!(" {index}")
            };
            self.error(format!(
                "{} refers to {kind}{missing}, and the file has {}",
                from(),
                things.len()
            ))
        })
    }
}

/// What a compressed buffer view holds, or why it cannot be read.
pub(super) type DecodedView = Result<Bytes, String>;

/// A fault that a file may have thousands of times: one warning tells the first, and how many more there are.
#[derive(Debug, Default)]
pub(super) struct Tally {
    first: String,
    count: usize,
}

impl Tally {
    /// Counts a fault, which `what` describes.
    pub(super) fn add(&mut self, what: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = what();
        }
        self.count += 1;
    }

    /// Warns if there was any; `outcome` says what becomes of it.
    pub(super) fn tell(self, file: &File<'_>, outcome: &str) {
        let first = self.first;
        match self.count {
            0 => {}
            1 => file.warn(format!("{first}; {outcome}")),
            count => file.warn(format!("{first}; {outcome} (and {} more like it)", count - 1)),
        }
    }
}

/// A name as the scene keeps it.
pub(super) fn name_of(name: Option<&String>) -> String {
    name.cloned().unwrap_or_default()
}
