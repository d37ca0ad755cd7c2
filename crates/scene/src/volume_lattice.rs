//! Resampling of a volume's grids to one lattice. Names of grids identify their quantities.

use super::volume::{Grid, Volume};
use glam::{Mat4, Vec3, Vec4};

/// Number of voxels along an edge of a brick.
pub const BRICK: u32 = 8;

/// A volume prepared for ray marching: density, temperature and colour at the same voxels.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeLattice {
    /// Number of voxels along x, y and z.
    pub size: [u32; 3],
    /// Transform from the lattice to the axes of the volume. Voxel i spans i to i + 1 along each axis, with
    /// its value at the centre.
    pub volume_from_lattice: Mat4,
    /// Density of each voxel, x fastest.
    pub density: Vec<f32>,
    /// Minimum and maximum density.
    pub range: [f32; 2],
    /// Colour of each voxel, with its temperature in w relative to the hottest voxel. `None` if the volume
    /// has neither.
    pub color_temperature: Option<Vec<[f32; 4]>>,
    /// True if there is a temperature grid with values above 0, which makes voxels emit light.
    pub is_hot: bool,
}

/// Bounds of a brick of 8 × 8 × 8 voxels, over all values that are interpolated within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brick {
    /// Minimum and maximum density.
    pub density: [f32; 2],
    /// Maximum temperature, relative to the hottest voxel.
    pub temperature: f32,
}

impl Brick {
    /// Returns the bounds of the union of the two bricks.
    pub fn with(self, other: &Self) -> Self {
        let ([low, high], [other_low, other_high]) = (self.density, other.density);
        Self {
            density: [low.min(other_low), high.max(other_high)],
            temperature: self.temperature.max(other.temperature),
        }
    }
}

impl VolumeLattice {
    /// Creates the lattice of a volume. It is the lattice of the density grid: the first scalar grid called
    /// `density`, or else the first that is not a temperature. It is extended to the grids of temperature
    /// (`temperature`, `flame`, `heat`) and colour (`Cd`, `color`, `colour`) unless an axis would exceed
    /// `most` voxels. Returns `None` without a scalar grid.
    pub fn new(volume: &Volume, most: u32) -> Option<Self> {
        let called = |grid: &Grid, names: &[&str]| {
            let name = grid.name.to_lowercase();
            names.iter().any(|part| name.contains(part))
        };
        let is_hot = |grid: &Grid| called(grid, &["temperature", "flame", "heat"]);
        let scalars = || volume.grids.iter().filter(|grid| grid.components == 1);
        let density = scalars()
            .find(|grid| called(grid, &["density"]))
            .or_else(|| scalars().find(|grid| !is_hot(grid)))
            .or_else(|| scalars().next())?;
        let heat = scalars().find(|grid| is_hot(grid) && !std::ptr::eq(*grid, density));
        let color = volume.grids.iter().find(|grid| {
            let name = grid.name.to_lowercase();
            grid.components == 3 && (name == "cd" || called(grid, &["color", "colour"]))
        });
        let mut placed = LatticeRange::of(density);
        for grid in [heat, color].into_iter().flatten() {
            placed = placed.with(density, grid, most);
        }
        let size = placed.size;
        let first = placed.first.as_vec3();
        let density_at = Sampled::new(density, density.volume_from_voxel)?;
        let values: Vec<f32> = voxels(size)
            .map(|voxel| density_at.sample(voxel + first, 0))
            .collect();
        let range = values
            .iter()
            .fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], value| {
                [value.min(low), value.max(high)]
            });
        let hottest = |grid: &Grid| grid.values.iter().copied().fold(0.0, f32::max);
        let hot = heat.map(hottest).filter(|hottest| *hottest > 0.0);
        let heat = heat.and_then(|grid| Sampled::new(grid, density.volume_from_voxel));
        let color = color.and_then(|grid| Sampled::new(grid, density.volume_from_voxel));
        let color_temperature = (hot.is_some() || color.is_some()).then(|| {
            let at = |voxel: Vec3| {
                let color = match &color {
                    Some(color) => [0, 1, 2].map(|i| color.sample(voxel, i).max(0.0)),
                    None => [1.0; 3],
                };
                let temperature = match (&heat, hot) {
                    (Some(heat), Some(hottest)) => (heat.sample(voxel, 0) / hottest).max(0.0),
                    _ => 0.0,
                };
                [color[0], color[1], color[2], temperature]
            };
            voxels(size).map(|voxel| at(voxel + first)).collect()
        });
        let to_first_corner = Mat4::from_translation(first - 0.5);
        Some(Self {
            size,
            volume_from_lattice: density.volume_from_voxel * to_first_corner,
            density: values,
            range,
            color_temperature,
            is_hot: hot.is_some(),
        })
    }

    /// Returns the number of bricks along x, y and z.
    pub fn brick_counts(&self) -> [u32; 3] {
        self.size.map(|side| side.div_ceil(BRICK))
    }

    /// Returns all bricks, x fastest.
    pub fn bricks(&self) -> Vec<Brick> {
        let counts = self.brick_counts();
        let [columns, rows, _] = self.size.map(|side| side as usize);
        let brick = |place: [u32; 3]| {
            // Linear interpolation reads one voxel further on each side.
            let span = |axis: usize| {
                let first = (BRICK * place[axis]).saturating_sub(1);
                let end = (BRICK * (place[axis] + 1) + 1).min(self.size[axis]);
                first as usize..end as usize
            };
            let mut found = Brick {
                density: [f32::INFINITY, f32::NEG_INFINITY],
                temperature: 0.0,
            };
            for z in span(2) {
                for y in span(1) {
                    let row = (z * rows + y) * columns;
                    for x in span(0) {
                        let value = self.density[row + x];
                        let [low, high] = found.density;
                        found.density = [low.min(value), high.max(value)];
                        if let Some(color_temperature) = &self.color_temperature {
                            found.temperature = found.temperature.max(color_temperature[row + x][3]);
                        }
                    }
                }
            }
            found
        };
        let [x, y, z] = counts;
        let places = (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
        places.map(brick).collect()
    }
}

