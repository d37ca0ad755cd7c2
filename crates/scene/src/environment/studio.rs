//! Photo studio: bright, neutral walls with soft boxes, and a round key light that casts a soft shadow.
//!
//! A grey card that faces the first view gets an irradiance of 1.05 π, so that it is displayed at its own
//! reflectance. On the ground the key gives a third of the light, so its shadows are dark enough to be
//! visible and bright enough to show detail.

use super::{
    cube_map,
    image::{EnvironmentImage, Shape, Sun},
};
use glam::{DVec3, Vec3};
use half::f16;
use std::sync::LazyLock;

/// Texels along the edge of a face. The edges of soft boxes are several texels wide.
const FACE: u32 = 64;

/// Radiance of the walls, at the floor and at the ceiling.
const WALLS: [f64; 2] = [0.35, 0.51];

/// Direction to the key light, from the left and the front like the largest soft box.
const TO_KEY: Vec3 = Vec3::new(-0.6, 0.9, 0.8);
/// Illuminance of a surface that faces the key light.
const KEY_LUX: f32 = 2.09;
/// Angular radius of the key light, in degrees.
const KEY_RADIUS: f32 = 12.0;

/// A rectangular area light of uniform radiance with soft edges.
struct SoftBox {
    /// Direction to its centre.
    to_middle: DVec3,
    /// Half its width and half its height, in degrees.
    half: [f64; 2],
    radiance: f64,
}

const BOXES: [SoftBox; 4] = [
    // Below the ceiling.
    SoftBox {
        to_middle: DVec3::new(0.0, 1.0, 0.1),
        half: [40.0, 32.0],
        radiance: 0.58,
    },
    // To the left and to the right of the scene, tall and narrow.
    SoftBox {
        to_middle: DVec3::new(-1.0, 0.3, 0.45),
        half: [16.0, 42.0],
        radiance: 1.85,
    },
    SoftBox {
        to_middle: DVec3::new(1.0, 0.25, 0.3),
        half: [12.0, 42.0],
        radiance: 1.15,
    },
    // Behind the scene, as a rim light.
    SoftBox {
        to_middle: DVec3::new(0.35, 0.45, -1.0),
        half: [30.0, 10.0],
        radiance: 1.24,
    },
];

/// Width of the soft edge on either side, relative to the soft box's half width.
const FADE: f64 = 0.15;

impl SoftBox {
    /// Returns the radiance from a direction.
    fn radiance(&self, direction: DVec3) -> f64 {
        let middle = self.to_middle.normalize();
        let up = if middle.y.abs() < 0.9 {
            DVec3::Y
        } else {
            DVec3::NEG_Z
        };
        let right = up.cross(middle).normalize();
        let ahead = direction.dot(middle);
        if ahead <= 0.0 {
            return 0.0;
        }
        let sides = [right, middle.cross(right)];
        let shares = [0, 1].map(|axis| {
            let off = direction.dot(sides[axis]).abs() / ahead;
            1.0 - smooth_step(1.0 - FADE, 1.0 + FADE, off / self.half[axis].to_radians().tan())
        });
        self.radiance * shares[0] * shares[1]
    }
}

fn smooth_step(from: f64, to: f64, at: f64) -> f64 {
    let t = ((at - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Returns the key light.
pub fn key() -> Sun {
    Sun {
        to_sun: TO_KEY.normalize(),
        illuminance: Vec3::splat(KEY_LUX),
        radius: KEY_RADIUS.to_radians(),
    }
}

/// Returns the studio as a cube map, which is generated once. Its sun is the key light.
pub fn image() -> &'static EnvironmentImage {
    static IMAGE: LazyLock<EnvironmentImage> = LazyLock::new(made);
    &IMAGE
}

fn made() -> EnvironmentImage {
    let texels = 6 * FACE * FACE;
    let radiance = |i: u32| {
        let direction = cube_map::nth_texel_direction(FACE as usize, i as usize);
        let [floor, ceiling] = WALLS;
        let walls = floor + (ceiling - floor) * smooth_step(-1.0, 1.0, direction.y);
        walls + BOXES.iter().map(|of| of.radiance(direction)).sum::<f64>()
    };
    EnvironmentImage {
        name: "the studio".into(),
        shape: Shape::Cube,
        width: FACE,
        height: 6 * FACE,
        texels: (0..texels)
            .map(|i| {
                let grey = f16::from_f64(radiance(i));
                [grey, grey, grey, f16::ONE]
            })
            .collect(),
        scale: 1.0,
        sun: Some(key()),
        warnings: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Returns the irradiance from the walls and boxes, and from the key.
    fn irradiance(image: &EnvironmentImage, normal: DVec3) -> [f64; 2] {
        let size = image.width as usize;
        let angles = cube_map::solid_angles(size);
        let around = image.texels.iter().enumerate().map(|(i, [grey, ..])| {
            let cosine = cube_map::nth_texel_direction(size, i).dot(normal).max(0.0);
            angles[i % angles.len()] * cosine * f64::from(*grey)
        });
        let key = image.sun.unwrap();
        let cosine = key.to_sun.as_dvec3().dot(normal).max(0.0);
        [around.sum(), f64::from(key.illuminance.x) * cosine]
    }

    /// Checks the irradiance that [`super`] promises, for a card that faces the first view, on the ground,
    /// and nowhere zero.
    #[test]
    fn a_card_receives_the_irradiance_that_shows_its_albedo() {
        let image = image();
        assert_eq!(image.texels.len(), (image.width * image.height) as usize);
        let total = |normal: DVec3| irradiance(image, normal.normalize()).iter().sum::<f64>() / PI;
        let card = total(DVec3::new(0.4, 0.25, 1.0));
        assert!((card - 1.05).abs() < 0.01, "{card}");
        let [around, key] = irradiance(image, DVec3::Y);
        let share = key / (around + key);
        assert!((0.29..0.35).contains(&share), "{share}");
        let shadow = (around + key) / PI;
        assert!(shadow < 1.45, "the ground is too bright: {shadow}");
        let all = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| [total(axis), total(-axis)]);
        let least = all.iter().flatten().fold(f64::INFINITY, |a, b| a.min(*b));
        assert!(least > 0.35, "{all:?}");
    }

    /// Each box appears as a rectangle that ends within the environment, without seams between faces.
    #[test]
    fn softboxes_are_bright_in_the_middle_and_have_edges() {
        for of in &BOXES {
            let middle = of.to_middle.normalize();
            assert_eq!(of.radiance(middle), of.radiance);
            assert_eq!(of.radiance(-middle), 0.0);
            let (right, up) = middle.any_orthonormal_pair();
            for side in [right, -right, up, -up] {
                let beyond = middle + 1.7 * of.half[0].max(of.half[1]).to_radians().tan() * side;
                assert_eq!(of.radiance(beyond.normalize()), 0.0);
            }
        }
    }
}
