//! Meshes of the stone, timber and metal parts of the courtyard.

use crate::mesh::{
    Mesh, bar, bevel_box, circle, half_circle, lathe, plain_box, slab, spandrel, sphere, tube,
};
use crate::noise::{Rng, value};
use glam::{Mat4, Quat, Vec2, Vec3};
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// Width of an arcade bay.
pub(crate) const BAY: f32 = 2.6;
/// Height of the arcades up to the upper edge of the cornice.
pub(crate) const ARCADE_TOP: f32 = 4.2;
/// Height of the pavilion's floor.
pub(crate) const PLINTH: f32 = 0.32;
/// Half the pavilion's width between column axes, and the positions of the columns along its length.
pub(crate) const VAULT: f32 = 1.75;
pub(crate) const COLUMNS: [f32; 3] = [-2.4, 0.0, 2.4];
/// Height of the pavilion's columns, and of the top of the beams on them, above the courtyard.
pub(crate) const COLUMN_HEIGHT: f32 = 2.45;
pub(crate) const BEAM_TOP: f32 = PLINTH + COLUMN_HEIGHT + 0.2;
/// Height of the vault above the beams.
pub(crate) const RISE: f32 = 1.35;

/// Returns a grey-beige of random shade for a stone.
fn stone_tint(rng: &mut Rng, spread: f32) -> Vec3 {
    let shade = 1.0 - spread * rng.unit();
    Vec3::new(shade, shade * rng.range(0.965, 1.0), shade * rng.range(0.92, 1.0))
}

/// Creates paving in rows of slabs of three widths, within a rectangle at height `y`.
pub(crate) fn paving(low: Vec2, high: Vec2, y: f32, row: f32, seed: u64) -> Mesh {
    let mut rng = Rng::new(seed);
    let mut mesh = Mesh::default();
    let rows = ((high.y - low.y) / row).round().max(1.0) as usize;
    let depth = (high.y - low.y) / rows as f32;
    for r in 0..rows {
        let z = low.y + r as f32 * depth;
        let mut x = low.x;
        while x < high.x - 0.01 {
            let mut end = x + row * [0.8, 1.15, 1.5][(rng.unit() * 3.0) as usize % 3];
            if high.x - end < row * 0.6 {
                end = high.x;
            }
            let lift = rng.range(-0.004, 0.004);
            let stone = slab(Vec2::new(x, z), Vec2::new(end, z + depth), y + lift, 0.016);
            mesh.append(
                &stone
                    .tinted(stone_tint(&mut rng, 0.3))
                    .uv_shifted(Vec2::new(rng.unit(), rng.unit())),
            );
            x = end;
        }
    }
    mesh
}

/// Creates a step: a ring of blocks around a rectangle, `width` wide and from `bottom` to `top`.
pub(crate) fn step(half: Vec2, width: f32, bottom: f32, top: f32, seed: u64) -> Mesh {
    let mut rng = Rng::new(seed);
    let mut mesh = Mesh::default();
    let mut row = |from: Vec2, to: Vec2| {
        let along = to - from;
        let count = (along.length() / 1.05).round().max(1.0) as usize;
        let across = along.normalize().perp().abs() * width;
        for i in 0..count {
            let center = from + along * ((i as f32 + 0.5) / count as f32);
            let size = along.abs() / count as f32 + across;
            let block = bevel_box(
                Vec3::new(center.x, (bottom + top) * 0.5, center.y),
                Vec3::new(size.x, top - bottom, size.y),
                0.022,
            );
            // Neighbours and the floor hide the other faces.
            let inner = i > 0 && i + 1 < count;
            let block =
                block.facing(|n| n.y > -0.5 && !(inner && Vec2::new(n.x, n.z).dot(along).abs() > 0.5));
            mesh.append(
                &block
                    .tinted(stone_tint(&mut rng, 0.2))
                    .uv_shifted(Vec2::new(rng.unit(), rng.unit())),
            );
        }
    };
    let inner = half - Vec2::splat(width * 0.5);
    for sign in [-1.0, 1.0] {
        row(
            Vec2::new(-half.x, inner.y * sign),
            Vec2::new(half.x, inner.y * sign),
        );
        let end = half.y - width;
        row(Vec2::new(inner.x * sign, -end), Vec2::new(inner.x * sign, end));
    }
    mesh
}