/// Iterates over all voxels in the order of their values.
fn voxels(size: [u32; 3]) -> impl Iterator<Item = Vec3> {
    let [x, y, z] = size;
    let all = (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
    all.map(|voxel| Vec3::from(voxel.map(|at| at as f32)))
}

/// Range of a lattice in the voxels of a grid, which may extend beyond that grid.
struct LatticeRange {
    first: glam::IVec3,
    size: [u32; 3],
}

impl LatticeRange {
    fn of(grid: &Grid) -> Self {
        Self {
            first: glam::IVec3::ZERO,
            size: grid.size,
        }
    }

    /// Extends the range to `other`, unless it would become much larger than the two grids together.
    fn with(self, grid: &Grid, other: &Grid, most: u32) -> Self {
        let from_other = grid.volume_from_voxel.inverse() * other.volume_from_voxel;
        let high = Vec3::from(other.size.map(|side| side as f32)) - 0.5;
        let corner = |i: u32| {
            let choose = |axis: u32| (i >> axis) & 1 == 1;
            let pick = |axis: u32, high: f32| if choose(axis) { high } else { -0.5 };
            from_other.transform_point3(Vec3::new(pick(0, high.x), pick(1, high.y), pick(2, high.z)))
        };
        let corners: Vec<_> = (0..8).map(corner).collect();
        let low = corners.iter().fold(Vec3::INFINITY, |low, at| low.min(*at));
        let high = corners.iter().fold(Vec3::NEG_INFINITY, |high, at| high.max(*at));
        if !(low.is_finite() && high.is_finite()) || low.abs().max(high.abs()).max_element() > 1e6 {
            return self;
        }
        // Rounding errors should not add a voxel.
        let slack = 1e-2;
        let first = (low + 0.5 + slack).floor().as_ivec3().min(self.first);
        let own_end = self.first + glam::IVec3::from(self.size.map(|side| side as i32));
        let end = (high + 0.5 - slack).ceil().as_ivec3().max(own_end);
        let size = (end - first).to_array().map(|side| side as u32);
        let count = |size: [u32; 3]| size.into_iter().map(u64::from).product::<u64>();
        let is_far = count(size) > 4 * (count(self.size) + count(other.size));
        if is_far || size.into_iter().any(|side| side > most) {
            return self;
        }
        Self { first, size }
    }
}

/// Sampler of a grid in the voxel coordinates of another one.
struct Sampled<'a> {
    grid: &'a Grid,
    own_from_voxel: Mat4,
}

