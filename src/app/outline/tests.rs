//! Tests of the scene tree and the inspector, laid out without a window.

use crate::{
    app::{
        input::keys::Action,
        outline::model::{Item, Outline},
        state::State,
        ui::{
            checker::Run,
            facts::Facts,
            show,
            tests::{Show, context, facts, stats, with_run},
        },
    },
    config::Config,
    scene::{
        Image, Light, LightKind, Material, Mesh, Node, Pose, Primitive, Sampler, Scene, Texture, TextureRef,
        WarningPlace,
        framing::Look,
        opened::{OpenedScene, Span},
    },
};
use glam::Vec3;
use winit::keyboard::KeyCode;

const WINDOW: ([f32; 2], f32) = ([1280.0, 900.0], 1.0);

/// Returns a lamp with a shade and a light, in a room.
fn lamp() -> Scene {
    let node = |name: &str, parent| Node {
        name: name.into(),
        parent,
        ..Node::default()
    };
    let triangle = Primitive {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        indices: vec![[0, 1, 2]],
        ..Primitive::default()
    };
    let mut nodes = vec![
        node("room", None),
        node("lamp", Some(0)),
        node("shade", Some(1)),
        node("bulb", Some(1)),
    ];
    nodes[2].mesh = Some(0);
    nodes[3].light = Some(0);
    Scene {
        nodes,
        meshes: vec![Mesh {
            name: "cone".into(),
            primitives: vec![triangle],
        }],
        materials: vec![Material {
            name: "paper".into(),
            roughness: 0.5,
            base_color_texture: Some(TextureRef {
                texture: 0,
                uv_set: 0,
                texture_from_uv: glam::Affine2::IDENTITY,
            }),
            layers: Some(Box::default()),
            ..Material::default()
        }],
        textures: vec![Texture {
            image: 0,
            sampler: Sampler::default(),
        }],
        images: vec![Image::from_rgba8("weave", 2, 2, vec![200; 16])],
        lights: vec![Light {
            name: "glow".into(),
            kind: LightKind::spot(0.2, 0.5),
            color: Vec3::ONE,
            intensity: 10.0,
            range: None,
            radius: None,
        }],
        warnings: vec!["a.glb: material 0 has a strange sheen".into()],
        warning_places: vec![(0, WarningPlace::Material(0))],
        ..Scene::default()
    }
}

fn shown(scene: Scene) -> State {
    let mut state = State::new(Config::default());
    state.ui.panel = false;
    let opened = OpenedScene::new(scene, &Config::default(), Span::Clip);
    state.show(vec!["a.glb".into()], opened, &Look::default(), 1.0);
    state.ui.notice = None;
    state.files.offers.clear();
    state.inspect.outline.is_open = true;
    state
}