/// Creates a column with base and capital, `height` high. `radius` is that of the foot of its shaft.
pub(crate) fn column(radius: f32, height: f32) -> Mesh {
    let r = radius;
    let mut profile = vec![
        (1.32 * r, 0.28 * r),
        (1.42 * r, 0.36 * r),
        (1.46 * r, 0.5 * r),
        (1.42 * r, 0.64 * r),
    ];
    profile.extend([
        (1.30 * r, 0.74 * r),
        (1.14 * r, 0.78 * r),
        (1.12 * r, 0.9 * r),
        (1.03 * r, 0.98 * r),
    ]);
    let (foot, head) = (1.0 * r, height - 1.35 * r);
    for i in 0..=6 {
        let t = i as f32 / 6.0;
        profile.push(((1.0 - 0.16 * t * t) * r, foot + (head - foot) * t));
    }
    profile.extend([
        (0.98 * r, head + 0.04 * r),
        (1.0 * r, head + 0.12 * r),
        (0.98 * r, head + 0.2 * r),
        (0.86 * r, head + 0.24 * r),
    ]);
    profile.extend([
        (0.9 * r, head + 0.42 * r),
        (1.08 * r, head + 0.66 * r),
        (1.32 * r, head + 0.82 * r),
        (1.36 * r, head + 0.94 * r),
    ]);
    let mut mesh = lathe(&profile, 22);
    let wide = 3.0 * r;
    mesh.append(&bevel_box(
        Vec3::Y * 0.15 * r,
        Vec3::new(wide, 0.3 * r, wide),
        0.012,
    ));
    mesh.append(&bevel_box(
        Vec3::Y * (height - 0.22 * r),
        Vec3::new(wide, 0.44 * r, wide),
        0.014,
    ));
    mesh
}

/// Creates an arcade bay along +X, from its column at the origin to that of the next bay: column, arch,
/// moulding and cornice.
pub(crate) fn arcade_bay() -> Mesh {
    let (spring, radius, depth) = (2.3, 1.04, 0.42);
    let middle = Vec3::X * BAY * 0.5;
    let mut mesh = column(0.17, spring);
    mesh.append(&spandrel(BAY, radius, spring, 3.86, depth).at(middle));
    for side in [-1.0, 1.0] {
        let ring: Vec<Vec3> = half_circle(radius + 0.07, 20)
            .iter()
            .map(|p| *p + middle + Vec3::new(0.0, spring, side * depth * 0.5))
            .collect();
        mesh.append(&bar(&ring, Vec3::Z, Vec2::new(0.07, 0.13)));
    }
    for (y, height, wider, bevel) in [
        (3.91, 0.1, 0.1, 0.02),
        (4.01, 0.1, 0.22, 0.03),
        (4.13, 0.14, 0.4, 0.035),
    ] {
        let course = bevel_box(
            middle + Vec3::Y * y,
            Vec3::new(BAY + bevel * 2.0, height, depth + wider),
            bevel,
        );
        mesh.append(&course.facing(|n| n.x.abs() < 0.5));
    }
    mesh
}

/// Creates a pier that ends an arcade.
pub(crate) fn pier() -> Mesh {
    let mut mesh = bevel_box(Vec3::Y * 0.15, Vec3::new(0.74, 0.3, 0.74), 0.03);
    mesh.append(&bevel_box(Vec3::Y * 2.08, Vec3::new(0.6, 3.56, 0.6), 0.025));
    mesh.append(&bevel_box(Vec3::Y * 2.25, Vec3::new(0.68, 0.1, 0.68), 0.02));
    mesh.append(&bevel_box(Vec3::Y * 3.91, Vec3::new(0.72, 0.1, 0.72), 0.02));
    mesh.append(&bevel_box(Vec3::Y * 4.01, Vec3::new(0.84, 0.1, 0.84), 0.03));
    mesh.append(&bevel_box(Vec3::Y * 4.13, Vec3::new(1.0, 0.14, 1.0), 0.035));
    mesh
}

