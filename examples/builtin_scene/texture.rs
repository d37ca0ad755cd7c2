//! Procedural textures: stone that tiles, and an alpha-masked spray of leaves.

use crate::noise::{fractal, value};
use anyhow::Result;
use glam::{Vec2, Vec3};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

/// Edge length of the stone textures in texels.
const STONE: usize = 256;
/// Edge length of the leaf texture in texels.
const LEAVES: usize = 256;

/// PNG files of the stone textures.
pub(crate) struct Stone {
    pub(crate) base_color: Vec<u8>,
    pub(crate) normal: Vec<u8>,
    /// Occlusion in red, roughness in green, metallic in blue.
    pub(crate) occlusion_roughness_metallic: Vec<u8>,
}

fn png(texels: &[u8], width: usize, color: ExtendedColorType) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let height = texels.len() / width / (color.bits_per_pixel() as usize / 8);
    PngEncoder::new_with_quality(&mut file, CompressionType::Best, FilterType::Adaptive).write_image(
        texels,
        width as u32,
        height as u32,
        color,
    )?;
    Ok(file)
}

fn byte(x: f32) -> u8 {
    (x.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// Returns the height of the stone at a point of the unit square: gentle waves with pits.
fn stone_height(p: Vec2) -> f32 {
    let broad = fractal(p, 5, 4, 11);
    let pits = (value(p * 52.0, 52, 23) - 0.76).max(0.0) * 1.4;
    let larger = (fractal(p, 18, 2, 37) - 0.72).max(0.0) * 2.0;
    broad - pits * 0.4 - larger * 0.5
}

/// Generates limestone: pale, with soft stains, pits and a low relief.
pub(crate) fn stone() -> Result<Stone> {
    let mut base = Vec::new();
    let mut normal = Vec::new();
    let mut orm = Vec::new();
    let texel = 1.0 / STONE as f32;
    for y in 0..STONE {
        for x in 0..STONE {
            let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) * texel;
            let height = stone_height(p);
            let dx = stone_height(p + Vec2::X * texel) - stone_height(p - Vec2::X * texel);
            let dy = stone_height(p + Vec2::Y * texel) - stone_height(p - Vec2::Y * texel);
            let n = Vec3::new(-dx * 2.4, dy * 2.4, 1.0).normalize() * 0.5 + 0.5;
            // Coarse quantization keeps the files small and is not visible.
            normal.extend([n.x, n.y, n.z].map(|c| byte((c * 51.0).round() / 51.0 + 0.001)));
            let stain = fractal(p, 3, 3, 71);
            let shade = (0.88 + 0.10 * (height - 0.45) + 0.07 * (stain - 0.5)).clamp(0.0, 1.0);
            let shade = (shade * 96.0).round() / 96.0;
            base.extend([byte(shade * 1.05), byte(shade), byte(shade * 0.90)]);
            let occlusion = (1.0 - (0.42 - height).max(0.0) * 1.6).clamp(0.3, 1.0);
            let roughness = 0.78 + 0.3 * (0.5 - stain);
            orm.extend([
                byte((occlusion * 24.0).round() / 24.0),
                byte((roughness * 40.0).round() / 40.0),
                0,
            ]);
        }
    }
    Ok(Stone {
        base_color: png(&base, STONE, ExtendedColorType::Rgb8)?,
        normal: png(&normal, STONE, ExtendedColorType::Rgb8)?,
        occlusion_roughness_metallic: png(&orm, STONE, ExtendedColorType::Rgb8)?,
    })
}

/// A leaf of the spray: its base, direction and length.
struct Leaf {
    base: Vec2,
    direction: Vec2,
    length: f32,
}

/// Generates a spray of leaves on a twig that grows upwards from the middle of the lower edge, with an alpha
/// mask.
pub(crate) fn leaves() -> Result<Vec<u8>> {
    let twig = |t: f32| Vec2::new(0.5 + 0.05 * (t * 4.0).sin(), 0.99 - 0.72 * t);
    let mut leaves = vec![Leaf {
        base: twig(1.0),
        direction: Vec2::new(0.1, -1.0).normalize(),
        length: 0.26,
    }];
    for i in 0..8 {
        let t = 0.16 + 0.105 * i as f32;
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        let direction = Vec2::new(side, -0.62 + 0.04 * i as f32).normalize();
        leaves.push(Leaf {
            base: twig(t),
            direction,
            length: 0.42 - 0.018 * i as f32,
        });
    }
    let mut texels = Vec::new();
    for y in 0..LEAVES {
        for x in 0..LEAVES {
            let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) / LEAVES as f32;
            // Signed distance to the nearest edge in texels, and the shade there.
            let mut inside = f32::NEG_INFINITY;
            let mut shade = 0.62;
            for (i, leaf) in leaves.iter().enumerate() {
                let along = (p - leaf.base).dot(leaf.direction) / leaf.length;
                let across = (p - leaf.base).perp_dot(leaf.direction) / leaf.length;
                if !(0.0..=1.0).contains(&along) {
                    continue;
                }
                let half_width = 0.24 * (along.powf(0.7) * (1.0 - along)).powf(0.75) * 2.2;
                let distance = (half_width - across.abs()) * leaf.length * LEAVES as f32;
                if distance > inside {
                    inside = distance;
                    let rib = (1.0 - across.abs() * 30.0).max(0.0);
                    let veins = 0.5 + 0.5 * ((along - across.abs() * 0.8) * 44.0).cos();
                    shade = 0.56 + 0.06 * (i % 3) as f32 + 0.14 * rib + 0.05 * veins + 0.10 * along;
                }
            }
            let t = ((0.99 - p.y) / 0.72).clamp(0.0, 1.0);
            let stalk = (0.011 - (p.x - twig(t).x).abs()) * LEAVES as f32;
            let on_stalk = stalk > inside && p.y > 0.27;
            inside = if p.y > 0.27 { inside.max(stalk) } else { inside };
            let shade = (shade * 32.0).round() / 32.0;
            let color = if on_stalk {
                Vec3::new(0.42, 0.33, 0.22)
            } else {
                Vec3::new(0.62, 0.78, 0.36) * shade
            };
            let alpha = byte(0.5 + inside * 0.5);
            texels.extend([byte(color.x), byte(color.y), byte(color.z), alpha]);
        }
    }
    png(&texels, LEAVES, ExtendedColorType::Rgba8)
}
