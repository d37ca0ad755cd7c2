//! CPU reference of `texture_view`: colour of a pixel that shows a mip level of a texture with nearest
//! filtering.

use super::tonemap::srgb_encode;
use canopy_render::layout::TextureViewParams;

/// Side of a square in the checkerboard behind transparent texels, in pixels.
const CHECKER: u32 = 8;

/// Returns the colour of a window pixel, or `None` outside of the texture. `texel` returns the linear value
/// of a texel of the mip level, which has `side` texels along its sides.
pub fn texture_view(
    params: &TextureViewParams,
    pixel: [u32; 2],
    side: [u32; 2],
    texel: impl Fn([u32; 2]) -> [f64; 4],
) -> Option<[f64; 3]> {
    let from_origin: [f64; 2] =
        std::array::from_fn(|axis| f64::from(pixel[axis]) + 0.5 - f64::from(params.origin[axis]));
    let uv: [f64; 2] = std::array::from_fn(|axis| {
        let along = from_origin[axis] * f64::from(params.texels_per_pixel);
        (f64::from(params.first[axis]) + along) / f64::from(params.size[axis])
    });
    if uv.iter().any(|uv| !(0.0..1.0).contains(uv)) {
        return None;
    }
    let place = std::array::from_fn(|axis| (uv[axis] * f64::from(side[axis])) as u32);
    let [r, g, b, a] = texel(place);
    let exposure = f64::from(params.exposure_ev).exp2();
    let value = [r * exposure, g * exposure, b * exposure, a];
    let kept = |channel: usize| params.channels >> channel & 1 == 1;
    let shown = |channel: usize| match (kept(channel), params.encodes == 1) {
        (false, _) => 0.0,
        (true, true) => srgb_encode(value[channel]),
        (true, false) => value[channel].clamp(0.0, 1.0),
    };
    let colors = (0..3).filter(|channel| kept(*channel)).count();
    Some(match (colors, kept(3)) {
        (0, false) => [0.0; 3],
        (0, true) => [value[3]; 3],
        (1, false) => [shown(0) + shown(1) + shown(2); 3],
        (_, false) => [shown(0), shown(1), shown(2)],
        (_, true) => {
            let square = from_origin.map(|side| side as u32 / CHECKER);
            let behind = if (square[0] + square[1]) % 2 == 0 {
                0.55
            } else {
                0.35
            };
            [0, 1, 2].map(|channel| shown(channel) * value[3] + behind * (1.0 - value[3]))
        }
    })
}
