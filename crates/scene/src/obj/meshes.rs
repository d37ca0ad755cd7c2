//! Meshes of an OBJ: triangulates polygons, computes missing normals, and shares vertices.

use super::{
    materials::Materials,
    model::{Corner, Model},
    polygon,
};
use crate::{
    Result,
    files::shorten,
    graph::Scene,
    load::{Budget, Load, POINTS_AND_LINES},
    mesh::{Mesh, Primitive, Shading},
    node::{Node, Transform},
    surface,
};
use glam::{DQuat, DVec3, Vec2, Vec3};
use std::collections::{BTreeMap, HashMap};

/// Crease angle: an edge is hard if the normals of its triangles differ by more, and the file gives no
/// normals.
const CREASE_RADIANS: f32 = std::f32::consts::FRAC_PI_3;

/// Triangles as indices of the model's corners. Each has a flag that is true if it is in a smoothing group.
type Triangles = Vec<([usize; 3], bool)>;

/// Elements of one object with one material, as indices of the model's corners.
#[derive(Default)]
struct Group {
    triangles: Triangles,
    lines: Vec<[usize; 2]>,
    points: Vec<usize>,
}

/// Triangulates the faces, and sorts them into a mesh per object and a primitive per material. Lines and
/// points get a primitive of their own.
pub(super) fn build(
    model: &Model,
    materials: &mut Materials<'_>,
    scene: &mut Scene,
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let mut groups: BTreeMap<(u32, usize), Group> = BTreeMap::new();
    let (mut unfinished, mut spare_tests) = (0, polygon::SPARE_TESTS);
    for face in &model.faces {
        load.progress().check()?;
        let corners = &model.corners[face.corners.clone()];
        let outline: Vec<Vec3> = corners
            .iter()
            .map(|c| model.positions[c.position as usize])
            .collect();
        let (triangles, complete) = polygon::triangulate(&outline, &mut spare_tests);
        unfinished += usize::from(!complete);
        let material = materials.index_of(face.material);
        let first = face.corners.start;
        let group = groups.entry((face.object, material)).or_default();
        group
            .triangles
            .extend(triangles.iter().map(|t| (t.map(|c| first + c), face.smooth)));
    }
    for points in &model.points {
        let key = (points.object, materials.index_of(points.material));
        groups
            .entry(key)
            .or_default()
            .points
            .extend(points.corners.clone());
    }
    for line in &model.lines {
        let key = (line.object, materials.index_of(line.material));
        let pairs = line.corners.clone().zip(line.corners.clone().skip(1));
        let pairs = pairs.map(|(from, to)| [from, to]);
        groups.entry(key).or_default().lines.extend(pairs);
    }
    if !(model.points.is_empty() && model.lines.is_empty()) {
        warnings.push(POINTS_AND_LINES.into());
    }
    if unfinished > 0 {
        warnings.push(format!(
            "{unfinished} polygons intersect themselves or are too complex, and are triangulated as fans"
        ));
    }
    let normals = generated_normals(model, groups.values().flat_map(|group| &group.triangles));
    let mut object_before = None;
    for ((object, material), group) in &groups {
        load.progress().check()?;
        let surface = primitive(model, *material, &group.triangles, &normals);
        let thin = lines_and_points(model, *material, group);
        let vertices = (surface.positions.len() + thin.positions.len()) as u64;
        load.take(Budget::Vertices, vertices, || {
            format!("object \"{}\"", shorten(&model.objects[*object as usize]))
        })?;
        if object_before.replace(*object) != Some(*object) {
            let name = model.objects[*object as usize].clone();
            load.take(Budget::Nodes, 1, || format!("object \"{}\"", shorten(&name)))?;
            scene.nodes.push(Node {
                name: name.clone(),
                parent: None,
                transform: Transform::Trs {
                    translation: DVec3::ZERO,
                    rotation: DQuat::IDENTITY,
                    scale: DVec3::ONE,
                },
                mesh: Some(scene.meshes.len()),
                skin: None,
                weights: Vec::new(),
                light: None,
                camera: None,
                ..Node::default()
            });
            scene.meshes.push(Mesh {
                name,
                primitives: Vec::new(),
            });
        }
        if let Some(mesh) = scene.meshes.last_mut() {
            let primitives = [surface, thin].into_iter();
            mesh.primitives.extend(primitives.filter(|p| !p.is_empty()));
        }
    }
    Ok(())
}

