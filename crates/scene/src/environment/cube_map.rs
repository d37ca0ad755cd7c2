//! Directions and solid angles of the texels of cube maps.
//!
//! Faces are +X, −X, +Y, −Y, +Z, −Z as Vulkan, D3D and KTX2 have them, rows from the top.

use glam::{DVec2, DVec3};

/// The direction through a point of a face, −1 to 1 to the right and down; its largest component is ±1.
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

/// The face that a direction meets, and the point of it: the inverse of [`direction`].
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

/// The unit direction of the middle of a texel, `x` to the right and `y` down.
pub fn texel_direction(size: usize, face: usize, x: usize, y: usize) -> DVec3 {
    let at = DVec2::new(x as f64, y as f64) + 0.5;
    direction(face, 2.0 * at / size as f64 - 1.0).normalize()
}

/// The unit direction of the middle of texel `i`, counted over six faces one after another, row by row.
pub fn nth_texel_direction(size: usize, i: usize) -> DVec3 {
    texel_direction(size, i / (size * size), i % size, i / size % size)
}

/// Solid angles of the texels of any face, row by row; six faces are a sphere.
pub fn solid_angles(size: usize) -> Vec<f64> {
    (0..size * size)
        .map(|i| texel_solid_angle(size, i % size, i / size))
        .collect()
}

/// The exact solid angle of a rectangle on a face, from the signed angles of its corners.
pub fn solid_angle(low: DVec2, high: DVec2) -> f64 {
    let corner = |x: f64, y: f64| (x * y).atan2((1.0 + x * x + y * y).sqrt());
    corner(high.x, high.y) - corner(low.x, high.y) - corner(high.x, low.y) + corner(low.x, low.y)
}

/// The solid angle of a texel; those of six faces add up to 4π.
pub fn texel_solid_angle(size: usize, x: usize, y: usize) -> f64 {
    let step = 2.0 / size as f64;
    let low = DVec2::new(x as f64, y as f64) * step - 1.0;
    solid_angle(low, low + step)
}
