//! Edits of materials and lights. The picture equals, bit by bit, the picture of a scene whose file has these
//! values. Without edits, it equals the picture of the original file.

use crate::common;
use canopy::{
    config::{Rebuild, ShadowMode},
    gpu::Gpu,
    scene::{
        AlphaMode, Layers, Light, LightKind, Material, Pose, Scene, Transform,
        edits::{AddedLight, AppliedEdits, LightEdit, LightValue, MaterialValue, SceneEdits, Value},
    },
};
use common::{
    by_lane, gpu,
    scenes::{Stage, add_cutout, add_light, look_at, matte, quad, scene},
};
use glam::{Mat4, Quat, Vec3, Vec4};

const SIZE: [u32; 2] = [60, 45];

/// A ground of material 0, a card with a hole of material 1 above it, one of material 2 with layers, and two
/// lights with shared values.
fn table() -> Scene {
    let ground = quad(Vec3::new(-3.0, 0.0, 3.0), Vec3::X * 6.0, Vec3::Z * -6.0, 0);
    let cover = quad(Vec3::new(-1.0, 1.5, 1.0), Vec3::X * 2.0, Vec3::Z * -2.0, 1);
    let coated = quad(Vec3::new(1.2, 0.6, 1.0), Vec3::X * 1.5, Vec3::Z * -2.0, 2);
    let layers = Material {
        layers: Some(Box::default()),
        ..matte(Vec3::new(0.1, 0.4, 0.8))
    };
    let red = matte(Vec3::new(0.8, 0.1, 0.1));
    let mut scene = scene([ground, cover, coated], vec![matte(Vec3::ONE), red, layers]);
    add_cutout(&mut scene);
    let (point, spot) = (LightKind::Point, LightKind::spot(0.3, 0.6));
    add_light(&mut scene, point, 40.0, Vec3::new(0.4, 4.0, 0.2), Vec3::ZERO);
    add_light(&mut scene, spot, 60.0, Vec3::new(-2.0, 3.0, 2.0), Vec3::ZERO);
    scene
}

/// The picture in each shadow mode.
fn pictures(stage: &mut Stage<'_>, scene: &Scene) -> Vec<Vec<u8>> {
    let view = look_at(Vec3::new(2.0, 4.0, 5.0), Vec3::ZERO, 50.0);
    let modes = [
        (ShadowMode::Off, Rebuild::Changed),
        (ShadowMode::Map, Rebuild::Changed),
        (ShadowMode::Rays, Rebuild::Changed),
    ];
    let pose = Pose::new(scene, None, 0.0);
    let mut drawn = |(mode, rebuild)| {
        stage.config.shadows.mode = mode;
        stage.config.tree.rebuild = rebuild;
        stage.draw(&pose, view)
    };
    modes.map(&mut drawn).into()
}

/// Pictures of scenes that are uploaded one after the other.
fn uploaded(gpu: &Gpu, scenes: &[Scene]) -> Vec<Vec<Vec<u8>>> {
    let mut stage = Stage::new(gpu, &scenes[0], SIZE);
    let mut all = vec![pictures(&mut stage, &scenes[0])];
    for scene in &scenes[1..] {
        stage.scene = scene;
        let uploader = stage.renderer.uploader();
        stage.uploaded = uploader.upload(gpu, scene, &stage.config).unwrap();
        all.push(pictures(&mut stage, scene));
    }
    all
}

/// Pictures after each of `edits`, applied in turn to the same uploaded scene, and finally without edits.
fn edited(gpu: &Gpu, scene: &Scene, edits: &[SceneEdits]) -> Vec<Vec<Vec<u8>>> {
    let (mut now, mut applied) = (scene.clone(), AppliedEdits::default());
    let nothing = SceneEdits::default();
    let mut apply = |edits| {
        let changed = applied.apply(&mut now, edits);
        (now.clone(), changed)
    };
    let steps: Vec<_> = edits.iter().chain([&nothing]).map(&mut apply).collect();
    let mut stage = Stage::new(gpu, scene, SIZE);
    let mut all = vec![pictures(&mut stage, scene)];
    for (shown, changed) in &steps {
        stage.scene = shown;
        stage
            .renderer
            .write_materials(gpu, shown, changed, &mut stage.uploaded)
            .unwrap();
        all.push(pictures(&mut stage, shown));
    }
    all
}

