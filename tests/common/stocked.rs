//! BVHs over triangles, boxes and balls, with the objects of their leaves.

use super::{Random, Soup, random_triangles};
use canopy::{
    accel::{Codes, Lbvh, ObjectGeometry, ObjectLbvh, ObjectTree, Objects, Tree, Work},
    gpu::Gpu,
    reference::queries::Solid,
};
use glam::Vec3;
use wgpu::BufferUsages as Usage;

/// A tree, and the objects of its leaves by mesh and number.
pub(crate) struct Stocked {
    pub(crate) tree: Held,
    pub(crate) solids: Vec<Vec<Solid>>,
}

pub(crate) enum Held {
    Triangles(Tree),
    Objects(ObjectTree),
}

impl Stocked {
    pub(crate) fn tree(&self) -> &Tree {
        match &self.tree {
            Held::Triangles(tree) => tree,
            Held::Objects(objects) => &objects.tree,
        }
    }

    pub(crate) fn triangles(gpu: &Gpu, soup: &Soup) -> Self {
        let triangles = soup.triangles();
        let of_mesh = |mesh: &canopy::accel::MeshRange| {
            let first = mesh.first_triangle as usize;
            let of_mesh = &triangles[first..first + mesh.triangle_count as usize];
            of_mesh.iter().map(|t| Solid::Triangle(*t)).collect()
        };
        Self {
            tree: Held::Triangles(soup.build(gpu, &Lbvh::new(gpu))),
            solids: soup.meshes.iter().map(of_mesh).collect(),
        }
    }

    /// A tree over boxes or balls in sets.
    pub(crate) fn objects(gpu: &Gpu, objects: Objects, solids: Vec<Vec<Solid>>) -> Self {
        let rows: Vec<_> = solids.iter().flatten().flat_map(rows).collect();
        let buffer = gpu.buffer_with("objects", &rows, Usage::STORAGE);
        let sets: Vec<_> = solids.iter().map(|set| set.len() as u32).collect();
        let builder = ObjectLbvh::new(gpu);
        let geometry = ObjectGeometry {
            objects,
            buffer: &buffer,
            sets: &sets,
            object_info: None,
        };
        let mut tree = builder.tree(gpu, &geometry, Codes::Bits30).unwrap();
        let mut encoder = gpu.encoder("test");
        builder
            .record(gpu, &mut encoder, &mut tree, Work::Rebuild)
            .unwrap();
        gpu.queue.submit([encoder.finish()]);
        Self {
            tree: Held::Objects(tree),
            solids,
        }
    }

    pub(crate) fn named(&self) -> impl Iterator<Item = ([u32; 2], &Solid)> {
        let sets = (0..).zip(&self.solids);
        sets.flat_map(|(set, solids)| (0..).zip(solids).map(move |(i, solid)| ([set, i], solid)))
    }
}

/// An object in the format of the builder.
pub(crate) fn rows(solid: &Solid) -> Vec<[f32; 4]> {
    match solid {
        Solid::Box(lower, upper) => vec![lower.extend(7.0).into(), upper.extend(7.0).into()],
        Solid::Ball(centre, radius) => vec![centre.extend(*radius).into()],
        Solid::Triangle(_) => Vec::new(),
    }
}

pub(crate) fn boxes(count: usize, size: f32, random: &mut Random) -> Vec<Solid> {
    let solid = |_| {
        let at = random.cube();
        Solid::Box(at, at + size * random.cube().abs())
    };
    (0..count).map(solid).collect()
}

pub(crate) fn balls(count: usize, size: f32, random: &mut Random) -> Vec<Solid> {
    let solid = |i| Solid::Ball(random.cube(), if i % 3 == 0 { 0.0 } else { size * random.unit() });
    (0..count).map(solid).collect()
}

/// Triangles, boxes and balls of several sets.
pub(crate) fn all_kinds(gpu: &Gpu, count: usize, seed: u64) -> [Stocked; 3] {
    let mut random = Random(seed);
    let size = 1.5 / (count as f32).cbrt();
    let soup = Soup::random(count, seed)
        .mesh([])
        .mesh(random_triangles(count / 3, seed + 1));
    let sets = |of: &mut dyn FnMut(usize) -> Vec<Solid>| vec![of(count), of(0), of(count / 3)];
    let of_boxes = sets(&mut |n| boxes(n, size, &mut random));
    let of_balls = sets(&mut |n| balls(n, size, &mut random));
    [
        Stocked::triangles(gpu, &soup),
        Stocked::objects(gpu, Objects::Boxes, of_boxes),
        Stocked::objects(gpu, Objects::Balls, of_balls),
    ]
}

/// Distance by which f32 rounding may affect contact, for coordinates up to 2.
pub(crate) const CLOSE: f64 = 2e-6;

/// A closed surface around the origin: a cube whose faces are grids, pushed out to a ball of radius 1.
pub(crate) fn sphere(cells: i32) -> Vec<[Vec3; 3]> {
    let mut triangles = Vec::new();
    for (axis, sign) in [0, 1, 2].into_iter().flat_map(|axis| [(axis, 1.0), (axis, -1.0)]) {
        let corner = |u: i32, v: i32| {
            let at = |i: i32| (2 * i - cells) as f32 / cells as f32;
            let mut p = [0.0; 3];
            p[axis] = sign;
            p[(axis + 1) % 3] = at(u) * sign;
            p[(axis + 2) % 3] = at(v);
            Vec3::from(p).normalize()
        };
        for u in 0..cells {
            for v in 0..cells {
                let [a, b, c, d] =
                    [(u, v), (u + 1, v), (u + 1, v + 1), (u, v + 1)].map(|(u, v)| corner(u, v));
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    triangles
}
