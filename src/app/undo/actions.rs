//! Undo and redo in the viewer.

use crate::{
    app::{
        input::keys::Action,
        outline::model::Item,
        state::{Stage, State},
        undo::{model::Now, renumbered::Renumbered, words::words},
    },
    config::Config,
    scene::{Blend, edits::SceneEdits},
};
use std::{collections::BTreeSet, sync::Arc, time::Instant};

/// Returns the undoable state of a scene. It is empty without a scene.
fn of_stage(stage: Option<&Stage>) -> (SceneEdits, Arc<BTreeSet<usize>>) {
    stage.map_or_else(Default::default, |stage| {
        (stage.applied.edits().clone(), stage.hidden.clone())
    })
}

impl State {
    /// Adds changes of settings, edits and hidden nodes as an undo step. While `is_dragging`, the step waits
    /// for the end of the drag.
    pub(in crate::app) fn follow_changes(&mut self, is_dragging: bool) {
        self.follow_changes_at(is_dragging, Instant::now());
    }

    fn follow_changes_at(&mut self, is_dragging: bool, at: Instant) {
        // A setting that another choice changes is undone together with it.
        self.trees.lab.resolve_conflict(&mut self.config.lab);
        let Some(stage) = &self.stage else {
            let (edits, hidden) = of_stage(None);
            let now = Now {
                config: &self.config,
                edits: &edits,
                hidden: &hidden,
            };
            return self
                .edits
                .undo
                .follow(now, is_dragging, at, |_| Default::default());
        };
        let now = Now {
            config: &self.config,
            edits: stage.applied.edits(),
            hidden: &stage.hidden,
        };
        let told = |change: &_| words(stage, &self.inspect.outline, change);
        self.edits.undo.follow(now, is_dragging, at, told);
    }

    /// Makes the shown scene the base of further steps. With `renumbered`, the same files were loaded again,
    /// and steps keep the edits of objects that still exist. Without it, another scene is shown, and steps
    /// lose their edits. Returns the number of steps dropped by a reload.
    pub(in crate::app) fn follow_scene(&mut self, renumbered: Option<&Renumbered>) -> usize {
        let gone = match renumbered {
            Some(renumbered) => self.edits.undo.renumber(renumbered),
            None => {
                self.edits.undo.reset_scene();
                0
            }
        };
        let (edits, hidden) = of_stage(self.stage.as_ref());
        self.edits.undo.know(Now {
            config: &self.config,
            edits: &edits,
            hidden: &hidden,
        });
        gone
    }

    /// Undoes or redoes `count` steps, and shows a notice that names them.
    pub(in crate::app) fn undo(&mut self, count: usize, forwards: bool) {
        self.follow_changes(false);
        let before = self.config.clone();
        let (mut edits, mut hidden) = of_stage(self.stage.as_ref());
        let (mut told, mut steps) = (None, 0);
        while steps < count
            && let Some(text) = self
                .edits
                .undo
                .step(&mut self.config, (&mut edits, &mut hidden), forwards)
        {
            (told, steps) = (Some(text), steps + 1);
        }
        self.follow_settings(&before);
        if let Some(stage) = &mut self.stage {
            stage.edit(&edits);
            stage.hidden = hidden;
            // A light that no longer exists cannot stay selected.
            let lights = stage.applied.light_nodes(&stage.scene);
            let is_gone = |item| matches!(item, Item::Light(node) if !lights.contains(&node));
            if self.inspect.outline.selected.is_some_and(is_gone) {
                self.inspect.outline.select_nothing();
            }
            self.forget_sun();
        }
        let what = if forwards { "redone" } else { "undone" };
        self.notify(match (told, steps) {
            (Some(text), 1) => format!("{what}: {text}"),
            (Some(_), steps) => format!("{what}: {steps} steps"),
            (None, _) if forwards => "there is nothing to redo".into(),
            (None, _) => "there is nothing to undo".into(),
        });
    }

