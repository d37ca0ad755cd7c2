//! CPU reference of the volume passes. It marches through the shaders' lattice in f64, in both orders. Ratio
//! tracking, which has no steps, is the ground truth.

use super::{fog::phase, lighting::incident};
use canopy_render::layout::{Light, VolumeParams};
use canopy_scene::volume_lattice::VolumeLattice;

use glam::{DMat3, DMat4, DVec3, Mat4};
use std::f64::consts::PI;

/// Volume with its settings.
#[derive(Debug, Clone, Copy)]
pub struct Medium<'a> {
    /// Voxels of the volume.
    pub lattice: &'a VolumeLattice,
    /// Placement and settings.
    pub params: &'a VolumeParams,
}

/// Light that shines on a volume.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds functions")]
pub struct Lit<'a> {
    /// Lights of the frame, of which the first ones shine on the volume.
    pub lights: &'a [Light],
    /// Radiance that a medium of albedo 1 scatters into a direction from ambient light, over its extinction.
    pub sky: &'a dyn Fn(DVec3) -> DVec3,
    /// Ambient irradiance over π on a surface with this normal.
    pub sky_on_surface: &'a dyn Fn(DVec3) -> DVec3,
    /// Light grid. Without it, all of the light arrives everywhere.
    pub grid: Option<&'a LightGrid>,
}

/// Transmittance to the cells of a grid, of ambient light and then of each light.
#[derive(Debug, Clone, PartialEq)]
pub struct LightGrid {
    /// Cells along each axis.
    pub cells: [u32; 3],
    /// Values of each channel, one per cell, with x varying fastest.
    pub channels: Vec<Vec<f64>>,
}

/// Ray in the lattice.
#[derive(Debug, Clone, Copy)]
struct Ray {
    origin: DVec3,
    direction: DVec3,
    first: f64,
    end: f64,
    step: f64,
}

/// Result of a march along a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarchResult {
    /// Radiance towards the eye.
    pub radiance: DVec3,
    /// Transmittance.
    pub transmittance: f64,
    /// Number of samples of the medium.
    pub samples: u32,
}

/// Order in which the steps of a ray are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Front to back, ending when transmittance is negligible.
    FrontToBack,
    /// Back to front, over all steps.
    BackToFront,
}

