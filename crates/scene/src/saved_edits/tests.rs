use super::*;
use crate::{Mesh, Node};

fn node(name: &str, light: Option<usize>) -> Node {
    Node {
        name: name.into(),
        light,
        ..Node::default()
    }
}

fn scene() -> Scene {
    let material = |name: &str| Material {
        name: name.into(),
        layers: Some(Box::default()),
        ..Material::default()
    };
    let light = |name: &str, kind| Light {
        name: name.into(),
        kind,
        color: Vec3::ONE,
        intensity: 3.0,
        range: Some(5.0),
        radius: None,
    };
    Scene {
        nodes: vec![node("a", None), node("lamp", Some(0)), node("", Some(1))],
        meshes: vec![Mesh {
            name: String::new(),
            primitives: vec![],
        }],
        materials: vec![material("Bricks"), material(""), material("Oak")],
        lights: vec![
            light("bulb", LightKind::Point),
            light("", LightKind::spot(0.2, 0.6)),
        ],
        ..Scene::default()
    }
}

/// Returns edits of every value, with numbers that have no short decimal form.
fn edits() -> SceneEdits {
    let scene = scene();
    let mut edits = SceneEdits::default();
    for (index, material) in scene.materials.iter().enumerate() {
        let mut wanted = material.clone();
        for (number, value) in MaterialValue::ALL.into_iter().enumerate() {
            let odd = 0.1 + (number + index) as f32 / 77.0;
            let to = match value.of(material).unwrap() {
                Value::Number(_) => Value::Number(odd * value.range().end().min(3.0)),
                Value::Color(_) => Value::Color(Vec3::new(odd, odd * 0.3, 0.7)),
                Value::ColorWithAlpha(_) => Value::ColorWithAlpha(Vec4::new(odd, 0.1, 0.2, 0.3)),
                Value::Mode(_) => Value::Mode(AlphaMode::Mask),
                Value::Switch(is_on) => Value::Switch(!is_on),
                other => panic!("{other:?}"),
            };
            value.set(&mut wanted, to);
        }
        edits.set_material(index, material, &wanted);
        assert_eq!(edits.materials[&index].len(), MaterialValue::ALL.len());
    }
    let lamp = Light {
        name: "bulb".into(),
        kind: LightKind::Point,
        color: Vec3::new(0.1, 0.2, 1.0 / 3.0),
        intensity: 1e7 / 3.0,
        range: None,
        radius: Some(0.07),
    };
    edits.set_light(0, &scene.lights[0], &lamp);
    let spot = Light {
        kind: LightKind::spot(0.1, 1.0 / 3.0),
        ..scene.lights[1].clone()
    };
    edits.set_light(1, &scene.lights[1], &spot);
    let turned =
        Mat4::from_rotation_translation(glam::Quat::from_rotation_x(0.3), Vec3::new(0.1, -1e-7, 1e7));
    let place = LightEdit {
        file_from_light: Some(turned),
        is_off: true,
        is_removed: false,
    };
    let removed = LightEdit {
        is_removed: true,
        ..LightEdit::default()
    };
    edits.places = [(1, place), (2, removed)].into();
    edits.added = [spot, lamp]
        .map(|light| AddedLight {
            is_off: light.range.is_none(),
            light,
            file_from_light: turned,
        })
        .into();
    edits
}

fn applied(scene: &mut Scene, edits: &SceneEdits) -> AppliedEdits {
    let mut applied = AppliedEdits::default();
    applied.apply(scene, edits);
    applied
}

fn read(text: &str) -> Result<SavedEdits> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("edits.json");
    std::fs::write(&file, text).unwrap();
    SavedEdits::read(&file)
}

/// Every value survives the round trip bit by bit, through a file and through the JSON value that pictures
/// use.
#[test]
fn edits_round_trip_exactly() {
    let mut edited = scene();
    let applied = applied(&mut edited, &edits());
    let saved = SavedEdits::new(&edited, &applied, &[0, 2].into());
    let again = read(&saved.text()).unwrap();
    assert_eq!(again, saved);
    let found = again.find(&scene());
    assert_eq!(found.unmatched, [""; 0]);
    assert_eq!((found.edits, found.hidden), (edits(), [0, 2].into()));
    let json: serde_json::Value = serde_json::from_str(&saved.text()).unwrap();
    let again: SavedEdits = serde_json::from_value(json).unwrap();
    assert_eq!(again.find(&scene()).edits, edits());
    // An infinite distance.
    let mut scene = scene();
    scene.materials[0].layers.as_mut().unwrap().attenuation_distance = 2.0;
    let mut wanted = scene.materials[0].clone();
    wanted.layers.as_mut().unwrap().attenuation_distance = f32::INFINITY;
    let mut edits = SceneEdits::default();
    edits.set_material(0, &scene.materials[0], &wanted);
    let applied = self::applied(&mut scene.clone(), &edits);
    let saved = SavedEdits::new(&scene, &applied, &BTreeSet::new());
    assert_eq!(read(&saved.text()).unwrap().find(&scene).edits, edits);
    assert!(!saved.is_empty() && SavedEdits::default().is_empty());
}

