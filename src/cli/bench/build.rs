//! `canopy bench build`: all trees of an input, stage by stage.

use super::{
    Bench, floor,
    inputs::{self, Input, Kind},
    report::{Column, Format, Run},
    shot::Shot,
    sources::{Defaults, Source, sources},
    trees,
};
use crate::{
    Error, Result,
    accel::{Lbvh, Work},
};
use serde_json::json;

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("name", "name", Format::Text),
    ("triangles", "triangles", Format::Count),
    ("meshes", "meshes", Format::Count),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("wall ms", "wall_ms/median", Format::Ms),
    ("triangles/s", "triangles_per_s", Format::Count),
    ("t(2N)/t(N)", "scaling", Format::Decimal),
    ("to one mesh", "to_one_mesh", Format::Ratio),
    ("SAH cost", "sah_cost", Format::Decimal),
    ("depth", "depth", Format::Count),
    ("nodes", "nodes", Format::Count),
    ("dispatches", "dispatches", Format::Count),
];

/// The same triangles as so many meshes, and how many triangles.
const DIVISIONS: [u32; 3] = [1, 1_000, 10_000];
const DIVIDED: u32 = 600_000;

/// Builds over every input.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let defaults = if bench.software {
        Defaults {
            builtin: true,
            kinds: &Kind::ALL,
            soup: &[600, 64_000, 128_000, 256_000],
            others: &[64_000],
        }
    } else {
        Defaults {
            builtin: true,
            kinds: &Kind::ALL,
            soup: &[
                600, 64_000, 128_000, 256_000, 512_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000,
                10_000_000, 16_000_000,
            ],
            others: &[1_000_000],
        }
    };
    let sources = sources(bench.args, defaults);
    let divides = bench.args.files.is_empty() && !bench.args.generates();
    let steps = sources.len() + if divides { DIVISIONS.len() } else { 0 };
    let mut progress = bench.progress(steps);
    let lbvh = Lbvh::new(&bench.meter.gpu);
    lbvh.compile(&bench.meter.gpu)?;
    for source in &sources {
        progress.step(&source.name());
        match input(bench, source) {
            Ok(input) => measure(bench, &lbvh, &source.name(), &input)?,
            Err(why @ Error::Limit { .. }) => bench.report.skip(source.run(), &why),
            Err(error) => return Err(error),
        }
    }
    bench.report.scaling("triangles");
    if divides {
        let most = DIVISIONS[DIVISIONS.len() - 1];
        let whole = inputs::generate(Kind::Meshes, DIVIDED, most, bench.args.seed);
        let first = bench.report.runs.len();
        for meshes in DIVISIONS {
            progress.step(&format!("{meshes} meshes, {DIVIDED} triangles"));
            let input = whole.clone().divided(meshes);
            measure(bench, &lbvh, "divided", &input)?;
        }
        let runs = &mut bench.report.runs[first..];
        if let Some(one) = runs.first().and_then(Run::median_ms) {
            for run in runs {
                let ratio = run.median_ms().map(|ms| ms / one);
                run.set("to_one_mesh", ratio);
            }
        }
    }
    Ok(())
}

/// A source's triangles. Scenes go through the renderer and are posed once, on a device of its own.
fn input(bench: &Bench<'_>, source: &Source) -> Result<Input> {
    source.check(&bench.meter.gpu)?;
    if let Some(input) = source.generate() {
        return Ok(input);
    }
    let mut shot = Shot::new(source, bench.config, [16, 16])?;
    shot.draw(0.0)?;
    shot.triangles()
}

/// Builds over `input` often enough and checks the trees.
fn measure(bench: &mut Bench<'_>, lbvh: &Lbvh, name: &str, input: &Input) -> Result<()> {
    let Bench {
        meter,
        report,
        config,
        ..
    } = bench;
    let counts = floor::Counts::of(input);
    let mut run = Run::new(json!({
        "name": name,
        "triangles": input.indices.len(),
        "vertices": input.positions.len(),
        "meshes": input.meshes.len(),
    }));
    let mut tree = match trees::room(&meter.gpu, lbvh, input, config.tree.code_bits) {
        Ok(tree) => tree,
        Err(why) => {
            report.skip(run, &why);
            return Ok(());
        }
    };
    let timings = meter.time(
        |_| {},
        |gpu, scope| lbvh.record(gpu, scope, &mut tree, Work::Rebuild),
    )?;
    let copy = report.copy_gb_per_s;
    run.time(&timings, |stage, ms| {
        Some(floor::share(floor::build_bytes(stage, counts)?, ms, copy?))
    });
    let rate = input.indices.len() as f64 / timings.median_ms() * 1e3;
    run.set("triangles_per_s", rate);
    // A broken tree is an error, however fast it was built.
    let quality = tree.read(&meter.gpu)?.validate(&input.meshes)?;
    run.set("nodes", quality.nodes);
    run.set("depth", quality.depth);
    run.set("tlas_depth", quality.tlas_depth);
    run.set("dispatches", tree.dispatches());
    run.set("sah_cost", quality.sah_cost);
    report.runs.push(run);
    Ok(())
}
