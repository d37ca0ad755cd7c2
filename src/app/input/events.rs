//! Dispatch of window events to widgets, actions, camera input and clicks.

use crate::app::{
    self,
    input::{
        chord::Press,
        keys::{self, Action},
        leaving::Answer,
    },
    viewer::Viewer,
    window::native,
};
use glam::Vec2;
use std::time::{Duration, Instant};
use winit::{
    event::{ElementState, KeyEvent, WindowEvent},
    keyboard::{Key, NamedKey, PhysicalKey},
    platform::modifier_supplement::KeyEventExtModifierSupplement as _,
};

/// True if `event` comes from the keyboard or the pointer, or may release held keys and buttons.
fn is_input(event: &WindowEvent) -> bool {
    matches!(
        event,
        WindowEvent::KeyboardInput { .. }
            | WindowEvent::Ime(_)
            | WindowEvent::Focused(_)
            | WindowEvent::ModifiersChanged(_)
            | WindowEvent::CursorMoved { .. }
            | WindowEvent::CursorLeft { .. }
            | WindowEvent::MouseInput { .. }
            | WindowEvent::MouseWheel { .. }
    )
}

/// Handles a window event. Input events are queued, so that they stay in order while they wait for the panel.
pub(in crate::app) fn event(viewer: &mut Viewer, event: WindowEvent) {
    match is_input(&event) {
        true => {
            viewer.waiting.push_back(event);
            take_input(viewer);
        }
        false => handle(viewer, &event),
    }
}

/// Continues with the queued input, because the panel was drawn and the focused widget is known again.
pub(in crate::app) fn panel_is_drawn(viewer: &mut Viewer) {
    viewer.awaits_panel = false;
    take_input(viewer);
}

/// Handles queued input up to the next event that may move the keyboard focus. The rest waits until the panel
/// is drawn, because only then it is known whether a widget takes the keys.
fn take_input(viewer: &mut Viewer) {
    while !viewer.awaits_panel
        && let Some(event) = viewer.waiting.pop_front()
    {
        let before = has_text_field(viewer);
        handle(viewer, &event);
        viewer.awaits_panel = may_move_keyboard(viewer, &event) || before != has_text_field(viewer);
        if viewer.awaits_panel {
            viewer.draw_within(Duration::ZERO);
        }
    }
}

/// True if the file browser, the palette or the search field receives all keys.
fn has_text_field(viewer: &Viewer) -> bool {
    viewer.browser.is_some() || viewer.state.ui.palette.is_some() || viewer.state.ui.finder.takes_keyboard
}

/// True if a widget may take or release the keyboard focus in response to `event`.
fn may_move_keyboard(viewer: &Viewer, event: &WindowEvent) -> bool {
    match event {
        WindowEvent::KeyboardInput { event, .. } => {
            let moves = [NamedKey::Escape, NamedKey::Enter, NamedKey::Tab].map(Key::Named);
            let is_theirs = viewer.gui.wants_keyboard() || has_text_field(viewer);
            event.state == ElementState::Pressed && moves.contains(&event.logical_key) && is_theirs
        }
        WindowEvent::MouseInput { .. } => !viewer.is_in_scene(),
        _ => false,
    }
}

fn handle(viewer: &mut Viewer, event: &WindowEvent) {
    viewer.events += 1;
    let is_tab = matches!(event, WindowEvent::KeyboardInput { event, .. }
        if event.logical_key == Key::Named(NamedKey::Tab));
    // Tab toggles the panel. egui would focus one of its widgets instead, which would then consume keys.
    let is_tab = is_tab && !has_text_field(viewer) && !viewer.gui.wants_keyboard();
    if !is_tab && viewer.gui.event(&viewer.window, event) {
        viewer.draw_within(Duration::ZERO);
    }
    match event {
        WindowEvent::CloseRequested => viewer.quit(),
        WindowEvent::HoveredFile(_) => viewer.hovering = true,
        WindowEvent::HoveredFileCancelled => viewer.hovering = false,
        WindowEvent::DroppedFile(path) => {
            viewer.hovering = false;
            viewer.dropped.push(path.clone());
        }
        WindowEvent::Focused(false) => {
            viewer.state.compare.is_held = false;
            viewer.input.release_all();
        }
        WindowEvent::MouseInput { state, button, .. }
            if app::compare::task::hold_line(viewer, *button, *state) => {}
        WindowEvent::ModifiersChanged(modifiers) => viewer.input.set_modifiers(modifiers.state()),
        WindowEvent::KeyboardInput {
            event,
            is_synthetic: false,
            ..
        } => key(viewer, event),
        WindowEvent::MouseInput { state, button, .. } => {
            let in_scene = viewer.is_in_scene();
            if let Some(beside) = viewer.input.set_button(*button, *state, in_scene) {
                app::inspect::task::click(viewer, beside);
            }
        }
        WindowEvent::CursorMoved { position, .. } => {
            let pointer = Vec2::new(position.x as f32, position.y as f32);
            let height = viewer.area.size[1] as f32;
            viewer.input.set_pointer(pointer, height, &mut viewer.state);
            app::compare::task::drag_line(viewer);
            app::inspect::task::hover(viewer);
            app::presentation::task::wake_pointer(viewer);
        }
        WindowEvent::CursorLeft { .. } => {
            viewer.input.leave();
            app::inspect::task::leave_hover(viewer);
        }
        WindowEvent::MouseWheel { delta, .. } if viewer.is_in_scene() => {
            viewer.input.wheel(*delta, &mut viewer.state);
        }
        _ => {}
    }
}

