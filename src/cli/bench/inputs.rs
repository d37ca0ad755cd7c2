//! Generated triangles. They are seeded and identical on every machine, because the code only uses arithmetic
//! that IEEE 754 defines exactly.

use crate::{
    accel::MeshRange,
    scene::{Material, Mesh, Node, Primitive, Scene, Transform},
};
use clap::ValueEnum;
use glam::{DMat4, Vec2, Vec3};

/// Kind of generated triangles. All lie within ±2 of the origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub enum TriangleKind {
    /// Small triangles, evenly distributed in a cube.
    Soup,
    /// Height field with shared vertices.
    Terrain,
    /// Spheres on a lattice, each its own mesh.
    Meshes,
    /// Long, thin triangles of all sizes and directions, a bad case for Morton codes.
    Slivers,
    /// Triangles with the same centroid and therefore the same Morton code.
    Equal,
    /// Dense figure in a coarse world, as one mesh. Nine of ten triangles lie in a ball of a thousandth of
    /// the extent.
    Dense,
    /// Soup in which one of a hundred triangles spans the whole scene.
    Long,
}

impl TriangleKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Soup,
        Self::Terrain,
        Self::Meshes,
        Self::Slivers,
        Self::Equal,
        Self::Dense,
        Self::Long,
    ];

    /// Returns the name on the command line and of a run.
    pub fn name(self) -> &'static str {
        match self {
            Self::Soup => "soup",
            Self::Terrain => "terrain",
            Self::Meshes => "meshes",
            Self::Slivers => "slivers",
            Self::Equal => "equal",
            Self::Dense => "dense",
            Self::Long => "long",
        }
    }
}

/// Merged world-space triangles, the input of the BVH builder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Input {
    /// World positions in metres.
    pub positions: Vec<[f32; 3]>,
    /// Vertices of each triangle, as indices into `positions`.
    pub indices: Vec<[u32; 3]>,
    /// Mesh and payload of each triangle.
    pub triangle_info: Vec<[u32; 2]>,
    /// Range of each mesh.
    pub meshes: Vec<MeshRange>,
}

/// Generates `triangles` triangles of a kind. Only [`TriangleKind::Meshes`] creates more than one mesh. It
/// divides the triangles evenly among `meshes` meshes.
pub fn generate(kind: TriangleKind, triangles: u32, meshes: u32, seed: u64) -> Input {
    let mut random = Random(seed);
    let mut input = Input::default();
    match kind {
        TriangleKind::Soup => {
            let size = 2.0 / (triangles.max(1) as f32).cbrt();
            input.loose(triangles, || random.triangle(size));
        }
        TriangleKind::Terrain => {
            let seed = random.bits();
            input.grid(triangles, |uv| {
                let height = 0.5 * fractal_noise(uv * 8.0, seed);
                Vec3::new(2.0 * uv.x - 1.0, height, 2.0 * uv.y - 1.0)
            });
        }
        TriangleKind::Meshes => {
            let side = (meshes as f32).cbrt().ceil().max(1.0) as u32;
            for mesh in 0..meshes {
                let share = triangles / meshes + u32::from(mesh < triangles % meshes);
                let cell = [mesh % side, mesh / side % side, mesh / side / side];
                let at = Vec3::from(cell.map(|i| i as f32)) + 0.5 + 0.2 * random.cube();
                let center = at * (2.0 / side as f32) - 1.0;
                let radius = (0.3 + 0.3 * random.unit()) / side as f32;
                input.grid(share, |uv| center + radius * sphere(uv));
            }
        }
        TriangleKind::Slivers => input.loose(triangles, || {
            let at = random.cube();
            let length = random.power_of_two(10) * (1.0 + random.unit());
            let along = 0.5 * length * random.cube().normalize_or(Vec3::X);
            let width = length * random.power_of_two(5) / 16.0;
            [at - along, at + along, at + width * random.cube()]
        }),
        TriangleKind::Equal => input.loose(triangles, || {
            // On each axis the corners are −h, 0 and h, so that the centroid and the centre of the box are
            // exactly at the origin.
            let mut h = random.cube() * random.power_of_two(8);
            h += Vec3::splat(1e-6).copysign(h);
            [
                Vec3::new(-h.x, 0.0, h.z),
                Vec3::new(0.0, h.y, -h.z),
                Vec3::new(h.x, -h.y, 0.0),
            ]
        }),
        TriangleKind::Dense => {
            let size = 2.0 / (triangles.max(1) as f32).cbrt();
            let mut number = 0;
            input.loose(triangles, || {
                number += 1;
                let scale = if number % 10 == 0 { 1.0 } else { 1e-3 };
                random.triangle(size).map(|corner| scale * corner + 0.3)
            });
        }
        TriangleKind::Long => {
            let size = 2.0 / (triangles.max(1) as f32).cbrt();
            let mut number = 0;
            input.loose(triangles, || {
                number += 1;
                if number % 100 > 0 {
                    return random.triangle(size);
                }
                let [from, to] = [random.cube(), random.cube()];
                [from, to, to + size * random.cube()]
            });
        }
    }
    input
}

