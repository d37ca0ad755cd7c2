//! Conversion of rows of floats to half-float texels. Values are finite and not negative, and images with too
//! many texels are scaled down.

use half::f16;

/// Largest half float.
const LARGEST_HALF: f32 = 65504.0;

/// Largest radiance that is kept: twice the luminance of the sun's disc in cd/m². At this scale half floats
/// are 0.004 apart near 0.
const LARGEST: f32 = LARGEST_HALF * 65536.0;

/// Returns the solid angle of a texel in row `y` of `height`, up to a constant factor. A ring has the solid
/// angle 2π (cos θ₁ − cos θ₂).
pub(super) fn latitude_weight(y: u32, height: u32) -> f64 {
    let middle = (f64::from(y) + 0.5) / f64::from(height);
    (middle * std::f64::consts::PI).sin()
}

/// Computes the solid angles of the texels in row `y` of a cube face with `side`² texels. They are sums of
/// the solid angles between each corner and the centre.
pub(super) fn cube_row_weights(side: u32, y: u32, out: &mut Vec<f64>) {
    let place = |at: u32| 2.0 * f64::from(at) / f64::from(side) - 1.0;
    let to_corner = |x: f64, y: f64| (x * y).atan2((x * x + y * y + 1.0).sqrt());
    let (top, bottom) = (place(y), place(y + 1));
    let until = |x: u32| to_corner(place(x), bottom) - to_corner(place(x), top);
    let mut left = until(0);
    out.clear();
    out.extend((1..=side).map(|x| {
        let right = until(x);
        right - std::mem::replace(&mut left, right)
    }));
}

/// Box filter that collects rows from the top, of an image or of six faces one after another. An input row
/// contributes to at most two output rows.
#[derive(Debug)]
pub(super) struct Rows {
    input: [u32; 2],
    output: [u32; 2],
    out: Vec<[f32; 3]>,
    /// Weighted sums and weights of the current output row.
    sums: Vec<[f64; 4]>,
    /// Filled part of the current output row. In these units an input row has height `output[1]`, and an
    /// output row `input[1]`.
    filled: u32,
}

impl Rows {
    /// Creates an accumulator for images or faces of a size. The result has at most `most` texels along the
    /// longer side.
    pub(super) fn new(size: [u32; 2], most: u32) -> Self {
        let longest = size[0].max(size[1]);
        let most = most.clamp(1, longest.max(1));
        let fitted = |side: u32| {
            let exact = f64::from(side) * f64::from(most) / f64::from(longest.max(1));
            (exact.round() as u32).clamp(1, side.max(1))
        };
        let output = size.map(fitted);
        Self {
            input: size,
            output,
            out: Vec::new(),
            sums: if output == size {
                Vec::new()
            } else {
                vec![[0.0; 4]; output[0] as usize]
            },
            filled: 0,
        }
    }

    /// Collects a complete image, without a copy if it is small enough. `weight` returns the weight of a
    /// row's texels.
    pub(super) fn whole(
        size: [u32; 2],
        most: u32,
        mut texels: Vec<[f32; 3]>,
        weight: impl Fn(u32) -> f64,
    ) -> Self {
        let mut rows = Self::new(size, most);
        if rows.shrinks() {
            for (y, row) in (0..).zip(texels.chunks_exact(size[0].max(1) as usize)) {
                let weight = weight(y);
                rows.push(row, |_| weight);
            }
        } else {
            texels.iter_mut().for_each(|texel| *texel = texel.map(sanitize));
            rows.out = texels;
        }
        rows
    }

    /// True if rows are scaled down, so that weights matter.
    pub(super) fn shrinks(&self) -> bool {
        self.output != self.input
    }

    /// Returns the width and height of the result.
    pub(super) fn size(&self) -> [u32; 2] {
        self.output
    }

    /// Adds a row. `weight` returns the solid angle of a texel in it, up to a constant factor.
    pub(super) fn push(&mut self, row: &[[f32; 3]], weight: impl Fn(usize) -> f64) {
        if !self.shrinks() {
            self.out.extend(row.iter().map(|texel| texel.map(sanitize)));
            return;
        }
        let part = self.output[1].min(self.input[1] - self.filled);
        self.add(row, part, &weight);
        self.filled += part;
        if self.filled == self.input[1] {
            let mean = |[red, green, blue, all]: [f64; 4]| [red, green, blue].map(|sum| (sum / all) as f32);
            self.out.extend(self.sums.iter().map(|sum| mean(*sum)));
            self.sums.fill([0.0; 4]);
            self.filled = self.output[1] - part;
            if self.filled > 0 {
                self.add(row, self.filled, &weight);
            }
        }
    }

