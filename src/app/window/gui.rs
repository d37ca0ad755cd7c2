//! Integration of egui: window events in, triangles out.

use crate::{
    app::{
        ui,
        window::{
            screen::Paint,
            wake::{Wake, Waker},
        },
    },
    gpu::Gpu,
};
use egui_winit::accesskit_winit;
use glam::Vec2;
use std::time::{Duration, Instant};
use winit::{event::WindowEvent, event_loop::ActiveEventLoop, window::Window};

/// egui, and its state for the window.
pub(in crate::app) struct Gui {
    state: egui_winit::State,
    /// True if the screen has the font textures. A new screen needs them again.
    has_fonts: bool,
}

impl Gui {
    /// Creates egui for `window`. A delayed repaint request wakes the event loop.
    pub(in crate::app) fn new(
        event_loop: &ActiveEventLoop,
        window: &Window,
        gpu: &Gpu,
        waker: &Waker,
    ) -> Self {
        let proxy = waker.0.clone();
        let context = egui::Context::default();
        ui::set_style(&context);
        let waker = std::sync::Mutex::new(waker.clone());
        context.set_request_repaint_callback(move |request| {
            let waker = waker.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if request.delay < Duration::from_secs(3600) {
                waker.send(Wake::RedrawAt(Instant::now() + request.delay));
            }
        });
        let mut state = egui_winit::State::new(
            context,
            egui::ViewportId::ROOT,
            window,
            Some(window.scale_factor() as f32),
            None,
            Some(gpu.limits.max_texture_dimension_2d as usize),
        );
        // Must happen before the window is shown, or it would panic. Without an accessibility bus it has no
        // effect.
        state.init_accesskit(event_loop, window, proxy);
        Self {
            state,
            has_fonts: true,
        }
    }

    /// Passes an event to egui. Returns true if the window has to be redrawn.
    pub(in crate::app) fn event(&mut self, window: &Window, event: &WindowEvent) -> bool {
        self.state.on_window_event(window, event).repaint
    }

    /// True if a widget has the keyboard focus.
    pub(in crate::app) fn wants_keyboard(&self) -> bool {
        self.state.egui_ctx().egui_wants_keyboard_input()
    }

    /// True if a text field has the keyboard focus.
    pub(in crate::app) fn edits_text(&self) -> bool {
        self.state.egui_ctx().text_edit_focused()
    }

    /// Focuses the first control, as Tab does.
    pub(in crate::app) fn focus_first(&mut self) {
        let tab = |pressed| egui::Event::Key {
            key: egui::Key::Tab,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: egui::Modifiers::NONE,
        };
        self.state.egui_input_mut().events.extend([tab(true), tab(false)]);
    }

    /// Releases the keyboard focus.
    pub(in crate::app) fn surrender_keyboard(&self) {
        self.state.egui_ctx().memory_mut(|memory| {
            if let Some(id) = memory.focused() {
                memory.surrender_focus(id);
            }
        });
    }

    /// Handles the request of a screen reader.
    pub(in crate::app) fn accessibility(&mut self, event: accesskit_winit::Event) {
        use accesskit_winit::WindowEvent::{AccessibilityDeactivated, ActionRequested, InitialTreeRequested};
        match event.window_event {
            InitialTreeRequested => self.state.egui_ctx().enable_accesskit(),
            ActionRequested(request) => self.state.on_accesskit_action_request(request),
            AccessibilityDeactivated => self.state.egui_ctx().disable_accesskit(),
        }
    }

    /// True if a popup is open, such as a drop-down list or a colour picker. egui closes it with Escape.
    pub(in crate::app) fn has_popup(&self) -> bool {
        egui::Popup::is_any_open(self.state.egui_ctx())
    }

    /// True if something floats over the scene at `pointer`, in pixels.
    pub(in crate::app) fn covers(&self, pointer: Vec2) -> bool {
        let context = self.state.egui_ctx();
        let point = pointer / context.pixels_per_point();
        let layer = context.layer_id_at(egui::pos2(point.x, point.y));
        layer.is_some_and(|layer| layer.order != egui::Order::Background)
    }

    /// Registers that the screen was re-created and lacks the font textures.
    pub(in crate::app) fn forget_fonts(&mut self) {
        self.has_fonts = false;
    }

    /// Runs `show` on the input since the last run.
    pub(in crate::app) fn run(&mut self, window: &Window, show: impl FnMut(&mut egui::Ui)) -> Paint {
        let input = self.state.take_egui_input(window);
        let context = self.state.egui_ctx().clone();
        let mut output = context.run_ui(input, show);
        if !std::mem::replace(&mut self.has_fonts, true) {
            let image = context.fonts(|fonts| fonts.image());
            let fonts = egui::epaint::ImageDelta::full(image, egui::TextureOptions::LINEAR);
            let set = &mut output.textures_delta.set;
            set.insert(egui::TextureId::default(), [fonts].into_iter().collect());
        }
        self.state.handle_platform_output(window, output.platform_output);
        Paint {
            triangles: context.tessellate(output.shapes, output.pixels_per_point),
            textures: output.textures_delta,
            pixels_per_point: output.pixels_per_point,
        }
    }
}
