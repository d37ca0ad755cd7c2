//! Meshes, and the materials of their primitives.

mod attributes;
mod morph;
mod primitive;
mod reader;
mod topology;

use super::{
    draco::{self, Decoded},
    file::{File, name_of},
    node::Used,
    variants,
};
use crate::{
    Error, Result,
    graph::{Scene, WarningPlace},
    load::{Budget, Load},
    material::Material,
    mesh::{Mesh, Primitive},
};
use ::gltf::json::{
    mesh::{Primitive as JsonPrimitive, Semantic},
    validation::Checked,
};
use glam::Vec4;
use reader::PrimitiveReader;

/// Reads the meshes that nodes show.
pub(super) fn meshes(file: &File<'_>, used: &Used, load: &mut Load<'_>, scene: &mut Scene) -> Result<()> {
    check_counts(file, used, load)?;
    // Placeholder materials for primitives without a material. The first is for primitives without vertex
    // colours. The second is for those with them, and has a white base colour.
    let mut stand_ins = [None; 2];
    for (index, &(number, instances)) in used.meshes.iter().enumerate() {
        let done = 0.1 + 0.4 * index as f32 / used.meshes.len() as f32;
        load.enter(
            format!("reading mesh {} of {}", index + 1, used.meshes.len()),
            done,
        )?;
        let json = &file.root.meshes[number];
        file.place.set(Some(WarningPlace::Mesh(index)));
        let mut primitives = Vec::new();
        for (index, json) in json.primitives.iter().enumerate() {
            load.progress().check()?;
            let name = format!("mesh {number} primitive {index}");
            let own = match json.material.map(|m| m.value()) {
                Some(material) => material,
                None => {
                    let colors = Checked::Valid(Semantic::Colors(0));
                    let is_colored = json.attributes.contains_key(&colors);
                    *stand_ins[usize::from(is_colored)].get_or_insert_with(|| {
                        let mut material = Material::placeholder();
                        if is_colored {
                            material.base_color = Vec4::ONE;
                        }
                        scene.materials.push(material);
                        scene.materials.len() - 1
                    })
                }
            };
            let materials = variants::materials(file, json, own, &name, &scene.variants)?;
            let number_of = |&(_, material): &(_, usize)| material;
            for material in materials
                .iter()
                .map(number_of)
                .filter(|&m| !stand_ins.contains(&Some(m)))
            {
                let of_file = &scene.materials[..file.root.materials.len()];
                file.get(of_file, "material", material, || name.clone())?;
            }
            let mut looks = materials.iter().map(|m| &scene.materials[number_of(m)]);
            let tangent_uv_set = looks.find_map(Material::tangent_uv_set);
            let read = primitive(file, json, &name, tangent_uv_set, instances, load)?;
            primitives.extend(read.map(|primitive| Primitive {
                material: own,
                variants: if materials.len() > 1 {
                    materials
                } else {
                    Vec::new()
                },
                ..primitive
            }));
        }
        let targets = |p: &Primitive| p.targets.len();
        if primitives
            .windows(2)
            .any(|pair| targets(&pair[0]) != targets(&pair[1]))
        {
            return Err(file.error(format!(
                "the primitives of mesh {number} differ in their number of morph targets"
            )));
        }
        let names = file.target_names.get(number);
        for primitive in &mut primitives {
            let named = primitive.targets.iter_mut().zip(names.into_iter().flatten());
            named.for_each(|(target, name)| target.name.clone_from(name));
        }
        scene.meshes.push(Mesh {
            name: name_of(json.name.as_ref()),
            primitives,
        });
    }
    file.place.set(None);
    Ok(())
}

/// Fails before the first primitive is read if all primitives together declare more triangles, lines or
/// vertices than the limits allow. The actual counts are taken from the budget when each is read.
fn check_counts(file: &File<'_>, used: &Used, load: &Load<'_>) -> Result<()> {
    let counted = [Budget::Triangles, Budget::Lines, Budget::Vertices];
    let mut sums = counted.map(|budget| load.used(budget));
    for &(number, instances) in &used.meshes {
        for (index, json) in file.root.meshes[number].primitives.iter().enumerate() {
            load.progress().check()?;
            let reader = PrimitiveReader {
                file,
                json,
                draco: None,
                name: format!("mesh {number} primitive {index}"),
            };
            let declared = reader.declared(load)?;
            let declared = [declared.triangles, declared.lines, declared.vertices];
            for ((sum, budget), declared) in sums.iter_mut().zip(counted).zip(declared) {
                *sum = sum.saturating_add(declared.saturating_mul(instances));
                load.check(budget, *sum, || reader.full_name())?;
            }
        }
    }
    Ok(())
}

/// Reads a primitive, from its Draco stream if that is intact. Returns `None` for one that canopy does not
/// draw.
fn primitive(
    file: &File<'_>,
    json: &JsonPrimitive,
    name: &str,
    tangent_uv_set: Option<u32>,
    instances: u64,
    load: &mut Load<'_>,
) -> Result<Option<Primitive>> {
    let read = |draco, load: &mut Load<'_>| {
        let name = name.to_owned();
        let reader = PrimitiveReader {
            file,
            json,
            draco,
            name,
        };
        reader.read(tangent_uv_set, instances, load)
    };
    let streamed = Decoded::open(file, json, name, instances, load);
    match streamed.and_then(|draco| read(draco, load)) {
        Err(Error::Scene { what, .. }) if draco::is_optional(file, json) => {
            file.warn(format!("{what}; its plain accessors are read instead"));
            read(None, load)
        }
        outcome => outcome,
    }
}
