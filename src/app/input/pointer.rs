//! Mouse and keyboard input that moves the camera and the sun.

use crate::{
    app::{
        input::{chord::Modifiers, keys},
        state::State,
    },
    config,
};
use glam::{Vec2, Vec3};
use std::collections::HashSet;
use winit::{
    event::{ElementState, MouseButton, MouseScrollDelta},
    keyboard::KeyCode,
};

/// Held keys and buttons, and the position of the pointer.
#[derive(Debug, Default)]
pub(in crate::app) struct Input {
    /// Position of the pointer in pixels.
    pointer: Vec2,
    /// True if the pointer is over the window.
    is_over: bool,
    /// Held button that was pressed over the scene, and the effect of dragging with it.
    drag: Option<(MouseButton, Drag)>,
    /// Position at which the left button was pressed, until the pointer has moved too far for a click.
    pressed: Option<Vec2>,
    keys: HashSet<KeyCode>,
    modifiers: Modifiers,
    /// True while the key that moves the sun is held.
    sun: bool,
    /// True if a drag of the sun has begun since the key was pressed.
    has_dragged_sun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drag {
    Orbit,
    Pan,
    Look,
    Sun,
}

/// Maximum movement of the pointer during a click, in pixels.
const CLICK_REACH: f32 = 5.0;

/// Formats a number with at least three significant digits, but at most nine decimals.
fn significant(number: f32) -> String {
    let decimals = 2.0 - number.abs().max(1e-30).log10().floor();
    format!("{number:.*}", decimals.clamp(0.0, 9.0) as usize)
}

impl Input {
    /// Returns the position of the pointer in pixels.
    pub(in crate::app) fn pointer(&self) -> Vec2 {
        self.pointer
    }

    /// True if the pointer is over the window and nothing is dragged.
    pub(in crate::app) fn hovers(&self) -> bool {
        self.is_over && self.drag.is_none()
    }

    /// Registers that the pointer has left the window.
    pub(in crate::app) fn leave(&mut self) {
        self.is_over = false;
    }

    /// Returns the held modifiers.
    pub(in crate::app) fn modifiers(&self) -> Modifiers {
        self.modifiers
    }

    pub(in crate::app) fn set_modifiers(&mut self, modifiers: winit::keyboard::ModifiersState) {
        self.modifiers = modifiers.into();
    }

    /// Releases all keys and buttons, because the window has lost the focus and will not receive their
    /// releases.
    pub(in crate::app) fn release_all(&mut self) {
        *self = Self {
            pointer: self.pointer,
            ..Self::default()
        };
    }

    /// Presses or releases a key. Only keys that fly are registered, and not together with Ctrl.
    pub(in crate::app) fn set_key(&mut self, key: KeyCode, pressed: bool) {
        if !pressed {
            self.keys.remove(&key);
        } else if keys::flight(key).is_some() && !self.modifiers.ctrl {
            self.keys.insert(key);
        }
    }

    /// Presses or releases the key that moves the sun. Returns true for a release that ends a tap, during
    /// which no drag began.
    pub(in crate::app) fn set_sun(&mut self, held: bool) -> bool {
        let was_held = std::mem::replace(&mut self.sun, held);
        if !was_held {
            self.has_dragged_sun = false;
        }
        was_held && !held && !self.has_dragged_sun
    }

    /// Presses or releases a button. `in_scene` is true if the pointer is over the scene. The release that
    /// ends a left click returns true if Shift was held when the button was pressed, or false. All other
    /// events return `None`.
    pub(in crate::app) fn set_button(
        &mut self,
        button: MouseButton,
        state: ElementState,
        in_scene: bool,
    ) -> Option<bool> {
        if state == ElementState::Released {
            let (_, drag) = self.drag.take_if(|(held, _)| *held == button)?;
            self.pressed.take()?;
            return match drag {
                Drag::Orbit => Some(false),
                Drag::Pan => Some(true),
                Drag::Look | Drag::Sun => None,
            };
        }
        let drag = match button {
            MouseButton::Left if self.sun => Drag::Sun,
            MouseButton::Left if self.modifiers.shift => Drag::Pan,
            MouseButton::Left => Drag::Orbit,
            MouseButton::Middle => Drag::Pan,
            MouseButton::Right => Drag::Look,
            _ => return None,
        };
        if in_scene && self.drag.is_none() {
            self.drag = Some((button, drag));
            self.has_dragged_sun |= drag == Drag::Sun;
            self.pressed = (button == MouseButton::Left).then_some(self.pointer);
        }
        None
    }

