//! Depth of field: circles and pixels compared with the twin, and the effect of a lens on planes and points.

use crate::common;
use canopy::{
    config::DepthOfField,
    reference::depth_of_field::{circle, depth_of_field},
    render::{Channel, View, present::depth_of_field::lens},
    scene::{Pose, Projection, Scene},
};

use common::{
    gpu,
    scenes::{Stage, glowing, look_at, quad, scene},
};
use glam::Vec3;

const SIZE: [u32; 2] = [72, 48];
const FOV: f32 = 0.8;

fn view() -> View {
    look_at(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, 100.0)
}

/// A square facing the view, `depth` metres from the eye. Its side is this fraction of the picture height.
fn square(depth: f32, [x, y]: [f32; 2], share: f32, material: usize) -> canopy::scene::Primitive {
    let height = 2.0 * depth * (0.5 * FOV).tan();
    let side = share * height;
    let middle = Vec3::new(x * height, y * height, 4.0 - depth);
    let corner = middle - 0.5 * Vec3::new(side, side, 0.0);
    quad(corner, side * Vec3::X, side * Vec3::Y, material)
}

/// Squares in front of, at and behind the focus distance of 4 m.
fn squares() -> Scene {
    scene(
        [
            square(2.0, [-0.4, 0.2], 0.3, 0),
            square(4.0, [0.1, -0.1], 0.5, 1),
            square(9.0, [0.45, 0.2], 0.4, 2),
        ],
        vec![
            glowing(Vec3::new(4.0, 0.5, 0.2)),
            glowing(Vec3::new(0.3, 2.0, 0.4)),
            glowing(Vec3::new(0.2, 0.6, 3.0)),
        ],
    )
}

fn settings() -> DepthOfField {
    DepthOfField {
        enabled: true,
        f_number: 0.4,
        focus: 4.0,
        sensor_height: 240.0,
    }
}

/// Radiance without and with the lens, and the circles of the twin.
fn both(stage: &mut Stage<'_>, view: View) -> [Vec<[f64; 4]>; 2] {
    let pose = Pose::new(stage.scene, None, 0.0);
    let settings = stage.config.depth_of_field.clone();
    let mut lit = |enabled| {
        stage.config.depth_of_field.enabled = enabled;
        stage.draw(&pose, view);
        let lit = stage.channel(Channel::Lit);
        let texels = lit.texels.into_iter();
        texels.map(|texel| texel.map(f64::from)).collect()
    };
    let both = [lit(false), lit(true)];
    stage.config.depth_of_field = settings;
    both
}

fn circles(stage: &mut Stage<'_>) -> Vec<f64> {
    let params = lens(&stage.config.depth_of_field, FOV, SIZE[1]);
    let depths = stage.channel(Channel::Depth).texels;
    let depth = |texel: &[f32; 4]| match texel[3] {
        0.0 => f64::INFINITY,
        _ => f64::from(texel[0]),
    };
    let middle = (SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2) as usize;
    let middle = depth(&depths[middle]);
    depths
        .iter()
        .map(|texel| circle(&params, depth(texel), middle))
        .collect()
}

/// Number of pixels whose colour differs by more than a hundredth of the brightest colour.
fn differing(a: &[[f64; 4]], b: &[[f64; 4]]) -> usize {
    let differs =
        |(a, b): &(&[f64; 4], &[f64; 4])| a[..3].iter().zip(&b[..3]).any(|(a, b)| (a - b).abs() > 0.04);
    a.iter().zip(b).filter(differs).count()
}

#[test]
fn pixels_match_the_cpu_reference() {
    let gpu = gpu();
    let scene = squares();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.darken();
    stage.config.image.antialias = canopy::config::Antialias::Off;
    for focus in [4.0, 0.0, 2.0] {
        stage.config.depth_of_field = DepthOfField { focus, ..settings() };
        let [plain, blurred] = both(&mut stage, view());
        let circles = circles(&mut stage);
        // The frame index rotates the samples. The twin uses the index of the drawn frame.
        let all = plain.len();
        let wrong = |index| {
            let size = SIZE.map(|side| side as usize);
            let twin = depth_of_field(size, &circles, index, &plain);
            differing(&blurred, &twin)
        };
        let best = (0..8).map(wrong).min().unwrap();
        assert!(best <= all / 50, "focus {focus}: {best} of {all} pixels");
        // The comparison must distinguish a sharp picture from a blurred one.
        assert!(differing(&plain, &blurred) > all / 20, "focus {focus}");
    }
}

