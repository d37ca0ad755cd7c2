//! State of a glTF file that is being read: its JSON, its bytes and its warnings.

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

/// Maximum number of warnings that are kept for a file.
const MAX_WARNINGS: usize = 100;

/// Maximum number of warning locations that are kept for a file.
const MAX_PLACES: usize = 300;

/// A glTF file that is being read.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) path: &'a Path,
    pub(super) root: Root,
    /// Extras of each light.
    pub(super) light_extras: Vec<Map<String, Value>>,
    /// Names of each mesh's morph targets, as far as the file gives them.
    pub(super) target_names: Vec<Vec<String>>,
    /// URIs of the volumes that nodes place, keyed by the node's index in the file.
    pub(super) node_volumes: HashMap<usize, String>,
    /// Transform numbers of nodes that `root` rounds to f32.
    pub(super) doubles: Doubles,
    /// Extensions that the file requires.
    pub(super) required: HashSet<String>,
    /// Bytes of each buffer, or the reason why they are missing, which is an error only if something reads
    /// them.
    pub(super) buffers: Vec<Result<Bytes, String>>,
    /// Bytes of compressed buffer views, by index in the file; `None` for uncompressed ones.
    pub(super) views: Vec<Option<DecodedView>>,
    pub(super) folder: Folder,
    /// Indices of the sparse accessors that have been read, because thousands of primitives may share one.
    pub(super) sparse_indices: RefCell<HashMap<usize, Rc<[u32]>>>,
    pub(super) warnings: RefCell<Vec<String>>,
    /// Object that is being read, which new warnings are about.
    pub(super) place: Cell<Option<WarningPlace>>,
    /// Objects that warnings are about, each with the index of its warning.
    pub(super) warning_places: RefCell<Vec<(usize, WarningPlace)>>,
}

impl File<'_> {
    pub(super) fn error(&self, what: impl Into<String>) -> Error {
        Error::scene(self.path, what)
    }

    /// Adds a warning about something that was ignored or repaired. Duplicates are kept once.
    pub(super) fn warn(&self, what: impl AsRef<str>) {
        // The text may contain names of any length from the file.
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

    /// Adds an object that the warning is about.
    pub(super) fn add_place(&self, warning: usize, place: WarningPlace) {
        let mut places = self.warning_places.borrow_mut();
        if warning < MAX_WARNINGS && places.len() < MAX_PLACES && !places.contains(&(warning, place)) {
            places.push((warning, place));
        }
    }

    /// True if the file requires the extension.
    pub(super) fn requires(&self, extension: &str) -> bool {
        self.required.contains(extension)
    }

    /// Returns the element of `things` that `from` refers to by index. Fails if the index is out of range.
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

/// Decompressed bytes of a buffer view, or the reason why they cannot be read.
pub(super) type DecodedView = Result<Bytes, String>;

/// A fault that may occur thousands of times in a file. One warning describes the first occurrence and counts
/// the others.
#[derive(Debug, Default)]
pub(super) struct Tally {
    first: String,
    count: usize,
}

impl Tally {
    /// Counts a fault. `what` describes it.
    pub(super) fn add(&mut self, what: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = what();
        }
        self.count += 1;
    }

    /// Warns if there was any fault. `outcome` says how it was handled.
    pub(super) fn warn(self, file: &File<'_>, outcome: &str) {
        let first = self.first;
        match self.count {
            0 => {}
            1 => file.warn(format!("{first}; {outcome}")),
            count => file.warn(format!("{first}; {outcome} (and {} more like it)", count - 1)),
        }
    }
}

/// Returns a name in the form that the scene stores, or an empty name if the file has none.
pub(super) fn name_of(name: Option<&String>) -> String {
    name.cloned().unwrap_or_default()
}
