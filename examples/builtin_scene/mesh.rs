//! Mesh construction: bevelled boxes, lathes, tubes, parametric surfaces, arches and cards.
//!
//! Texture coordinates are metres divided by [`TILE`], so that all stones show the texture at the same scale.

use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};
use std::f32::consts::{PI, TAU};

/// Size of a texture repeat in metres.
pub(crate) const TILE: f32 = 1.6;

/// Indexed triangles, with one value per vertex in every attribute list.
#[derive(Clone, Default)]
pub(crate) struct Mesh {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) normals: Vec<Vec3>,
    pub(crate) uvs: Vec<Vec2>,
    /// Linear vertex colours.
    pub(crate) colors: Vec<Vec4>,
    pub(crate) indices: Vec<u32>,
}

impl Mesh {
    /// Adds a white vertex.
    pub(crate) fn vertex(&mut self, position: Vec3, normal: Vec3, uv: Vec2) -> u32 {
        self.positions.push(position);
        self.normals.push(normal.normalize_or(Vec3::Y));
        self.uvs.push(uv);
        self.colors.push(Vec4::ONE);
        self.positions.len() as u32 - 1
    }

    /// Adds a triangle, wound so that its front agrees with its vertex normals. Leaves out a triangle without
    /// area.
    pub(crate) fn triangle(&mut self, a: u32, b: u32, c: u32) {
        let [pa, pb, pc] = [a, b, c].map(|i| self.positions[i as usize]);
        let face = (pb - pa).cross(pc - pa);
        if face.length_squared() < 1e-16 {
            return;
        }
        let normal: Vec3 = [a, b, c].iter().map(|&i| self.normals[i as usize]).sum();
        self.indices.extend(if face.dot(normal) < 0.0 {
            [a, c, b]
        } else {
            [a, b, c]
        });
    }

    /// Adds a quad with its vertices in order around the border.
    pub(crate) fn quad(&mut self, a: u32, b: u32, c: u32, d: u32) {
        self.triangle(a, b, c);
        self.triangle(a, c, d);
    }

    /// Adds a flat quad facing `normal` with its own vertices, in order around the border.
    pub(crate) fn flat_quad(&mut self, corners: [Vec3; 4], normal: Vec3) {
        let [a, b, c, d] = corners.map(|p| self.vertex(p, normal, box_uv(p, normal)));
        self.quad(a, b, c, d);
    }

    /// Removes hidden faces: triangles for which `keep` rejects the normals of all vertices.
    pub(crate) fn facing(self, keep: impl Fn(Vec3) -> bool) -> Self {
        let mut mesh = Self::default();
        let mut kept = vec![u32::MAX; self.positions.len()];
        for triangle in self.indices.chunks_exact(3) {
            if !triangle.iter().any(|&i| keep(self.normals[i as usize])) {
                continue;
            }
            for i in triangle.iter().map(|&i| i as usize) {
                if kept[i] == u32::MAX {
                    kept[i] = mesh.vertex(self.positions[i], self.normals[i], self.uvs[i]);
                    mesh.colors[kept[i] as usize] = self.colors[i];
                }
                mesh.indices.push(kept[i]);
            }
        }
        mesh
    }

    /// Appends another mesh.
    pub(crate) fn append(&mut self, other: &Mesh) {
        let first = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.normals.extend(&other.normals);
        self.uvs.extend(&other.uvs);
        self.colors.extend(&other.colors);
        self.indices.extend(other.indices.iter().map(|i| i + first));
    }

    /// Transforms the mesh by a matrix, which must not mirror.
    pub(crate) fn moved(mut self, matrix: Mat4) -> Self {
        let normal_matrix = Mat3::from_mat4(matrix).inverse().transpose();
        for position in &mut self.positions {
            *position = matrix.transform_point3(*position);
        }
        for normal in &mut self.normals {
            *normal = (normal_matrix * *normal).normalize_or(Vec3::Y);
        }
        self
    }

    /// Translates the mesh.
    pub(crate) fn at(self, offset: Vec3) -> Self {
        self.moved(Mat4::from_translation(offset))
    }

    /// Sets all vertex colours to one colour.
    pub(crate) fn tinted(mut self, color: Vec3) -> Self {
        self.colors.fill(color.extend(1.0));
        self
    }

