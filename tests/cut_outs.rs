//! Masked and blended surfaces: their pixel coverage at any distance, and the light that they block.

use crate::common;
use canopy::{
    config::{Antialias, ShadowMode},
    render::{Channel, View},
    scene::{
        AlphaMode, Image, Material, Pose, Primitive, Projection, Sampler, Scene, Texture, TextureRef, Wrap,
    },
};
use common::{
    by_lane, gpu, plane_height,
    scenes::{Stage, look_at, matte, quad, scene},
};
use glam::{Affine2, Vec2, Vec3};

/// Texture of a masked or blended surface.
#[derive(Clone, Copy)]
struct Cut {
    size: [u32; 2],
    alpha: fn(u32, u32) -> u8,
    is_linear: bool,
    cutoff: f32,
    factor: f32,
    /// Number of repetitions on a card.
    repeats: f32,
}

const FENCE: Cut = Cut {
    size: [256, 256],
    alpha: |x, y| {
        if x % 32 < 4 || (x + y) % 32 < 4 { 255 } else { 0 }
    },
    is_linear: true,
    cutoff: 0.5,
    factor: 1.0,
    repeats: 1.0,
};

impl Cut {
    fn texel(self, x: i32, y: i32) -> f32 {
        let [width, height] = self.size.map(|side| side as i32);
        let (x, y) = (x.rem_euclid(width) as u32, y.rem_euclid(height) as u32);
        f32::from((self.alpha)(x, y)) / 255.0
    }

    /// True if the surface exists at a position of the texture, in texels.
    fn is_there(self, at: Vec2) -> bool {
        let value = if self.is_linear {
            let corner = (at - 0.5).floor();
            let weight = at - 0.5 - corner;
            let (x, y) = (corner.x as i32, corner.y as i32);
            let row = |y| {
                let left = self.texel(x, y);
                left + weight.x * (self.texel(x + 1, y) - left)
            };
            row(y) + weight.y * (row(y + 1) - row(y))
        } else {
            self.texel(at.x.floor() as i32, at.y.floor() as i32)
        };
        self.factor * value >= self.cutoff
    }

    /// Covered fraction of the texture.
    fn share(self) -> f32 {
        const SIDE: u32 = 1021;
        let size = Vec2::from(self.size.map(|side| side as f32));
        let place = |i: u32| (Vec2::new((i % SIDE) as f32, (i / SIDE) as f32) + 0.5) / SIDE as f32;
        let there = (0..SIDE * SIDE).filter(|i| self.is_there(place(*i) * size));
        there.count() as f32 / (SIDE * SIDE) as f32
    }

    /// Assigns the texture to a material.
    fn apply(self, scene: &mut Scene, material: usize, mode: AlphaMode) {
        let [width, height] = self.size;
        let texels = (0..width * height).flat_map(|i| [255, 255, 255, (self.alpha)(i % width, i / width)]);
        let image = Image::from_rgba8("cut", width, height, texels.collect());
        scene.images.push(image);
        let sampler = Sampler {
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
            mag_linear: self.is_linear,
            min_linear: self.is_linear,
            ..Sampler::default()
        };
        let image = scene.images.len() - 1;
        scene.textures.push(Texture { image, sampler });
        let material = &mut scene.materials[material];
        material.alpha_mode = mode;
        material.alpha_cutoff = self.cutoff;
        material.base_color.w = self.factor;
        material.double_sided = true;
        material.base_color_texture = Some(TextureRef {
            texture: scene.textures.len() - 1,
            uv_set: 0,
            texture_from_uv: Affine2::from_scale(Vec2::splat(self.repeats)),
        });
    }
}

fn rest(scene: &Scene) -> Pose {
    Pose::new(scene, None, 0.0)
}

/// A square that fills a view of any size.
fn facing() -> (Primitive, View) {
    let card = quad(Vec3::new(-1.0, -1.0, 0.0), 2.0 * Vec3::X, 2.0 * Vec3::Y, 0);
    let view = View {
        projection: Projection::Perspective {
            fov_y: 2.0 * 0.25_f32.atan(),
        },
        ..look_at(4.0 * Vec3::Z, Vec3::ZERO, 20.0)
    };
    (card, view)
}

