//! CPU downscaling of images that are too large, by factors of two, and generation of mip levels.

use super::{
    blocks,
    request::Request,
    texels::{Image, TexelFormat, full_levels, level_size},
};
use crate::srgb;

/// Halves `image` until it is within the limits of `request`, and adds a line to `notes` if it was too large.
pub(super) fn to_fit(image: &mut Image, request: &Request, notes: &mut Vec<String>) {
    let before = image.size();
    let max_side = request.supported.max_side;
    let too_wide = before.iter().any(|side| *side > max_side);
    let is_too_large = |image: &Image| {
        let bytes = image.format.level_bytes(image.size());
        image.width.max(image.height) > 1
            && (image.width.max(image.height) > max_side || bytes > request.max_bytes)
    };
    while is_too_large(image) {
        halve(image, !request.uses.numbers);
    }
    let [width, height] = image.size();
    if image.size() != before {
        let why = if too_wide {
            format!("the GPU supports {max_side} texels a side")
        } else {
            "all images are more than load.max_texture_bytes allows".into()
        };
        let [was_wide, was_high] = before;
        notes.push(format!(
            "scaled down from {was_wide}×{was_high} to {width}×{height}: {why}"
        ));
    }
}

/// Generates the mip levels of a 16-bit image, because GPUs can sample the format but not render to it. For
/// normals, alpha stores their spread in the encoding of `mipmap_normals`.
pub(super) fn complete(image: &mut Image, normals: bool) {
    if image.format != TexelFormat::Rgba16 {
        return;
    }
    if normals {
        // Stored levels do not have the spread of the normals in alpha.
        image.levels.truncate(1);
    }
    if image.levels.len() != 1 {
        return;
    }
    if normals {
        for texel in image.levels.iter_mut().flat_map(|l| l.chunks_exact_mut(8)) {
            texel[6..].fill(255);
        }
    }
    for level in 1..full_levels(image.size()) {
        if let Some(finer) = image.levels.last() {
            let size = level_size(image.size(), level - 1);
            let coarser = if normals {
                coarser_normals(size, finer)
            } else {
                coarser(image.format, size, finer, false)
            };
            image.levels.push(coarser);
        }
    }
}

/// Halves width and height, rounding down.
fn halve(image: &mut Image, srgb: bool) {
    let half = level_size(image.size(), 1);
    if image.levels.len() > 1 {
        image.levels.remove(0);
    } else {
        if image.format.block_side() > 1 {
            *image = blocks::texels(image);
        }
        for level in &mut image.levels {
            *level = coarser(image.format, [image.width, image.height], level, srgb);
        }
    }
    [image.width, image.height] = half;
    // Blocks of images whose width or height is not a multiple of four cannot be uploaded, so they are
    // decoded.
    let whole = half.iter().all(|side| side.is_multiple_of(4));
    if image.format.block_side() > 1 && !whole {
        *image = blocks::texels(image);
    }
}

/// Computes the next coarser mip level with the box filter of `mipmap`. Colours are averaged in linear light.
fn coarser(format: TexelFormat, size: [u32; 2], finer: &[u8], srgb: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.level_bytes(level_size(size, 1)) as usize);
    if format == TexelFormat::Rgba16 {
        let value = |at: usize| f32::from(u16::from_ne_bytes([finer[2 * at], finer[2 * at + 1]]));
        boxes(size, value, |_, mean| {
            out.extend((mean.round() as u16).to_ne_bytes());
        });
        return out;
    }
    let linear: Vec<f32> = (0..=255_u8)
        .map(|byte| srgb::decode(f32::from(byte) / 255.0))
        .collect();
    let is_color = |at: usize| srgb && at % 4 < 3;
    let value = |at: usize| match finer[at] {
        byte if is_color(at) => linear[usize::from(byte)],
        byte => f32::from(byte),
    };
    boxes(size, value, |channel, mean| {
        out.push(if is_color(channel) {
            encoded(mean)
        } else {
            mean.round() as u8
        });
    });
    out
}

/// Computes the next coarser mip level of 16-bit normals, like `mipmap_normals` in mipmap.wgsl.
fn coarser_normals(size: [u32; 2], finer: &[u8]) -> Vec<u8> {
    let weighted = finer.chunks_exact(8).flat_map(|texel| {
        let stored = |i: usize| f32::from(u16::from_ne_bytes([texel[2 * i], texel[2 * i + 1]]));
        let [x, y, z] = [0, 1, 2].map(|i| stored(i) / 65535.0 * 2.0 - 1.0);
        let missing = 1.0 - stored(3) / 65535.0;
        let share = (1.0 - missing * missing) / (x * x + y * y + z * z).sqrt().max(1e-3);
        [share * x, share * y, share * z, 0.0]
    });
    let weighted: Vec<f32> = weighted.collect();
    let mut out = Vec::with_capacity(finer.len() / 2);
    let mut mean = [0.0; 3];
    boxes(
        size,
        |at| weighted[at],
        |channel, value| {
            if let Some(axis) = mean.get_mut(channel) {
                *axis = value;
                return;
            }
            let length = mean.iter().map(|x| x * x).sum::<f32>().sqrt().min(1.0);
            let normal = if length > 1e-6 {
                mean.map(|x| x / length)
            } else {
                [0.0, 0.0, 1.0]
            };
            let [x, y, z] = normal.map(|x| x * 0.5 + 0.5);
            let stored = [x, y, z, 1.0 - (1.0 - length).sqrt()].map(|c| (c * 65535.0).round() as u16);
            out.extend(stored.iter().flat_map(|c| c.to_ne_bytes()));
        },
    );
    out
}

/// Returns the weights of texels 2i, 2i + 1 and 2i + 2 of `size` in a row or column, like mipmap.wgsl.
fn weights(i: usize, size: usize) -> [f32; 3] {
    let n = size / 2;
    match size {
        1 => [1.0, 0.0, 0.0],
        _ if size.is_multiple_of(2) => [0.5, 0.5, 0.0],
        _ => [n - i, n, i + 1].map(|share| share as f32 / size as f32),
    }
}

/// Calls `each` with the channel and the mean of each box. `value` returns a channel by index, four per
/// texel.
fn boxes(size: [u32; 2], value: impl Fn(usize) -> f32, mut each: impl FnMut(usize, f32)) {
    let [width, height] = size.map(|side| side as usize);
    let [half_width, half_height] = level_size(size, 1).map(|side| side as usize);
    for y in 0..half_height {
        for x in 0..half_width {
            let mut sum = [0.0; 4];
            for (row, down) in (2 * y..).zip(weights(y, height)) {
                for (column, across) in (2 * x..).zip(weights(x, width)) {
                    let at = row.min(height - 1) * width + column.min(width - 1);
                    for (channel, sum) in sum.iter_mut().enumerate() {
                        *sum += down * across * value(4 * at + channel);
                    }
                }
            }
            (0..4).for_each(|channel| each(channel, sum[channel]));
        }
    }
}

/// Encodes a linear value as an sRGB byte.
fn encoded(light: f32) -> u8 {
    (srgb::encode(light).clamp(0.0, 1.0) * 255.0).round() as u8
}