    /// Computes each vertex colour from its position and normal.
    pub(crate) fn painted(mut self, color: impl Fn(Vec3, Vec3) -> Vec3) -> Self {
        for i in 0..self.positions.len() {
            self.colors[i] = color(self.positions[i], self.normals[i]).extend(1.0);
        }
        self
    }

    /// Shifts the texture coordinates, so that neighbours do not look the same.
    pub(crate) fn uv_shifted(mut self, shift: Vec2) -> Self {
        for uv in &mut self.uvs {
            *uv += shift;
        }
        self
    }
}

/// Projects a point to texture coordinates along the dominant axis of the normal.
fn box_uv(p: Vec3, normal: Vec3) -> Vec2 {
    let n = normal.abs();
    let uv = if n.y >= n.x && n.y >= n.z {
        Vec2::new(p.x, p.z)
    } else if n.x >= n.z {
        Vec2::new(p.z, -p.y)
    } else {
        Vec2::new(p.x, -p.y)
    };
    uv / TILE
}

/// Creates a box without bevels.
pub(crate) fn plain_box(center: Vec3, size: Vec3) -> Mesh {
    let mut mesh = Mesh::default();
    let half = size * 0.5;
    for axis in 0..3 {
        let (u, v) = (unit((axis + 1) % 3), unit((axis + 2) % 3));
        for side in [-1.0, 1.0] {
            let normal = unit(axis) * side;
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            mesh.flat_quad(
                corners.map(|(a, b)| center + (normal + u * a + v * b) * half),
                normal,
            );
        }
    }
    mesh
}

/// Creates a box with edges rounded over `bevel` metres: flat faces, and bevels with smoothly turning
/// normals.
pub(crate) fn bevel_box(center: Vec3, size: Vec3, bevel: f32) -> Mesh {
    let mut mesh = Mesh::default();
    let half = size * 0.5;
    // Corner of one face, given by the signs of the box's corner and the axis that the face is perpendicular
    // to.
    let point = |signs: Vec3, axis: usize| {
        center + signs * half - signs * Vec3::splat(bevel) * (Vec3::ONE - unit(axis))
    };
    for axis in 0..3 {
        let (u, v) = (unit((axis + 1) % 3), unit((axis + 2) % 3));
        for side in [-1.0, 1.0] {
            let normal = unit(axis) * side;
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            mesh.flat_quad(corners.map(|(a, b)| point(normal + u * a + v * b, axis)), normal);
        }
    }
    for along in 0..3 {
        let (first, second) = ((along + 1) % 3, (along + 2) % 3);
        for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let across = unit(first) * a + unit(second) * b;
            let ends = [-1.0, 1.0].map(|s| across + unit(along) * s);
            let mut add = |signs: Vec3, axis: usize| {
                let p = point(signs, axis);
                // Around the bevel, the texture coordinate advances by the width of the bevel.
                let shift = if axis == first { 0.0 } else { bevel * 1.4 };
                mesh.vertex(p, unit(axis) * signs, Vec2::new(p.dot(unit(along)), shift) / TILE)
            };
            let quad = [
                add(ends[0], first),
                add(ends[1], first),
                add(ends[1], second),
                add(ends[0], second),
            ];
            mesh.quad(quad[0], quad[1], quad[2], quad[3]);
        }
    }
    for corner in 0..8 {
        let signs = Vec3::from_array([0, 1, 2].map(|axis| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 }));
        let [a, b, c] = [0, 1, 2].map(|axis| {
            let p = point(signs, axis);
            mesh.vertex(p, unit(axis) * signs, Vec2::new(p.x, p.z) / TILE)
        });
        mesh.triangle(a, b, c);
    }
    mesh
}