fn run<R>(state: &mut State, check: impl FnOnce(&mut Run<'_>) -> R) -> R {
    with_run(state, Show::Selection, WINDOW, check)
}

fn click(state: &mut State, text: &str, count: usize) {
    run(state, |run| {
        run.faults(&[]);
        let found = run.find(text).unwrap_or_else(|| panic!("no {text:?}"));
        run.click(found.center(), count);
    });
}

/// For every selection, nothing is cut off, overlaps or lacks a tooltip.
#[test]
fn no_inspector_has_layout_faults() {
    let mut faults = Vec::new();
    for item in [
        Item::Node(2),
        Item::Primitive(2, 0),
        Item::Material(0),
        Item::Light(3),
        Item::Texture(0),
        Item::Note(0),
    ] {
        let mut state = shown(lamp());
        state.select_item(item);
        state.inspect.selection.clear();
        // A texture opens the texture viewer, which has its own tests.
        state.inspect.textures.is_open = false;
        let found = with_run(&mut state, Show::Panel, ([1280.0, 2400.0], 1.0), |run| {
            let mut found = run.faults(&[]);
            found.extend(run.without_tooltip());
            found
        });
        faults.extend(found.into_iter().map(|fault| format!("{item:?}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Only the visible rows of 10,000 nodes are laid out.
#[test]
fn rows_out_of_sight_are_not_laid_out() {
    let node = |number: usize| Node {
        name: format!("item {number}"),
        ..Node::default()
    };
    let mut state = shown(Scene {
        nodes: (0..10_000).map(node).collect(),
        ..Scene::default()
    });
    let count = |state: &mut State| {
        let texts = run(state, |run| {
            run.faults(&[]);
            run.texts()
        });
        let items = texts.iter().filter(|text| text.starts_with("item "));
        (items.count(), texts.contains(&"item 7777".to_owned()))
    };
    let (rows, is_there) = count(&mut state);
    assert!((20..80).contains(&rows) && !is_there, "{rows}");
    // The selection is scrolled into view.
    state.select_item(Item::Node(7777));
    let (rows, is_there) = count(&mut state);
    assert!((10..80).contains(&rows) && is_there, "{rows}");
}

/// Rows are searched, selected, navigated and hidden. A double click frames.
#[test]
fn tree_rows_are_searched_selected_navigated_and_hidden() {
    let mut state = shown(lamp());
    click(&mut state, "shade", 1);
    assert_eq!(state.inspect.outline.selected, Some(Item::Node(2)));
    assert_eq!(state.inspect.selection.instances(), [Some(0), None]);
    click(&mut state, "bulb", 2);
    assert_eq!(state.ui.actions, [Action::FrameSelection]);
    assert_eq!(state.inspect.outline.selected, Some(Item::Node(3)));
    state.ui.actions.clear();
    state.select_item(Item::Node(2));
    // Left selects the parent or closes the row, and down moves on.
    for (key, expected) in [
        (KeyCode::ArrowLeft, Item::Node(1)),
        (KeyCode::ArrowLeft, Item::Node(1)),
        (KeyCode::ArrowRight, Item::Node(1)),
        (KeyCode::ArrowDown, Item::Node(2)),
        (KeyCode::ArrowUp, Item::Node(1)),
    ] {
        run(&mut state, |run| _ = run.faults(&[]));
        state.inspect.outline.has_focus = true;
        assert!(state.walk_outline(key));
        assert_eq!(state.inspect.outline.selected, Some(expected), "{key:?}");
    }
    assert!(!state.walk_outline(KeyCode::KeyW));
    // Hiding a node hides its descendants.
    let look = Look::default();
    state.perform(Action::Hide, 1.0, &look);
    let visible = |state: &State| state.stage.as_ref().unwrap().pose().visible;
    assert_eq!(visible(&state), [true, false, false, false]);
    // Everything in the room is hidden, so that its eye shows it again.
    state.toggle_hidden(0);
    assert_eq!(visible(&state), [true; 4]);
    state.toggle_hidden(0);
    assert_eq!(visible(&state), [false; 4]);
    state.toggle_hidden(0);
    assert_eq!(visible(&state), [true; 4]);
    // The tree follows the selection in the picture.
    state.inspect.selection.clear();
    let picked = crate::app::inspect::selection::Selected {
        node: 2,
        mesh: 0,
        picked: None,
    };
    state.inspect.selection.click(Some(picked), false);
    run(&mut state, |run| _ = run.faults(&[]));
    assert_eq!(state.inspect.outline.selected, Some(Item::Node(2)));
    assert!(!state.inspect.outline.in_tree);
    // A node without a mesh can be framed.
    let before = state.camera;
    state.select_item(Item::Node(3));
    state.perform(Action::FrameSelection, 1.0, &look);
    assert!(state.camera != before);
    click(&mut state, "Close", 1);
    assert_eq!(state.ui.actions, [Action::Outline]);
}

/// A click on a warning selects its item.
#[test]
fn a_click_on_a_warning_selects_its_item() {
    let mut state = shown(lamp());
    click(&mut state, "Warnings", 1);
    click(&mut state, "a.glb: material 0 has a strange sheen", 1);
    assert_eq!(state.inspect.outline.selected, Some(Item::Material(0)));
    let texts = run(&mut state, |run| {
        run.faults(&[]);
        run.texts()
    });
    assert!(texts.contains(&"roughness".to_owned()), "{texts:?}");
}

/// Showing values does not change them. Edits are reset individually and together. A reload keeps the edits
/// that still apply.
#[test]
fn edits_are_reset_and_survive_a_reload() {
    let mut state = shown(lamp());
    state.select_item(Item::Material(0));
    run(&mut state, |run| _ = run.faults(&[]));
    state.select_item(Item::Light(3));
    run(&mut state, |run| _ = run.faults(&[]));
    assert_eq!(state.edit_count(), 0);
    let edited = |state: &State| {
        let mut material = state.stage.as_ref().unwrap().scene.materials[0].clone();
        (material.roughness, material.metallic) = (0.25, 0.125);
        material
    };
    state.select_item(Item::Material(0));
    let material = edited(&state);
    state.edit_material(0, material);
    let stage = |state: &State| (state.stage.as_ref().unwrap().edit_count, state.edit_count());
    assert_eq!(stage(&state), (1, 1));
    let copied = crate::app::inspect::rows::text(&state, &Pose::default(), Item::Material(0));
    assert!(copied.contains("roughness: 0.2500 (file: 0.5000)"), "{copied}");
    // Two clicks on a name reset its value.
    click(&mut state, "roughness", 2);
    let now = &state.stage.as_ref().unwrap().scene.materials[0];
    assert_eq!((now.roughness, now.metallic), (0.5, 0.125));
    // The same files are loaded again, with another roughness in the file and the edit of the other value
    // kept.
    let mut file = lamp();
    file.materials[0].roughness = 0.75;
    let opened = OpenedScene::new(file, &Config::default(), Span::Clip);
    state.show(vec!["a.glb".into()], opened, &Look::default(), 1.0);
    let now = &state.stage.as_ref().unwrap().scene.materials[0];
    assert_eq!((now.roughness, now.metallic), (0.75, 0.125));
    assert!(state.stage.as_ref().unwrap().changed_materials.contains(&0));
    // In this file the material has another name.
    let mut file = lamp();
    file.materials[0].name = "silk".into();
    let opened = OpenedScene::new(file, &Config::default(), Span::Clip);
    state.show(vec!["a.glb".into()], opened, &Look::default(), 1.0);
    assert_eq!(state.edit_count(), 0);
    let (told, _) = state.ui.notice.take().unwrap();
    assert!(told.starts_with("dropped 1 edit and 1 step of undo"), "{told}");
    // Edits are not applied to another file.
    let material = edited(&state);
    state.edit_material(0, material);
    let opened = OpenedScene::new(lamp(), &Config::default(), Span::Clip);
    state.show(vec!["b.glb".into()], opened, &Look::default(), 1.0);
    assert_eq!(state.edit_count(), 0);
    assert_eq!(state.stage.as_ref().unwrap().scene.materials, lamp().materials);
}

/// Lights are added, moved, switched, removed and restored. The exposure stays.
#[test]
fn lights_are_added_moved_switched_removed_and_restored() {
    let mut state = shown(lamp());
    let exposure = |state: &mut State| {
        let config = state.config.clone();
        state.stage.as_mut().unwrap().exposure_ev(&config, 0.0)
    };
    let before = exposure(&mut state);
    let mut bright = lamp();
    bright.lights[0].intensity = 1e6;
    let light = bright.lights[0].clone();
    assert!(
        exposure(&mut shown(bright)) < before - 1.0,
        "a light of the file counts"
    );
    state.edit_light(3, light);
    state.add_light(LightKind::Point, Some(Vec3::ZERO));
    assert_eq!(state.inspect.outline.selected, Some(Item::Light(4)));
    let stage = |state: &State| -> Counts {
        let stage = state.stage.as_ref().unwrap();
        let lights = stage.applied.light_nodes(&stage.scene);
        (stage.scene.nodes.len(), stage.scene.lights.len(), lights)
    };
    assert_eq!(stage(&state), (5, 2, vec![3, 4]));
    // Another key forces a new computation of the exposure.
    state.config.environment.intensity *= 0.5;
    let dimmed = exposure(&mut state);
    state.config.environment.intensity *= 2.0;
    assert_eq!(exposure(&mut state), before);
    state.reset_lights();
    state.config.environment.intensity *= 0.5;
    assert_eq!(exposure(&mut state), dimmed);

    let place = glam::Mat4::from_translation(Vec3::new(1.0, 2.0, 3.0));
    state.place_light(3, place);
    state.select_item(Item::Light(3));
    let position = |state: &State| {
        let stage = state.stage.as_ref().unwrap();
        stage.world_from_light(3, &stage.pose()).w_axis.truncate()
    };
    assert_eq!(position(&state), Vec3::new(1.0, 2.0, 3.0));
    state.switch_light(3, true);
    assert!(state.stage.as_ref().unwrap().light_is_off(3));
    state.reset_light(3);
    assert_eq!((position(&state), state.edit_count()), (Vec3::ZERO, 0));
    click(&mut state, "Remove", 1);
    assert_eq!(stage(&state), (4, 1, vec![]));
    state.reset_lights();
    assert_eq!(stage(&state), (4, 1, vec![3]));
    let pose = Pose::new(&state.stage.as_ref().unwrap().scene, None, 0.0);
    assert_eq!(pose.world_from_node.len(), 4);
}

type Counts = (usize, usize, Vec<usize>);

/// Dragging a light's mark moves it in the plane of the view.
#[test]
fn dragging_a_light_mark_moves_the_light() {
    let mut state = shown(lamp());
    // The light is at the centre of the picture, five metres away.
    let stats = stats();
    let room = std::cell::Cell::new(egui::Rect::NOTHING);
    let mut add = |ui: &mut egui::Ui| {
        let pose = state.stage.as_mut().map(|stage| stage.shared_pose());
        let facts = Facts {
            pose: pose.as_deref(),
            ..facts(&stats, Show::Selection)
        };
        room.set(show(ui, &mut state, &facts));
    };
    let mut run = Run::new(context(), WINDOW.0, WINDOW.1, &mut add);
    run.faults(&[]);
    let at = room.get().center();
    run.drag(at, at + egui::vec2(60.0, -30.0));
    assert_eq!(state.inspect.outline.selected, Some(Item::Light(3)));
    let stage = state.stage.as_ref().unwrap();
    let moved = stage.world_from_light(3, &stage.pose()).w_axis.truncate();
    assert!(moved.x > 0.1 && moved.y > 0.05 && moved.z.abs() < 1e-4, "{moved}");
    assert!((moved.x / moved.y - 2.0).abs() < 0.2, "{moved}");
}

/// The tree works for an empty scene and without a scene.
#[test]
fn the_tree_works_for_an_empty_scene() {
    let mut state = shown(Scene::default());
    for _ in 0..2 {
        run(&mut state, |run| {
            let faults = run.faults(&[]);
            assert!(faults.is_empty(), "{faults:?}");
        });
        state.stage = None;
        state.inspect.outline = Outline::default();
        state.inspect.outline.is_open = true;
    }
}
