//! Workloads of a suite: files, the built-in scene and generated triangles.

use super::{
    args::BenchArgs,
    inputs::{self, Input, TriangleKind},
    report::Run,
    timing::check_timestamps,
};
use crate::{
    Result,
    accel::{
        MeshRange,
        layout::{LeafTriangle, Node},
    },
    cli::offscreen::Offscreen,
    config::Config,
    gpu::Gpu,
    render::materials::material_textures::texture_support,
    scene::{
        Progress,
        framing::Look,
        opened::{OpenedScene, Span},
    },
};

use serde_json::json;
use std::path::PathBuf;

/// Number of meshes of `--kind meshes` without `--meshes`.
const MESHES: u32 = 1000;

/// An input to measure.
#[derive(Debug, Clone)]
pub(super) enum Workload {
    /// Files, merged into one scene.
    Files(Vec<PathBuf>),
    /// The built-in scene.
    Builtin,
    /// Generated triangles.
    Generated {
        /// Kind of the triangles.
        kind: TriangleKind,
        /// Number of triangles.
        triangles: u32,
        /// Number of meshes of [`TriangleKind::Meshes`].
        meshes: u32,
        /// Seed of the generator.
        seed: u64,
    },
}

/// Default workloads of a suite.
#[derive(Debug, Clone, Copy)]
pub(super) struct DefaultWorkloads<'a> {
    /// True if the built-in scene is included.
    pub(super) builtin: bool,
    /// Kinds of generated triangles.
    pub(super) kinds: &'a [TriangleKind],
    /// Sizes for [`TriangleKind::Soup`].
    pub(super) soup: &'a [u32],
    /// Sizes for all other kinds.
    pub(super) others: &'a [u32],
}

/// Returns the workloads that `args` select. Files and generated triangles are both added. Without either,
/// returns the defaults.
pub(super) fn workloads(args: &BenchArgs, defaults: DefaultWorkloads<'_>) -> Vec<Workload> {
    let mut workloads = Vec::new();
    let kinds = match (args.generates(), args.kind.as_slice()) {
        (true, []) => &TriangleKind::ALL,
        (true, kinds) => kinds,
        (false, _) if args.files.is_empty() => defaults.kinds,
        (false, _) => &[],
    };
    if !args.files.is_empty() {
        workloads.push(Workload::Files(args.files.clone()));
    } else if !args.generates() && defaults.builtin {
        workloads.push(Workload::Builtin);
    }
    for kind in kinds {
        let sizes = match (args.triangles.as_slice(), kind) {
            ([], TriangleKind::Soup) => defaults.soup,
            ([], _) => defaults.others,
            (sizes, _) => sizes,
        };
        workloads.extend(sizes.iter().map(|triangles| Workload::Generated {
            kind: *kind,
            triangles: *triangles,
            meshes: args.meshes.unwrap_or(MESHES),
            seed: args.seed,
        }));
    }
    workloads
}

impl Workload {
    /// Returns the name of its runs.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Files(files) => {
                let stem = |file: &PathBuf| {
                    file.file_name()
                        .map_or_else(|| file.display().to_string(), |n| n.to_string_lossy().into())
                };
                files.iter().map(stem).collect::<Vec<String>>().join(" + ")
            }
            Self::Builtin => "builtin".into(),
            Self::Generated { kind, .. } => kind.name().into(),
        }
    }

    /// Creates a run with the fields that are known before the measurement.
    pub(super) fn run(&self) -> Run {
        let mut run = Run::new(json!({"name": self.name()}));
        if let Self::Generated { triangles, .. } = self {
            run.set("triangles", *triangles);
        }
        run
    }

    /// Fails if the adapter cannot bind the BVHs of generated triangles. Call it before they are generated.
    pub(super) fn check(&self, gpu: &Gpu) -> Result<()> {
        let Self::Generated { triangles, .. } = self else {
            return Ok(());
        };
        let bytes = size_of::<Node>().max(size_of::<LeafTriangle>()) as u64;
        Ok(gpu.check_binding("the BVHs", u64::from(*triangles) * bytes)?)
    }

    /// Generates its triangles, if it is of that kind.
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

    /// Uploads the scene to a separate device, with the view of `canopy render`.
    ///
    /// # Errors
    ///
    /// Any error of loading and uploading, and [`Error::Gpu`](crate::Error::Gpu) if the adapter has no
    /// timestamps.
    pub(super) fn open(&self, config: &Config, size: [u32; 2]) -> Result<Offscreen> {
        let mut config = config.clone();
        config.output.size = size;
        let gpu = crate::device::open(&config.gpu)?;
        check_timestamps(&gpu)?;
        let files = match self {
            Self::Files(files) => files.as_slice(),
            Self::Builtin | Self::Generated { .. } => &[],
        };
        let opened = match self.generate() {
            Some(input) => OpenedScene::new(input.scene(), &config, Span::MOMENT),
            None => {
                let (support, progress) = (texture_support(&gpu), Progress::default());
                OpenedScene::load(files, &config, support, Span::MOMENT, &progress)?
            }
        };
        Offscreen::new(gpu, opened.checked()?, &Look::default(), config)
    }
}

/// Reads back the merged triangles of the last frame, with their materials.
pub(super) fn triangles(offscreen: &Offscreen) -> Result<Input> {
    let merged = offscreen.merged()?;
    let meshes: Vec<MeshRange> = offscreen.meshes().to_vec();
    let info_of = |(number, mesh): (usize, &MeshRange)| {
        let first = mesh.first_triangle as usize;
        let materials = &merged.materials[first..first + mesh.triangle_count as usize];
        let info: Vec<_> = materials.iter().map(|m| [number as u32, *m]).collect();
        info
    };
    Ok(Input {
        positions: merged.positions.iter().map(|p| p.to_array()).collect(),
        indices: merged.indices,
        triangle_info: meshes.iter().enumerate().flat_map(info_of).collect(),
        meshes,
    })
}