/// Creates the back wall and roof of the loggia behind `bays` bays. It starts at the origin and is `depth`
/// deep towards −Z.
pub(crate) fn loggia(bays: usize, depth: f32) -> Mesh {
    let length = BAY * bays as f32;
    let mut mesh = Mesh::default();
    let mut rng = Rng::new(5);
    // Courses of large blocks, each block with its own shade.
    for course in 0..6 {
        let (low, high) = (course as f32 * 0.66, course as f32 * 0.66 + 0.66);
        let mut x = if course % 2 == 0 { 0.0 } else { -0.65 };
        while x < length {
            let (from, to) = (x.max(0.0), (x + 1.3).min(length));
            // An upright slab.
            let block = slab(Vec2::new(from, -high), Vec2::new(to, -low), -depth, 0.014);
            let block = block.moved(Mat4::from_rotation_x(FRAC_PI_2));
            mesh.append(&block.tinted(stone_tint(&mut rng, 0.16)));
            x += 1.3;
        }
    }
    mesh.append(&plain_box(
        Vec3::new(length * 0.5, 4.02, -depth * 0.5 - 0.16),
        Vec3::new(length, 0.24, depth + 0.25),
    ));
    // Wall behind the blocks, and wall at the right end.
    mesh.append(&plain_box(
        Vec3::new(length * 0.5, 1.95, -depth - 0.17),
        Vec3::new(length, 3.9, 0.3),
    ));
    mesh.append(&plain_box(
        Vec3::new(length + 0.05, 1.95, -depth * 0.5 - 0.16),
        Vec3::new(0.3, 3.9, depth - 0.28),
    ));
    // Ribs across the ceiling.
    for bay in 0..=bays {
        let center = Vec3::new(bay as f32 * BAY, 3.78, -depth * 0.5);
        mesh.append(&bevel_box(center, Vec3::new(0.26, 0.26, depth), 0.02));
    }
    mesh
}

/// Creates a railing of thin rods along +X, `length` long, standing on y = 0.
pub(crate) fn railing(length: f32, height: f32, spacing: f32) -> Mesh {
    let mut mesh = Mesh::default();
    let rod = |from: Vec3, to: Vec3, radius: f32| tube(&[from, to], |_| radius, 5, false);
    let count = (length / spacing).round() as usize;
    for i in 0..=count {
        let x = length * i as f32 / count as f32;
        let post = i % 8 == 0 || i == count;
        let (radius, top) = if post {
            (0.02, height + 0.06)
        } else {
            (0.0085, height)
        };
        mesh.append(&rod(Vec3::X * x, Vec3::new(x, top, 0.0), radius));
        if post {
            mesh.append(&sphere(0.036, 8).at(Vec3::new(x, top + 0.03, 0.0)));
        }
    }
    for y in [0.1, height - 0.12] {
        mesh.append(&rod(Vec3::Y * y, Vec3::new(length, y, 0.0), 0.009));
    }
    mesh.append(&bevel_box(
        Vec3::new(length * 0.5, height, 0.0),
        Vec3::new(length, 0.025, 0.045),
        0.008,
    ));
    mesh
}

/// Returns a point of the vault. `share` runs across it from 0 at −Z over the top to 1 at +Z.
pub(crate) fn vault_point(x: f32, share: f32, out: f32) -> Vec3 {
    let angle = PI * share;
    Vec3::new(
        x,
        BEAM_TOP + (RISE + out) * angle.sin(),
        -(VAULT + out) * angle.cos(),
    )
}

/// Creates the pavilion's timber: beams, ribs of the vault, and thin slats over them.
pub(crate) fn pergola() -> Mesh {
    let mut mesh = Mesh::default();
    let mut rng = Rng::new(31);
    let mut timber = |part: Mesh| {
        let shade = rng.range(0.7, 1.0);
        mesh.append(&part.tinted(Vec3::new(
            shade,
            shade * rng.range(0.94, 1.0),
            shade * rng.range(0.88, 1.0),
        )));
    };
    let length = 5.7;
    for z in [-VAULT, VAULT] {
        timber(bevel_box(
            Vec3::new(0.0, BEAM_TOP - 0.1, z),
            Vec3::new(length, 0.2, 0.16),
            0.015,
        ));
    }
    for x in COLUMNS {
        timber(bevel_box(
            Vec3::new(x, BEAM_TOP - 0.06, 0.0),
            Vec3::new(0.09, 0.12, VAULT * 2.0 + 0.5),
            0.012,
        ));
    }
    for i in 0..=12 {
        let x = -2.7 + 5.4 * i as f32 / 12.0;
        let rib: Vec<Vec3> = (0..=18).map(|s| vault_point(x, s as f32 / 18.0, 0.0)).collect();
        timber(bar(&rib, Vec3::X, Vec2::new(0.045, 0.085)));
    }
    for i in 1..24 {
        let share = i as f32 / 24.0;
        let (a, b) = (
            vault_point(0.0, share, 0.055),
            vault_point(0.0, share + 0.01, 0.055),
        );
        let lean = Quat::from_rotation_arc(Vec3::Z, (b - a).normalize());
        let slat = plain_box(Vec3::ZERO, Vec3::new(length + overhang(i) * 0.1, 0.022, 0.05));
        timber(slat.moved(Mat4::from_rotation_translation(lean, a)));
    }
    // Sunburst gables of thin rods.
    for x in [-2.7, 2.7] {
        for i in 1..10 {
            let share = i as f32 / 10.0;
            let (from, to) = (Vec3::new(x, BEAM_TOP, 0.0), vault_point(x, share, -0.03));
            let start = from + (to - from) * 0.26;
            timber(bar(&[start, to], Vec3::X, Vec2::new(0.022, 0.022)));
        }
        let ring: Vec<Vec3> = (0..=14)
            .map(|i| PI * i as f32 / 14.0)
            .map(|a| Vec3::new(x, BEAM_TOP + 0.26 * RISE * a.sin(), -0.26 * VAULT * a.cos()))
            .collect();
        timber(bar(&ring, Vec3::X, Vec2::new(0.03, 0.03)));
    }
    mesh
}

