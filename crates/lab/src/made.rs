//! Acceleration structure over the triangles of a frame, before its layout for a traversal.

use super::{
    Structure, Triangle, Walk, binary_tree::BinaryTree, grid_build::GridBuild, layout::StructureData,
};
use canopy_bvh::{
    Error, Result,
    accel::{Codes, Geometry, Lbvh, MeshRange, Work, tree::Quality},
    gpu::{Gpu, profiler::Stopwatch},
};

/// Acceleration structure over triangles, before its layout for a traversal.
#[derive(Debug)]
pub struct BuiltStructure {
    /// Structure that was built. Trees have leaves of one triangle.
    form: Form,
    /// Build time in wall-clock milliseconds, without compiling kernels. The readback is excluded for a tree
    /// and included for a grid.
    pub build_ms: f64,
}

#[derive(Debug)]
enum Form {
    Tree(BinaryTree),
    Cells(StructureData),
}

impl BuiltStructure {
    /// Builds a structure over `triangles`, and blocks if the GPU builds it.
    ///
    /// # Errors
    ///
    /// * [`Error::Limit`] if the structure exceeds a limit of the device, or triangles overlap too many
    ///   cells.
    /// * [`Error::Argument`] without a triangle.
    /// * [`Error::Gpu`] if the device is lost.
    pub fn new(gpu: &Gpu, triangles: &[Triangle], structure: Structure) -> Result<Self> {
        if triangles.is_empty() {
            return Err(Error::Argument(
                "the laboratory needs at least one triangle".into(),
            ));
        }
        if let Some(quality) = structure.on_gpu() {
            return of_gpu(gpu, triangles, quality);
        }
        if let Some(two_level) = structure.grid_levels() {
            let build = GridBuild::new(gpu);
            build.compile(gpu)?;
            // Waits for earlier GPU work, which would count towards the build time.
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
                let missing = || {
                    Error::Argument(format!(
                        "{} has no builder; please report this bug",
                        structure.name()
                    ))
                };
                Form::Tree(structure.tree(triangles).ok_or_else(missing)?)
            }
        };
        let build_ms = clock.ms();
        Ok(Self { form, build_ms })
    }

    /// Lays the structure out for `walk`. Trees get leaves of up to `leaf` triangles.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] if the walk cannot traverse the structure, and [`Error::Limit`] if it has more
    /// triangles than references can address.
    pub fn laid_out(&self, walk: Walk, leaf: u32) -> Result<StructureData> {
        let built = match &self.form {
            Form::Tree(tree) => tree.with_leaves(leaf).laid_out(walk.layout())?,
            Form::Cells(cells) => Some(cells.clone()),
        };
        built.ok_or_else(|| {
            let walk = walk.name();
            Error::Argument(format!("the traversal {walk} does not support this structure"))
        })
    }
}

/// Builds one of canopy's trees over all triangles as one mesh.
fn of_gpu(gpu: &Gpu, triangles: &[Triangle], quality: Quality) -> Result<BuiltStructure> {
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
    // Waits for earlier GPU work, which would count towards the build time.
    gpu.wait()?;
    let clock = Stopwatch::new();
    gpu.queue.submit([commands]);
    gpu.wait()?;
    let build_ms = clock.ms();
    let form = Form::Tree(BinaryTree::from_data(&tree.read(gpu)?, triangles)?);
    Ok(BuiltStructure { form, build_ms })
}