/// Elements with a changed index are found by name, if the name is unique.
#[test]
fn edits_are_matched_by_unique_names() {
    let mut edited = scene();
    let applied = applied(&mut edited, &edits());
    let saved = SavedEdits::new(&edited, &applied, &[0].into());
    let mut file = scene();
    file.materials.swap(0, 2);
    file.materials[1].name = "Ash".into();
    file.nodes.insert(0, node("a", None));
    file.nodes.remove(3);
    file.lights.remove(1);
    let found = saved.find(&file);
    assert_eq!(found.edits.materials[&2], edits().materials[&0]);
    assert_eq!(found.edits.materials[&0], edits().materials[&2]);
    assert_eq!(found.edits.materials.len(), 2);
    assert_eq!(found.edits.places, [(2, edits().places[&1])].into());
    assert_eq!(found.hidden, [0].into());
    assert_eq!(
        found.unmatched,
        [
            "there is no material 1; its edits are ignored",
            "there is no light 1; its edits are ignored",
            "there is no node with a light 2; its edits are ignored",
        ]
    );
    // A name that is no longer unique, and layers that no longer exist.
    let mut file = scene();
    file.nodes[0].name = "b".into();
    file.nodes.extend([node("a", None), node("a", None)]);
    file.materials[0].layers = None;
    let found = saved.find(&file);
    assert!(found.hidden.is_empty());
    assert_eq!(found.edits.materials[&0].len(), 11);
    let left = found.unmatched;
    assert_eq!(left.len(), 18 + 1, "{left:?}");
    assert!(left[0].contains("\"Bricks\" has no layers; ior"), "{left:?}");
    // None of the edits apply to an empty scene.
    let found = saved.find(&Scene::default());
    let added = SceneEdits {
        added: edits().added,
        ..SceneEdits::default()
    };
    assert_eq!(found.edits, added);
}

/// Any invalid file gives a one-line error with the location, and no value out of range is read.
#[test]
fn invalid_edits_give_a_one_line_error() {
    let identity = "[1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]";
    let of_material = |values: &str| {
        format!(r#"{{"format": 1, "materials": [{{"index": 0, "name": "", "values": {{{values}}}}}]}}"#)
    };
    let of_light = |values: &str| {
        format!(r#"{{"format": 1, "lights": [{{"index": 0, "name": "", "values": {{{values}}}}}]}}"#)
    };
    let added = |name: &str, kind: &str, matrix: &str| {
        format!(
            r#"{{"format": 1, "added_lights": [{{"name": "{name}", "kind": "{kind}", "values": {{}}, "matrix": {matrix}}}]}}"#
        )
    };
    for good in [
        "{\"format\": 1}".to_owned(),
        of_material("\"roughness\": 0.5, \"alpha_mode\": \"mask\", \"attenuation_distance\": null"),
        of_light("\"range\": null, \"cone\": [0.1, 99]"),
        added("x", "spot", identity),
    ] {
        read(&good).unwrap_or_else(|error| panic!("{good}: {error}"));
    }
    let many = format!(
        "{{\"format\": 1, \"hidden\": [{}]}}",
        vec![r#"{"node": 1, "name": ""}"#; MAX_EDITS + 1].join(",")
    );
    let lights = vec![
        format!(r#"{{"name": "", "kind": "point", "values": {{}}, "matrix": {identity}}}"#);
        MAX_ADDED + 1
    ];
    let lights = format!("{{\"format\": 1, \"added_lights\": [{}]}}", lights.join(","));
    for (text, part) in [
        (String::new(), "is not a file of edits"),
        ("[]".into(), "is not a file of edits"),
        ("[".repeat(100_000), "is not a file of edits"),
        ("{\"format\": 2}".into(), "format 2"),
        ("{\"format\": 1, \"teapot\": 3}".into(), "teapot"),
        (of_material("\"teapot\": 3"), "teapot"),
        (
            of_material("\"roughness\": 1.5"),
            "materials[0]: roughness must be a number from 0 to 1",
        ),
        (of_material("\"roughness\": \"much\""), "materials[0]: roughness"),
        (of_material("\"roughness\": null"), "materials[0]: roughness"),
        (of_material("\"emissive_strength\": 1e39"), "emissive_strength"),
        (
            of_material("\"attenuation_distance\": 1e39"),
            "attenuation_distance",
        ),
        (
            of_material("\"base_color\": [1, 1, 1]"),
            "base_color must be four numbers",
        ),
        (
            of_material("\"sheen_color\": [1, 1, -1]"),
            "sheen_color must be three numbers",
        ),
        (
            of_material("\"alpha_mode\": \"glow\""),
            "alpha_mode must be opaque, mask or blend",
        ),
        (of_material("\"unlit\": 1"), "unlit must be true or false"),
        (of_light("\"intensity\": -1"), "lights[0]: intensity"),
        (of_light("\"intensity\": 1e31"), "lights[0]: intensity"),
        (of_light("\"cone\": [1]"), "lights[0]: cone"),
        (of_light("\"color\": 3"), "lights[0]: color"),
        (of_light("\"radius\": true"), "lights[0]: radius"),
        (added("x", "laser", identity), "laser"),
        (
            added(&"x".repeat(LONGEST_NAME + 1), "spot", identity),
            "256 characters",
        ),
        (added("x", "spot", "[1]"), "is not a file of edits"),
        (
            added("x", "spot", &identity.replace("0,0,0,1]", "0,0,1,0]")),
            "not a valid transform",
        ),
        (
            added("x", "spot", &identity.replace("[1,", "[1e39,")),
            "not a valid transform",
        ),
        (many, "more than 100000"),
        (lights, "more than 1024 added lights"),
        (of_material("\"roughness\": {}"), "is not a file of edits"),
        (
            r#"{"format": 1, "hidden": [{"node": -1, "name": ""}]}"#.into(),
            "is not a file of edits",
        ),
    ] {
        let error = read(&text).map(|_| ()).unwrap_err().to_string();
        let told = &error[..error.len().min(200)];
        assert!(error.contains(part) && !error.contains('\n'), "{part}: {told}");
        assert!(error.len() < 1000, "{part}: {told}");
    }
    assert!(
        SavedEdits::read(Path::new("/no/edits.json"))
            .unwrap_err()
            .to_string()
            .contains("/no/edits.json")
    );
}
