//! What opens and closes the texture viewer.

use super::{state::State, textures::Asked};

impl State {
    /// Opens the texture viewer with the texture that has this index among those of the scene, in any use.
    pub(super) fn open_texture(&mut self, texture: usize) {
        self.show_texture(Asked {
            texture,
            used_as: None,
        });
    }

    /// Opens the texture viewer with a texture.
    pub(super) fn show_texture(&mut self, asked: Asked) {
        self.textures.is_open = true;
        self.textures.asked = Some(asked);
    }

    /// Opens or closes the texture viewer.
    pub(super) fn toggle_textures(&mut self) {
        let is_open = &mut self.textures.is_open;
        *is_open = !*is_open;
        let text = match is_open {
            true => "textures of the scene",
            false => "textures closed",
        };
        self.notify(text);
    }
}