type Change = fn(&mut Material);

#[test]
fn edited_materials_equal_materials_of_a_file() {
    let gpu = gpu();
    let scene = table();
    // From above, one-sided looks like two-sided, and a mask without a hole looks opaque, so these changes
    // are invisible.
    let changes: [(usize, bool, Change); 12] = [
        (1, true, |m| {
            m.alpha_mode = AlphaMode::Blend;
            m.base_color.w = 0.5;
        }),
        // Rays and shadow maps use another cutoff, and another mode.
        (1, true, |m| m.alpha_cutoff = 0.0),
        (2, true, |m| {
            let layers = m.layers.as_mut().unwrap();
            layers.sheen_color = Vec3::new(0.9, 0.2, 0.5);
            layers.sheen_roughness = 0.3;
        }),
        (0, true, |m| m.base_color = Vec4::new(0.1, 0.9, 0.2, 1.0)),
        (0, true, |m| (m.roughness, m.metallic) = (0.2, 1.0)),
        (0, true, |m| {
            m.emissive_factor = Vec3::new(0.2, 0.1, 0.0);
            m.emissive_strength = 2.0;
            m.multiply_emission();
        }),
        (0, true, |m| m.unlit = true),
        (1, true, |m| m.alpha_mode = AlphaMode::Opaque),
        (1, false, |m| m.double_sided = !m.double_sided),
        (2, false, |m| m.alpha_mode = AlphaMode::Mask),
        (2, true, |m| m.layers.as_mut().unwrap().clearcoat = 1.0),
        (2, true, |m| m.layers.as_mut().unwrap().transmission = 0.9),
    ];
    let mut all = Vec::new();
    let mut files = vec![scene.clone()];
    let mut seen = vec![false];
    for (index, is_seen, change) in changes.into_iter().take(by_lane(3, 12)) {
        seen.push(is_seen);
        let mut changed = scene.clone();
        change(&mut changed.materials[index]);
        let mut edits = SceneEdits::default();
        edits.set_material(index, &scene.materials[index], &changed.materials[index]);
        files.push(changed);
        all.push(edits);
    }
    let shown = edited(&gpu, &scene, &all);
    let files = uploaded(&gpu, &files);
    for (number, (shown, file)) in shown.iter().zip(&files).enumerate() {
        assert!(shown == file, "change {number}");
        assert_eq!(*file != files[0], seen[number], "change {number} is seen");
    }
    assert!(shown.last() == files.first(), "reset");
}

/// An opaque textured material has no alpha in the table that rays read until an edit makes it masked.
#[test]
fn an_opaque_material_can_be_edited_to_a_mask() {
    let gpu = gpu();
    let masked = table();
    let mut scene = masked.clone();
    scene.materials[1].alpha_mode = AlphaMode::Opaque;
    let mut edits = SceneEdits::default();
    edits.set_material(1, &scene.materials[1], &masked.materials[1]);
    let [before, cut, after] = <[_; 3]>::try_from(edited(&gpu, &scene, &[edits])).unwrap();
    let [_, _, rays] = <[_; 3]>::try_from(uploaded(&gpu, &[masked]).remove(0)).unwrap();
    // Its texture has the mip levels of an opaque texture. Edges of the hole may differ, but rays see the
    // same.
    let differs = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    assert!(differs(&cut[2], &rays) < rays.len() / 200);
    assert!(differs(&before[2], &rays) > rays.len() / 100, "a hole is seen");
    assert!(after == before);
}

