//! `canopy shaders --isa`: compiles entry points with a GPU's shader compiler, without the GPU.

mod compiler;
mod figures;
mod gpus;
mod loops;
mod workers;

use self::{
    compiler::{Compiler, DEFAULT_SUBGROUP, Program, Stage, stage_flags},
    figures::{figures, report, table},
    gpus::Target,
    workers::{Role, Workers},
};
use super::{
    args::{IsaArgs, ShadersArgs},
    named::{candidates, nothing_named},
    spirv::{self, Constants},
};
use crate::{
    Error, Result,
    cli::{
        console::{json_text, print},
        reflected::{Reflected, stage_name},
    },
    gpu::{ShaderChoices, shader::Composed},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wgpu::naga::{EntryPoint, Override, ScalarKind, ShaderStage, TypeInner};

/// Compiles the shaders that `args` name, and prints a row for each entry point.
///
/// # Errors
///
/// [`Error::NotFound`] if no driver compiles for the GPU or no shader matches, [`Error::Gpu`] if a driver
/// fails.
pub(super) fn run(args: &ShadersArgs, choices: ShaderChoices) -> Result<()> {
    let role = Role::of_process()?;
    if let Some(Role::Probe { gpu }) = &role {
        return probe(gpu);
    }
    let files = candidates(choices, &args.names);
    let files = files.map(|(path, composed)| Ok((path, composed?)));
    let files: Vec<_> = files.collect::<Result<_>>()?;
    if let Some(Role::Part { gpu, index, count }) = &role {
        let part = files.into_iter().enumerate().skip(*index).step_by(*count);
        return compile(args, gpu, part);
    }
    let is_known = |name: &str| {
        let declaration = format!("override {name}:");
        files
            .iter()
            .any(|(_, composed)| composed.text.contains(&declaration))
    };
    if let Some((name, _)) = args.isa.constant.iter().find(|(name, _)| !is_known(name)) {
        let what = format!("none of the selected shaders has a constant {name}");
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
    /// Indices of its entry points: a compute entry point, or a vertex entry point with an optional fragment
    /// entry point.
    entries: Vec<usize>,
    /// Indices of the entry points that get rows. A vertex entry point gets a row with the first fragment
    /// entry point that it feeds.
    rows: Vec<usize>,
}

/// Returns the pipelines of a shader that match one of the names.
fn jobs<'a>(shader: &'a Reflected, names: &[String]) -> Result<Vec<Job<'a>>> {
    let mut jobs = Vec::new();
    let mut vertices = BTreeSet::new();
    for (index, entry) in shader.module.entry_points.iter().enumerate() {
        let entries = match entry.stage {
            ShaderStage::Fragment => vec![shader.vertex_for(entry)?, index],
            ShaderStage::Vertex if !shader.only_has_vertices() => continue,
            _ => vec![index],
        };
        let rows = entries.iter().copied();
        let rows = rows.filter(|row| *row == index || vertices.insert(*row));
        let rows = rows.collect();
        let job = Job {
            shader,
            entries,
            rows,
        };
        if shader.has_named(job.entry_points(), names) {
            jobs.push(job);
        }
    }
    Ok(jobs)
}

/// Prints the names of the GPU and of the driver, as the driver reports them.
fn probe(gpu: &str) -> Result<()> {
    let compiler = Compiler::open(gpu)?;
    print_line(&json!({"gpu": compiler.gpu, "driver": compiler.driver}))
}

/// Compiles files, and prints a line of JSON for each row of the report.
fn compile(
    args: &ShadersArgs,
    gpu: &str,
    files: impl Iterator<Item = (usize, (&'static str, Composed))>,
) -> Result<()> {
    let compiler = Compiler::open(gpu)?;
    for (at, (path, composed)) in files {
        let shader = Reflected::of(path, composed)?;
        for mut job in jobs(&shader, &args.names)? {
            print_line(&json!({"compiles": job.name()}))?;
            let mut before = Vec::new();
            // Pipelines that draw surfaces keep the defaults of their constants, which are all true.
            let draws_surfaces = job.entry_points().any(|entry| entry.name == "merged_vertex");
            let switches: &[f64] = if draws_surfaces { &[1.0] } else { &[0.0, 1.0] };
            for switches in switches {
                let constants = job.constants(&args.isa, *switches);
                let words = job.entry_points();
                let words = words.map(|entry| spirv::words(&shader, entry, &constants));
                let words = words.collect::<Result<Vec<_>>>()?;
                if words == before {
                    continue;
                }
                for mut row in job.compile(&compiler, args.isa.subgroup, &words)? {
                    row["at"] = json!(at);
                    row["constants"] = json!(constants.iter().cloned().collect::<BTreeMap<_, _>>());
                    print_line(&row)?;
                }
                job.rows
                    .retain(|row| shader.module.entry_points[*row].stage != ShaderStage::Vertex);
                before = words;
            }
        }
    }
    Ok(())
}

/// Prints a line that the parent process reads.
fn print_line(value: &Value) -> Result<()> {
    print(&format!("{value}\n"))
}

impl Job<'_> {
    fn entry_points(&self) -> impl Iterator<Item = &EntryPoint> {
        let all = &self.shader.module.entry_points;
        self.entries.iter().map(|index| &all[*index])
    }

    fn name(&self) -> String {
        let entries: Vec<_> = self.entry_points().map(|entry| entry.name.as_str()).collect();
        format!("{} {}", self.shader.path, entries.join(" "))
    }

    /// Returns the values of overrides: the given ones, and `switches` for all other `bool`s. Numbers keep
    /// their defaults.
    fn constants(&self, args: &IsaArgs, switches: f64) -> Constants {
        let module = &self.shader.module;
        let value = |constant: &Override| {
            let name = constant.name.clone()?;
            let given = args.constant.iter().find(|(given, _)| *given == name);
            let value = match (given, &module.types[constant.ty].inner) {
                (Some((_, given)), _) => *given,
                (None, TypeInner::Scalar(scalar)) if scalar.kind == ScalarKind::Bool => switches,
                // `MIN_SUBGROUP` sizes workgroup memory.
                _ if name == "MIN_SUBGROUP" => args.subgroup.unwrap_or(DEFAULT_SUBGROUP).into(),
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

    /// Compiles the pipeline and returns the rows of its stages.
    fn compile(&self, compiler: &Compiler, subgroup: Option<u32>, words: &[Vec<u32>]) -> Result<Vec<Value>> {
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
        let executables = executables.map_err(|error| Error::Gpu(format!("{}: {error}", self.name())))?;
        let row = |entry: &EntryPoint| {
            let flags = stage_flags(entry.stage);
            let executable = executables.iter().find(|e| e.stages.contains(flags))?;
            let mut row = figures(&compiler.gpu, executable);
            row["file"] = json!(self.shader.path);
            row["entry"] = json!(entry.name);
            row["stage"] = json!(stage_name(entry.stage));
            Some(row)
        };
        let all = &self.shader.module.entry_points;
        Ok(self.rows.iter().filter_map(|index| row(&all[*index])).collect())
    }
}
