//! Opening and closing of the texture viewer.

use crate::app::{
    state::State,
    textures::model::{Slot, TextureRequest, slots},
};

impl State {
    /// Opens the texture viewer with texture `texture` of the scene, in any use.
    pub(in crate::app) fn open_texture(&mut self, texture: usize) {
        self.show_texture(TextureRequest {
            texture,
            used_as: None,
        });
    }

    /// Opens the texture viewer with a texture.
    pub(in crate::app) fn show_texture(&mut self, asked: TextureRequest) {
        self.inspect.textures.is_open = true;
        self.inspect.textures.asked = Some(asked);
    }

    /// Opens or closes the texture viewer. It opens with the first texture of the selection, if there is one.
    pub(in crate::app) fn toggle_textures(&mut self) {
        let of_selection = self.textures_of_selection().into_iter().next();
        let is_open = &mut self.inspect.textures.is_open;
        *is_open = !*is_open;
        if let Some((_, asked)) = of_selection.filter(|_| *is_open) {
            self.inspect.textures.asked = Some(asked);
        }
        let text = match is_open {
            true => "textures of the scene",
            false => "textures closed",
        };
        self.notify(text);
    }

    /// Returns the slot names and textures of the clicked material, or of the first material of the selected
    /// mesh.
    pub(in crate::app) fn textures_of_selection(&self) -> Vec<(&'static str, TextureRequest)> {
        let of = || {
            let scene = &self.stage.as_ref()?.scene;
            let selected = self.inspect.selection.meshes().first()?;
            let material = match selected.picked {
                Some(picked) => picked.material,
                None => {
                    let mesh = scene.nodes.get(selected.node)?.mesh?;
                    scene.meshes[mesh].primitives.first()?.material
                }
            };
            let textures = slots(scene.materials.get(material)?);
            let asked = |slot: Slot| {
                let asked = TextureRequest {
                    texture: slot.texture.texture,
                    used_as: Some(slot.used_as),
                };
                (slot.name, asked)
            };
            Some(textures.map(asked).collect())
        };
        of().unwrap_or_default()
    }
}
