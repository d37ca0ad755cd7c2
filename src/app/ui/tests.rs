#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::state::Stage,
        config::Config,
        render::FrameStats,
        scene::{
            ExtensionUse, Scene, Treatment,
            opened::{OpenedScene, Span},
        },
    };

    /// A scene with variants, extensions and warnings.
    fn opened() -> OpenedScene {
        let extension = |treatment| ExtensionUse {
            name: "EXT_x".into(),
            required: true,
            treatment,
            note: "a note",
        };
        let scene = Scene {
            variants: vec!["red".into(), String::new()],
            extensions: vec![extension(Treatment::Full), extension(Treatment::Ignored)],
            warnings: vec!["a warning".into()],
            ..Scene::default()
        };
        let mut config = Config::default();
        config.scene.variant = "1".into();
        OpenedScene::new(scene, &config, Span::Clip)
    }

    /// Shows every section, the help, a message and the progress, with and without a scene, in a small and in
    /// a large window.
    #[test]
    fn everything_shows_without_a_window() {
        let stats = FrameStats::default();
        let mut state = State::new(Config::default());
        let facts = Facts {
            stats: &stats,
            loading: Some(LoadProgress {
                name: "a.glb".into(),
                stage: "reading".into(),
                share: 0.5,
            }),
            preparing: Some("gbuffer".into()),
            dropping: true,
            exposure_ev: 0.0,
            adapter: "test",
            has_gpu: false,
            fast_rays: false,
            render_scale: 0.5,
            size: [640, 360],
        };
        for (size, help) in [([320.0, 200.0], true), ([1280.0, 720.0], false)] {
            state.help = help;
            state.error = Some("a: b".into());
            if !help {
                let config = &mut state.config;
                config.set("test", "image.exposure", "histogram").unwrap();
            }
            state.stage = help.then(|| Stage::new(Vec::new(), opened(), 0.0));
            let ctx = egui::Context::default();
            set_style(&ctx);
            let input = egui::RawInput {
                screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size.into())),
                ..Default::default()
            };
            let mut room = egui::Rect::NOTHING;
            let output = ctx.run_ui(input, |ui| room = show(ui, &mut state, &facts));
            assert!(room.width() > 0.0 && room.width() < size[0], "{room}");
            output.drop_without_applying_deltas();
        }
    }
}
