//! Plants: the tree, the vine, hedges and cypresses, and the flower that opens.

use crate::architecture::{BEAM_TOP, PLINTH, VAULT, vault_point};
use crate::mesh::{Mesh, card, lathe, surface, tube};
use crate::noise::{Rng, value};
use crate::writer::Target;
use glam::{Quat, Vec2, Vec3, Vec3Swizzles};
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// Returns the tint of a leaf card, sage with some yellow.
fn leaf_tint(rng: &mut Rng) -> Vec3 {
    let dry = rng.unit();
    Vec3::new(
        0.72 + 0.28 * dry,
        0.82 + 0.12 * rng.unit(),
        0.70 + 0.2 * rng.unit(),
    )
}

/// Creates a tree at the origin: its wood, and its crown of leaf cards.
pub(crate) fn tree(seed: u64) -> (Mesh, Mesh) {
    let mut rng = Rng::new(seed);
    let (mut wood, mut crown) = (Mesh::default(), Mesh::default());
    let middle = Vec3::new(0.2, 4.3, 0.0);
    let mut tips = Vec::new();
    grow(
        &mut wood,
        &mut tips,
        &mut rng,
        Vec3::ZERO,
        Vec3::new(0.12, 1.0, -0.05),
        1.9,
        0.17,
        0,
    );
    for (tip, along) in tips {
        for _ in 0..6 {
            let stem = tip + rng.direction() * 0.22;
            let out = (stem - middle).normalize();
            let up = (out + rng.direction() * 0.8 + along * 0.4 - Vec3::Y * 0.15).normalize();
            let right = up.cross(out + rng.direction() * 0.7).normalize();
            let size = rng.range(0.34, 0.52);
            crown.append(
                &card(stem, up * size, right * size, (out + Vec3::Y * 0.35).normalize())
                    .tinted(leaf_tint(&mut rng)),
            );
        }
    }
    (wood, crown)
}

/// Grows a branch and its forks. Adds the ends of the last ones, with their directions, to `tips`.
#[expect(
    clippy::too_many_arguments,
    reason = "a recursion whose state is its arguments"
)]
fn grow(
    wood: &mut Mesh,
    tips: &mut Vec<(Vec3, Vec3)>,
    rng: &mut Rng,
    from: Vec3,
    along: Vec3,
    length: f32,
    radius: f32,
    depth: u32,
) {
    let bend = rng.direction() * 0.14 * length;
    let along = along.normalize();
    let count = if depth < 2 { 6 } else { 3 };
    let path: Vec<Vec3> = (0..=count)
        .map(|i| i as f32 / count as f32)
        .map(|t| from + along * length * t + bend * (t * PI).sin())
        .collect();
    let end = path[path.len() - 1];
    let flare = if depth == 0 { 0.5 } else { 0.0 };
    let thin = |t: f32| radius * (1.0 - 0.42 * t + flare * (1.0 - t).powi(6));
    wood.append(&tube(&path, thin, [12, 9, 6, 5][depth.min(3) as usize], false));
    if depth >= 2 {
        tips.push((path[path.len() / 2], along));
    }
    if depth == 4 {
        tips.push((end, along));
        return;
    }
    let forks = if depth == 0 { 4 } else { 2 };
    let spin = rng.range(0.0, TAU);
    for fork in 0..forks {
        let around = spin + TAU * fork as f32 / forks as f32 + rng.range(-0.35, 0.35);
        let aside = Quat::from_axis_angle(along, around) * along.any_orthonormal_vector();
        let spread = if depth == 0 { 0.75 } else { 0.62 };
        let next = (along + aside * rng.range(0.7, 1.2) * spread + Vec3::Y * 0.08).normalize();
        let next_length = length * rng.range(0.56, 0.70);
        grow(wood, tips, rng, end, next, next_length, radius * 0.6, depth + 1);
    }
}

