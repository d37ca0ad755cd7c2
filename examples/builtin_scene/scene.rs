//! Composition of the scene: materials, placement, lights, cameras and the clip.

use crate::architecture::{self, ARCADE_TOP, BAY, BEAM_TOP, COLUMN_HEIGHT, COLUMNS, PLINTH, RISE, VAULT};
use crate::creature;
use crate::mesh::{Mesh, bevel_box, lathe, sphere, tube};
use crate::plants;
use crate::texture;
use crate::writer::{Interpolation, Part, Writer, vec3};
use anyhow::Result;
use glam::{Mat4, Quat, Vec2, Vec3};
use serde_json::{Value, json};
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// Duration of the loop in seconds.
const LOOP: f32 = 6.0;
/// Corners of the courtyard's floor, in X and Z.
const COURT: (Vec2, Vec2) = (Vec2::new(-7.2, -5.6), Vec2::new(8.4, 8.4));
/// Number of bays of the loggia at the back, and of the open arcade on the left.
const BACK_BAYS: usize = 6;
const SIDE_BAYS: usize = 4;
/// Position of the pavilion.
const PAVILION: Vec3 = Vec3::new(-1.3, 0.0, -1.0);
/// Direction towards the sun.
const SUN: Vec3 = Vec3::new(-0.78, 0.56, 0.32);

/// Material indices.
struct Materials {
    paving: usize,
    wall: usize,
    timber: usize,
    iron: usize,
    bronze: usize,
    foliage: usize,
    leaves: usize,
    bark: usize,
    clay: usize,
    grass: usize,
    grout: usize,
    water: usize,
    petal: usize,
    glow: usize,
    hide: usize,
    horn: usize,
    eye: usize,
}

impl Materials {
    fn new(writer: &mut Writer) -> Result<Self> {
        let stone = texture::stone()?;
        let base = writer.texture("stone colour", &stone.base_color);
        let normal = writer.texture("stone normal", &stone.normal);
        let orm = writer.texture(
            "stone occlusion roughness metallic",
            &stone.occlusion_roughness_metallic,
        );
        let leaves = writer.texture("leaves", &texture::leaves()?);
        let stone = |name: &str, color: [f64; 3], normal_scale: f64| {
            json!({
                "name": name,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [color[0], color[1], color[2], 1.0],
                    "baseColorTexture": {"index": base},
                    "metallicRoughnessTexture": {"index": orm},
                    "metallicFactor": 0.0,
                },
                "normalTexture": {"index": normal, "scale": normal_scale},
                "occlusionTexture": {"index": orm, "strength": 0.8},
            })
        };
        let plain = |name: &str, color: [f64; 3], metallic: f64, roughness: f64| {
            json!({
                "name": name,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [color[0], color[1], color[2], 1.0],
                    "metallicFactor": metallic,
                    "roughnessFactor": roughness,
                },
            })
        };
        let with = |mut material: Value, extra: Value| {
            if let (Some(material), Value::Object(extra)) = (material.as_object_mut(), extra) {
                material.extend(extra);
            }
            material
        };
        let mask = json!({
            "name": "leaves",
            "pbrMetallicRoughness": {
                "baseColorTexture": {"index": leaves},
                "metallicFactor": 0.0,
                "roughnessFactor": 0.75
            },
            "alphaMode": "MASK",
            "alphaCutoff": 0.5,
            "doubleSided": true,
        });
        let water = json!({
            "name": "water",
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.05, 0.16, 0.17, 0.62],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.08
            },
            "alphaMode": "BLEND",
        });
        let glow = with(
            plain("lantern glass", [0.9, 0.7, 0.4], 0.0, 0.4),
            json!({"emissiveFactor": [1.0, 0.72, 0.34]}),
        );
        let mut add = |material: Value| writer.material(material);
        Ok(Self {
            paving: add(stone("paving", [0.86, 0.80, 0.71], 1.0)),
            wall: add(stone("limestone", [1.0, 0.95, 0.86], 0.8)),
            timber: add(plain("timber", [0.30, 0.175, 0.10], 0.0, 0.7)),
            iron: add(plain("iron", [0.035, 0.036, 0.04], 0.0, 0.45)),
            bronze: add(plain("bronze", [0.92, 0.62, 0.30], 1.0, 0.34)),
            foliage: add(plain("foliage", [1.0, 1.0, 1.0], 0.0, 0.9)),
            leaves: add(mask),
            bark: add(plain("bark", [0.21, 0.16, 0.12], 0.0, 0.9)),
            clay: add(plain("terracotta", [0.50, 0.22, 0.12], 0.0, 0.8)),
            grass: add(plain("grass", [0.6, 0.6, 0.6], 0.0, 0.95)),
            grout: add(plain("joints", [0.16, 0.14, 0.12], 0.0, 1.0)),
            water: add(water),
            petal: add(with(
                plain("petals and membranes", [1.0, 1.0, 1.0], 0.0, 0.55),
                json!({"doubleSided": true}),
            )),
            glow: add(glow),
            hide: add(plain("hide", [1.0, 1.0, 1.0], 0.0, 0.5)),
            horn: add(plain("horn", [1.0, 1.0, 1.0], 0.0, 0.5)),
            eye: add(plain("eye", [1.0, 1.0, 1.0], 0.0, 0.12)),
        })
    }
}

