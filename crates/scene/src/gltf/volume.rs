//! Volumes that nodes place with an extra, `{"canopy_volume": "smoke.nvdb"}`, because glTF has no volumes of
//! its own.

use super::{
    container::VOLUME,
    file::File,
    hierarchy::{Hierarchy, OrderedNode},
};
use crate::{
    Error, Result,
    files::{Bytes, shorten},
    graph::{Scene, WarningPlace},
    load::{Budget, Load},
    volume::load::{self as volume_load, Loaded, VolumeFormat},
};
use std::{collections::HashMap, path::Path};

/// Reads the volumes of all visible nodes, each file once. A missing or broken file is left out with a
/// warning. More nodes than the limit are an error.
pub(super) fn volumes(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    load: &mut Load<'_>,
    scene: &mut Scene,
) -> Result<()> {
    let places = |node: &&OrderedNode| node.shown && file.node_volumes.contains_key(&node.node);
    let count = hierarchy.order.iter().filter(places).count();
    load.take(Budget::VolumeNodes, count as u64, || {
        file.path.display().to_string()
    })?;
    let mut known: HashMap<(usize, usize), Option<usize>> = HashMap::new();
    for (index, ordered) in hierarchy.order.iter().enumerate() {
        let number = ordered.node;
        let Some(uri) = file.node_volumes.get(&number).filter(|_| ordered.shown) else {
            continue;
        };
        file.place.set(Some(WarningPlace::Node(index)));
        let warn = |what: &str| {
            file.warn(format!("node {number}: {VOLUME} \"{}\": {what}", shorten(uri)));
        };
        let bytes = match file.folder.uri(uri) {
            Ok(bytes) => bytes,
            Err(why) => {
                warn(&format!("{why}; it is left out"));
                continue;
            }
        };
        // Several names may refer to one file, so files are compared by the address of their bytes. The bytes
        // of a data URI are not kept, so their address identifies nothing.
        let is_file = !is_data(uri);
        if let Some(volume) = known.get(&bytes.address()).filter(|_| is_file) {
            scene.nodes[index].volume = *volume;
            continue;
        }
        let volume = match read(file, uri, &bytes, load) {
            Ok(loaded) => {
                loaded.warnings.iter().for_each(|what| warn(what));
                scene.volumes.push(loaded.volume);
                Some(scene.volumes.len() - 1)
            }
            Err(Error::Scene { what, .. }) => {
                warn(&format!("{what}; it is left out"));
                None
            }
            Err(other) => return Err(other),
        };
        if is_file {
            known.insert(bytes.address(), volume);
        }
        scene.nodes[index].volume = volume;
    }
    file.place.set(None);
    Ok(())
}

fn is_data(uri: &str) -> bool {
    uri.to_ascii_lowercase().starts_with("data:")
}

fn read(file: &File<'_>, uri: &str, bytes: &Bytes, load: &mut Load<'_>) -> Result<Loaded> {
    let decoded = percent_encoding::percent_decode_str(uri).decode_utf8_lossy();
    let relative = decoded.replace('\\', "/");
    let extension = Path::new(&relative).extension().unwrap_or_default();
    let extension = extension.to_string_lossy().to_ascii_lowercase();
    let format = VolumeFormat::of(bytes)
        .or_else(|| VolumeFormat::of_extension(&extension))
        .ok_or_else(|| file.error("is not a volume file"))?;
    // Files that a detached header refers to are in the header's folder. Data URIs have no folder of their
    // own.
    let path = if is_data(uri) {
        file.path.to_owned()
    } else {
        let path_on_disk = file.folder.path_on_disk(&relative);
        file.path.with_file_name(path_on_disk.unwrap_or(relative.into()))
    };
    volume_load::load(&path, bytes, format, load)
}
