//! Cubes on the CPU, faces laid out as [`crate::render::environment::Cube`] says.

use glam::{DVec2, DVec3};

/// A level of a cube.
#[derive(Debug, Clone, PartialEq)]
pub struct Faces {
    /// Texels along an edge.
    pub size: usize,
    /// Faces +X, −X, +Y, −Y, +Z, −Z one after another, rows from the top.
    pub texels: Vec<DVec3>,
}

impl Faces {
    /// Of what `radiance` holds in each texel: by face, column and row.
    pub fn new(size: usize, radiance: impl Fn(usize, usize, usize) -> DVec3) -> Self {
        let at = |i: usize| radiance(i / (size * size), i % size, i / size % size);
        Self {
            size,
            texels: (0..6 * size * size).map(at).collect(),
        }
    }

    /// The texel of a column and a row of a face.
    pub fn texel(&self, face: usize, x: usize, y: usize) -> DVec3 {
        self.texels[(face * self.size + y) * self.size + x]
    }

    /// Σ radiance × solid angle: the integral over the sphere.
    pub fn energy(&self) -> DVec3 {
        let size = self.size;
        let weighed = |(i, texel): (usize, &DVec3)| {
            *texel * texel_solid_angle(size, i % size, i / size % size)
        };
        self.texels.iter().enumerate().map(weighed).sum()
    }

    /// Linear between texels, also those of neighbouring faces; in the corners of the cube between the three there are.
    pub fn sample(&self, direction: DVec3) -> DVec3 {
        let (face, place) = place(direction);
        let at = 0.5 * (place + 1.0) * self.size as f64 - 0.5;
        let low = at.floor();
        let share = at - low;
        let mut sum = DVec3::ZERO;
        let mut weights = 0.0;
        for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
            let weight =
                (1.0 - dx + (2.0 * dx - 1.0) * share.x) * (1.0 - dy + (2.0 * dy - 1.0) * share.y);
            if let Some(texel) = self.neighbour(face, low + DVec2::new(dx, dy)) {
                sum += weight * texel;
                weights += weight;
            }
        }
        sum / weights
    }

    /// The texel at a column and a row that may be one past the face's edges; none where that is past two.
    fn neighbour(&self, face: usize, at: DVec2) -> Option<DVec3> {
        let last = self.size as f64 - 1.0;
        let inside = at.clamp(DVec2::ZERO, DVec2::splat(last));
        let beyond = at - inside;
        if beyond.x != 0.0 && beyond.y != 0.0 {
            return None;
        }
        let middle = (2.0 * inside + 1.0) / self.size as f64 - 1.0;
        // Just over the edge, at the same height.
        let over = |middle: f64, beyond: f64| {
            if beyond == 0.0 {
                middle
            } else {
                beyond * (1.0 + 1e-9)
            }
        };
        let place_there = DVec2::new(over(middle.x, beyond.x), over(middle.y, beyond.y));
        Some(self.nearest(direction(face, place_there)))
    }

    /// The texel that a direction meets.
    pub fn nearest(&self, direction: DVec3) -> DVec3 {
        let (face, place) = place(direction);
        let at = (0.5 * (place + 1.0) * self.size as f64).as_usizevec2();
        self.texel(face, at.x.min(self.size - 1), at.y.min(self.size - 1))
    }
}

/// Through a place on a face, −1 to 1 to the right and down; its largest component is ±1.
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

/// The face that a direction meets, and where.
pub fn place(direction: DVec3) -> (usize, DVec2) {
    let DVec3 { x, y, z } = direction;
    let sides = direction.abs();
    let (face, right, down, along) = if sides.x >= sides.y && sides.x >= sides.z {
        if x > 0.0 {
            (0, -z, -y, x)
        } else {
            (1, z, -y, -x)
        }
    } else if sides.y >= sides.z {
        if y > 0.0 {
            (2, x, z, y)
        } else {
            (3, x, -z, -y)
        }
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

/// The same of texel `i` of six faces, one after another, row by row.
pub fn nth_texel_direction(size: usize, i: usize) -> DVec3 {
    texel_direction(size, i / (size * size), i % size, i / size % size)
}

/// Solid angles of the texels of any face, row by row; six faces are a sphere.
pub fn solid_angles(size: usize) -> Vec<f64> {
    (0..size * size)
        .map(|i| texel_solid_angle(size, i % size, i / size))
        .collect()
}

/// Of a rectangle on a face, exactly: the corners' signed angles.
pub fn solid_angle(low: DVec2, high: DVec2) -> f64 {
    let corner = |x: f64, y: f64| (x * y).atan2((1.0 + x * x + y * y).sqrt());
    corner(high.x, high.y) - corner(low.x, high.y) - corner(high.x, low.y) + corner(low.x, low.y)
}

/// Of a texel; they add up to 4π.
pub fn texel_solid_angle(size: usize, x: usize, y: usize) -> f64 {
    let step = 2.0 / size as f64;
    let low = DVec2::new(x as f64, y as f64) * step - 1.0;
    solid_angle(low, low + step)
}
