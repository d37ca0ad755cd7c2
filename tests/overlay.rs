//! Mesh lines over the picture. Every pixel is compared with the twin's lines, rasterised in f64.

use crate::common;
use canopy::{
    reference::overlay::{Segment, Vertex, overlay},
    render::{
        OverlayCounts, View,
        layout::{OVERLAY_VERTICES, OVERLAY_WIREFRAME, OverlayParams},
        present::overlay::{OVERLAY_DOT, OVERLAY_LIMIT},
    },
    scene::{Pose, Scene},
};

use common::{
    gpu, random_triangles, rounds_corners_coarsely,
    scenes::{Stage, look_at, matte, primitive, scene, sphere},
};
use glam::{DVec2, DVec3, Vec3};

const SIZE: [u32; 2] = [96, 66];
/// sRGB-encoded colours, in the order of the kinds.
const COLORS: [[f64; 3]; 6] = [
    [0.9, 0.9, 0.9],
    [0.1, 0.9, 0.9],
    [1.0, 0.65, 0.1],
    [0.35, 0.5, 1.0],
    [1.0, 0.25, 0.25],
    [0.3, 0.9, 0.25],
];

fn view() -> View {
    look_at(Vec3::new(0.0, 0.5, 6.0), Vec3::ZERO, 100.0)
}

/// A sphere and two triangles, one of which has no area.
fn meshes() -> Scene {
    let one = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|corner| corner + Vec3::new(-2.2, 0.0, 0.0));
    let line = [Vec3::ZERO, Vec3::X, 2.0 * Vec3::X].map(|corner| corner + 1.4 * Vec3::X);
    scene(
        [sphere(Vec3::ZERO, 1.0, 5, 0), primitive(&[one, line], 0)],
        vec![matte(Vec3::splat(0.5))],
    )
}

/// Lines of the last drawn frame, from the twin.
fn twins(stage: &Stage<'_>, kinds: [bool; 6], meshes: std::ops::Range<usize>) -> Vec<Segment> {
    let merged = stage.merged();
    let vertices: Vec<Vertex> = (0..merged.positions.len())
        .map(|i| (merged.positions[i], merged.normals[i], merged.tangents[i]))
        .collect();
    let buffers = &stage.uploaded.buffers;
    let ranges = &buffers.meshes;
    let [first, last] = [ranges[meshes.start], ranges[meshes.end - 1]];
    let end = ranges.get(meshes.end);
    let vertex_end = end.map_or(buffers.vertex_count, |next| next.first_vertex);
    let triangles = last.first_triangle + last.triangle_count - first.first_triangle;
    let mut params = OverlayParams {
        first_vertex: first.first_vertex,
        first_triangle: first.first_triangle,
        length: stage.config.overlay.length * diagonal(&merged.positions),
        ..OverlayParams::default()
    };
    let counts = [
        3 * triangles,
        triangles,
        vertex_end - first.first_vertex,
        vertex_end - first.first_vertex,
        vertex_end - first.first_vertex,
        vertex_end - first.first_vertex,
    ];
    let mut end = 0;
    for ((row, count), is_shown) in params.kinds.iter_mut().zip(counts).zip(kinds) {
        end += if is_shown { count } else { 0 };
        *row = [end, 1, 0, 0];
    }
    let drawn = overlay(&params, &vertices, &merged.indices);
    drawn.into_iter().flatten().collect()
}

fn diagonal(positions: &[Vec3]) -> f32 {
    let least = positions.iter().copied().reduce(Vec3::min).unwrap();
    let most = positions.iter().copied().reduce(Vec3::max).unwrap();
    (most - least).length()
}

/// Pixel at which a point is seen, with x to the right and y down.
fn pixel_of(point: Vec3, view: View) -> DVec2 {
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    let offset = (point - view.eye()).as_dvec3().extend(1.0);
    let clip = view.clip_from_offset(aspect).as_dmat4() * offset;
    let ndc = DVec2::new(clip.x, -clip.y) / clip.w;
    (0.5 * ndc + 0.5) * DVec2::new(f64::from(SIZE[0]), f64::from(SIZE[1]))
}