/// A long panel that recedes from the eye.
fn receding() -> (Primitive, View) {
    let panel = quad(Vec3::new(1.0, 0.0, 2.0), -24.0 * Vec3::Z, 4.0 * Vec3::Y, 0);
    (
        panel,
        look_at(Vec3::new(-2.0, 2.2, 5.0), Vec3::new(1.0, 1.5, -9.0), 60.0),
    )
}

/// Total pixel coverage with this number of samples.
fn covered(scene: &Scene, view: View, size: [u32; 2], samples: u32) -> f32 {
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, scene, size);
    stage.config.image.antialias = Antialias::Off;
    stage.config.shadows.mode = ShadowMode::Off;
    stage.supersampled(&rest(scene), view, samples);
    let lit = stage.channel(Channel::Lit).texels;
    lit.iter().map(|texel| texel[3]).sum()
}

#[test]
fn masks_keep_their_coverage_at_every_distance() {
    let cuts = [
        (
            "soft, low cutoff",
            Cut {
                size: [64, 128],
                alpha: |x, y| ((x * x + 3 * y) % 256) as u8,
                cutoff: 0.2,
                factor: 0.7,
                ..FENCE
            },
        ),
        ("fence", FENCE),
        (
            "lines of a texel",
            Cut {
                alpha: |x, y| if x % 12 == 0 || y % 20 == 0 { 255 } else { 0 },
                is_linear: false,
                ..FENCE
            },
        ),
        (
            "soft, high cutoff",
            Cut {
                size: [100, 60],
                alpha: |x, y| (((x * 13 + y * 7) % 20) * 13) as u8,
                cutoff: 0.8,
                repeats: 2.0,
                ..FENCE
            },
        ),
    ];
    for (what, cut) in cuts.into_iter().take(by_lane(1, 4)) {
        let share = cut.share();
        // Only a part of the panel is visible. With many repetitions, its coverage equals the coverage of the
        // whole texture.
        for (place, (card, view), repeats) in [("facing", facing(), 1.0), ("receding", receding(), 16.0)] {
            let mut solid = scene([card], vec![matte(Vec3::ONE)]);
            solid.materials[0].double_sided = true;
            let mut masked = solid.clone();
            let cut = Cut {
                repeats: repeats * cut.repeats,
                ..cut
            };
            cut.apply(&mut masked, 0, AlphaMode::Mask);
            for (side, samples) in [(250, 1), (126, 1), (62, 1), (30, 1), (62, 16), (18, 16)] {
                let size = [side; 2];
                let pixels = covered(&solid, view, size, samples);
                let found = covered(&masked, view, size, samples) / pixels;
                let noise = (share * (1.0 - share) / (pixels * samples as f32)).sqrt();
                println!("{what}, {place}, {side}, {samples}: {found}, not {share} ± {noise}");
                assert!(
                    (found - share).abs() < 0.015 + 2.0 * noise,
                    "{what}, {place}, {side} pixels, {samples} samples: {found}, not {share}"
                );
            }
        }
    }
}

/// If pixels are sampled at their centres, frames of the same view cut out the same fragments.
#[test]
fn masks_are_stable_in_a_static_view() {
    let gpu = gpu();
    let (card, view) = receding();
    let mut scene = scene([card], vec![matte(Vec3::ONE)]);
    FENCE.apply(&mut scene, 0, AlphaMode::Mask);
    let mut stage = Stage::new(&gpu, &scene, [60, 44]);
    stage.config.image.antialias = Antialias::Off;
    let mut draw = || stage.draw(&rest(&scene), view);
    let first = draw();
    assert!((0..3).all(|_| draw() == first));
}

/// Four stripes of rising alpha.
const STRIPES: Cut = Cut {
    size: [4, 1],
    alpha: |x, _| [0, 85, 170, 255][x as usize],
    is_linear: false,
    cutoff: 0.5,
    factor: 1.0,
    repeats: 1.0,
};