/// Creates a paving slab, with its top at `y` and edges that slope down to the joint. It has no sides and
/// bottom, because they are never visible.
pub(crate) fn slab(min: Vec2, max: Vec2, y: f32, bevel: f32) -> Mesh {
    let mut mesh = Mesh::default();
    let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)];
    let ring = |mesh: &mut Mesh, inset: f32, y: f32, lean: f32| {
        corners.map(|(a, b)| {
            let side = Vec2::new(a, b) * 2.0 - 1.0;
            let p = min + (max - min) * Vec2::new(a, b) - side * inset;
            mesh.vertex(
                Vec3::new(p.x, y, p.y),
                Vec3::new(side.x * lean, 1.0, side.y * lean),
                p / TILE,
            )
        })
    };
    let top = ring(&mut mesh, bevel, y, 0.0);
    let edge = ring(&mut mesh, bevel * 0.3, y - bevel * 0.35, 0.7);
    let joint = ring(&mut mesh, 0.0, y - bevel * 1.6, 1.6);
    mesh.quad(top[0], top[1], top[2], top[3]);
    for i in 0..4 {
        let j = (i + 1) % 4;
        mesh.quad(top[i], top[j], edge[j], edge[i]);
        mesh.quad(edge[i], edge[j], joint[j], joint[i]);
    }
    mesh
}

/// Creates a surface of revolution about +Y. The profile is a list of (radius, height) with the outside on
/// its right, so it runs upwards on an outer wall. Bends below 50 degrees are smooth, others are creases.
pub(crate) fn lathe(profile: &[(f32, f32)], segments: usize) -> Mesh {
    let points: Vec<Vec2> = profile.iter().map(|&(r, y)| Vec2::new(r, y)).collect();
    let sides: Vec<Vec2> = points
        .windows(2)
        .map(|pair| {
            let along = (pair[1] - pair[0]).normalize_or(Vec2::Y);
            Vec2::new(along.y, -along.x)
        })
        .collect();
    let widest = points.iter().map(|p| p.x).fold(0.0, f32::max);
    let around = (TAU * widest / TILE).round().max(1.0);
    let mut mesh = Mesh::default();
    let mut length = 0.0;
    let mut last = Vec::new();
    for (i, side) in sides.iter().enumerate() {
        let mut ring = |at: usize, normal: Vec2, v: f32| -> Vec<u32> {
            (0..=segments)
                .map(|s| {
                    let share = s as f32 / segments as f32;
                    let (sin, cos) = (share * TAU).sin_cos();
                    let position = Vec3::new(cos * points[at].x, points[at].y, sin * points[at].x);
                    let normal = Vec3::new(cos * normal.x, normal.y, sin * normal.x);
                    mesh.vertex(position, normal, Vec2::new(share * around, -v / TILE))
                })
                .collect()
        };
        let smooth = |other: Option<&Vec2>| {
            other
                .filter(|o| o.dot(*side) > 0.64)
                .map_or(*side, |o| *o + *side)
        };
        let before = if i > 0 { sides.get(i - 1) } else { None };
        let creased = before.is_none_or(|o| o.dot(*side) <= 0.64);
        let lower = if creased {
            ring(i, smooth(before), length)
        } else {
            last
        };
        length += points[i].distance(points[i + 1]);
        let upper = ring(i + 1, smooth(sides.get(i + 1)), length);
        for s in 0..segments {
            mesh.quad(lower[s], lower[s + 1], upper[s + 1], upper[s]);
        }
        last = upper;
    }
    mesh
}

