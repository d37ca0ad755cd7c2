//! Clicks on the scene: what they hit is found in the trees of the last frame, some frames later.

use crate::{
    Error, Result,
    app::{
        camera::projector::Projector,
        inspect::{
            clicks::{Click, Hover},
            measure::MeasuredPoint,
            mesh_gap::MeshGap,
            selection::{Gap, Selected},
        },
        schedule::{PictureKey, in_flight::GPU_POLL},
        viewer::Viewer,
        window::graphics::Graphics,
    },
    gpu::Needs,
    render::{GeometryCopy, OUTLINES, OutlineQuery, PickQuery, Picked, View},
};
use glam::Vec2;
use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

/// Most clicks that wait to be answered.
const MOST_CLICKS: usize = 8;
/// Distance in logical pixels within which a measured point snaps.
const SNAP_REACH: f32 = 10.0;
/// Width of outlines in logical pixels.
const OUTLINE_WIDTH: f32 = 2.5;

impl Viewer {
    /// The scene was clicked.
    pub(in crate::app) fn click(&mut self, beside: bool) {
        let Some(click) = self.click_at_pointer(beside) else {
            return;
        };
        if self.state.trees.view.traces {
            return self.trace_ray(click);
        }
        if self.selecting.clicks.len() < MOST_CLICKS {
            self.selecting.clicks.push_back(click);
        }
        self.draw_within(Duration::ZERO);
    }

    /// A click where the pointer is, on what is shown.
    fn click_at_pointer(&self, beside: bool) -> Option<Click> {
        let shown = self.selecting.shown.as_ref()?;
        let origin = self.area.origin.map(|side| side as f32);
        Some(Click {
            scene: shown.scene,
            query: PickQuery {
                view: shown.view,
                pixel: self.input.pointer() - Vec2::from(origin),
                size: self.area.size,
            },
            beside,
            adds: None,
        })
    }

    /// Asks what is in the middle of the picture, where a light is to be added.
    pub(in crate::app) fn ask_for_light(&mut self) {
        let Some(kind) = self.state.inspect.outline.adds.take() else {
            return;
        };
        let Some(shown) = self.selecting.shown.as_ref() else {
            return self.state.add_light(kind, None);
        };
        let size = self.area.size;
        self.selecting.clicks.push_back(Click {
            scene: shown.scene,
            query: PickQuery {
                view: shown.view,
                pixel: Vec2::new(size[0] as f32, size[1] as f32) * 0.5,
                size,
            },
            beside: false,
            adds: Some(kind),
        });
        self.draw_within(Duration::ZERO);
    }

    /// The pointer may have moved, or what is under it: asks what a click would measure.
    pub(in crate::app) fn hover(&mut self) {
        let is_measuring =
            self.state.inspect.measure.is_on && self.is_in_scene() && self.input.hovers();
        let click = self.click_at_pointer(false).filter(|_| is_measuring);
        let (Some(click), Some(picture)) = (click, self.selecting.shown.clone()) else {
            self.leave_hover();
            return;
        };
        let is_asked = |hover: &Hover| {
            hover.number.is_some()
                || hover.click.query == click.query && hover.picture.has_pose_of(&picture)
        };
        // One at a time: the next answer is that of where the pointer is by then.
        if !self.selecting.hovered.as_ref().is_some_and(is_asked) {
            let number = None;
            self.selecting.hovered = Some(Hover {
                click,
                picture,
                number,
            });
            self.selecting.hovers = true;
            self.draw_within(Duration::ZERO);
        }
    }

    /// The pointer is not over the scene.
    pub(in crate::app) fn leave_hover(&mut self) {
        (self.selecting.hovered, self.selecting.hovers) = (None, false);
        if self.state.inspect.measure.preview.take().is_some() {
            self.draw_within(Duration::ZERO);
        }
    }

