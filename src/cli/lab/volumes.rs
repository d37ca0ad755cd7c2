//! Both orders of blending the steps of a ray through a volume: what each samples, and whether they agree.

use crate::{
    cli::bench::report::Run,
    config::Volumes as Settings,
    gpu::layout::VolumeParams,
    lab::ray_file::RaySet,
    reference::volumes::{Lit, Medium, Order, Seen},
    render::volume_params,
    scene::{Pose, Scene, volume_lattice::VolumeLattice},
};
use glam::{DVec3, Vec3};
use serde_json::json;

/// Most rays of a set that are marched: the CPU does it.
const MOST_RAYS: usize = 4096;
/// Most voxels along an axis.
const MOST_VOXELS: u32 = 2048;

/// A volume of the scene where a node places it.
pub(super) struct Placed {
    name: String,
    lattice: VolumeLattice,
    params: VolumeParams,
}

/// The visible volumes of a scene at a pose.
pub(super) fn placed(scene: &Scene, pose: &Pose, settings: &Settings) -> Vec<Placed> {
    let nodes = scene.nodes.iter().enumerate();
    let visible = nodes.filter(|(index, _)| pose.visible[*index]);
    let one = |(index, volume): (usize, usize)| {
        let volume = &scene.volumes[volume];
        let lattice = VolumeLattice::new(volume, MOST_VOXELS)?;
        let world_from_lattice = pose.world_from_node[index] * lattice.volume_from_lattice;
        let look = (lattice.look.is_some(), lattice.is_hot);
        let shape = (lattice.size, lattice.range);
        let params = volume_params::params(settings, shape, look, world_from_lattice, 0)?;
        let name = match volume.name.is_empty() {
            true => "volume".into(),
            false => volume.name.clone(),
        };
        Some(Placed {
            name,
            lattice,
            params,
        })
    };
    let with_volume = visible.filter_map(|(index, node)| Some((index, node.volume?)));
    with_volume.filter_map(one).collect()
}

/// Two rows for each volume and set: the rays, or as many of them evenly, marched in even light of 1.
pub(super) fn rows(placed: &[Placed], sets: &[RaySet]) -> Vec<Run> {
    let pairs = placed
        .iter()
        .flat_map(|volume| sets.iter().map(move |set| (volume, set)));
    pairs.flat_map(|(volume, set)| both(volume, set)).collect()
}

fn both(volume: &Placed, set: &RaySet) -> [Run; 2] {
    let medium = Medium {
        lattice: &volume.lattice,
        params: &volume.params,
    };
    let even = |_: DVec3| DVec3::ONE;
    let lit = Lit {
        lights: &[],
        sky: &even,
        sky_on_surface: &even,
        grid: None,
    };
    let stride = set.rays.len().div_ceil(MOST_RAYS).max(1);
    let rays = set.rays.iter().step_by(stride);
    let rays: Vec<_> = rays.filter(|ray| ray.t_max > ray.t_min).collect();
    let seen = |order: Order| -> Vec<Seen> {
        let one = |ray: &&crate::accel::Ray| {
            let [origin, direction] =
                [ray.origin, ray.direction].map(|vector| Vec3::from(vector).as_dvec3());
            let along = (origin, direction, f64::from(ray.t_max));
            medium.march(&lit, along, 0.5, order)
        };
        rays.iter().map(one).collect()
    };
    let orders = [Order::FrontToBack, Order::BackToFront];
    let [front, back] = orders.map(seen);
    let brightest = back
        .iter()
        .map(|seen| seen.radiance.max_element())
        .fold(1e-12, f64::max);
    let apart = |(front, back): (&Seen, &Seen)| {
        let radiance = (front.radiance - back.radiance).abs().max_element() / brightest;
        radiance.max((front.through - back.through).abs()) > 1e-2
    };
    let wrong = front.iter().zip(&back).filter(|pair| apart(*pair)).count();
    let run = |name: &str, seen: &[Seen], wrong: usize| {
        let samples: u64 = seen.iter().map(|seen| u64::from(seen.samples)).sum();
        Run::new(json!({
            "name": set.name,
            "rays": set.name,
            "ray_count": rays.len(),
            "structure": volume.name,
            "walk": name,
            "samples_per_ray": samples as f64 / rays.len().max(1) as f64,
            "checked": rays.len(),
            "wrong": wrong,
        }))
    };
    [
        run("front to back", &front, wrong),
        run("back to front", &back, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        accel::{Query, Ray},
        config::Config,
        scene::{Grid, Node, Volume},
    };
    use glam::Mat4;

    /// In a dense box the front order ends early, with the same result.
    #[test]
    fn both_orders_agree() {
        let grid = Grid {
            name: "density".into(),
            components: 1,
            size: [16; 3],
            volume_from_voxel: Mat4::from_scale(Vec3::splat(0.1)),
            values: vec![1.0; 16 * 16 * 16],
            background: 0.0,
        };
        let scene = Scene {
            volumes: vec![Volume {
                name: "box".into(),
                grids: vec![grid],
            }],
            nodes: vec![Node {
                volume: Some(0),
                ..Node::default()
            }],
            ..Scene::default()
        };
        let mut settings = Config::default().volumes;
        settings.density = 20.0;
        let ray = |x: f32| Ray {
            origin: [x, 0.5, -4.0],
            t_min: 0.0,
            direction: [0.0, 0.0, 1.0],
            t_max: 1e30,
        };
        let set = RaySet {
            name: "primary".into(),
            query: Query::ClosestHit,
            rays: vec![ray(0.5), ray(1.0), ray(9.0)],
            scene: 0,
        };
        let placed = placed(&scene, &Pose::new(&scene, None, 0.0), &settings);
        let rows = rows(&placed, &[set]);
        let number = |row: usize, key: &str| rows[row].fields[key].as_f64();
        assert_eq!(number(0, "wrong"), Some(0.0));
        let [front, back] = [0, 1].map(|row| number(row, "samples_per_ray"));
        assert!(front > Some(0.0) && front < back, "{front:?} {back:?}");
    }
}
