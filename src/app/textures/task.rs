//! GPU work of the texture viewer: the shown texture, and the texel under the pointer.

use crate::{
    Result,
    app::{
        feature::Feature,
        textures::model::{Listed, listed},
        viewer::Viewer,
        window::{graphics::Graphics, screen},
    },
    gpu::Gpu,
    render::{TextureView, queries::texture_view::environment_texture},
    scene::environment::EnvironmentImage,
};
use std::time::Duration;

/// Feature that draws the viewed textures.
pub(in crate::app) struct TextureFeature;

impl Feature for TextureFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        follow(viewer);
        Ok(())
    }

    fn poll(&self, viewer: &mut Viewer) {
        poll_texel(viewer);
    }

    fn is_awaited(&self, viewer: &Viewer) -> bool {
        is_awaited(viewer)
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        viewer.texture_view = None;
        viewer.state.inspect.textures.reset();
        viewer.state.inspect.outline.thumbnails.clear();
        Ok(())
    }
}

/// Draws the chosen texture and queries the texel under the pointer while the viewer is open. Lists the
/// textures again after a change of the scene or the environment.
pub(in crate::app) fn follow(viewer: &mut Viewer) {
    let textures = &mut viewer.state.inspect.textures;
    let Graphics {
        gpu,
        uploaded: Some(uploaded),
        ..
    } = &viewer.graphics
    else {
        return;
    };
    let numbers = Some([viewer.scenes, viewer.environments]);
    if textures.of != numbers {
        textures.reset();
    }
    if !textures.is_open {
        (textures.drawn, textures.copy) = (None, None);
        return;
    }
    let Some(stage) = &viewer.state.stage else {
        return;
    };
    let mut is_changed = false;
    if textures.of.is_none() {
        let named = viewer.state.config.environment.is_file();
        let image = viewer.environment.image().filter(|_| named);
        let image = image.and_then(|image| of_environment(gpu, &image));
        textures.list = listed(&stage.scene, &uploaded.buffers.materials.textures, image);
        textures.of = numbers;
        is_changed = true;
    }
    textures.choose_asked(&stage.scene);
    let Some(shown) = textures.list.get(textures.chosen) else {
        return;
    };
    let passes = viewer
        .texture_view
        .get_or_insert_with(|| TextureView::new(gpu, screen::FORMAT));
    if textures.drawn.as_ref().map(|(of, _)| *of) != Some(textures.chosen) {
        let drawn = passes.show(gpu, &shown.texture);
        textures.drawn = Some((textures.chosen, drawn.map_err(|error| error.to_string())));
        is_changed = true;
    }
    let known = textures.value.as_ref().map(|(at, _)| *at);
    if let Some(at) = textures.pointed
        && textures.copy.is_none()
        && known != Some(at)
        && let Some(listed) = textures.list.get(at.texture)
    {
        let mut encoder = gpu.encoder("texture_view");
        let asked = (at.level, at.place);
        match passes.copy_texel(gpu, &mut encoder, &listed.texture, asked) {
            Ok(copy) => {
                gpu.queue.submit([encoder.finish()]);
                copy.map();
                textures.copy = Some((at, copy));
            }
            Err(error) => textures.value = Some((at, Err(error.to_string()))),
        }
    }
    if is_changed {
        // The current layout of the panel does not show the new texture yet.
        viewer.draw_within(Duration::ZERO);
    }
}

/// Takes the texel whose readback has completed.
pub(in crate::app) fn poll_texel(viewer: &mut Viewer) {
    let textures = &mut viewer.state.inspect.textures;
    if let Some((at, copy)) = textures.copy.take_if(|(_, copy)| copy.is_done()) {
        let value = copy.read().map_err(|error| error.to_string());
        textures.value = Some((at, value));
        viewer.draw_within(Duration::ZERO);
    }
}

/// True while the readback of a texel is pending.
pub(in crate::app) fn is_awaited(viewer: &Viewer) -> bool {
    viewer.state.inspect.textures.copy.is_some()
}

/// Returns the list entry of the environment image. `None`, with a warning in the log, if its texture cannot
/// be created.
fn of_environment(gpu: &Gpu, image: &EnvironmentImage) -> Option<Listed> {
    match environment_texture(gpu, image) {
        Ok(texture) => Some(Listed {
            name: image.name.clone(),
            texture,
            users: Vec::new(),
            radiance: Some(image.scale),
        }),
        Err(error) => {
            log::warn!(
                "{}: the texture viewer cannot show this image: {error}",
                image.name
            );
            None
        }
    }
}
