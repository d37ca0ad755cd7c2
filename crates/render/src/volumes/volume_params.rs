//! GPU parameters of a volume, with its placement, its medium and its colour tables.

use crate::{
    layout::VolumeParams,
    settings::{VolumeTransfer, Volumes as Settings},
};
use canopy_bvh::gpu::library::wgsl_constants;
use canopy_scene::volume_lattice::{Brick, VolumeLattice};
use glam::{Mat4, Vec3};
use half::f16;

wgsl_constants! {
    /// Number of entries in a colour table.
    pub const VOLUME_TABLE: u32 = 128;
    /// Maximum number of steps of a ray, which exceeds the longest diagonal at the shortest step.
    pub const VOLUME_STEPS_MAX: f64 = 65536.0;
    /// Voxels along an edge of a brick.
    pub const VOLUME_BRICK: f64 = canopy_scene::volume_lattice::BRICK as f64;
    /// Optical depth beyond which transmittance counts as zero.
    pub const VOLUME_OPAQUE: f64 = 12.0;
    /// Transmittance at which a view ray ends.
    pub const VOLUME_MIN: f64 = 1.0 / 2048.0;
    /// Number of bisections of the step in which a ray hits an isosurface.
    pub const VOLUME_BISECTIONS: u32 = 10;
    /// Flag of [`VolumeParams::flags`] for a transfer function of colour and opacity.
    pub const VOLUME_TRANSFER: u32 = 1;
    /// Flag for voxels with a colour or a temperature.
    pub const VOLUME_COLOR_TEMPERATURE: u32 = 2;
    /// Flag for a light grid.
    pub const VOLUME_SHADOWED: u32 = 4;
}

/// Maximum number of lights that illuminate a volume. The first lights of the frame are used.
pub const VOLUME_LIGHTS: usize = 15;
/// Table of [`VOLUME_TABLE`] entries. It is nested because only arrays up to 32 elements implement `Default`.
pub type Table = [[[f32; 4]; 32]; 4];
/// Number of components of a control point of a transfer function: value, red, green, blue and opacity.
pub const POINT: usize = 5;

/// Returns the offset and scale that decode texels in [0, 1] into values. The offset is the minimum value or
/// 0, whichever is lower.
pub fn decode_range(lattice_range: [f32; 2]) -> [f32; 2] {
    let [low, high] = lattice_range;
    let base = low.min(0.0);
    [base, (high - base).max(f32::MIN_POSITIVE)]
}

/// Encodes a value as a texel, rounded to a half float like the texture's.
pub fn texel([base, span]: [f32; 2], value: f32) -> f16 {
    f16::from_f32((value - base) / span)
}

