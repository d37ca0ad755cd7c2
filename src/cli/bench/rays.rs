//! Rays similar to the rays of a frame, generated on the CPU from its G-buffer in the order of the renderer's
//! tiles.

use super::inputs::Random;
use crate::{
    accel::trace::Ray,
    render::{FloatImage, View, layout::Light, light::lights},
    scene::Projection,
};

use glam::Vec3;

/// Edge length of a tile in pixels.
const TILE: u32 = 8;

/// Visible surfaces of a G-buffer.
#[derive(Debug)]
pub(super) struct Surfaces {
    size: [u32; 2],
    /// Position and normal of each pixel, row by row, with the normal facing the camera. `None` for the
    /// background.
    points: Vec<Option<(Vec3, Vec3)>>,
    /// Offset of ray origins along the normal in metres, larger than the distance of interpolated points from
    /// their triangle.
    step: f32,
}

impl Surfaces {
    /// Reads the surfaces from the channels of a frame. Ray origins are offset by a ten-thousandth of
    /// `radius`, which is half the scene's diagonal.
    pub(super) fn new(position: &FloatImage, normal: &FloatImage, eye: Vec3, radius: f32) -> Self {
        let points = position.texels.iter().zip(&normal.texels).map(|(p, n)| {
            let seen = p[3] != 0.0 && n[3] != 0.0 && p[..3].iter().all(|x| x.is_finite());
            seen.then(|| {
                let [p, n] = [p, n].map(|v| Vec3::new(v[0], v[1], v[2]));
                (p, if n.dot(eye - p) < 0.0 { -n } else { n })
            })
        });
        Self {
            size: [position.width, position.height],
            points: points.collect(),
            step: 1e-4 * radius,
        }
    }

    /// Returns the pixel, point and normal of every pixel with a surface.
    fn surfaces(&self) -> impl Iterator<Item = ([u32; 2], Vec3, Vec3)> {
        pixels(self.size).filter_map(|[x, y]| {
            let (point, normal) = (*self.points.get((y * self.size[0] + x) as usize)?)?;
            Some(([x, y], point, normal))
        })
    }

    /// Returns shadow rays to one light, one for each surface that faces it and that it reaches. It is the
    /// first of `lights` with at least one such surface.
    pub(super) fn shadow(&self, lights: &[Light]) -> Vec<Ray> {
        let to = |light: &Light| -> Vec<Ray> {
            let ray = |(_, point, normal): ([u32; 2], Vec3, Vec3)| {
                let (direction, distance) = towards(light, point)?;
                (normal.dot(direction) > 0.0).then(|| self.ray(point, normal, direction, distance))
            };
            self.surfaces().filter_map(ray).collect()
        };
        let mut lists = lights.iter().map(to);
        lists.find(|rays| !rays.is_empty()).unwrap_or_default()
    }

    /// Returns one ray of length `reach` per surface, in a cosine-distributed direction around its normal
    /// (Malley's method).
    pub(super) fn ambient_occlusion(&self, reach: f32, seed: u64) -> Vec<Ray> {
        let ray = |([x, y], point, normal): ([u32; 2], Vec3, Vec3)| {
            let mut random =
                Random(seed ^ (u64::from(y) << 32 | u64::from(x)).wrapping_mul(0x2545_f491_4f6c_dd1d));
            let (tangent, bitangent) = normal.any_orthonormal_pair();
            let disk = std::iter::repeat_with(|| random.cube().truncate())
                .find(|p| p.length_squared() < 1.0)
                .unwrap_or_default();
            let up = (1.0 - disk.length_squared()).sqrt();
            let direction = disk.x * tangent + disk.y * bitangent + up * normal;
            self.ray(point, normal, direction, reach)
        };
        self.surfaces().map(ray).collect()
    }

    fn ray(&self, point: Vec3, normal: Vec3, direction: Vec3, t_max: f32) -> Ray {
        Ray {
            origin: (point + self.step * normal).to_array(),
            t_min: 0.0,
            direction: direction.normalize_or(normal).to_array(),
            t_max,
        }
    }
}

/// Returns every pixel in tiles of 8 × 8, with the tiles row by row.
fn pixels([width, height]: [u32; 2]) -> impl Iterator<Item = [u32; 2]> {
    let [columns, rows] = [width.div_ceil(TILE), height.div_ceil(TILE)];
    (0..columns * rows).flat_map(move |tile| {
        let (x, y) = (tile % columns * TILE, tile / columns * TILE);
        (0..TILE * TILE)
            .map(move |i| [x + i % TILE, y + i / TILE])
            .filter(move |[x, y]| *x < width && *y < height)
    })
}

