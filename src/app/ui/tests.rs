use crate::{
    app::{
        compare::costs::Cost,
        files::recent::Recent,
        input::keys::Action,
        inspect::{
            measure::{MeasuredPoint, Snap},
            selection::{Gap, Selected},
        },
        schedule::preparation::CompileProgress,
        state::Stage,
        ui::model::Failure,
        ui::{checker::Run, panel::PANEL_WIDTH, *},
        undo::changes::Changes,
    },
    config::{
        AdapterTraits, BoxDepths, Config, EnvironmentSource, ShadowMode, Switch, Theme,
        declared::{Tab, groups},
    },
    gpu::profiler::{PassTiming, TimedFrame},
    lab::{LabBuild, LabCounts, LabStatistics},
    profile::memory::Memory,
    render::{
        Channel, CostRange, Element, FrameStats, IntersectionCounts, MeshPair, MeshStatistics, PathStep,
        Picked, RayKind, RayPath, TreeBoxCounts, TreeStatistics, View,
    },
    scene::{
        Camera, Clip, ExtensionUse, Node, Projection, Scene, Treatment,
        mesh_distance::MeshDistance,
        opened::{OpenedScene, Span},
    },
};
use glam::Vec3;
use std::sync::Arc;

/// A name that fits nowhere.
const LONG: &str = "a_name_that_is_far_too_long_for_any_panel_of_a_reasonable_width_and_then_some_more.glb";
/// A notice of usual length.
const MESSAGE: &str = "a message of a usual length, such as the name of a file that was saved";
/// Size and scale of a window that shows a part of the panel.
const PANEL: ([f32; 2], f32) = ([1280.0, 800.0], 1.0);
/// A typical adapter name.
const ADAPTER: &str = "llvmpipe (LLVM 19.1.7, 256 bits) (vulkan) — software renderer";

/// Content of a run's window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::app) enum Show {
    Panel,
    Help,
    Error,
    Loading,
    ErrorWhileLoading,
    CompileJob,
    FirstPicture,
    Dropping,
    Notice,
    NoScene,
    Selection,
    Profiler,
    Comparison,
    Palette,
}

impl Show {
    const ALL: [Self; 14] = [
        Self::Panel,
        Self::Help,
        Self::Error,
        Self::Loading,
        Self::ErrorWhileLoading,
        Self::CompileJob,
        Self::FirstPicture,
        Self::Dropping,
        Self::Notice,
        Self::NoScene,
        Self::Selection,
        Self::Profiler,
        Self::Comparison,
        Self::Palette,
    ];
}

/// Returns a scene with variants, clips, cameras, extensions and many warnings.
fn opened() -> OpenedScene {
    let extension = |treatment| ExtensionUse {
        name: "KHR_materials_pbrSpecularGlossiness".into(),
        required: true,
        treatment,
        note: "a note",
    };
    let clip = |name: &str| Clip {
        name: name.into(),
        duration_secs: 2.5,
        ..Clip::default()
    };
    let scene = Scene {
        variants: vec![LONG.into(), String::new()],
        clips: vec![clip(LONG), clip("")],
        cameras: vec![Camera {
            name: LONG.into(),
            projection: Projection::Perspective { fov_y: 1.0 },
        }],
        extensions: vec![extension(Treatment::Full), extension(Treatment::Ignored)],
        warnings: vec![format!("{LONG}: mesh 3 has no normals; they are computed"); 13],
        ..Scene::default()
    };
    let mut config = Config::default();
    config.scene.variant = "1".into();
    OpenedScene::new(scene, &config, Span::Clip)
}

fn state(show: Show, every_section: bool) -> State {
    let mut state = State::new(Config::default());
    if show != Show::NoScene {
        state.stage = Some(Stage::new(vec![LONG.into(), "b.glb".into()], opened(), 0.0));
    }
    state.ui.help = show == Show::Help;
    if matches!(show, Show::Error | Show::ErrorWhileLoading) {
        state.ui.error = Some(Failure {
            headline: format!("{LONG} could not be opened"),
            text: "a sentence that says what is wrong with it, at some length. ".repeat(30),
        });
    }
    if show == Show::Selection {
        select(&mut state);
    }
    if show == Show::Comparison {
        compare(&mut state);
    }
    if show == Show::Palette {
        state.open_palette(&Recent::default());
    }
    if show == Show::Notice {
        state.notify(MESSAGE);
        // The notice stays however slow the machine is.
        let later = std::time::Instant::now() + std::time::Duration::from_secs(3600);
        state.ui.notice = state.ui.notice.map(|(text, _)| (text, later));
    }
    state.profile.frame_ms.extend([4000.0, 9.0, 16.5]);
    let timing = |name: &str, depth, last_ms| PassTiming {
        name: name.into(),
        depth,
        last_ms,
        average_ms: last_ms,
        spans: Vec::new(),
    };
    let passes = [
        timing("frame", 0, 12_345.6),
        timing("occlusion_filter", 1, 0.012),
        timing("lighting", 1, 3.25),
    ];
    for (number, passes) in [(1, &passes[..]), (2, &passes[..2])] {
        state.profile.history.span("record", std::time::Instant::now());
        state.profile.history.push(number, 0.0);
        let passes = passes.to_vec();
        state
            .profile
            .history
            .timed(Arc::new(TimedFrame { number, passes }));
    }
    state.profile.history.remember_memory(Memory::default());
    state.profile.profiler.is_open = show == Show::Profiler;
    if every_section {
        for group in groups() {
            for name in [group.title.to_owned(), fold::more_of(group.title)] {
                state.ui.layout.open.insert(name, true);
            }
        }
    }
    state
}

/// Compares two sides with long names and shows their difference.
fn compare(state: &mut State) {
    let compare = &mut state.compare;
    state.config.environment.file = LONG.into();
    for text in [&format!("environment.file=b_{LONG}"), "shadows.mode=map"] {
        compare.set(&state.config, text).unwrap();
    }
    compare.mode = compare::model::Mode::Difference;
    compare.key = "shadows".into();
    compare.figures.is_shown = true;
    compare.figures.costs = [
        Some(Cost {
            median_ms: 12_345.6,
            size: [1280, 720],
            least_ms: 1234.5,
            most_ms: 99_999.9,
            frames: 3,
        }),
        None,
    ];
}