/// `plain` under lines that are all visible.
fn rasterised(plain: &[u8], lines: &[Segment], view: View, width: f64) -> Vec<[f64; 3]> {
    let pixels: Vec<_> = lines
        .iter()
        .map(|line| (line.kind, line.ends.map(|end| pixel_of(end, view))))
        .collect();
    let over = |pixel: usize| {
        let (x, y) = (pixel as u32 % SIZE[0], pixel as u32 / SIZE[0]);
        let at = DVec2::new(f64::from(x), f64::from(y)) + 0.5;
        let mut color = DVec3::ZERO;
        let mut alpha = 0.0_f64;
        for (kind, [a, b]) in &pixels {
            let is_dot = *kind == OVERLAY_VERTICES;
            let radius = 0.5 * width + if is_dot { OVERLAY_DOT } else { 0.0 };
            let distance = if is_dot {
                at.distance(*a)
            } else {
                let along = (b - a).normalize_or_zero();
                let share = (at - a).dot(along);
                if share < 0.0 || share > a.distance(*b) {
                    continue;
                }
                (at - a).perp_dot(along).abs()
            };
            let coverage = (radius + 0.5 - distance).clamp(0.0, 1.0);
            color = color.max(coverage * DVec3::from(COLORS[*kind as usize]));
            alpha = alpha.max(coverage);
        }
        let under = &plain[4 * pixel..];
        let under = DVec3::new(under[0].into(), under[1].into(), under[2].into());
        (under * (1.0 - alpha) + 255.0 * color).to_array()
    };
    (0..plain.len() / 4).map(over).collect()
}

/// Number of pixels that differ by more than rounding.
fn differing(drawn: &[u8], expected: &[[f64; 3]]) -> usize {
    let pairs = drawn.chunks(4).zip(expected);
    let differs = |(a, b): &(&[u8], &[f64; 3])| {
        a.iter()
            .zip(b.iter())
            .any(|(a, b)| (f64::from(*a) - b).abs() > 3.0)
    };
    pairs.filter(differs).count()
}

fn changed(a: &[u8], b: &[u8]) -> usize {
    a.chunks(4).zip(b.chunks(4)).filter(|(a, b)| a != b).count()
}

#[test]
fn overlay_pixels_match_the_cpu_reference() {
    let scene = meshes();
    let pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let plain = stage.draw(&pose, view());
    assert_eq!(stage.renderer.stats().overlay, None);
    let overlay = &mut stage.config.overlay;
    (overlay.hidden, overlay.length) = (1.0, 0.1);
    for (kind, (mesh, width)) in [(-1, 1.0), (0, 2.0), (-1, 1.0), (-1, 1.5), (0, 1.0)]
        .into_iter()
        .enumerate()
    {
        let overlay = &mut stage.config.overlay;
        overlay.wireframe = kind == 0;
        overlay.face_normals = kind == 1;
        overlay.vertices = kind == 2;
        overlay.normals = kind == 3;
        overlay.tangents = kind == 4;
        (overlay.mesh, overlay.width) = (mesh, width);
        let kinds = overlay.kinds();
        let drawn = stage.draw(&pose, view());
        let meshes = if mesh < 0 { 0..2 } else { 0..1 };
        let lines = twins(&stage, kinds, meshes);
        let expected = rasterised(&plain, &lines, view(), width.into());
        let all = (SIZE[0] * SIZE[1]) as usize;
        let inked = changed(&plain, &drawn);
        assert!(inked > 150 && inked < all, "kind {kind}: {inked}");
        // Ends of lines may fall on either side of a pixel's centre.
        let wrong = differing(&drawn, &expected);
        let most = if rounds_corners_coarsely(&gpu) {
            all / 20
        } else {
            all / 1000
        };
        assert!(wrong <= most, "kind {kind}: {wrong} pixels");
        let counts = stage.renderer.stats().overlay.unwrap();
        // The triangle without area has no normal, but is counted.
        let without_area = usize::from(kind == 1 && mesh < 0);
        assert_eq!(counts.drawn as usize, lines.len() + without_area);
        assert_eq!(counts.found, counts.drawn);
        // The comparison must detect other lines.
        let wrong = rasterised(&plain, &lines[..lines.len() - 4], view(), width.into());
        assert!(differing(&drawn, &wrong) > all / 1000, "kind {kind}");
        if kind > 2 {
            stage.config.overlay.length = 0.11;
            let longer = stage.draw(&pose, view());
            assert!(differing(&longer, &expected) > all / 1000, "kind {kind}");
            stage.config.overlay.length = 0.1;
        }
    }
    // A mesh index out of range draws nothing.
    stage.config.overlay.mesh = 17;
    assert_eq!(stage.draw(&pose, view()), plain);
    assert_eq!(stage.renderer.stats().overlay, Some(OverlayCounts::default()));
}