impl Input {
    /// Adds a mesh of `count` triangles without shared vertices.
    fn loose(&mut self, count: u32, mut triangle: impl FnMut() -> [Vec3; 3]) {
        let first = self.positions.len() as u32;
        self.positions.reserve_exact(3 * count as usize);
        for _ in 0..count {
            self.positions.extend(triangle().map(|corner| corner.to_array()));
        }
        self.mesh(
            first,
            count,
            (0..count).map(|i| [0, 1, 2].map(|corner| first + 3 * i + corner)),
        );
    }

    /// Adds a mesh of `count` triangles, a grid over the unit square with two triangles per cell. `surface`
    /// maps it to positions.
    fn grid(&mut self, count: u32, surface: impl Fn(Vec2) -> Vec3) {
        let first = self.positions.len() as u32;
        let cells = count.div_ceil(2);
        let columns = (cells as f32).sqrt().ceil().max(1.0) as u32;
        let rows = cells.div_ceil(columns);
        let stride = columns + 1;
        if count > 0 {
            for vertex in 0..stride * (rows + 1) {
                let corner = Vec2::new((vertex % stride) as f32, (vertex / stride) as f32);
                let uv = corner / Vec2::new(columns as f32, rows as f32);
                self.positions.push(surface(uv).to_array());
            }
        }
        self.mesh(
            first,
            count,
            (0..count).map(|triangle| {
                let cell = triangle / 2;
                let at = first + cell / columns * stride + cell % columns;
                if triangle % 2 == 0 {
                    [at, at + stride, at + 1]
                } else {
                    [at + 1, at + stride, at + stride + 1]
                }
            }),
        );
    }

    fn mesh(&mut self, first_vertex: u32, count: u32, triangles: impl Iterator<Item = [u32; 3]>) {
        let number = self.meshes.len() as u32;
        self.meshes.push(MeshRange {
            first_triangle: self.indices.len() as u32,
            triangle_count: count,
            first_vertex,
        });
        self.indices.extend(triangles);
        self.triangle_info.resize(self.indices.len(), [number, 0]);
    }

    /// Returns the corners of every triangle.
    pub fn triangles(&self) -> Vec<[Vec3; 3]> {
        let corner = |vertex: u32| Vec3::from(self.positions[vertex as usize]);
        let triangles = self.indices.iter();
        triangles.map(|triangle| triangle.map(corner)).collect()
    }

    /// Divides the triangles, in the same order, into `meshes` meshes of equal size.
    pub fn divided(mut self, meshes: u32) -> Self {
        let count = self.indices.len() as u32;
        self.meshes.clear();
        let mut first_triangle = 0;
        for mesh in 0..meshes {
            let triangle_count = count / meshes + u32::from(mesh < count % meshes);
            let range = first_triangle as usize..(first_triangle + triangle_count) as usize;
            self.triangle_info[range].fill([mesh, 0]);
            self.meshes.push(MeshRange {
                first_triangle,
                triangle_count,
                first_vertex: 0,
            });
            first_triangle += triangle_count;
        }
        self
    }

