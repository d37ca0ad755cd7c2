//! Ray marching through volumes front to back and back to front: times, sample counts and correctness.

use crate::{
    Result,
    accel::Ray,
    cli::{
        bench::{
            report::{Report, Run},
            timing::Meter,
        },
        progress::StatusLine,
    },
    config::Volumes as Settings,
    lab::{
        data::LabMarchResult,
        ray_file::RaySet,
        ray_order::is_sent,
        volume_orders::{MarchedRays, MarchedVolume, VolumeOrder, VolumeOrders},
    },
    reference::volumes::{Lit, MarchResult, Medium, Order},
    render::{layout::VolumeParams, volumes::volume_params},
    scene::{Pose, Scene, volume_lattice::VolumeLattice},
};

use glam::{DVec3, Vec3};
use serde_json::json;

/// Maximum number of rays per set that the CPU reference marches.
const MAX_CHECKED: usize = 4096;
/// Maximum number of voxels along an axis.
const MAX_VOXELS: u32 = 2048;
/// Maximum error of radiance as a fraction of the brightest result, and of transmittance.
const TOLERANCE: f64 = 1e-2;

/// A volume of the scene, placed by a node.
pub(super) struct Placed {
    name: String,
    lattice: VolumeLattice,
    params: VolumeParams,
}

/// Returns the visible volumes of a scene at a pose.
pub(super) fn placed(scene: &Scene, pose: &Pose, settings: &Settings) -> Vec<Placed> {
    let nodes = scene.nodes.iter().enumerate();
    let visible = nodes.filter(|(index, _)| pose.visible[*index]);
    let one = |(index, volume): (usize, usize)| {
        let volume = &scene.volumes[volume];
        let lattice = VolumeLattice::new(volume, MAX_VOXELS)?;
        let volume_from_lattice = lattice.volume_from_lattice.as_dmat4();
        let world_from_lattice = (pose.world_from_node[index] * volume_from_lattice).as_mat4();
        let look = (lattice.color_temperature.is_some(), lattice.is_hot);
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

/// Measures two rows for each volume and set, one per marching order. The medium is lit uniformly with
/// radiance 1.
pub(super) fn measure(
    meter: &mut Meter,
    placed: &[Placed],
    sets: &[RaySet],
    report: &mut Report,
    quiet: bool,
) -> Result<()> {
    if placed.is_empty() {
        return Ok(());
    }
    let line = StatusLine::new(quiet);
    let orders = VolumeOrders::new(&meter.gpu);
    for of in placed {
        line.stage(&format!("rays through {}", of.name));
        let volume = match MarchedVolume::new(&meter.gpu, &of.name, &of.lattice, &of.params) {
            Ok(volume) => volume,
            Err(why @ canopy_bvh::Error::Limit { .. }) => {
                report.skip(Run::new(json!({ "structure": of.name })), &why);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for set in sets {
            let rays: Vec<Ray> = set.rays.iter().filter(|ray| is_sent(ray)).copied().collect();
            if !rays.is_empty() {
                let rows = both(meter, &orders, (of, &volume), (set, &rays))?;
                report.runs.extend(rows);
            }
        }
    }
    report.notes.push(format!(
        "Volumes: samples are per ray. wrong: rays whose light is off by more than {} % of the brightest, compared with \
         every step\nin f64 (up to {MAX_CHECKED} rays of a set, spread evenly), and with the other order (all rays).",
        100.0 * TOLERANCE
    ));
    Ok(())
}

fn both(
    meter: &mut Meter,
    orders: &VolumeOrders,
    (placed, volume): (&Placed, &MarchedVolume),
    (set, rays): (&RaySet, &[Ray]),
) -> Result<Vec<Run>> {
    let list = MarchedRays::new(&meter.gpu, rays)?;
    let mut measured = Vec::new();
    for order in VolumeOrder::ALL {
        let timings = meter.time(
            |_| {},
            |gpu, scope| Ok(orders.record(gpu, scope, volume, &list, order)?),
        )?;
        measured.push((order, timings, list.results(&meter.gpu)?));
    }
    let (step, exact) = twin(placed, rays);
    let brightest = exact
        .iter()
        .map(|seen| seen.radiance.max_element())
        .fold(1e-12, f64::max);
    let other: Vec<&Vec<LabMarchResult>> = measured.iter().rev().map(|(.., seen)| seen).collect();
    let rows = measured.iter().zip(other).map(|((order, timings, seen), other)| {
        let off = (0..seen.len()).filter(|i| {
            let (own, other) = (result(&seen[*i]), result(&other[*i]));
            let is_checked = i % step == 0;
            let exact = exact.get(i / step).filter(|_| is_checked);
            let exact = exact.map(|seen| (seen.radiance, seen.transmittance));
            let is_far = |to| apart(own, to, brightest) > TOLERANCE;
            is_far(other) || exact.is_some_and(is_far)
        });
        let samples: u64 = seen.iter().map(|seen| u64::from(seen.samples)).sum();
        let mut run = Run::new(json!({
            "name": set.name,
            "rays": set.name,
            "ray_count": rays.len(),
            "structure": placed.name,
            "walk": order.name(),
            "samples_per_ray": samples as f64 / rays.len() as f64,
            "mrays_per_s": rays.len() as f64 / timings.median_ms() / 1e3,
            "bytes": volume.bytes(),
            "checked": exact.len(),
            "wrong": off.count(),
        }));
        run.time(timings, |_, _| None);
        run.stages.clear();
        run
    });
    Ok(rows.collect())
}

fn result(seen: &LabMarchResult) -> (DVec3, f64) {
    (Vec3::from(seen.radiance).as_dvec3(), seen.transmittance.into())
}

/// Returns the difference of two results as a fraction of the brightest one. NaN counts as infinite.
fn apart(a: (DVec3, f64), b: (DVec3, f64), brightest: f64) -> f64 {
    let radiance = (a.0 - b.0).abs().max_element() / brightest;
    let far = radiance.max((a.1 - b.1).abs());
    if far.is_nan() || a.0.is_nan() {
        f64::INFINITY
    } else {
        far
    }
}

/// Marches evenly distributed rays in f64 on the CPU. Returns the stride between those rays, and their
/// results.
fn twin(placed: &Placed, rays: &[Ray]) -> (usize, Vec<MarchResult>) {
    let medium = Medium {
        lattice: &placed.lattice,
        params: &placed.params,
    };
    let even = |_: DVec3| DVec3::ONE;
    let lit = Lit {
        lights: &[],
        sky: &even,
        sky_on_surface: &even,
        grid: None,
    };
    let step = rays.len().div_ceil(MAX_CHECKED).max(1);
    let one = |ray: &Ray| {
        let [origin, direction] = [ray.origin, ray.direction].map(|vector| Vec3::from(vector).as_dvec3());
        let along = (origin, direction, f64::from(ray.t_max));
        medium.march(&lit, along, 0.5, Order::BackToFront)
    };
    (step, rays.iter().step_by(step).map(one).collect())
}