/// Creates the vine on the pavilion: its stems, and its leaf cards.
pub(crate) fn vine(columns: &[Vec2]) -> (Mesh, Mesh) {
    let mut rng = Rng::new(77);
    let (mut stems, mut leaves) = (Mesh::default(), Mesh::default());
    for (n, &foot) in columns.iter().enumerate() {
        // Winds up a column, then crosses the vault.
        let mut path = Vec::new();
        let side = foot.y.signum();
        for i in 0..=26 {
            let t = i as f32 / 26.0;
            let (sin, cos) = (t * 9.0 + n as f32 * 2.0).sin_cos();
            let r = 0.175 + 0.02 * (t * 23.0).sin() + 0.08 * t.powi(12);
            path.push(Vec3::new(
                foot.x + cos * r,
                PLINTH + (BEAM_TOP - PLINTH) * t,
                foot.y + sin * r,
            ));
        }
        for i in 1..=22 {
            let t = i as f32 / 22.0;
            let share = if side > 0.0 { 1.0 - 0.52 * t } else { 0.52 * t };
            let x = foot.x + 0.45 * (t * 5.0 + n as f32).sin() + 0.3 * t * -foot.x.signum();
            path.push(vault_point(x, share, 0.11));
        }
        stems.append(&tube(&path, |t| 0.026 * (1.0 - 0.75 * t), 6, false));
        let axis = |p: Vec3| {
            Vec3::new(
                p.x,
                p.y.min(BEAM_TOP),
                if p.y > BEAM_TOP { p.z * 0.4 } else { foot.y },
            )
        };
        for (i, &p) in path.iter().enumerate() {
            let dense = if i < 8 {
                1
            } else if i < 24 {
                3
            } else {
                9
            };
            for _ in 0..dense {
                let scatter = if i < 24 { 0.12 } else { 0.34 };
                let stem = p + rng.direction() * scatter * rng.unit();
                let out = if i < 24 {
                    (stem - axis(stem)).with_y(0.2)
                } else {
                    stem - Vec3::new(stem.x, BEAM_TOP - 0.3, 0.0)
                };
                let out = out.normalize_or(Vec3::Y);
                let up = (rng.direction() + Vec3::NEG_Y * 0.5 + out * 0.4).normalize();
                let right = up.cross(out + rng.direction() * 0.6).normalize();
                let size = rng.range(0.22, 0.36);
                leaves.append(&card(stem, up * size, right * size, out).tinted(leaf_tint(&mut rng)));
            }
        }
        // Tendrils that hang from the beam.
        for _ in 0..7 {
            let x = foot.x + rng.range(-0.9, 0.9);
            let top = Vec3::new(x.clamp(-2.8, 2.8), BEAM_TOP - 0.12, side * (VAULT + 0.1));
            let length = rng.range(0.25, 0.7);
            let count = (length / 0.11) as usize;
            for i in 0..count {
                let stem = top - Vec3::Y * (i as f32 * 0.11) + rng.direction() * 0.04;
                let out = Vec3::new(rng.range(-0.6, 0.6), 0.2, side);
                let up = (Vec3::NEG_Y + rng.direction() * 0.5).normalize();
                let right = up.cross(out).normalize();
                let size = rng.range(0.18, 0.27);
                leaves.append(
                    &card(stem, up * size, right * size, out.normalize()).tinted(leaf_tint(&mut rng)),
                );
            }
        }
    }
    (stems, leaves)
}

/// Displaces the points of a hedge or a cypress by noise and shades them, so that they look like foliage.
fn leafy(mesh: Mesh, amount: f32) -> Mesh {
    let mut mesh = mesh;
    let rough = |p: Vec3| {
        value(Vec2::new(p.x + p.z + 60.0, p.y + p.z * 0.7 + 60.0) * 3.1, 1024, 9)
            + value(Vec2::new(p.x - p.z + 60.0, p.y * 1.3 + 60.0) * 7.3, 1024, 10)
            - 1.0
    };
    for i in 0..mesh.positions.len() {
        let shift = rough(mesh.positions[i]);
        let thin = (mesh.positions[i].xz().length() * 4.0).min(1.0);
        mesh.positions[i] += mesh.normals[i] * shift * amount * thin;
        let shade = 0.75 + 0.4 * shift;
        mesh.colors[i] = (Vec3::new(0.115, 0.185, 0.075) * shade).extend(1.0);
    }
    // Normals are recomputed from the faces, so that the lumps are shaded.
    let mut normals = vec![Vec3::ZERO; mesh.positions.len()];
    for t in mesh.indices.chunks_exact(3) {
        let [a, b, c] = [t[0], t[1], t[2]].map(|i| mesh.positions[i as usize]);
        for &i in t {
            normals[i as usize] += (b - a).cross(c - a);
        }
    }
    mesh.normals = normals
        .iter()
        .zip(&mesh.normals)
        .map(|(n, old)| n.normalize_or(*old))
        .collect();
    mesh
}

