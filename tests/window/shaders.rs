//! Shaders that change while the window shows their output.

use crate::display::{Display, OBJ, Screenshot, TIMEOUT};
use std::time::{Duration, Instant};

const TONEMAP: &str = include_str!("../../shaders/picture/tonemap.wgsl");

/// A saved file takes effect soon. A broken file leaves the picture unchanged and reports its line, and the
/// next valid one repairs it.
#[test]
fn edited_shaders_are_reloaded_without_a_build() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    std::fs::create_dir_all(display.path("mine/picture")).unwrap();
    let save = |text: &str| {
        // Like in editors, the file is never incomplete.
        std::fs::write(display.path("mine/next"), text).unwrap();
        let file = display.path("mine/picture/tonemap.wgsl");
        std::fs::rename(display.path("mine/next"), file).unwrap();
    };
    save(TONEMAP);
    let line = "scene.obj --shaders mine --size 320x240 --set window.panel=false --set image.antialias=off";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let log = [("RUST_LOG", "canopy_bvh::gpu=debug,error")];
    let _canopy = display.canopy_with(&arguments, &log);
    display.focus("scene.obj");
    let first = display.settled("the scene", Screenshot::is_drawn);
    let corner = |shot: &Screenshot| shot.pixels[200 * shot.width + 20];
    let is_red = |shot: &Screenshot| {
        let [red, green, _] = corner(shot);
        red > 100 && green < 20
    };
    assert!(!is_red(&first), "{:?}", corner(&first));

    let shown = "return vec4f(select(encoded, dithered, is_dithered), covered);";
    let edited = TONEMAP.replacen(shown, "return vec4f(1.0, 0.0, 0.0, 1.0);", 1);
    assert_ne!(edited, TONEMAP);
    let stderr = || std::fs::read_to_string(display.path("stderr")).unwrap();
    let before = stderr().len();
    save(&edited);
    let saved = Instant::now();
    while !is_red(&display.screenshot()) {
        assert!(saved.elapsed() < TIMEOUT, "the edit never showed");
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("an edit shows after {:.2} s", saved.elapsed().as_secs_f64());
    let red = display.settled("the edit", is_red);
    // All other shaders come from the cache.
    let log = stderr().split_off(before);
    let compiled = log.lines().filter_map(|line| {
        let (name, ms) = line.split_once("compiled ")?.1.split_once(" in ")?;
        let ms: f64 = ms.strip_suffix(" ms")?.parse().ok()?;
        (ms > 2.0).then_some(name)
    });
    let compiled: Vec<_> = compiled.collect();
    assert!(
        compiled.contains(&"tonemap") && compiled.len() < 4,
        "{compiled:?}"
    );

    save(&format!("{edited}\nfn broken() -> f32 {{ return nothing; }}\n"));
    let told = display.settled("the fault", |now| *now != red);
    assert!(is_red(&told), "{:?}", corner(&told));
    let line = edited.lines().count() + 2;
    let expected = format!("mine/picture/tonemap.wgsl:{line}: ");
    assert!(stderr().contains(&expected), "no {expected} in {}", stderr());

    save(TONEMAP);
    display.settled("the first picture", |now| *now == first);
}