    /// Asks the geometry of the picture that is shown for what was clicked, for outlines, and for the distance of
    /// two meshes. It does nothing while a frame of another pose is being drawn.
    pub(in crate::app) fn ask_geometry(&mut self) -> Result<()> {
        self.selecting
            .clicks
            .retain(|click| click.scene == self.scenes);
        let Some(shown) = self.selecting.shown.clone() else {
            return Ok(());
        };
        let replaces = |picture: &PictureKey| !picture.has_pose_of(&shown);
        let is_replaced = self
            .in_flight
            .as_ref()
            .is_some_and(|frame| replaces(&frame.picture));
        let traces = self.has_ray_to_trace();
        let has_work = traces
            || self.selecting.hovers
            || !self.selecting.clicks.is_empty()
            || !self.state.inspect.selection.is_empty();
        if shown.scene != self.scenes || is_replaced || !has_work || !self.selection_is_ready()? {
            return Ok(());
        }
        let Graphics { gpu, uploaded, .. } = &self.graphics;
        let gpu = gpu.clone();
        if !uploaded
            .as_ref()
            .is_some_and(|uploaded| self.graphics.renderer.has_geometry(uploaded))
        {
            return Ok(());
        }
        let mut encoder = gpu.encoder("selection");
        self.ask_for_clicks(&mut encoder)?;
        self.draw_outline(&mut encoder, &shown)?;
        self.ask_for_path(&mut encoder, &shown)?;
        let copies = self.copy_meshes(&mut encoder, &shown)?;
        gpu.queue.submit([encoder.finish()]);
        if let Some(copy) = self.traced_ray.copy.as_ref().filter(|_| traces) {
            copy.map();
        }
        if let Some((meshes, copies)) = copies {
            self.selecting.gap = Some(MeshGap::new(shown, meshes, copies));
        }
        Ok(())
    }

    /// Whether the passes are compiled; starts to compile them on a thread.
    fn selection_is_ready(&mut self) -> Result<bool> {
        if let Some(compiling) = &self.selecting.compiling {
            match compiling.try_recv() {
                Err(mpsc::TryRecvError::Empty) => return Ok(false),
                Err(mpsc::TryRecvError::Disconnected) => {}
                Ok(outcome) => {
                    self.selecting.compiling = None;
                    if outcome.is_err() {
                        self.selecting.hovers = false;
                        self.selecting.clicks.clear();
                        self.state.inspect.selection.clear();
                    }
                    outcome?;
                }
            }
            self.selecting.compiling = None;
        }
        let mut needs = Needs::default();
        let Graphics {
            gpu,
            renderer,
            uploaded,
            ..
        } = &self.graphics;
        let Some(uploaded) = uploaded else {
            return Ok(false);
        };
        renderer.selection_needs(uploaded, &mut needs);
        if self.state.trees.view.traces {
            renderer.path_needs(&mut needs);
        }
        if needs.is_empty() {
            return Ok(true);
        }
        let (sender, outcome) = mpsc::channel();
        let (gpu, wake) = (Arc::clone(gpu), self.waker.redraw());
        self.selecting.compiling = Some(outcome);
        self.selecting.thread = Some(std::thread::spawn(move || {
            sender.send(needs.meet(&gpu).map_err(Error::from)).ok();
            wake();
        }));
        Ok(false)
    }

    fn ask_for_clicks(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        let Graphics {
            gpu,
            renderer,
            uploaded: Some(uploaded),
            ..
        } = &mut self.graphics
        else {
            return Ok(());
        };
        while let Some(click) = self.selecting.clicks.front() {
            match renderer.pick(gpu, encoder, uploaded, &click.query) {
                Ok(None) => break,
                Ok(Some(number)) => self.selecting.asked.push((number, *click)),
                Err(error) => {
                    self.selecting.clicks.clear();
                    return Err(error.into());
                }
            }
            self.selecting.clicks.pop_front();
        }
        if let Some(hover) = &mut self.selecting.hovered
            && self.selecting.hovers
        {
            self.selecting.hovers = false;
            hover.number = renderer.pick(gpu, encoder, uploaded, &hover.click.query)?;
            self.selecting.hovers = hover.number.is_none();
        }
        Ok(())
    }

