//! `canopy shaders --isa`: entry points as a GPU's compiler makes them, without the GPU.

mod compiler;
mod figures;
mod gpus;
mod loops;
mod workers;

use self::{
    compiler::{Compiler, Program, Stage, stage_flags},
    figures::{figures, report, table},
    gpus::Target,
    workers::Workers,
};
use super::{
    ShadersArgs, candidates, nothing_named,
    spirv::{self, Constants},
};
use crate::{
    Error, Result,
    cli::{
        console::{json_text, print},
        reflected::Reflected,
    },
    gpu::{Arrays, shader::Composed},
};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wgpu::naga::{EntryPoint, Override, ScalarKind, ShaderStage, TypeInner};

/// Options of `canopy shaders --isa`.
#[derive(Debug, Args)]
pub struct IsaArgs {
    /// Compile as for a GPU, and tell instructions, registers, loops
    #[arg(long, conflicts_with_all = ["dump", "check"])]
    pub isa: bool,
    /// With --isa: rdna2, rdna3, gfx1201, m1, adreno750, ampere …
    #[arg(long, value_name = "NAME", default_value = "rdna3", requires = "isa")]
    pub gpu: String,
    /// With --isa: threads of a subgroup, where compute may choose
    #[arg(long, value_name = "N", default_value_t = 32, requires = "isa", value_parser = clap::value_parser!(u32).range(1..=128))]
    pub subgroup: u32,
    /// With --isa: a value for an override constant
    #[arg(long, value_name = "NAME=VALUE", requires = "isa", value_parser = constant)]
    pub constant: Vec<(String, f64)>,
    /// Compile every N-th file with the driver of this process, and tell the program that has started it
    #[arg(long, hide = true, value_name = "I/N", requires = "isa", value_parser = part)]
    pub isa_part: Option<(usize, usize)>,
    /// Tell the program that has started this process what the driver calls the GPU and itself
    #[arg(long, hide = true, requires = "isa")]
    pub isa_probe: bool,
}

fn constant(text: &str) -> std::result::Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("it is NAME=VALUE")?;
    let value = match value {
        "true" => 1.0,
        "false" => 0.0,
        _ => value.parse().map_err(|e| format!("{value}: {e}"))?,
    };
    Ok((name.into(), value))
}

fn part(text: &str) -> std::result::Result<(usize, usize), String> {
    let numbers = text.split_once('/').and_then(|(index, count)| {
        let count: usize = count.parse().ok().filter(|count| *count > 0)?;
        Some((index.parse().ok()?, count))
    });
    numbers.ok_or_else(|| "it is I/N".into())
}

/// Compiles what `args` name, and prints a row for each.
///
/// # Errors
///
/// [`Error::NotFound`] where no driver compiles for the GPU or nothing has such a name, [`Error::Gpu`] where a driver fails.
pub(super) fn run(args: &ShadersArgs, arrays: Arrays) -> Result<()> {
    if args.isa.isa_probe {
        return probe();
    }
    let files = candidates(arrays, &args.names)?;
    if let Some(part) = args.isa.isa_part {
        return compile_part(args, files, part);
    }
    let is_known = |name: &str| {
        let declaration = format!("override {name}:");
        files
            .iter()
            .any(|(_, composed)| composed.text.contains(&declaration))
    };
    if let Some((name, _)) = args.isa.constant.iter().find(|(name, _)| !is_known(name)) {
        let what = format!("no shader that is named has a constant {name}");
        return Err(Error::Usage(what));
    }
    let target = Target::new(&args.isa.gpu);
    let mut last = None;
    for driver in target.drivers() {
        let opened = match Workers::probe(&driver) {
            Ok(opened) => opened,
            Err(error) => {
                last = Some(error);
                continue;
            }
        };
        let rows = Workers::compile(&driver, files.len())?;
        if rows.is_empty() {
            return Err(nothing_named(&args.names));
        }
        let report = report(&opened, rows);
        return match args.json {
            true => print(&json_text(&report)),
            false => print(&table(&report)),
        };
    }
    Err(target.unknown(last))
}

/// A pipeline to compile.
struct Job<'a> {
    shader: &'a Reflected,
    /// Of its entry points: one of compute, or of vertices and fragments.
    entries: Vec<usize>,
}

/// Pipelines of a shader that have one of the names.
fn jobs<'a>(shader: &'a Reflected, names: &[String]) -> Result<Vec<Job<'a>>> {
    let mut jobs = Vec::new();
    for (index, entry) in shader.module.entry_points.iter().enumerate() {
        let entries = match entry.stage {
            ShaderStage::Fragment => vec![shader.vertex_for(entry)?, index],
            ShaderStage::Vertex if !shader.only_has_vertices() => continue,
            _ => vec![index],
        };
        let job = Job { shader, entries };
        if shader.has_named(job.entry_points(), names) {
            jobs.push(job);
        }
    }
    Ok(jobs)
}

