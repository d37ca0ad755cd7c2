//! The LBVH over all meshes of a scene, regrown in one batch (Karras 2012).

use super::sort::{self, RadixSort, SortBuffers};
use crate::{
    Error, Result,
    gpu::{
        Gpu,
        layout::{BuildParams, LeafTriangle, MeshRange, Node, TlasEntry},
        pass,
        profiler::Scope,
    },
};

/// Compute dispatches of one build, for every scene.
pub const DISPATCHES: u32 =
    9 + sort::DISPATCHES_PER_DIGIT * (CODE_BITS.div_ceil(8) + MESH_BITS.div_ceil(8));

/// The first sort's key: a 30-bit code and the mesh's two lowest bits.
const CODE_BITS: u32 = 32;
/// The second sort's key: the rest of the mesh's number. `RadixSort::record` leaves out the digits that a scene's meshes do not need.
const MESH_BITS: u32 = 29;
/// Levels that one dispatch of `pyramid` adds.
const PYRAMID_STEP: u32 = 9;
/// Triangles that three such dispatches cover.
const TRIANGLE_LIMIT: u32 = 1 << (3 * PYRAMID_STEP);

/// Merged triangles in GPU memory, as the builder reads them. The buffers need `STORAGE`.
#[derive(Debug, Clone, Copy)]
pub struct Geometry<'a> {
    /// World positions, three `f32` a vertex.
    pub positions: &'a wgpu::Buffer,
    /// Triangle list with absolute vertex numbers, three `u32` a triangle. The caller has checked their range.
    pub indices: &'a wgpu::Buffer,
    /// Two `u32` a triangle: its mesh, with [`NEEDS_CONSENT`](crate::gpu::layout::NEEDS_CONSENT), and the caller's payload.
    pub triangle_info: &'a wgpu::Buffer,
    /// Where each mesh lies: triangles ascending and without gaps.
    pub meshes: &'a [MeshRange],
}

/// The build's pipelines.
#[derive(Debug)]
pub struct Lbvh {
    bounds: wgpu::ComputePipeline,
    morton: wgpu::ComputePipeline,
    sort: RadixSort,
    regroup: wgpu::ComputePipeline,
    leaves: wgpu::ComputePipeline,
    pyramid: wgpu::ComputePipeline,
    hierarchy: wgpu::ComputePipeline,
    tlas: wgpu::ComputePipeline,
}

/// A scene's trees, and what is needed to regrow them.
#[derive(Debug)]
pub struct Tree {
    /// [`TlasEntry`] per mesh.
    pub tlas: wgpu::Buffer,
    /// [`Node`] per triangle: those of a mesh begin at its first triangle, and its last place is unused.
    pub nodes: wgpu::Buffer,
    /// [`LeafTriangle`] in leaf order.
    pub triangles: wgpu::Buffer,
    triangle_count: u32,
    mesh_count: u32,
    mesh_bounds: wgpu::Buffer,
    codes: wgpu::Buffer,
    by_code: SortBuffers,
    by_mesh: SortBuffers,
    groups: Groups,
}

#[derive(Debug)]
struct Groups {
    bounds: wgpu::BindGroup,
    morton: wgpu::BindGroup,
    regroup: wgpu::BindGroup,
    leaves: wgpu::BindGroup,
    pyramid: [wgpu::BindGroup; 3],
    hierarchy: wgpu::BindGroup,
    tlas: wgpu::BindGroup,
}

