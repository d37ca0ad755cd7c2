//! Volumes that nodes place by an extra, `{"canopy_volume": "smoke.nvdb"}`: glTF has none of its own.

use super::{container::VOLUME, file::File, hierarchy::Hierarchy};
use crate::{
    Error, Result,
    scene::{
        files::shorten,
        graph::{Scene, WarningPlace},
        load::Load,
        volume::load::{self as volume_load, Loaded, VolumeFormat},
    },
};
use std::{collections::HashMap, path::Path};

/// Reads the volumes of all nodes that are shown, each file once. One that is missing or broken is left out,
/// with a warning.
pub(super) fn volumes(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    load: &mut Load<'_>,
    scene: &mut Scene,
) -> Result<()> {
    let mut known: HashMap<&str, Option<usize>> = HashMap::new();
    for (index, ordered) in hierarchy.order.iter().enumerate() {
        let Some(uri) = file
            .node_volumes
            .get(&ordered.node)
            .filter(|_| ordered.shown)
        else {
            continue;
        };
        if let Some(volume) = known.get(uri.as_str()) {
            scene.nodes[index].volume = *volume;
            continue;
        }
        file.place.set(Some(WarningPlace::Node(index)));
        let warn = |what: &str| {
            let number = ordered.node;
            file.warn(format!(
                "node {number}: {VOLUME} \"{}\": {what}",
                shorten(uri)
            ));
        };
        let volume = match read(file, uri, load) {
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
        known.insert(uri, volume);
        scene.nodes[index].volume = volume;
    }
    file.place.set(None);
    Ok(())
}

fn read(file: &File<'_>, uri: &str, load: &mut Load<'_>) -> Result<Loaded> {
    let bytes = file.folder.uri(uri).map_err(|e| file.error(e))?;
    let decoded = percent_encoding::percent_decode_str(uri).decode_utf8_lossy();
    let relative = decoded.replace('\\', "/");
    let extension = Path::new(&relative).extension().unwrap_or_default();
    let extension = extension.to_string_lossy().to_ascii_lowercase();
    let format = VolumeFormat::of(&bytes)
        .or_else(|| VolumeFormat::of_extension(&extension))
        .ok_or_else(|| file.error("is no file of a volume"))?;
    // What a detached header names lies beside the header; data URIs have no folder of their own.
    let path = if uri.to_ascii_lowercase().starts_with("data:") {
        file.path.to_owned()
    } else {
        file.path.with_file_name(&relative)
    };
    volume_load::load(&path, &bytes, format, load)
}