    /// Converts the triangles to a scene with a node per mesh and one plain material. Expects the input as
    /// [`generate`] returns it.
    pub fn scene(&self) -> Scene {
        let normals = self.normals();
        let mut scene = Scene {
            materials: vec![Material {
                base_color: glam::Vec4::new(0.7, 0.7, 0.7, 1.0),
                metallic: 0.0,
                double_sided: true,
                ..Material::default()
            }],
            ..Scene::default()
        };
        for (number, range) in self.meshes.iter().enumerate() {
            let next = self.meshes.get(number + 1);
            let end = next.map_or(self.positions.len(), |next| next.first_vertex as usize);
            let vertices = range.first_vertex as usize..end;
            let first = range.first_triangle as usize;
            let triangles = first..first + range.triangle_count as usize;
            let normals = normals[vertices.clone()].to_vec();
            scene.meshes.push(Mesh {
                name: String::new(),
                primitives: vec![Primitive {
                    tangents: normals
                        .iter()
                        .map(|n| n.any_orthonormal_vector().extend(1.0))
                        .collect(),
                    positions: self.positions[vertices].iter().map(|p| Vec3::from(*p)).collect(),
                    normals,
                    indices: self.indices[triangles]
                        .iter()
                        .map(|t| t.map(|vertex| vertex - range.first_vertex))
                        .collect(),
                    ..Primitive::default()
                }],
            });
            scene.nodes.push(Node {
                name: String::new(),
                parent: None,
                transform: Transform::Matrix(DMat4::IDENTITY),
                mesh: Some(number),
                skin: None,
                weights: Vec::new(),
                light: None,
                camera: None,
                ..Node::default()
            });
        }
        scene
    }

    /// Computes area-weighted unit normals of the vertices.
    fn normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.positions.len()];
        for triangle in &self.indices {
            let [a, b, c] = triangle.map(|vertex| Vec3::from(self.positions[vertex as usize]));
            // Edges are short, so they are scaled to keep their product from underflowing.
            let doubled_area = ((b - a) * 1024.0).cross((c - a) * 1024.0);
            for vertex in triangle {
                normals[*vertex as usize] += doubled_area;
            }
        }
        normals.iter().map(|n| n.normalize_or(Vec3::Y)).collect()
    }
}

/// Maps the unit square to the unit sphere (octahedral map, Meyer et al. 2010). Leaves out the border, where
/// the square would meet itself.
fn sphere(uv: Vec2) -> Vec3 {
    let p = 0.95 * (2.0 * uv - 1.0);
    let z = 1.0 - p.x.abs() - p.y.abs();
    let folded = (Vec2::ONE - Vec2::new(p.y.abs(), p.x.abs())).copysign(p);
    let xy = if z < 0.0 { folded } else { p };
    xy.extend(z).normalize_or(Vec3::Z)
}

/// Returns value noise in five octaves, approximately 0 to 1.
fn fractal_noise(at: Vec2, seed: u32) -> f32 {
    let octave = |i: u32| {
        let scale = (1 << i) as f32;
        noise(at * scale, seed.wrapping_add(i)) * 0.5 / scale
    };
    (0..5).map(octave).sum()
}

/// Interpolates smoothly between random values at integer positions.
fn noise(at: Vec2, seed: u32) -> f32 {
    let corner = at.floor();
    let t = at - corner;
    let t = t * t * (Vec2::splat(3.0) - 2.0 * t);
    let value = |x: f32, y: f32| {
        let lattice = ((corner.x + x) as u32) ^ (((corner.y + y) as u32) << 16);
        Random((u64::from(seed) << 32) | u64::from(lattice)).unit()
    };
    let top = value(0.0, 0.0) * (1.0 - t.x) + value(1.0, 0.0) * t.x;
    let bottom = value(0.0, 1.0) * (1.0 - t.x) + value(1.0, 1.0) * t.x;
    top * (1.0 - t.y) + bottom * t.y
}

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Random(
    /// State, initially the seed.
    pub u64,
);