impl Lbvh {
    /// Compiles every stage.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let pipeline =
            |name: &str, entry| pass::compute_pipeline(gpu, &format!("accel/{name}.wgsl"), entry);
        Ok(Self {
            bounds: pipeline("bounds", "bounds")?,
            morton: pipeline("morton", "morton")?,
            sort: RadixSort::new(gpu)?,
            regroup: pipeline("regroup", "regroup")?,
            leaves: pipeline("leaves", "leaves")?,
            pyramid: pipeline("pyramid", "pyramid_levels")?,
            hierarchy: pipeline("hierarchy", "hierarchy")?,
            tlas: pipeline("tlas", "tlas")?,
        })
    }

    /// Room for the trees of `geometry`; fails when the device's limits do not hold them.
    pub fn tree(&self, gpu: &Gpu, geometry: &Geometry<'_>) -> Result<Tree> {
        let triangle_count = geometry
            .meshes
            .last()
            .map_or(0, |mesh| mesh.first_triangle + mesh.triangle_count);
        let mesh_count = u32::try_from(geometry.meshes.len()).unwrap_or(u32::MAX);
        if triangle_count > TRIANGLE_LIMIT {
            let (needed, allowed) = (
                format!("{triangle_count} triangles"),
                format!("{TRIANGLE_LIMIT} triangles"),
            );
            return Err(Error::Limit {
                what: "the tree".into(),
                needed,
                allowed,
                by: "canopy's pyramid of boxes".into(),
            });
        }
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let buffer = |label: &str, count: u32, bytes: usize, usage| {
            let bytes = u64::from(count.max(1)) * bytes as u64;
            gpu.check_binding(&format!("{label} of {triangle_count} triangles"), bytes)?;
            Ok::<_, Error>(gpu.buffer(label, bytes, usage))
        };
        let (level_offset, box_count) = pyramid_levels(triangle_count);
        let params = BuildParams {
            triangle_count,
            mesh_count,
            _pad: [0; 2],
            level_offset,
        };
        let params = gpu.buffer_with("lbvh.params", &[params], wgpu::BufferUsages::UNIFORM);
        let mesh_bounds = buffer(
            "lbvh.mesh_bounds",
            mesh_count,
            24,
            storage | wgpu::BufferUsages::COPY_DST,
        )?;
        let codes = buffer("lbvh.codes", triangle_count, 4, storage)?;
        let sorted_codes = buffer("lbvh.sorted_codes", triangle_count, 4, storage)?;
        let pyramid = buffer("lbvh.pyramid", box_count, 24, storage)?;
        let nodes = buffer("lbvh.nodes", triangle_count, size_of::<Node>(), storage)?;
        let triangles = buffer(
            "lbvh.triangles",
            triangle_count,
            size_of::<LeafTriangle>(),
            storage,
        )?;
        let tlas = buffer("tlas", mesh_count, size_of::<TlasEntry>(), storage)?;
        let padded: &[MeshRange] = if geometry.meshes.is_empty() {
            &[MeshRange {
                first_triangle: 0,
                triangle_count: 0,
                first_vertex: 0,
            }]
        } else {
            geometry.meshes
        };
        let meshes = gpu.buffer_with("lbvh.meshes", padded, storage);

        let by_code = self.sort.buffers(gpu, triangle_count, CODE_BITS);
        let by_mesh = self.sort.buffers_for_values_of(gpu, &by_code, MESH_BITS);

        let bind =
            |label: &str, pipeline: &wgpu::ComputePipeline, entries: &[(u32, &wgpu::Buffer)]| {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(binding, buffer)| wgpu::BindGroupEntry {
                        binding: *binding,
                        resource: buffer.as_entire_binding(),
                    })
                    .collect();
                gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some(label),
                    layout: &pipeline.get_bind_group_layout(0),
                    entries: &entries,
                })
            };
        let (positions, indices, info) =
            (geometry.positions, geometry.indices, geometry.triangle_info);
        let base_level = |level: u32| {
            gpu.buffer_with(
                "pyramid.base_level",
                &[[level, 0, 0, 0]],
                wgpu::BufferUsages::UNIFORM,
            )
        };
        let pyramid_group = |step: u32| {
            bind(
                "pyramid",
                &self.pyramid,
                &[
                    (0, &params),
                    (4, &pyramid),
                    (5, &base_level(step * PYRAMID_STEP)),
                ],
            )
        };
        let groups = Groups {
            bounds: bind(
                "bounds",
                &self.bounds,
                &[
                    (0, &params),
                    (1, positions),
                    (2, indices),
                    (3, info),
                    (4, &mesh_bounds),
                ],
            ),
            morton: bind(
                "morton",
                &self.morton,
                &[
                    (0, &params),
                    (1, positions),
                    (2, indices),
                    (3, info),
                    (4, &mesh_bounds),
                    (5, &codes),
                    (6, &by_code.keys),
                    (7, &by_code.values),
                ],
            ),
            regroup: bind(
                "regroup",
                &self.regroup,
                &[
                    (0, &params),
                    (3, info),
                    (4, &by_code.values),
                    (5, &by_mesh.keys),
                ],
            ),
            leaves: bind(
                "leaves",
                &self.leaves,
                &[
                    (0, &params),
                    (1, positions),
                    (2, indices),
                    (3, info),
                    (4, &by_code.values),
                    (5, &codes),
                    (6, &pyramid),
                    (7, &triangles),
                    (8, &sorted_codes),
                ],
            ),
            pyramid: [pyramid_group(0), pyramid_group(1), pyramid_group(2)],
            hierarchy: bind(
                "hierarchy",
                &self.hierarchy,
                &[
                    (0, &params),
                    (4, &meshes),
                    (5, &sorted_codes),
                    (6, &triangles),
                    (7, &pyramid),
                    (8, &nodes),
                ],
            ),
            tlas: bind(
                "tlas",
                &self.tlas,
                &[(0, &params), (4, &meshes), (5, &pyramid), (6, &tlas)],
            ),
        };
        Ok(Tree {
            tlas,
            nodes,
            triangles,
            triangle_count,
            mesh_count,
            mesh_bounds,
            codes,
            by_code,
            by_mesh,
            groups,
        })
    }

    /// Regrows every tree from the positions as they stand: [`DISPATCHES`] dispatches, no readback, no wait.
    pub fn record(&self, scope: &mut Scope<'_>, tree: &Tree) {
        let mut scope = scope.scope("lbvh");
        scope.clear_buffer(&tree.mesh_bounds, 0, None);
        let per_triangle = tree.triangle_count.div_ceil(256);
        let stage = |scope: &mut Scope<'_>, name: &str, pipeline, group, groups| {
            let mut pass = scope.scoped_compute_pass(name);
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass::dispatch(&mut pass, groups);
        };
        stage(
            &mut scope,
            "bounds",
            &self.bounds,
            &tree.groups.bounds,
            per_triangle,
        );
        stage(
            &mut scope,
            "morton",
            &self.morton,
            &tree.groups.morton,
            per_triangle,
        );
        {
            let mut pass = scope.scoped_compute_pass("sort");
            self.sort.record(&mut pass, &tree.by_code, CODE_BITS);
            // Up to four meshes are told apart by the first sort.
            let mesh_bits =
                (u32::BITS - tree.mesh_count.saturating_sub(1).leading_zeros()).saturating_sub(2);
            pass.set_pipeline(&self.regroup);
            pass.set_bind_group(0, &tree.groups.regroup, &[]);
            pass::dispatch(&mut pass, if mesh_bits > 0 { per_triangle } else { 0 });
            self.sort.record(&mut pass, &tree.by_mesh, mesh_bits);
        }
        stage(
            &mut scope,
            "leaves",
            &self.leaves,
            &tree.groups.leaves,
            per_triangle,
        );
        {
            let mut pass = scope.scoped_compute_pass("pyramid");
            pass.set_pipeline(&self.pyramid);
            for (step, group) in (0..).zip(&tree.groups.pyramid) {
                let boxes = tree.triangle_count.div_ceil(1 << (step * PYRAMID_STEP));
                pass.set_bind_group(0, group, &[]);
                pass::dispatch(&mut pass, if boxes > 1 { boxes.div_ceil(512) } else { 0 });
            }
        }
        stage(
            &mut scope,
            "hierarchy",
            &self.hierarchy,
            &tree.groups.hierarchy,
            per_triangle,
        );
        stage(
            &mut scope,
            "tlas",
            &self.tlas,
            &tree.groups.tlas,
            tree.mesh_count.div_ceil(256),
        );
    }
}