/// Selects two meshes with long names, and three measured points.
fn select(state: &mut State) {
    let far = Vec3::new(-123_456.7, 1.234_56e-7, 0.012_345_6);
    let of_mesh = |mesh| Selected {
        node: mesh,
        mesh,
        picked: Some(Picked {
            mesh,
            material: 0,
            position: far,
            element: Element::Triangle {
                number: u32::MAX,
                corners: [far; 3],
                normal: Vec3::NEG_ONE.normalize(),
                uv: glam::Vec2::splat(-1234.5),
            },
        }),
    };
    if let Some(stage) = &mut state.stage {
        let node = || Node {
            name: "a part of a machine with a long name".into(),
            ..Node::default()
        };
        stage.scene.nodes.extend([node(), node()]);
        stage.hidden = std::collections::BTreeSet::from([0]).into();
    }
    state.inspect.selection.click(Some(of_mesh(0)), false);
    state.inspect.selection.click(Some(of_mesh(1)), true);
    state.inspect.selection.gap = Gap::Known(MeshDistance {
        distance: 0.25,
        points: [far.as_dvec3(); 2],
    });
    state.inspect.measure.is_on = true;
    for position in [far, Vec3::X, Vec3::Y] {
        let snap = Snap::Element;
        state.inspect.measure.add(MeasuredPoint { position, snap });
    }
}

pub(in crate::app) fn facts(stats: &FrameStats, show: Show) -> Facts<'_> {
    let loads = matches!(show, Show::Loading | Show::ErrorWhileLoading);
    Facts {
        stats,
        lab: Some(LabCounts {
            rays: 8_294_400,
            hits: 8_000_000,
            nodes: 999_999_999,
            triangles: 99_999_999,
            steps: 34_567_890,
            wrong: Some(1_234_567),
        }),
        intersections: stats.intersections.as_deref(),
        loading: loads.then(|| LoadProgress {
            name: LONG.into(),
            stage: "reading images, 3 of 12".into(),
            share: 0.5,
        }),
        preparing: (show == Show::CompileJob).then(|| CompileProgress {
            names: vec!["reflections, most of a hundred letters".into(); 57],
            done: 12,
        }),
        dropping: show == Show::Dropping,
        exposure_ev: -1.25,
        adapter: ADAPTER,
        has_gpu: false,
        samples: Some([3, 16]),
        path_secs_left: Some(7260.0),
        rendering: true,
        has_drawn: show != Show::FirstPicture,
        browses: false,
        pose: None,
        view: (show == Show::Selection).then_some(View {
            world_from_view: glam::Mat4::from_translation(Vec3::Z * 5.0),
            projection: Projection::Perspective { fov_y: 1.0 },
            near: 0.1,
            far: 100.0,
        }),
        traits: AdapterTraits {
            fast_rays: false,
            better_trees: false,
            separate_path_kernels: false,
        },
        render_scale: 0.5,
        moving: None,
        size: [1280, 720],
    }
}

/// Returns statistics with large numbers, which need the most room.
pub(in crate::app) fn stats() -> FrameStats {
    FrameStats {
        triangles: 19_999_999,
        vertices: 59_999_999,
        meshes: 123_456,
        rays: 123_456_789,
        lights: 256,
        tree_dispatches: 123,
        cpu_record_ms: 1.2345,
        intersections: Some(Arc::new(IntersectionCounts {
            triangles: 19_999_999,
            pairs: u32::MAX,
            meshes: (0..23)
                .map(|row| MeshPair {
                    meshes: [row % 2, 1],
                    pairs: u32::MAX - row as u32,
                })
                .collect(),
            unlisted: 3,
        })),
        tree_boxes: Some(TreeBoxCounts {
            found: 19_999_999,
            drawn: 32_768,
            deepest: 95,
        }),
        cost_range: Some(CostRange {
            range: 999_999.0,
            most: Some(4095.0),
        }),
        ..FrameStats::default()
    }
}

thread_local! {
    /// Shaping and rasterizing glyphs takes most of a run, so the runs of a test share them.
    static CONTEXT: egui::Context = egui::Context::default();
}

/// Returns the shared context with its memory reset, except for glyphs and the theme. Runs that share it must
/// not overlap.
pub(in crate::app) fn context() -> egui::Context {
    let ctx = CONTEXT.with(Clone::clone);
    let gone = egui::RawInput {
        events: vec![egui::Event::PointerGone],
        ..egui::RawInput::default()
    };
    ctx.run_ui(gone, |_| ()).drop_without_applying_deltas();
    // Another theme would rasterize the glyphs again.
    let theme = ctx.options(|options| options.theme_preference);
    ctx.memory_mut(|memory| *memory = egui::Memory::default());
    ctx.set_theme(theme);
    set_style(&ctx);
    ctx
}