/// Tells what the driver of this process calls the GPU and itself.
///
/// # Errors
///
/// [`Error::Gpu`] where it opens no device.
pub(super) fn probe() -> Result<()> {
    let compiler = Compiler::open()?;
    told(&json!({"gpu": compiler.gpu, "driver": compiler.driver}))
}

/// Compiles every `count`-th file; a line of JSON tells each result.
fn compile_part(
    args: &ShadersArgs,
    files: Vec<(&'static str, Composed)>,
    (index, count): (usize, usize),
) -> Result<()> {
    let compiler = Compiler::open()?;
    for (at, (path, composed)) in files.into_iter().enumerate().skip(index).step_by(count) {
        let shader = Reflected::of(path, composed)?;
        for job in jobs(&shader, &args.names)? {
            told(&json!({"compiles": job.name()}))?;
            let mut before = Vec::new();
            for switches in [0.0, 1.0] {
                let constants = job.constants(&args.isa, switches);
                let words = job
                    .entry_points()
                    .map(|e| spirv::words(&shader, e, &constants));
                let words = words.collect::<Result<Vec<_>>>()?;
                if words == before {
                    continue;
                }
                for mut row in job.compile(&compiler, args.isa.subgroup, &words)? {
                    row["at"] = json!(at);
                    row["constants"] = json!(constants.iter().cloned().collect::<BTreeMap<_, _>>());
                    told(&row)?;
                }
                before = words;
            }
        }
    }
    Ok(())
}

/// A line to the process that has started this one.
fn told(value: &Value) -> Result<()> {
    print(&format!("{value}\n"))
}

impl Job<'_> {
    fn entry_points(&self) -> impl Iterator<Item = &EntryPoint> {
        let all = &self.shader.module.entry_points;
        self.entries.iter().map(|index| &all[*index])
    }

    fn name(&self) -> String {
        let entries: Vec<_> = self
            .entry_points()
            .map(|entry| entry.name.as_str())
            .collect();
        format!("{} {}", self.shader.path, entries.join(" "))
    }

    /// Values that are given; else switches have this one, and numbers their defaults.
    fn constants(&self, args: &IsaArgs, switches: f64) -> Constants {
        let module = &self.shader.module;
        let value = |constant: &Override| {
            let name = constant.name.clone()?;
            let given = args.constant.iter().find(|(given, _)| *given == name);
            let value = match (given, &module.types[constant.ty].inner) {
                (Some((_, given)), _) => *given,
                (None, TypeInner::Scalar(scalar)) if scalar.kind == ScalarKind::Bool => switches,
                // Memory for the groups of the smallest subgroups.
                _ if name == "LEAST_SUBGROUP" => args.subgroup.into(),
                _ => return None,
            };
            Some((name, value))
        };
        module
            .overrides
            .iter()
            .filter_map(|(_, constant)| value(constant))
            .collect()
    }

    /// Rows of its stages.
    fn compile(
        &self,
        compiler: &Compiler,
        subgroup: u32,
        words: &[Vec<u32>],
    ) -> Result<Vec<Value>> {
        let stages = self.entry_points().zip(words).map(|(entry, words)| Stage {
            stage: entry.stage,
            entry: entry.name.clone(),
            words: words.clone(),
        });
        let of = |stage| self.entry_points().find(move |entry| entry.stage == stage);
        let (vertex, fragment) = (of(ShaderStage::Vertex), of(ShaderStage::Fragment));
        let program = Program {
            module: &self.shader.module,
            stages: stages.collect(),
            bound: self.shader.bound(&self.entries),
            inputs: vertex.map_or_else(Vec::new, |entry| self.shader.inputs(entry)),
            outputs: fragment.map_or_else(Vec::new, |entry| self.shader.outputs(entry)),
            subgroup,
        };
        let executables = compiler.compile(&program);
        let executables =
            executables.map_err(|error| Error::Gpu(format!("{}: {error}", self.name())))?;
        let row = |entry: &EntryPoint| {
            let flags = stage_flags(entry.stage);
            let executable = executables.iter().find(|e| e.stages.contains(flags))?;
            let mut row = figures(&compiler.gpu, executable);
            row["file"] = json!(self.shader.path);
            row["entry"] = json!(entry.name);
            row["stage"] = json!(super::stage_name(entry.stage));
            Some(row)
        };
        Ok(self.entry_points().filter_map(row).collect())
    }
}