    /// Draws the outlines of what `picture` shows, where they are of something else.
    pub(in crate::app) fn draw_outline(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        picture: &PictureKey,
    ) -> Result<()> {
        let meshes = self.state.inspect.selection.instances();
        let wanted = Some((picture, meshes));
        let outlined = self.selecting.outlined.as_ref();
        let is_drawn = outlined.map(|(picture, meshes)| (picture, *meshes)) == wanted;
        if is_drawn || meshes == [None; OUTLINES] || self.selecting.compiling.is_some() {
            return Ok(());
        }
        let query = OutlineQuery {
            view: picture.view,
            size: picture.area.size,
            meshes,
            width: OUTLINE_WIDTH * self.window.scale_factor() as f32,
        };
        let Graphics {
            gpu,
            renderer,
            uploaded: Some(uploaded),
            ..
        } = &mut self.graphics
        else {
            return Ok(());
        };
        let mut needs = Needs::default();
        renderer.selection_needs(uploaded, &mut needs);
        if needs.is_empty() && renderer.draw_outline(gpu, encoder, uploaded, &query)? {
            self.selecting.outlined = Some((picture.clone(), meshes));
        }
        Ok(())
    }

    /// Whether the outlines that were drawn last belong over the picture.
    pub(in crate::app) fn has_outline(&self) -> bool {
        let meshes = self.state.inspect.selection.instances();
        let outlined = self.selecting.outlined.as_ref();
        meshes != [None; OUTLINES]
            && outlined.is_some_and(|(picture, of)| *of == meshes && picture.scene == self.scenes)
    }

    /// Copies the vertices of two selected meshes, where their distance is not known in this pose.
    fn copy_meshes(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        picture: &PictureKey,
    ) -> Result<Option<([usize; 2], [GeometryCopy; 2])>> {
        let [Some(first), Some(second)] = self.state.inspect.selection.instances() else {
            self.selecting.gap = None;
            return Ok(None);
        };
        let meshes = [first, second];
        if let Some(gap) = &self.selecting.gap {
            let is_known = self.state.inspect.selection.gap != Gap::Unknown;
            let is_of_pose = is_known && gap.picture.has_pose_of(picture);
            if gap.meshes == meshes && (is_of_pose || !gap.is_done()) {
                return Ok(None);
            }
        }
        let Some(uploaded) = &self.graphics.uploaded else {
            return Ok(None);
        };
        let (gpu, renderer) = (&self.graphics.gpu, &self.graphics.renderer);
        let mut copied = Vec::new();
        for mesh in meshes {
            copied.extend(renderer.copy_mesh(gpu, encoder, uploaded, mesh)?);
        }
        let copied: std::result::Result<[_; 2], _> = copied.try_into();
        Ok(copied.ok().map(|copies| (meshes, copies)))
    }

    /// Takes what has come back. Returns when to come back, or `None` where nothing is awaited.
    pub(in crate::app) fn poll_selecting(&mut self) -> Option<Instant> {
        if self.awaits_geometry() {
            self.graphics.gpu.device.poll(wgpu::PollType::Poll).ok();
            if self.graphics.gpu.lost().is_some() {
                // Drawing opens another device.
                self.draw_within(Duration::ZERO);
                return None;
            }
        }
        let asks_hover = self
            .selecting
            .hovered
            .as_ref()
            .is_some_and(|hover| hover.number.is_some());
        if (asks_hover || !self.selecting.asked.is_empty())
            && let Some(uploaded) = &self.graphics.uploaded
        {
            let mut arrived = Vec::new();
            let collected = |number, picked| arrived.push((number, picked));
            self.graphics.renderer.collect_picks(uploaded, collected);
            for (number, picked) in arrived {
                self.answered(number, picked);
            }
        }
        self.poll_gap();
        self.poll_figures();
        self.poll_counted_trees();
        self.poll_lab();
        self.poll_path();
        self.poll_texel();
        self.awaits_geometry().then(|| Instant::now() + GPU_POLL)
    }

