//! CPU reference of `equirect`: resamples an equirectangular image into a cube.

use super::cube_map::{Faces, direction};
use glam::{DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// Equirectangular image with u = ½ + atan2(z, x) / 2π and v = acos(y) / π.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Texels row by row, from the top.
    pub texels: Vec<DVec3>,
}

impl Picture {
    /// Returns the sum of radiance × solid angle.
    pub fn energy(&self) -> DVec3 {
        let edge = |row: usize| (PI * row as f64 / self.height as f64).cos();
        let rows = self.texels.chunks(self.width).enumerate();
        let weighed = rows.map(|(row, texels)| {
            let band = TAU * (edge(row) - edge(row + 1)) / self.width as f64;
            band * texels.iter().sum::<DVec3>()
        });
        weighed.sum()
    }

    /// Returns the mean over a column, where the row is divided into `count` columns.
    fn column(&self, row: usize, column: usize, count: usize) -> DVec3 {
        let (low, high) = (column * self.width, (column + 1) * self.width);
        let share = |x: usize| (high.min((x + 1) * count) - low.max(x * count)) as f64;
        let texel = |x: usize| share(x) * self.texels[row * self.width + x];
        (low / count..high.div_ceil(count)).map(texel).sum::<DVec3>() / self.width as f64
    }

    /// Returns the mean of a row over `span`, a fraction of the circle. The span is widened if it and
    /// `texel`, the extent of a cube texel, together cover less than one column. Rows beyond a pole continue
    /// on its other side.
    fn row(&self, row: isize, turn: f64, span: f64, texel: f64) -> DVec3 {
        let height = self.height as isize;
        let (y, turn) = match row {
            ..0 => (-1 - row, turn + 0.5),
            _ if row >= height => (2 * height - 1 - row, turn + 0.5),
            _ => (row, turn),
        };
        let from_pole = y.min(height - 1 - y) as usize;
        let columns = self.width >> (self.width / (3 * (2 * from_pole + 1))).max(1).ilog2();
        let count = columns as f64;
        let width = (span * count).max(1.0 - texel * count).min(count);
        let (left, right) = (turn * count - 0.5 * width, turn * count + 0.5 * width);
        let share = |column: f64| (column + 1.0).min(right) - column.max(left);
        let cells = left.floor() as isize..right.ceil() as isize;
        let weighed = cells.map(|cell| {
            let column = cell.rem_euclid(columns as isize) as usize;
            share(cell as f64) * self.column(y as usize, column, columns)
        });
        weighed.sum::<DVec3>() / width
    }

    /// Returns the mean over a box that is `height` rows high and about as wide.
    fn mean(&self, direction: DVec3, height: f64, texel: f64) -> DVec3 {
        let sine = direction.x.hypot(direction.z).max(1e-7);
        let turn = 0.5 + direction.z.atan2(direction.x) / TAU;
        let rows = self.height as f64;
        let middle = sine.atan2(direction.y) / PI * rows;
        let above = (middle - 0.5 * height).floor();
        let below_share = ((middle + 0.5 * height - above - 1.0) / height).max(0.0);
        let row = |row| {
            let span = 0.5 * height / (rows * sine);
            self.row(row as isize, turn, span, texel / (TAU * sine))
        };
        row(above).lerp(row(above + 1.0), below_share)
    }
}

/// Returns the finest level of a cube, with `samples` boxes along each edge of a texel.
pub fn equirect(picture: &Picture, size: usize, samples: usize) -> Faces {
    let step = 2.0 / size as f64;
    Faces::new(size, |face, x, y| {
        let mut sum = DVec3::ZERO;
        let mut weights = 0.0;
        for i in 0..samples * samples {
            let inside = DVec2::new((i % samples) as f64, (i / samples) as f64) + 0.5;
            let at = DVec2::new(x as f64, y as f64) + inside / samples as f64;
            let along = direction(face, at * step - 1.0);
            let weight = along.length().powi(-3);
            let texel = step * weight.sqrt();
            let rows = texel * picture.height as f64 / PI;
            let height = (1.0 - rows).max(0.0) + rows / samples as f64;
            sum += weight * picture.mean(along.normalize(), height, texel);
            weights += weight;
        }
        sum / weights
    })
}
