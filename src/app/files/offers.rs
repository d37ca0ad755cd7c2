//! Suggestions to the user after a scene was opened, for likely but uncertain corrections.

use crate::{
    config::{Config, UpAxis},
    scene::{Scene, UpHint},
};

/// A suggestion that a key or a button accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Suggestion {
    /// The scene seems to lie on its side. Accepting rotates this axis of the file up.
    Up(UpAxis),
    /// Colours the scene with this image, which has the same name and folder as the scene.
    Texture(String),
}

impl Suggestion {
    /// Returns the suggestions for `scene`. Nothing is suggested that the settings specify explicitly.
    pub(in crate::app) fn of(scene: &Scene, config: &Config) -> Vec<Self> {
        let up = match scene.up {
            UpHint::Likely(axis) if config.scene.up == UpAxis::Auto => Some(Self::Up(axis)),
            _ => None,
        };
        let texture = scene.unused_texture.clone().map(Self::Texture);
        up.into_iter().chain(texture).collect()
    }

    /// True if it concerns a texture.
    pub(in crate::app) fn is_texture(&self) -> bool {
        matches!(self, Self::Texture(_))
    }

    /// Returns the suggestion as a sentence.
    pub(in crate::app) fn text(&self) -> String {
        match self {
            Self::Up(axis) => format!(
                "Is the scene lying down? Its {} axis can point up.",
                axis.name().to_uppercase()
            ),
            Self::Texture(image) => format!("The file has no texture, and {image} is in its folder."),
        }
    }

    /// Names the setting that accepting it changes.
    pub(in crate::app) fn hint(&self) -> &'static str {
        match self {
            Self::Up(_) => "Sets scene.up. U selects the next axis",
            Self::Texture(_) => "Sets load.obj_texture and reloads the file. T undoes it",
        }
    }

    /// Returns the button text for accepting it, with the key.
    pub(in crate::app) fn button(&self) -> &'static str {
        match self {
            Self::Up(_) => "Turn upright (U)",
            Self::Texture(_) => "Use as texture (T)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_leave_out_explicit_settings() {
        let scene = Scene {
            up: UpHint::Likely(UpAxis::Z),
            unused_texture: Some("spot.png".into()),
            ..Scene::default()
        };
        let mut config = Config::default();
        let image = Suggestion::Texture("spot.png".into());
        let both = [Suggestion::Up(UpAxis::Z), image.clone()];
        assert_eq!(Suggestion::of(&scene, &config), both);
        config.scene.up = UpAxis::Y;
        assert_eq!(Suggestion::of(&scene, &config), [image]);
        assert_eq!(Suggestion::of(&Scene::default(), &config), []);
    }
}