    /// Adds `part` of a row to the current output row.
    fn add(&mut self, row: &[[f32; 3]], part: u32, weight: &impl Fn(usize) -> f64) {
        let (taken, made) = (self.input[0], self.output[0]);
        let mut sums = self.sums.iter_mut();
        let mut unfilled = 0;
        let mut none = [0.0; 4];
        let mut sum = &mut none;
        for (x, texel) in row.iter().enumerate() {
            let weight = weight(x) * f64::from(part);
            let [red, green, blue] = texel.map(|c| f64::from(sanitize(c)));
            let mut left = made;
            while left > 0 {
                if unfilled == 0 {
                    let Some(next) = sums.next() else { return };
                    (sum, unfilled) = (next, taken);
                }
                let share = left.min(unfilled);
                let w = weight * f64::from(share);
                sum[0] += w * red;
                sum[1] += w * green;
                sum[2] += w * blue;
                sum[3] += w;
                left -= share;
                unfilled -= share;
            }
        }
    }

    /// Returns the texels and their scale, a power of two.
    pub(super) fn into_halves(self) -> (Vec<[f16; 4]>, f32) {
        let largest = self
            .out
            .as_flattened()
            .iter()
            .fold(0.0, |most: f32, c| most.max(*c));
        let scale = scale(largest);
        let half = |[red, green, blue]: &[f32; 3]| {
            [red / scale, green / scale, blue / scale, 1.0].map(f16::from_f32)
        };
        (self.out.iter().map(half).collect(), scale)
    }
}

/// Makes a value finite and not negative. Infinities come from half floats that overflowed.
fn sanitize(value: f32) -> f32 {
    match value {
        f32::INFINITY => LARGEST_HALF,
        _ if value > 0.0 => value.min(LARGEST),
        // Negative values and NaN.
        _ => 0.0,
    }
}

/// Returns the power of two that scales half floats to values up to `largest`. It is 1 unless `largest`
/// exceeds half floats, or is so small that they lose digits. That happens below 2⁻¹⁴, and 1/16 is ten
/// halvings above it.
fn scale(largest: f32) -> f32 {
    let mut scale = 1.0;
    while largest > LARGEST_HALF * scale {
        scale *= 2.0;
    }
    if largest < 1.0 / 16.0 {
        // Values below 2⁻⁶⁴ count as black.
        while largest < scale && scale > 2.0_f32.powi(-64) {
            scale /= 2.0;
        }
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_the_smallest_powers_of_two_that_fit_half_floats() {
        for (largest, expected) in [
            (1.0, 1.0),
            (65504.0, 1.0),
            (65505.0, 2.0),
            (1e6, 16.0),
            (LARGEST, 65536.0),
            (1.0 / 16.0, 1.0),
            (0.06, 1.0 / 32.0),
            (1e-6, 2.0_f32.powi(-20)),
            (0.0, 2.0_f32.powi(-64)),
        ] {
            assert_eq!(scale(largest), expected, "{largest}");
        }
    }

    #[test]
    fn nan_negative_and_infinite_values_are_replaced() {
        for (value, expected) in [
            (f32::NAN, 0.0),
            (-1.0, 0.0),
            (f32::NEG_INFINITY, 0.0),
            (f32::INFINITY, 65504.0),
            (f32::MAX, LARGEST),
            (1e-30, 1e-30),
        ] {
            assert_eq!(sanitize(value), expected, "{value}");
        }
    }

    #[test]
    fn solid_angles_make_a_sphere() {
        for side in [1, 2, 3, 64] {
            let mut row = Vec::new();
            let mut total = 0.0;
            for y in 0..side {
                cube_row_weights(side, y, &mut row);
                assert_eq!(row.len(), side as usize);
                assert!(row.iter().all(|w| *w > 0.0));
                total += row.iter().sum::<f64>();
            }
            assert!(
                (total - 4.0 * std::f64::consts::PI / 6.0).abs() < 1e-12,
                "{side}: {total}"
            );
        }
    }

    /// In scaling from 3 to 2 texels, half of the centre texel goes to each. The weights of both input rows
    /// count.
    #[test]
    fn box_filters_weight_texels_by_overlap_and_row_weight() {
        let mut rows = Rows::new([3, 2], 2);
        assert_eq!(rows.size(), [2, 1]);
        for (value, weight) in [(0.0, 1.0), (4.0, 3.0)] {
            let row = [1.0, 2.0, 6.0].map(|c: f32| [c + value, value, 0.0]);
            rows.push(&row, |_| weight);
        }
        let mean = |c: f32| c * 0.25 + (c + 4.0) * 0.75;
        let expected = [[mean(4.0 / 3.0), 3.0, 0.0], [mean(14.0 / 3.0), 3.0, 0.0]];
        for (got, expected) in rows.out.iter().zip(expected) {
            for (got, expected) in got.iter().zip(expected) {
                assert!((got - expected).abs() < 1e-6, "{:?}", rows.out);
            }
        }
        assert_eq!(rows.out.len(), 2);
    }
}