/// Adds a mesh of one part under a parent.
fn place(
    writer: &mut Writer,
    parent: Option<usize>,
    name: &str,
    mesh: &Mesh,
    material: usize,
    at: Vec3,
) -> usize {
    let mesh = writer.mesh(name, &[Part::rigid(mesh, material)]);
    writer.node(
        parent,
        json!({"name": name, "mesh": mesh, "translation": vec3(at)}),
    )
}

/// Adds another node for an existing mesh, turned about +Y.
fn again(writer: &mut Writer, name: &str, mesh: usize, at: Vec3, turn: f32, scale: Vec3) {
    let rotation = Quat::from_rotation_y(turn).to_array();
    let node = json!({
        "name": name,
        "mesh": mesh,
        "translation": vec3(at),
        "rotation": rotation,
        "scale": vec3(scale)
    });
    writer.node(None, node);
}

/// Builds the whole scene.
pub(crate) fn build() -> Result<Writer> {
    let mut writer = Writer::default();
    let materials = Materials::new(&mut writer)?;
    cameras(&mut writer);
    let sun = json!({"name": "sun", "type": "directional", "color": [1.0, 0.87, 0.68], "intensity": 4.0});
    writer.light(None, sun, SUN * 20.0, -SUN);
    courtyard(&mut writer, &materials);
    surroundings(&mut writer, &materials);
    pavilion(&mut writer, &materials);
    fountain(&mut writer, &materials);
    armillary(&mut writer, &materials);
    lantern(&mut writer, &materials);
    dragon(&mut writer, &materials);
    Ok(writer)
}

fn cameras(writer: &mut Writer) {
    writer.camera(
        "main",
        34.5,
        Vec3::new(5.1, 3.0, 11.4),
        Vec3::new(-0.6, 1.55, -1.0),
    );
    writer.camera(
        "close",
        34.0,
        Vec3::new(1.2, 1.45, 6.9),
        Vec3::new(2.35, 0.78, 2.2),
    );
}