fn spot() -> Light {
    Light {
        name: "added".into(),
        kind: LightKind::spot(0.1, 0.5),
        color: Vec3::new(1.0, 0.5, 0.2),
        intensity: 80.0,
        range: Some(9.0),
        radius: None,
    }
}

fn placed(position: Vec3) -> Mat4 {
    let down = Quat::from_rotation_arc(Vec3::NEG_Z, Vec3::NEG_Y);
    Mat4::from_rotation_translation(down, position)
}

#[test]
fn edited_lights_equal_lights_of_a_file() {
    let gpu = gpu();
    let scene = table();
    let node = scene.nodes.iter().position(|n| n.light == Some(0)).unwrap();
    let at = placed(Vec3::new(1.0, 2.0, 0.5));
    let mut changed = vec![scene.clone(); 5];
    changed[0].lights[1] = Light {
        name: scene.lights[1].name.clone(),
        ..spot()
    };
    changed[1].nodes[node].transform = Transform::Matrix(at.as_dmat4());
    changed[2].nodes[node].light = None;
    changed[3].nodes[node].light = None;
    changed[4].nodes.push(canopy::scene::Node {
        light: Some(2),
        transform: Transform::Matrix(at.as_dmat4()),
        ..Default::default()
    });
    changed[4].lights.push(spot());
    let of_node = |place| SceneEdits {
        places: [(node, place)].into(),
        ..SceneEdits::default()
    };
    let mut of_light = SceneEdits::default();
    of_light.set_light(1, &scene.lights[1], &spot());
    let all = [
        of_light,
        of_node(LightEdit {
            file_from_light: Some(at),
            ..LightEdit::default()
        }),
        of_node(LightEdit {
            is_off: true,
            ..LightEdit::default()
        }),
        of_node(LightEdit {
            is_removed: true,
            ..LightEdit::default()
        }),
        SceneEdits {
            added: vec![AddedLight {
                light: spot(),
                file_from_light: at,
                is_off: false,
            }],
            ..SceneEdits::default()
        },
    ];
    let shown = edited(&gpu, &scene, &all);
    for (number, expected) in uploaded(&gpu, &changed).into_iter().enumerate() {
        assert!(shown[number + 1] == expected, "change {number}");
        assert!(expected != shown[0], "change {number} is seen");
    }
    assert!(shown[6] == shown[0], "reset");
}

/// A scene whose files have no lights keeps the sun of the settings when a light is added. A scene whose
/// lights were removed gets no sun.
#[test]
fn adding_a_light_keeps_the_default_sun() {
    let mut config = canopy::config::Config::default();
    config.environment.source = canopy::config::EnvironmentSource::Sky;
    let sun_with = |scene: &Scene| canopy::render::light::lights::has_sun(scene, &config);
    let added = SceneEdits {
        added: vec![AddedLight {
            light: spot(),
            file_from_light: Mat4::IDENTITY,
            is_off: false,
        }],
        ..SceneEdits::default()
    };
    let mut dark = Scene::default();
    let mut applied = AppliedEdits::default();
    applied.apply(&mut dark, &added);
    assert!(sun_with(&dark) && dark.nodes.len() == 1);
    assert_eq!(applied.light_nodes(&dark), [0]);
    applied.apply(&mut dark, &SceneEdits::default());
    assert!(dark.nodes.is_empty() && dark.lights.is_empty() && sun_with(&dark));

    let mut lit = table();
    let nodes = AppliedEdits::default().light_nodes(&lit);
    let removed = LightEdit {
        is_removed: true,
        ..LightEdit::default()
    };
    let edits = SceneEdits {
        places: nodes.iter().map(|node| (*node, removed)).collect(),
        ..SceneEdits::default()
    };
    let mut applied = AppliedEdits::default();
    applied.apply(&mut lit, &edits);
    assert!(!sun_with(&lit) && applied.light_nodes(&lit).is_empty());
    assert_eq!(applied.light_at(&lit, nodes[0]), Some(0));
}

