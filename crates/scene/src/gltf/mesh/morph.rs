//! Morph targets.

use super::reader::PrimitiveReader;
use crate::{
    Result,
    gltf::accessor::{ANY, Accessor},
    load::{Budget, Load},
    mesh::{MorphTarget, Primitive},
};
use ::gltf::json::accessor::Type;
use glam::Vec3;

impl PrimitiveReader<'_> {
    /// Reads the morph targets.
    pub(super) fn targets(
        &self,
        primitive: &mut Primitive,
        sources: &[u32],
        count: Option<usize>,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<()> {
        for (number, json) in self.json.targets.iter().flatten().enumerate() {
            load.take(Budget::MorphTargets, instances, || self.full_name())?;
            // The renderer stores all three attributes of a target, and one weight per node.
            let bytes = (3 * sources.len() * size_of::<Vec3>()) as u64 + 4 * instances;
            load.take(Budget::AnimationBytes, bytes, || {
                format!("{}: morph target {number}", self.full_name())
            })?;
            let read = |index: Option<usize>, attribute: &str| -> Result<Vec<Vec3>> {
                let Some(index) = index else {
                    return Ok(Vec::new());
                };
                let user = format!("{}: {attribute} of morph target {number}", self.name);
                let accessor = Accessor::open(self.file, index, &user, &[Type::Vec3], &ANY)?;
                if Some(accessor.count) != count {
                    let (has, needs) = (accessor.count, count.unwrap_or_default());
                    return Err(self.file.error(format!(
                        "{user}: accessor {index} has {has} elements for {needs} vertices"
                    )));
                }
                if accessor.is_zero() {
                    return Ok(Vec::new());
                }
                let offsets: Vec<Vec3> = sources
                    .iter()
                    .map(|&v| Vec3::from(accessor.floats(v as usize)))
                    .collect();
                if offsets.iter().all(|o| o.is_finite()) {
                    return Ok(offsets);
                }
                self.warn(&format!(
                    "has a morph target {number} that is not finite everywhere; there it moves nothing"
                ));
                let or_none = |o: Vec3| if o.is_finite() { o } else { Vec3::ZERO };
                Ok(offsets.into_iter().map(or_none).collect())
            };
            primitive.targets.push(MorphTarget {
                name: String::new(),
                positions: read(json.positions.map(|i| i.value()), "POSITION")?,
                normals: read(json.normals.map(|i| i.value()), "NORMAL")?,
                tangents: read(json.tangents.map(|i| i.value()), "TANGENT")?,
            });
        }
        Ok(())
    }
}
