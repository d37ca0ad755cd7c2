//! Wavefront path tracer. `path_generate`, `path_trace`, `path_sort`, `path_shade` and `path_shadow` advance
//! all paths of a slice of the picture from surface to surface.

use super::path_table::{PATH_DIRECT, PATH_DIRECT_ROW, PATH_PARTS, PathTable, path_parts};
use crate::{
    bindings::Layouts,
    frame::{ray_list::entries, recording::Recording, slices::slices},
    layout::{HitRange, PathStage, RAY_BLOCK, REFLECTION_BINS},
    world::World,
};
use canopy_bvh::{
    Result,
    accel::layout::{SORT_BLOCK, SORT_ROUNDS, SortParams},
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Uniform, UniformArray, Variants, Workgroups,
        pass::Binding::{self, Read, Store, Uint, Uniform as OfUniform, Write},
    },
};
use std::num::NonZeroU64;
use wgpu::{BufferUsages as Buffer, TextureFormat as Format};

/// Maximum number of paths in flight, whose state takes 52 MiB.
const MAX_PATHS: u32 = 1 << 18;
/// Size of a path's state in bytes.
pub const PATH_BYTES: u64 = 16 * (PATH_DIRECT_ROW + 2 * PATH_DIRECT) as u64;

const ROWS: Buffer = Buffer::STORAGE.union(Buffer::COPY_SRC);

/// Kernels and their shared path state.
#[derive(Debug)]
pub struct PathStages {
    generate: Kernel,
    trace: Variants<1>,
    count: Kernel,
    scan: Kernel,
    ranges: Kernel,
    scatter: Kernel,
    shade: Variants<{ PATH_PARTS.len() }>,
    shadow: Variants<1>,
    finish: Kernel,
    sort_params: Uniform<SortParams>,
    /// Uniforms for each surface and each of its kinds of shadow rays.
    stages: UniformArray<PathStage>,
    rows: wgpu::Buffer,
    counts: wgpu::Buffer,
    /// Active paths of the current surface and of the next.
    lists: [PathList; 2],
    key: BufferKey,
}

/// Indices of paths, and their ranges.
#[derive(Debug)]
struct PathList {
    entries: GpuImage,
    ranges: wgpu::Buffer,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct BufferKey {
    capacity: u32,
    surfaces: u32,
    bins: u32,
}

impl PathStages {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let sample = Store(Format::Rgba32Float);
        let list = Store(Format::R32Uint);
        let frame = (0, &layouts.frame);
        let scene = (2, &layouts.scene);
        let head = [OfUniform, OfUniform, OfUniform, Write];
        let with = |rest: &[Binding]| [&head, rest].concat();
        let own = with(&[Write, list, sample]);
        let ends = |entry| Kernel::new(gpu, "path/path_generate.wgsl", entry, &[frame], &own);
        let sort = |entry| {
            let own = [
                OfUniform, OfUniform, Write, OfUniform, Uint, Read, Write, Write, list,
            ];
            Kernel::new(gpu, "path/path_sort.wgsl", entry, &[], &own)
        };
        let listed = with(&[OfUniform, Uint]);
        let rays = |path, entry| layouts.ray_kernels(gpu, path, entry, &listed);
        let key = BufferKey {
            capacity: 1,
            surfaces: 1,
            bins: 1,
        };
        Ok(Self {
            generate: ends("path_generate"),
            trace: rays("path/path_trace.wgsl", "path_trace"),
            count: sort("path_count_hits"),
            scan: sort("path_scan_hits"),
            ranges: sort("path_ranges_of_hits"),
            scatter: sort("path_scatter_hits"),
            shade: Variants::new(PATH_PARTS, |constants| {
                let (path, shared) = ("path/path_shade.wgsl", [frame, scene]);
                let own = with(&[OfUniform, Uint, PathTable::BINDING]);
                Kernel::with_constants(gpu, path, "path_shade", &shared, &own, constants)
            }),
            shadow: rays("path/path_shadow.wgsl", "path_shadow"),
            finish: ends("path_finish"),
            sort_params: Uniform::new(gpu, "path_sort"),
            stages: UniformArray::new(gpu, "path_stages", std::iter::empty())?,
            rows: gpu.buffer("path.rows", PATH_BYTES, ROWS),
            counts: gpu.buffer("path.counts", 4, Buffer::STORAGE),
            lists: [(); 2].map(|()| PathList::new(gpu, 1)),
            key,
        })
    }