/// Surfaces at the focus distance stay unchanged bit by bit, even next to a blurred background. Orthographic
/// views have no lens.
#[test]
fn surfaces_in_focus_are_unchanged() {
    let gpu = gpu();
    let wall = square(4.0, [0.0, 0.0], 3.0, 0);
    let scene = scene([wall], vec![glowing(Vec3::new(0.7, 0.2, 0.1))]);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.darken();
    stage.config.depth_of_field = settings();
    let [plain, blurred] = both(&mut stage, view());
    assert_eq!(plain, blurred);
    // Out of focus, a wall of one colour keeps its energy, except for rounding to half floats.
    stage.config.depth_of_field.focus = 1.5;
    let [plain, blurred] = both(&mut stage, view());
    for (a, b) in plain.iter().zip(&blurred) {
        assert!(
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 2e-3 * a),
            "{a:?} {b:?}"
        );
    }
    // A sharp square in front of a far wall keeps its own pixels.
    let front = square(4.0, [0.0, 0.0], 0.4, 1);
    let scene = squares_on_wall(front);
    let uploader = stage.renderer.uploader();
    stage.uploaded = uploader.upload(&gpu, &scene, &stage.config).unwrap();
    let mut stage = Stage {
        scene: &scene,
        ..stage
    };
    stage.config.depth_of_field = settings();
    let [plain, blurred] = both(&mut stage, view());
    let sharp = plain.iter().zip(&blurred).filter(|(a, _)| a[1] > 1.0);
    assert!(sharp.clone().count() > 200);
    assert!(
        sharp.clone().all(|(a, b)| a == b),
        "the background bleeds into it"
    );
    let orthographic = View {
        projection: Projection::Orthographic { half_height: 2.0 },
        ..view()
    };
    let [plain, blurred] = both(&mut stage, orthographic);
    assert_eq!(plain, blurred);
}

fn squares_on_wall(front: canopy::scene::Primitive) -> Scene {
    let wall = square(30.0, [0.0, 0.0], 3.0, 0);
    let (red, green) = (Vec3::new(0.9, 0.0, 0.0), Vec3::new(0.0, 2.0, 0.0));
    scene([wall, front], vec![glowing(red), glowing(green)])
}

/// A small distant light becomes a disc with the radius that a thin lens gives, and with the same total
/// light.
#[test]
fn an_out_of_focus_point_covers_the_thin_lens_circle_of_confusion() {
    let gpu = gpu();
    let light = square(20.0, [0.0, 0.0], 4.0 / SIZE[1] as f32, 0);
    let wall = square(20.5, [0.0, 0.0], 3.0, 1);
    let scene = scene(
        [light, wall],
        vec![glowing(Vec3::splat(200.0)), glowing(Vec3::ZERO)],
    );
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.darken();
    stage.config.depth_of_field = DepthOfField {
        focus: 4.0,
        f_number: 0.2,
        ..settings()
    };
    let params = lens(&stage.config.depth_of_field, FOV, SIZE[1]);
    // By hand: the aperture's diameter, projected through the lens onto the sensor.
    let [f, a] = [params.focal_length, params.aperture].map(f64::from);
    let on_sensor = a * f * (20.0 - 4.0) / (20.0 * (4.0 - f));
    let radius = 0.5 * on_sensor / 0.24 * f64::from(SIZE[1]);
    assert!((circle(&params, 20.0, 0.0) - radius).abs() < 1e-3);
    assert!((6.0..12.0).contains(&radius), "{radius}");
    // Averages several frames, which have different samples.
    let pose = Pose::new(&scene, None, 0.0);
    stage.config.depth_of_field.enabled = false;
    stage.supersampled(&pose, view(), 12);
    let plain = stage.channel(Channel::Lit).texels;
    stage.config.depth_of_field.enabled = true;
    stage.supersampled(&pose, view(), 12);
    let blurred = stage.channel(Channel::Lit).texels;
    let sum = |texels: &[[f32; 4]]| texels.iter().map(|texel| f64::from(texel[0])).sum::<f64>();
    let ratio = sum(&blurred) / sum(&plain);
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
    // The second moment of the disc is half of its squared radius, plus the second moment of the light
    // itself.
    let moment = |texels: &[[f32; 4]]| {
        let all = texels.iter().enumerate().map(|(pixel, texel)| {
            let x = (pixel as u32 % SIZE[0]) as f64 + 0.5 - 0.5 * f64::from(SIZE[0]);
            let y = (pixel as u32 / SIZE[0]) as f64 + 0.5 - 0.5 * f64::from(SIZE[1]);
            f64::from(texel[0]) * (x * x + y * y)
        });
        all.sum::<f64>() / sum(texels)
    };
    let found = (2.0 * (moment(&blurred) - moment(&plain))).sqrt();
    assert!((found / radius - 1.0).abs() < 0.1, "{found} of {radius}");
}
