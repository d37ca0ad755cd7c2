//! Edits of the shown scene's materials and lights.

use crate::{
    app::{
        outline::model::Item,
        state::{Stage, State, counted},
        undo::renumbered::Renumbered,
    },
    scene::{
        Light, LightKind, Material, Pose,
        edits::{AddedLight, LightEdit, SceneEdits},
    },
};
use glam::{Mat4, Quat, Vec3};

/// Illuminance of an added light at its target in lux, at an exposure of 0 stops. It is half the illuminance
/// that the automatic exposure aims at.
const ADDED_LUX: f32 = 1.5;

impl Stage {
    /// Replaces all edits of the scene with `edits`.
    pub(in crate::app) fn edit(&mut self, edits: &SceneEdits) {
        if self.applied.edits() == edits {
            return;
        }
        let changed = self.applied.apply(&mut self.scene, edits);
        self.changed_materials.extend(changed);
        self.edit_count += 1;
    }

    /// Reverts all edits of the scene and returns them.
    pub(in crate::app) fn take_edits(&mut self) -> SceneEdits {
        let edits = self.applied.edits().clone();
        self.edit(&SceneEdits::default());
        edits
    }

    /// Applies the edits of the previous scene to a reloaded one, as far as it still has the edited objects.
    /// Returns the number of dropped edits.
    pub(in crate::app) fn keep_edits(&mut self, renumbered: &Renumbered, edits: &SceneEdits) -> usize {
        let (kept, dropped) = renumbered.edits(edits, &self.scene);
        self.edit(&kept);
        dropped
    }

    /// Returns the light at a node, even if it is switched off. `None` if the node has no light.
    pub(in crate::app) fn light(&self, node: usize) -> Option<&Light> {
        let count = self.applied.node_count(&self.scene);
        if node >= count {
            let added = self.applied.edits().added.get(node - count);
            return added.map(|added| &added.light);
        }
        self.scene.lights.get(self.applied.light_at(&self.scene, node)?)
    }

    /// True if the light at a node is switched off, or if there is none.
    pub(in crate::app) fn light_is_off(&self, node: usize) -> bool {
        self.scene.nodes.get(node).is_none_or(|node| node.light.is_none())
    }

    /// Returns the light-to-world matrix of the light at a node in this pose, or the identity for a node that
    /// does not exist.
    pub(in crate::app) fn world_from_light(&self, node: usize, pose: &Pose) -> Mat4 {
        let own = pose.world_from_node.get(node).map(|own| own.as_mat4());
        match self.scene.nodes.get(node) {
            Some(_) => self.scene.world_from_light(node, own.unwrap_or_default()),
            None => Mat4::IDENTITY,
        }
    }

    /// Returns the number of nodes that share the light at `node`, at least 1.
    pub(in crate::app) fn users_of_light(&self, node: usize) -> usize {
        let light = self.applied.light_at(&self.scene, node);
        let nodes = 0..self.applied.node_count(&self.scene);
        let same = |node: &usize| light.is_some() && self.applied.light_at(&self.scene, *node) == light;
        nodes.filter(same).count().max(1)
    }
}

impl State {
    /// Applies `change` to a copy of the scene's edits, and then edits the scene accordingly.
    pub(in crate::app) fn edit_scene(&mut self, change: impl FnOnce(&Stage, &mut SceneEdits)) {
        let Some(stage) = &mut self.stage else { return };
        let mut edits = stage.applied.edits().clone();
        change(stage, &mut edits);
        stage.edit(&edits);
        self.forget_sun();
    }

    /// Sets the values of a material. Only values that differ from those of the file are edits.
    pub(in crate::app) fn edit_material(&mut self, index: usize, material: Material) {
        self.edit_scene(|stage, edits| {
            let of_file = stage.applied.material_of_files(&stage.scene, index);
            if let Some(of_file) = of_file {
                edits.set_material(index, of_file, &material);
            }
        });
    }

    /// Sets the values of the light at a node. Other nodes that share the light change too.
    pub(in crate::app) fn edit_light(&mut self, node: usize, light: Light) {
        self.edit_scene(|stage, edits| {
            let count = stage.applied.node_count(&stage.scene);
            if let Some(added) = node
                .checked_sub(count)
                .and_then(|index| edits.added.get_mut(index))
            {
                added.light = light;
            } else if let Some(index) = stage.applied.light_at(&stage.scene, node)
                && let Some(of_file) = stage.applied.light_of_files(&stage.scene, index)
            {
                edits.set_light(index, of_file, &light);
            }
        });
    }

    /// Sets the light-to-world matrix of the light at a node, and thus its position and direction.
    pub(in crate::app) fn place_light(&mut self, node: usize, world_from_light: Mat4) {
        self.edit_scene(|stage, edits| {
            let file_from_light = stage.scene.world_from_file.inverse() * world_from_light;
            let count = stage.applied.node_count(&stage.scene);
            match node.checked_sub(count) {
                Some(index) => {
                    if let Some(added) = edits.added.get_mut(index) {
                        added.file_from_light = file_from_light;
                    }
                }
                None => {
                    let place = edits.places.entry(node).or_default();
                    place.file_from_light = Some(file_from_light);
                }
            }
        });
    }