fn courtyard(writer: &mut Writer, materials: &Materials) {
    let (low, high) = COURT;
    let (edge, back) = (0.7, 2.5);
    let mut floor = architecture::paving(Vec2::new(low.x - edge, low.y - 0.3), high, 0.0, 0.92, 1);
    floor.append(&architecture::paving(
        Vec2::new(low.x - edge, low.y - back),
        Vec2::new(high.x, low.y - 0.3),
        0.0,
        0.7,
        2,
    ));
    let size = high - low + Vec2::new(edge, back);
    let middle = (low + high - Vec2::new(edge, back)) * 0.5;
    let bed = bevel_box(
        Vec3::new(middle.x, -0.07, middle.y),
        Vec3::new(size.x + 0.1, 0.1, size.y + 0.1),
        0.01,
    );
    let mesh = writer.mesh(
        "courtyard floor",
        &[
            Part::rigid(&floor, materials.paving),
            Part::rigid(&bed, materials.grout),
        ],
    );
    writer.node(None, json!({"name": "courtyard floor", "mesh": mesh}));

    // The loggia at the back and the open arcade on the left use the same bay mesh.
    let bay = writer.mesh(
        "arcade bay",
        &[Part::rigid(&architecture::arcade_bay(), materials.wall)],
    );
    let pier = writer.mesh(
        "arcade pier",
        &[Part::rigid(&architecture::pier(), materials.wall)],
    );
    let corner = Vec3::new(low.x, 0.0, low.y);
    for i in 0..BACK_BAYS {
        again(
            writer,
            &format!("loggia bay {}", i + 1),
            bay,
            corner + Vec3::X * BAY * i as f32,
            0.0,
            Vec3::ONE,
        );
    }
    for i in 0..SIDE_BAYS {
        let at = corner + Vec3::Z * BAY * (i + 1) as f32;
        again(
            writer,
            &format!("arcade bay {}", i + 1),
            bay,
            at,
            FRAC_PI_2,
            Vec3::ONE,
        );
    }
    again(writer, "corner pier", pier, corner, 0.0, Vec3::ONE);
    again(
        writer,
        "arcade's end pier",
        pier,
        corner + Vec3::Z * BAY * SIDE_BAYS as f32,
        0.0,
        Vec3::ONE,
    );
    place(
        writer,
        None,
        "loggia",
        &architecture::loggia(BACK_BAYS, 2.5),
        materials.wall,
        corner,
    );
    let length = BAY * BACK_BAYS as f32;
    again(
        writer,
        "loggia's end pier",
        pier,
        corner + Vec3::X * length,
        0.0,
        Vec3::ONE,
    );
    let railing = writer.mesh(
        "railing",
        &[Part::rigid(
            &architecture::railing(length, 0.78, 0.13),
            materials.iron,
        )],
    );
    again(
        writer,
        "roof railing",
        railing,
        corner + Vec3::Y * ARCADE_TOP,
        0.0,
        Vec3::ONE,
    );
    let shorter = Vec3::new((high.y - low.y - 0.4) / length, 1.15, 1.0);
    again(
        writer,
        "terrace railing",
        railing,
        Vec3::new(high.x - 0.1, 0.0, high.y),
        FRAC_PI_2,
        shorter,
    );
}