    /// Applies the settings of which the viewer keeps a copy, if they differ from `before`.
    pub(in crate::app) fn follow_settings(&mut self, before: &Config) {
        let (camera, animation) = (&self.config.camera, &self.config.animation);
        if camera.fov != before.camera.fov {
            self.camera.set_fov(camera.fov.to_radians());
        }
        if camera.mode != before.camera.mode {
            self.motion.arm.release(&mut self.camera);
        }
        if self.config.window.panel != before.window.panel {
            self.ui.panel = self.config.window.panel;
        }
        if animation.play != before.animation.play {
            let has_clip = self.stage.as_ref().is_some_and(|stage| stage.clip.is_some());
            self.playback.playing = has_clip && self.plays_by_itself();
        }
        if let Some(stage) = &mut self.stage {
            if animation.clip != before.animation.clip
                && let Ok((clip, blend)) = Blend::named(&stage.scene, &animation.clip)
            {
                match blend.clips.is_empty() {
                    true => self.ui.actions.push(Action::Clip(clip)),
                    false => {
                        stage.clip = clip;
                        Arc::make_mut(&mut stage.blend).clips = blend.clips;
                    }
                }
            }
            if animation.morphs != before.animation.morphs {
                let mut named = Blend::default();
                if named.set_morphs_named(&stage.scene, &animation.morphs).is_ok() {
                    Arc::make_mut(&mut stage.blend).morphs = named.morphs;
                }
            }
            if self.config.scene.variant != before.scene.variant
                && let Ok(variant) = stage.scene.variant(&self.config.scene.variant)
            {
                self.ui.actions.push(Action::Variant(variant));
            }
            if camera.name != before.camera.name
                && let Ok(Some(camera)) = stage.scene.camera(&camera.name)
            {
                self.ui.actions.push(Action::Camera(camera));
            }
            if animation.time != before.animation.time {
                stage.time = animation.time;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::undo::model::MAX_STEPS,
        config::ShadowMode,
        scene::{
            AlphaMode, Light, LightKind, Material, Mesh, Node, Scene,
            framing::Look,
            opened::{OpenedScene, Span},
        },
    };
    use glam::{Mat4, Vec3};
    use std::time::Duration;

    fn state() -> State {
        State::new(Config::default())
    }

    fn told(state: &State) -> &str {
        state.ui.notice.as_ref().map_or("", |(text, _)| text)
    }

    #[test]
    fn changes_are_undone_and_redone() {
        let mut state = state();
        state.config.exposure.compensation = 1.25;
        state.follow_changes(false);
        state.perform(Action::NextShadows, 1.0, &Look::default());
        state.follow_changes(false);
        // Without a change, no step is added.
        state.follow_changes(false);
        let changed = state.config.clone();
        let undo = |state: &mut State, action| {
            state.perform(action, 1.0, &Look::default());
            told(state).to_owned()
        };
        assert_eq!(undo(&mut state, Action::Undo), "undone: shadows.mode off to rays");
        assert_eq!(
            undo(&mut state, Action::Undo),
            "undone: exposure.compensation 1.25 to 0"
        );
        assert_eq!(state.config, Config::default());
        assert!(undo(&mut state, Action::Undo).starts_with("there is nothing to undo"));
        assert_eq!(
            undo(&mut state, Action::Redo),
            "redone: exposure.compensation 0 to 1.25"
        );
        assert!(undo(&mut state, Action::Redo).contains("rays to off"));
        assert_eq!(state.config, changed);
        assert_eq!(undo(&mut state, Action::Redo), "there is nothing to redo");
        // A new change clears the redo steps.
        undo(&mut state, Action::Undo);
        state.config.camera.fov = 30.0;
        state.follow_changes(false);
        assert_eq!(undo(&mut state, Action::Redo), "there is nothing to redo");
        // Resetting all settings is one step.
        undo(&mut state, Action::Reset);
        let text = undo(&mut state, Action::Undo);
        assert!(
            text.contains("camera.fov 45 to 30, exposure.compensation 0 to 1.25"),
            "{text}"
        );
        let fov = crate::scene::Projection::Perspective {
            fov_y: 30_f32.to_radians(),
        };
        assert_eq!(state.camera.projection, fov);
    }

    #[test]
    fn a_drag_or_a_held_key_is_one_undo_step() {
        let mut state = state();
        for ev in [0.5, 1.0, 2.0] {
            state.config.exposure.compensation = ev;
            state.follow_changes(true);
        }
        state.follow_changes(false);
        assert_eq!(state.edits.undo.steps().count(), 1);
        let start = Instant::now() + Duration::from_secs(9);
        for step in 1..=4 {
            state.config.tree.leaf_cutoff += 1;
            let now = start + Duration::from_millis(300) * step;
            state.follow_changes_at(false, now);
        }
        // Changes of text values are never merged, because each was a separate choice.
        for mode in [ShadowMode::Off, ShadowMode::Map] {
            state.config.shadows.mode = mode;
            let now = start + Duration::from_millis(1250);
            state.follow_changes_at(false, now);
        }
        let steps: Vec<_> = state.edits.undo.steps().collect();
        let expected = [
            "shadows.mode off to map",
            "shadows.mode rays to off",
            "tree.leaf_cutoff 2 to 6",
            "exposure.compensation 0 to 2",
        ];
        assert_eq!(steps, expected);
        state.undo(3, false);
        assert_eq!(told(&state), "undone: 3 steps");
        assert_eq!(
            (state.config.tree.leaf_cutoff, state.config.exposure.compensation),
            (2, 2.0)
        );
    }

    #[test]
    fn undo_steps_are_bounded_and_hold_only_user_changes() {
        let mut state = state();
        for step in 0..2 * MAX_STEPS {
            state.config.environment.file = format!("{step}.hdr");
            state.follow_changes(false);
        }
        assert_eq!(state.edits.undo.steps().count(), MAX_STEPS);
        let mut state = tests::state();
        state.config.deviation.file = "broken.obj".into();
        state.follow_changes(false);
        state.config.deviation.file.clear();
        state.edits.undo.correct(&state.config);
        state.follow_changes(false);
        assert_eq!(state.edits.undo.steps().count(), 0);
        // A named step without changes is not added either, and its name does not apply to the next one.
        state.edits.undo.name("a look");
        state.follow_changes(false);
        state.config.sun.strength = 5.0;
        state.follow_changes(false);
        assert!(
            state
                .edits
                .undo
                .steps()
                .all(|step| step.starts_with("sun.strength"))
        );
    }

    /// Returns a scene of two meshes with two materials, and a lamp.
    fn table() -> Scene {
        let node = |name: &str, mesh, light| Node {
            name: name.into(),
            mesh,
            light,
            ..Node::default()
        };
        let material = |name: &str| Material {
            name: name.into(),
            roughness: 0.5,
            ..Material::default()
        };
        Scene {
            nodes: vec![
                node("top", Some(0), None),
                node("leg", Some(0), None),
                node("lamp", None, Some(0)),
            ],
            meshes: vec![Mesh {
                name: String::new(),
                primitives: vec![],
            }],
            materials: vec![material("Bricks"), material("Oak")],
            lights: vec![Light {
                name: "bulb".into(),
                kind: LightKind::Point,
                color: Vec3::ONE,
                intensity: 3.0,
                range: None,
                radius: None,
            }],
            ..Scene::default()
        }
    }

    fn show(state: &mut State, file: &str, scene: Scene) {
        let opened = OpenedScene::new(scene, &Config::default(), Span::Clip);
        state.show(vec![file.into()], opened, &Look::default(), 1.0);
    }

    fn shown() -> State {
        let mut state = state();
        show(&mut state, "a.glb", table());
        state
    }

    /// Returns the current undoable state.
    fn now(state: &State) -> (Config, SceneEdits, BTreeSet<usize>) {
        let (edits, hidden) = of_stage(state.stage.as_ref());
        (state.config.clone(), edits, hidden.as_ref().clone())
    }

    fn edit_material(state: &mut State, index: usize, change: impl Fn(&mut Material)) {
        let mut material = state.stage.as_ref().unwrap().scene.materials[index].clone();
        change(&mut material);
        state.edit_material(index, material);
    }

    fn edit_light(state: &mut State, node: usize, change: impl Fn(&mut Light)) {
        let mut light = state.stage.as_ref().unwrap().light(node).unwrap().clone();
        change(&mut light);
        state.edit_light(node, light);
    }

    type Change = fn(&mut State);

    /// Changes with the description of their step when done and, if different, when undone.
    const CHANGES: [(Change, &str, &str); 16] = [
        (
            |s| edit_material(s, 0, |m| m.base_color.x = 0.25),
            "base colour of Bricks",
            "",
        ),
        (
            |s| edit_material(s, 0, |m| m.roughness = 0.25),
            "roughness of Bricks 0.5000 to 0.2500",
            "roughness of Bricks 0.2500 to 0.5000",
        ),
        (
            |s| s.config.exposure.compensation = 2.0,
            "exposure.compensation 0 to 2",
            "exposure.compensation 2 to 0",
        ),
        (
            |s| edit_material(s, 1, |m| m.alpha_mode = AlphaMode::Blend),
            "alpha mode of Oak opaque to blend",
            "alpha mode of Oak blend to opaque",
        ),
        (
            |s| s.add_light(LightKind::Directional, None),
            "directional light added",
            "",
        ),
        (
            |s| edit_light(s, 3, |light| light.color.y = 0.5),
            "colour of directional light",
            "",
        ),
        (|s| s.switch_light(3, true), "directional light switched off", ""),
        (
            |s| edit_light(s, 2, |light| light.range = Some(4.0)),
            "range of bulb automatic to 4.000",
            "range of bulb 4.000 to automatic",
        ),
        (
            |s| s.place_light(2, Mat4::from_translation(Vec3::X)),
            "bulb moved",
            "",
        ),
        (|s| s.switch_light(2, true), "bulb switched off", ""),
        (|s| s.toggle_hidden(0), "top hidden", ""),
        (
            |s| s.stage.as_mut().unwrap().hidden = BTreeSet::from([1]).into(),
            "other meshes shown",
            "",
        ),
        (
            |s| {
                s.perform(Action::ShowAll, 1.0, &Look::default());
            },
            "leg shown",
            "",
        ),
        (|s| s.remove_light(3), "directional light removed", ""),
        (|s| s.remove_light(2), "bulb removed", ""),
        (
            |s| s.edit_scene(|_, edits| *edits = SceneEdits::default()),
            "base colour of Bricks, and 6 more edits",
            "",
        ),
    ];

    /// Edits, lights, hidden nodes and settings form one history. Every state is restored, backwards and
    /// forwards.
    #[test]
    fn scene_edits_and_settings_are_undone_in_order() {
        let mut state = shown();
        let mut states = vec![now(&state)];
        for (change, words, _) in CHANGES {
            change(&mut state);
            state.follow_changes(false);
            assert_ne!(states.last(), Some(&now(&state)), "{words}");
            states.push(now(&state));
        }
        assert_eq!(state.edits.undo.steps().count(), CHANGES.len());
        for (index, (_, words, back)) in CHANGES.iter().enumerate().rev() {
            let back = if back.is_empty() { words } else { back };
            state.undo(1, false);
            assert_eq!(told(&state), format!("undone: {back}"));
            assert_eq!(now(&state), states[index], "{words}");
        }
        let scene = &state.stage.as_ref().unwrap().scene;
        assert_eq!(scene.materials, table().materials);
        assert_eq!((scene.nodes.len(), scene.lights.len()), (3, 1));
        for (index, (_, words, _)) in CHANGES.iter().enumerate() {
            state.undo(1, true);
            assert_eq!(told(&state), format!("redone: {words}"));
            assert_eq!(now(&state), states[index + 1]);
        }
        state.undo(CHANGES.len(), false);
        assert_eq!(now(&state), states[0]);
        assert!(state.stage.as_ref().unwrap().changed_materials.contains(&0));
    }

    /// A light that an undone step had added is deselected.
    #[test]
    fn removed_lights_are_deselected() {
        let mut state = shown();
        state.add_light(LightKind::Point, Some(Vec3::ZERO));
        assert_eq!(state.inspect.outline.selected, Some(Item::Light(3)));
        state.undo(1, false);
        assert_eq!(state.inspect.outline.selected, None);
        state.select_item(Item::Light(2));
        state.undo(1, true);
        assert_eq!(state.inspect.outline.selected, Some(Item::Light(2)));
    }

    #[test]
    fn hidden_nodes_are_deselected() {
        let mut state = shown();
        state.select_item(Item::Node(1));
        assert!(!state.inspect.selection.is_empty());
        state.perform(Action::Hide, 1.0, &Look::default());
        assert!(state.inspect.selection.is_empty());
        assert_eq!(now(&state).2, BTreeSet::from([1]));
    }

    #[test]
    fn one_slider_movement_is_one_undo_step() {
        let mut state = shown();
        for roughness in [0.4, 0.3, 0.2] {
            edit_material(&mut state, 0, |m| m.roughness = roughness);
            state.follow_changes(true);
        }
        state.follow_changes(false);
        let start = Instant::now() + Duration::from_secs(9);
        let at = |step: u32| start + Duration::from_millis(100) * step;
        // The changes are made by keyboard keys.
        for step in 1..=4_u8 {
            edit_light(&mut state, 2, |light| light.intensity += f32::from(step));
            state.follow_changes_at(false, at(step.into()));
        }
        // Each choice of an alpha mode is a separate step, even 100 ms after the previous change.
        for (step, mode) in [(5, AlphaMode::Mask), (6, AlphaMode::Blend)] {
            edit_material(&mut state, 0, |m| m.alpha_mode = mode);
            state.follow_changes_at(false, at(step));
        }
        let steps: Vec<_> = state.edits.undo.steps().collect();
        let expected = [
            "alpha mode of Bricks mask to blend",
            "alpha mode of Bricks opaque to mask",
            "intensity of bulb 3.000 to 13.00",
            "roughness of Bricks 0.5000 to 0.2000",
        ];
        assert_eq!(steps, expected);
        // Returning a value to its start removes the step.
        let mut state = shown();
        for (step, metallic) in [(1, 0.5), (2, 1.0)] {
            edit_material(&mut state, 0, |m| m.metallic = metallic);
            state.follow_changes_at(false, at(step));
        }
        assert_eq!(state.edits.undo.steps().count(), 0);
    }

    /// Reloaded files keep the steps of the objects that still exist. Another scene has no steps.
    #[test]
    fn undo_steps_survive_a_reload_but_not_another_scene() {
        let mut state = shown();
        let changes: [Change; 5] = [
            |s| edit_material(s, 0, |m| m.roughness = 0.25),
            |s| edit_material(s, 1, |m| m.roughness = 0.125),
            |s| edit_light(s, 2, |light| light.intensity = 9.0),
            |s| s.toggle_hidden(1),
            |s| s.config.exposure.compensation = 2.0,
        ];
        for change in changes {
            change(&mut state);
            state.follow_changes(false);
        }
        // In this file Bricks has moved and has other values, Oak is missing, and a node is new.
        let mut file = table();
        file.materials.reverse();
        file.materials[0].name = "Ash".into();
        file.materials[1].metallic = 0.75;
        file.lights[0].color = Vec3::X;
        file.nodes.push(Node::default());
        show(&mut state, "a.glb", file);
        assert_eq!(
            told(&state),
            "dropped 1 edit and 2 steps of undo: the file no longer has the edited objects"
        );
        let bricks = |state: &State| {
            let material = &state.stage.as_ref().unwrap().scene.materials[1];
            (material.roughness, material.metallic)
        };
        let bulb = |state: &State| {
            let light = state.stage.as_ref().unwrap().light(2).unwrap();
            (light.intensity, light.color)
        };
        // A light keeps its edits value by value, like a material.
        assert_eq!((bricks(&state), bulb(&state)), ((0.25, 0.75), (9.0, Vec3::X)));
        state.undo(2, false);
        assert_eq!(bulb(&state), (3.0, Vec3::X));
        state.undo(1, false);
        assert_eq!(told(&state), "undone: roughness of Bricks 0.2500 to 0.5000");
        assert_eq!(bricks(&state), (0.5, 0.75));
        state.undo(1, true);
        assert_eq!(bricks(&state), (0.25, 0.75));
        // Another scene has none of these steps, but the undone setting is kept.
        show(&mut state, "b.glb", table());
        assert_eq!(state.edits.undo.steps().count(), 0);
        state.undo(1, true);
        assert_eq!(told(&state), "redone: exposure.compensation 0 to 2");
        assert_eq!(state.edit_count(), 0);
    }
}