/// Edits may name anything. A scene is changed within its bounds, and can be restored.
#[test]
fn edits_of_missing_objects_are_ignored() {
    let mut scene = table();
    let mut applied = AppliedEdits::default();
    let edits = SceneEdits {
        materials: [(99, [(MaterialValue::Roughness, Value::Number(0.5))].into())].into(),
        lights: [(99, [(LightValue::Intensity, Value::Number(5.0))].into())].into(),
        places: [(99, LightEdit::default())].into(),
        added: vec![],
    };
    assert!(applied.apply(&mut scene, &edits).is_empty());
    applied.apply(&mut scene, &SceneEdits::default());
    assert_eq!(scene.materials, table().materials);
    assert_eq!(scene.lights, table().lights);
}

#[test]
fn material_and_light_values_are_compared_and_copied_individually() {
    let plain = Material::default();
    let mut other = Material {
        layers: Some(Box::<Layers>::default()),
        ..Material::default()
    };
    for value in MaterialValue::ALL {
        let is_layer = value.field(&mut plain.clone()).is_none();
        assert_eq!(value.differs(&plain, &other), is_layer, "{value:?}");
    }
    other.roughness = 0.25;
    (other.emissive_factor, other.emissive_strength) = (Vec3::ONE, 3.0);
    let mut copy = plain.clone();
    for value in [MaterialValue::Roughness, MaterialValue::EmissiveFactor] {
        assert!(value.differs(&other, &copy));
        value.set(&mut copy, value.of(&other).unwrap());
        assert!(!value.differs(&other, &copy));
    }
    assert_eq!((copy.roughness, copy.emissive), (0.25, Vec3::ONE));
    // A value of another kind, or one of missing layers, changes nothing.
    let before = copy.clone();
    MaterialValue::Roughness.set(&mut copy, Value::Switch(true));
    MaterialValue::SheenRoughness.set(&mut copy, Value::Number(1.0));
    assert_eq!(copy, before);
    for value in LightValue::ALL {
        let mut light = Light {
            kind: LightKind::Point,
            ..spot()
        };
        assert_eq!(value.of(&light).is_none(), value == LightValue::Cone);
        let before = light.clone();
        value.set(&mut light, Value::Cone([0.1, 0.2]));
        assert_eq!(light, before);
    }
}

/// Warnings name the object of the scene that they are about, also in scenes of several files.
#[test]
fn warnings_refer_to_their_object_in_the_scene() {
    use canopy::scene::{Progress, WarningPlace, load};
    let json = r#"{
        "asset": {"version": "2.0"}, "extensionsUsed": ["XYZ_odd"], "scenes": [{"nodes": [1]}],
        "nodes": [{"children": [2]}, {"children": [0]}, {"extensions": {"XYZ_odd": {}}}],
        "materials": [{}, {"extensions": {"XYZ_odd": {}}}],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 9, "znear": 0.1}}]
    }"#;
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.gltf", "b.gltf"].map(|name| folder.path().join(name));
    files.iter().for_each(|file| std::fs::write(file, json).unwrap());
    let limits = canopy::config::Config::default().frame.opening.load;
    let scene = load(&files, &limits, &Progress::default()).unwrap();
    let told = |(warning, place): &(usize, WarningPlace)| {
        let warning = &scene.warnings[*warning];
        let file = if warning.contains("a.gltf") { 'a' } else { 'b' };
        (file, warning.contains("XYZ_odd"), *place)
    };
    let told: Vec<_> = scene.warning_places.iter().map(told).collect();
    // Nodes are in the order of the scene, parents first.
    let expected = [('a', 0), ('b', 1)].map(|(file, number)| {
        [
            (file, false, WarningPlace::Camera(number)),
            (file, true, WarningPlace::Material(2 * number + 1)),
            (file, true, WarningPlace::Node(3 * number + 2)),
        ]
    });
    assert_eq!(told, expected.as_flattened(), "{:?}", scene.warnings);
}