impl<'a> Sampled<'a> {
    fn new(grid: &'a Grid, volume_from_voxel: Mat4) -> Option<Self> {
        let own_from_voxel = grid.volume_from_voxel.inverse() * volume_from_voxel;
        own_from_voxel.is_finite().then_some(Self {
            grid,
            own_from_voxel: match grid.volume_from_voxel == volume_from_voxel {
                true => Mat4::IDENTITY,
                false => own_from_voxel,
            },
        })
    }

    /// Samples a component with linear interpolation. Outside of all voxels it is the background.
    fn sample(&self, voxel: Vec3, component: usize) -> f32 {
        let grid = self.grid;
        let at = (self.own_from_voxel * Vec4::from((voxel, 1.0))).truncate();
        let size = Vec3::from(grid.size.map(|side| side as f32));
        // Tolerates rounding of the outermost centres.
        let is_inside = at.cmpge(Vec3::splat(-0.501)).all() && at.cmple(size - 0.499).all();
        if !is_inside {
            return grid.background;
        }
        let at = at.clamp(Vec3::ZERO, size - 1.0);
        let low = at.floor();
        let share = at - low;
        let low = low.as_uvec3();
        let high = (low + 1).min(glam::UVec3::from(grid.size) - 1);
        let [columns, rows, _] = grid.size.map(|side| side as usize);
        let value = |x: u32, y: u32, z: u32| {
            let index = (z as usize * rows + y as usize) * columns + x as usize;
            grid.values[index * grid.components + component]
        };
        let mix = |a: f32, b: f32, share: f32| if share == 0.0 { a } else { a + share * (b - a) };
        let along_x = |y, z| mix(value(low.x, y, z), value(high.x, y, z), share.x);
        let along_y = |z| mix(along_x(low.y, z), along_x(high.y, z), share.y);
        mix(along_y(low.z), along_y(high.z), share.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(name: &str, components: usize, size: [u32; 3], first: Vec3) -> Grid {
        let count = size.into_iter().product::<u32>() as usize * components;
        Grid {
            name: name.into(),
            components,
            size,
            volume_from_voxel: Mat4::from_scale(Vec3::splat(0.5)) * Mat4::from_translation(first),
            values: (0..count).map(|i| i as f32).collect(),
            background: 0.0,
        }
    }

    /// Grids are identified by their names, and the lattice has all of them at the same voxels.
    #[test]
    fn the_lattice_resamples_all_grids_at_the_same_voxels() {
        let volume = Volume {
            name: String::new(),
            grids: vec![
                grid("v", 3, [2, 2, 2], Vec3::ZERO),
                grid("temperature", 1, [3, 2, 2], Vec3::new(1.0, 0.0, 0.0)),
                grid("density", 1, [2, 2, 2], Vec3::ZERO),
                grid("Cd", 3, [2, 2, 2], Vec3::ZERO),
            ],
        };
        let lattice = VolumeLattice::new(&volume, 64).expect("it has a scalar grid");
        assert_eq!(lattice.size, [4, 2, 2]);
        assert_eq!(lattice.density[..8], [0.0, 1.0, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0]);
        assert_eq!(lattice.range, [0.0, 7.0]);
        let color_temperature = lattice.color_temperature.as_ref().expect("it has colours");
        assert_eq!(color_temperature[1], [3.0, 4.0, 5.0, 0.0]);
        assert_eq!(color_temperature[3], [0.0, 0.0, 0.0, 2.0 / 11.0]);
        let corner = lattice.volume_from_lattice.transform_point3(Vec3::ZERO);
        assert_eq!(corner, Vec3::splat(-0.25));
        let brick = lattice.bricks()[0];
        assert_eq!((brick.density, brick.temperature), ([0.0, 7.0], 1.0));
        // Grids that are too far apart do not share a lattice.
        let mut far = volume.clone();
        far.grids[1].volume_from_voxel = Mat4::from_translation(Vec3::splat(500.0));
        let lattice = VolumeLattice::new(&far, 64).expect("it has a scalar grid");
        assert_eq!(lattice.size, [2, 2, 2]);
        assert!(VolumeLattice::new(&Volume::default(), 64).is_none());
    }
}
