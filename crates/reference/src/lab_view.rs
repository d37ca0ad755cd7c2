//! CPU references of `lab_rays` and `lab_show`: rays of the channel `lab`, and the image of their hits.

use canopy_bvh::accel::layout::{BVH_MISS, Hit, Ray, Visits};
use canopy_lab::data::{LabHit, LabRayParams, LabShowParams};

use glam::{UVec2, Vec2, Vec3};

/// View of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Eye {
    /// Position of the eye.
    pub at: Vec3,
    /// Direction to the centre of the picture, and vectors from the centre to its right and upper edges.
    pub middle_right_up: [Vec3; 3],
    /// Width and height in pixels.
    pub size: [u32; 2],
}

/// Visible triangle and point of a pixel.
#[derive(Debug, Clone, Copy)]
pub struct VisibleTriangle {
    /// Visible point.
    pub position: Vec3,
    /// Corners of the triangle.
    pub triangle: [Vec3; 3],
    /// Unit vector to the eye.
    pub to_eye: Vec3,
}

/// Placeholder for a pixel that casts no ray.
pub const GAP: Ray = Ray {
    origin: [0.0; 3],
    t_min: 0.0,
    direction: [0.0, 0.0, 1.0],
    t_max: 0.0,
};

/// Returns the pixels of the tiles that cover the picture, in the order of the rays. Includes pixels outside
/// the picture.
pub fn pixels([width, height]: [u32; 2]) -> impl Iterator<Item = UVec2> {
    let columns = width.div_ceil(8);
    let tiles = columns * height.div_ceil(8);
    (0..64 * tiles).map(move |i| {
        let (tile, within) = (i / 64, i % 64);
        UVec2::new(tile % columns * 8 + within % 8, tile / columns * 8 + within / 8)
    })
}

/// Returns the ray from the eye through the centre of a pixel.
pub fn primary(eye: &Eye, params: &LabRayParams, pixel: UVec2) -> Ray {
    if !is_inside(pixel, eye.size) {
        return GAP;
    }
    let [middle, right, up] = eye.middle_right_up;
    let size = Vec2::new(eye.size[0] as f32, eye.size[1] as f32);
    let ndc = (pixel.as_vec2() + 0.5) / size * Vec2::new(2.0, -2.0) + Vec2::new(-1.0, 1.0);
    let origin = eye.at + ndc.x * Vec3::from(params.right) + ndc.y * Vec3::from(params.up);
    Ray {
        origin: origin.to_array(),
        t_min: 0.0,
        direction: (middle + ndc.x * right + ndc.y * up).normalize().to_array(),
        t_max: params.far,
    }
}

/// Returns the ray from the visible point towards a light, given its direction and distance.
pub fn shadow(seen: Option<&VisibleTriangle>, params: &LabRayParams, light: (Vec3, f32)) -> Ray {
    let Some(seen) = seen else {
        return GAP;
    };
    let [a, b, c] = seen.triangle;
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let normal = if normal.dot(seen.to_eye) < 0.0 {
        -normal
    } else {
        normal
    };
    if normal.dot(light.0) <= 0.0 {
        return GAP;
    }
    Ray {
        origin: (seen.position + params.step * normal).to_array(),
        t_min: 0.0,
        direction: light.0.to_array(),
        t_max: light.1.min(params.far),
    }
}

/// Returns the image in the order of the rays, and six sums over the rays that are cast. The sums are the
/// number of rays, hits, visited nodes, tested triangles, steps of the slowest ray in each group of 32, and
/// wrong hits. `normals` are the normals of the triangles, in the order of hits. `greys` are the levels of
/// surfaces that face the eye or are lit, of surfaces seen edge-on, and of surfaces in shadow. `kinds` are
/// the values of `LabShow` for counts and for divergence.
pub fn show(
    params: &LabShowParams,
    (rays, hits, visits): (&[Ray], &[LabHit], &[Visits]),
    normals: &[Vec3],
    own: &[Hit],
    greys: [f32; 3],
    kinds: (&[u32], u32),
) -> (Vec<[f32; 4]>, [u64; 6]) {
    let [lit, grazing, blocked] = greys;
    let mut sums = [0; 6];
    let mut shown = Vec::with_capacity(rays.len());
    for first in (0..rays.len()).step_by(32) {
        let sent = |i: usize| rays[i].t_max > rays[i].t_min;
        let steps = |i: usize| match sent(i) {
            true => visits[i].nodes + visits[i].triangles,
            false => 0,
        };
        let group = || first..first + 32;
        let slowest = group().map(steps).max().unwrap_or(0);
        let mean = group().map(steps).sum::<u32>() as f32 / 32.0;
        sums[4] += u64::from(slowest);
        for i in group() {
            if !sent(i) {
                shown.push([0.0; 4]);
                continue;
            }
            let is_hit = hits[i].leaf != BVH_MISS;
            let is_wrong = params.is_checked == 1 && {
                let far = 1e-4 * own[i].t.abs() + params.slack;
                let is_far = (hits[i].t - own[i].t).abs() > far;
                is_hit == own[i].is_miss() || (is_hit && params.is_shadow == 0 && is_far)
            };
            let one = [
                1,
                u64::from(is_hit),
                visits[i].nodes.into(),
                visits[i].triangles.into(),
                0,
                u64::from(is_wrong),
            ];
            for (sum, one) in sums.iter_mut().zip(one) {
                *sum += one;
            }
            let grey = |grey: f32| [grey, grey, grey, 1.0];
            shown.push(if kinds.0.contains(&params.show) {
                let counts = [visits[i].nodes, visits[i].triangles].map(|count| count as f32);
                [counts[0], counts[1], slowest as f32, 1.0]
            } else if params.show == kinds.1 {
                let idle = 100.0 * (1.0 - mean / (slowest as f32).max(1.0));
                [if slowest > 0 { idle } else { 0.0 }, slowest as f32, mean, 1.0]
            } else if is_wrong {
                [1.0, 0.0, 0.0, 1.0]
            } else if params.is_shadow == 1 {
                grey(if is_hit { blocked } else { lit })
            } else if is_hit {
                let normal = normals[hits[i].leaf as usize];
                let facing = normal.dot(rays[i].direction.into()).abs().min(1.0);
                grey(grazing + facing * (lit - grazing))
            } else {
                [0.0; 4]
            });
        }
    }
    (shown, sums)
}

fn is_inside(pixel: UVec2, size: [u32; 2]) -> bool {
    pixel.x < size[0] && pixel.y < size[1]
}