/// Runs `check` on a state in a window.
pub(in crate::app) fn with_run<R>(
    state: &mut State,
    shown: Show,
    (size, pixels_per_point): ([f32; 2], f32),
    check: impl FnOnce(&mut Run<'_>) -> R,
) -> R {
    let stats = stats();
    let mut add = |ui: &mut Ui| {
        state.find_sun();
        let pose = state.stage.as_mut().map(|stage| stage.shared_pose());
        let facts = Facts {
            pose: pose.as_deref(),
            ..facts(&stats, shown)
        };
        show(ui, state, &facts);
    };
    check(&mut Run::new(context(), size, pixels_per_point, &mut add))
}

/// Window sizes in logical pixels with their scale factors. They include 640 × 400 and 1280 × 800 physical
/// pixels on a high-density display, and the smallest size that the system allows.
const WINDOWS: [([f32; 2], f32); 6] = [
    ([1280.0, 800.0], 1.0),
    ([1280.0, 800.0], 2.0),
    ([640.0, 400.0], 1.0),
    ([640.0, 400.0], 2.0),
    ([320.0, 200.0], 1.0),
    ([320.0, 200.0], 2.0),
];

/// Nothing is cut off, overlaps or lacks a glyph, in windows of every size, theme and density, for all
/// contents.
#[test]
fn nothing_is_cut_off_or_overlaps_in_any_window() {
    let mut faults = Vec::new();
    let every_theme = std::env::var_os("CANOPY_TEST_ALL").is_some();
    for (at, window) in WINDOWS.into_iter().enumerate() {
        for (theme, turn) in [(Theme::Dark, 0), (Theme::Light, 1)] {
            for (nth, shown) in Show::ALL.into_iter().enumerate() {
                // The quick tests alternate the themes between windows and contents.
                if !every_theme && (at + nth) % 2 != turn {
                    continue;
                }
                let tabs = match shown {
                    Show::Panel => &Tab::ALL[..],
                    _ => &Tab::ALL[..1],
                };
                for tab in tabs {
                    let mut state = state(shown, true);
                    state.ui.layout.show_tab(*tab);
                    state.config.window.theme = theme;
                    let found = with_run(&mut state, shown, window, |run| {
                        run.faults(&[LONG, ADAPTER, "KHR_materials"])
                    });
                    let place = |fault| format!("{window:?} {shown:?} {tab:?} {theme:?}: {fault}");
                    faults.extend(found.into_iter().map(place));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

/// Windows may be as small as a pixel for a moment, with any contents.
#[test]
fn windows_of_a_few_pixels_do_not_panic() {
    for size in [[1.0, 1.0], [40.0, 20.0], [90.0, 300.0], [700.0, 3.0]] {
        for shown in Show::ALL {
            with_run(&mut state(shown, true), shown, (size, 1.0), |_| ());
        }
    }
}

/// The same check with every part of the panel visible, with large text, and with other settings.
#[test]
fn no_section_has_layout_faults() {
    let mut faults = Vec::new();
    for (index, window) in [([1280.0, 3000.0], 1.0), ([420.0, 3000.0], 1.5)]
        .into_iter()
        .enumerate()
    {
        for (variation, tab) in variations() {
            let mut state = state(Show::Panel, true);
            vary(&mut state, variation);
            state.ui.layout.show_tab(tab);
            state.config.window.font_size = [13.0, 16.0][index];
            let found = with_run(&mut state, Show::Panel, window, |run| {
                run.faults(&[LONG, ADAPTER, "KHR_materials"])
            });
            faults.extend(
                found
                    .into_iter()
                    .map(|f| format!("{window:?} {variation} {tab:?}: {f}")),
            );
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

/// Adds blended clips, morph targets, a camera path, and a running export.
fn animate(state: &mut State) {
    let Some(stage) = &mut state.stage else {
        return;
    };
    let target = |name: &str| crate::scene::MorphTarget {
        name: name.into(),
        ..Default::default()
    };
    stage.scene.meshes.push(crate::scene::Mesh {
        name: String::new(),
        primitives: vec![crate::scene::Primitive {
            targets: vec![target(LONG), target("")],
            ..Default::default()
        }],
    });
    stage.scene.nodes.push(Node {
        mesh: Some(stage.scene.meshes.len() - 1),
        ..Node::default()
    });
    stage.switch_clip(1, true);
    let node = stage.scene.nodes.len() - 1;
    Arc::make_mut(&mut stage.blend).set_morph(node, 1, Some(0.5));
    state.add_path_key();
    state.add_path_key();
    state.files.export.motion = export::model::Motion::Turn;
    state.files.export.progress = Some([1234, 5678, 240]);
}

/// Applies other settings, so that every control is seen at work.
fn vary(state: &mut State, variation: u32) {
    let config = &mut state.config;
    match variation {
        1 => {
            animate(state);
            trace_in_laboratory(state);
            let config = &mut state.config;
            config.shadows.mode = ShadowMode::Map;
            config.environment.source = EnvironmentSource::Color;
            config.set("test", "image.exposure", "histogram").unwrap();
            config.set("test", "tree.rebuild", "refit").unwrap();
            config.set("test", "environment.background", "color").unwrap();
        }
        2 => {
            config.environment.file = LONG.into();
            config.sun.enabled = Switch::Off;
            state.stage = None;
        }
        3 => {
            config.set("test", "occlusion.mode", "rays").unwrap();
            config.sun.enabled = Switch::On;
            config.set("test", "image.exposure", "-1.5").unwrap();
            state.picture.channel = Channel::Cost;
            config_trees(state);
            trace(state);
        }
        _ => {}
    }
}

/// Shows the channel `lab` with a structure that lags behind.
fn trace_in_laboratory(state: &mut State) {
    state.picture.channel = Channel::Lab;
    state.config.set("test", "lab.show", "nodes").unwrap();
    state.config.set("test", "lab.walk", "skip-links").unwrap();
    let figures = LabStatistics {
        triangles: 19_999_999,
        nodes: 39_999_998,
        bytes: 12_345_678_901,
        build_ms: 12_345.6,
    };
    state.trees.lab.built = Some(Ok((LabBuild::from(&state.config.lab), figures)));
    state.trees.lab.moved = Some("structure two-level-grid, required by cells-of-cells".into());
    state.trees.lab.lags = true;
}

/// Shows leaf boxes and figures of many meshes.
fn config_trees(state: &mut State) {
    state.config.set("test", "tree_boxes.show", "leaves").unwrap();
    let mesh = MeshStatistics {
        triangles: 19_999_999,
        nodes: 9_999_999,
        leaves: 12_345_678,
        depth: 31,
        sah_cost: 123.456,
        sah_share: 12_345.678,
    };
    state.trees.view.figures = Some(Ok(Arc::new(TreeStatistics {
        nodes: 9_999_999,
        leaves_at_depth: (0..60).collect(),
        leaves_of_size: (0..33).map(|size| 1000 * size).collect(),
        depth: 60,
        tlas_nodes: 99,
        tlas_depth: 12,
        sah_cost: 12_345.678,
        meshes: vec![mesh; 23],
    })));
    state.trees.view.figures_lag = true;
}

/// Adds a traced ray.
fn trace(state: &mut State) {
    let node = |number| PathStep::Node {
        number,
        mesh: Some(0),
        depth: number,
        corners: [Vec3::NEG_ONE, Vec3::ONE],
        children: [Some((12_345, Some(1.25))), Some((7, None)), None, None],
        t_max: 1234.5,
    };
    let triangle = PathStep::Triangle {
        mesh: 0,
        triangle: 19_999_999,
        corners: [Vec3::X, Vec3::Y, Vec3::Z],
        t: Some(0.25),
        t_max: 1234.5,
    };
    let ray = PathStep::Ray {
        origin: Vec3::splat(-123_456.7),
        direction: Vec3::Z,
        t_max: 1234.5,
    };
    let mut steps = vec![ray];
    steps.extend((0..20).map(node));
    steps.extend([triangle, PathStep::Answer { is_accepted: false }]);
    state.trees.view.traces = true;
    state.trees.view.path_of = RayKind::Shadow;
    state.trees.view.path = Some(Arc::new(RayPath {
        steps,
        step_count: 123_456,
        nodes: 100_000,
        triangles: 23_456,
        origin: Vec3::ZERO,
    }));
    state.trees.view.step = 22;
}

/// Returns all tabs, with settings of each variation.
fn variations() -> impl Iterator<Item = (u32, Tab)> {
    (0..4).flat_map(|variation| Tab::ALL.map(|tab| (variation, tab)))
}

/// Showing the panel changes no setting, whatever digits the settings have.
#[test]
fn showing_the_panel_changes_no_setting() {
    for (variation, tab) in variations() {
        let mut state = state(Show::Panel, true);
        vary(&mut state, variation);
        state.ui.layout.show_tab(tab);
        let odd = 0.123_456_79;
        let config = &mut state.config;
        config.sun.direction = [odd, -0.987_654_3, 0.333_333_34];
        (config.sun.strength, config.sun.color) = (4.0 + odd, [odd; 3]);
        config.environment.rotation = 270.0 + odd;
        (config.environment.haze, config.environment.blur) = (odd, odd);
        config.image.background = [odd; 3];
        config.exposure.compensation = 7.0 + odd;
        config.animation.speed = 20.0 + odd;
        let before = config.clone();
        let window = ([1280.0, 3000.0], 1.0);
        with_run(&mut state, Show::Panel, window, |run| _ = run.faults(&[]));
        let changed = Changes::default().between(&before, &state.config);
        assert!(changed.is_empty(), "{variation} {tab:?}: {changed:?}");
    }
}

/// Every widget shows a tooltip under the pointer, even if it has no effect.
#[test]
fn every_control_has_a_tooltip() {
    for (variation, tab) in variations() {
        let mut state = state(Show::Panel, true);
        vary(&mut state, variation);
        state.ui.layout.show_tab(tab);
        let window = ([1280.0, 3000.0], 1.0);
        let without = with_run(&mut state, Show::Panel, window, |run| run.without_tooltip());
        assert!(without.is_empty(), "{variation} {tab:?}: {}", without.join("\n"));
    }
    for shown in [Show::Help, Show::Error, Show::Selection, Show::Profiler] {
        let mut state = state(shown, false);
        state.ui.panel = false;
        // The help suppresses tooltips of the panels behind it.
        state.config.window.timeline = shown != Show::Help;
        let window = ([1280.0, 800.0], 1.0);
        let without = with_run(&mut state, shown, window, |run| run.without_tooltip());
        assert!(without.is_empty(), "{shown:?}: {}", without.join("\n"));
    }
}

/// While the help is open, no tooltip of the panel covers it.
#[test]
fn no_tooltip_lies_over_the_help() {
    for (shown, is_told) in [(Show::Help, false), (Show::Panel, true)] {
        let mut state = state(shown, false);
        let texts = with_run(&mut state, shown, PANEL, |run| {
            run.faults(&[LONG, ADAPTER]);
            let button = run.find("Browse").expect("it is in the panel");
            run.hover(button.center());
            run.hover(button.center())
        });
        let tip = texts
            .iter()
            .any(|text| text.starts_with("Opens canopy's file browser"));
        assert_eq!(tip, is_told, "{shown:?}");
    }
}

/// In a narrow window the panel and the tree cover the picture, which keeps its size.
#[test]
fn panels_cover_the_picture_in_narrow_windows() {
    for (width, is_narrow) in [(640.0, true), (800.0, false)] {
        let mut state = state(Show::Panel, false);
        state.inspect.outline.is_open = true;
        state.config.window.timeline = false;
        let stats = stats();
        let facts = facts(&stats, Show::Panel);
        let mut room = egui::Rect::NOTHING;
        let mut add = |ui: &mut Ui| room = show(ui, &mut state, &facts);
        let mut run = Run::new(context(), [width, 400.0], 1.0, &mut add);
        run.faults(&[]);
        for text in ["leaf cutoff", "Scene tree"] {
            assert!(run.find(text).is_some(), "{width}: {text} is not shown");
        }
        drop(run);
        assert_eq!(room.width() == width, is_narrow, "{width}: {room}");
    }
}

/// The checks above find the faults of a bad user interface.
#[test]
fn the_layout_checks_detect_faults() {
    let place = |ui: &mut Ui, x: f32, text: &str| {
        let rect = egui::Rect::from_min_size(egui::pos2(x, 20.0), egui::vec2(60.0, 20.0));
        ui.place(rect, egui::Button::new(text));
    };
    let check = |name: &str, expected: &str, add: &mut dyn FnMut(&mut Ui)| {
        let mut run = Run::new(context(), [200.0, 100.0], 1.0, add);
        let faults = run.faults(&["known"]).join("\n");
        assert!(faults.contains(expected), "{name}: {faults:?}");
    };
    check("overlapping buttons", "overlap", &mut |ui| {
        place(ui, 10.0, "one");
        place(ui, 40.0, "two");
    });
    check("text past the window", "cut off", &mut |ui| {
        ui.add(egui::Label::new("a long line ".repeat(20)).extend());
    });
    check("shortened text", "shortened", &mut |ui| {
        ui.add(egui::Label::new("a long line ".repeat(20)).truncate());
    });
    check("a glyph that the font lacks", "lacks", &mut |ui| {
        ui.label("\u{2009}\u{4e2d}");
    });
    let mut fine = |ui: &mut Ui| {
        place(ui, 10.0, "one");
        ui.add(egui::Label::new("a known line ".repeat(20)).truncate());
    };
    let mut run = Run::new(context(), [200.0, 100.0], 1.0, &mut fine);
    assert_eq!(run.faults(&["known"]), [""; 0]);
    assert_eq!(run.without_tooltip().len(), 1);
    let mut told = |ui: &mut Ui| _ = ui.button("one").on_hover_text("does one thing");
    let mut run = Run::new(context(), [200.0, 100.0], 1.0, &mut told);
    assert_eq!(run.without_tooltip(), [""; 0]);
}

/// The close button of the help is visible in the smallest window too.
#[test]
fn the_help_can_be_closed_in_any_window() {
    for window in WINDOWS {
        let mut state = state(Show::Help, false);
        with_run(&mut state, Show::Help, window, |run| {
            run.faults(&[]);
            let close = run.find("Close").filter(|rect| rect.height() > 8.0);
            run.click(close.expect("it is in sight").center(), 1);
        });
        assert!(!state.ui.help, "{window:?}");
    }
}

/// An error stays visible while a file is being loaded.
#[test]
fn progress_does_not_cover_an_error() {
    for window in WINDOWS {
        let mut state = state(Show::ErrorWhileLoading, false);
        let texts = with_run(&mut state, Show::ErrorWhileLoading, window, |run| {
            run.faults(&[]);
            run.texts()
        });
        let shown = |part: &str| texts.iter().any(|text| text.contains(part));
        assert!(shown("could not be opened"), "{window:?}: {texts:?}");
        assert!(!shown("Esc cancels"), "{window:?}: {texts:?}");
    }
}

/// A notice is one line if there is room, and never a sliver.
#[test]
fn notices_are_one_line_if_there_is_room() {
    for window in WINDOWS {
        let mut state = state(Show::Notice, false);
        let rect = with_run(&mut state, Show::Notice, window, |run| {
            run.faults(&[]);
            run.find(MESSAGE)
        });
        let rect = rect.expect("it is shown");
        assert!(rect.width() > 200.0, "{window:?}: {rect}");
        let lines = if window.0[0] < 600.0 { 3.0 } else { 1.0 };
        assert!(rect.height() < 20.0 * lines, "{window:?}: {rect}");
    }
}

/// Progress and notices do not cover the welcome card, which is hidden in a window without room for it.
#[test]
fn the_welcome_is_not_covered() {
    for show in [Show::Notice, Show::CompileJob, Show::FirstPicture] {
        for window in WINDOWS {
            let mut state = state(show, false);
            state.ui.keeps_layout = true;
            with_run(&mut state, show, window, |run| {
                run.faults(&[LONG]);
                let texts = [MESSAGE, "Compiling shaders", "Drawing the first picture"];
                let over = texts.iter().find_map(|text| run.find(text));
                let over = over.unwrap_or_else(|| panic!("{window:?}: {show:?} is not shown"));
                if let Some(first_line) = run.find("orbit, zoom") {
                    let is_above = over.bottom() < first_line.top();
                    assert!(is_above, "{window:?}: {over}, {first_line}");
                }
            });
        }
    }
}

/// The most used settings are always visible, or need no scrolling in a window of 1280 × 720.
#[test]
fn the_most_used_settings_are_above_the_fold() {
    let mut state = state(Show::Panel, false);
    let window = ([1280.0, 720.0], 1.0);
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        for text in [
            "shadows",
            "leaf cutoff",
            "Light",
            "Output",
            "Shadows",
            "Sun",
            "elevation",
            "Environment",
            "intensity",
        ] {
            let rect = run.find(text).unwrap_or_else(|| panic!("{text} is not shown"));
            assert!(rect.height() > 8.0, "{text} is out of sight: {rect}");
        }
    });
}

/// Two clicks on a name reset its value. A click on a title folds the group.
#[test]
fn double_clicks_on_names_reset_and_clicks_on_titles_fold() {
    let mut state = state(Show::Panel, false);
    state.config.tree.leaf_cutoff = 9;
    let window = ([1280.0, 2000.0], 1.0);
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        let name = run.find("leaf cutoff").expect("it is shown");
        run.click(name.center(), 2);
        let title = run.find("Sun").expect("it is shown");
        run.click(title.center(), 1);
    });
    let changed = Changes::default().between(&state.edits.initial, &state.config);
    assert!(changed.is_empty(), "{changed:?}");
    assert_eq!(state.ui.layout.open.get("Sun"), Some(&false));
    let mut without = with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        run.texts()
    });
    without.retain(|text| text == "azimuth");
    assert!(without.is_empty(), "the group is still shown");
    assert_eq!(state.ui.actions, [Action::Help; 0]);
}

/// The panel grows with the text size setting.
#[test]
fn the_panel_width_scales_with_the_font_size() {
    let width = |font_size| {
        let mut state = state(Show::Panel, false);
        state.config.window.font_size = font_size;
        let stats = stats();
        let facts = facts(&stats, Show::Panel);
        let mut room = egui::Rect::NOTHING;
        let ctx = context();
        let mut add = |ui: &mut Ui| {
            room = show(ui, &mut state, &facts);
        };
        Run::new(ctx.clone(), [2000.0, 720.0], 1.0, &mut add).faults(&[]);
        2000.0 - room.width() * ctx.zoom_factor()
    };
    let (small, large) = (width(13.0), width(26.0));
    assert!((small - PANEL_WIDTH).abs() < 4.0, "{small}");
    assert!((large - 2.0 * small).abs() < 8.0, "{small} {large}");
}

/// A click on a mesh of the cost list selects it, and a click on a button shows boxes.
#[test]
fn clicks_select_costly_meshes_and_show_tree_boxes() {
    let mut state = state(Show::Panel, true);
    select(&mut state);
    state.inspect.selection.clear();
    state.ui.layout.show_tab(Tab::Analyse);
    config_trees(&mut state);
    state.config.tree_boxes.show = BoxDepths::Off;
    if let Some(stage) = &mut state.stage {
        stage.scene.nodes[1].mesh = Some(0);
        stage.scene.nodes[1].name = "costly".into();
        stage.scene.meshes.push(crate::scene::Mesh {
            name: "costly".into(),
            primitives: Vec::new(),
        });
    }
    let window = ([1280.0, 5000.0], 1.0);
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        let row = run.find("12346  costly").expect("it is listed");
        run.click(row.center(), 1);
        let depth = run.find("depth").expect("it is shown");
        run.click(depth.center(), 1);
        let selected = run.find("selected").expect("it is shown");
        run.click(selected.center(), 1);
    });
    assert_eq!(state.inspect.selection.instances(), [Some(0), None]);
    assert_eq!(state.config.tree_boxes.show, BoxDepths::Depths(0, 3));
    assert!(state.trees.view.of_selection && state.trees.view.shows_figures);
}

/// Clicks switch mesh lines, parts of materials, the lens and the axes. The texture viewer opens.
#[test]
fn clicks_switch_overlays_material_parts_lens_and_axes() {
    let mut state = state(Show::Panel, true);
    let window = ([1280.0, 6000.0], 1.0);
    for (tab, text) in [
        (Tab::Analyse, "edges"),
        (Tab::Analyse, "and bitangents"),
        (Tab::Picture, "all surfaces"),
        (Tab::Light, "enabled"),
        (Tab::Picture, "out of focus"),
        (Tab::Scene, "in a corner"),
        (Tab::Picture, "All"),
    ] {
        state.ui.layout.show_tab(tab);
        with_run(&mut state, Show::Panel, window, |run| {
            run.faults(&[]);
            let found = run.find(text).unwrap_or_else(|| panic!("{text} is not shown"));
            run.click(found.center(), 1);
        });
    }
    let config = &state.config;
    let (overlay, materials) = (&config.overlay, &config.materials);
    assert!(overlay.wireframe && overlay.tangents && !overlay.normals);
    assert!(materials.clay && materials.normal_texture && !config.lights.enabled);
    assert!(config.depth_of_field.enabled && !config.window.axes);
    assert_eq!(state.ui.actions, [Action::Textures]);
    state.ui.actions.clear();
    state.perform(Action::Textures, 1.0, &crate::scene::framing::Look::default());
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        assert!(run.find("The scene has no textures.").is_some());
    });
    // Clicks on an end of an axis.
    state.inspect.textures.is_open = false;
    state.config.window.axes = true;
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        let end = run.find("X").expect("it is shown");
        run.click(end.center(), 1);
    });
    let faced = Action::Face(crate::app::camera::model::StandardView::Right);
    assert_eq!(state.ui.actions, [faced]);
}

