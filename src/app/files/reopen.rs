//! Provenance of pictures: collects the inputs of the shown picture, and reopens the scene of a saved one.

use crate::{
    Result,
    app::{files::recent::Recent, input::keys::Action, schedule::of_picture, state::State, viewer::Viewer},
    config::{AdapterTraits, Config},
    provenance::{FileRef, PictureInputs, Provenance, Search},
    render::Channel,
    scene::{Blend, framing::Viewpoint, saved_edits::SavedEdits},
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Resolves `auto` for occlusion and reflections as a single frame does on this adapter, because these
/// effects are visible in the picture. Other settings stay `auto`, because a still picture has no frame rate
/// to keep.
fn in_force(config: &Config, adapter: AdapterTraits) -> Config {
    let resolved = config.resolved(adapter);
    let mut config = config.clone();
    config.occlusion.mode = resolved.occlusion.mode;
    config.occlusion.rays = resolved.occlusion.rays;
    config.reflections.mode = resolved.reflections.mode;
    config
}

/// Headline of errors of reopening a picture.
const NOT_REOPENED: &str = "The picture's scene cannot be shown";

/// Returns the provenance of the shown picture for a file in `folder`. `None` if there is no picture or the
/// setting `output.metadata` is off.
pub(in crate::app) fn provenance(viewer: &Viewer, folder: Option<&Path>) -> Option<Provenance> {
    let stage = viewer.state.stage.as_ref()?;
    let picture = viewer.schedule.last()?;
    if !viewer.state.config.output.metadata {
        return None;
    }
    let samples = viewer.schedule.shown_samples();
    let adapter = (&viewer.graphics.gpu.capabilities).into();
    // `canopy render` resolves automatic settings in the same way as accumulated samples do, so those need no
    // explicit values.
    let drawn = of_picture(&picture.config, &viewer.state.config);
    let config = match samples > 1 {
        true => drawn,
        false => in_force(&drawn, adapter),
    };
    let shown = PictureInputs {
        files: &stage.files,
        clip: picture.clip,
        blend: (*picture.blend).clone(),
        time: picture.time,
        variant: picture.variant,
        viewpoint: Viewpoint {
            world_from_view: picture.view.world_from_view,
            projection: picture.view.projection,
        },
        distance: viewer.state.camera.distance(),
        size: picture.area.size,
        samples,
        edits: SavedEdits::new(&stage.scene, &stage.applied, &BTreeSet::new()),
        hidden: picture.hidden.iter().copied().collect(),
    };
    let mut made = Provenance::new(&config, &shown, folder);
    if picture.channel != Channel::Lit {
        made.channel = picture.channel.name().into();
    }
    Some(made)
}

/// Opens the scene of a picture with the picture's settings and view. Returns false if the picture has no
/// provenance, and true otherwise, also after an error, which is shown in the window.
pub(in crate::app) fn reopen(viewer: &mut Viewer, picture: &Path) -> bool {
    let made = match Provenance::read(picture) {
        Ok(Some(made)) => made,
        Ok(None) => return false,
        Err(error) => {
            viewer.state.fail(NOT_REOPENED, error.to_string());
            return true;
        }
    };
    if let Err(error) = show_again(viewer, picture, made) {
        viewer.state.fail(NOT_REOPENED, error.to_string());
    }
    true
}

fn show_again(viewer: &mut Viewer, picture: &Path, made: Provenance) -> Result<()> {
    let recent = viewer.recent_file.as_deref().map(Recent::read);
    let recent = recent.unwrap_or_default();
    let known: Vec<PathBuf> = {
        let shown = viewer
            .state
            .stage
            .iter()
            .flat_map(|stage| stage.files.iter().cloned());
        shown.chain(recent.into_files()).collect()
    };
    let elsewhere = |file: &FileRef| known.iter().find(|known| file.is_like(known)).cloned();
    let limits = viewer.state.config.load.clone();
    let search = Search {
        picture,
        limits: &limits,
        elsewhere: &elsewhere,
    };
    let files = made.files(&search)?;
    let left = made.apply(&mut viewer.state.config, &search)?;
    let name = picture.file_name().unwrap_or_default().to_string_lossy();
    viewer.state.edits.undo.name(format!("the settings of {name}"));
    viewer.state.follow_changes(false);
    viewer.state.notify(match left.first() {
        Some(line) => format!("reopened the scene of {name}, except: {line}"),
        None if made.edited && made.edits.is_none() => {
            format!(
                "reopened the scene of {name}, except for edits of materials and lights, which it does \
                     not store"
            )
        }
        None => format!("reopened the scene of {name}"),
    });
    viewer.load(files);
    viewer.options.look.view = Some(made.viewpoint());
    viewer.options.reopens = Some(made);
    Ok(())
}

/// Applies the provenance of a reopened picture to its scene, which has just been opened. Does nothing for
/// scenes that were opened in another way.
pub(in crate::app) fn follow_picture(viewer: &mut Viewer) {
    let Some(made) = viewer.options.reopens.take() else {
        return;
    };
    let aspect = viewer.aspect();
    viewer.state.follow_picture(&made);
    viewer.state.first_view(&viewer.options.look, aspect);
}

impl State {
    fn follow_picture(&mut self, made: &Provenance) {
        let Some(stage) = &mut self.stage else { return };
        let nodes = stage.scene.nodes.len();
        let hidden = made.hidden.iter().copied().filter(|node| *node < nodes);
        let hidden = hidden.collect();
        let animation = &self.config.animation;
        if let Ok((clip, mut blend)) = Blend::named(&stage.scene, &animation.clip) {
            // Morph targets that this scene lacks are left out.
            blend.set_morphs_named(&stage.scene, &animation.morphs).ok();
            (stage.clip, stage.blend) = (clip, blend.into());
        }
        stage.take_edits();
        let edits = made.edits.as_ref();
        let found = edits.map_or_else(Default::default, |edits| edits.find(&stage.scene));
        stage.time = self.config.animation.time;
        if let Ok(variant) = stage.scene.variant(&self.config.scene.variant) {
            self.ui.actions.push(Action::Variant(variant));
        }
        self.replace_edits("the picture", &found.edits, hidden);
        if let Some(line) = found.unmatched.first() {
            self.notify(format!("reopened the scene of the picture, except: {line}"));
        }
        self.playback.playing = false;
        let named = Channel::ALL
            .into_iter()
            .find(|channel| channel.name() == made.channel);
        self.picture.channel = named.unwrap_or(Channel::Lit);
    }
}