impl Tree {
    /// Triangles in all trees.
    pub fn triangle_count(&self) -> u32 {
        self.triangle_count
    }

    /// Meshes, each with a tree.
    pub fn mesh_count(&self) -> u32 {
        self.mesh_count
    }

    /// The order of the triangles: place to number in the merged index buffer, one `u32` each.
    pub fn order(&self) -> &wgpu::Buffer {
        &self.by_code.values
    }

    /// Morton codes by triangle, one `u32` each.
    pub fn codes(&self) -> &wgpu::Buffer {
        &self.codes
    }

    /// Centroid bounds of each mesh: six `u32` as accel/bounds.wgsl encodes them.
    pub fn mesh_bounds(&self) -> &wgpu::Buffer {
        &self.mesh_bounds
    }

    /// The bindings of `common/bvh.wgsl`: TLAS, nodes, triangles.
    pub fn layout(gpu: &Gpu, visibility: wgpu::ShaderStages) -> wgpu::BindGroupLayout {
        pass::layout(gpu, "tree", &[(visibility, pass::Binding::Read); 3])
    }

    /// The bind group for [`Tree::layout`].
    pub fn bind_group(&self, gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> wgpu::BindGroup {
        pass::bind_group(
            gpu,
            "tree",
            layout,
            &[&self.tlas, &self.nodes, &self.triangles].map(wgpu::Buffer::as_entire_binding),
        )
    }
}

/// First box of each level over `leaves` leaves, and the number of boxes on all levels.
pub fn pyramid_levels(leaves: u32) -> ([[u32; 4]; 7], u32) {
    let mut offsets = [[0; 4]; 7];
    let mut total = 0;
    for level in 0..28 {
        offsets[level / 4][level % 4] = total;
        let boxes = leaves.div_ceil(1 << level);
        // The level of one box ends the pyramid; those above it are never read.
        if level == 0 || leaves.div_ceil(1 << (level - 1)) > 1 {
            total += boxes;
        }
    }
    (offsets, total)
}