/// A click or a key selects a step of a ray. A click on the check box ends tracing.
#[test]
fn ray_steps_are_selected_by_clicks_and_keys() {
    let mut state = state(Show::Panel, true);
    state.ui.layout.show_tab(Tab::Analyse);
    trace(&mut state);
    let window = ([1280.0, 5000.0], 1.0);
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        assert!(run.find("23  any-hit test: rejected").is_some());
        let step = run
            .find("19  node, depth 17: 1 of 2 boxes hit")
            .expect("it is listed");
        run.click(step.center(), 1);
    });
    assert_eq!(state.trees.view.step, 18);
    let mut press = |by| {
        state.perform(Action::RayStep(by), 1.0, &crate::scene::framing::Look::default());
        state.trees.view.step
    };
    assert_eq!([press(1), press(-1), press(99), press(-99)], [19, 18, 22, 0]);
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        let trace = run.find("by a click").expect("it is shown");
        run.click(trace.center(), 1);
    });
    assert_eq!(state.ui.actions, [Action::TraceRay]);
}

/// Returns a state whose profiler shows 100 frames, the 80th of which is slow.
fn profiled() -> State {
    let mut state = state(Show::Profiler, false);
    state.ui.panel = false;
    state.profile.profiler.clear(&mut state.profile.history);
    for number in 1..=100 {
        let ms = if number == 80 { 40.0 } else { 8.0 };
        let pass = |name: &str, depth, ms: f64| PassTiming::new(name, depth, 0.0..ms * 1e-3);
        let passes = vec![
            pass("frame", 0, 2.0 * ms),
            pass("lbvh", 1, 0.5 * ms),
            pass("shadow_rays", 1, 1.5 * ms),
        ];
        state.profile.history.span("record", std::time::Instant::now());
        state.profile.history.push(1000 + number, 0.0);
        let number = 1000 + number;
        state
            .profile
            .history
            .timed(Arc::new(TimedFrame { number, passes }));
    }
    state
}

