//! The monkey's actions, from one seed.

use crate::{
    files::Files,
    window::{self, Window},
};
use std::{path::PathBuf, time::Duration};

/// A source of numbers that follow from the seed (SplitMix64).
pub(crate) struct Monkey(u64);

/// Keys that act, move, or edit text. None of them quits, because those actions are bound to no key.
const KEYS: &[u32] = &[
    window::TAB,
    window::ESCAPE,
    window::RETURN,
    window::BACKSPACE,
    window::DELETE,
    window::HOME,
    window::LEFT,
    window::UP,
    window::RIGHT,
    window::DOWN,
    window::PAGE_UP,
    window::PAGE_DOWN,
    window::F1,
    window::F1 + 4,
    window::F1 + 10,
    window::F1 + 11,
];

const PRINTED: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789[] -=,./;";

const TEXTS: &[&str] = &[
    "0.5",
    "-3",
    "1e9",
    "monkey.hdr",
    "monkey-scene.obj",
    "",
    "nan",
    "00",
];

impl Monkey {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn position(&mut self, window: &Window) -> [i16; 2] {
        let size = window.size();
        size.map(|side| self.below(usize::from(side).max(1)) as i16)
    }

    fn modifiers(&mut self) -> &'static [u32] {
        let all: &[&[u32]] = &[
            &[],
            &[window::SHIFT],
            &[window::CTRL],
            &[window::ALT],
            &[window::CTRL, window::SHIFT],
        ];
        self.one_of(all)
    }

    /// Does one action, and lets the window respond for a moment.
    pub(crate) fn act(&mut self, window: &mut Window, files: &Files) {
        match self.below(100) {
            0..30 => self.click(window),
            30..46 => self.drag(window),
            46..56 => self.wheel(window),
            56..78 => self.key(window),
            78..84 => self.type_text(window),
            84..91 => self.resize(window),
            91..96 => self.drop_files(window, files),
            96..98 => self.hover(window, files),
            _ => self.fly(window),
        }
        let pause = 5 + self.below(60) as u64;
        window.pause(Duration::from_millis(pause));
    }

    fn click(&mut self, window: &mut Window) {
        let at = self.position(window);
        let button = self.one_of(&[1, 1, 1, 1, 2, 3]);
        let times = self.one_of(&[1, 1, 1, 2, 3]);
        window.say(format!("click button {button} at {at:?}, {times} times"));
        (0..times).for_each(|_| window.click(button, at));
    }

    fn drag(&mut self, window: &mut Window) {
        let button = self.one_of(&[1, 1, 1, 2, 3]);
        let held = self.modifiers();
        let path: Vec<_> = (0..3 + self.below(6)).map(|_| self.position(window)).collect();
        window.say(format!("drag with button {button} and {held:x?} over {path:?}"));
        window.drag(button, held, &path);
    }

    fn wheel(&mut self, window: &mut Window) {
        let at = self.position(window);
        let (button, turns) = (self.one_of(&[4, 5]), 1 + self.below(8));
        window.say(format!("wheel {button} at {at:?}, {turns} times"));
        (0..turns).for_each(|_| window.click(button, at));
    }

    fn key(&mut self, window: &mut Window) {
        let held = if self.below(3) == 0 { self.modifiers() } else { &[] };
        let key = match self.below(2) {
            0 => self.one_of(KEYS),
            _ => u32::from(self.one_of(PRINTED)),
        };
        window.say(format!("key {key:x} with {held:x?}"));
        window.tap(held, key);
    }

    fn type_text(&mut self, window: &mut Window) {
        let at = self.position(window);
        let text = self.one_of(TEXTS);
        window.say(format!("double click at {at:?}, then type \"{text}\""));
        window.click(1, at);
        window.click(1, at);
        text.bytes().for_each(|c| window.tap(&[], u32::from(c)));
        window.tap(&[], window::RETURN);
    }

    fn resize(&mut self, window: &mut Window) {
        let size = match self.below(12) {
            0 => [1, 1],
            1 => [2000, 40],
            _ => [320 + self.below(540) as u16, 200 + self.below(460) as u16],
        };
        window.say(format!("resize to {size:?}"));
        window.resize(size);
    }

    fn some_files(&mut self, files: &Files) -> Vec<PathBuf> {
        let count = self.one_of(&[1, 1, 1, 2, 3]);
        let number = |_| files.numbered(self.below(Files::COUNT));
        (0..count).map(number).collect()
    }

    fn drop_files(&mut self, window: &mut Window, files: &Files) {
        let dropped = self.some_files(files);
        let at = self.position(window);
        window.say(format!("drop {dropped:?} at {at:?}"));
        window.drop_files(&dropped.iter().collect::<Vec<_>>(), at);
    }

    fn hover(&mut self, window: &mut Window, files: &Files) {
        let carried = self.some_files(files);
        let at = self.position(window);
        window.say(format!("hover with {carried:?} at {at:?} and leave"));
        window.hover(&carried.iter().collect::<Vec<_>>(), at);
    }

    fn fly(&mut self, window: &mut Window) {
        let key = u32::from(self.one_of(b"wasdeql"));
        window.say(format!("hold key {key:x}"));
        window.hold(key, Duration::from_millis(150));
    }
}
