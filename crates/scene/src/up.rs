//! Up axis of a file, and the rotation from it to +Y.

use super::{
    bounds::Aabb,
    graph::{Scene, UpHint},
};
use crate::settings::UpAxis;
use glam::{Mat4, Vec3};

/// Maximum number of bytes at the start of an OBJ in which comments are searched for the axis.
const MAX_HEADER_BYTES: usize = 8192;

/// Programs whose OBJ files always have +Z up.
const Z_UP_PROGRAMS: [&str; 2] = ["freecad", "openscad"];

/// Words in comments about the program that wrote the file. Other comments may mention any program.
const WRITTEN_BY: [&str; 4] = ["created by", "exported", "exporter", "generator"];

/// Returns `world_from_file`, an exact rotation from `axis` to +Y.
fn world_from_file(axis: UpAxis) -> Mat4 {
    let [x, y, z] = match axis {
        UpAxis::Auto | UpAxis::Y => return Mat4::IDENTITY,
        UpAxis::NegativeY => [Vec3::X, Vec3::NEG_Y, Vec3::NEG_Z],
        UpAxis::Z => [Vec3::X, Vec3::NEG_Z, Vec3::Y],
        UpAxis::NegativeZ => [Vec3::X, Vec3::Z, Vec3::NEG_Y],
        UpAxis::X => [Vec3::Y, Vec3::NEG_X, Vec3::Z],
        UpAxis::NegativeX => [Vec3::NEG_Y, Vec3::X, Vec3::Z],
    };
    Mat4::from_cols(x.extend(0.0), y.extend(0.0), z.extend(0.0), glam::Vec4::W)
}

impl Scene {
    /// Returns the up axis of the files for the setting `wanted`. [`UpAxis::Auto`] is the axis that the files
    /// specify or on which a scan stands, or else +Y.
    pub fn up_axis(&self, wanted: UpAxis) -> UpAxis {
        match (wanted, self.up) {
            (UpAxis::Auto, UpHint::Stated(axis) | UpHint::Stands(axis)) => axis,
            (UpAxis::Auto, _) => UpAxis::Y,
            (axis, _) => axis,
        }
    }

    /// Turns the scene so that [`Scene::up_axis`] points up.
    pub fn set_up_axis(&mut self, wanted: UpAxis) {
        self.world_from_file = world_from_file(self.up_axis(wanted));
    }
}

/// Returns the axis that the comments at the start of an OBJ specify, directly or through a program that
/// always uses it. Returns `None` if they contradict each other.
pub(super) fn stated(obj: &[u8]) -> Option<UpAxis> {
    let header = &obj[..obj.len().min(MAX_HEADER_BYTES)];
    let header = String::from_utf8_lossy(header).to_ascii_lowercase();
    let comments = header
        .lines()
        .map(str::trim)
        .take_while(|line| line.is_empty() || line.starts_with('#'));
    let mut found = Vec::new();
    for comment in comments {
        found.extend(axis_in(comment));
        let has_one_of = |words: &[&str]| words.iter().any(|word| comment.contains(word));
        if has_one_of(&Z_UP_PROGRAMS) && has_one_of(&WRITTEN_BY) {
            found.push(UpAxis::Z);
        }
    }
    let (first, others) = found.split_first()?;
    others.iter().all(|other| other == first).then_some(*first)
}

/// Returns the up axis in a lower-case comment: "Z up", "z-up", "up axis: Z", "up = +z", "Z_UP".
fn axis_in(comment: &str) -> Option<UpAxis> {
    let words: Vec<&str> = comment
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '+' && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let joined = |word: &str| axis(word.strip_suffix("up")?.trim_end_matches('-'));
    let at = |index: usize| words.get(index).copied().unwrap_or_default();
    (0..words.len()).find_map(|i| match at(i) {
        "up" => {
            let between = ["axis", "vector", "direction", "is"];
            let after = if between.contains(&at(i + 1)) { 2 } else { 1 };
            axis(at(i + after)).or_else(|| axis(at(i.checked_sub(1)?)))
        }
        "upaxis" | "up-axis" | "upvector" | "up-vector" => axis(at(i + 1)),
        word => joined(word),
    })
}

fn axis(word: &str) -> Option<UpAxis> {
    Some(match word {
        "x" | "+x" => UpAxis::X,
        "y" | "+y" => UpAxis::Y,
        "z" | "+z" => UpAxis::Z,
        "-x" => UpAxis::NegativeX,
        "-y" => UpAxis::NegativeY,
        "-z" => UpAxis::NegativeZ,
        _ => return None,
    })
}

/// Minimum area of a base, relative to that side of the scene's bounding box.
const MIN_BASE: f32 = 0.15;

/// Maximum area of any other base, relative to the largest.
const MAX_OTHER: f32 = 0.25;

/// Minimum height of a scan, relative to the longer side of its base. A relief or a clock is flat, and its
/// back looks like a base.
const MIN_HEIGHT: f32 = 0.8;

