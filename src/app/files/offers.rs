//! Suggestions after a scene was opened: corrections that are likely but not certain to be right.

use crate::{
    config::{Config, UpAxis},
    scene::{Scene, UpHint},
};

/// A suggestion that the user accepts with a key or a button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Suggestion {
    /// Rotates this axis of the file to point up, because the scene seems to lie on its side.
    Up(UpAxis),
    /// Colours the scene with this image, which has the same name and folder as the scene.
    Texture(String),
}

impl Suggestion {
    /// Returns the suggestions for `scene`. An up axis is suggested only if that of the settings is `auto`.
    pub(in crate::app) fn of(scene: &Scene, config: &Config) -> Vec<Self> {
        let up = match scene.up {
            UpHint::Likely(axis) if config.scene.up == UpAxis::Auto => Some(Self::Up(axis)),
            _ => None,
        };
        let texture = scene.unused_texture.clone().map(Self::Texture);
        up.into_iter().chain(texture).collect()
    }

    /// True if the suggestion concerns a texture.
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

    /// Returns the tooltip, which names the setting that accepting the suggestion changes.
    pub(in crate::app) fn hint(&self) -> &'static str {
        match self {
            Self::Up(_) => "Sets scene.up. U selects the next axis",
            Self::Texture(_) => "Sets load.obj_texture and reloads the file. T undoes it",
        }
    }

    /// Returns the text of the button that accepts the suggestion, with the key.
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