/// Creates a cypress, 1.2 m wide and 9 m high.
pub(crate) fn cypress() -> Mesh {
    let profile: Vec<(f32, f32)> = (0..=34)
        .map(|i| i as f32 / 34.0)
        .map(|t| {
            (
                0.62 * (t * 7.0).min(1.0).powf(0.6) * (1.0 - t * t).powf(0.8),
                0.25 + 8.8 * t,
            )
        })
        .collect();
    leafy(lathe(&profile, 26), 0.16)
}

/// Creates a clipped hedge along +Z, a rounded box around the origin.
pub(crate) fn hedge(length: f32, height: f32, width: f32) -> Mesh {
    let around = |v: f32| {
        let p = Vec2::from_angle(PI * (1.35 - 1.7 * v));
        let power = |x: f32| x.signum() * x.abs().powf(0.4);
        Vec2::new(power(p.x) * width * 0.5, (power(p.y) * 0.5 + 0.5) * height)
    };
    let mesh = surface(64, 14, |u, v| {
        // Rounded at its ends.
        let p = around(v) * (1.0 - (2.0 * u - 1.0).abs().powi(40)).max(1e-3).sqrt();
        Vec3::new(p.x, p.y, (u - 0.5) * length)
    });
    leafy(mesh, 0.09)
}

/// Stage of the flower: closed, half open or open.
struct Stage {
    /// Outward lean of the petals in the three rings, in radians from upright.
    lean: [f32; 3],
    /// Outward curl of the petals towards their tips.
    curl: f32,
    /// Twist of the petals about their own length.
    twist: f32,
}

const STAGES: [Stage; 3] = [
    Stage {
        lean: [0.06, 0.10, 0.14],
        curl: -0.55,
        twist: 0.5,
    },
    Stage {
        lean: [0.28, 0.52, 0.80],
        curl: -0.10,
        twist: 0.25,
    },
    Stage {
        lean: [0.50, 0.98, 1.36],
        curl: 0.55,
        twist: 0.0,
    },
];

/// Creates all petals of one stage, about the origin.
fn petals(stage: &Stage) -> Mesh {
    let mut mesh = Mesh::default();
    for (ring, count) in [6, 8, 9].into_iter().enumerate() {
        let length = [0.62, 0.80, 0.90][ring];
        for i in 0..count {
            let around = TAU * (i as f32 + 0.5 * ring as f32) / count as f32 + 0.3 * ring as f32;
            let petal = surface(4, 10, |u, v| {
                // A spine that leans and curls, with a cupped blade across it.
                let steps = 14;
                let mut spine = Vec2::new(0.05 + 0.035 * ring as f32, 0.0);
                for s in 0..steps {
                    let t = v * (s as f32 + 0.5) / steps as f32;
                    let lean = stage.lean[ring]
                        + (0.5 - t) * 0.5 * (1.0 - stage.lean[ring])
                        + stage.curl * t * t * 1.6;
                    spine += Vec2::new(lean.sin(), lean.cos()) * length * v / steps as f32;
                }
                let lean = stage.lean[ring] + stage.curl * v * v * 1.6;
                let blade = 0.26 * length * (v.powf(0.8) * (1.0 - v.powf(2.4))).powf(0.8) * 1.5 + 0.004;
                let across = (u - 0.5) * 2.0;
                let cup = across * across * blade * 0.42;
                let p = Vec3::new(
                    spine.x - cup * lean.cos(),
                    spine.y + cup * lean.sin(),
                    across * blade,
                );
                let turned = Quat::from_rotation_y(stage.twist * v) * p;
                Quat::from_rotation_y(around) * turned
            });
            let tinted = paint_petal(petal, ring);
            mesh.append(&tinted);
        }
    }
    mesh
}

/// Paints a petal coral at the heart and paler towards the tip.
fn paint_petal(mut petal: Mesh, ring: usize) -> Mesh {
    for (color, uv) in petal.colors.iter_mut().zip(&petal.uvs) {
        let along = 1.0 - uv.y;
        let pale = Vec3::new(0.96, 0.60, 0.46);
        let deep = Vec3::new(0.74, 0.12, 0.10);
        let vein = 0.92 + 0.08 * ((uv.x - 0.5) * 26.0).cos();
        *color =
            (deep.lerp(pale, (along * along * 0.9 + 0.1 * ring as f32).clamp(0.0, 1.0)) * vein).extend(1.0);
    }
    petal
}