#[test]
fn occluded_lines_are_dimmed_and_hidden_meshes_have_none() {
    let scene = meshes();
    let mut pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let plain = stage.draw(&pose, view());
    stage.config.overlay.wireframe = true;
    stage.config.overlay.vertices = true;
    stage.config.overlay.hidden = 1.0;
    let all = stage.draw(&pose, view());
    stage.config.overlay.hidden = 0.0;
    let seen = stage.draw(&pose, view());
    let [of_all, of_seen] = [&all, &seen].map(|drawn| changed(&plain, drawn));
    assert!(of_seen < of_all - 40, "{of_seen} of {of_all}");
    // Visible lines are drawn in full on the front of the sphere, at the centre of the picture.
    stage.config.overlay.hidden = 0.5;
    let dimmed = stage.draw(&pose, view());
    assert!(changed(&seen, &dimmed) > 40);
    // A dimmed line may have the colour of the surface behind it.
    assert!(changed(&plain, &dimmed) + 3 >= of_all);
    // The flat triangle does not hide its own lines.
    stage.config.overlay.mesh = 1;
    let dimmed = stage.draw(&pose, view());
    stage.config.overlay.hidden = 1.0;
    assert_eq!(changed(&stage.draw(&pose, view()), &dimmed), 0);
    // A mean of several frames shows the lines once. A picture larger than the traced one has them too.
    assert!(changed(&plain, &stage.supersampled(&pose, view(), 3)) > 100);
    assert_ne!(stage.stretched(&pose, view(), 1, [192, 128]), {
        stage.config.overlay.mesh = 17;
        stage.stretched(&pose, view(), 1, [192, 128])
    });
    // A hidden mesh leaves no lines, not even normals at a single point.
    let overlay = &mut stage.config.overlay;
    (overlay.mesh, overlay.normals, overlay.face_normals) = (0, true, true);
    pose.visible[0] = false;
    let lines = stage.draw(&pose, view());
    stage.config.overlay.mesh = 17;
    assert_eq!(stage.draw(&pose, view()), lines);
}

/// With too many triangles, one in a fixed number is drawn, the same ones in every frame.
#[test]
fn too_many_lines_are_thinned() {
    let soup = random_triangles(OVERLAY_LIMIT as usize / 3 + 1000, 3);
    let scene = scene([primitive(&soup, 0)], vec![matte(Vec3::splat(0.5))]);
    let pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, [16, 8]);
    stage.config.overlay.wireframe = true;
    let drawn = stage.draw(&pose, view());
    let counts = stage.renderer.stats().overlay.unwrap();
    assert_eq!(counts.found as usize, 3 * soup.len());
    assert_eq!(counts.drawn as usize, 3 * soup.len().div_ceil(2));
    assert!(counts.drawn <= OVERLAY_LIMIT.into());
    assert_eq!(stage.draw(&pose, view()), drawn);
    assert_eq!(OVERLAY_WIREFRAME, 0);
}
