//! Skins.

use super::{accessor::Accessor, file::File, hierarchy::Hierarchy};
use crate::{Result, node::Skin};
use ::gltf::json::accessor::{ComponentType, Type};
use glam::{Affine3A, Mat4};

/// Reads skin `number` of the file.
pub(super) fn read(file: &File<'_>, number: usize, hierarchy: &Hierarchy) -> Result<Skin> {
    let json = &file.root.skins[number];
    let joints: Vec<usize> = json
        .joints
        .iter()
        .filter_map(|j| hierarchy.index_of[j.value()])
        .collect();
    let Some(index) = json.inverse_bind_matrices else {
        return Ok(Skin {
            joint_from_mesh: vec![Mat4::IDENTITY; joints.len()],
            joints,
        });
    };
    let user = format!("skin {number}");
    let accessor = Accessor::open(file, index.value(), &user, &[Type::Mat4], &[ComponentType::F32])?;
    if accessor.count < joints.len() {
        let (has, needs) = (accessor.count, joints.len());
        return Err(file.error(format!(
            "{user}: accessor {index} has {has} inverse bind matrices for {needs} joints"
        )));
    }
    // Later code relies on a last row of 0 0 0 1.
    let affine = |m: Mat4| Mat4::from(Affine3A::from_mat4(m));
    let joint_from_mesh: Vec<Mat4> = (0..joints.len())
        .map(|j| affine(Mat4::from_cols_array(&accessor.floats(j))))
        .collect();
    match joint_from_mesh.iter().position(|m| !m.is_finite()) {
        Some(joint) => Err(file.error(format!(
            "{user}: accessor {index}: the inverse bind matrix of joint {joint} is not finite"
        ))),
        None => Ok(Skin {
            joints,
            joint_from_mesh,
        }),
    }
}