impl Medium<'_> {
    fn voxel_from_world(&self) -> DMat4 {
        Mat4::from_cols_array_2d(&self.params.voxel_from_world).as_dmat4()
    }

    /// Returns the texel at a point of the lattice, interpolated trilinearly between the centres of voxels.
    pub fn texel(&self, at: DVec3) -> f64 {
        let [low, high] = self.lattice.range.map(f64::from);
        let base = low.min(0.0);
        let value = |index: usize| f64::from(self.lattice.density[index]);
        (interpolated(self.lattice.size, at, value) - base) / (high - base)
    }

    fn color_temperature(&self, at: DVec3) -> [f64; 4] {
        match &self.lattice.color_temperature {
            Some(color_temperature) => [0, 1, 2, 3].map(|k| {
                interpolated(self.lattice.size, at, |index| {
                    f64::from(color_temperature[index][k])
                })
            }),
            None => [1.0, 1.0, 1.0, 0.0],
        }
    }

    fn transfer(&self, texel: f64) -> [f64; 4] {
        let place = texel * f64::from(self.params.transfer_scale) + f64::from(self.params.transfer_base);
        entry(self.params.transfer.as_flattened(), place)
    }

    fn has_transfer(&self) -> bool {
        self.params.flags & 1 != 0
    }

    /// Returns the extinction per metre at a texel.
    pub fn extinction(&self, texel: f64) -> f64 {
        let scale = f64::from(self.params.scale);
        match self.has_transfer() {
            true => scale * self.transfer(texel)[3],
            false => (f64::from(self.params.base) + scale * texel).max(0.0),
        }
    }

    /// Returns the single-scattering albedo at a texel and a point.
    fn albedo(&self, texel: f64, color_temperature: [f64; 4]) -> DVec3 {
        let own = DVec3::from(self.params.albedo.map(f64::from));
        let color = match self.has_transfer() {
            true => DVec3::from_slice(&self.transfer(texel)),
            false => DVec3::ONE,
        };
        own * color * DVec3::from_slice(&color_temperature)
    }

    fn emitted(&self, color_temperature: [f64; 4]) -> DVec3 {
        let color = entry(self.params.blackbody.as_flattened(), color_temperature[3]);
        f64::from(self.params.emission) * DVec3::from_slice(&color)
    }

    fn ray(&self, origin: DVec3, direction: DVec3, far: f64) -> Ray {
        let voxel_from_world = self.voxel_from_world();
        let start = voxel_from_world.transform_point3(origin);
        let along = voxel_from_world.transform_vector3(direction);
        let (mut first, mut end) = (0.0_f64, far);
        for axis in 0..3 {
            let size = f64::from(self.params.size[axis]);
            let faces = [0.0, size].map(|face| (face - start[axis]) / along[axis]);
            match along[axis] == 0.0 {
                true if (0.0..=size).contains(&start[axis]) => {}
                true => end = f64::NEG_INFINITY,
                false => {
                    first = first.max(faces[0].min(faces[1]));
                    end = end.min(faces[0].max(faces[1]));
                }
            }
        }
        Ray {
            origin: start,
            direction: along,
            first,
            end,
            step: f64::from(self.params.step) / along.length(),
        }
    }

    /// Returns the transmittance along a ray.
    pub fn transmittance(&self, origin: DVec3, direction: DVec3, far: f64) -> f64 {
        let ray = self.ray(origin, direction, far);
        let depth: f64 = ray
            .steps()
            .map(|[first, width]| {
                let texel = self.texel(ray.at(first + 0.5 * width));
                match f64::from(self.params.isovalue) {
                    surface if surface >= 0.0 && texel >= surface => f64::INFINITY,
                    surface if surface >= 0.0 => 0.0,
                    _ => width * self.extinction(texel),
                }
            })
            .sum();
        (-depth).exp()
    }

    /// CPU reference of `volume_light`. `is_open` returns true if no surface blocks a ray, given its origin,
    /// direction and length.
    pub fn light_grid(&self, lights: &[Light], is_open: impl Fn(DVec3, DVec3, f64) -> bool) -> LightGrid {
        let cells = self.params.cells;
        let world_from_voxel = Mat4::from_cols_array_2d(&self.params.world_from_voxel).as_dmat4();
        let arrives =
            |position: DVec3, direction: DVec3, distance: f64| match is_open(position, direction, distance) {
                true => self.transmittance(position, direction, distance),
                false => 0.0,
            };
        let around = |position: DVec3| {
            let sign = |bit: u32| f64::from(bit & 1) * 2.0 - 1.0;
            let corner = |i: u32| DVec3::new(sign(i), sign(i >> 1), sign(i >> 2)).normalize();
            let directions = (0..8).map(corner);
            directions
                .map(|direction| arrives(position, direction, 1e30))
                .sum::<f64>()
                / 8.0
        };
        let of_light = |position: DVec3, light: &Light| {
            let (to_light, irradiance) = incident(light, position.as_vec3());
            let distance = match light.kind {
                0 => 1e30,
                _ => (DVec3::from(light.position.map(f64::from)) - position).length(),
            };
            match irradiance.max_element() > 0.0 {
                true => arrives(position, to_light, distance),
                false => 0.0,
            }
        };
        let lights = &lights[..self.params.lights as usize];
        let channels = (0..=lights.len()).map(|channel| {
            let cell = |cell: DVec3| {
                let share = (cell + 0.5) / DVec3::from(cells.map(f64::from));
                let at = share * DVec3::from(self.params.size.map(f64::from));
                let position = world_from_voxel.transform_point3(at);
                match channel {
                    0 => around(position),
                    _ => of_light(position, &lights[channel - 1]),
                }
            };
            let [x, y, z] = cells;
            let places = (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
            places
                .map(|place| cell(DVec3::from(place.map(f64::from))))
                .collect()
        });
        LightGrid {
            cells,
            channels: channels.collect(),
        }
    }

    /// Returns the transmittance of a channel's light to a point.
    fn arriving(&self, grid: Option<&LightGrid>, at: DVec3, channel: usize) -> f64 {
        let Some(grid) = grid else {
            return 1.0;
        };
        let share = at / DVec3::from(self.params.size.map(f64::from));
        let place = share * DVec3::from(grid.cells.map(f64::from));
        let values = &grid.channels[channel];
        interpolated(grid.cells, place, |index| values[index])
    }

    /// Returns the radiance that a medium of albedo 1 scatters along a ray, over its extinction.
    fn scattered(&self, lit: &Lit<'_>, at: DVec3, position: DVec3, direction: DVec3) -> DVec3 {
        let around = self.arriving(lit.grid, at, 0) * (lit.sky)(direction);
        let lights = lit.lights.iter().enumerate();
        let lights = lights.take(self.params.lights as usize);
        lights.fold(around, |sum, (i, light)| {
            let (to_light, irradiance) = incident(light, position.as_vec3());
            let phase = phase(f64::from(self.params.anisotropy), to_light.dot(direction));
            sum + self.arriving(lit.grid, at, i + 1) * phase * irradiance
        })
    }

    /// CPU reference of `volume_march`: marches along a ray up to `far`. Each step is sampled at the fraction
    /// `jitter` of its length.
    pub fn march(
        &self,
        lit: &Lit<'_>,
        (origin, direction, far): (DVec3, DVec3, f64),
        jitter: f64,
        order: Order,
    ) -> MarchResult {
        let ray = self.ray(origin, direction, far);
        let mut seen = MarchResult {
            radiance: DVec3::ZERO,
            transmittance: 1.0,
            samples: 0,
        };
        let steps: Vec<_> = ray.steps().collect();
        let count = steps.len();
        for k in 0..count {
            let k = match order {
                Order::FrontToBack => k,
                Order::BackToFront => count - 1 - k,
            };
            if order == Order::FrontToBack && seen.transmittance < 1.0 / 2048.0 {
                break;
            }
            let [first, width] = steps[k];
            let t = first + jitter * width;
            let at = ray.at(t);
            seen.samples += 1;
            let texel = self.texel(at);
            let surface = f64::from(self.params.isovalue);
            if surface >= 0.0 {
                if texel >= surface {
                    let before = (t - ray.step).max(ray.first);
                    let along = (origin, direction);
                    seen.radiance = self.surface(lit, ray, along, [before, t]);
                    seen.transmittance = 0.0;
                }
                continue;
            }
            let color_temperature = self.color_temperature(at);
            let extinction = self.extinction(texel);
            let kept = (-extinction * width).exp();
            let length = match extinction * width > 1e-12 {
                true => (1.0 - kept) / extinction,
                false => width,
            };
            let scattered = self.scattered(lit, at, origin + t * direction, direction);
            let added = length * self.emitted(color_temperature)
                + (1.0 - kept) * self.albedo(texel, color_temperature) * scattered;
            match order {
                Order::FrontToBack => seen.radiance += seen.transmittance * added,
                Order::BackToFront => seen.radiance = kept * seen.radiance + added,
            }
            seen.transmittance *= kept;
        }
        seen
    }

    /// Returns the radiance of the isosurface between two distances along a ray.
    fn surface(
        &self,
        lit: &Lit<'_>,
        ray: Ray,
        (origin, direction): (DVec3, DVec3),
        [mut low, mut high]: [f64; 2],
    ) -> DVec3 {
        let surface = f64::from(self.params.isovalue);
        for _ in 0..10 {
            let middle = 0.5 * (low + high);
            match self.texel(ray.at(middle)) >= surface {
                true => high = middle,
                false => low = middle,
            }
        }
        let at = ray.at(high);
        let size = DVec3::from(self.params.size.map(f64::from));
        let is_within = |at: DVec3| at.cmpge(DVec3::ZERO).all() && at.cmple(size).all();
        // The volume has a surface where it ends.
        let within = |at: DVec3| if is_within(at) { self.texel(at) } else { 0.0 };
        let slope = |axis: DVec3| within(at + axis) - within(at - axis);
        let gradient = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
        let voxel_from_world = self.voxel_from_world();
        let linear = DMat3::from_mat4(voxel_from_world);
        let normal = (-(linear.transpose() * gradient)).normalize_or(-direction);
        let normal = normal * if normal.dot(direction) <= 0.0 { 1.0 } else { -1.0 };
        let position = origin + high * direction;
        let cell = size / DVec3::from(self.params.cells.map(f64::from));
        let lit_at = at + 1.75 * cell.max_element() * (linear * normal).normalize();
        let is_cut = high - ray.first < 0.01 * ray.step;
        let arriving = |channel: usize| match is_within(lit_at) && !is_cut {
            true => self.arriving(lit.grid, lit_at, channel),
            false => 1.0,
        };
        let around = arriving(0) * (lit.sky_on_surface)(normal);
        let lights = lit.lights.iter().enumerate();
        let lights = lights.take(self.params.lights as usize);
        let sum = lights.fold(around, |sum, (i, light)| {
            let (to_light, irradiance) = incident(light, position.as_vec3());
            let cosine = normal.dot(to_light).max(0.0);
            sum + arriving(i + 1) * cosine / PI * irradiance
        });
        self.albedo(surface, self.color_temperature(at)) * sum
    }

    /// Returns the radiance along a ray by ratio tracking (Novák, Selle and Jarosz 2014, "Residual Ratio
    /// Tracking for Estimating Attenuation in Participating Media"). It is the mean of `samples` unbiased
    /// estimates of single scattering. `random` returns numbers in [0, 1).
    pub fn tracked(
        &self,
        lights: &[Light],
        (origin, direction, far): (DVec3, DVec3, f64),
        samples: u32,
        random: &mut impl FnMut() -> f64,
    ) -> DVec3 {
        let most = self.extinction(1.0).max(self.extinction(0.0));
        let ray = self.ray(origin, direction, far);
        if ray.end <= ray.first {
            return DVec3::ZERO;
        }
        let ratio = |origin: DVec3, direction: DVec3, far: f64, random: &mut dyn FnMut() -> f64| {
            let ray = self.ray(origin, direction, far);
            let (mut t, mut weight) = (ray.first, 1.0);
            loop {
                t -= (1.0 - random()).ln() / most;
                if t >= ray.end {
                    return weight;
                }
                weight *= 1.0 - self.extinction(self.texel(ray.at(t))) / most;
            }
        };
        let mut sum = DVec3::ZERO;
        for _ in 0..samples {
            // Finds the first scattering event by delta tracking.
            let mut t = ray.first;
            let scatters = loop {
                t -= (1.0 - random()).ln() / most;
                if t >= ray.end {
                    break false;
                }
                if random() * most < self.extinction(self.texel(ray.at(t))) {
                    break true;
                }
            };
            if !scatters {
                continue;
            }
            let position = origin + t * direction;
            let texel = self.texel(ray.at(t));
            let albedo = self.albedo(texel, self.color_temperature(ray.at(t)));
            for light in lights {
                let (to_light, irradiance) = incident(light, position.as_vec3());
                let distance = match light.kind {
                    0 => 1e30,
                    _ => (DVec3::from(light.position.map(f64::from)) - position).length(),
                };
                let phase = phase(f64::from(self.params.anisotropy), to_light.dot(direction));
                let arriving = ratio(position, to_light, distance, random);
                sum += albedo * phase * irradiance * arriving;
            }
        }
        sum / f64::from(samples)
    }
}