/// A floor below `count` cards of 2 m, one metre above it and above each other, with the sun at the zenith.
fn below_cards(count: u32, cut: Cut, mode: AlphaMode) -> Scene {
    let floor = quad(Vec3::new(-2.0, 0.0, 2.0), 4.0 * Vec3::X, -4.0 * Vec3::Z, 0);
    let card = |i: u32| {
        let corner = Vec3::new(-1.0, 1.0 + i as f32, 1.0);
        quad(corner, 2.0 * Vec3::X, -2.0 * Vec3::Z, 1)
    };
    let mut scene = scene(
        [floor].into_iter().chain((0..count).map(card)),
        vec![matte(Vec3::ONE), matte(Vec3::ONE)],
    );
    cut.apply(&mut scene, 1, mode);
    scene
}

/// Mean fraction of sunlight on the floor below each stripe, a tenth of a metre from the stripe's edges.
fn arriving(stage: &mut Stage<'_>, frames: u32) -> [f32; 4] {
    stage.config.sun.direction = [0.0, -1.0, 0.0];
    let view = look_at(Vec3::new(0.0, 0.9, 3.5), Vec3::new(0.0, 0.1, 0.0), 20.0);
    let pose = rest(stage.scene);
    let (mut sums, mut counts) = ([0.0; 4], [0.0; 4]);
    for _ in 0..frames {
        stage.draw(&pose, view);
        let position = stage.channel(Channel::Position).texels;
        let shadow = stage.channel(Channel::Shadow).texels;
        for (p, s) in position.iter().zip(&shadow) {
            let across = 2.0 * (p[0] + 1.0);
            let is_inside = p[3] == 1.0 && p[1].abs() < 1e-3 && p[2].abs() < 0.9;
            if is_inside && (0.0..4.0).contains(&across) && (0.2..0.8).contains(&across.fract()) {
                sums[across as usize] += s[0];
                counts[across as usize] += 1.0;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 100.0), "{counts:?}");
    std::array::from_fn(|i| sums[i] / counts[i])
}

#[test]
fn shadows_of_blended_surfaces_are_proportional_to_alpha() {
    let gpu = gpu();
    for cards in [1, 2] {
        let scene = below_cards(cards, STRIPES, AlphaMode::Blend);
        let expected = [1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0_f32].map(|share| share.powi(cards as i32));
        // Hard, soft, and by shadow maps, which stipple their texels and filter them.
        for (mode, angle, allowed) in [
            (ShadowMode::Rays, 0.0, 0.003),
            (ShadowMode::Rays, 2.0, 0.01),
            (ShadowMode::Map, 0.0, 0.06),
            (ShadowMode::Map, 2.0, 0.06),
        ] {
            let mut stage = Stage::new(&gpu, &scene, [117, 83]);
            stage.config.image.antialias = Antialias::Off;
            stage.config.shadows.mode = mode;
            stage.config.sun.angle = angle;
            let found = arriving(&mut stage, 3);
            println!("{cards} {mode:?} {angle}: {found:?}, not {expected:?}");
            for (found, expected) in found.iter().zip(expected) {
                let is_exact = expected == 0.0 || expected == 1.0;
                let allowed = if is_exact { 0.003 } else { allowed };
                assert!(
                    (found - expected).abs() < allowed,
                    "{cards} {mode:?} {angle}: {found}, not {expected}"
                );
            }
            stage.config.shadows.blended_cast = false;
            assert_eq!(arriving(&mut stage, 1), [1.0; 4], "{mode:?}");
        }
    }
}

/// The texture's alpha is multiplied by the factor. Materials in opaque mode cast a full shadow.
#[test]
fn shadows_follow_alpha_factors_and_alpha_modes() {
    let gpu = gpu();
    let half = Cut {
        factor: 0.5,
        ..STRIPES
    };
    for (cut, mode, expected) in [
        (half, AlphaMode::Blend, [1.0, 5.0 / 6.0, 4.0 / 6.0, 0.5]),
        (STRIPES, AlphaMode::Mask, [1.0, 1.0, 0.0, 0.0]),
        (half, AlphaMode::Mask, [1.0, 1.0, 1.0, 0.0]),
        (half, AlphaMode::Opaque, [0.0; 4]),
    ] {
        let scene = below_cards(1, cut, mode);
        for shadows in [ShadowMode::Rays, ShadowMode::Map] {
            let mut stage = Stage::new(&gpu, &scene, [117, 83]);
            stage.config.shadows.mode = shadows;
            let found = arriving(&mut stage, 1);
            println!("{mode:?} {shadows:?}: {found:?}, not {expected:?}");
            let allowed = if shadows == ShadowMode::Map { 0.06 } else { 0.003 };
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < allowed,
                    "{mode:?} {shadows:?}: {found}, not {expected}"
                );
            }
        }
    }
}