const PROFILER: ([f32; 2], f32) = ([1280.0, 800.0], 1.0);

/// Returns the position on the GPU chart at the fraction `share` of the frames.
fn on_chart(run: &mut Run<'_>, share: f32) -> egui::Pos2 {
    run.faults(&[]);
    let gpu = run.find("GPU").expect("the chart is shown");
    // The point is left of the legend and slightly above the zero line.
    let (left, right) = (gpu.right() + 4.0, 1280.0 - 8.0 - 190.0 - 8.0);
    egui::pos2(left + share * (right - left), gpu.center().y - 4.0)
}

/// The tooltip shows the frame, the pass with its time and its fraction of the frame, and the total frame
/// time.
#[test]
fn the_profiler_tooltip_shows_the_pass_under_the_pointer() {
    let mut state = profiled();
    let first = state.profile.history.frames()[0].number;
    let texts = with_run(&mut state, Show::Profiler, PROFILER, |run| {
        let at = on_chart(run, 0.795);
        run.hover(at)
    });
    let tip = texts
        .iter()
        .find(|text| text.starts_with("frame "))
        .expect("a tooltip");
    let number: u64 = tip.lines().next().unwrap()[6..].parse().unwrap();
    assert!(number.abs_diff(first + 79) <= 1, "{tip}");
    assert!(tip.contains("lbvh: ") && tip.contains(" ms, 25.0 %"), "{tip}");
    for name in ["lbvh", "shadow_rays", "record", "Freeze", "Save trace"] {
        assert!(texts.iter().any(|text| text == name), "{name}: {texts:?}");
    }
    state.profile.profiler.is_open = false;
    let texts = with_run(&mut state, Show::Panel, PROFILER, |run| {
        run.faults(&[]);
        run.texts()
    });
    assert!(!texts.iter().any(|text| text == "Save trace"), "{texts:?}");
}

