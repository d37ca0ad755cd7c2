//! Binary tree over the lights of a frame that has too many for every pixel to look at. Shaders draw lights from
//! it (light/light_table.wgsl).
//!
//! Directional lights come first, then the others. A node halves its lights across the longest side of their box.
//! The root separates both kinds if there are both. So nodes need no pointers: inner nodes are in depth-first
//! order, and a subtree of n lights has n − 1. Each stores its two children side by side.

use super::lights::{LIGHT_DIRECTIONAL, outer_angle};
use crate::layout::Light;
use canopy_bvh::gpu::library::wgsl_constants;
use glam::{Quat, UVec3, Vec3, Vec4};
use std::f32::consts::PI;

wgsl_constants! {
    /// Words of a light in the table of a frame's lights.
    pub const LIGHT_WORDS: u32 = (size_of::<Light>() / 4) as u32;
    /// Words of a node. Three have the box around its lights on a grid, one side per axis, as two numbers of 16
    /// bits. The next has the upper halves of two floats: luminous intensity in candela, or illuminance in lux, and
    /// the largest range in units of the grid. In the last, four signed bytes are the axis of the cone of directions
    /// in which it shines, and the cosine of the cone's angle.
    pub const LIGHT_NODE_WORDS: u32 = 5;
    /// Number of lights that are drawn from the tree for a choice of one of them.
    pub const LIGHT_DRAWS_FOR_ONE: u32 = 2;
}

/// Largest coordinate on the grid of boxes.
const GRID_MAX: f32 = 65535.0;
/// Margin of a cone's cosine, for the rounding of its axis and of itself.
const CONE_ROUNDING: f32 = 0.02;
/// Upper bound of a light's strength, so that sums are finite.
const STRENGTH_MAX: f32 = 1e30;

/// Returns the number of words of a table of lights and their tree.
pub fn words_of(lights: u32) -> usize {
    let lights = lights as usize;
    LIGHT_WORDS as usize * lights + LIGHT_NODE_WORDS as usize * 2 * lights.saturating_sub(1)
}

/// Returns the number of directional lights.
pub fn distant(lights: &[Light]) -> usize {
    let is_distant = |light: &&Light| light.kind == LIGHT_DIRECTIONAL;
    lights.iter().filter(is_distant).count()
}

/// Sorts lights in the order of the tree's leaves.
pub fn sort(lights: &mut [Light]) {
    lights.sort_by_key(|light| light.kind != LIGHT_DIRECTIONAL);
    let distant = distant(lights);
    sort_placed(&mut lights[distant..]);
}

fn sort_placed(lights: &mut [Light]) {
    if lights.len() < 2 {
        return;
    }
    let middle = lights.len() / 2;
    let (low, high) = bounds(lights);
    let axis = (high - low).max_position();
    lights.select_nth_unstable_by(middle, |a, b| a.position[axis].total_cmp(&b.position[axis]));
    let (before, after) = lights.split_at_mut(middle);
    sort_placed(before);
    sort_placed(after);
}

fn bounds(lights: &[Light]) -> (Vec3, Vec3) {
    let positions = || lights.iter().map(|light| Vec3::from(light.position));
    (
        positions().fold(Vec3::INFINITY, Vec3::min),
        positions().fold(Vec3::NEG_INFINITY, Vec3::max),
    )
}

/// Grid of the boxes of a tree.
#[derive(Debug, Clone, Copy)]
pub struct LightGrid {
    /// Position of the grid's origin in metres.
    origin: Vec3,
    /// Units per metre.
    scale: f32,
}

impl LightGrid {
    /// Returns the grid of lights that are sorted.
    pub fn new(lights: &[Light]) -> Self {
        let (low, high) = match &lights[distant(lights)..] {
            [] => (Vec3::ZERO, Vec3::ZERO),
            placed => bounds(placed),
        };
        // Lights at one point have a box too.
        let least = 1e-4 * low.abs().max(high.abs()).max_element() + 1e-4;
        Self {
            origin: low,
            scale: (GRID_MAX - 1.0) / (high - low).max_element().max(least),
        }
    }

    /// Returns the uniform of the grid.
    pub fn uniform(self) -> [f32; 4] {
        self.origin.extend(self.scale).to_array()
    }

