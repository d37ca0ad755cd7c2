//! What a suite is asked to measure: files, the built-in scene, generated triangles.

use super::{
    BenchArgs,
    inputs::{self, Input, Kind},
    report::Run,
};
use crate::{
    Result,
    accel::layout::{LeafTriangle, Node},
    config::Config,
    gpu::Gpu,
    scene::{self, Progress, Scene},
};
use serde_json::json;
use std::path::PathBuf;

/// Meshes of `--kind meshes` where `--meshes` is not given.
const MESHES: u32 = 1000;

/// One thing to measure.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Files that make one scene.
    Files(Vec<PathBuf>),
    /// The built-in scene.
    Builtin,
    /// Generated triangles.
    Generated {
        /// What they are like.
        kind: Kind,
        /// How many.
        triangles: u32,
        /// Meshes of [`Kind::Meshes`].
        meshes: u32,
        /// Seed.
        seed: u64,
    },
}

/// What is measured where the command line leaves it open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defaults<'a> {
    /// Whether the built-in scene is, where nothing is asked for.
    pub(super) builtin: bool,
    /// The kinds that are, where nothing is asked for.
    pub(super) kinds: &'a [Kind],
    /// Sizes for [`Kind::Soup`].
    pub(super) soup: &'a [u32],
    /// Sizes for all other kinds.
    pub(super) others: &'a [u32],
}

/// What `args` ask for. FILEs and options of generated inputs each add theirs; with neither, the defaults.
pub(super) fn sources(args: &BenchArgs, defaults: Defaults<'_>) -> Vec<Source> {
    let mut sources = Vec::new();
    let kinds = match (args.generates(), args.kind.as_slice()) {
        (true, []) => &Kind::ALL,
        (true, kinds) => kinds,
        (false, _) if args.files.is_empty() => defaults.kinds,
        (false, _) => &[],
    };
    if !args.files.is_empty() {
        sources.push(Source::Files(args.files.clone()));
    } else if !args.generates() && defaults.builtin {
        sources.push(Source::Builtin);
    }
    for kind in kinds {
        let sizes = match (args.triangles.as_slice(), kind) {
            ([], Kind::Soup) => defaults.soup,
            ([], _) => defaults.others,
            (sizes, _) => sizes,
        };
        sources.extend(sizes.iter().map(|triangles| Source::Generated {
            kind: *kind,
            triangles: *triangles,
            meshes: args.meshes.unwrap_or(MESHES),
            seed: args.seed,
        }));
    }
    sources
}

impl Source {
    /// The name of its runs.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Files(files) => {
                let stem = |file: &PathBuf| {
                    file.file_name().map_or_else(
                        || file.display().to_string(),
                        |n| n.to_string_lossy().into(),
                    )
                };
                files.iter().map(stem).collect::<Vec<String>>().join(" + ")
            }
            Self::Builtin => "builtin".into(),
            Self::Generated { kind, .. } => kind.name().into(),
        }
    }

    /// A run of it with what is known before it is measured.
    pub(super) fn run(&self) -> Run {
        let mut run = Run::new(json!({"name": self.name()}));
        if let Self::Generated { triangles, .. } = self {
            run.set("triangles", *triangles);
        }
        run
    }

    /// Fails when the adapter does not even bind what its tree consists of, so that nothing too large is generated.
    pub(super) fn check(&self, gpu: &Gpu) -> Result<()> {
        let Self::Generated { triangles, .. } = self else {
            return Ok(());
        };
        let bytes = size_of::<Node>().max(size_of::<LeafTriangle>()) as u64;
        gpu.check_binding("the trees", u64::from(*triangles) * bytes)
    }

    /// Its triangles, where they need no renderer to come about.
    pub(super) fn generate(&self) -> Option<Input> {
        match *self {
            Self::Generated {
                kind,
                triangles,
                meshes,
                seed,
            } => Some(inputs::generate(kind, triangles, meshes, seed)),
            Self::Files(_) | Self::Builtin => None,
        }
    }

    /// As a scene.
    pub(super) fn scene(&self, config: &Config) -> Result<Scene> {
        let files = match self {
            Self::Files(files) => files.as_slice(),
            Self::Builtin | Self::Generated { .. } => &[],
        };
        match self.generate() {
            Some(input) => Ok(input.scene()),
            None => scene::load(files, &config.load, &Progress::default()),
        }
    }
}
