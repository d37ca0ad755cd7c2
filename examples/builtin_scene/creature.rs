//! The creature, a small garden dragon: a single skin over a skeleton.
//!
//! Its body is the smooth union of round cones along the bones, triangulated by surface nets. The same bones
//! determine the vertex weights.

use crate::mesh::{Mesh, surface, tube};
use crate::noise::value;
use crate::writer::Skinning;
use glam::{Quat, Vec2, Vec3};
use std::f32::consts::TAU;

/// Joint: its name, parent, and position in the rest pose. The creature looks along +X.
pub(crate) struct Joint {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) position: Vec3,
}

/// Round cone between two points, moved by a joint.
struct Bone {
    joint: usize,
    from: Vec3,
    to: Vec3,
    radii: Vec2,
}

/// Parts of the creature.
pub(crate) struct Creature {
    pub(crate) joints: Vec<Joint>,
    pub(crate) body: Mesh,
    pub(crate) body_skin: Skinning,
    /// Horns, claws and the crest along the back.
    pub(crate) horn: Mesh,
    pub(crate) horn_skin: Skinning,
    /// Arms and membranes of the wings.
    pub(crate) wing: Mesh,
    pub(crate) wing_skin: Skinning,
    /// Positions of the eyes relative to the joint of the head.
    pub(crate) eyes: [Vec3; 2],
    pub(crate) head: usize,
}

/// Cell size of the grid that samples the surface, in metres.
const CELL: f32 = 0.043;
/// Width of the blend between bones, in metres.
const BLEND: f32 = 0.055;

/// Adds a chain of joints with a bone each. `points` are positions and radii. The last point is the end of
/// the last bone.
fn chain(
    joints: &mut Vec<Joint>,
    bones: &mut Vec<Bone>,
    name: &str,
    parent: Option<usize>,
    points: &[(Vec3, f32)],
) -> usize {
    let first = joints.len();
    for (i, pair) in points.windows(2).enumerate() {
        let joint = joints.len();
        let parent = if i == 0 { parent } else { Some(joint - 1) };
        joints.push(Joint {
            name: format!("{name} {}", i + 1),
            parent,
            position: pair[0].0,
        });
        bones.push(Bone {
            joint,
            from: pair[0].0,
            to: pair[1].0,
            radii: Vec2::new(pair[0].1, pair[1].1),
        });
    }
    first
}

/// Returns the point at fraction `t` of the tail's rest curve.
fn tail_curve(t: f32) -> Vec3 {
    let bend = t * t;
    Vec3::new(
        -0.62 - 1.75 * t + 0.55 * bend * t,
        0.40 - 0.62 * t + 0.30 * bend,
        0.95 * bend,
    )
}

