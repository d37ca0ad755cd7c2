//! CPU reference of light/light_table.wgsl: draws lights from the tree over the lights of a frame.

use crate::cells::pcg_hash;
use canopy_render::{
    layout::Light,
    light::light_tree::{self, LIGHT_NODE_WORDS, LightGrid},
};
use glam::{DVec3, DVec4};

/// Smallest factor on the estimate of lights below a surface's horizon.
const BELOW: f64 = 0.05;
/// Squared distance of the light nearest to a point in a box of one light, over the square of its half diagonal.
const SPACING: f64 = 0.1;

/// Tree over the lights of a frame.
#[derive(Debug, Clone)]
pub struct LightTree {
    words: Vec<u32>,
    lights: usize,
    distant: usize,
    origin: DVec3,
    scale: f64,
}

/// Returns the number of a pixel that draws lights, from a number of the sampling sequence.
pub fn number(u: f64, pixel: [u32; 2], index: u32) -> f64 {
    let low = pcg_hash(pixel[0].wrapping_add(pcg_hash(pixel[1].wrapping_add(pcg_hash(index)))));
    (u + f64::from(low >> 8) / (16_777_216.0 * 4096.0)).fract()
}

/// Point at which lights are drawn.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// On the tree's grid.
    position: DVec3,
    /// The last component is 1 in media, which have no normal.
    normal: DVec4,
}

impl LightTree {
    /// Reads the tree over lights in the order of its leaves. There is at least one.
    pub fn new(lights: &[Light]) -> Self {
        let grid = LightGrid::new(lights);
        let [x, y, z, scale] = grid.uniform().map(f64::from);
        Self {
            words: grid.tree(lights),
            lights: lights.len(),
            distant: light_tree::distant(lights),
            origin: DVec3::new(x, y, z),
            scale,
        }
    }

    /// Draws a light with a number in [0, 1), and returns its index and the probability. `None` if the draw ends at
    /// lights that do not reach the point. A normal of zero stands for a medium.
    pub fn draw(&self, position: DVec3, normal: DVec3, mut u: f64) -> Option<(usize, f64)> {
        let point = self.point(position, normal);
        let (mut node, mut first, mut count, mut chance) = (0, 0, self.lights, 1.0);
        let mut spacing = usual_spacing(count);
        while count > 1 {
            let (left, share, spacings) = self.step(point, node, first, count, spacing)?;
            spacing = spacings[usize::from(u >= share)];
            if u < share {
                (u, chance) = (u / share, chance * share);
                (node, count) = (node + 1, left);
            } else {
                (u, chance) = ((u - share) / (1.0 - share), chance * (1.0 - share));
                (node, first, count) = (node + left, first + left, count - left);
            }
        }
        Some((first, chance))
    }

    /// Returns the probability of every light.
    pub fn chances(&self, position: DVec3, normal: DVec3) -> Vec<f64> {
        let point = self.point(position, normal);
        let mut chances = vec![0.0; self.lights];
        let mut open = vec![(0, 0, self.lights, usual_spacing(self.lights), 1.0)];
        while let Some((node, first, count, spacing, chance)) = open.pop() {
            if count == 1 {
                chances[first] = chance;
            } else if let Some((left, share, [a, b])) = self.step(point, node, first, count, spacing) {
                let after = count - left;
                open.push((node + 1, first, left, a, chance * share));
                open.push((node + left, first + left, after, b, chance * (1.0 - share)));
            }
        }
        chances
    }

    fn point(&self, position: DVec3, normal: DVec3) -> Point {
        let in_medium = if normal == DVec3::ZERO { 1.0 } else { 0.0 };
        Point {
            position: (position - self.origin) * self.scale,
            normal: normal.extend(in_medium),
        }
    }