fn key(viewer: &mut Viewer, event: &KeyEvent) {
    let pressed = event.state == ElementState::Pressed;
    let code = match event.physical_key {
        PhysicalKey::Code(code) => Some(code),
        PhysicalKey::Unidentified(_) => None,
    };
    let is_plain = viewer.input.modifiers() == Default::default();
    if let Some(code) = code.filter(|_| pressed && is_plain && !viewer.gui.wants_keyboard())
        && viewer.state.walk_outline(code)
    {
        viewer.draw_within(Duration::ZERO);
        return;
    }
    // A key that is bound to an action does not fly.
    let action = viewer.state.ui.keymap.action(&Press {
        logical: event.logical_key.clone(),
        plain: event.key_without_modifiers(),
        code,
        modifiers: viewer.input.modifiers(),
    });
    let is_l = matches!(&event.logical_key, Key::Character(text) if text.eq_ignore_ascii_case("l"));
    // While L is held, drags move the sun. So the action of a plain L waits for the release, and is left out
    // after a drag.
    let waits = is_l && viewer.input.modifiers() == Default::default();
    let is_tap = is_l && viewer.input.set_sun(pressed && waits);
    let is_escape = event.logical_key == Key::Named(NamedKey::Escape);
    // A focused control receives the plain keys that move it, and a focused text field receives all keys.
    let modifiers = viewer.input.modifiers();
    let is_plain = !modifiers.ctrl && !modifiers.alt && !code.is_some_and(keys::is_function);
    let moves_control = is_plain && code.is_some_and(keys::moves_control);
    let edits_text = viewer.gui.edits_text();
    // A button of the export card has the focus from the start, but Escape closes the card nevertheless.
    let closes_card = is_escape && viewer.state.files.export.is_open && !edits_text;
    // The key that opens a dialog also closes it, although the dialog's text field has the focus.
    let closes_dialog = !is_plain
        && match action {
            Some(Action::Palette) => viewer.state.ui.palette.is_some(),
            Some(Action::Browse) => viewer.browser.is_some(),
            _ => false,
        };
    let typing = !closes_dialog
        && (viewer.gui.wants_keyboard() && (moves_control && !closes_card || edits_text)
            || has_text_field(viewer)
            || is_escape && viewer.gui.has_popup());
    if let Some(code) = code {
        viewer.input.set_key(code, pressed && !typing && action.is_none());
    }
    let acts = if waits { is_tap } else { pressed };
    let Some(action) = action.filter(|_| acts && !typing) else {
        return;
    };
    if !event.repeat
        || matches!(
            action,
            Action::Cutoff(_) | Action::Orbit(_) | Action::RayStep(_) | Action::StepFrame(_)
        )
    {
        viewer.perform(action);
    }
    viewer.draw_within(Duration::ZERO);
}

/// Opens the panel and focuses its first control. If a widget has the focus, returns it to the scene instead.
pub(in crate::app) fn focus_panel(viewer: &mut Viewer) {
    if viewer.gui.wants_keyboard() {
        viewer.gui.surrender_keyboard();
    } else {
        viewer.state.ui.panel = true;
        viewer.gui.focus_first();
    }
}

/// Handles Escape: closes a card, cancels a load, ends a mode or clears a selection, whichever comes first in
/// this function. If nothing is left, a second press quits.
pub(in crate::app) fn leave(viewer: &mut Viewer) {
    let now = Instant::now();
    if viewer.state.ui.error.take().is_some()
        || std::mem::take(&mut viewer.state.ui.help)
        || std::mem::take(&mut viewer.state.files.export.is_open)
    {
        // Closed.
    } else if viewer.state.picture.presents {
        app::presentation::task::toggle(viewer);
    } else if let Some(loading) = viewer.loading.take() {
        // The loading thread ends by itself. Nothing waits for it.
        loading.cancel();
        viewer.leaving.ended_load(now);
        viewer.state.notify("loading cancelled");
    } else if viewer.environment.cancel(&mut viewer.state.config) {
        viewer.state.edits.undo.correct(&viewer.state.config);
        viewer.leaving.ended_load(now);
        viewer.state.notify("loading the environment cancelled");
    } else if !std::mem::take(&mut viewer.state.files.offers).is_empty() {
        // Declined.
    } else if viewer.state.welcomes() {
        viewer.state.ui.layout.welcomed = true;
    } else if viewer.state.ui.panel && !viewer.state.ui.finder.text.is_empty() {
        viewer.state.ui.finder.text.clear();
    } else if !viewer.state.inspect.measure.points().is_empty() {
        viewer.state.inspect.measure.clear();
    } else if std::mem::take(&mut viewer.state.inspect.measure.is_on) {
        viewer.state.notify("measuring ended");
    } else if std::mem::take(&mut viewer.state.trees.view.traces) {
        viewer.state.notify("tracing ended");
    } else if std::mem::take(&mut viewer.state.inspect.textures.is_open)
        || std::mem::take(&mut viewer.state.profile.profiler.is_open)
        || std::mem::take(&mut viewer.state.inspect.outline.is_open)
    {
        // Closed.
    } else if !viewer.state.inspect.selection.is_empty() || viewer.state.inspect.outline.has_selection() {
        viewer.state.inspect.selection.clear();
        viewer.state.inspect.outline.select_nothing();
    } else if viewer.state.compare.other().is_some() {
        viewer.state.compare.end();
        viewer.state.notify("comparison ended");
    } else if viewer.window.fullscreen().is_some() {
        native::toggle_fullscreen(&viewer.window);
    } else {
        match viewer.leaving.ask(now) {
            Answer::Quit => viewer.quit(),
            Answer::AskAgain => viewer.state.notify("press Esc again to quit"),
            Answer::Ignore => {}
        }
    }
}