/// Returns the joints, the bones of the body, the bones of the wings, and the joint of the head.
fn skeleton() -> (Vec<Joint>, Vec<Bone>, Vec<Bone>, usize) {
    let (mut joints, mut bones) = (Vec::new(), Vec::new());
    let v = Vec3::new;
    let spine = [
        (v(-0.5, 0.43, 0.0), 0.20),
        (v(-0.18, 0.46, 0.0), 0.235),
        (v(0.14, 0.46, 0.0), 0.225),
        (v(0.40, 0.56, 0.0), 0.165),
    ];
    let hips = chain(&mut joints, &mut bones, "spine", None, &spine);
    let chest = hips + 2;
    let neck = [
        (v(0.40, 0.56, 0.0), 0.165),
        (v(0.57, 0.74, 0.0), 0.135),
        (v(0.66, 0.94, 0.0), 0.112),
        (v(0.70, 1.15, 0.0), 0.102),
        (v(0.76, 1.34, 0.0), 0.105),
    ];
    let neck = chain(&mut joints, &mut bones, "neck", Some(chest), &neck);
    let head = chain(
        &mut joints,
        &mut bones,
        "head",
        Some(neck + 3),
        &[(v(0.78, 1.42, 0.0), 0.168), (v(0.98, 1.37, 0.0), 0.132)],
    );
    bones.push(Bone {
        joint: head,
        from: v(0.98, 1.35, 0.0),
        to: v(1.17, 1.30, 0.0),
        radii: Vec2::new(0.108, 0.092),
    });
    for side in [-1.0, 1.0] {
        // Brows, cheeks and nostrils.
        for (from, to, radius) in [
            (v(0.80, 1.53, 0.095), v(0.93, 1.50, 0.09), 0.052),
            (v(0.84, 1.35, 0.10), v(0.90, 1.34, 0.09), 0.07),
            (v(1.19, 1.365, 0.045), v(1.21, 1.36, 0.045), 0.03),
        ] {
            let mirror = v(1.0, 1.0, side);
            bones.push(Bone {
                joint: head,
                from: from * mirror,
                to: to * mirror,
                radii: Vec2::splat(radius),
            });
        }
    }
    let tail: Vec<(Vec3, f32)> = (0..=7)
        .map(|i| i as f32 / 7.0)
        .map(|t| (tail_curve(t), 0.18 - 0.145 * t.powf(0.8)))
        .collect();
    bones.push(Bone {
        joint: hips,
        from: spine[0].0,
        to: tail[0].0,
        radii: Vec2::new(0.20, 0.18),
    });
    chain(&mut joints, &mut bones, "tail", Some(hips), &tail);
    for (side, name) in [(1.0, "left"), (-1.0, "right")] {
        let front = [
            (v(0.22, 0.40, 0.17 * side), 0.115),
            (v(0.12, 0.22, 0.29 * side), 0.082),
            (v(0.25, 0.062, 0.31 * side), 0.062),
            (FEET[0] * v(1.0, 1.0, side), 0.052),
        ];
        let first = chain(
            &mut joints,
            &mut bones,
            &format!("{name} arm"),
            Some(chest),
            &front,
        );
        toes(&mut bones, first + 2, front[3].0, side);
        let hind = [
            (v(-0.48, 0.38, 0.17 * side), 0.155),
            (v(-0.30, 0.22, 0.31 * side), 0.098),
            (v(-0.50, 0.068, 0.33 * side), 0.066),
            (FEET[1] * v(1.0, 1.0, side), 0.056),
        ];
        let first = chain(&mut joints, &mut bones, &format!("{name} leg"), Some(hips), &hind);
        toes(&mut bones, first + 2, hind[3].0, side);
    }
    let mut wings = Vec::new();
    for (side, name) in [(1.0, "left"), (-1.0, "right")] {
        let [shoulder, wrist, tip] = [SHOULDER, WRIST, FINGERS[1]].map(|p| p * v(1.0, 1.0, side));
        let wing = chain(
            &mut joints,
            &mut wings,
            &format!("{name} wing"),
            Some(chest),
            &[(shoulder, 0.06), (wrist, 0.05), (tip, 0.05)],
        );
        wings.extend(FINGERS.map(|to| Bone {
            joint: wing + 1,
            from: wrist,
            to: to * v(1.0, 1.0, side),
            radii: Vec2::splat(0.05),
        }));
    }
    (joints, bones, wings, head)
}

/// Left wing: its root, its wrist, and the tips of its fingers.
const SHOULDER: Vec3 = Vec3::new(0.10, 0.63, 0.12);
const WRIST: Vec3 = Vec3::new(0.20, 1.00, 0.42);
const FINGERS: [Vec3; 4] = [
    Vec3::new(0.02, 1.36, 0.66),
    Vec3::new(-0.36, 1.28, 0.80),
    Vec3::new(-0.62, 0.98, 0.74),
    Vec3::new(-0.58, 0.70, 0.42),
];