/// A drag along the timeline scrubs and pauses. Its handles move the loop range, and a double click resets an
/// end.
#[test]
fn the_timeline_scrubs_and_its_handles_move_the_loop() {
    let mut state = state(Show::Panel, false);
    state.playback.playing = true;
    let place = |run: &mut Run<'_>, time: f32, below: f32| {
        run.faults(&[LONG, ADAPTER]);
        let ticks = ["0.0", "2.0"].map(|text| run.find(text).expect("a tick").center());
        let x = ticks[0].x + time / 2.0 * (ticks[1].x - ticks[0].x);
        egui::pos2(x, ticks[0].y + below)
    };
    let (bar, handles) = (14.0, 27.0);
    with_run(&mut state, Show::Panel, PROFILER, |run| {
        let ends = [0.5, 1.25].map(|time| place(run, time, bar));
        run.drag(ends[0], ends[1]);
    });
    let time = |state: &State| state.stage.as_ref().unwrap().time;
    assert!(
        (time(&state) - 1.25).abs() < 0.01 && !state.playback.playing,
        "{}",
        time(&state)
    );
    with_run(&mut state, Show::Panel, PROFILER, |run| {
        let at = place(run, 2.25, bar);
        run.click(at, 1);
    });
    assert!((time(&state) - 2.25).abs() < 0.01, "{}", time(&state));
    let step = egui::vec2(5.0, 0.0);
    with_run(&mut state, Show::Panel, PROFILER, |run| {
        let [from, to] = [0.0, 0.5].map(|time| place(run, time, handles));
        run.drag(from - step, to - step);
        let [from, to] = [2.5, 2.0].map(|time| place(run, time, handles));
        run.drag(from + step, to + step);
    });
    let range = state.loop_range();
    assert!(
        (range.from - 0.5).abs() < 0.02 && (range.to - 2.0).abs() < 0.02,
        "{range:?}"
    );
    with_run(&mut state, Show::Panel, PROFILER, |run| {
        let at = place(run, 2.0, handles);
        run.click(at + step, 2);
    });
    assert_eq!(state.loop_range().to, 2.5);
    state.config.window.timeline = false;
    let texts = with_run(&mut state, Show::Panel, PROFILER, |run| {
        run.faults(&[]);
        run.texts()
    });
    assert!(!texts.iter().any(|text| text == "|<"), "it is hidden");
}

/// A click on the switch of a second clip blends both.
#[test]
fn the_group_animation_blends_and_morphs() {
    let mut state = state(Show::Panel, true);
    state.ui.layout.show_tab(Tab::Scene);
    let window = ([1280.0, 3000.0], 1.0);
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[LONG]);
        let name = run.find("clip 1").expect("the second clip").center();
        run.click(egui::pos2(name.x + 86.0, name.y), 1);
    });
    let weights = state.stage.as_ref().unwrap().weights();
    assert_eq!(weights, [(0, 0.5), (1, 0.5)]);
    animate(&mut state);
    assert_eq!(state.stage.as_ref().unwrap().blend.morphs.len(), 1);
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[LONG]);
        let reset = run.find("Reset").expect("weights are set by hand").center();
        run.click(reset, 1);
    });
    assert_eq!(state.stage.as_ref().unwrap().blend.morphs, []);
}