/// Returns a ray through the centre of every pixel.
pub(in crate::cli) fn primary(size: [u32; 2], view: &View) -> Vec<Ray> {
    let [width, height] = size.map(|side| side as f32);
    let ray = |[x, y]: [u32; 2]| {
        let across = (2.0 * (x as f32 + 0.5) / width - 1.0) * width / height;
        let up = 1.0 - 2.0 * (y as f32 + 0.5) / height;
        let (origin, direction) = match view.projection {
            Projection::Perspective { fov_y } => {
                let slope = (0.5 * fov_y).tan();
                (Vec3::ZERO, Vec3::new(across * slope, up * slope, -1.0))
            }
            Projection::Orthographic { half_height } => (
                Vec3::new(across * half_height, up * half_height, 0.0),
                Vec3::NEG_Z,
            ),
        };
        let direction = view.world_from_view.transform_vector3(direction);
        Ray {
            origin: view.world_from_view.transform_point3(origin).to_array(),
            t_min: 0.0,
            direction: direction.normalize_or(Vec3::NEG_Z).to_array(),
            t_max: view.far,
        }
    };
    pixels(size).map(ray).collect()
}

/// Returns the unit vector from `point` to a light, and the distance in metres, if the light reaches it. See
/// light/light.wgsl.
pub(in crate::cli) fn towards(light: &Light, point: Vec3) -> Option<(Vec3, f32)> {
    let along = Vec3::from(light.direction);
    if light.kind == lights::LIGHT_DIRECTIONAL {
        return Some((-along, 1e30));
    }
    let offset = Vec3::from(light.position) - point;
    let distance = offset.length().max(1e-20);
    let direction = offset / distance;
    let in_range = light.range == 0.0 || distance < light.range;
    let in_cone = light.kind != lights::LIGHT_SPOT
        || -direction.dot(along) * light.spot_scale + light.spot_offset > 0.0;
    (in_range && in_cone).then_some((direction, distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Mat4;

    /// Returns a floor at y = 0, visible in all pixels but the first.
    fn floor(size: [u32; 2]) -> Surfaces {
        let image = |texel: [f32; 4]| {
            let mut texels = vec![texel; (size[0] * size[1]) as usize];
            texels[0] = [f32::NAN, f32::NAN, f32::NAN, 0.0];
            FloatImage {
                width: size[0],
                height: size[1],
                texels,
            }
        };
        let (position, normal) = (image([1.0, 0.0, 2.0, 1.0]), image([0.0, -1.0, 0.0, 1.0]));
        Surfaces::new(&position, &normal, Vec3::Y, 1.0)
    }

    #[test]
    fn pixels_are_ordered_in_tiles_and_occur_once() {
        let pixels: Vec<_> = pixels([20, 10]).collect();
        assert_eq!(pixels.len(), 200);
        assert_eq!(
            pixels[..9],
            [
                [0, 0],
                [1, 0],
                [2, 0],
                [3, 0],
                [4, 0],
                [5, 0],
                [6, 0],
                [7, 0],
                [0, 1]
            ]
        );
        assert_eq!(pixels[64], [8, 0]);
        let unique: std::collections::HashSet<_> = pixels.into_iter().collect();
        assert_eq!(unique.len(), 200);
    }

    #[test]
    fn shadow_and_occlusion_rays_leave_surfaces_towards_their_targets() {
        let floor = floor([4, 4]);
        assert_eq!(floor.surfaces().count(), 15);
        let below = Light {
            kind: lights::LIGHT_DIRECTIONAL,
            direction: [0.0, 1.0, 0.0],
            ..Light::default()
        };
        let lamp = Light {
            kind: lights::LIGHT_POINT,
            position: [1.0, 3.0, 2.0],
            ..Light::default()
        };
        // Normals face the camera, so the first light is behind the floor.
        let rays = floor.shadow(&[below, lamp]);
        assert_eq!(rays.len(), 15);
        assert_eq!((rays[0].direction, rays[0].t_max), ([0.0, 1.0, 0.0], 3.0));
        assert!(rays[0].origin[1] > 0.0);
        assert!(floor.shadow(&[below]).is_empty());
        let rays = floor.ambient_occlusion(0.5, 1);
        assert_eq!(rays.len(), 15);
        assert!(rays.iter().all(|ray| ray.direction[1] > 0.0 && ray.t_max == 0.5));
        assert_ne!(rays[0].direction, rays[1].direction);
    }

    #[test]
    fn primary_rays_cover_the_image() {
        let view = View {
            world_from_view: Mat4::from_translation(Vec3::Y),
            projection: Projection::Perspective {
                fov_y: std::f32::consts::FRAC_PI_2,
            },
            near: 0.1,
            far: 10.0,
        };
        let rays = primary([4, 2], &view);
        assert_eq!(rays.len(), 8);
        let corner = Vec3::new(-1.5, 0.5, -1.0).normalize();
        assert!(Vec3::from(rays[0].direction).abs_diff_eq(corner, 1e-6));
        assert_eq!(rays[0].origin, [0.0, 1.0, 0.0]);
    }
}