fn surroundings(writer: &mut Writer, materials: &Materials) {
    place(
        writer,
        None,
        "grass",
        &architecture::ground(13.0),
        materials.grass,
        Vec3::new(0.0, 0.0, 0.0),
    );
    let hedge = writer.mesh(
        "hedge",
        &[Part::rigid(&plants::hedge(14.0, 1.7, 0.9), materials.foliage)],
    );
    again(
        writer,
        "hedge",
        hedge,
        Vec3::new(-10.6, -0.1, -1.5),
        0.0,
        Vec3::ONE,
    );
    let cypress = writer.mesh("cypress", &[Part::rigid(&plants::cypress(), materials.foliage)]);
    for (i, (x, z, size)) in [
        (-5.0, -9.6, 0.88),
        (-3.6, -10.4, 0.76),
        (4.6, -9.8, 0.92),
        (6.3, -10.6, 0.8),
        (-11.4, -7.0, 0.7),
    ]
    .into_iter()
    .enumerate()
    {
        let scale = Vec3::new(size * 1.15, size, size * 1.15);
        again(
            writer,
            &format!("cypress {}", i + 1),
            cypress,
            Vec3::new(x, -0.1, z),
            i as f32 * 1.7,
            scale,
        );
    }
    let (wood, crown) = plants::tree(8);
    let mesh = writer.mesh(
        "tree",
        &[
            Part::rigid(&wood, materials.bark),
            Part::rigid(&crown, materials.leaves),
        ],
    );
    again(writer, "tree", mesh, Vec3::new(-5.0, 0.0, 4.2), 0.6, Vec3::ONE);
    let planter = lathe(
        &[
            (0.62, 0.0),
            (0.66, 0.05),
            (0.62, 0.1),
            (0.66, 0.34),
            (0.74, 0.38),
            (0.74, 0.45),
            (0.64, 0.46),
            (0.62, 0.40),
            (0.0, 0.42),
        ],
        28,
    );
    place(
        writer,
        None,
        "fallen leaves",
        &plants::fallen(70, 3.6),
        materials.leaves,
        Vec3::new(-1.2, 0.0, 4.4),
    );
    let (clay, shrub) = plants::pot();
    let pot = writer.mesh(
        "pot",
        &[
            Part::rigid(&clay, materials.clay),
            Part::rigid(&shrub, materials.leaves),
        ],
    );
    for (i, (x, z, size)) in [
        (-4.75, 1.55, 1.15),
        (3.2, -4.9, 1.1),
        (5.8, -4.9, 1.2),
        (7.7, -4.6, 1.0),
    ]
    .into_iter()
    .enumerate()
    {
        again(
            writer,
            &format!("pot {}", i + 1),
            pot,
            Vec3::new(x, 0.0, z),
            i as f32 * 1.9,
            Vec3::splat(size),
        );
    }
    place(
        writer,
        None,
        "planter",
        &planter,
        materials.wall,
        Vec3::new(-5.0, 0.0, 4.2),
    );
}

fn pavilion(writer: &mut Writer, materials: &Materials) {
    let mut steps = architecture::step(Vec2::new(3.5, 2.75), 0.75, 0.0, PLINTH * 0.5, 11);
    steps.append(&architecture::step(
        Vec2::new(3.08, 2.33),
        0.7,
        PLINTH * 0.5,
        PLINTH,
        12,
    ));
    let paving = architecture::paving(
        Vec2::new(-2.38, -1.63),
        Vec2::new(2.38, 1.63),
        PLINTH - 0.004,
        0.66,
        13,
    );
    let bed = bevel_box(Vec3::Y * (PLINTH - 0.08), Vec3::new(4.8, 0.11, 3.3), 0.01);
    let parts = [
        (&steps, materials.wall),
        (&paving, materials.paving),
        (&bed, materials.grout),
    ];
    let mesh = writer.mesh(
        "plinth",
        &parts.map(|(mesh, material)| Part::rigid(mesh, material)),
    );
    let pavilion = writer.node(
        None,
        json!({"name": "pavilion", "mesh": mesh, "translation": vec3(PAVILION)}),
    );
    let column = writer.mesh(
        "pavilion column",
        &[Part::rigid(
            &architecture::column(0.13, COLUMN_HEIGHT),
            materials.wall,
        )],
    );
    for (i, x) in COLUMNS.into_iter().enumerate() {
        for z in [-VAULT, VAULT] {
            let name = format!("column {}{}", i + 1, if z < 0.0 { "b" } else { "a" });
            writer.node(
                Some(pavilion),
                json!({"name": name, "mesh": column, "translation": vec3(Vec3::new(x, PLINTH, z))}),
            );
        }
    }
    place(
        writer,
        Some(pavilion),
        "pergola",
        &architecture::pergola(),
        materials.timber,
        Vec3::ZERO,
    );
    let (stems, leaves) = plants::vine(&[Vec2::new(COLUMNS[0], VAULT), Vec2::new(COLUMNS[0], -VAULT)]);
    let mesh = writer.mesh(
        "vine",
        &[
            Part::rigid(&stems, materials.bark),
            Part::rigid(&leaves, materials.leaves),
        ],
    );
    writer.node(Some(pavilion), json!({"name": "vine", "mesh": mesh}));
    let rail = architecture::railing(COLUMNS[2] - COLUMNS[1] - 0.3, 0.8, 0.115);
    let mesh = writer.mesh("pavilion railing", &[Part::rigid(&rail, materials.iron)]);
    for (name, x) in [("railing left", COLUMNS[0]), ("railing right", COLUMNS[1])] {
        let at = Vec3::new(x + 0.15, PLINTH, -VAULT);
        writer.node(
            Some(pavilion),
            json!({"name": name, "mesh": mesh, "translation": vec3(at)}),
        );
    }
}