/// The wheel zooms in time around the pointer, and a drag pans into the past.
#[test]
fn the_profiler_zooms_and_pans() {
    let mut state = profiled();
    with_run(&mut state, Show::Profiler, PROFILER, |run| {
        let at = on_chart(run, 0.5);
        run.wheel(at, 200.0);
    });
    let zoomed = state.profile.profiler.view(&state.profile.history);
    assert!((20..70).contains(&zoomed.len()), "{zoomed:?}");
    assert!(
        zoomed.contains(&50) && zoomed.start > 10 && zoomed.end < 90,
        "{zoomed:?}"
    );
    with_run(&mut state, Show::Profiler, PROFILER, |run| {
        let at = on_chart(run, 0.5);
        run.drag(at, at + egui::vec2(200.0, 0.0));
    });
    let panned = state.profile.profiler.view(&state.profile.history);
    assert!(
        panned.start < zoomed.start && panned.len() == zoomed.len(),
        "{panned:?}"
    );
}

/// The buttons freeze, copy the visible frames, save and clear.
#[test]
fn the_profiler_s_buttons_work() {
    let mut state = profiled();
    let press = |state: &mut State, text: &str| {
        with_run(state, Show::Profiler, PROFILER, |run| {
            run.faults(&[]);
            let button = run.find(text).unwrap_or_else(|| panic!("no {text}"));
            run.click(button.center(), 1);
        });
    };
    press(&mut state, "Save trace");
    press(&mut state, "Save CSV");
    press(&mut state, "Freeze");
    press(&mut state, "Benchmark");
    press(&mut state, "Close");
    let pressed = [
        Action::SaveProfile("json"),
        Action::SaveProfile("csv"),
        Action::FreezeProfiler,
        Action::Benchmark,
        Action::Profiler,
    ];
    assert_eq!(std::mem::take(&mut state.ui.actions), pressed);
    press(&mut state, "Copy");
    let (notice, _) = state.ui.notice.take().expect("a notice");
    assert_eq!(notice, "copied the table of passes");
    let copied = profile::view::in_view(&state);
    assert!(
        copied.contains("(100 of them)") && copied.contains("shadow_rays"),
        "{copied}"
    );
    let look = crate::scene::framing::Look::default();
    state.perform(Action::FreezeProfiler, 1.0, &look);
    press(&mut state, "Go on");
    assert_eq!(state.ui.actions, [Action::FreezeProfiler]);
    press(&mut state, "Clear");
    assert!(state.profile.history.frames().is_empty() && !state.profile.profiler.is_frozen());
    press(&mut state, "Freeze");
}

/// The palette opens a setting in the panel: its tab and group are open, its row is visible, and a key
/// changes it.
#[test]
fn the_palette_opens_a_setting_in_the_panel() {
    let (key, section) = ("shadows.edge_rays", "Shadows");
    let mut state = state(Show::Panel, false);
    state.ui.panel = false;
    let before = state.config.value(key).unwrap();
    state.open_palette(&Recent::default());
    with_run(&mut state, Show::Panel, PANEL, |run| {
        run.write(key);
        run.press(egui::Key::Enter);
        // Selects the last row.
        for _ in 0..5 {
            run.press(egui::Key::PageDown);
        }
        run.press(egui::Key::Enter);
        for _ in 0..6 {
            run.hover(egui::pos2(10.0, 10.0));
        }
        run.press(egui::Key::ArrowRight);
    });
    assert_eq!(state.ui.jump, None, "{key}");
    assert!(
        state.ui.panel && state.ui.layout.open.get(section) == Some(&true),
        "{key}"
    );
    let after = state.config.value(key).unwrap();
    assert_ne!(after, before, "{key} has not changed: the keyboard is elsewhere");
    let others = state.config.not_default();
    assert!(others.len() <= 2, "{others:?}");
    // No other group was opened.
    let open: Vec<_> = state
        .ui
        .layout
        .open
        .iter()
        .filter(|(_, is_open)| **is_open)
        .collect();
    assert!(open.iter().all(|(name, _)| name.starts_with(section)), "{open:?}");
}

/// The filter finds settings by name, key and synonym, and channels. A click changes a result, and the tabs
/// return.
#[test]
fn the_filter_finds_settings() {
    let mut state = state(Show::Panel, false);
    let window = ([1280.0, 3000.0], 1.0);
    for (typed, expected) in [
        ("heat", &["cost of rays", "heat map", "count"][..]),
        (
            "normals",
            &["normal", "Analyse: Mesh overlays", "Picture: Materials"],
        ),
        ("ao", &["ambient visibility", "Light: Ambient occlusion"]),
        ("leaf", &["leaf cutoff", "Analyse: Laboratory"]),
        ("tree.leaf_cutoff", &["Shadows and BVH"]),
        ("vsync", &["wait for the display"]),
        ("symbolic", &["Output: File limits"]),
        ("refresh", &["wait for the display"]),
        ("xyzzy", &["no setting has these words"]),
    ] {
        state.ui.finder.text = typed.into();
        let texts = with_run(&mut state, Show::Panel, window, |run| {
            run.faults(&[LONG]);
            run.texts()
        });
        for text in expected {
            let is_shown = texts.iter().any(|shown| shown == text);
            assert!(is_shown, "{typed}: {text} is not among {texts:?}");
        }
    }
    state.ui.finder.text.clear();
    state.ui.finder.takes_keyboard = true;
    with_run(&mut state, Show::Panel, window, |run| {
        run.hover(egui::pos2(10.0, 10.0));
        // The text arrives letter by letter, because the field must keep the focus.
        for letter in "reload".chars() {
            run.write(&letter.to_string());
        }
        let switch = run.find("reload on change").expect("it is found");
        run.click(switch.center(), 1);
        let tab = run.find("Analyse").expect("tabs are shown");
        run.click(tab.center(), 1);
        assert!(run.find("Timings").is_some());
    });
    assert!(state.config.window.watch && state.ui.finder.text.is_empty());
    assert_eq!(state.ui.layout.tab(), Tab::Analyse);
}

/// Related numbers stay in order, automatic ones become numbers, and text is typed with its spaces.
#[test]
fn controls_write_only_valid_values() {
    let mut state = state(Show::Panel, false);
    let window = ([1280.0, 3000.0], 1.0);
    state.config.set("test", "image.exposure", "histogram").unwrap();
    state.ui.finder.text = "percentiles".into();
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        let low = run.find("10.0").expect("the lower one").center();
        run.drag(low, low + egui::vec2(900.0, 0.0));
    });
    let [low, high] = state.config.exposure.percentiles;
    assert!(low > 50.0 && low <= high - 1.0, "{low} {high}");
    assert_eq!(state.ui.error, None);
    state.ui.finder.text = "fog.rows".into();
    state.config.fog.density = 0.1;
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        let auto = run.find("auto").expect("a check box").center();
        run.click(auto, 1);
    });
    assert_eq!(state.config.fog.rows, 90);
    state.ui.finder.text = "gpu.adapter".into();
    with_run(&mut state, Show::Panel, window, |run| {
        run.faults(&[]);
        let field = run.find("the fastest").expect("a field").center();
        run.click(field, 1);
        for letter in "a b".chars() {
            run.write(&letter.to_string());
        }
    });
    assert_eq!(state.config.gpu.adapter, "a b");
}

