//! CPU reference of `prefilter`: prefilters a cube for specular reflections.

use super::cube_map::{Faces, direction, texel_direction};
use glam::{DVec2, DVec3};

/// Samples the cube trilinearly.
fn sample(radiance: &[Faces], direction: DVec3, level: f64) -> DVec3 {
    let level = level.clamp(0.0, (radiance.len() - 1) as f64);
    let finer = level.floor() as usize;
    let coarser = (finer + 1).min(radiance.len() - 1);
    let at = |level: usize| radiance[level].sample(direction);
    at(finer).lerp(at(coarser), level.fract())
}

/// Prefilters a mip level with faces of `size` texels from all levels of the radiance. Samples are directions
/// around the normal z, with the mip level to read in w.
pub fn prefilter(radiance: &[Faces], size: usize, samples: &[[f32; 4]]) -> Faces {
    Faces::new(size, |face, x, y| {
        let normal = texel_direction(size, face, x, y);
        let right = direction(face, DVec2::X) - direction(face, DVec2::ZERO);
        let tangent = (right - normal * normal.dot(right)).normalize();
        let bitangent = normal.cross(tangent);
        let mut sum = DVec3::ZERO;
        let mut weights = 0.0;
        for s in samples {
            let [x, y, z, level] = s.map(f64::from);
            let to_light = tangent * x + bitangent * y + normal * z;
            let level = level - 1.5 * to_light.abs().max_element().log2();
            sum += z * sample(radiance, to_light, level);
            weights += z;
        }
        sum / weights
    })
}