/// Returns a number in −1..1 of alternating sign, for slats of unequal length.
fn overhang(i: usize) -> f32 {
    [0.4, -0.7, 0.9, -0.2, 0.1][i % 5]
}

/// Creates a round basin with a moulded rim, standing on y = 0, and the pedestal in its middle.
pub(crate) fn basin() -> Mesh {
    let mut mesh = lathe(
        &[
            (1.02, 0.0),
            (1.02, 0.07),
            (0.97, 0.10),
            (0.95, 0.30),
            (0.97, 0.36),
            (1.03, 0.38),
            (1.05, 0.41),
            (1.05, 0.45),
            (1.03, 0.475),
            (0.88, 0.475),
            (0.86, 0.46),
            (0.85, 0.42),
            (0.85, 0.08),
            (0.0, 0.08),
        ],
        48,
    );
    mesh.append(&lathe(
        &[
            (0.20, 0.08),
            (0.20, 0.2),
            (0.12, 0.26),
            (0.085, 0.36),
            (0.09, 0.5),
            (0.16, 0.56),
            (0.17, 0.6),
            (0.0, 0.6),
        ],
        20,
    ));
    mesh
}

/// Creates a pedestal for the armillary sphere, 1 m high.
pub(crate) fn pedestal() -> Mesh {
    let mut mesh = bevel_box(Vec3::Y * 0.09, Vec3::new(0.74, 0.18, 0.74), 0.025);
    mesh.append(&lathe(
        &[
            (0.30, 0.18),
            (0.31, 0.22),
            (0.29, 0.27),
            (0.2, 0.31),
            (0.165, 0.4),
            (0.15, 0.6),
            (0.16, 0.78),
            (0.22, 0.84),
            (0.25, 0.86),
        ],
        22,
    ));
    mesh.append(&bevel_box(Vec3::Y * 0.91, Vec3::new(0.58, 0.1, 0.58), 0.02));
    mesh
}

/// Creates the fixed rings of the armillary sphere and its foot, centred on the sphere.
pub(crate) fn armillary_frame(radius: f32) -> Mesh {
    let mut mesh = tube(&circle(radius, 44), |_| 0.016, 7, true);
    let flat = Mat4::from_quat(Quat::from_rotation_x(FRAC_PI_2));
    mesh.append(&tube(&circle(radius * 1.02, 44), |_| 0.014, 7, true).moved(flat));
    let foot = [
        (0.16, -radius - 0.2),
        (0.165, -radius - 0.17),
        (0.06, -radius - 0.13),
        (0.03, -radius - 0.07),
        (0.035, -radius),
    ];
    mesh.append(&lathe(&foot, 16));
    mesh
}

/// Creates the part of the armillary sphere that rotates about +Y: meridian rings, an ecliptic, an arrow and
/// a ball.
pub(crate) fn armillary_core(radius: f32) -> Mesh {
    let r = radius * 0.9;
    let mut mesh = Mesh::default();
    for i in 0..3 {
        let turn = Mat4::from_rotation_y(PI * i as f32 / 3.0);
        mesh.append(&tube(&circle(r, 36), |_| 0.009, 5, true).moved(turn));
    }
    for (height, tilt) in [(0.0, 0.0), (0.42, 0.0), (-0.42, 0.0), (0.0, 0.41)] {
        let ring = circle(r * (1.0f32 - height * height).sqrt(), 36);
        let lay = Mat4::from_translation(Vec3::Y * height * r) * Mat4::from_rotation_x(FRAC_PI_2 + tilt);
        mesh.append(&tube(&ring, |_| 0.0085, 5, true).moved(lay));
    }
    mesh.append(&tube(
        &[Vec3::Y * -r * 1.1, Vec3::ZERO, Vec3::Y * r * 1.1],
        |_| 0.01,
        8,
        false,
    ));
    mesh.append(&sphere(0.1, 20));
    mesh
}

