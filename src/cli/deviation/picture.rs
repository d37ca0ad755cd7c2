//! Picture of A, coloured by its distance from B.

use super::{
    legend::{self, Layout},
    result::Deviation,
};
use crate::{
    Result,
    cli::offscreen::{Moment, Offscreen},
    gpu::Gpu,
    output::{deviation_colors, picture},
    render::{Channel, inspect::compared_tree::Batches},
};

use glam::Vec3;
use image::{Rgb, RgbImage};
use std::path::Path;

const BACKGROUND: Vec3 = Vec3::ONE;
/// Brightness at grazing angles, relative to surfaces that face the camera. It shows the shape but keeps the
/// colours recognizable.
const EDGE_SHADE: f32 = 0.7;
/// Supersampling factor along each axis, if the adapter supports the frame size.
const FINER: u32 = 2;

/// Returns the size of the frame that the picture is downsampled from.
pub(super) fn frame_size(layout: &Layout, gpu: &Gpu) -> [u32; 2] {
    let finer = layout.view().map(|side| FINER * side);
    let most = gpu.limits.max_texture_dimension_2d;
    match finer.into_iter().all(|side| side <= most) {
        true => finer,
        false => layout.view(),
    }
}

/// Encodes the last frame, which must have the size [`frame_size`], as PNG with a legend if it fits.
pub(super) fn png(
    offscreen: &mut Offscreen,
    moment: &Moment,
    deviation: &Deviation<'_>,
    layout: &Layout,
    path: &Path,
) -> Result<Vec<u8>> {
    let positions = offscreen.channel(Channel::Position)?;
    let normals = offscreen.channel(Channel::Normal)?;
    let is_seen = |texel: &[f32; 4]| texel[3] != 0.0;
    let vector = |texel: &[f32; 4]| Vec3::new(texel[0], texel[1], texel[2]);
    let points: Vec<Vec3> = positions
        .texels
        .iter()
        .filter(|t| is_seen(t))
        .map(vector)
        .collect();
    let distances = deviation
        .b
        .tree
        .nearest(&offscreen.gpu, &points, &Batches::large())?;
    let mut distances = distances.into_iter();
    let range = deviation.range();
    let forward = moment.view.forward();
    let color = |(position, normal): (&[f32; 4], &[f32; 4])| {
        if !is_seen(position) {
            return BACKGROUND;
        }
        let distance = distances.next().flatten().map_or(0.0, |near| near.distance);
        // An empty range has only the middle colour.
        let share = if range > 0.0 { distance / range } else { 0.0 };
        let facing = vector(normal).dot(forward).abs().min(1.0);
        deviation_colors::color(share as f32) * (EDGE_SHADE + (1.0 - EDGE_SHADE) * facing)
    };
    let colors: Vec<Vec3> = positions.texels.iter().zip(&normals.texels).map(color).collect();
    let [width, height] = layout.size();
    let mut image = RgbImage::from_pixel(width, height, Rgb(picture::bytes(BACKGROUND)));
    let finer = positions.width / layout.view()[0];
    for y in 0..layout.view()[1] {
        for x in 0..layout.view()[0] {
            let of = |i: u32| {
                let (x, y) = (x * finer + i % finer, y * finer + i / finer);
                colors[(y * positions.width + x) as usize]
            };
            let mean = (0..finer * finer).map(of).sum::<Vec3>() / (finer * finer) as f32;
            image.put_pixel(x, y, Rgb(picture::bytes(mean)));
        }
    }
    if layout.has_legend() {
        legend::draw(&mut image, layout, deviation);
    } else {
        log::warn!("{}: is too small for a legend", path.display());
    }
    let rgba = image::DynamicImage::from(image).into_rgba8();
    picture::png(width, height, rgba.into_raw())
}
