//! Extraction of the sun from an environment as a light with shadows. The sun is too small and too bright for
//! spherical harmonics and prefiltered cube maps.

use super::{
    cube_map,
    image::{EnvironmentImage, Shape, Sun, luminance},
    texels::cube_row_weights,
};
use glam::{DVec2, DVec3};
use half::f16;
use std::f64::consts::{PI, TAU};

/// Angular radius that counts as the sun, including lens glare.
const REACH: f64 = 4.0 * PI / 180.0;
/// Outer angular radius of the ring around the sun in which the background radiance is measured.
const SURROUNDINGS: f64 = 6.0 * PI / 180.0;
/// Angular radius that holds most of a sun's light. Windows and bright clouds are larger.
const CORE: f64 = 1.5 * PI / 180.0;
/// Minimum fraction of the light within [`CORE`].
const CORE_SHARE: f64 = 0.75;
/// Minimum illuminance of a sun, relative to the mean irradiance without the sun.
const MIN_SHARE: f64 = 0.25;
/// Widest texels, in radians, in which a sun can be distinguished from larger light sources.
const WIDEST_TEXEL: f64 = PI / 180.0;

impl EnvironmentImage {
    /// Moves the sun, if there is one, from the texels into [`EnvironmentImage::sun`]. The background
    /// radiance around it replaces it. The total light on any surface is unchanged.
    pub fn take_sun(&mut self) {
        let texel_angle = match self.shape {
            Shape::Equirectangular => PI / f64::from(self.height.max(1)),
            Shape::Cube => 0.5 * PI / f64::from(self.width.max(1)),
        };
        if texel_angle > WIDEST_TEXEL || self.sun.is_some() {
            return;
        }
        let brightest = |best: (usize, f64), (at, texel): (usize, &[f16; 4])| {
            let luminance = luminance(radiance(*texel));
            if luminance > best.1 { (at, luminance) } else { best }
        };
        let (peak, peak_luminance) = self.texels.iter().enumerate().fold((0, 0.0), brightest);
        let mean = f64::from(self.mean_luminance()) / f64::from(self.scale);
        // Early exit: a sun would be brighter even if all texels within its radius had the peak luminance.
        if peak_luminance * TAU * (1.0 - REACH.cos()) < 0.5 * MIN_SHARE * PI * mean {
            return;
        }
        let mut middle = self.direction(peak);
        let mut surroundings = DVec3::ZERO;
        let mut excess = DVec3::ZERO;
        let mut in_core = 0.0;
        // The brightest texel may be at the edge of the sun, so its centre is refined iteratively.
        for _ in 0..3 {
            let (mut ring, mut ring_angle) = (DVec3::ZERO, 0.0);
            self.near(middle, SURROUNDINGS, |at, direction, solid_angle| {
                if direction.dot(middle) < REACH.cos() {
                    ring += solid_angle * radiance(self.texels[at]);
                    ring_angle += solid_angle;
                }
            });
            surroundings = ring / f64::max(ring_angle, f64::MIN_POSITIVE);
            let mut towards = DVec3::ZERO;
            (excess, in_core) = (DVec3::ZERO, 0.0);
            self.near(middle, REACH, |at, direction, solid_angle| {
                let more = (radiance(self.texels[at]) - surroundings).max(DVec3::ZERO);
                excess += solid_angle * more;
                towards += solid_angle * luminance(more) * direction;
                if direction.dot(middle) >= CORE.cos() {
                    in_core += solid_angle * luminance(more);
                }
            });
            middle = towards.try_normalize().unwrap_or(middle);
        }
        let rest = PI * mean - luminance(excess) / 4.0;
        let is_sun = luminance(excess) > MIN_SHARE * rest.max(f64::MIN_POSITIVE)
            && in_core >= CORE_SHARE * luminance(excess);
        if !is_sun {
            return;
        }
        let radius = self.sun_radius(middle, surroundings);
        let mut covered = Vec::new();
        self.near(middle, REACH, |at, _, solid_angle| {
            covered.push((at, solid_angle));
        });
        let mut taken = DVec3::ZERO;
        for (at, solid_angle) in covered {
            let whole = radiance(self.texels[at]);
            let [r, g, b] = whole.min(surroundings).to_array();
            self.texels[at] = [r, g, b, 1.0].map(f16::from_f64);
            taken += solid_angle * (whole - radiance(self.texels[at]));
        }
        self.sun = Some(Sun {
            to_sun: middle.as_vec3(),
            illuminance: (taken * f64::from(self.scale)).as_vec3(),
            radius: radius as f32,
        });
    }

