//! When the structure of the laboratory is built that the window's rays go through, and what becomes of it.

use crate::{
    Result,
    app::{lab::model::Subject, viewer::Viewer, window::graphics::Graphics},
    lab::{LabBuild, LabScene, LabView, view},
    render::{Channel, geometry::shown::visible},
};
use std::{sync::Arc, time::Duration};

impl Viewer {
    /// Builds over what the window shows, where the channel `lab` is shown and that has changed. It does
    /// nothing while a frame of another pose is being drawn.
    pub(in crate::app) fn follow_lab(&mut self) -> Result<()> {
        if self.state.picture.channel != Channel::Lab {
            if self.has_lab() {
                self.replace_lab(None);
            }
            self.lab.forget();
            self.state.trees.lab.built = None;
            return Ok(());
        }
        let Some(shown) = self.selecting.shown.clone() else {
            return Ok(());
        };
        if self.has_lab() && !self.lab.is_of_scene(self.scenes) {
            self.replace_lab(None);
            self.state.trees.lab.built = None;
        }
        let Graphics {
            gpu,
            renderer,
            uploaded,
            ..
        } = &self.graphics;
        if let Err(error) = view::check_size(gpu, self.area.size) {
            self.state.trees.lab.built = Some(Err(error.to_string()));
        }
        let subject = Subject {
            build: LabBuild::from(&self.state.config.lab),
            picture: shown,
        };
        self.state.trees.lab.lags = !self.lab.has_traced(&subject);
        let picture = &subject.picture;
        let is_replaced = self
            .in_flight
            .as_ref()
            .is_some_and(|frame| !frame.picture.has_pose_of(picture));
        // While a clip plays, frames of other poses are drawn all the time: the triangles are those of the
        // last one that is whole.
        let plays = self
            .state
            .stage
            .as_ref()
            .is_some_and(|stage| stage.time != picture.time);
        if picture.scene != self.scenes || (is_replaced && !plays) || !self.lab.is_due(&subject) {
            return Ok(());
        }
        if self.lab.has_triangles_of(&subject) {
            self.lab.start(gpu, subject, self.waker.redraw());
            return Ok(());
        }
        let (Some(stage), Some(uploaded)) = (&self.state.stage, uploaded) else {
            return Ok(());
        };
        let mut encoder = gpu.encoder("lab.triangles");
        let copy = match renderer.copy_geometry(gpu, &mut encoder, uploaded) {
            Ok(Some(copy)) => copy,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.lab.give_up(subject);
                self.state.trees.lab.built = Some(Err(error.to_string()));
                return Ok(());
            }
        };
        gpu.queue.submit([encoder.finish()]);
        let pose = stage.pose_at(picture.clip, &picture.blend, picture.time, &picture.hidden);
        let ranges = uploaded.buffers.meshes.iter().map(|mesh| {
            let first = mesh.first_triangle;
            first..first + mesh.triangle_count
        });
        let ranges = visible(&stage.scene, &pose, ranges).collect();
        let origin = uploaded.buffers.origin;
        self.lab.read(subject, copy, ranges, origin);
        Ok(())
    }

    /// Takes the structure that has been built.
    pub(in crate::app) fn poll_lab(&mut self) {
        let wake = self.waker.redraw();
        let Some((subject, outcome)) = self.lab.poll(&self.graphics.gpu, wake) else {
            return;
        };
        let told = match outcome {
            Ok(scene) => {
                let told = (scene.build, scene.figures);
                log::debug!(
                    "built {} over {} triangles in {:.1} ms",
                    subject.build.structure.name(),
                    scene.figures.triangles,
                    scene.figures.build_ms
                );
                self.replace_lab(Some(Arc::new(scene)));
                self.lab.traces(self.labs, subject);
                Ok(told)
            }
            Err(error) => {
                self.replace_lab(None);
                Err(error.to_string())
            }
        };
        self.state.trees.lab.built = Some(told);
        self.draw_within(Duration::ZERO);
    }

    /// Whether rays are traced through a structure.
    fn has_lab(&self) -> bool {
        LabView::of(&self.graphics.renderer).is_some_and(|view| view.scene().is_some())
    }

    /// The next picture is traced through this structure.
    fn replace_lab(&mut self, scene: Option<Arc<LabScene>>) {
        let Graphics { gpu, renderer, .. } = &mut self.graphics;
        LabView::within(renderer, gpu, &self.state.config.lab).set(scene);
        self.labs += 1;
    }
}