impl Random {
    /// Returns 32 uniformly random bits.
    pub fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }

    /// Returns a uniform number in 0..1.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / (1 << 24) as f32
    }

    /// Returns a uniform point in the cube of ±1.
    pub fn cube(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    /// Returns a triangle with one corner in the cube of ±1 and two others within `size` of it on each axis.
    fn triangle(&mut self, size: f32) -> [Vec3; 3] {
        let at = self.cube();
        [at, at + size * self.cube(), at + size * self.cube()]
    }

    /// Returns one of the `count` numbers 1, ½, ¼, …, with equal probability.
    fn power_of_two(&mut self, count: u32) -> f32 {
        1.0 / (1 << (self.bits() % count)) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_have_the_requested_size_and_are_reproducible() {
        for kind in TriangleKind::ALL {
            for triangles in [0, 1, 2, 7, 600, 1001] {
                let input = generate(kind, triangles, 10, 3);
                assert_eq!(input, generate(kind, triangles, 10, 3));
                assert_eq!(input.indices.len(), triangles as usize);
                assert_eq!(input.triangle_info.len(), triangles as usize);
                let vertices = input.positions.len() as u32;
                assert!(input.indices.iter().flatten().all(|v| *v < vertices));
                let meshes = if kind == TriangleKind::Meshes { 10 } else { 1 };
                assert_eq!(input.meshes.len(), meshes);
                let counts = input.meshes.iter().map(|mesh| mesh.triangle_count);
                assert_eq!(counts.sum::<u32>(), triangles);
                let coordinates = input.positions.iter().flatten();
                assert!(coordinates.clone().all(|x| x.abs() <= 3.0), "{kind:?}");
            }
            let [a, b] = [1, 2].map(|seed| generate(kind, 100, 4, seed));
            assert_ne!(a, b, "{kind:?} does not depend on its seed");
        }
    }

    #[test]
    fn no_triangle_is_degenerate() {
        for kind in TriangleKind::ALL {
            let input = generate(kind, 1000, 3, 5);
            for triangle in &input.indices {
                let [a, b, c] = triangle.map(|v| Vec3::from(input.positions[v as usize]));
                assert!((b - a).cross(c - a).length() > 0.0, "{kind:?} {a} {b} {c}");
            }
        }
    }

    #[test]
    fn equal_inputs_have_coincident_centroids() {
        let input = generate(TriangleKind::Equal, 500, 1, 1);
        for triangle in input.positions.chunks(3) {
            let corners: Vec<Vec3> = triangle.iter().map(|p| Vec3::from(*p)).collect();
            assert_eq!(corners.iter().sum::<Vec3>(), Vec3::ZERO);
            let min = corners[0].min(corners[1]).min(corners[2]);
            let max = corners[0].max(corners[1]).max(corners[2]);
            assert_eq!(min + max, Vec3::ZERO);
        }
    }

    #[test]
    fn division_into_meshes_keeps_the_triangles() {
        let whole = generate(TriangleKind::Meshes, 1003, 100, 1);
        let parts = whole.clone().divided(10);
        assert_eq!(parts.indices, whole.indices);
        assert_eq!(parts.meshes.len(), 10);
        assert_eq!(parts.meshes[9].first_triangle, 903);
        assert_eq!(parts.triangle_info[1002], [9, 0]);
    }

    #[test]
    fn generated_scenes_hold_every_triangle() {
        let input = generate(TriangleKind::Meshes, 101, 7, 1);
        let scene = input.scene();
        let primitives = scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
        assert_eq!(primitives.clone().map(|p| p.indices.len()).sum::<usize>(), 101);
        for primitive in primitives {
            let count = primitive.positions.len();
            assert!(primitive.indices.iter().flatten().all(|v| (*v as usize) < count));
            assert_eq!(primitive.normals.len(), count);
        }
        assert_eq!(scene.instances().count(), 7);
    }
}