fn fountain(writer: &mut Writer, materials: &Materials) {
    let at = PAVILION + Vec3::Y * PLINTH;
    let basin = place(writer, None, "basin", &architecture::basin(), materials.wall, at);
    let water = lathe(&[(0.855, 0.0), (0.5, 0.0), (0.12, 0.0)], 40);
    place(
        writer,
        Some(basin),
        "water",
        &water,
        materials.water,
        Vec3::Y * 0.37,
    );
    place(
        writer,
        Some(basin),
        "lily pads",
        &plants::lily_pads(),
        materials.petal,
        Vec3::Y * 0.37,
    );
    let (petals, targets) = plants::flower();
    let mesh = writer.mesh(
        "flower",
        &[Part {
            mesh: &petals,
            material: materials.petal,
            skinning: None,
            targets: &targets,
        }],
    );
    let flower = writer.node(
        Some(basin),
        json!({"name": "flower", "mesh": mesh, "translation": [0.0, 0.6, 0.0]}),
    );
    place(
        writer,
        Some(flower),
        "flower's heart",
        &plants::heart(),
        materials.horn,
        Vec3::ZERO,
    );

    // Closed, half open, open, and back, with a pause at both ends.
    let times = [0.0, 1.3, 2.5, 3.3, 4.7, LOOP];
    let keys: [[f32; 2]; 6] = [
        [0.15, 0.85],
        [0.9, 0.1],
        [0.0, 0.0],
        [0.0, 0.0],
        [0.9, 0.1],
        [0.15, 0.85],
    ];
    let slope: [[f32; 2]; 6] = [
        [0.0, 0.0],
        [-0.1, -0.4],
        [0.0, 0.0],
        [0.0, 0.0],
        [0.1, 0.4],
        [0.0, 0.0],
    ];
    let values: Vec<f32> = keys
        .iter()
        .zip(&slope)
        .flat_map(|(key, slope)| [*slope, *key, *slope].concat())
        .collect();
    writer.channel(flower, "weights", Interpolation::CubicSpline, &times, &values);

    // The lamp over the flower.
    let top = BEAM_TOP + RISE - 0.04;
    let height = 2.75;
    let (shade, bulb) = architecture::pendant(top - height - 0.2);
    let mesh = writer.mesh(
        "pendant lamp",
        &[
            Part::rigid(&shade, materials.iron),
            Part::rigid(&bulb, materials.glow),
        ],
    );
    let lamp = PAVILION + Vec3::Y * height;
    writer.node(
        None,
        json!({"name": "pendant lamp", "mesh": mesh, "translation": vec3(lamp)}),
    );
    let spot = json!({
        "name": "spot",
        "type": "spot",
        "color": [1.0, 0.80, 0.55],
        "intensity": 16.0,
        "range": 6.0,
        "spot": {"innerConeAngle": 0.42, "outerConeAngle": 0.62},
    });
    writer.light(None, spot, lamp - Vec3::Y * 0.01, Vec3::NEG_Y);
}

