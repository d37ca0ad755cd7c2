//! Sets of rays of a scene. The primary rays start at the camera, and each other set starts at the hits of an
//! earlier one.

use crate::{
    Result,
    accel::{Hit, Query, Ray, Trace, Tree},
    cli::bench::{
        inputs::Random,
        rays::{self, towards},
    },
    gpu::Gpu,
    lab::{Triangle, ray_file::RaySet, ray_order::is_sent},
    render::{View, layout::Light},
};

use glam::Vec3;

/// Length of occlusion rays as a fraction of the scene's diagonal.
const OCCLUSION: f32 = 0.1;
/// Angular radius, as a tangent, of the disc that soft shadow rays sample. The disc spans about 11 degrees,
/// like a nearby lamp. The sun spans half a degree.
const SOFT: f32 = 0.1;
/// Direction, not normalised, to the light at surfaces that no light of the scene reaches: upwards and
/// slightly sideways.
const ABOVE: Vec3 = Vec3::new(0.4, 1.0, 0.3);
/// Maximum number of rays per dispatch, to keep dispatches short.
const BATCH: usize = 1 << 18;

/// Inputs for generating rays.
pub(super) struct Source<'a> {
    pub(super) gpu: &'a Gpu,
    /// Tree over all triangles as one mesh.
    pub(super) tree: &'a Tree,
    pub(super) triangles: &'a [Triangle],
    pub(super) view: &'a View,
    pub(super) size: [u32; 2],
    pub(super) lights: &'a [Light],
    /// Half the scene's diagonal.
    pub(super) radius: f32,
    pub(super) seed: u64,
    /// Hash of the triangles.
    pub(super) scene: u64,
}

/// A ray's hit: its point, the normal facing the ray, and the ray's direction.
#[derive(Clone, Copy)]
struct Surface {
    point: Vec3,
    normal: Vec3,
    direction: Vec3,
}

/// Placeholder for a pixel that traces no ray.
const GAP: Ray = Ray {
    origin: [0.0; 3],
    t_min: 0.0,
    direction: [0.0, 0.0, 1.0],
    t_max: 0.0,
};

/// Returns the primary rays, which need no hits of other rays.
pub(super) fn primary(size: [u32; 2], view: &View, scene: u64) -> RaySet {
    RaySet {
        name: "primary".into(),
        query: Query::ClosestHit,
        rays: rays::primary(size, view),
        scene,
    }
}

/// Generates all sets. Each has a ray or the placeholder [`GAP`] for each pixel.
pub(super) fn all(source: &Source<'_>) -> Result<Vec<RaySet>> {
    let far = 1e4 * source.radius;
    let first = primary(source.size, source.view, source.scene);
    let seen = surfaces(source, &first.rays)?;
    let mut random = Random(source.seed);
    let of = |surface: &Surface, direction: Vec3, t_max: f32| {
        let origin = surface.point + 1e-4 * source.radius * surface.normal;
        Ray {
            origin: origin.to_array(),
            t_min: 0.0,
            direction: direction.normalize_or(surface.normal).to_array(),
            t_max,
        }
    };
    let list = |seen: &[Option<Surface>], ray: &mut dyn FnMut(&Surface) -> Option<Ray>| -> Vec<Ray> {
        let ray = |seen: &Option<Surface>| seen.as_ref().and_then(&mut *ray).unwrap_or(GAP);
        seen.iter().map(ray).collect()
    };
    let mirror = list(&seen, &mut |s| Some(of(s, s.direction.reflect(s.normal), far)));
    let reach = OCCLUSION * 2.0 * source.radius;
    let occlusion = list(&seen, &mut |s| Some(of(s, around(s.normal, &mut random), reach)));
    let mut to_light = |surface: &Surface, spread: f32| {
        let mut reached = source
            .lights
            .iter()
            .filter_map(|light| towards(light, surface.point));
        let (to, distance) = reached.next().unwrap_or((ABOVE.normalize(), far));
        let (x, y) = to.any_orthonormal_pair();
        let disc = disc(&mut random);
        let to = to + spread * (disc[0] * x + disc[1] * y);
        (surface.normal.dot(to) > 0.0).then(|| of(surface, to, distance.min(far)))
    };
    let hard = list(&seen, &mut |s| to_light(s, 0.0));
    let soft = list(&seen, &mut |s| to_light(s, SOFT));
    let mut sets = vec![
        ("mirror", Query::ClosestHit, mirror),
        ("occlusion", Query::AnyHit, occlusion),
        ("shadow-hard", Query::AnyHit, hard),
        ("shadow-soft", Query::AnyHit, soft),
    ];
    let mut from = seen;
    for name in ["diffuse-1", "diffuse-2", "diffuse-3"] {
        let rays = list(&from, &mut |s| Some(of(s, around(s.normal, &mut random), far)));
        from = surfaces(source, &rays)?;
        sets.push((name, Query::ClosestHit, rays));
    }
    let set = |(name, query, rays): (&str, Query, Vec<Ray>)| RaySet {
        name: name.into(),
        query,
        rays,
        scene: source.scene,
    };
    Ok([first].into_iter().chain(sets.into_iter().map(set)).collect())
}

/// Returns the first hit of each ray.
fn surfaces(source: &Source<'_>, rays: &[Ray]) -> Result<Vec<Option<Surface>>> {
    let trace = Trace::new(source.gpu);
    let mut found = Vec::with_capacity(rays.len());
    for rays in rays.chunks(BATCH) {
        let hits = trace.run(source.gpu, source.tree, rays, Query::ClosestHit, 4)?;
        let surface = |(ray, hit): (&Ray, &Hit)| {
            if hit.is_miss() || !is_sent(ray) {
                return None;
            }
            let [a, b, c] = *source.triangles.get(hit.triangle as usize)?;
            let direction = Vec3::from(ray.direction);
            let normal = (b - a).cross(c - a).try_normalize()?;
            Some(Surface {
                point: Vec3::from(ray.origin) + hit.t * direction,
                normal: if normal.dot(direction) > 0.0 {
                    -normal
                } else {
                    normal
                },
                direction,
            })
        };
        found.extend(rays.iter().zip(&hits).map(surface));
    }
    Ok(found)
}

/// Samples the unit disc.
fn disc(random: &mut Random) -> [f32; 2] {
    loop {
        let point = random.cube().truncate();
        if point.length_squared() < 1.0 {
            return point.to_array();
        }
    }
}

/// Samples a cosine-distributed direction around a normal (Malley's method).
fn around(normal: Vec3, random: &mut Random) -> Vec3 {
    let (x, y) = normal.any_orthonormal_pair();
    let [a, b] = disc(random);
    a * x + b * y + (1.0 - a * a - b * b).max(0.0).sqrt() * normal
}