/// Creates the wings: arms and fingers of thin tubes, with membranes between them.
fn wings() -> Mesh {
    let deep = Vec3::new(0.62, 0.17, 0.11);
    let pale = Vec3::new(0.92, 0.58, 0.38);
    let jade = Vec3::new(0.15, 0.26, 0.17);
    let mut mesh = Mesh::default();
    for side in [-1.0, 1.0] {
        let mirror = |p: Vec3| p * Vec3::new(1.0, 1.0, side);
        let bent = |from: Vec3, to: Vec3, lift: f32| -> Vec<Vec3> {
            (0..=5)
                .map(|i| i as f32 / 5.0)
                .map(|t| mirror(from.lerp(to, t) + Vec3::new(0.2, 1.0, 0.4) * lift * 4.0 * t * (1.0 - t)))
                .collect()
        };
        mesh.append(&tube(&bent(SHOULDER, WRIST, 0.02), |t| 0.045 - 0.02 * t, 8, false).tinted(jade));
        for finger in FINGERS {
            mesh.append(&tube(&bent(WRIST, finger, 0.03), |t| 0.02 - 0.015 * t, 6, false).tinted(jade));
        }
        let last = Vec3::new(-0.30, 0.66, 0.10);
        let edges = [FINGERS[0], FINGERS[1], FINGERS[2], FINGERS[3], last];
        for pair in edges.windows(2) {
            let root = if pair[1] == last {
                WRIST.lerp(SHOULDER, 0.5)
            } else {
                WRIST
            };
            let membrane = surface(5, 4, |u, v| {
                let spread = WRIST.lerp(root, u).lerp(pair[0].lerp(pair[1], u), v);
                let scallop = (spread - WRIST) * -0.20 * (u * std::f32::consts::PI).sin() * v;
                let lift = Vec3::new(0.2, 1.0, 0.4) * 0.03 * 4.0 * v * (1.0 - v);
                mirror(spread + scallop + lift)
            });
            let mut membrane = membrane;
            for (color, uv) in membrane.colors.iter_mut().zip(&membrane.uvs) {
                *color = deep.lerp(pale, 1.0 - uv.y).extend(1.0);
            }
            mesh.append(&membrane);
        }
    }
    mesh
}

/// Left feet, front and hind: the roots of their toes.
const FEET: [Vec3; 2] = [Vec3::new(0.37, 0.046, 0.32), Vec3::new(-0.33, 0.046, 0.36)];

/// Returns the tips of the three toes of a foot.
fn toe_tips(foot: Vec3, side: f32) -> [Vec3; 3] {
    [-0.62, 0.08, 0.78f32]
        .map(|spread| foot + Vec3::new(0.135 * spread.cos(), -0.018, 0.135 * spread.sin() * side))
}

/// Adds three spread toes at the end of a foot.
fn toes(bones: &mut Vec<Bone>, joint: usize, foot: Vec3, side: f32) {
    bones.extend(toe_tips(foot, side).map(|to| Bone {
        joint,
        from: foot,
        to,
        radii: Vec2::new(0.044, 0.027),
    }));
}

impl Bone {
    /// Signed distance of a point.
    fn distance(&self, p: Vec3) -> f32 {
        let (t, away) = self.nearest(p);
        away - (self.radii.x + (self.radii.y - self.radii.x) * t)
    }

