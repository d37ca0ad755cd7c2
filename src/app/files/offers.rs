//! What is offered to the person after a scene was opened, because it is likely and not certain.

use crate::{
    config::{Config, UpAxis},
    scene::{Scene, UpHint},
};

/// An offer, which a key or a button accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Offer {
    /// The scene seems to lie down: turn this axis of the file up.
    Up(UpAxis),
    /// Colour the scene with this image, which lies beside it under its name.
    Texture(String),
}

impl Offer {
    /// What is offered for `scene`. What the settings fix is not.
    pub(in crate::app) fn of(scene: &Scene, config: &Config) -> Vec<Self> {
        let up = match scene.up {
            UpHint::Likely(axis) if config.scene.up == UpAxis::Auto => Some(Self::Up(axis)),
            _ => None,
        };
        let texture = scene.unused_texture.clone().map(Self::Texture);
        up.into_iter().chain(texture).collect()
    }

    /// Whether it is about a texture.
    pub(in crate::app) fn is_texture(&self) -> bool {
        matches!(self, Self::Texture(_))
    }

    /// The offer in a sentence.
    pub(in crate::app) fn text(&self) -> String {
        match self {
            Self::Up(axis) => format!(
                "Lying down? The scene stands on its {} axis.",
                axis.name().to_uppercase()
            ),
            Self::Texture(image) => format!("{image} lies beside it, and the file has no texture."),
        }
    }

    /// Which setting accepting it changes.
    pub(in crate::app) fn hint(&self) -> &'static str {
        match self {
            Self::Up(_) => "Sets scene.up; U goes on to the other axes",
            Self::Texture(_) => "Sets load.obj_texture and reloads the file; T again takes it back",
        }
    }

    /// What accepting it does, with its key.
    pub(in crate::app) fn button(&self) -> &'static str {
        match self {
            Self::Up(_) => "Turn upright (U)",
            Self::Texture(_) => "Use as colour (T)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_settings_fix_is_not_offered() {
        let scene = Scene {
            up: UpHint::Likely(UpAxis::Z),
            unused_texture: Some("spot.png".into()),
            ..Scene::default()
        };
        let mut config = Config::default();
        let image = Offer::Texture("spot.png".into());
        let both = [Offer::Up(UpAxis::Z), image.clone()];
        assert_eq!(Offer::of(&scene, &config), both);
        config.scene.up = UpAxis::Y;
        assert_eq!(Offer::of(&scene, &config), [image]);
        assert_eq!(Offer::of(&Scene::default(), &config), []);
    }
}