fn armillary(writer: &mut Writer, materials: &Materials) {
    let at = Vec3::new(-2.5, 0.0, 3.4);
    let radius = 0.42;
    let base = place(
        writer,
        None,
        "pedestal",
        &architecture::pedestal(),
        materials.wall,
        at,
    );
    let frame = architecture::armillary_frame(radius);
    let frame = place(
        writer,
        Some(base),
        "armillary frame",
        &frame,
        materials.bronze,
        Vec3::Y * (0.96 + 0.2 + radius),
    );
    let core = writer.mesh(
        "armillary rings",
        &[Part::rigid(
            &architecture::armillary_core(radius),
            materials.bronze,
        )],
    );
    let tilt = Quat::from_rotation_z(-0.41);
    let core = writer.node(
        Some(frame),
        json!({"name": "armillary rings", "mesh": core, "rotation": tilt.to_array()}),
    );
    let times: Vec<f32> = (0..=4).map(|i| LOOP * i as f32 / 4.0).collect();
    let values: Vec<f32> = (0..=4)
        .flat_map(|i| (tilt * Quat::from_rotation_y(TAU * i as f32 / 4.0)).to_array())
        .collect();
    writer.channel(core, "rotation", Interpolation::Linear, &times, &values);
}

fn lantern(writer: &mut Writer, materials: &Materials) {
    // The lantern hangs from the loggia's ceiling behind an arch and swings back and forth.
    let rod = 0.5;
    let at = Vec3::new(COURT.0.x + BAY * 4.5, 3.9, COURT.0.y - 0.5);
    let (frame, glow) = architecture::lantern(rod);
    let mesh = writer.mesh(
        "lantern",
        &[
            Part::rigid(&frame, materials.iron),
            Part::rigid(&glow, materials.glow),
        ],
    );
    let lantern = writer.node(
        None,
        json!({"name": "lantern", "mesh": mesh, "translation": vec3(at)}),
    );
    let point = json!({
        "name": "lantern light",
        "type": "point",
        "color": [1.0, 0.66, 0.32],
        "intensity": 16.0,
        "range": 9.0
    });
    writer.light(Some(lantern), point, Vec3::Y * (-0.95 - rod), Vec3::NEG_Z);
    let times = [0.0, 1.5, 3.0, 4.5, LOOP];
    let swing = 0.11;
    let mut values = Vec::new();
    for (angle, speed) in [
        (0.0, 1.0),
        (swing, 0.0),
        (0.0, -1.0),
        (-swing, 0.0),
        (0.0, 1.0f32),
    ] {
        // The tangent is the time derivative of a quaternion about X, in 1/s.
        let rate = speed * swing * TAU / LOOP;
        let tangent = [0.5 * rate, 0.0, 0.0, 0.0];
        values.extend([tangent, Quat::from_rotation_x(angle).to_array(), tangent].concat());
    }
    writer.channel(lantern, "rotation", Interpolation::CubicSpline, &times, &values);

    // A wire with bulbs from the arcade to the pavilion and on to the loggia.
    let corners = [
        Vec3::new(COURT.0.x + 0.21, ARCADE_TOP - 0.5, 2.2),
        PAVILION + Vec3::new(-2.85, BEAM_TOP - 0.1, VAULT),
    ];
    let mut wire = Mesh::default();
    let mut bulbs = Mesh::default();
    let more = [
        PAVILION + Vec3::new(2.85, BEAM_TOP - 0.1, VAULT),
        Vec3::new(COURT.1.x - BAY, ARCADE_TOP - 0.5, COURT.0.y + 0.21),
    ];
    for (from, to, sag) in [(corners[0], corners[1], 0.45), (more[0], more[1], 0.5)] {
        let points = architecture::wire_points(from, to, sag, 24);
        wire.append(&tube(&points, |_| 0.007, 5, false));
        for i in (2..24).step_by(3) {
            wire.append(
                &lathe(&[(0.016, -0.045), (0.02, -0.02), (0.012, 0.0), (0.0, 0.01)], 8).at(points[i]),
            );
            bulbs.append(&sphere(0.036, 8).at(points[i] - Vec3::Y * 0.075));
        }
    }
    let mesh = writer.mesh(
        "string lights",
        &[
            Part::rigid(&wire, materials.iron),
            Part::rigid(&bulbs, materials.glow),
        ],
    );
    writer.node(None, json!({"name": "string lights", "mesh": mesh}));
}

