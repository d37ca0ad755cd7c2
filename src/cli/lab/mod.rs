//! `canopy lab`: compares ray-triangle tests, traversals, acceleration structures, kernels and ray orders.

mod args;
mod measure;
mod page;
mod plan;
mod scene;
mod sets;
mod show;
mod volumes;

pub use args::LabArgs;

use super::{
    bench::{
        inputs::Input,
        report::Report,
        timing::{Meter, Sampling},
        trees,
    },
    console::{json_text, print},
    offscreen,
    report::Report as Work,
};
use crate::{
    Error, Result,
    accel::{Lbvh, MeshRange, Work as Build},
    config::Config,
    lab::{
        Triangle,
        ray_file::{self, RaySet},
        ray_order::RayOrder,
    },
    output,
    render::{light::lights, materials::material_textures::texture_support},
    scene::{
        framing::Look,
        opened::{OpenedScene, Span},
    },
};

use plan::Named;
use scene::Bench;
use std::path::Path;

/// Default sets of rays.
const SETS: [&str; 3] = ["primary", "shadow-soft", "diffuse-1"];

/// Measures all combinations and prints the table.
///
/// # Errors
///
/// [`Error::Usage`] for an unknown set, [`Error::NotFound`] for a scene without triangles and volumes. Any
/// error of loading, of drawing and of reading rays.
pub fn run(args: &LabArgs, config: Config, quiet: bool) -> Result<()> {
    if let Some(path) = &args.html {
        output::extension(path, &["html"])?;
        output::check_writable(path)?;
    }
    let named = Named {
        tests: args.test.clone(),
        walks: args.walk.clone(),
        structures: args.structure.clone(),
        threads: args.threads.clone(),
        orders: args.order.clone(),
        all: args.all,
    };
    let combinations = plan::plan(&named);
    if combinations.is_empty() {
        return Err(Error::Usage(format!(
            "none of these traversals supports any of these structures: {}",
            plan::pairs()
        )));
    }
    let work = Work::new(quiet);
    let read: Vec<RaySet> = args
        .rays
        .iter()
        .map(|path| read_rays(path))
        .collect::<Result<_>>()?;
    let gpu = crate::device::open(&config.gpu)?;
    let software = !gpu.capabilities.has_gpu;
    let sampling = Sampling {
        samples: args.samples,
        warm_up: args.warm_up,
        budget_ms: if software { 300.0 } else { 2e3 },
    };
    let adapter = super::adapters::adapter_json(&gpu.info);
    let mut meter = Meter::new(gpu, sampling)?;
    let bench = open(args, &config, &mut meter, &work, read)?;
    if let Some(folder) = &args.write_rays {
        return write_rays(folder, &bench.sets, work);
    }
    let mut report = Report::new("lab", adapter);
    if !bench.triangles.is_empty() {
        measure::all(args, &mut meter, &bench, &combinations, &mut report, quiet)?;
    }
    let (of, sets) = (&bench.volumes, &bench.sets);
    volumes::measure(&mut meter, of, sets, &mut report, quiet)?;
    let facts = show::facts(&meter.gpu, &bench);
    drop(work);
    if let Some(path) = &args.html {
        output::write(path, show::html(&report, &facts).as_bytes())?;
    }
    print(&match (args.json, args.csv) {
        (true, _) => json_text(&show::json(&report, &facts)),
        (_, true) => show::csv(&report),
        _ => show::table(&report),
    })
}