/// Creates the flower: its closed petals, and the two morph targets that open them.
pub(crate) fn flower() -> (Mesh, Vec<Target>) {
    let closed = petals(&STAGES[0]);
    let targets = STAGES[1..]
        .iter()
        .map(|stage| {
            let open = petals(stage);
            let less = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| *a - *b).collect();
            Target {
                positions: less(&open.positions, &closed.positions),
                normals: less(&open.normals, &closed.normals),
            }
        })
        .collect();
    (closed, targets)
}

/// Creates twigs that fell from the tree, flat on the floor around the origin.
pub(crate) fn fallen(count: usize, radius: f32) -> Mesh {
    let mut rng = Rng::new(19);
    let mut mesh = Mesh::default();
    for i in 0..count {
        let place = Vec2::from_angle(rng.range(0.0, TAU)) * radius * rng.unit().sqrt();
        let along = Vec2::from_angle(rng.range(0.0, TAU)).extend(0.0).xzy();
        let up = (along + Vec3::Y * rng.range(0.05, 0.25)) * rng.range(0.12, 0.2);
        let right = up.cross(Vec3::Y).normalize() * up.length();
        let dry = Vec3::new(1.0, 0.62 + 0.2 * rng.unit(), 0.42);
        let stem = Vec3::new(place.x, 0.008 + 0.0004 * i as f32, place.y);
        mesh.append(&card(stem, up, right, Vec3::Y).tinted(dry));
    }
    mesh
}

/// Creates a pot with a shrub: its clay, and its leaf cards.
pub(crate) fn pot() -> (Mesh, Mesh) {
    let clay = lathe(
        &[
            (0.20, 0.0),
            (0.21, 0.03),
            (0.27, 0.34),
            (0.31, 0.36),
            (0.33, 0.40),
            (0.33, 0.45),
            (0.30, 0.47),
            (0.27, 0.45),
            (0.26, 0.38),
            (0.0, 0.40),
        ],
        24,
    );
    let mut rng = Rng::new(41);
    let mut leaves = Mesh::default();
    for _ in 0..110 {
        let out = (rng.direction() + Vec3::Y * 0.45).normalize();
        let stem = Vec3::new(0.0, 0.62, 0.0) + out * Vec3::new(0.24, 0.3, 0.24) * rng.range(0.2, 1.0);
        let up = (out + rng.direction() * 0.7).normalize();
        let right = up.cross(out + rng.direction() * 0.6).normalize();
        let size = rng.range(0.2, 0.3);
        leaves.append(&card(stem, up * size, right * size, out).tinted(leaf_tint(&mut rng)));
    }
    (clay, leaves)
}

/// Creates the heart of the flower: a small dome with stamens.
pub(crate) fn heart() -> Mesh {
    let mut mesh = lathe(&[(0.13, -0.02), (0.12, 0.03), (0.08, 0.08), (0.0, 0.1)], 16);
    let mut rng = Rng::new(3);
    for i in 0..26 {
        let turn = Quat::from_rotation_y(TAU * i as f32 * 0.618);
        let lean = 0.1 + 0.5 * (i as f32 / 26.0).sqrt();
        let tip = turn * Vec3::new(lean.sin(), lean.cos(), 0.0) * rng.range(0.24, 0.3);
        mesh.append(&tube(
            &[tip * 0.25, tip * 0.6, tip],
            |t| 0.006 + 0.009 * (t - 0.5).max(0.0),
            5,
            false,
        ));
    }
    mesh.tinted(Vec3::new(0.90, 0.58, 0.12))
}

/// Creates lily pads that float around a centre at y = 0.
pub(crate) fn lily_pads() -> Mesh {
    let mut mesh = Mesh::default();
    for (angle, distance, size) in [
        (0.4, 0.60, 0.17),
        (2.1, 0.62, 0.14),
        (3.4, 0.57, 0.19),
        (5.3, 0.63, 0.15),
        (1.3, 0.66, 0.09),
    ] {
        let middle = Vec2::from_angle(angle) * distance;
        let pad = surface(18, 3, |u, v| {
            let p = middle + Vec2::from_angle(0.25 + (TAU - 0.5) * (1.0 - u) + angle) * size * v;
            Vec3::new(p.x, 0.012 * (v * FRAC_PI_2).sin() + 0.004, p.y)
        });
        mesh.append(
            &pad.painted(|p, _| Vec3::new(0.14, 0.26, 0.10) * (0.8 + 3.0 * (p.xz() - middle).length())),
        );
    }
    mesh
}