    /// Moves the pointer to a position in pixels, and drags with the held button. `height` is the height of
    /// the viewport in pixels.
    pub(in crate::app) fn set_pointer(&mut self, pointer: Vec2, height: f32, state: &mut State) {
        let drag = (pointer - self.pointer) / height.max(1.0);
        (self.pointer, self.is_over) = (pointer, true);
        if self
            .pressed
            .is_some_and(|start| start.distance(pointer) <= CLICK_REACH)
        {
            return;
        }
        self.pressed = None;
        if self.drag.is_some_and(|(_, drag)| drag != Drag::Sun) {
            state.take_camera();
        }
        match self.drag {
            Some((_, Drag::Sun)) => state.drag_sun(drag),
            Some(_) if state.walks() => state.camera.look(drag),
            Some((_, Drag::Orbit)) => state.orbit(drag),
            Some((_, Drag::Pan)) => state.camera.pan(drag),
            Some((_, Drag::Look)) => {
                state.motion.arm.release(&mut state.camera);
                state.camera.look(drag);
            }
            None => {}
        }
    }

    /// Handles the wheel over the scene: changes the walking speed in walk mode, the flight speed while the
    /// right button is held, and zooms otherwise.
    pub(in crate::app) fn wheel(&self, delta: MouseScrollDelta, state: &mut State) {
        let steps = match delta {
            MouseScrollDelta::LineDelta(_, lines) => lines,
            MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 50.0,
        };
        if state.walks() {
            let speed = &mut state.config.camera.walk_speed;
            let (least, most) = config::Camera::WALK_SPEED.into_inner();
            *speed = (*speed * (0.2 * steps).exp()).clamp(least, most);
            let text = format!("walk speed {} metres per second", significant(*speed));
            state.notify(text);
        } else if self.drag.is_some_and(|(_, drag)| drag == Drag::Look) {
            let speed = &mut state.config.camera.speed;
            *speed = (*speed * (0.2 * steps).exp()).clamp(1e-4, 1e4);
            let shown = significant(*speed);
            let text = format!("fly speed {shown} scene sizes per five seconds");
            state.notify(text);
        } else {
            state.motion.arm.hold();
            state.camera.zoom(steps.clamp(-20.0, 20.0));
        }
    }

    /// True if a key that flies is held.
    pub(in crate::app) fn is_flying(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Returns the sum of the held view-space directions (right, up, back), and true if Shift is held.
    pub(in crate::app) fn axes(&self) -> (Vec3, bool) {
        let axes = self.keys.iter().filter_map(|key| keys::flight(*key));
        (axes.sum(), self.modifiers.shift)
    }

    /// Flies for `seconds` in the held directions, four times as fast with Shift.
    pub(in crate::app) fn fly(&self, seconds: f32, state: &mut State) {
        let (axes, is_fast) = self.axes();
        if axes != Vec3::ZERO {
            state.take_camera();
            state.motion.arm.release(&mut state.camera);
        }
        let faster = if is_fast { 4.0 } else { 1.0 };
        let speed = state.config.camera.speed * faster;
        state.camera.fly(axes, speed, seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sun_key_acts_on_release_unless_the_sun_was_dragged() {
        let mut input = Input::default();
        assert!(!input.set_sun(true));
        assert!(input.set_sun(false), "a tap");
        assert!(!input.set_sun(false), "a release without a press");
        for _repeat in 0..3 {
            assert!(!input.set_sun(true));
        }
        input.set_button(MouseButton::Left, ElementState::Pressed, true);
        assert_eq!(input.drag, Some((MouseButton::Left, Drag::Sun)));
        input.set_button(MouseButton::Left, ElementState::Released, true);
        assert!(!input.set_sun(false), "a drag");
    }

    #[test]
    fn numbers_keep_three_significant_digits() {
        let shown = [1e-4, 0.023_46, 1.0, 12.345, 9876.5, 0.0].map(significant);
        let expected = ["0.000100", "0.0235", "1.00", "12.3", "9876", "0.000000000"];
        assert_eq!(shown, expected);
    }
}
