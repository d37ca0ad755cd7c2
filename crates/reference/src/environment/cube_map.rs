//! Cube maps on the CPU, laid out as in [`canopy_scene::environment::cube_map`].

pub use canopy_scene::environment::cube_map::{
    direction, nth_texel_direction, place, solid_angle, solid_angles, texel_direction, texel_solid_angle,
};

use glam::{DVec2, DVec3};

/// Mip level of a cube.
#[derive(Debug, Clone, PartialEq)]
pub struct Faces {
    /// Texels along an edge.
    pub size: usize,
    /// Texels of the faces +X, −X, +Y, −Y, +Z, −Z, with rows from the top.
    pub texels: Vec<DVec3>,
}

impl Faces {
    /// Creates a level with the texels `radiance` of face, column and row.
    pub fn new(size: usize, radiance: impl Fn(usize, usize, usize) -> DVec3) -> Self {
        let at = |i: usize| radiance(i / (size * size), i % size, i / size % size);
        Self {
            size,
            texels: (0..6 * size * size).map(at).collect(),
        }
    }

    /// Returns the texel at a column and a row of a face.
    pub fn texel(&self, face: usize, x: usize, y: usize) -> DVec3 {
        self.texels[(face * self.size + y) * self.size + x]
    }

    /// Returns the integral over the sphere, which is the sum of radiance × solid angle.
    pub fn energy(&self) -> DVec3 {
        let size = self.size;
        let weighed =
            |(i, texel): (usize, &DVec3)| *texel * texel_solid_angle(size, i % size, i / size % size);
        self.texels.iter().enumerate().map(weighed).sum()
    }

    /// Interpolates linearly between four texels, also across the edges of faces. At a corner of the cube,
    /// interpolates between three.
    pub fn sample(&self, direction: DVec3) -> DVec3 {
        let (face, place) = place(direction);
        let at = 0.5 * (place + 1.0) * self.size as f64 - 0.5;
        let low = at.floor();
        let share = at - low;
        let mut sum = DVec3::ZERO;
        let mut weights = 0.0;
        for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
            let weight = (1.0 - dx + (2.0 * dx - 1.0) * share.x) * (1.0 - dy + (2.0 * dy - 1.0) * share.y);
            if let Some(texel) = self.neighbour(face, low + DVec2::new(dx, dy)) {
                sum += weight * texel;
                weights += weight;
            }
        }
        sum / weights
    }

    /// Returns the texel at a column and a row, one of which may be one past an edge of the face. Returns
    /// `None` if both are past an edge.
    fn neighbour(&self, face: usize, at: DVec2) -> Option<DVec3> {
        let last = self.size as f64 - 1.0;
        let inside = at.clamp(DVec2::ZERO, DVec2::splat(last));
        let beyond = at - inside;
        if beyond.x != 0.0 && beyond.y != 0.0 {
            return None;
        }
        let middle = (2.0 * inside + 1.0) / self.size as f64 - 1.0;
        // Just across the edge, at the same position along it.
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

    /// Returns the texel that contains a direction.
    pub fn nearest(&self, direction: DVec3) -> DVec3 {
        let (face, place) = place(direction);
        let at = (0.5 * (place + 1.0) * self.size as f64).as_usizevec2();
        self.texel(face, at.x.min(self.size - 1), at.y.min(self.size - 1))
    }
}