    /// Returns the number of lights of a node's left child, the probability to go there, and the spacing of both
    /// children. `None` if no light reaches the point.
    fn step(
        &self,
        point: Point,
        node: usize,
        first: usize,
        count: usize,
        spacing: f64,
    ) -> Option<(usize, f64, [f64; 2])> {
        let are_mixed = first < self.distant && first + count > self.distant;
        let left = if are_mixed { self.distant } else { count / 2 };
        let spacings = match are_mixed {
            true => [left, count - left].map(usual_spacing),
            false => [4_f64.cbrt() * spacing; 2],
        };
        let distant = first < self.distant;
        let [a, b] = [(0, distant), (1, distant && !are_mixed)].map(|(side, is_distant)| {
            let size = LIGHT_NODE_WORDS as usize;
            let child = &self.words[size * (2 * node + side)..][..size];
            match is_distant {
                true => lower(child[3]) / self.scale.powi(2),
                false => estimate(child, point, spacings[side]),
            }
        });
        (a + b > 0.0).then(|| (left, a / (a + b), spacings))
    }
}

/// Returns the usual squared distance of `lights` lights in a box, over the square of its half diagonal.
fn usual_spacing(lights: usize) -> f64 {
    SPACING * (lights as f64).powf(-2.0 / 3.0)
}

/// Returns the float whose upper half is the lower half of a word.
fn lower(word: u32) -> f64 {
    f32::from_bits(word << 16).into()
}

