//! Orders of the rays in a list. The threads of a kernel take rays in that order.

use canopy_bvh::accel::Ray;
use glam::Vec3;

/// Order of rays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RayOrder {
    /// Original order, with placeholders for pixels without a ray.
    Given,
    /// Original order without placeholders.
    Compacted,
    /// Sorted by the octant of the direction and then by the Morton code of the origin (Moon et al. 2010,
    /// simplified), without placeholders.
    Sorted,
    /// Random order without placeholders.
    Shuffled,
}

impl RayOrder {
    /// All orders.
    pub const ALL: [Self; 4] = [Self::Given, Self::Compacted, Self::Sorted, Self::Shuffled];

    /// Returns the name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Compacted => "compacted",
            Self::Sorted => "sorted",
            Self::Shuffled => "shuffled",
        }
    }

    /// Copies the rays in this order.
    pub fn of(self, rays: &[Ray]) -> Vec<Ray> {
        if self == Self::Given {
            return rays.to_vec();
        }
        let mut rays: Vec<Ray> = rays.iter().copied().filter(is_sent).collect();
        match self {
            Self::Given | Self::Compacted => {}
            Self::Sorted => sort(&mut rays),
            Self::Shuffled => shuffle(&mut rays),
        }
        rays
    }
}

/// True if `ray` is not a placeholder for a pixel without a ray, whose `t_max` is not above its `t_min`.
pub fn is_sent(ray: &Ray) -> bool {
    ray.t_max > ray.t_min
}

fn sort(rays: &mut [Ray]) {
    let origins = || rays.iter().map(|ray| Vec3::from(ray.origin));
    let lower = origins().fold(Vec3::INFINITY, Vec3::min);
    let upper = origins().fold(Vec3::NEG_INFINITY, Vec3::max);
    let extent = (upper - lower).max(Vec3::splat(f32::MIN_POSITIVE));
    rays.sort_by_cached_key(|ray| {
        let octant = ray.direction.iter().enumerate();
        let octant: u64 = octant.map(|(axis, part)| u64::from(*part < 0.0) << axis).sum();
        let cell = (Vec3::from(ray.origin) - lower) / extent * 1023.0;
        let code: u64 = (0..3).map(|axis| spread(cell[axis] as u64) << axis).sum();
        octant << 30 | code
    });
}

/// Inserts two zeros between each of ten bits.
fn spread(number: u64) -> u64 {
    (0..10).map(|bit| (number >> bit & 1) << (3 * bit)).sum()
}

/// Fisher-Yates shuffle with a fixed seed (PCG, O'Neill 2014).
fn shuffle(rays: &mut [Ray]) {
    let mut state = 1_u64;
    for last in (1..rays.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let word = ((state >> 18 ^ state) >> 27) as u32;
        let word = word.rotate_right((state >> 59) as u32);
        rays.swap(last, ((u64::from(word) * (last as u64 + 1)) >> 32) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ray_orders_are_permutations() {
        let ray = |i: usize| Ray {
            origin: [(i * 7 % 40) as f32, 1.0, 0.0],
            t_min: 0.0,
            direction: [1.0, if i.is_multiple_of(2) { 1.0 } else { -1.0 }, 0.5],
            t_max: if i.is_multiple_of(5) { -1.0 } else { 9.0 },
        };
        let rays: Vec<Ray> = (0..40).map(ray).collect();
        assert_eq!(RayOrder::Given.of(&rays), rays);
        let compacted = RayOrder::Compacted.of(&rays);
        assert_eq!(compacted.len(), 32);
        let key = |ray: &Ray| ray.origin[0] as u32;
        for order in [RayOrder::Sorted, RayOrder::Shuffled] {
            let mut ordered = order.of(&rays);
            assert_ne!(ordered, compacted);
            let halves = ordered.iter().map(|ray| ray.direction[1] < 0.0);
            assert_eq!(halves.is_sorted(), order == RayOrder::Sorted);
            ordered.sort_by_key(key);
            let mut expected = compacted.clone();
            expected.sort_by_key(key);
            assert_eq!(ordered, expected);
        }
    }
}
