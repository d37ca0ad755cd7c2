//! World cache of light that bounces: a hash table of cells in space (gi/cells.wgsl), for frames in motion.
//!
//! `cell_begin` frees cells that nothing reads any more. `cell_claims` claims cells for everything that reads,
//! and `cell_offers` chooses the reader that represents each cell. `cell_list` lists the cells that are read.
//! `cell_rays` traces their rays, `cell_light` adds the light of other cells, and `cell_blend` averages the
//! samples into the cells. `cell_read` reads them for the pixels.

use crate::{
    bindings::Layouts,
    frame::{
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    history::{LightChanges, LightKey},
    layout::{CellParams, PathParams},
    paths::path_table::PathTable,
    resources::{GBuffer, NoisyOcclusion, POSITIONS, Reprojection, UNUSED, try_create},
    settings,
    stats::{CellCounts, FrameStats},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Uniform, Variants, Workgroups,
        library::wgsl_constants,
        pass::Binding::{self, Store, Uint, Uniform as OfUniform, Write},
        readback::Counters,
    },
};
use wgpu::{BufferUsages, TextureFormat as Format, TextureUsages};

wgsl_constants! {
    /// Number of cells: a power of two.
    const CELLS: u32 = 1 << 18;
    /// Words of a cell.
    pub const CELL_WORDS: u32 = 8;
    /// Words before the first cell.
    const CELLS_HEADER: u32 = 8;
    /// Words of the numbers of cells that are read in this frame: without a mean yet, and others.
    const CELLS_NEW: u32 = 0;
    const CELLS_KNOWN: u32 = 1;
    /// Word of the number of cells in the list.
    const CELLS_LISTED: u32 = 2;
    /// Width in texels of the image that holds the list.
    const CELL_LIST_WIDTH: u32 = 2048;
}

/// Rows of the image that holds the list of cells.
const LIST_ROWS: u32 = 32;
/// Frames in the mean of a cell while nothing moves, without the current one.
const STILL_FRAMES: u32 = 64;
/// The same while something moves.
const MOVING_FRAMES: u32 = 7;
/// Pixels for each cell that casts rays in a frame, at most: for cells without a mean yet, and for others.
const PIXELS_PER_NEW: u32 = 8;
const PIXELS_PER_KNOWN: u32 = 16;

/// Table of cells, and the passes over it.
#[derive(Debug)]
pub struct Cells {
    table: wgpu::Buffer,
    begin: Kernel,
    claims: Kernel,
    offers: Kernel,
    list: Kernel,
    rays: Variants<1>,
    light: Kernel,
    blend: Kernel,
    read: Kernel,
    params: Uniform<CellParams>,
    of_paths: Uniform<PathParams>,
    listed: Listed,
    /// Key of the cell that each pixel reads.
    keys: GpuImage,
    /// Radiance that the hit of each pixel's occlusion ray reflects.
    output: GpuImage,
    past: TemporalState<Past>,
    /// Tag of the last frame's entries in the list.
    tag: u32,
    counters: Counters<3>,
}

/// Images with a texel for each cell of the list.
#[derive(Debug)]
struct Listed {
    cells: GpuImage,
    hits: GpuImage,
    /// Light of the cells' rays, without and with the light of other cells.
    light: [GpuImage; 2],
}

/// State after a frame.
#[derive(Debug, Clone)]
struct Past {
    version: u64,
    size: [u32; 2],
    settings: settings::Occlusion,
    light: LightKey,
    changes: LightChanges,
    /// Number of the next frame.
    next: u32,
    /// True if frames since then have not used the cache. The scene may have moved in them.
    is_idle: bool,
}