    /// Traces a path for each pixel into `sample`. `params` has the sample's index and the layout of `table`.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        params: &dyn Bind,
        table: &PathTable,
        sample: &GpuImage,
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let gpu = recording.gpu;
        let most = recording.budget.pixels().min(MAX_PATHS);
        self.fit(gpu, world, most)?;
        let shared = [
            (0, &frame.group),
            (1, trees.rays(recording)?),
            (2, geometry.group),
        ];
        let seen = [shared[0], shared[2]];
        let bins = &geometry.buffers.materials.hits.bins;
        let tests_hits = [geometry.buffers.tests_hits(gpu)];
        let (trace, shadow) = (self.trace.get(tests_hits), self.shadow.get(tests_hits));
        let shade = self.shade.get(path_parts(&frame.config, geometry.buffers));
        let mut asking = vec![];
        if !frame.lights.is_empty() {
            asking.push(0);
        }
        asking.push(1);
        if table.parts.emitter_count > 0 {
            asking.push(2);
        }
        for [row_offset, rows] in slices(frame.size, most) {
            let row_offset = recording.row_offset(row_offset);
            let paths = frame.size[0].div_ceil(8) * rows.div_ceil(8) * 64;
            let all = Workgroups::Count(paths.div_ceil(RAY_BLOCK));
            let blocks = Workgroups::Count(self.blocks());
            let stage = |surface: u32, ray: u32| self.stages.at((surface * PATH_DIRECT + ray) as usize);
            let first = stage(0, 0);
            let ends: &[&dyn Bind] = &[
                &row_offset,
                &first,
                params,
                &self.rows,
                &self.lists[0].ranges,
                &self.lists[0].entries,
                sample,
            ];
            recording.dispatch("path_generate", &self.generate, &seen[..1], ends, all)?;
            for surface in 0..self.key.surfaces {
                let now = &self.lists[surface as usize % 2];
                let next = &self.lists[(surface as usize + 1) % 2];
                let of_surface = stage(surface, 0);
                let counted = now.counted();
                let own: &[&dyn Bind] = &[
                    &row_offset,
                    &of_surface,
                    params,
                    &self.rows,
                    &counted,
                    &now.entries,
                ];
                recording.dispatch("path_trace", trace, &shared, own, now.workgroups())?;

                let own: &[&dyn Bind] = &[
                    &self.sort_params,
                    &of_surface,
                    &self.rows,
                    &counted,
                    &now.entries,
                    bins,
                    &self.counts,
                    &next.ranges,
                    &next.entries,
                ];
                let group = self.count.bind(gpu, own);
                let mut pass = recording.scope.scoped_compute_pass("path_sort");
                for (kernel, workgroups) in [
                    (&self.count, blocks),
                    (&self.scan, Workgroups::Count(self.key.bins)),
                    (&self.ranges, Workgroups::Count(1)),
                    (&self.scatter, blocks),
                ] {
                    kernel.dispatch_bound(gpu, &mut pass, &[], &group, workgroups)?;
                }
                drop(pass);

                let counted = next.counted();
                let own: &[&dyn Bind] = &[
                    &row_offset,
                    &of_surface,
                    params,
                    &self.rows,
                    &counted,
                    &next.entries,
                    &table.buffer,
                ];
                recording.dispatch("path_shade", shade, &seen, own, next.workgroups())?;
                if surface + 1 == self.key.surfaces {
                    // The last surface casts no shadow rays.
                    break;
                }
                let mut pass = recording.scope.scoped_compute_pass("path_shadow");
                for ray in &asking {
                    let of_ray = stage(surface, *ray);
                    let own: &[&dyn Bind] =
                        &[&row_offset, &of_ray, params, &self.rows, &counted, &next.entries];
                    shadow.dispatch(gpu, &mut pass, &shared, own, next.workgroups())?;
                }
                drop(pass);
                recording.split("path_shadow");
            }
            recording.dispatch("path_finish", &self.finish, &seen[..1], ends, all)?;
        }
        Ok(())
    }

    /// Returns the number of continuation rays of each path in the last slice, including the ray from the
    /// eye. The paths are in the order of their indices, which is by tiles of 8 × 8 pixels. Blocks until the
    /// readback arrives.
    pub fn lengths(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        let capacity = self.key.capacity as usize;
        let rows: Vec<[u32; 4]> = gpu.read_first(&self.rows, 2 * capacity)?;
        Ok(rows[capacity..].iter().map(|row| row[0]).collect())
    }

    /// Returns the number of blocks of the sort.
    fn blocks(&self) -> u32 {
        self.key.capacity.div_ceil(SORT_BLOCK * SORT_ROUNDS)
    }

    fn fit(&mut self, gpu: &Gpu, world: World<'_>, most: u32) -> Result<()> {
        let World { frame, geometry, .. } = world;
        let rows = slices(frame.size, most).map(|[_, rows]| rows.div_ceil(8));
        let tiles = frame.size[0].div_ceil(8) * rows.max().unwrap_or(1);
        let settings = &frame.config.paths;
        let key = BufferKey {
            capacity: (64 * tiles).max(1),
            surfaces: settings.bounces + 1,
            bins: match settings.sort {
                true => geometry.buffers.materials.hits.bin_count(),
                false => 1,
            },
        };
        if self.key == key {
            return Ok(());
        }
        let capacity = key.capacity;
        let bytes = PATH_BYTES * u64::from(capacity);
        gpu.check_binding(&format!("{capacity} paths at once"), bytes)?;
        if self.key.capacity != capacity {
            self.rows = gpu.buffer("path.rows", bytes, ROWS);
            self.lists = [(); 2].map(|()| PathList::new(gpu, capacity));
        }
        self.key = key;
        let blocks = self.blocks();
        let counts = 4 * u64::from(blocks * REFLECTION_BINS);
        self.counts = gpu.buffer("path.counts", counts, Buffer::STORAGE);
        let sort = SortParams {
            count: capacity,
            block_count: blocks,
            ..SortParams::default()
        };
        self.sort_params.write(gpu, &sort);
        let stages: Vec<_> = (0..key.surfaces)
            .flat_map(|bounce| (1..=PATH_DIRECT).map(move |ray| (bounce, ray)))
            .map(|(bounce, ray)| PathStage {
                bounce,
                ray,
                capacity,
                bins: key.bins,
            })
            .collect();
        self.stages.write_all(gpu, "path_stages", &stages)
    }
}

impl PathList {
    fn new(gpu: &Gpu, capacity: u32) -> Self {
        let bytes = u64::from(REFLECTION_BINS + 1) * size_of::<HitRange>() as u64;
        let both = Buffer::STORAGE | Buffer::UNIFORM | Buffer::INDIRECT;
        Self {
            entries: entries(gpu, "path.list", capacity),
            ranges: gpu.buffer("path.ranges", bytes, both),
        }
    }

    /// Returns the binding of the ranges, from which kernels read the number of paths.
    fn counted(&self) -> wgpu::BufferBinding<'_> {
        wgpu::BufferBinding {
            buffer: &self.ranges,
            offset: 0,
            size: NonZeroU64::new(self.ranges.size()),
        }
    }

    fn workgroups(&self) -> Workgroups<'_> {
        Workgroups::Indirect(&self.ranges, 0)
    }
}