/// Loads the scene and generates its rays, or uses the rays that were read.
fn open(args: &LabArgs, given: &Config, meter: &mut Meter, work: &Work, read: Vec<RaySet>) -> Result<Bench> {
    let software = !meter.gpu.capabilities.has_gpu;
    let size = args
        .size
        .unwrap_or(if software { [128, 72] } else { [1920, 1080] });
    let mut config = offscreen::geometry_only(given.clone());
    config.output.size = size;
    let gpu = offscreen::adapter(work, &config)?;
    let support = texture_support(&gpu);
    let opened = offscreen::load(work, &args.files, |files, progress| {
        Ok(OpenedScene::load(
            files,
            &config,
            support,
            Span::MOMENT,
            progress,
        )?)
    })?;
    let (offscreen, moment) =
        offscreen::deform(work, gpu, opened.checked()?, &Look::default(), config.clone())?;
    let merged = offscreen.merged()?;
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| merged.positions[vertex as usize]);
    // Trees skip triangles with non-finite positions, so the lab does too.
    let is_finite = |triangle: &Triangle| triangle.iter().all(|corner| corner.is_finite());
    let triangles: Vec<Triangle> = merged.indices.iter().map(corners).filter(is_finite).collect();
    let name = show::name_of(&args.files);
    let volumes = volumes::placed(&offscreen.scene, &moment.pose, &config.volumes);
    if triangles.is_empty() && volumes.is_empty() {
        return Err(Error::NotFound(format!(
            "{name}: has no triangles and no volumes, so rays hit nothing"
        )));
    }
    let count = triangles.len() as u32;
    let input = Input {
        positions: triangles
            .iter()
            .flatten()
            .map(|corner| corner.to_array())
            .collect(),
        indices: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        triangle_info: vec![[0, 0]; triangles.len()],
        meshes: vec![MeshRange {
            first_triangle: 0,
            triangle_count: count,
            first_vertex: 0,
        }],
    };
    let scene = ray_file::hash(bytemuck::cast_slice(&input.positions));
    let mut sets = read;
    for set in &sets {
        if set.scene != scene {
            log::warn!(
                "ray set \"{}\" was generated for other triangles than those of {name}; generate it again with \
                 --write-rays DIR",
                set.name
            );
        }
    }
    if sets.is_empty() {
        work.line.stage("making rays");
        sets = match triangles.is_empty() {
            true => vec![sets::primary(size, &moment.view, scene)],
            false => {
                let lbvh = Lbvh::new(&meter.gpu);
                let mut tree = trees::allocate(&meter.gpu, &lbvh, &input, 30)?;
                meter.once(|gpu, scope| Ok(lbvh.record(gpu, scope, &mut tree, Build::Rebuild)?))?;
                let lights = lights::gather(&offscreen.scene, &moment.pose, given, 1.0);
                sets::all(&sets::Source {
                    gpu: &meter.gpu,
                    tree: &tree,
                    triangles: &triangles,
                    view: &moment.view,
                    size,
                    lights: &lights,
                    radius: moment.bounds.radius(),
                    seed: args.seed,
                    scene,
                })?
            }
        };
        choose(&mut sets, args)?;
    }
    Ok(Bench {
        name,
        volumes,
        triangles,
        input,
        sets,
    })
}

/// Keeps only the sets that `--sets` names. Without names, keeps [`SETS`], or all sets if rays are written to
/// files.
fn choose(sets: &mut Vec<RaySet>, args: &LabArgs) -> Result<()> {
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    if let Some(unknown) = args.sets.iter().find(|set| !names.contains(&set.as_str())) {
        let names = names.join(", ");
        return Err(Error::Usage(format!(
            "no ray set \"{unknown}\"; sets are {names}"
        )));
    }
    let is_named = |name: &String| match args.sets.as_slice() {
        [] => args.write_rays.is_some() || SETS.contains(&name.as_str()),
        named => named.contains(name),
    };
    sets.retain(|set| is_named(&set.name));
    Ok(())
}

fn read_rays(path: &Path) -> Result<RaySet> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    Ok(RaySet::from_bytes(path, &bytes)?)
}

fn write_rays(folder: &Path, sets: &[RaySet], work: Work) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    for set in sets {
        let shuffled = RaySet {
            name: format!("{}-shuffled", set.name),
            rays: RayOrder::Shuffled.of(&set.rays),
            ..set.clone()
        };
        for set in [set, &shuffled] {
            output::write(&folder.join(format!("{}.rays", set.name)), &set.to_bytes()?)?;
        }
    }
    work.wrote(&format!(
        "{} sets of rays to {}",
        2 * sets.len(),
        folder.display()
    ));
    Ok(())
}