/// Detects a base other than the one at −Y: the only side of the bounding box that a flat surface fills. A
/// scan is turned automatically. It is tall, has one primitive, and has no materials. Other shapes are only
/// suggested to the user.
pub(super) fn stands(scene: &Scene) -> UpHint {
    let primitives = || scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let bounds = Aabb::from_points(primitives().flat_map(|p| p.positions.iter().copied()));
    let size = bounds.max - bounds.min;
    let extent = size.max_element();
    if bounds.is_empty() || !extent.is_finite() || size.min_element() <= 0.02 * extent {
        return UpHint::None;
    }
    // Covered fraction of the sides at −X, −Y, −Z, +X, +Y and +Z.
    let mut bases = [0.0_f32; 6];
    for primitive in primitives() {
        for triangle in &primitive.indices {
            let corners = triangle.map(|vertex| primitive.positions[vertex as usize]);
            let [a, b, c] = corners;
            let doubled = (b - a).cross(c - a);
            for (side, base) in bases.iter_mut().enumerate() {
                let (axis, outward) = (side % 3, if side < 3 { -1.0 } else { 1.0 });
                let face = if side < 3 { bounds.min } else { bounds.max }[axis];
                let is_near = |corner: &Vec3| (corner[axis] - face).abs() <= 0.02 * size[axis];
                if outward * doubled[axis] > 0.97 * doubled.length() && corners.iter().all(is_near) {
                    let across = size[(axis + 1) % 3] * size[(axis + 2) % 3];
                    *base += 0.5 * doubled[axis].abs() / across;
                }
            }
        }
    }
    let (side, base) = (0..6).zip(bases).fold(
        (1, 0.0),
        |best, found| {
            if found.1 > best.1 { found } else { best }
        },
    );
    let others = (0..6).filter(|other| *other != side);
    let is_alone = others.into_iter().all(|other| bases[other] <= MAX_OTHER * base);
    let up = match side {
        0 => UpAxis::X,
        2 => UpAxis::Z,
        3 => UpAxis::NegativeX,
        4 => UpAxis::NegativeY,
        5 => UpAxis::NegativeZ,
        _ => return UpHint::None,
    };
    if base < MIN_BASE || !is_alone {
        return UpHint::None;
    }
    let axis = side % 3;
    let across = size[(axis + 1) % 3].max(size[(axis + 2) % 3]);
    let is_scan = primitives().count() == 1
        && scene.materials.iter().all(|material| material.is_placeholder)
        && size[axis] >= MIN_HEIGHT * across;
    match is_scan {
        true => UpHint::Stands(up),
        false => UpHint::Likely(up),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Progress, load_bytes, settings};

    fn load(obj: &str) -> Scene {
        let limits = settings::Settings::default().load;
        load_bytes("a.obj", obj.as_bytes(), &limits, &Progress::default()).unwrap()
    }

    /// Appends a box between two corners.
    fn cuboid(min: [f32; 3], max: [f32; 3], text: &mut String) {
        for i in 0..8 {
            let at = |axis: usize| {
                if i >> axis & 1 == 0 { min[axis] } else { max[axis] }
            };
            *text += &format!("v {} {} {}\n", at(0), at(1), at(2));
        }
        for face in ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"] {
            let corner = |n: &str| format!(" {}", n.parse::<i32>().unwrap() - 9);
            *text += &format!("f{}\n", face.split(' ').map(corner).collect::<String>());
        }
    }

    #[test]
    fn each_up_axis_is_rotated_to_y_without_mirroring() {
        for (axis, up) in [
            (UpAxis::X, Vec3::X),
            (UpAxis::Y, Vec3::Y),
            (UpAxis::Z, Vec3::Z),
            (UpAxis::NegativeX, Vec3::NEG_X),
            (UpAxis::NegativeY, Vec3::NEG_Y),
            (UpAxis::NegativeZ, Vec3::NEG_Z),
        ] {
            let turn = world_from_file(axis);
            assert_eq!(turn.transform_vector3(up), Vec3::Y, "{axis:?}");
            assert_eq!(turn.determinant(), 1.0, "{axis:?}");
        }
        assert_eq!(world_from_file(UpAxis::Auto), Mat4::IDENTITY);
    }

    #[test]
    fn the_up_axis_is_read_from_comments() {
        for (header, expected) in [
            ("# Blender 4.2\n# www.blender.org", None),
            ("# 3ds Max Wavefront OBJ Exporter v0.97b", None),
            ("# Created by FreeCAD <https://www.freecad.org>", Some(UpAxis::Z)),
            ("# OpenSCAD obj exporter", Some(UpAxis::Z)),
            ("# remodelled after a part in FreeCAD", None),
            ("# Exported from FreeCAD 1.0", Some(UpAxis::Z)),
            ("# Up axis: Z", Some(UpAxis::Z)),
            ("#up_axis = +Y", Some(UpAxis::Y)),
            ("# UpAxis=Z_UP", Some(UpAxis::Z)),
            ("# exported Z-up, in metres", Some(UpAxis::Z)),
            ("# up: -z", Some(UpAxis::NegativeZ)),
            ("# x is up", None),
            ("# group up next", None),
            ("# z up\n# y up", None),
            ("v 0 0 0\n# z up", None),
            ("", None),
        ] {
            assert_eq!(stated(header.as_bytes()), expected, "{header}");
        }
    }

    #[test]
    fn comments_in_utf_16_are_read() {
        let text = "\u{feff}# OpenSCAD obj exporter\nv 0 0 0\nv 1 0 0\nv 0 0 3\nf 1 2 3\n";
        let limits = settings::Settings::default().load;
        for bytes in [
            text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
            text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        ] {
            let scene = load_bytes("a.obj", &bytes, &limits, &Progress::default()).unwrap();
            assert_eq!(scene.up, UpHint::Stated(UpAxis::Z));
            let made = scene.sources[0].generator.as_deref();
            assert_eq!(made, Some("OpenSCAD obj exporter"));
        }
    }

    /// Returns a slab with a pillar on it, whose height is along the axis `up`.
    fn table(up: usize, sign: f32, height: f32) -> String {
        let at = |across: f32, along: f32, height: f32| {
            let mut at = [across; 3];
            (at[(up + 1) % 3], at[up]) = (along, sign * height);
            at
        };
        let mut text = String::new();
        let mut add = |a: [f32; 3], b: [f32; 3]| {
            let [min, max] = [0, 1]
                .map(|end| std::array::from_fn(|i| if end == 0 { a[i].min(b[i]) } else { a[i].max(b[i]) }));
            cuboid(min, max, &mut text);
        };
        add(at(-1.0, -0.6, 0.0), at(1.0, 0.6, 0.1));
        add(at(-0.3, -0.3, 0.1), at(0.3, 0.3, height));
        text
    }

    #[test]
    fn models_that_lie_on_their_side_are_detected() {
        for (up, sign, axis) in [
            (2, 1.0, UpAxis::Z),
            (2, -1.0, UpAxis::NegativeZ),
            (0, 1.0, UpAxis::X),
            (0, -1.0, UpAxis::NegativeX),
            (1, -1.0, UpAxis::NegativeY),
        ] {
            let flat = load(&table(up, sign, 1.5)).up;
            assert_eq!(flat, UpHint::Likely(axis), "it is flat");
            let tall = load(&table(up, sign, 1.9));
            assert_eq!(tall.up, UpHint::Stands(axis));
            assert_eq!(tall.up_axis(UpAxis::Auto), axis);
            let mut colored = tall;
            colored.materials[0].is_placeholder = false;
            assert_eq!(stands(&colored), UpHint::Likely(axis), "it is no scan");
        }
        assert_eq!(load(&table(1, 1.0, 1.9)).up, UpHint::None);
        let of = |min, max| {
            let mut text = String::new();
            cuboid(min, max, &mut text);
            stands(&load(&text))
        };
        let ball = of([-1.0; 3], [1.0; 3]);
        assert_eq!(ball, UpHint::None, "it has six");
        let tower = of([-1.0, -1.0, 0.0], [1.0, 1.0, 5.0]);
        assert_eq!(tower, UpHint::None, "its sides are bases as well");
        let sheet = load("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
        assert_eq!(stands(&sheet), UpHint::None);
        assert_eq!(stands(&Scene::default()), UpHint::None);
    }

    #[test]
    fn auto_uses_only_a_stated_up_axis() {
        let mut scene = Scene {
            up: UpHint::Likely(UpAxis::Z),
            ..Scene::default()
        };
        assert_eq!(scene.up_axis(UpAxis::Auto), UpAxis::Y);
        scene.up = UpHint::Stated(UpAxis::Z);
        assert_eq!(scene.up_axis(UpAxis::Auto), UpAxis::Z);
        assert_eq!(scene.up_axis(UpAxis::X), UpAxis::X);
        let both = [UpHint::Stated(UpAxis::Z), UpHint::None];
        assert_eq!(UpHint::of_all(&both), UpHint::None);
        assert_eq!(UpHint::of_all(&both[..1]), both[0]);
        assert_eq!(UpHint::of_all(&[]), UpHint::None);
    }

    /// The rotation applies to everything below the root nodes.
    #[test]
    fn the_up_axis_rotates_everything_below_the_roots() {
        let mut scene = load("# Z up\nv 0 0 0\nv 1 0 0\nv 0 0 3\nf 1 2 3\n");
        assert_eq!(scene.up, UpHint::Stated(UpAxis::Z));
        scene.set_up_axis(UpAxis::Auto);
        let pose = crate::Pose::new(&scene, None, 0.0);
        let highest = crate::deform::positions(&scene, &pose);
        assert!(highest.contains(&Vec3::new(0.0, 3.0, 0.0)), "{highest:?}");
    }
}
