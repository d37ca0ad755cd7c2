//! Placement of the voxels of a grid in space.

use glam::{DMat4, DVec3, Mat4};

/// Minimum volume of a voxel, relative to a box with the same edge lengths.
const MIN_VOLUME: f64 = 1e-9;

/// Returns the matrix of a grid if it is affine, finite and invertible.
pub(super) fn checked(volume_from_voxel: DMat4) -> Result<Mat4, String> {
    let axes = [
        volume_from_voxel.x_axis,
        volume_from_voxel.y_axis,
        volume_from_voxel.z_axis,
    ];
    if !volume_from_voxel.is_finite() {
        return Err("has a transform that is not finite".into());
    }
    if axes.iter().any(|axis| axis.w != 0.0) || volume_from_voxel.w_axis.w != 1.0 {
        return Err("has a transform that is not affine".into());
    }
    let axes = axes.map(|axis| axis.truncate());
    // Scales the axes to lengths near 1, so that their products are finite.
    let largest = axes.map(|axis| axis.abs().max_element());
    let [x, y, z] = [0, 1, 2].map(|index| axes[index] / largest[index]);
    let volume = x.dot(y.cross(z)).abs();
    let full = x.length() * y.length() * z.length();
    let has_volume = full > 0.0 && volume > MIN_VOLUME * full;
    if !has_volume {
        return Err("has a transform without an inverse".into());
    }
    let rounded = volume_from_voxel.as_mat4();
    let can_be_inverted = rounded.inverse().is_finite() && rounded.determinant() != 0.0;
    if !rounded.is_finite() || !can_be_inverted {
        let lengths = [x, y, z].map(DVec3::length);
        let [x, y, z] = [0, 1, 2].map(|index| largest[index] * lengths[index]);
        let away = volume_from_voxel.w_axis.abs().truncate().max_element();
        return Err(format!(
            "has voxels of {x:e} × {y:e} × {z:e} metres, {away:e} metres from the origin, which is out of \
             range"
        ));
    }
    Ok(rounded)
}

/// Returns the matrix with these axes and this origin.
pub(super) fn affine(axes: [DVec3; 3], origin: DVec3) -> DMat4 {
    let [x, y, z] = axes;
    DMat4::from_cols(x.extend(0.0), y.extend(0.0), z.extend(0.0), origin.extend(1.0))
}

/// Converts an anatomical direction to canopy's axes. The patient stands upright and looks towards +Z, which
/// is the front in glTF.
pub(super) fn anatomical(direction: char) -> Option<DVec3> {
    Some(match direction.to_ascii_uppercase() {
        'R' => DVec3::NEG_X,
        'L' => DVec3::X,
        'A' => DVec3::Z,
        'P' => DVec3::NEG_Z,
        'S' => DVec3::Y,
        'I' => DVec3::NEG_Y,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_matrices_are_refused() {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        checked(affine(axes, DVec3::ONE)).unwrap();
        checked(affine(axes.map(|axis| 1e-6 * axis), DVec3::ONE)).unwrap();
        for (axes, origin) in [
            ([DVec3::X, DVec3::X, DVec3::Z], DVec3::ZERO),
            ([DVec3::X, DVec3::ZERO, DVec3::Z], DVec3::ZERO),
            ([DVec3::X, DVec3::Y, DVec3::NAN], DVec3::ZERO),
            (axes, DVec3::splat(1e300)),
            (axes.map(|axis| 1e-30 * axis), DVec3::ZERO),
        ] {
            checked(affine(axes, origin)).unwrap_err();
        }
        for size in [1e20, 1e300, 1e-20, 1e-300] {
            let why = checked(affine(axes.map(|axis| size * axis), DVec3::ZERO)).unwrap_err();
            assert!(why.contains("has voxels of 1e"), "{why}");
        }
        let why = checked(affine(axes, DVec3::X * 1e39)).unwrap_err();
        assert!(why.contains("1e39 metres from the origin"), "{why}");
        let mut perspective = affine(axes, DVec3::ZERO);
        perspective.x_axis.w = 0.1;
        checked(perspective).unwrap_err();
    }

    #[test]
    fn anatomical_axes_are_right_handed() {
        let [r, a, s] = ['R', 'a', 'S'].map(|d| anatomical(d).unwrap());
        assert_eq!(r.cross(a), s);
        assert_eq!(anatomical('x'), None);
    }
}