    /// Returns the angular radius of the sun with centre `middle`. It is the radius of a uniform disc with
    /// twice the solid angle of the texels that hold the inner half of the light. Lens glare lies outside of
    /// it.
    fn sun_radius(&self, middle: DVec3, surroundings: DVec3) -> f64 {
        let mut texels = Vec::new();
        self.near(middle, CORE, |at, direction, solid_angle| {
            let more = (radiance(self.texels[at]) - surroundings).max(DVec3::ZERO);
            let light = solid_angle * luminance(more);
            texels.push((direction.angle_between(middle), solid_angle, light));
        });
        texels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut left = 0.5 * texels.iter().map(|(.., light)| light).sum::<f64>();
        let mut inner = 0.0;
        for (_, solid_angle, light) in texels {
            let share = if light > left { left / light } else { 1.0 };
            inner += share * solid_angle;
            left -= share * light;
            if left <= 0.0 {
                break;
            }
        }
        (2.0 * inner / PI).sqrt()
    }

    /// Returns the direction to the centre of a texel.
    fn direction(&self, at: usize) -> DVec3 {
        let width = self.width as usize;
        let (x, y) = ((at % width) as f64 + 0.5, at / width);
        match self.shape {
            Shape::Equirectangular => {
                let (sin, cos) = (TAU * x / width as f64 - PI).sin_cos();
                let polar = PI * (y as f64 + 0.5) / f64::from(self.height);
                DVec3::new(polar.sin() * cos, polar.cos(), polar.sin() * sin)
            }
            Shape::Cube => {
                let place = |at: f64| 2.0 * at / width as f64 - 1.0;
                let (s, t) = (place(x), place((y % width) as f64 + 0.5));
                cube_map::direction(y / width, DVec2::new(s, t)).normalize()
            }
        }
    }

    /// Visits the texels within `angle` of the unit vector `middle`, with index, direction and solid angle.
    fn near(&self, middle: DVec3, angle: f64, mut visit: impl FnMut(usize, DVec3, f64)) {
        let width = self.width as usize;
        let mut solid_angles = Vec::new();
        for y in 0..self.texels.len() / width.max(1) {
            match self.shape {
                Shape::Equirectangular => {
                    let edge = |y: usize| PI * y as f64 / f64::from(self.height);
                    let polar = middle.y.clamp(-1.0, 1.0).acos();
                    if edge(y + 1) < polar - angle || edge(y) > polar + angle {
                        continue;
                    }
                    let ring = edge(y).cos() - edge(y + 1).cos();
                    solid_angles.clear();
                    solid_angles.resize(width, TAU / width as f64 * ring);
                }
                Shape::Cube => cube_row_weights(self.width, (y % width) as u32, &mut solid_angles),
            }
            for (x, solid_angle) in solid_angles.iter().enumerate() {
                let at = y * width + x;
                let direction = self.direction(at);
                if direction.dot(middle) >= angle.cos() {
                    visit(at, direction, *solid_angle);
                }
            }
        }
    }
}