    /// Returns the words of the tree over lights that are sorted. There is at least one.
    pub fn tree(self, lights: &[Light]) -> Vec<u32> {
        let mut words = vec![0; LIGHT_NODE_WORDS as usize * 2 * (lights.len() - 1)];
        self.write(lights, distant(lights), 0, &mut words);
        words
    }

    /// Writes the inner nodes of the subtree of `lights`. The first `distant` are directional. Returns the subtree's
    /// root.
    fn write(self, lights: &[Light], distant: usize, node: usize, words: &mut [u32]) -> Node {
        if let [light] = lights {
            return Node::new(light);
        }
        let are_mixed = distant > 0 && distant < lights.len();
        let left = if are_mixed { distant } else { lights.len() / 2 };
        let (before, after) = lights.split_at(left);
        let children = [
            self.write(before, 0, node + 1, words),
            self.write(after, 0, node + left, words),
        ];
        let size = LIGHT_NODE_WORDS as usize;
        for (child, at) in children.iter().zip(2 * node..) {
            words[size * at..size * (at + 1)].copy_from_slice(&self.words(child));
        }
        children[0].union(&children[1])
    }

    fn words(self, node: &Node) -> [u32; LIGHT_NODE_WORDS as usize] {
        let place =
            |point: Vec3| ((point - self.origin) * self.scale).clamp(Vec3::ZERO, Vec3::splat(GRID_MAX));
        let low: UVec3 = place(node.low).floor().as_uvec3();
        // A box has a volume, so that no point is at a distance of zero from all of it.
        let high = (place(node.high) + 1.0).floor().as_uvec3();
        let [x, y, z] = (low | (high << 16_u32)).to_array();
        let halves = [node.strength, node.range * self.scale].map(upper_half);
        // A rounded axis may be longer than 1, so a cone of all directions has none.
        let cone = match node.angle < PI {
            true => node
                .axis
                .extend(node.angle.cos() - CONE_ROUNDING)
                .max(Vec4::NEG_ONE),
            false => Vec4::NEG_W,
        };
        let bytes = (127.0 * cone).round().to_array().map(|value| value as i8 as u8);
        [x, y, z, halves[0] | halves[1] << 16, u32::from_le_bytes(bytes)]
    }
}

/// Returns the upper half of a float that is not negative, rounded up.
fn upper_half(value: f32) -> u32 {
    (value.to_bits() + 0xffff) >> 16
}

/// Lights of a subtree. Positions have no meaning for directional lights.
#[derive(Debug, Clone, Copy)]
struct Node {
    low: Vec3,
    high: Vec3,
    strength: f32,
    range: f32,
    axis: Vec3,
    /// Half the angle of the cone about `axis`, in radians.
    angle: f32,
}

impl Node {
    fn new(light: &Light) -> Self {
        let luminance = Vec3::from(light.intensity).dot(Vec3::new(0.2126, 0.7152, 0.0722));
        Self {
            low: light.position.into(),
            high: light.position.into(),
            strength: luminance.clamp(0.0, STRENGTH_MAX),
            range: if light.range > 0.0 {
                light.range
            } else {
                f32::INFINITY
            },
            axis: light.direction.into(),
            angle: outer_angle(light).unwrap_or(PI),
        }
    }

    fn union(&self, other: &Self) -> Self {
        let (axis, angle) = self.cone_with(other);
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            strength: (self.strength + other.strength).min(STRENGTH_MAX),
            range: self.range.max(other.range),
            axis,
            angle,
        }
    }

    /// Returns axis and angle of the cone around the cones of two nodes.
    fn cone_with(&self, other: &Self) -> (Vec3, f32) {
        let (wide, narrow) = if self.angle >= other.angle {
            (self, other)
        } else {
            (other, self)
        };
        let between = wide.axis.angle_between(narrow.axis);
        if wide.angle >= PI || between + narrow.angle <= wide.angle {
            return (wide.axis, wide.angle);
        }
        let angle = 0.5 * (wide.angle + between + narrow.angle);
        if angle >= PI {
            return (wide.axis, PI);
        }
        let across = wide.axis.cross(narrow.axis).try_normalize();
        let across = across.unwrap_or_else(|| wide.axis.any_orthonormal_vector());
        (
            Quat::from_axis_angle(across, angle - wide.angle) * wide.axis,
            angle,
        )
    }
}