/// Creates a lantern of thin bars that hangs from the origin on a rod: the frames of six panes under a roof,
/// open below. The second mesh is emissive.
pub(crate) fn lantern(rod: f32) -> (Mesh, Mesh) {
    let mut frame = tube(&[Vec3::Y * rod, Vec3::Y * -0.6], |_| 0.008, 6, false);
    frame.append(&lathe(
        &[
            (0.20, -0.72),
            (0.19, -0.70),
            (0.1, -0.62),
            (0.035, -0.56),
            (0.02, -0.5),
        ],
        6,
    ));
    frame.append(&lathe(&[(0.0, -0.719), (0.20, -0.72)], 6).tinted(Vec3::splat(0.5)));
    for i in 0..6 {
        let (sin, cos) = (TAU * i as f32 / 6.0).sin_cos();
        let at = |r: f32, y: f32| Vec3::new(cos * r, y, sin * r);
        frame.append(&tube(
            &[at(0.185, -0.72), at(0.165, -0.92), at(0.14, -1.12)],
            |_| 0.009,
            6,
            false,
        ));
    }
    for (radius, y) in [(0.14, -1.12), (0.176, -0.82)] {
        let lay = Mat4::from_translation(Vec3::Y * y) * Mat4::from_rotation_x(FRAC_PI_2);
        frame.append(&tube(&circle(radius, 24), |_| 0.008, 6, true).moved(lay));
    }
    let glow = lathe(
        &[
            (0.0, -0.86),
            (0.045, -0.85),
            (0.07, -0.80),
            (0.065, -0.745),
            (0.04, -0.72),
        ],
        14,
    );
    (frame.at(Vec3::Y * -rod), glow.at(Vec3::Y * -rod))
}

/// Creates a pendant lamp that shines down, with its opening at the origin. The second mesh is emissive.
pub(crate) fn pendant(drop: f32) -> (Mesh, Mesh) {
    let mut shade = tube(
        &[
            Vec3::Y * 0.2,
            Vec3::Y * (0.2 + drop * 0.5),
            Vec3::Y * (0.2 + drop),
        ],
        |_| 0.008,
        6,
        false,
    );
    let inside = [(0.0, 0.165), (0.085, 0.125), (0.142, 0.055), (0.162, 0.0)];
    let outside = [
        (0.17, 0.0),
        (0.15, 0.06),
        (0.09, 0.13),
        (0.04, 0.17),
        (0.03, 0.22),
        (0.0, 0.23),
    ];
    shade.append(&lathe(&[&inside[..], &outside[..]].concat(), 24));
    (shade, sphere(0.05, 14).at(Vec3::Y * 0.09))
}

/// Returns the points of a wire between two points that sags by `sag` in its middle.
pub(crate) fn wire_points(from: Vec3, to: Vec3, sag: f32, count: usize) -> Vec<Vec3> {
    (0..=count)
        .map(|i| i as f32 / count as f32)
        .map(|t| from.lerp(to, t) - Vec3::Y * sag * 4.0 * t * (1.0 - t))
        .collect()
}

/// Creates the ground around the courtyard: grass with vertex colours.
pub(crate) fn ground(half: f32) -> Mesh {
    let count = 18;
    let mut mesh = Mesh::default();
    for j in 0..=count {
        for i in 0..=count {
            let p = (Vec2::new(i as f32, j as f32) / count as f32 * 2.0 - 1.0) * half;
            mesh.vertex(Vec3::new(p.x, -0.06, p.y), Vec3::Y, p / TILE_OF_GRASS);
        }
    }
    let row = count as u32 + 1;
    for j in 0..count as u32 {
        for i in 0..count as u32 {
            let a = j * row + i;
            mesh.quad(a, a + row, a + row + 1, a + 1);
        }
    }
    mesh.painted(|p, _| {
        let t = value(Vec2::new(p.x + 50.0, p.z + 50.0) * 0.45, 1024, 3);
        Vec3::new(0.30, 0.36, 0.16).lerp(Vec3::new(0.46, 0.44, 0.24), t)
    })
}

/// Metres per texture repeat on the ground.
const TILE_OF_GRASS: f32 = 3.0;
