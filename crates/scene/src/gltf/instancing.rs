//! `EXT_mesh_gpu_instancing`: reads the instances of a node.

use super::{accessor::Accessor, file::File};
use crate::{
    Error, Result,
    load::{Budget, Load},
    node::Transform,
};
use ::gltf::json::accessor::{ComponentType, Type};
use glam::{DQuat, DVec3, DVec4, Vec3, Vec4};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Name of the extension on a node.
pub(super) const NAME: &str = "EXT_mesh_gpu_instancing";

/// JSON of the extension on a node.
#[derive(Debug, Deserialize)]
struct Instancing {
    attributes: BTreeMap<String, usize>,
}

/// Reads the transforms of the instances of node `number`. Returns `None` if the node shows its mesh once.
pub(super) fn read(
    file: &File<'_>,
    number: usize,
    value: &Value,
    load: &mut Load<'_>,
) -> Result<Option<Vec<Transform>>> {
    let ignored = |why: &str| {
        file.warn(format!("node {number}: {NAME} {why}; its mesh is shown once"));
        Ok(None)
    };
    if file.root.nodes[number].skin.is_some() {
        return ignored("does not apply to skinned meshes");
    }
    match transforms(file, number, value, load) {
        Err(Error::Scene { what, .. }) if !file.requires(NAME) => ignored(&format!("is broken ({what})")),
        outcome => outcome.map(Some),
    }
}

fn transforms(file: &File<'_>, number: usize, value: &Value, load: &mut Load<'_>) -> Result<Vec<Transform>> {
    let user = format!("node {number}: {NAME}");
    let Instancing { attributes } =
        Instancing::deserialize(value).map_err(|why| file.error(format!("{user}: {why}")))?;
    let mut count = None;
    let mut open = |name: &str, kind: Type, components: &[ComponentType]| {
        let Some(&index) = attributes.get(name) else {
            return Ok(None);
        };
        let accessor = Accessor::open(file, index, &format!("{user}: {name}"), &[kind], components)?;
        let expected = *count.get_or_insert(accessor.count);
        if accessor.count != expected {
            return Err(file.error(format!(
                "{user}: {name} has {} elements where another attribute has {expected}",
                accessor.count
            )));
        }
        Ok(Some(accessor))
    };
    let translations = open("TRANSLATION", Type::Vec3, &[ComponentType::F32])?;
    let fractions = [ComponentType::F32, ComponentType::I8, ComponentType::I16];
    let rotations = open("ROTATION", Type::Vec4, &fractions)?.map(Accessor::normalized);
    let scales = open("SCALE", Type::Vec3, &[ComponentType::F32])?;
    let count = match (count, attributes.values().next()) {
        (Some(count), _) => count,
        // Only custom attributes for the author's shaders are present. They still determine the number of
        // instances.
        (None, Some(&index)) => {
            file.get(&file.root.accessors, "accessor", index, || user.clone())?
                .count
                .0 as usize
        }
        (None, None) => return Err(file.error(format!("{user} has no attributes"))),
    };
    let name = || format!("{}: {user}", file.path.display());
    load.take(Budget::Nodes, count as u64, name)?;
    let transform = |at: usize| {
        let vector = |of: &Option<Accessor<'_>>, otherwise| {
            let vector = of.as_ref().map(|of| Vec3::from(of.floats(at)).as_dvec3());
            vector.unwrap_or(otherwise)
        };
        let rotation = rotations
            .as_ref()
            .map_or(DVec4::W, |of| Vec4::from(of.floats(at)).as_dvec4());
        let (translation, scale) = (vector(&translations, DVec3::ZERO), vector(&scales, DVec3::ONE));
        let finite = translation.is_finite() && scale.is_finite() && rotation.is_finite();
        let rotation = rotation.try_normalize();
        finite.then(|| Transform::Trs {
            translation,
            rotation: rotation.map_or(DQuat::IDENTITY, DQuat::from_vec4),
            scale,
        })
    };
    (0..count)
        .map(|at| transform(at).ok_or_else(|| file.error(format!("{user}: instance {at} is not finite"))))
        .collect()
}