/// Returns the radiance of a texel without the scale of the environment.
fn radiance([r, g, b, _]: [f16; 4]) -> DVec3 {
    DVec3::new(r.into(), g.into(), b.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a sky with a disc at `to_sun`, in an image of either shape. `angle` is its radius in degrees,
    /// and `light` its radiance.
    fn sky(shape: Shape, to_sun: DVec3, angle: f64, light: f64) -> EnvironmentImage {
        let (width, height) = match shape {
            Shape::Equirectangular => (720, 360),
            Shape::Cube => (180, 6 * 180),
        };
        let mut image = EnvironmentImage {
            name: String::new(),
            shape,
            width,
            height,
            texels: vec![[f16::ZERO; 4]; (width * height) as usize],
            scale: 4.0,
            sun: None,
            warnings: Vec::new(),
        };
        for at in 0..image.texels.len() {
            let direction = image.direction(at);
            let around = DVec3::new(0.2, 0.3, 0.5) * (1.0 + 0.5 * direction.y);
            let inside = direction.dot(to_sun) > angle.to_radians().cos();
            let color = around + if inside { light } else { 0.0 };
            let [r, g, b] = color.to_array();
            image.texels[at] = [r, g, b, 1.0].map(f16::from_f64);
        }
        image
    }

    fn irradiance(image: &EnvironmentImage, normal: DVec3) -> DVec3 {
        let mut sum = DVec3::ZERO;
        image.near(normal, 0.5 * PI, |at, direction, solid_angle| {
            sum += solid_angle * direction.dot(normal) * radiance(image.texels[at]);
        });
        let sun = image.sun.map_or(DVec3::ZERO, |sun| {
            sun.illuminance.as_dvec3() * sun.to_sun.as_dvec3().dot(normal).max(0.0)
        });
        sum * f64::from(image.scale) + sun
    }

    #[test]
    fn a_sun_is_taken_out_and_no_light_is_lost() {
        for shape in [Shape::Equirectangular, Shape::Cube] {
            // Across the seam of the image, near a pole, and at an arbitrary position.
            for to_sun in [
                DVec3::new(-1.0, 0.4, 0.001),
                DVec3::new(0.02, 1.0, 0.03),
                DVec3::new(0.7, 0.3, -0.5),
            ] {
                let to_sun = to_sun.normalize();
                let whole = sky(shape, to_sun, 0.8, 4000.0);
                let mut parted = whole.clone();
                parted.take_sun();
                let sun = parted.sun.unwrap();
                let off = sun.to_sun.as_dvec3().dot(to_sun).min(1.0).acos();
                assert!(off < 0.004, "{shape:?} {to_sun}: {off} rad off");
                // Accurate to within half of a texel.
                let wide = sun.radius.to_degrees();
                assert!((0.55..=1.05).contains(&wide), "{shape:?} {to_sun}: {wide}°");
                let brightest = parted.texels.iter().flatten().max_by(|a, b| a.total_cmp(b));
                assert!(brightest.unwrap().to_f32() <= 1.0);
                for normal in [to_sun, DVec3::Y, DVec3::X, DVec3::new(0.3, -0.5, 0.6)] {
                    let normal = normal.normalize();
                    let (before, after) = (irradiance(&whole, normal), irradiance(&parted, normal));
                    let error = ((before - after) / before).abs().max_element();
                    assert!(error < 0.01, "{shape:?} {to_sun} {normal}: {before} {after}");
                }
                let (before, after) = (whole.mean_luminance(), parted.mean_luminance());
                assert!((before / after - 1.0).abs() < 0.01, "{before} {after}");
                // Taking the sun again changes nothing.
                let once = parted.clone();
                parted.take_sun();
                assert_eq!(parted, once);
            }
        }
    }

    #[test]
    fn large_dim_or_coarse_highlights_are_not_taken_as_a_sun() {
        let up = DVec3::new(0.3, 0.8, 0.2).normalize();
        let mut coarse = sky(Shape::Equirectangular, up, 0.8, 4000.0);
        (coarse.width, coarse.height) = (72, 36);
        coarse.texels.truncate(72 * 36);
        for mut image in [
            sky(Shape::Equirectangular, up, 8.0, 100.0),
            sky(Shape::Equirectangular, up, 3.5, 400.0),
            sky(Shape::Equirectangular, up, 0.8, 100.0),
            sky(Shape::Cube, up, 0.8, 0.0),
            coarse,
        ] {
            let before = image.clone();
            image.take_sun();
            assert_eq!(image, before);
        }
    }
}