    /// Returns the parameter of the nearest point along the bone, and the distance from its axis.
    fn nearest(&self, p: Vec3) -> (f32, f32) {
        let axis = self.to - self.from;
        let t = ((p - self.from).dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
        (t, p.distance(self.from + axis * t))
    }
}

/// Returns the signed distance to the whole body, a smooth minimum over the bones.
fn body_distance(bones: &[Bone], p: Vec3) -> f32 {
    bones
        .iter()
        .map(|bone| bone.distance(p))
        .fold(f32::INFINITY, |a, b| {
            let h = (BLEND - (a - b).abs()).max(0.0) / BLEND;
            a.min(b) - h * h * BLEND * 0.25
        })
}

fn gradient(field: impl Fn(Vec3) -> f32, p: Vec3) -> Vec3 {
    let e = 0.004;
    Vec3::from_array(Vec3::AXES.map(|axis| field(p + axis * e) - field(p - axis * e))).normalize_or(Vec3::Y)
}

/// Triangulates the zero isosurface of a field within a box (surface nets), with a vertex per cell that it
/// passes through and a quad per edge that it crosses.
fn surface_nets(field: impl Fn(Vec3) -> f32, low: Vec3, high: Vec3) -> Mesh {
    let cells = ((high - low) / CELL).ceil().as_uvec3() + 1;
    let [nx, ny, nz] = cells.to_array().map(|n| n as usize);
    let index = |x: usize, y: usize, z: usize| (z * ny + y) * nx + x;
    let corner = |x: usize, y: usize, z: usize| low + Vec3::new(x as f32, y as f32, z as f32) * CELL;
    let mut values = Vec::with_capacity(nx * ny * nz);
    for z in 0..nz {
        for y in 0..ny {
            values.extend((0..nx).map(|x| field(corner(x, y, z))));
        }
    }
    let mut mesh = Mesh::default();
    let mut vertices = vec![u32::MAX; values.len()];
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let inside = (0..8)
                    .filter(|c| values[index(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2))] < 0.0)
                    .count();
                if inside == 0 || inside == 8 {
                    continue;
                }
                // Walks from the centre of the cell along the gradient to the surface.
                let mut p = corner(x, y, z) + CELL * 0.5;
                let middle = p;
                for _ in 0..4 {
                    p -= gradient(&field, p) * field(p);
                    p = p.clamp(middle - CELL * 0.48, middle + CELL * 0.48);
                }
                vertices[index(x, y, z)] = mesh.vertex(p, gradient(&field, p), Vec2::ZERO);
            }
        }
    }
    let strides = [1, nx, nx * ny];
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let here = index(x, y, z);
                for axis in 0..3 {
                    let (first, second) = (values[here], values[here + strides[axis]]);
                    if (first < 0.0) == (second < 0.0) {
                        continue;
                    }
                    let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
                    let [a, b, c, d] = [here - u - v, here - v, here, here - u].map(|cell| vertices[cell]);
                    mesh.quad(a, b, c, d);
                }
            }
        }
    }
    mesh
}

/// Computes joints and weights of points. A bone's influence decreases with the distance in multiples of its
/// radius.
fn skin(bones: &[Bone], joints: usize, points: &[Vec3]) -> Skinning {
    let mut skinning = Skinning {
        joints: Vec::new(),
        weights: Vec::new(),
    };
    for &p in points {
        let mut shares = vec![0.0f32; joints];
        for bone in bones {
            let (t, away) = bone.nearest(p);
            let radius = bone.radii.x + (bone.radii.y - bone.radii.x) * t;
            let share = (away / radius).max(0.3).powi(-7);
            shares[bone.joint] = shares[bone.joint].max(share);
        }
        let mut order: Vec<usize> = (0..joints).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        let sum: f32 = order[..4].iter().map(|&j| shares[j]).sum();
        let mut weights = [0, 1, 2, 3].map(|i| (shares[order[i]] / sum * 255.0).round() as i32);
        weights[0] += 255 - weights.iter().sum::<i32>();
        skinning
            .joints
            .push([0, 1, 2, 3].map(|i| if weights[i] > 0 { order[i] as u8 } else { 0 }));
        skinning.weights.push(weights.map(|w| w as u8));
    }
    skinning
}

/// Returns jade above with darker bands, and cream below.
fn hide_color(p: Vec3, n: Vec3) -> Vec3 {
    let jade = Vec3::new(0.25, 0.39, 0.23);
    let deep = Vec3::new(0.08, 0.17, 0.12);
    let cream = Vec3::new(0.80, 0.68, 0.46);
    let spots = value(Vec2::new(p.x * 7.0 + 40.0, (p.z + p.y) * 7.0 + 40.0), 1024, 5);
    let back = jade.lerp(deep, ((spots - 0.35) * 1.2 + n.y * 0.45).clamp(0.0, 1.0));
    // Throat and belly: surfaces that face down, and on the neck those that face forwards.
    let ahead = if p.x > 0.3 && p.y > 0.55 && p.y < 1.3 {
        n.x * 0.9
    } else {
        0.0
    };
    let under = if p.y < 0.12 {
        0.0
    } else {
        (ahead - n.y - 0.25) * 3.0
    };
    back.lerp(cream, under.clamp(0.0, 1.0))
}