impl Ray {
    fn at(&self, t: f64) -> DVec3 {
        self.origin + t * self.direction
    }

    /// Returns the start and length of each step.
    fn steps(self) -> impl Iterator<Item = [f64; 2]> {
        let count = ((self.end - self.first) / self.step).ceil().max(0.0);
        (0..count as u32).map(move |k| {
            let first = self.first + f64::from(k) * self.step;
            [first, self.step.min(self.end - first)]
        })
    }
}

/// Returns the trilinear interpolation between the centres of a grid's cells, x varying fastest, clamped to
/// the outermost centres.
fn interpolated(size: [u32; 3], at: DVec3, value: impl Fn(usize) -> f64) -> f64 {
    let most = DVec3::from(size.map(|side| f64::from(side) - 1.0));
    let at = (at - 0.5).clamp(DVec3::ZERO, most);
    let low = at.floor();
    let share = at - low;
    let mut sum = 0.0;
    for corner in 0..8_u32 {
        let (mut weight, mut index, mut stride) = (1.0, 0, 1);
        for axis in 0..3 {
            let is_high = corner >> axis & 1 == 1;
            weight *= if is_high { share[axis] } else { 1.0 - share[axis] };
            let place = low[axis] as usize + usize::from(is_high);
            index += stride * place.min(size[axis] as usize - 1);
            stride *= size[axis] as usize;
        }
        if weight > 0.0 {
            sum += weight * value(index);
        }
    }
    sum
}

/// Samples a table at position `place` in [0, 1].
fn entry(table: &[[f32; 4]], place: f64) -> [f64; 4] {
    let last = table.len() - 1;
    let place = place.clamp(0.0, 1.0) * last as f64;
    let low = place as usize;
    let high = (low + 1).min(last);
    let share = place.fract();
    std::array::from_fn(|k| {
        let [low, high] = [low, high].map(|i| f64::from(table[i][k]));
        low + share * (high - low)
    })
}