/// Returns the estimate of the irradiance from a node that has no directional lights.
fn estimate(node: &[u32], point: Point, spacing: f64) -> f64 {
    let sides = [node[0], node[1], node[2]];
    let low = DVec3::from(sides.map(|side| f64::from(side & 0xffff))) - point.position;
    let high = DVec3::from(sides.map(|side| f64::from(side >> 16))) - point.position;
    let range = f64::from(f32::from_bits(node[3] & 0xffff_0000));
    let [x, y, z, cosine] = node[4]
        .to_le_bytes()
        .map(|byte| (f64::from(byte as i8) / 127.0).max(-1.0));
    let least2 = low.max(-high).max(DVec3::ZERO).length_squared();
    let greatest2 = low.abs().max(high.abs()).length_squared();
    let half = 0.5 * (high - low);
    let offset = low + half;
    let distance = offset.length().max(1e-10);
    let sine = half.length() / distance;
    let facing = point.normal.dot((offset / distance).extend(1.0)) + sine;
    let is_in_cone = sine >= 1.0 || sine - DVec3::new(x, y, z).dot(offset) / distance >= cosine;
    let is_lit = least2 <= range * range && is_in_cone;
    let near2 = least2.max(spacing * half.length_squared());
    match is_lit {
        true => lower(node[3]) * facing.clamp(BELOW, 1.0) / (near2 * greatest2).sqrt(),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lighting::incident;
    use canopy_render::light::lights::{LIGHT_DIRECTIONAL, LIGHT_POINT, LIGHT_SPOT};
    use glam::Vec3;

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 40) as f32 / (1 << 24) as f32
        }

        fn in_box(&mut self, size: Vec3) -> Vec3 {
            let mut side = || self.next() - 0.5;
            size * Vec3::new(side(), side(), side())
        }
    }

    /// Returns lights of every kind in a box of 20 × 6 × 20 m, most of them point lights.
    fn lights(random: &mut Random, count: usize) -> Vec<Light> {
        let mut lights: Vec<_> = (0..count)
            .map(|index| {
                let cosine: f32 = 0.9 * random.next();
                Light {
                    kind: [LIGHT_SPOT, LIGHT_POINT, LIGHT_POINT, LIGHT_POINT][index % 4],
                    position: random.in_box(Vec3::new(20.0, 6.0, 20.0)).to_array(),
                    direction: random.in_box(Vec3::ONE).normalize().to_array(),
                    intensity: [0.1 + random.next(), 0.5, 0.2],
                    range: if index % 3 == 0 {
                        1.0 + 4.0 * random.next()
                    } else {
                        0.0
                    },
                    spot_scale: 1.0 / (1.0 - cosine),
                    spot_offset: -cosine / (1.0 - cosine),
                    ..Light::default()
                }
            })
            .collect();
        for light in lights.iter_mut().take(3) {
            light.kind = LIGHT_DIRECTIONAL;
            light.intensity = [0.3; 3];
        }
        light_tree::sort(&mut lights);
        lights
    }

    /// Returns the share of the irradiance of each light at a point, without shadows.
    fn arriving(lights: &[Light], position: Vec3, normal: Vec3) -> Vec<f64> {
        let of = |light: &Light| {
            let (to_light, irradiance) = incident(light, position);
            irradiance.dot(DVec3::new(0.2126, 0.7152, 0.0722)) * to_light.dot(normal.as_dvec3()).max(0.0)
        };
        lights.iter().map(of).collect()
    }

    #[test]
    fn every_light_that_reaches_a_point_can_be_drawn() {
        let mut random = Random(1);
        for count in [65, 300, 1001] {
            let lights = lights(&mut random, count);
            let tree = LightTree::new(&lights);
            for _ in 0..200 {
                let position = random.in_box(Vec3::new(24.0, 8.0, 24.0));
                let normal = random.in_box(Vec3::ONE).normalize();
                let chances = tree.chances(position.as_dvec3(), normal.as_dvec3());
                assert!(chances.iter().sum::<f64>() < 1.0 + 1e-9);
                let shares = arriving(&lights, position, normal);
                for ((share, chance), light) in shares.into_iter().zip(&chances).zip(&lights) {
                    assert!(
                        share == 0.0 || *chance > 0.0,
                        "{share} of {light:?} at {position}"
                    );
                }
            }
        }
    }

    #[test]
    fn lights_are_drawn_as_often_as_their_probability_says() {
        let mut random = Random(2);
        let lights = lights(&mut random, 100);
        let tree = LightTree::new(&lights);
        let [position, normal] = [DVec3::new(1.0, -2.0, 3.0), DVec3::Y];
        let mut counts = vec![0.0; lights.len()];
        const DRAWS: u32 = 100_000;
        for draw in 0..DRAWS {
            let u = (f64::from(draw) + 0.5) / f64::from(DRAWS);
            if let Some((index, _)) = tree.draw(position, normal, u) {
                counts[index] += 1.0 / f64::from(DRAWS);
            }
        }
        for (count, chance) in counts.iter().zip(tree.chances(position, normal)) {
            assert!((count - chance).abs() < 1e-4, "{count} of {chance}");
        }
    }

    /// The standard deviation of one draw is at most about the irradiance itself, so there are no fireflies near
    /// lamps.
    #[test]
    fn draws_have_little_variance() {
        let mut random = Random(3);
        let mut lights = vec![Light::default(); 2000];
        for light in &mut lights {
            light.kind = LIGHT_POINT;
            light.position = random.in_box(Vec3::new(100.0, 6.0, 100.0)).to_array();
            light.intensity = [1.0; 3];
        }
        light_tree::sort(&mut lights);
        let tree = LightTree::new(&lights);
        let mut deviations: Vec<f64> = (0..200)
            .map(|_| {
                let position = random.in_box(Vec3::new(90.0, 0.0, 90.0)) - 3.1 * Vec3::Y;
                let chances = tree.chances(position.as_dvec3(), DVec3::Y);
                let shares = arriving(&lights, position, Vec3::Y);
                let mean: f64 = shares.iter().sum();
                let squares = shares.iter().zip(&chances).filter(|(share, _)| **share > 0.0);
                let squares: f64 = squares.map(|(share, chance)| share * share / chance).sum();
                (squares / (mean * mean) - 1.0).sqrt()
            })
            .collect();
        deviations.sort_by(f64::total_cmp);
        println!(
            "{:.2} {:.2} {:.2}",
            deviations[100], deviations[180], deviations[199]
        );
        assert!(deviations[100] < 1.0 && deviations[199] < 3.0, "{deviations:.2?}");
    }
}