/// Creates the horns, the crest and the claws, each following the body at its root.
fn horns(bones: &[Bone]) -> Mesh {
    let coral = Vec3::new(0.86, 0.30, 0.17);
    let bone = Vec3::new(0.86, 0.76, 0.58);
    let mut mesh = Mesh::default();
    for side in [-1.0, 1.0] {
        let horn: Vec<Vec3> = (0..=8)
            .map(|i| i as f32 / 8.0)
            .map(|t| {
                Vec3::new(
                    0.74 - 0.26 * t,
                    1.50 + 0.20 * t - 0.06 * t * t,
                    side * (0.07 + 0.10 * t - 0.03 * t * t),
                )
            })
            .collect();
        mesh.append(&tube(&horn, |t| 0.034 * (1.0 - 0.9 * t), 8, false).tinted(bone));
        for foot in FEET.map(|foot| foot * Vec3::new(1.0, 1.0, side)) {
            for tip in toe_tips(foot, side) {
                let out = (tip - foot).with_y(0.0).normalize();
                let claw = [
                    tip + out * 0.008,
                    tip + out * 0.034,
                    tip + out * 0.062 - Vec3::Y * 0.018,
                ];
                mesh.append(&tube(&claw, |t| 0.016 * (1.0 - 0.85 * t), 6, false).tinted(bone));
            }
        }
        // Ears: flat leaves behind the cheeks.
        let ear: Vec<Vec3> = (0..=5)
            .map(|i| i as f32 / 5.0)
            .map(|t| Vec3::new(0.76 - 0.20 * t, 1.38 + 0.07 * t, side * (0.12 + 0.17 * t)))
            .collect();
        mesh.append(
            &tube(
                &ear,
                |t| 0.05 * (t * 3.0 + 0.35).min(1.0) * (1.0 - t * 0.93),
                8,
                false,
            )
            .tinted(coral),
        );
    }
    // Crest: leaf-shaped plates from the head along neck, back and tail.
    let mut line = vec![
        Vec3::new(0.72, 1.5, 0.0),
        Vec3::new(0.60, 1.22, 0.0),
        Vec3::new(0.54, 0.98, 0.0),
        Vec3::new(0.40, 0.75, 0.0),
    ];
    line.extend([
        Vec3::new(0.14, 0.66, 0.0),
        Vec3::new(-0.2, 0.68, 0.0),
        Vec3::new(-0.5, 0.62, 0.0),
    ]);
    line.extend((0..=8).map(|i| tail_curve(i as f32 / 8.0) + Vec3::Y * 0.1));
    let lengths: Vec<f32> = line.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
    let total: f32 = lengths.iter().sum();
    let plates = 26;
    for i in 0..plates {
        let share = (i as f32 + 0.3) / plates as f32;
        let mut rest = share * total;
        let mut segment = 0;
        while rest > lengths[segment] {
            rest -= lengths[segment];
            segment += 1;
        }
        let along = (line[segment + 1] - line[segment]).normalize();
        let mut p = line[segment] + along * rest;
        let field = |p: Vec3| body_distance(bones, p);
        let mut out = gradient(field, p);
        for _ in 0..4 {
            p -= out * field(p);
            out = gradient(field, p).with_z(out.z * 0.2).normalize();
        }
        let height = 0.14 * (0.35 + 0.65 * (share * 3.0).min(1.0)) * (1.0 - 0.62 * share);
        mesh.append(&plate(p - out * 0.015, out, along, height).tinted(coral.lerp(bone, 0.25 * share)));
    }
    mesh
}

