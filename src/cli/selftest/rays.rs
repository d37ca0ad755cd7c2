//! Rays through BVHs compared with brute force in f64, and rays through shared edges of triangles.

use super::{
    checks::{Checks, Verdict},
    implementations::Implementation,
};
use crate::{
    Result,
    accel::{Hit, Lbvh, MeshRange, Query, Ray, Trace, Tree, Work},
    cli::bench::{
        inputs::{Input, TriangleKind, generate},
        trees::allocate,
    },
    gpu::Gpu,
    reference::trace::closest_hit,
};
use glam::Vec3;
use std::collections::HashMap;

/// Length of the rays in metres.
const FAR: f32 = 10.0;

pub(super) fn check(checks: &mut Checks, implementations: &[Implementation]) {
    let brute = Brute::new();
    let sphere = Edges::new();
    for Implementation { name, gpu } in implementations {
        checks.make(name, "rays, every triangle", || brute.check(gpu));
        checks.make(name, "rays, shared edges", || sphere.check(gpu));
    }
}

fn build(gpu: &Gpu, input: &Input) -> Result<Tree> {
    let lbvh = Lbvh::new(gpu);
    let mut tree = allocate(gpu, &lbvh, input, 30)?;
    let mut encoder = gpu.encoder("selftest");
    lbvh.record(gpu, &mut encoder, &mut tree, Work::Rebuild)?;
    gpu.queue.submit([encoder.finish()]);
    Ok(tree)
}

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray {
        origin: origin.to_array(),
        t_min: 0.0,
        direction: direction.to_array(),
        t_max: FAR,
    }
}

/// Rays, and their exact hits: the mesh, its triangle, and the distance in f64.
struct Brute {
    input: Input,
    rays: Vec<Ray>,
    twins: Vec<Option<(u32, u32, f64)>>,
}

impl Brute {
    fn new() -> Self {
        let input = generate(TriangleKind::Meshes, 3000, 12, 4);
        let triangles = input.triangles();
        let rays: Vec<Ray> = directions(2000)
            .enumerate()
            .map(|(number, direction)| {
                let turned = Vec3::new(direction.y, direction.z, direction.x);
                let direction = match number % 20 {
                    // Along an axis, where the slab test multiplies 0 · ∞.
                    0 => Vec3::AXES[number / 20 % 3],
                    _ => -direction,
                };
                ray(2.0 * turned.lerp(-direction, 0.8), direction)
            })
            .collect();
        let twin = |ray: &Ray| {
            let (origin, direction) = (ray.origin.into(), ray.direction.into());
            let (triangle, t) = closest_hit(&triangles, origin, direction, 0.0, FAR.into())?;
            let [mesh, _] = input.triangle_info[triangle];
            let first = input.meshes[mesh as usize].first_triangle;
            Some((mesh, triangle as u32 - first, t))
        };
        let twins = rays.iter().map(twin).collect();
        Self { input, rays, twins }
    }

    fn check(&self, gpu: &Gpu) -> Result<Verdict> {
        let (tree, trace) = (build(gpu, &self.input)?, Trace::new(gpu));
        let closest = trace.run(gpu, &tree, &self.rays, Query::ClosestHit, 1)?;
        for (number, (hit, twin)) in closest.iter().zip(&self.twins).enumerate() {
            if !is_right(hit, *twin) {
                return Ok(Err(format!("ray {number} finds {hit:?}, not {twin:?}")));
            }
        }
        for cutoff in [2, 4, 9, 32] {
            if trace.run(gpu, &tree, &self.rays, Query::ClosestHit, cutoff)? != closest {
                return Ok(Err(format!("other hits with a leaf cutoff of {cutoff}")));
            }
            let any = trace.run(gpu, &tree, &self.rays, Query::AnyHit, cutoff)?;
            let mut pairs = any.iter().zip(&closest);
            if !pairs.all(|(any, hit)| any.is_miss() == hit.is_miss()) {
                return Ok(Err(format!("any hit and closest hit differ, cutoff {cutoff}")));
            }
        }
        let hits = self.twins.iter().flatten().count();
        Ok(Ok(format!("{} rays, {hits} hits", self.rays.len())))
    }
}

fn is_right(hit: &Hit, twin: Option<(u32, u32, f64)>) -> bool {
    match twin {
        None => hit.is_miss(),
        Some((mesh, triangle, t)) => {
            (hit.mesh, hit.triangle) == (mesh, triangle) && (f64::from(hit.t) - t).abs() < 1e-4 * t.max(0.01)
        }
    }
}