/// Computes normals for the corners that have none in the file, indexed by corner. Those of other corners are
/// zero.
fn generated_normals<'a>(
    model: &Model,
    triangles: impl Iterator<Item = &'a ([usize; 3], bool)>,
) -> Vec<Vec3> {
    let missing = |corner: usize| model.normal(&model.corners[corner]).is_none();
    let incomplete: Triangles = triangles
        .filter(|(t, _)| t.iter().any(|&c| missing(c)))
        .copied()
        .collect();
    let mut positions: Vec<[u32; 3]> = incomplete
        .iter()
        .map(|(t, _)| t.map(|c| model.corners[c].position))
        .collect();
    surface::weld(&model.positions, &mut positions);
    let smooth: Vec<bool> = incomplete.iter().map(|(_, smooth)| *smooth).collect();
    let normals = surface::creased_normals(&model.positions, &positions, &smooth, CREASE_RADIANS);
    // A corner of a polygon is in several triangles. The one that was made last determines its normal.
    let mut generated = vec![Vec3::ZERO; model.corners.len()];
    for ((corners, _), normals) in incomplete.iter().zip(normals) {
        for (corner, normal) in corners.iter().zip(normals) {
            generated[*corner] = normal;
        }
    }
    generated
}

/// Builds a primitive with one vertex for every distinct combination of position, texture coordinates and
/// normal.
fn primitive(
    model: &Model,
    material: usize,
    triangles: &[([usize; 3], bool)],
    generated: &[Vec3],
) -> Primitive {
    let mut out = Primitive {
        material,
        ..Primitive::default()
    };
    let corner = |c: usize| &model.corners[c];
    let used = |has: &dyn Fn(&Corner) -> bool| {
        let corners = triangles.iter().flat_map(|(t, _)| t);
        corners.into_iter().any(|&c| has(corner(c)))
    };
    let textured = used(&|c| model.uv(c).is_some());
    let coloured = used(&|c| model.color(c).is_some());
    let mut known: HashMap<(u32, u32, [u32; 3]), u32> = HashMap::with_capacity(triangles.len() / 2);
    for (triangle, _) in triangles {
        out.indices.push(triangle.map(|c| {
            let at = corner(c);
            let normal = model.normal(at).unwrap_or(generated[c]);
            *known
                .entry((at.position, at.uv, normal.to_array().map(f32::to_bits)))
                .or_insert_with(|| {
                    out.positions.push(model.positions[at.position as usize]);
                    out.normals.push(normal);
                    if textured {
                        out.uv0.push(model.uv(at).unwrap_or(Vec2::ZERO));
                    }
                    if coloured {
                        out.colors.push(model.color(at).unwrap_or(Vec3::ONE).extend(1.0));
                    }
                    out.positions.len() as u32 - 1
                })
        }));
    }
    out
}

/// Builds a primitive with one vertex for every distinct combination of position and texture coordinates,
/// without normals.
fn lines_and_points(model: &Model, material: usize, group: &Group) -> Primitive {
    let corners = || group.lines.as_flattened().iter().chain(&group.points);
    let corner = |c: &usize| &model.corners[*c];
    let textured = corners().any(|c| model.uv(corner(c)).is_some());
    let coloured = corners().any(|c| model.color(corner(c)).is_some());
    let mut out = Primitive {
        material,
        shading: Shading::Unlit,
        ..Primitive::default()
    };
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    let mut vertex = |c: &usize| {
        let at = corner(c);
        *known.entry((at.position, at.uv)).or_insert_with(|| {
            out.positions.push(model.positions[at.position as usize]);
            out.normals.push(Vec3::Y);
            if textured {
                out.uv0.push(model.uv(at).unwrap_or(Vec2::ZERO));
            }
            if coloured {
                out.colors.push(model.color(at).unwrap_or(Vec3::ONE).extend(1.0));
            }
            out.positions.len() as u32 - 1
        })
    };
    let lines = group
        .lines
        .iter()
        .map(|line| line.each_ref().map(&mut vertex))
        .collect();
    let points = group.points.iter().map(&mut vertex).collect();
    Primitive { lines, points, ..out }
}