    /// Switches the light at a node on or off.
    pub(in crate::app) fn switch_light(&mut self, node: usize, is_off: bool) {
        self.edit_scene(|stage, edits| {
            let count = stage.applied.node_count(&stage.scene);
            match node.checked_sub(count) {
                Some(index) => {
                    if let Some(added) = edits.added.get_mut(index) {
                        added.is_off = is_off;
                    }
                }
                None => {
                    let place = edits.places.entry(node).or_default();
                    place.is_off = is_off;
                    if *place == LightEdit::default() {
                        edits.places.remove(&node);
                    }
                }
            }
        });
    }

    /// Removes the light at a node from the scene, and clears the selection.
    pub(in crate::app) fn remove_light(&mut self, node: usize) {
        self.edit_scene(|stage, edits| {
            let count = stage.applied.node_count(&stage.scene);
            match node.checked_sub(count) {
                Some(index) if index < edits.added.len() => _ = edits.added.remove(index),
                Some(_) => {}
                None => edits.places.entry(node).or_default().is_removed = true,
            }
        });
        self.inspect.outline.select_nothing();
        self.notify("removed the light; Reset all lights restores the lights of the file");
    }

    /// Reverts all edits of the light at a node that comes from the file.
    pub(in crate::app) fn reset_light(&mut self, node: usize) {
        self.edit_scene(|stage, edits| {
            edits.places.remove(&node);
            if let Some(light) = stage.applied.light_at(&stage.scene, node) {
                edits.lights.remove(&light);
            }
        });
    }

    /// Reverts all edits of lights, and removes added lights.
    pub(in crate::app) fn reset_lights(&mut self) {
        self.edit_scene(|_, edits| {
            *edits = SceneEdits {
                materials: std::mem::take(&mut edits.materials),
                ..SceneEdits::default()
            };
        });
        self.inspect.outline.select_nothing();
        self.notify("restored the lights of the file");
    }

    /// Adds a light and selects it. `middle` is the surface point at the centre of the picture, or `None` if
    /// there is no surface. A point light lies between `middle` and the camera, at 30 % of the distance. Spot
    /// and directional lights are at the camera and point at `middle`.
    pub(in crate::app) fn add_light(&mut self, kind: LightKind, middle: Option<Vec3>) {
        let (eye, forward) = (self.camera.eye(), self.camera.forward());
        let middle = middle.unwrap_or(eye + forward * self.camera.distance());
        let distance = eye.distance(middle).max(1e-6);
        let position = match kind {
            LightKind::Point => middle.lerp(eye, 0.3),
            LightKind::Spot { .. } | LightKind::Directional => eye,
        };
        let to_middle = position.distance(middle).max(1e-6);
        let Some(stage) = &self.stage else {
            return self.notify("there is no scene to add a light to");
        };
        let lux = ADDED_LUX * (-stage.last_exposure()).exp2();
        let light = Light {
            name: format!("{} light", crate::app::outline::model::kind_name(kind)),
            kind,
            color: Vec3::ONE,
            intensity: match kind {
                LightKind::Directional => lux,
                LightKind::Point | LightKind::Spot { .. } => lux * to_middle * to_middle,
            },
            range: None,
            radius: None,
        };
        let toward = match distance > 1e-5 {
            true => (middle - eye).normalize_or(forward),
            false => forward,
        };
        let world_from_light = Mat4::from_rotation_translation(rotation(toward), position);
        self.edit_scene(|stage, edits| {
            let file_from_light = stage.scene.world_from_file.inverse() * world_from_light;
            edits.added.push(AddedLight {
                light,
                file_from_light,
                is_off: false,
            });
        });
        let Some(stage) = &self.stage else { return };
        if let Some(last) = stage.scene.nodes.len().checked_sub(1) {
            self.select_item(Item::Light(last));
        }
        self.notify("added a light; drag its mark in the picture to move it");
    }

    /// Returns the number of edits of materials and lights. Edits of a light's values and of its placement
    /// count separately.
    pub(in crate::app) fn edit_count(&self) -> usize {
        let edits = self.stage.as_ref().map(|stage| stage.applied.edits());
        edits.map_or(0, |edits| {
            edits.materials.len() + edits.lights.len() + edits.places.len() + edits.added.len()
        })
    }

    /// Notifies the user of edits and undo steps that were dropped when files were reloaded, if there are
    /// any.
    pub(in crate::app) fn tell_dropped(&mut self, edits: usize, steps: usize) {
        let count = counted(edits as u64, "edit");
        let of_undo = counted(steps as u64, "step");
        let dropped = match (edits, steps) {
            (0, 0) => return,
            (_, 0) => count,
            (0, _) => format!("{of_undo} of undo"),
            _ => format!("{count} and {of_undo} of undo"),
        };
        self.notify(format!(
            "dropped {dropped}: the file no longer has the edited objects"
        ));
    }
}

/// Returns the rotation that turns −Z to `direction`.
pub(in crate::app) fn rotation(direction: Vec3) -> Quat {
    Quat::from_rotation_arc(Vec3::NEG_Z, direction.normalize_or(Vec3::NEG_Z))
}