impl Cells {
    /// Creates the passes without compiling their pipelines. The table is allocated by the first frame.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let shared = [(0, &layouts.frame), (1, &layouts.tree), (2, &layouts.scene)];
        let kernel = |path, entry, own: &[Binding]| Kernel::new(gpu, path, entry, &shared, own);
        let (wide, pair) = (Store(Format::Rgba32Uint), Store(Format::Rg32Uint));
        let lights = [OfUniform, OfUniform, Write, Uint, Uint, Uint, wide];
        let samples = &lights[..6];
        let rays = [
            OfUniform,
            OfUniform,
            OfUniform,
            PathTable::BINDING,
            Uint,
            wide,
            pair,
        ];
        Self {
            table: gpu.buffer("cells", 4, BufferUsages::STORAGE),
            begin: Kernel::new(
                gpu,
                "gi/cell_begin.wgsl",
                "cell_begin",
                &shared[..1],
                &[OfUniform, Write],
            ),
            claims: kernel(
                "gi/cell_claims.wgsl",
                "cell_claims",
                &[OfUniform, Write, Uint, POSITIONS, pair],
            ),
            offers: kernel("gi/cell_offers.wgsl", "cell_offers", &[OfUniform, Write, Uint]),
            list: kernel("gi/cell_list.wgsl", "cell_list", &[OfUniform, Write, Uint, wide]),
            rays: layouts.ray_kernels(gpu, "gi/cell_rays.wgsl", "cell_rays", &rays),
            light: kernel("gi/cell_light.wgsl", "cell_light", &lights),
            blend: kernel("gi/cell_blend.wgsl", "cell_blend", samples),
            read: kernel(
                "gi/cell_read.wgsl",
                "cell_read",
                &[OfUniform, Write, Uint, Uint, pair],
            ),
            params: Uniform::new(gpu, "cells.params"),
            of_paths: Uniform::new(gpu, "cells.paths"),
            listed: Listed::new(gpu, UNUSED),
            keys: image(gpu, "cells.keys", UNUSED, Format::Rg32Uint),
            output: image(gpu, "cells.output", UNUSED, Format::Rg32Uint),
            past: TemporalState::default(),
            tag: 0,
            counters: Counters::new(gpu, "cells.counters"),
        }
    }

    /// Updates the cells that the hits in `found` read. Returns the radiance that these hits reflect, except
    /// that of lights, in two words per pixel (math/rgb16.wgsl).
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        table: &PathTable,
        gbuffer: &GBuffer,
        history: Reprojection<'_>,
        found: NoisyOcclusion<'_>,
    ) -> Result<&GpuImage> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let gpu = recording.gpu;
        self.fit(gpu, frame.size)?;
        let params = self.next_params(world, history);
        self.params.write(gpu, &params);
        self.of_paths.write(gpu, &table.params(frame, frame.sample_index));
        let nodes = trees.rays(recording)?;
        let shared = [(0, &frame.group), (1, nodes), (2, geometry.group)];
        let cells = || Workgroups::Count(CELLS.div_ceil(64));
        let own: &[&dyn Bind] = &[&self.params, &self.table];
        recording.dispatch("cell_begin", &self.begin, &shared[..1], own, cells())?;
        let own: &[&dyn Bind] = &[
            &self.params,
            &self.table,
            found.hits,
            &gbuffer.position,
            &self.keys,
        ];
        let readers = || Workgroups::Count((frame.size[0] * frame.size[1] + CELLS).div_ceil(64));
        recording.dispatch("cell_claims", &self.claims, &shared, own, readers())?;
        let own: &[&dyn Bind] = &[&self.params, &self.table, &self.keys];
        recording.dispatch("cell_offers", &self.offers, &shared, own, readers())?;
        let Listed {
            cells: listed,
            hits,
            light,
        } = &self.listed;
        let own: &[&dyn Bind] = &[&self.params, &self.table, found.hits, listed];
        recording.dispatch("cell_list", &self.list, &shared, own, cells())?;
        self.counters.record(&mut recording.scope, &self.table);
        let size = [
            CELL_LIST_WIDTH,
            (params.most_new + params.most_known).div_ceil(CELL_LIST_WIDTH),
        ];
        let most = recording.budget.occlusion_pixels(2);
        let own: &[&dyn Bind] = &[
            &self.params,
            &self.of_paths,
            &table.buffer,
            listed,
            &light[0],
            hits,
        ];
        let rays = self.rays.get([geometry.buffers.tests_hits(gpu)]);
        recording.dispatch_pixels("cell_rays", rays, &shared, own, size, most)?;
        let most = recording.budget.pixels();
        let own: &[&dyn Bind] = &[&self.params, &self.table, listed, &light[0], hits, &light[1]];
        recording.dispatch_pixels("cell_light", &self.light, &shared, own, size, most)?;
        let own: &[&dyn Bind] = &[&self.params, &self.table, listed, &light[1], hits];
        recording.dispatch_pixels("cell_blend", &self.blend, &shared, own, size, most)?;
        let own: &[&dyn Bind] = &[&self.table, found.hits, &self.keys, &self.output];
        recording.dispatch_pixels("cell_read", &self.read, &shared, own, frame.size, most)?;
        Ok(&self.output)
    }

    /// Takes note of a frame that does not use the cache.
    pub fn skip(&mut self) {
        if let Some(past) = self.past.last().filter(|past| !past.is_idle) {
            let is_idle = true;
            self.past.set_pending(Past {
                is_idle,
                ..past.clone()
            });
        }
    }

    /// Reads back the words of all cells; none before the first frame.
    pub(crate) fn read(&self, gpu: &Gpu) -> Result<Vec<[u32; CELL_WORDS as usize]>> {
        let words: Vec<u32> = match self.past.last() {
            Some(_) => gpu.read_first(&self.table, (self.table.size() / 4) as usize)?,
            None => Vec::new(),
        };
        let cells = words.get(CELLS_HEADER as usize..).unwrap_or_default();
        Ok(cells.as_chunks().0.to_vec())
    }

    /// Allocates the table, and the image for pictures of `size`.
    fn fit(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<()> {
        let bytes = 4 * u64::from(CELLS_HEADER + CELL_WORDS * CELLS);
        if self.table.size() != bytes {
            let listed = [CELL_LIST_WIDTH, LIST_ROWS];
            self.listed = try_create(gpu, listed, || Listed::new(gpu, listed))?;
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
            self.table = gpu.catch(|| gpu.buffer("cells", bytes, usage))?;
        }
        if self.output.size() != size {
            let image = |label| image(gpu, label, size, Format::Rg32Uint);
            self.keys = try_create(gpu, size, || image("cells.keys"))?;
            self.output = try_create(gpu, size, || image("cells.output"))?;
        }
        Ok(())
    }

    /// Returns the parameters of a frame, and keeps its state for the next one.
    fn next_params(&mut self, world: World<'_>, history: Reprojection<'_>) -> CellParams {
        let frame = world.frame;
        let version = frame.buffers.version;
        let light = LightKey::of(world);
        let settings = &frame.config.occlusion;
        let past = self.past.last();
        let past = past
            .filter(|past| past.version == version && past.size == frame.size && past.settings == *settings);
        let changed = past.is_some_and(|past| past.light != light);
        let mut changes = past.map_or_else(LightChanges::default, |past| past.changes);
        let followed = changes.max_history_of_light(changed, false);
        let moves = history.moves || past.is_some_and(|past| past.is_idle);
        let most = if moves { MOVING_FRAMES } else { STILL_FRAMES };
        let index = past.map_or(1, |past| past.next);
        let begins = past.is_none();
        self.past.set_pending(Past {
            version,
            size: frame.size,
            settings: settings.clone(),
            light,
            changes,
            next: index.wrapping_add(1),
            is_idle: false,
        });
        self.tag = self.tag.wrapping_add(1).max(1);
        let pixels = frame.size[0] * frame.size[1];
        let most_cells = |share: u32| (pixels / share).clamp(1024, CELL_LIST_WIDTH * LIST_ROWS / 2);
        CellParams {
            index,
            most_frames: most.min(followed),
            most_new: most_cells(PIXELS_PER_NEW),
            most_known: most_cells(PIXELS_PER_KNOWN),
            begins: u32::from(begins),
            tag: self.tag,
        }
    }
}

impl Listed {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        let wide = |label| image(gpu, label, size, Format::Rgba32Uint);
        Self {
            cells: wide("cells.list"),
            hits: image(gpu, "cells.hits", size, Format::Rg32Uint),
            light: [wide("cells.light"), wide("cells.light")],
        }
    }
}

fn image(gpu: &Gpu, label: &str, size: [u32; 2], format: Format) -> GpuImage {
    let usage = TextureUsages::STORAGE_BINDING | TextureUsages::TEXTURE_BINDING;
    GpuImage::new(gpu, label, size, format, usage)
}

impl LifeCycle for Cells {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.past]
    }

    fn report(&mut self, stats: &mut FrameStats) {
        self.counters.collect();
        let [new, known, cast] = self.counters.last();
        let is_used = self.past.last().is_some_and(|past| !past.is_idle);
        stats.cells = match is_used {
            true => CellCounts {
                read: new + known,
                cast,
            },
            false => CellCounts::default(),
        };
    }
}