/// Shadow of a fence whose wires are finer than the texels of the shadow map.
#[test]
fn shadow_maps_keep_the_coverage_of_masks_finer_than_a_texel() {
    let gpu = gpu();
    let cut = Cut {
        repeats: 40.0,
        ..FENCE
    };
    let scene = below_cards(1, cut, AlphaMode::Mask);
    let expected = 1.0 - cut.share();
    for mode in [ShadowMode::Rays, ShadowMode::Map] {
        let mut stage = Stage::new(&gpu, &scene, [117, 83]);
        stage.config.shadows.mode = mode;
        stage.config.shadows.map_resolution = 256;
        let found = arriving(&mut stage, 1);
        println!("{mode:?}: {found:?}, not {expected}");
        let mean = found.iter().sum::<f32>() / 4.0;
        assert!((mean - expected).abs() < 0.04, "{mode:?}: {mean}, not {expected}");
    }
}

/// A fence is as dense in a mirror as in the direct view.
#[test]
fn masks_have_the_same_coverage_in_mirrors() {
    use canopy::config::ReflectionMode;
    let gpu = gpu();
    let fence = quad(Vec3::new(-4.0, 0.0, -6.0), 8.0 * Vec3::X, 3.0 * Vec3::Y, 0);
    let floor = quad(Vec3::new(-4.0, 0.0, 0.0), 8.0 * Vec3::X, -6.0 * Vec3::Z, 1);
    let cut = Cut {
        repeats: 12.0,
        ..FENCE
    };
    let mirror = Material {
        metallic: 1.0,
        roughness: 0.0,
        ..matte(Vec3::ONE)
    };
    let glowing = Material {
        emissive: Vec3::ONE,
        ..matte(Vec3::ZERO)
    };
    let mut scene = scene([fence, floor], vec![glowing, mirror]);
    cut.apply(&mut scene, 0, AlphaMode::Mask);
    let mut stage = Stage::new(&gpu, &scene, [90, 60]);
    stage.darken();
    stage.config.image.antialias = Antialias::Off;
    stage.config.reflections.mode = ReflectionMode::Rays;
    stage.supersampled(
        &rest(&scene),
        look_at(Vec3::new(0.0, 1.5, 4.0), Vec3::new(0.0, 0.6, -6.0), 30.0),
        16,
    );
    let lit = stage.channel(Channel::Lit).texels;
    let position = stage.channel(Channel::Position).texels;
    // The fence is above the floor's far edge. Its mirror image is below, with the same height.
    let edge = (0..60).find(|y| {
        position[90 * y + 45][3] == 1.0 && position[90 * y + 45][1].abs() < plane_height(&gpu).max(1e-3)
    });
    let edge = edge.unwrap();
    let mean = |rows: std::ops::Range<usize>| {
        let pixels = rows.flat_map(|y| (30..60).map(move |x| 90 * y + x));
        let values: Vec<_> = pixels.map(|i| lit[i][0]).collect();
        values.iter().sum::<f32>() / values.len() as f32
    };
    let (direct, mirrored) = (mean(edge - 8..edge - 2), mean(edge + 2..edge + 6));
    println!("{direct} {mirrored}, not {}", cut.share());
    for found in [direct, mirrored] {
        assert!((found - cut.share()).abs() < 0.03, "{found}, not {}", cut.share());
    }
}