/// Creates a plate of the crest, a flat pyramid that leans backwards.
fn plate(foot: Vec3, out: Vec3, along: Vec3, height: f32) -> Mesh {
    let mut mesh = Mesh::default();
    let side = along.cross(out).normalize();
    let tip = foot + out * height + along * height * 0.55;
    let (front, back) = (foot - along * height * 0.42, foot + along * height * 0.42);
    for sign in [-1.0, 1.0] {
        let middle = foot + side * sign * height * 0.16;
        for (a, b) in [(front, middle), (middle, back)] {
            let mut normal = (b - a).cross(tip - a).normalize();
            normal *= normal.dot(side * sign).signum();
            let [a, b, c] = [a, b, tip].map(|p| mesh.vertex(p, normal, Vec2::ZERO));
            mesh.triangle(a, b, c);
        }
    }
    mesh
}

/// Builds the creature.
pub(crate) fn build() -> Creature {
    let (joints, bones, wing_bones, head) = skeleton();
    let field = |p: Vec3| body_distance(&bones, p);
    let body =
        surface_nets(field, Vec3::new(-2.3, -0.1, -0.62), Vec3::new(1.4, 1.68, 1.15)).painted(hide_color);
    let horn = horns(&bones);
    let body_skin = skin(&bones, joints.len(), &body.positions);
    let wing = wings();
    let wing_skin = skin(&wing_bones, joints.len(), &wing.positions);
    let horn_skin = skin(&bones, joints.len(), &horn.positions);
    let eyes = [-1.0, 1.0].map(|side| Vec3::new(0.925, 1.45, 0.112 * side) - joints[head].position);
    Creature {
        joints,
        body,
        body_skin,
        horn,
        horn_skin,
        wing,
        wing_skin,
        eyes,
        head,
    }
}

/// Returns the rotation of a joint at a fraction of the loop.
pub(crate) fn pose(joint: &Joint, share: f32) -> Quat {
    let wave = |times: f32, phase: f32| (TAU * (share * times - phase)).sin();
    // Smooth bump between two fractions of the loop.
    let bump = |from: f32, to: f32| {
        let t = ((share - from) / (to - from)).clamp(0.0, 1.0);
        (t * std::f32::consts::PI).sin().powi(2)
    };
    let number: f32 = joint
        .name
        .rsplit(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1.0);
    let turn = |yaw: f32, pitch: f32, roll: f32| {
        Quat::from_rotation_y(yaw) * Quat::from_rotation_z(pitch) * Quat::from_rotation_x(roll)
    };
    let flap = |amount: f32| {
        let flutter = bump(0.62, 0.88) * (TAU * share * 9.0).sin();
        Quat::from_rotation_x(amount * (0.14 * wave(1.0, 0.15) + 0.34 * flutter + 0.25 * bump(0.6, 0.9)))
    };
    match joint
        .name
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ')
    {
        "neck" => turn(
            0.13 * wave(1.0, 0.05 * number),
            0.06 * wave(2.0, 0.08 * number) - 0.05 * bump(0.15, 0.6),
            0.03 * wave(1.0, 0.2),
        ),
        "head" => turn(
            0.22 * wave(1.0, 0.3),
            -0.10 + 0.10 * wave(2.0, 0.4),
            0.16 * wave(1.0, 0.45),
        ),
        "tail" => turn(
            0.15 * wave(1.0, 0.09 * number),
            0.03 * wave(2.0, 0.12 * number) * (number > 2.0) as u8 as f32,
            0.0,
        ),
        "spine" if number > 1.0 => turn(0.008 * wave(1.0, 0.1), 0.008 * wave(2.0, 0.0), 0.0),
        // The wings rise and fall slowly, and flutter once.
        "left wing" => flap(0.5 * number),
        "right wing" => flap(0.5 * number).inverse(),
        // One paw is lifted and lowered again.
        "right arm" => {
            let lift = bump(0.3, 0.72);
            match number as u32 {
                1 => turn(0.0, 0.75 * lift, 0.0),
                2 => turn(0.0, 0.35 * lift, 0.0),
                _ => turn(0.0, -0.9 * lift, 0.0),
            }
        }
        _ => Quat::IDENTITY,
    }
}
