//! What a suite measures: files, the built-in scene, generated triangles.

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

/// Meshes of `--kind meshes` where `--meshes` is not given.
const MESHES: u32 = 1000;

/// Something to measure.
#[derive(Debug, Clone)]
pub(super) enum Workload {
    /// Files that make one scene.
    Files(Vec<PathBuf>),
    /// The built-in scene.
    Builtin,
    /// Generated triangles.
    Generated {
        /// Their kind.
        kind: TriangleKind,
        /// Their number.
        triangles: u32,
        /// Meshes of [`TriangleKind::Meshes`].
        meshes: u32,
        /// Seed of their generator.
        seed: u64,
    },
}

/// What a suite measures if the command line names nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct DefaultWorkloads<'a> {
    /// Whether the built-in scene is measured.
    pub(super) builtin: bool,
    /// The kinds of generated triangles that are measured.
    pub(super) kinds: &'a [TriangleKind],
    /// Sizes for [`TriangleKind::Soup`].
    pub(super) soup: &'a [u32],
    /// Sizes for all other kinds.
    pub(super) others: &'a [u32],
}

/// The workloads that `args` name. Files and options of generated triangles each add theirs; without both
/// these are the defaults.
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
    /// Name of its runs.
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

    /// A run with what is known before the measurement.
    pub(super) fn run(&self) -> Run {
        let mut run = Run::new(json!({"name": self.name()}));
        if let Self::Generated { triangles, .. } = self {
            run.set("triangles", *triangles);
        }
        run
    }

    /// Fails if the adapter cannot bind the trees, so that nothing too large is generated.
    pub(super) fn check(&self, gpu: &Gpu) -> Result<()> {
        let Self::Generated { triangles, .. } = self else {
            return Ok(());
        };
        let bytes = size_of::<Node>().max(size_of::<LeafTriangle>()) as u64;
        Ok(gpu.check_binding("the trees", u64::from(*triangles) * bytes)?)
    }

    /// Its triangles, if they are generated.
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

    /// Uploads the scene to a device of its own, with the view of `canopy render`.
    ///
    /// # Errors
    ///
    /// Those of loading and uploading, and [`Error::Gpu`](crate::Error::Gpu) for an adapter without
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

/// The merged triangles of the last frame, with their materials.
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