    /// Whether anything is on its way back from the GPU.
    fn awaits_geometry(&self) -> bool {
        self.selecting.gap.as_ref().is_some_and(MeshGap::is_reading)
            || self.figures.is_reading()
            || self.counted_trees.is_reading()
            || self.lab.is_reading()
            || self.awaits_path()
            || self.awaits_texel()
            || !self.selecting.asked.is_empty()
            || self
                .selecting
                .hovered
                .as_ref()
                .is_some_and(|hover| hover.number.is_some())
    }

    /// The camera of the picture that the window shows next, where anything is measured in it.
    pub(in crate::app) fn measured_view(&self) -> Option<View> {
        let has_curve = self.state.motion.path.is_told && !self.state.motion.path.keys().is_empty();
        let has_lines = has_curve
            || self.state.inspect.outline.is_open
            || !self.state.inspect.measure.points().is_empty()
            || self.state.inspect.measure.preview.is_some()
            || matches!(self.state.inspect.selection.gap, Gap::Known(_));
        let shown = self.selecting.shown.as_ref().filter(|_| has_lines)?;
        // A long frame is shown when it is done; a short one with what is drawn over it.
        if self.graphics.renderer.budget.in_parts {
            return Some(shown.view);
        }
        let stage = self.state.stage.as_ref()?;
        let bounds = stage.bounds.scene(&stage.scene, &stage.pose());
        let (viewpoint, _) = self.state.viewpoint(bounds);
        Some(View {
            world_from_view: viewpoint.world_from_view,
            projection: viewpoint.projection,
            ..shown.view
        })
    }

    fn poll_gap(&mut self) {
        let Some(gap) = &mut self.selecting.gap else {
            return;
        };
        let Some(found) = gap.poll(self.waker.redraw()) else {
            return;
        };
        let [first, second] = self.state.inspect.selection.instances();
        let is_wanted = [first, second] == gap.meshes.map(Some);
        if is_wanted && gap.picture.scene == self.scenes {
            self.state.inspect.selection.gap = found.map_or(Gap::None, Gap::Known);
        }
        self.draw_within(Duration::ZERO);
    }

    /// The point that a click takes that has hit this.
    fn measured_point(&self, picked: &Picked, click: &Click) -> MeasuredPoint {
        let size = click.query.size.map(|side| side as f32);
        let projector = Projector::new(&click.query.view, size.into());
        let reach = SNAP_REACH * self.window.scale_factor() as f32;
        MeasuredPoint::snapped(picked, &projector, click.query.pixel, reach)
    }

    /// The answer to a click or to the pointer. That to a click on another scene is dropped.
    fn answered(&mut self, number: u64, picked: Option<Picked>) {
        if let Some(hover) = &mut self.selecting.hovered
            && hover.number == Some(number)
        {
            hover.number = None;
            let click = hover.click;
            let preview = picked.map(|picked| self.measured_point(&picked, &click));
            if self.state.inspect.measure.is_on && click.scene == self.scenes {
                self.state.inspect.measure.preview = preview;
            }
            self.draw_within(Duration::ZERO);
            return;
        }
        let asked = &mut self.selecting.asked;
        let Some(at) = asked.iter().position(|(known, _)| *known == number) else {
            return;
        };
        let (_, click) = asked.swap_remove(at);
        if click.scene != self.scenes {
            return;
        }
        self.draw_within(Duration::ZERO);
        if let Some(kind) = click.adds {
            let middle = picked.map(|picked| picked.position);
            return self.state.add_light(kind, middle);
        }
        if self.state.inspect.measure.is_on {
            let Some(picked) = picked else {
                return self.state.notify("there is nothing to measure");
            };
            let point = self.measured_point(&picked, &click);
            return self.state.inspect.measure.add(point);
        }
        let stage = self.state.stage.as_ref();
        let selected = picked.and_then(|picked| {
            let (node, _) = stage?.scene.instances().nth(picked.mesh)?;
            Some(Selected {
                node,
                mesh: picked.mesh,
                picked: Some(picked),
            })
        });
        self.state.inspect.selection.click(selected, click.beside);
    }
}