/// A setting without a row in the panel causes a notice.
#[test]
fn settings_without_a_control_cause_a_notice() {
    let mut state = state(Show::Panel, false);
    for (key, told) in [
        ("keys.frame", "keys.frame has no control in the panel"),
        ("volumes.points", "volumes.points has no control in the panel now"),
    ] {
        state.ui.jump = Some(palette::jump::Jump::to(key.into()));
        with_run(&mut state, Show::Panel, PANEL, |run| {
            for _ in 0..40 {
                run.hover(egui::pos2(10.0, 10.0));
            }
        });
        let (notice, _) = state.ui.notice.take().unwrap();
        assert_eq!(notice, told);
        assert_eq!(state.ui.jump, None);
    }
}

/// Every control has an accessible name, and the picture has a description.
#[test]
fn every_control_has_a_name() {
    for (variation, tab) in variations() {
        let mut state = state(Show::Panel, true);
        vary(&mut state, variation);
        state.ui.layout.show_tab(tab);
        let window = ([1280.0, 3000.0], 1.0);
        let (unnamed, names) = with_run(&mut state, Show::Panel, window, |run| {
            (run.unnamed(), run.names())
        });
        assert!(unnamed.is_empty(), "{variation} {tab:?}: {}", unnamed.join("\n"));
        for (name, of) in [
            ("leaf cutoff", tab),
            ("find a setting", tab),
            ("rebuild: changed", Tab::Analyse),
            ("vsync: wait for the display", Tab::Picture),
        ] {
            let is_told = names.iter().any(|told| told == name);
            assert!(
                is_told || variation > 0 || of != tab,
                "{name} is not told: {names:?}"
            );
        }
        let picture = format!("picture of {LONG} and 1 more");
        assert!(variation == 2 || names.contains(&picture), "{names:?}");
    }
    for shown in Show::ALL {
        let mut state = state(shown, false);
        state.ui.panel = false;
        let window = ([1280.0, 800.0], 1.0);
        let unnamed = with_run(&mut state, shown, window, |run| run.unnamed());
        assert!(unnamed.is_empty(), "{shown:?}: {}", unnamed.join("\n"));
    }
    let mut bad = |ui: &mut Ui| {
        _ = ui.button("named");
        ui.add(egui::Slider::new(&mut 1.0, 0.0..=2.0));
        ui.allocate_response(egui::vec2(30.0, 20.0), egui::Sense::click());
    };
    let mut run = Run::new(context(), [400.0, 100.0], 1.0, &mut bad);
    let unnamed = run.unnamed();
    assert!(unnamed.len() >= 2 && !unnamed[0].contains("named"), "{unnamed:?}");
}

/// Tab reaches every control of the panel, and continues from the last to the first.
#[test]
fn tab_reaches_every_control() {
    let mut state = state(Show::Panel, true);
    let before = state.config.clone();
    let window = ([1280.0, 800.0], 1.0);
    let (left, comes_back) = with_run(&mut state, Show::Panel, window, |run| run.out_of_reach());
    assert!(left.is_empty() && comes_back, "{comes_back}: {}", left.join("\n"));
    let changed = Changes::default().between(&before, &state.config);
    assert!(changed.is_empty(), "{changed:?}");
    // A control that consumes Tab is found.
    let mut text = String::new();
    let mut trap = |ui: &mut Ui| {
        _ = ui.button("one");
        ui.add(egui::TextEdit::multiline(&mut text).lock_focus(true));
        _ = ui.button("three");
    };
    let (left, comes_back) = Run::new(context(), [400.0, 200.0], 1.0, &mut trap).out_of_reach();
    assert!(
        !comes_back && left.len() == 1 && left[0].contains("three"),
        "{left:?}"
    );
}

/// A presented picture fills the window, and only an error covers it.
#[test]
fn a_presented_picture_fills_the_window() {
    let texts = |state: &mut State| {
        with_run(state, Show::Error, ([1280.0, 800.0], 1.0), |run| {
            run.faults(&[]);
            run.texts()
        })
    };
    let mut state = state(Show::Panel, true);
    state.picture.presents = true;
    state.ui.help = true;
    state.notify("a notice");
    assert_eq!(texts(&mut state), [""; 0]);
    state.fail("It failed", "for some reason");
    assert!(texts(&mut state).iter().any(|text| text == "It failed"));
}

/// A setting is found, completed and set by keyboard. The palette closes, and the step can be undone there.
#[test]
fn a_setting_is_set_by_typing() {
    let mut state = state(Show::Palette, false);
    let window = ([1280.0, 800.0], 1.0);
    with_run(&mut state, Show::Palette, window, |run| {
        run.faults(&[LONG]);
        let shown = run.texts().len();
        assert!(shown < 400, "{shown} texts: rows out of sight are laid out");
        run.write("shadows.m");
        assert!(run.find("shadows.mode").is_some());
        run.press(egui::Key::Tab);
        run.press(egui::Key::ArrowDown);
        run.press(egui::Key::Enter);
    });
    assert_eq!(state.config.shadows.mode, ShadowMode::Map);
    assert!(state.ui.palette.is_none());
    assert_eq!(state.ui.layout.recent_commands, ["set: shadows.mode map"]);
    state.follow_changes(false);
    state.open_palette(&Recent::default());
    with_run(&mut state, Show::Palette, window, |run| {
        run.faults(&[LONG]);
        run.write("undo rays map");
        run.press(egui::Key::Enter);
    });
    assert_eq!(state.config.shadows.mode, ShadowMode::Rays);
    state.open_palette(&Recent::default());
    with_run(&mut state, Show::Palette, window, |run| {
        run.faults(&[LONG]);
        run.write("fullscr");
        let row = run.find("full screen").expect("it is listed");
        run.click(row.center(), 1);
    });
    assert_eq!(state.ui.actions, [Action::Fullscreen]);
    state.open_palette(&Recent::default());
    with_run(&mut state, Show::Palette, window, |run| {
        run.faults(&[LONG]);
        run.press(egui::Key::Escape);
    });
    assert!(state.ui.palette.is_none() && state.ui.actions.len() == 1);
}