/// Creates a tube along a path with a radius per point. A closed path joins without a seam. Open ends get a
/// round cap.
pub(crate) fn tube(path: &[Vec3], radius: impl Fn(f32) -> f32, sides: usize, closed: bool) -> Mesh {
    let mut mesh = Mesh::default();
    let count = path.len();
    let tangent = |i: usize| {
        let (before, after) = if closed {
            (path[(i + count - 1) % count], path[(i + 1) % count])
        } else {
            (path[i.saturating_sub(1)], path[(i + 1).min(count - 1)])
        };
        (after - before).normalize_or(Vec3::Y)
    };
    let mut frame = tangent(0).any_orthonormal_vector();
    let rings = if closed { count + 1 } else { count };
    let mut first_frame = frame;
    let mut last: Vec<u32> = Vec::new();
    let mut length = 0.0;
    for ring in 0..rings {
        let i = ring % count;
        let along = tangent(i);
        frame = (frame - along * frame.dot(along)).normalize_or(along.any_orthonormal_vector());
        if ring == 0 {
            first_frame = frame;
        } else {
            length += path[i].distance(path[(i + count - 1) % count]);
        }
        let used = if ring == count { first_frame } else { frame };
        let other = along.cross(used);
        let r = radius(ring as f32 / (rings - 1) as f32);
        let current: Vec<u32> = (0..=sides)
            .map(|s| {
                let share = s as f32 / sides as f32;
                let (sin, cos) = (share * TAU).sin_cos();
                let normal = used * cos + other * sin;
                mesh.vertex(
                    path[i] + normal * r,
                    normal,
                    Vec2::new(share * (TAU * r / TILE).ceil(), length / TILE),
                )
            })
            .collect();
        if ring > 0 {
            for s in 0..sides {
                mesh.quad(last[s], last[s + 1], current[s + 1], current[s]);
            }
        }
        if !closed && (ring == 0 || ring == count - 1) {
            let out = if ring == 0 { -along } else { along };
            let tip = mesh.vertex(path[i] + out * r * 0.5, out, Vec2::ZERO);
            for s in 0..sides {
                mesh.triangle(current[s], current[s + 1], tip);
            }
        }
        last = current;
    }
    mesh
}

/// Creates a bar of rectangular cross-section along a path in a plane with the normal `side`. `size` is the
/// width along `side` and the height across it.
pub(crate) fn bar(path: &[Vec3], side: Vec3, size: Vec2) -> Mesh {
    let mut mesh = Mesh::default();
    let count = path.len();
    let half = size * 0.5;
    let out = |i: usize| {
        let along = path[(i + 1).min(count - 1)] - path[i.saturating_sub(1)];
        along.cross(side).normalize_or(Vec3::Y)
    };
    let faces = [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)];
    let mut length = 0.0;
    let mut last = [[0; 2]; 4];
    for i in 0..count {
        if i > 0 {
            length += path[i].distance(path[i - 1]);
        }
        let rings = faces.map(|(axis, sign)| {
            [-1.0, 1.0].map(|s: f32| {
                let (a, b) = if axis == 0 { (sign, s) } else { (s, sign) };
                let normal = if axis == 0 { side * sign } else { out(i) * sign };
                mesh.vertex(
                    path[i] + side * a * half.x + out(i) * b * half.y,
                    normal,
                    Vec2::new(length, s * half.y) / TILE,
                )
            })
        });
        if i > 0 {
            for (before, now) in last.iter().zip(&rings) {
                mesh.quad(before[0], before[1], now[1], now[0]);
            }
        }
        last = rings;
    }
    for (i, sign) in [(0, -1.0), (count - 1, 1.0)] {
        let normal = (path[(i + 1).min(count - 1)] - path[i.max(1) - 1]).normalize_or(Vec3::Y) * sign;
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        mesh.flat_quad(
            corners.map(|(a, b)| path[i] + side * a * half.x + out(i) * b * half.y),
            normal,
        );
    }
    mesh
}

/// Creates a parametric surface over u and v in 0..1 with `nu` by `nv` cells. Its front is in the direction
/// of du × dv.
pub(crate) fn surface(nu: usize, nv: usize, at: impl Fn(f32, f32) -> Vec3) -> Mesh {
    let mut mesh = Mesh::default();
    let step = 1e-3;
    for j in 0..=nv {
        for i in 0..=nu {
            let (u, v) = (i as f32 / nu as f32, j as f32 / nv as f32);
            let du = at((u + step).min(1.0), v) - at((u - step).max(0.0), v);
            let dv = at(u, (v + step).min(1.0)) - at(u, (v - step).max(0.0));
            mesh.vertex(
                at(u, v),
                du.cross(dv).normalize_or(Vec3::Y),
                Vec2::new(u, 1.0 - v),
            );
        }
    }
    let row = nu as u32 + 1;
    for j in 0..nv as u32 {
        for i in 0..nu as u32 {
            let a = j * row + i;
            mesh.quad(a, a + 1, a + row + 1, a + row);
        }
    }
    mesh
}

/// Creates a sphere.
pub(crate) fn sphere(radius: f32, segments: usize) -> Mesh {
    let rings = segments / 2;
    let profile: Vec<(f32, f32)> = (0..=rings)
        .map(|i| {
            let angle = PI * i as f32 / rings as f32;
            (radius * angle.sin(), -radius * angle.cos())
        })
        .collect();
    lathe(&profile, segments)
}