fn dragon(writer: &mut Writer, materials: &Materials) {
    let dragon = creature::build();
    let parts = [
        Part {
            mesh: &dragon.body,
            material: materials.hide,
            skinning: Some(&dragon.body_skin),
            targets: &[],
        },
        Part {
            mesh: &dragon.horn,
            material: materials.horn,
            skinning: Some(&dragon.horn_skin),
            targets: &[],
        },
        Part {
            mesh: &dragon.wing,
            material: materials.petal,
            skinning: Some(&dragon.wing_skin),
            targets: &[],
        },
    ];
    let mesh = writer.mesh("dragon", &parts);
    let root = writer.node(
        None,
        json!({
            "name": "dragon",
            "translation": vec3(Vec3::new(2.9, 0.012, 2.5)),
            "rotation": Quat::from_rotation_y(-2.5).to_array(),
        }),
    );
    let body = writer.node(None, json!({"name": "dragon's body", "mesh": mesh}));
    let keys = 48;
    let times: Vec<f32> = (0..=keys).map(|i| LOOP * i as f32 / keys as f32).collect();
    let mut nodes: Vec<usize> = Vec::new();
    for joint in &dragon.joints {
        let parent = joint.parent.map(|p| (nodes[p], dragon.joints[p].position));
        let offset = joint.position - parent.map_or(Vec3::ZERO, |(_, p)| p);
        let parent = parent.map_or(root, |(node, _)| node);
        let node = writer.node(
            Some(parent),
            json!({"name": joint.name, "translation": vec3(offset)}),
        );
        let values: Vec<f32> = (0..=keys)
            .flat_map(|i| creature::pose(joint, i as f32 / keys as f32).to_array())
            .collect();
        if values.chunks_exact(4).any(|q| q != Quat::IDENTITY.to_array()) {
            writer.channel(node, "rotation", Interpolation::Linear, &times, &values);
        }
        nodes.push(node);
    }
    let inverse: Vec<Mat4> = dragon
        .joints
        .iter()
        .map(|joint| Mat4::from_translation(-joint.position))
        .collect();
    let skin = writer.skin("dragon", &nodes, &inverse);
    writer.set_skin(body, skin);

    // Eyes that blink by being flattened for a moment.
    let ball = sphere(0.052, 20).painted(|_, n| {
        if n.z > 0.8 {
            Vec3::splat(0.01)
        } else {
            Vec3::new(0.75, 0.42, 0.05)
        }
    });
    let ball = writer.mesh("eye", &[Part::rigid(&ball, materials.eye)]);
    let (open, shut) = ([1.0, 1.0, 1.0], [1.0, 0.08, 1.0]);
    let times = [0.0, 1.7, 1.85, 4.2, 4.32, 4.5, 4.62, LOOP];
    let values = [open, shut, open, shut, open, shut, open, open].concat();
    for ((side, turn), at) in [("right", PI - 0.4), ("left", 0.4)].into_iter().zip(dragon.eyes) {
        let rotation = Quat::from_rotation_y(turn).to_array();
        let node = json!({
            "name": format!("{side} eye"),
            "mesh": ball,
            "translation": vec3(at),
            "rotation": rotation,
            "scale": [1.0, 1.0, 1.0],
        });
        let eye = writer.node(Some(nodes[dragon.head]), node);
        writer.channel(eye, "scale", Interpolation::Step, &times, &values);
    }
}
