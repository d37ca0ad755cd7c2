//! `KHR_materials_variants`.

use super::file::File;
use crate::Result;
use ::gltf::json::mesh::Primitive as JsonPrimitive;
use serde::Deserialize;
use std::collections::BTreeMap;

const NAME: &str = "KHR_materials_variants";

/// JSON of the extension on the root.
#[derive(Debug, Deserialize)]
struct Names {
    variants: Vec<Name>,
}

#[derive(Debug, Deserialize)]
struct Name {
    name: String,
}

/// JSON of the extension on a primitive.
#[derive(Debug, Deserialize)]
struct Mappings {
    mappings: Vec<Mapping>,
}

#[derive(Debug, Deserialize)]
struct Mapping {
    material: usize,
    variants: Vec<usize>,
}

/// Reads the names of the file's variants, which primitives refer to by index.
pub(super) fn names(file: &File<'_>) -> Result<Vec<String>> {
    let others = file.root.extensions.as_ref().map(|all| &all.others);
    let Some(value) = others.and_then(|all| all.get(NAME)) else {
        return Ok(Vec::new());
    };
    let names = Names::deserialize(value).map_err(|why| file.error(format!("{NAME}: {why}")))?;
    Ok(names.variants.into_iter().map(|variant| variant.name).collect())
}

/// Returns the materials of the primitive `name` by variant. `None` is its own material.
pub(super) fn materials(
    file: &File<'_>,
    json: &JsonPrimitive,
    own: usize,
    name: &str,
    names: &[String],
) -> Result<Vec<(Option<usize>, usize)>> {
    let mut materials = BTreeMap::from([(None, own)]);
    let others = json.extensions.as_ref().map(|all| &all.others);
    let Some(value) = others.and_then(|all| all.get(NAME)) else {
        return Ok(materials.into_iter().collect());
    };
    let mappings =
        Mappings::deserialize(value).map_err(|why| file.error(format!("{name}: {NAME}: {why}")))?;
    for Mapping { material, variants } in mappings.mappings {
        for variant in variants {
            file.get(names, "variant", variant, || name.to_owned())?;
            // A variant has one material, so the first that is listed wins.
            materials.entry(Some(variant)).or_insert(material);
        }
    }
    Ok(materials.into_iter().collect())
}