/// Returns the parameters of a volume whose lattice is at `world_from_lattice`. Returns `None` if that matrix
/// has no inverse. `lights` is the number of the frame's lights.
pub fn params(
    settings: &Settings,
    (size, range): ([u32; 3], [f32; 2]),
    (has_color_temperature, is_hot): (bool, bool),
    world_from_lattice: Mat4,
    lights: usize,
) -> Option<VolumeParams> {
    let voxel_from_world = world_from_lattice.inverse();
    if !(voxel_from_world.is_finite() && world_from_lattice.is_finite()) {
        return None;
    }
    let [base, span] = decode_range(range);
    let [low, high] = range;
    let width = (high - low).max(f32::MIN_POSITIVE);
    let transfer = control_points(settings);
    let (scale, base_extinction) = match transfer {
        Some(_) => (settings.density, 0.0),
        None => (settings.density * span, settings.density * base),
    };
    let flags = [
        (transfer.is_some(), VOLUME_TRANSFER),
        (has_color_temperature, VOLUME_COLOR_TEMPERATURE),
        (settings.shadows, VOLUME_SHADOWED),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
    Some(VolumeParams {
        voxel_from_world: voxel_from_world.to_cols_array_2d(),
        world_from_voxel: world_from_lattice.to_cols_array_2d(),
        size: size.map(|side| side as f32),
        scale,
        albedo: settings.albedo,
        base: base_extinction,
        cells: cells(size, settings.light_cells),
        lights: lights.min(VOLUME_LIGHTS) as u32,
        anisotropy: settings.anisotropy,
        step: settings.step,
        emission: if is_hot { settings.emission } else { 0.0 },
        isovalue: match settings.isovalue {
            0.0 => -1.0,
            share => (low + share * width - base) / span,
        },
        transfer_scale: span / width,
        transfer_base: (base - low) / width,
        flags: flags.fold(0, |flags, (_, flag)| flags | flag),
        _pad: 0,
        blackbody: blackbody(settings.hottest),
        transfer: transfer.map_or(Table::default(), |points| table(&points)),
    })
}

/// Properties of a lattice whose voxels have been uploaded.
#[derive(Debug, Clone, Copy)]
pub struct LatticeFacts {
    /// Voxels along each axis.
    pub size: [u32; 3],
    /// Minimum and maximum density.
    pub range: [f32; 2],
    /// Same matrix as [`VolumeLattice::volume_from_lattice`].
    pub volume_from_lattice: Mat4,
    /// True if voxels have a colour or a temperature.
    pub has_color_temperature: bool,
    /// True if there is a temperature grid with values above 0, which makes voxels emit light.
    pub is_hot: bool,
    /// Largest component of a colour, at least 1.
    pub brightest: f32,
}

impl From<&VolumeLattice> for LatticeFacts {
    fn from(lattice: &VolumeLattice) -> Self {
        Self {
            size: lattice.size,
            range: lattice.range,
            volume_from_lattice: lattice.volume_from_lattice,
            has_color_temperature: lattice.color_temperature.is_some(),
            is_hot: lattice.is_hot,
            brightest: (lattice.color_temperature.iter().flatten())
                .flat_map(|color_temperature| &color_temperature[..3])
                .fold(1.0, |most, component| component.max(most)),
        }
    }
}

/// Returns the largest extinction in a brick, or any value above 0 if it contains an isosurface or glows.
pub fn most_extinction(params: &VolumeParams, range: [f32; 2], brick: &Brick) -> f32 {
    let of = decode_range(range);
    let [low, high] = brick.density.map(|value| texel(of, value).to_f32());
    let most = if params.isovalue >= 0.0 {
        return f32::from(u8::from(high >= params.isovalue));
    } else if params.flags & VOLUME_TRANSFER != 0 {
        let last = VOLUME_TABLE as usize - 1;
        let place = |texel: f32| {
            let place = texel * params.transfer_scale + params.transfer_base;
            place.clamp(0.0, 1.0) * last as f32
        };
        let entries = place(low) as usize..=(place(high) as usize + 1).min(last);
        let entries = params.transfer.as_flattened()[entries].iter();
        params.scale * entries.fold(0.0, |most: f32, entry| most.max(entry[3]))
    } else {
        (params.base + params.scale * high).max(0.0)
    };
    match params.emission > 0.0 && brick.temperature > 0.0 {
        true => most.max(f32::MIN_POSITIVE),
        false => most,
    }
}

/// Returns the number of cells of the light grid along each axis: at most `most` along the longest axis, and
/// none smaller than a voxel.
fn cells(size: [u32; 3], most: u32) -> [u32; 3] {
    let longest = size.into_iter().max().unwrap_or(1);
    let count = most.min(longest).max(1);
    size.map(|side| {
        let scaled = u64::from(side) * u64::from(count);
        (scaled.div_ceil(u64::from(longest)) as u32).max(1)
    })
}

/// Returns the control points of the settings' transfer function, with value, red, green, blue and opacity in
/// [0, 1].
pub fn control_points(settings: &Settings) -> Option<Vec<[f32; POINT]>> {
    let fixed: &[[f32; POINT]] = match settings.transfer {
        VolumeTransfer::Off => return None,
        VolumeTransfer::Gray => &[[0.0, 1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]],
        VolumeTransfer::Bone => &[
            [0.25, 0.75, 0.3, 0.2, 0.0],
            [0.32, 0.8, 0.4, 0.3, 0.04],
            [0.42, 0.85, 0.5, 0.35, 0.02],
            [0.52, 1.0, 0.95, 0.85, 0.6],
            [1.0, 1.0, 1.0, 0.95, 1.0],
        ],
        VolumeTransfer::Heat => &[
            [0.05, 0.1, 0.1, 0.6, 0.0],
            [0.3, 0.1, 0.6, 0.9, 0.1],
            [0.5, 0.3, 0.9, 0.3, 0.2],
            [0.75, 1.0, 0.8, 0.1, 0.5],
            [1.0, 1.0, 0.1, 0.05, 1.0],
        ],
        VolumeTransfer::Custom => {
            let points = settings.points.chunks_exact(POINT);
            let mut points: Vec<[f32; POINT]> =
                points.map(|point| std::array::from_fn(|i| point[i])).collect();
            points.sort_by(|a, b| a[0].total_cmp(&b[0]));
            return (!points.is_empty()).then_some(points);
        }
    };
    Some(fixed.to_vec())
}

/// Interpolates colour and opacity between control points in ascending order.
fn table(points: &[[f32; POINT]]) -> Table {
    entries(|i| {
        let value = i as f32 / (VOLUME_TABLE - 1) as f32;
        let after = points.partition_point(|point| point[0] <= value);
        let before = points[after.saturating_sub(1).min(points.len() - 1)];
        let next = points[after.min(points.len() - 1)];
        let width = next[0] - before[0];
        let share = match width > 0.0 {
            true => ((value - before[0]) / width).clamp(0.0, 1.0),
            false => 0.0,
        };
        std::array::from_fn(|k| before[k + 1] + share * (next[k + 1] - before[k + 1]))
    })
}

/// Returns the blackbody colours in linear sRGB from 0 kelvin to `hottest`, relative to the luminance of the
/// hottest.
pub fn blackbody(hottest: f32) -> Table {
    let [_, most, _] = blackbody_xyz(f64::from(hottest));
    entries(|i| {
        let share = i as f64 / f64::from(VOLUME_TABLE - 1);
        let [x, y, z] = blackbody_xyz(share * f64::from(hottest)).map(|value| value / most);
        // XYZ to linear sRGB (IEC 61966-2-1).
        let color = [
            3.240_454_2 * x - 1.537_138_5 * y - 0.498_531_4 * z,
            -0.969_266 * x + 1.876_010_8 * y + 0.041_556 * z,
            0.055_643_4 * x - 0.204_025_9 * y + 1.057_225_2 * z,
        ];
        let [red, green, blue] = color.map(|value| value.max(0.0) as f32);
        [red, green, blue, 0.0]
    })
}

/// Returns a table of `entry` for each index.
fn entries(entry: impl Fn(usize) -> [f32; 4]) -> Table {
    std::array::from_fn(|row| std::array::from_fn(|column| entry(32 * row + column)))
}

/// Returns the tristimulus values of Planck's law in arbitrary units, with the fits of Wyman, Sloan and
/// Shirley 2013, "Simple Analytic Approximations to the CIE XYZ Color Matching Functions".
pub fn blackbody_xyz(kelvin: f64) -> [f64; 3] {
    if kelvin <= 0.0 {
        return [0.0; 3];
    }
    let lobe = |wave: f64, middle: f64, below: f64, above: f64| {
        let width = if wave < middle { below } else { above };
        (-0.5 * ((wave - middle) / width).powi(2)).exp()
    };
    let mut sum = [0.0; 3];
    for wave in (380..=780).step_by(5) {
        let wave = f64::from(wave);
        // Second radiation constant, in nanometres and kelvin.
        let power = (wave / 560.0).powi(-5) / ((1.438_777e7 / (wave * kelvin)).exp_m1());
        let seen = [
            1.056 * lobe(wave, 599.8, 37.9, 31.0) + 0.362 * lobe(wave, 442.0, 16.0, 26.7)
                - 0.065 * lobe(wave, 501.1, 20.4, 26.2),
            0.821 * lobe(wave, 568.8, 46.9, 40.5) + 0.286 * lobe(wave, 530.9, 16.3, 31.1),
            1.217 * lobe(wave, 437.0, 11.8, 36.0) + 0.681 * lobe(wave, 459.0, 26.0, 13.8),
        ];
        for (sum, seen) in sum.iter_mut().zip(seen) {
            *sum += power * seen;
        }
    }
    sum
}

/// Returns the distance in metres from the eye to the box of a volume; 0 inside it.
pub fn distance(params: &VolumeParams, eye: Vec3) -> f32 {
    let voxel_from_world = Mat4::from_cols_array_2d(&params.voxel_from_world);
    let at = voxel_from_world.transform_point3(eye);
    let nearest = at.clamp(Vec3::ZERO, Vec3::from(params.size));
    let world_from_voxel = Mat4::from_cols_array_2d(&params.world_from_voxel);
    world_from_voxel.transform_point3(nearest).distance(eye)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{self, Volumes};

    /// Chromaticities of the CIE for illuminant A at 2,856 K and the Planckian locus at 6,500 K.
    #[test]
    fn black_body_colours_match_the_cie_tables() {
        for (kelvin, x, y) in [(2856.0, 0.4476, 0.4074), (6500.0, 0.3135, 0.3237)] {
            let found = blackbody_xyz(kelvin);
            let sum: f64 = found.iter().sum();
            let [found_x, found_y] = [found[0] / sum, found[1] / sum];
            assert!(
                (found_x - x).abs() < 4e-3 && (found_y - y).abs() < 4e-3,
                "{kelvin}"
            );
        }
        let table = blackbody(2200.0);
        let table = table.as_flattened();
        let luminance = |[r, g, b, _]: [f32; 4]| 0.2126 * r + 0.7152 * g + 0.0722 * b;
        assert_eq!(table[0], [0.0; 4]);
        let rises = |pair: &[[f32; 4]]| luminance(pair[0]) <= luminance(pair[1]);
        assert!(table.windows(2).all(rises));
        assert!((luminance(table[127]) - 1.0).abs() < 0.05, "{:?}", table[127]);
    }

    /// A brick is not empty if the transfer function is opaque anywhere between the brick's values.
    #[test]
    fn the_extinction_majorant_covers_all_values_of_a_brick() {
        let mut settings = settings::Settings::default().volumes;
        settings.transfer = VolumeTransfer::Custom;
        settings.density = 2.0;
        settings.points = [[0.4, 1.0, 1.0, 1.0, 0.0], [0.5, 1.0, 0.0, 0.0, 0.5]]
            .into_iter()
            .chain([[0.6, 1.0, 1.0, 1.0, 0.0]])
            .flatten()
            .collect();
        let range = [-1.0, 1.0];
        let shape = ([8, 8, 8], range);
        let of = |settings: &Volumes| {
            params(settings, shape, (false, false), Mat4::IDENTITY, 0).expect("it has a place")
        };
        let most = |density: [f32; 2]| {
            let brick = Brick {
                density,
                temperature: 0.0,
            };
            most_extinction(&of(&settings), range, &brick)
        };
        assert_eq!(most([-1.0, -0.3]), 0.0);
        assert!((most([-1.0, 1.0]) - 1.0).abs() < 0.05);
        assert!(most([-0.1, -0.05]) > 0.7);
        settings.transfer = VolumeTransfer::Off;
        let brick = Brick {
            density: [-1.0, 0.25],
            temperature: 0.0,
        };
        assert_eq!(most_extinction(&of(&settings), range, &brick), 0.5);
        settings.isovalue = 0.75;
        assert_eq!(most_extinction(&of(&settings), range, &brick), 0.0);
        let singular = Mat4::from_scale(Vec3::new(1.0, 0.0, 1.0));
        assert!(params(&settings, shape, (false, false), singular, 0).is_none());
    }
}