/// Returns points on a circle in the XY plane.
pub(crate) fn circle(radius: f32, count: usize) -> Vec<Vec3> {
    (0..count)
        .map(|i| Vec2::from_angle(TAU * i as f32 / count as f32) * radius)
        .map(|p| p.extend(0.0))
        .collect()
}

/// Returns points on a half circle in the XY plane, from −X over +Y to +X.
pub(crate) fn half_circle(radius: f32, segments: usize) -> Vec<Vec3> {
    (0..=segments)
        .map(|i| Vec2::from_angle(PI * (1.0 - i as f32 / segments as f32)) * radius)
        .map(|p| p.extend(0.0))
        .collect()
}

/// Creates the wall above an arch: `width` by (`top` − `spring`), `depth` thick, centred on x = 0 and z = 0,
/// with a half circle of `radius` cut out of its lower edge.
pub(crate) fn spandrel(width: f32, radius: f32, spring: f32, top: f32, depth: f32) -> Mesh {
    let mut mesh = Mesh::default();
    let arc: Vec<Vec3> = half_circle(radius, 20)
        .iter()
        .map(|p| *p + Vec3::Y * spring)
        .collect();
    let half = depth * 0.5;
    for z in [-half, half] {
        let normal = Vec3::Z * z.signum();
        let mut lower = vec![Vec3::new(-width * 0.5, spring, z)];
        lower.extend(arc.iter().map(|p| p.with_z(z)));
        lower.push(Vec3::new(width * 0.5, spring, z));
        let pairs: Vec<[u32; 2]> = lower
            .iter()
            .map(|&p| [p, p.with_y(top)].map(|p| mesh.vertex(p, normal, box_uv(p, normal))))
            .collect();
        for pair in pairs.windows(2) {
            mesh.quad(pair[0][0], pair[1][0], pair[1][1], pair[0][1]);
        }
    }
    let mut last: Option<[u32; 2]> = None;
    for (i, p) in arc.iter().enumerate() {
        let normal = Vec3::new(-p.x, spring - p.y, 0.0);
        let v = i as f32 / 20.0 * PI * radius / TILE;
        let pair = [-half, half].map(|z| mesh.vertex(p.with_z(z), normal, Vec2::new(z / TILE, v)));
        if let Some([a, b]) = last {
            mesh.quad(a, b, pair[1], pair[0]);
        }
        last = Some(pair);
    }
    for sign in [-1.0, 1.0] {
        let (inner, outer) = (radius * sign, width * 0.5 * sign);
        let under = [(inner, -half), (outer, -half), (outer, half), (inner, half)];
        mesh.flat_quad(under.map(|(x, z)| Vec3::new(x, spring, z)), Vec3::NEG_Y);
        let end = [(spring, -half), (top, -half), (top, half), (spring, half)];
        mesh.flat_quad(end.map(|(y, z)| Vec3::new(outer, y, z)), Vec3::X * sign);
    }
    mesh
}

/// Creates a card that shows a whole texture. `stem` is the middle of its lower edge. `up` and `right` are
/// its height and width. All vertices have the normal `shading`, so that leaves are lit like a whole crown.
pub(crate) fn card(stem: Vec3, up: Vec3, right: Vec3, shading: Vec3) -> Mesh {
    let mut mesh = Mesh::default();
    let front = right.cross(up);
    let shading = if shading.dot(front) < 0.0 {
        -shading
    } else {
        shading
    };
    let half = right * 0.5;
    let corners = [
        (stem - half, 0.0, 1.0),
        (stem + half, 1.0, 1.0),
        (stem + half + up, 1.0, 0.0),
        (stem - half + up, 0.0, 0.0),
    ];
    let [a, b, c, d] = corners.map(|(p, u, v)| mesh.vertex(p, shading, Vec2::new(u, v)));
    mesh.indices.extend([a, b, c, a, c, d]);
    mesh
}

/// Returns the unit vector along an axis.
fn unit(axis: usize) -> Vec3 {
    Vec3::AXES[axis]
}