/// A closed mesh, and rays from its inside through its corners and edges. Every ray must hit.
struct Edges {
    input: Input,
    rays: Vec<Ray>,
}

impl Edges {
    fn new() -> Self {
        let input = octahedron(12);
        let positions: Vec<Vec3> = input.positions.iter().map(|p| Vec3::from(*p)).collect();
        let middle = Vec3::new(0.05, 0.02, -0.03);
        let mut rays = Vec::new();
        for triangle in &input.indices {
            let [a, b, c] = triangle.map(|i| positions[i as usize]);
            for share in [0.0, 0.25, 0.5, 0.7] {
                for (from, to) in [(a, b), (b, c), (c, a)] {
                    rays.push(ray(middle, (from.lerp(to, share) - middle).normalize()));
                }
            }
        }
        Self { input, rays }
    }

    fn check(&self, gpu: &Gpu) -> Result<Verdict> {
        let (tree, trace) = (build(gpu, &self.input)?, Trace::new(gpu));
        let hits = trace.run(gpu, &tree, &self.rays, Query::AnyHit, 2)?;
        let lost = hits.iter().filter(|hit| hit.is_miss()).count();
        Ok(match lost {
            0 => Ok(format!("{} rays through edges and corners", hits.len())),
            _ => Err(format!("{lost} of {} rays slip through an edge", hits.len())),
        })
    }
}

/// Returns evenly distributed unit vectors.
fn directions(count: u32) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |i| {
        let z = 1.0 - (2.0 * i as f32 + 1.0) / count as f32;
        let angle = i as f32 * 2.399_963;
        let radius = (1.0 - z * z).sqrt();
        Vec3::new(radius * angle.cos(), radius * angle.sin(), z)
    })
}

/// Builds a watertight sphere: an octahedron whose edges are divided into `side` parts.
fn octahedron(side: i32) -> Input {
    let mut input = Input::default();
    let mut numbers = HashMap::new();
    for octant in 0..8 {
        let sign = |bit: i32| if octant >> bit & 1 == 0 { 1 } else { -1 };
        let mut vertex = |a: i32, b: i32| {
            let at = [a * sign(0), b * sign(1), (side - a - b) * sign(2)];
            *numbers.entry(at).or_insert_with(|| {
                let position = Vec3::from_array(at.map(|x| x as f32)).normalize();
                input.positions.push(position.to_array());
                input.positions.len() as u32 - 1
            })
        };
        for a in 0..side {
            for b in 0..side - a {
                input
                    .indices
                    .push([vertex(a, b), vertex(a + 1, b), vertex(a, b + 1)]);
                if a + b + 2 <= side {
                    let corners = [vertex(a + 1, b), vertex(a + 1, b + 1), vertex(a, b + 1)];
                    input.indices.push(corners);
                }
            }
        }
    }
    input.triangle_info = vec![[0, 0]; input.indices.len()];
    input.meshes.push(MeshRange {
        first_triangle: 0,
        triangle_count: input.indices.len() as u32,
        first_vertex: 0,
    });
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_hit_is_detected() {
        let hit = Hit {
            t: 2.0,
            mesh: 1,
            triangle: 7,
            ..Hit::default()
        };
        assert!(is_right(&hit, Some((1, 7, 2.00001))));
        assert!(!is_right(&hit, Some((1, 7, 2.001))), "another distance passes");
        assert!(!is_right(&hit, Some((1, 8, 2.0))), "another triangle passes");
        assert!(!is_right(&hit, Some((0, 7, 2.0))), "another mesh passes");
        assert!(!is_right(&hit, None), "a hit that should miss passes");
    }

    /// Every edge belongs to exactly two triangles.
    #[test]
    fn the_test_ball_is_a_closed_surface() {
        let mesh = octahedron(5);
        assert_eq!(mesh.indices.len(), 8 * 25);
        assert_eq!(mesh.positions.len(), 4 * 25 + 2);
        let edges = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]);
        let mut count = HashMap::new();
        for edge in mesh.indices.iter().flat_map(|triangle| edges(*triangle)) {
            *count.entry(edge).or_insert(0) += 1;
        }
        assert!(count.values().all(|count| *count == 2));
    }
}
