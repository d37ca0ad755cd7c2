//! Directions and solid angles of cube map texels.
//!
//! Faces are +X, −X, +Y, −Y, +Z, −Z, in the convention of Vulkan, D3D and KTX2, with rows from the top.

use glam::{DVec2, DVec3};

/// Returns the direction through a point of a face. Coordinates are from −1 to 1, to the right and down. The
/// largest component of the result is ±1.
pub fn direction(face: usize, DVec2 { x, y }: DVec2) -> DVec3 {
    let [x, y, z] = match face {
        0 => [1.0, -y, -x],
        1 => [-1.0, -y, x],
        2 => [x, 1.0, y],
        3 => [x, -1.0, -y],
        4 => [x, -y, 1.0],
        _ => [-x, -y, -1.0],
    };
    DVec3::new(x, y, z)
}

/// Returns the face that a direction hits, and the point on it. This is the inverse of [`direction`].
pub fn place(direction: DVec3) -> (usize, DVec2) {
    let DVec3 { x, y, z } = direction;
    let sides = direction.abs();
    let (face, right, down, along) = if sides.x >= sides.y && sides.x >= sides.z {
        if x > 0.0 { (0, -z, -y, x) } else { (1, z, -y, -x) }
    } else if sides.y >= sides.z {
        if y > 0.0 { (2, x, z, y) } else { (3, x, -z, -y) }
    } else if z > 0.0 {
        (4, x, -y, z)
    } else {
        (5, -x, -y, -z)
    };
    (face, DVec2::new(right, down) / along)
}

/// Returns the unit direction to the centre of a texel, `x` to the right and `y` down.
pub fn texel_direction(size: usize, face: usize, x: usize, y: usize) -> DVec3 {
    let at = DVec2::new(x as f64, y as f64) + 0.5;
    direction(face, 2.0 * at / size as f64 - 1.0).normalize()
}

/// Returns the unit direction to the centre of texel `i`, counted row by row over the six faces.
pub fn nth_texel_direction(size: usize, i: usize) -> DVec3 {
    texel_direction(size, i / (size * size), i % size, i / size % size)
}

/// Returns the solid angles of the texels of any face, row by row. Six faces sum to 4π.
pub fn solid_angles(size: usize) -> Vec<f64> {
    (0..size * size)
        .map(|i| texel_solid_angle(size, i % size, i / size))
        .collect()
}

/// Returns the exact solid angle of a rectangle on a face, from the signed angles of its corners.
pub fn solid_angle(low: DVec2, high: DVec2) -> f64 {
    let corner = |x: f64, y: f64| (x * y).atan2((1.0 + x * x + y * y).sqrt());
    corner(high.x, high.y) - corner(low.x, high.y) - corner(high.x, low.y) + corner(low.x, low.y)
}

/// Returns the solid angle of a texel. All texels of six faces sum to 4π.
pub fn texel_solid_angle(size: usize, x: usize, y: usize) -> f64 {
    let step = 2.0 / size as f64;
    let low = DVec2::new(x as f64, y as f64) * step - 1.0;
    solid_angle(low, low + step)
}
