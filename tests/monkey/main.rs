//! A monkey test of the real window on a virtual display. It makes seeded clicks, drags, wheel turns, keys,
//! text and size changes, and drops valid and broken files. There must be no panic, no line on standard error
//! except those about broken files, and no growing memory. Afterwards the window answers and comes to rest.
//!
//! `CANOPY_MONKEY_FRAMES=10000` makes a long run of it, `CANOPY_MONKEY_SEED=7` another one.

#![cfg(all(target_os = "linux", feature = "viewer"))]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod files;
#[path = "../common/folder.rs"]
#[expect(dead_code, reason = "a part of it is for other tests")]
mod folder;
mod monkey;
mod window;

use files::Files;
use monkey::Monkey;
use std::time::{Duration, Instant};
use window::{TIMEOUT, Window};

/// Frames and maximum duration of a short run.
const SHORT: (u64, Duration) = (400, Duration::from_secs(15));

/// Frames between two measurements of the memory.
const ROUND: u64 = 200;

/// Resident memory in bytes with the first scene, the initial settings and the first size. The monkey's
/// choices in between may have needed more.
fn memory_at_rest(window: &mut Window, files: &Files) -> u64 {
    window.release_all();
    window.resize(window::SIZE);
    // Outside all elements that take text, and all overlays that take keys.
    window.click(1, [4, 4]);
    window.tap(&[], window::ESCAPE);
    window.tap(&[], window::F9);
    window.drop_files(&[&files.first()], [40, 40]);
    window.rest("the first scene");
    window.resident_bytes()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn random_input_does_not_break_the_window() {
    let files = Files::write();
    let seed = number("CANOPY_MONKEY_SEED").unwrap_or(1);
    let long = number("CANOPY_MONKEY_FRAMES");
    let (frames, longest) = long.map_or(SHORT, |frames| (frames, TIMEOUT * 100));
    let mut window = Window::open(files.folder());
    let mut monkey = Monkey::new(seed);
    window.say(format!("seed {seed}"));

    let mut memory = vec![memory_at_rest(&mut window, &files)];
    let (start, first_frame) = (Instant::now(), window.frames());
    let drawn = |window: &Window| window.frames() - first_frame;
    let mut events = 0;
    while drawn(&window) < frames && start.elapsed() < longest {
        let next = (drawn(&window) + ROUND).min(frames);
        while drawn(&window) < next && start.elapsed() < longest {
            monkey.act(&mut window, &files);
            events += 1;
        }
        memory.push(memory_at_rest(&mut window, &files));
    }
    let drawn = drawn(&window);
    let (seconds, told) = (start.elapsed().as_secs(), window.told());
    println!("seed {seed}: {events} events, {drawn} frames in {seconds} s, bytes at rest: {memory:?}");
    if long.is_some() {
        assert_eq!(drawn.min(frames), frames, "only {drawn} frames in {seconds} s");
    }
    assert!(drawn > 50 && events > 50, "{events} events, {drawn} frames");
    // Files that are broken on purpose are reported. All their names contain "monkey".
    let others: Vec<_> = told.lines().filter(|line| !line.contains("monkey")).collect();
    assert!(others.is_empty(), "{}", window.context(&others.join("\n")));
    assert!(!told.contains("panicked"), "{}", window.context(&told));

    // The first quarter compiles shaders that were not used before.
    let warm = memory.len() / 4;
    let early = memory[warm..].iter().take(memory.len() / 4).max().copied();
    if let (Some(early), Some(late)) = (early, memory[memory.len() * 3 / 4..].iter().min())
        && memory.len() >= 8
    {
        let most = early + early / 20 + (8 << 20);
        assert!(
            *late < most,
            "{}",
            window.context(&format!("memory grows: {memory:?}"))
        );
    }
    let growth = memory[memory.len() - 1].saturating_sub(memory[0]);
    let what = format!("memory has grown by {growth} bytes: {memory:?}");
    assert!(growth < 400 << 20, "{}", window.context(&what));

    // It still answers.
    let before = window.frames();
    window.tap(&[], window::TAB);
    window.wait("a frame after Tab", |window| window.frames() > before);
    window.rest("rest at the end");
}

/// Desktops find the entry in their menu by the class, and show the icon.
#[test]
fn the_window_has_an_icon_and_its_application_class() {
    let files = Files::write();
    let window = Window::open(files.folder());
    let (class, icon) = window.class_and_icon();
    assert_eq!(class, "canopy\0canopy\0");
    assert_eq!(icon, [64, 64]);
}
