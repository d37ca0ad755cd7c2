//! A structure over the triangles of a moment, before it is laid out for a walk.

use super::{Structure, Triangle, Walk, binary_tree::BinaryTree, grid_build::GridBuild, layout::Built};
use canopy_bvh::{
    Error, Result,
    accel::{Codes, Geometry, Lbvh, MeshRange, Work, tree::Quality},
    gpu::{Gpu, profiler::Stopwatch},
};

/// A structure over triangles, before it is laid out for a walk.
#[derive(Debug)]
pub struct Made {
    /// What was built, down to leaves of one triangle where it is a tree.
    form: Form,
    /// Milliseconds by the clock, without compiling kernels and without reading a tree back; a grid is read back within.
    pub build_ms: f64,
}

#[derive(Debug)]
enum Form {
    Tree(BinaryTree),
    Cells(Built),
}

impl Made {
    /// Builds a structure over `triangles`, and waits for the GPU where that does.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device does not hold it, or where triangles lie in too many cells;
    /// [`Error::Argument`] without a triangle; [`Error::Gpu`] where the device is lost.
    pub fn new(gpu: &Gpu, triangles: &[Triangle], structure: Structure) -> Result<Self> {
        if triangles.is_empty() {
            return Err(Error::Argument("the laboratory needs a triangle".into()));
        }
        if let Some(quality) = structure.on_gpu() {
            return of_gpu(gpu, triangles, quality);
        }
        if let Some(two_level) = structure.grid_levels() {
            let build = GridBuild::new(gpu);
            build.compile(gpu)?;
            // What is under way belongs to others.
            gpu.wait()?;
            let clock = Stopwatch::new();
            let form = Form::Cells(build.run(gpu, triangles, two_level)?);
            let build_ms = clock.ms();
            return Ok(Self { form, build_ms });
        }
        let clock = Stopwatch::new();
        let form = match structure.cells(triangles)? {
            Some(cells) => Form::Cells(cells),
            None => {
                let missing =
                    || Error::Argument(format!("{} has no builder; please report this", structure.name()));
                Form::Tree(structure.tree(triangles).ok_or_else(missing)?)
            }
        };
        let build_ms = clock.ms();
        Ok(Self { form, build_ms })
    }

    /// As `walk` reads it, with leaves of up to `leaf` triangles where it is a tree.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] where the walk does not go through it; [`Error::Limit`] for more triangles than
    /// references reach.
    pub fn laid_out(&self, walk: Walk, leaf: u32) -> Result<Built> {
        let built = match &self.form {
            Form::Tree(tree) => tree.with_leaves(leaf).laid_out(walk.layout())?,
            Form::Cells(cells) => Some(cells.clone()),
        };
        built.ok_or_else(|| {
            let walk = walk.name();
            Error::Argument(format!("the walk {walk} does not go through this structure"))
        })
    }
}

/// A tree of canopy's own, over all triangles as one mesh.
fn of_gpu(gpu: &Gpu, triangles: &[Triangle], quality: Quality) -> Result<Made> {
    let count = triangles.len() as u32;
    let indices: Vec<u32> = (0..3 * count).collect();
    for (what, bytes) in [
        ("positions", size_of_val(triangles)),
        ("indices", size_of_val(indices.as_slice())),
    ] {
        gpu.check_binding(&format!("the laboratory's {what}"), bytes as u64)?;
    }
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let (positions, indices) = gpu.catch(|| {
        (
            gpu.buffer_with("lab.positions", triangles, usage),
            gpu.buffer_with("lab.indices", &indices, usage),
        )
    })?;
    let geometry = Geometry {
        positions: &positions,
        indices: &indices,
        meshes: &[MeshRange {
            triangle_count: count,
            ..MeshRange::default()
        }],
        triangle_info: None,
    };
    let lbvh = Lbvh::with_quality(gpu, quality);
    let mut tree = lbvh.tree(gpu, &geometry, Codes::Bits30)?;
    let mut encoder = gpu.encoder("lab.tree");
    lbvh.record(gpu, &mut encoder, &mut tree, Work::Rebuild)?;
    let commands = encoder.finish();
    // What is under way belongs to others.
    gpu.wait()?;
    let clock = Stopwatch::new();
    gpu.queue.submit([commands]);
    gpu.wait()?;
    let build_ms = clock.ms();
    let form = Form::Tree(BinaryTree::of(&tree.read(gpu)?, triangles)?);
    Ok(Made { form, build_ms })
}
