//! `grid` of the laboratory: builds uniform and two-level grids on the GPU. [`grid`] builds the same grids on
//! the CPU.

use super::{
    Triangle,
    grid::{self, Cells},
    layout::StructureData,
};
use crate::data::{GRID_ORDERED, LabGrid};
use canopy_bvh::{
    Error, Result,
    accel::scan::Scan,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};
use canopy_scene::bounds::Aabb;
use wgpu::BufferUsages as Buffer;

const USAGE: Buffer = Buffer::STORAGE.union(Buffer::COPY_SRC).union(Buffer::COPY_DST);

/// Kernels of the build.
#[derive(Debug)]
pub struct GridBuild {
    count: Kernel,
    fill: Kernel,
    inner: Kernel,
    inner_count: Kernel,
    inner_fill: Kernel,
    order: Kernel,
    scan: Scan,
}

/// State of a build in steps. Each step but the last counts the memory that the next step needs.
#[derive(Debug)]
pub struct GridParts {
    bounds: Aabb,
    cells: Cells,
    triangles: Vec<Triangle>,
    corners: wgpu::Buffer,
    upper: Level,
    /// Lower level of a two-level grid.
    lower: Option<Lower>,
}

#[derive(Debug)]
struct Lower {
    /// Index of the first inner cell of each cell, followed by the number of all inner cells.
    firsts: wgpu::Buffer,
    sides: wgpu::Buffer,
    level: Level,
}

/// Buffers of the cells of one level and their triangle lists.
#[derive(Debug)]
struct Level {
    cells: u32,
    begins: wgpu::Buffer,
    cursors: wgpu::Buffer,
    link_count: u32,
    links: wgpu::Buffer,
}

impl Level {
    fn new(gpu: &Gpu, cells: u32) -> Result<Self> {
        let bytes = 4 * (u64::from(cells) + 1);
        gpu.check_binding("the cells of a grid", bytes)?;
        let buffer = |label| gpu.buffer(label, bytes, USAGE);
        gpu.catch(|| Self {
            cells,
            begins: buffer("grid.begins"),
            cursors: buffer("grid.cursors"),
            link_count: 0,
            links: gpu.buffer("grid.links", 4, USAGE),
        })
    }

    /// Reads back the number of links that the GPU counted, and allocates their buffer.
    fn reserve(&mut self, gpu: &Gpu) -> Result<()> {
        let begins: Vec<u32> = gpu.read_first(&self.begins, self.cells as usize + 1)?;
        let count = begins.last().copied().unwrap_or(0);
        grid::check_links(count as usize)?;
        let bytes = 4 * u64::from(count);
        gpu.check_binding("the triangles in cells", bytes)?;
        self.link_count = count;
        self.links = gpu.catch(|| gpu.buffer("grid.links", bytes, USAGE))?;
        Ok(())
    }

    /// Reads back the offset of each cell's triangle list and the end of the last list, followed by the
    /// lists.
    fn read(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        let mut all: Vec<u32> = gpu.read_first(&self.begins, self.cells as usize + 1)?;
        let first = all.len() as u32;
        all.iter_mut().for_each(|begin| *begin += first);
        all.extend(gpu.read_first::<u32>(&self.links, self.link_count as usize)?);
        // The GPU does not sort large cells, because one thread would take too long.
        for cell in 0..self.cells as usize {
            let within = all[cell] as usize..all[cell + 1] as usize;
            if within.len() > GRID_ORDERED as usize {
                all[within].sort_unstable();
            }
        }
        Ok(all)
    }
}

/// Returns the number of inner cells that triangles overlap, summed over triangles and cells.
fn within_count(gpu: &Gpu, upper: &Level, cells: &Cells, triangles: &[Triangle]) -> Result<usize> {
    let all = upper.read(gpu)?;
    let begins = all.windows(2).take(upper.cells as usize).enumerate();
    let of_cell = |(number, pair): (usize, &[u32])| {
        let within = &all[pair[0] as usize..pair[1] as usize];
        let inner = cells.lower(number, within.len());
        let touched = within.iter();
        touched
            .map(|triangle| inner.touched_count(&triangles[*triangle as usize]))
            .sum::<usize>()
    };
    Ok(begins.map(of_cell).sum())
}

impl GridBuild {
    /// Creates the kernels, which are compiled when they are first needed.
    pub fn new(gpu: &Gpu) -> Self {
        let kernel = |entry| {
            let bindings = [Uniform, Read, Read, Read, Write, Write, Write, Write];
            Kernel::new(gpu, "lab/grid.wgsl", entry, &[], &bindings)
        };
        Self {
            count: kernel("grid_count"),
            fill: kernel("grid_fill"),
            inner: kernel("grid_inner"),
            inner_count: kernel("grid_inner_count"),
            inner_fill: kernel("grid_inner_fill"),
            order: kernel("grid_order"),
            scan: Scan::new(gpu),
        }
    }

    /// Compiles the kernels that are not compiled yet.
    ///
    /// # Errors
    ///
    /// Any error of compiling a kernel.
    pub fn compile(&self, gpu: &Gpu) -> Result<()> {
        let mut set = PipelineSet::default();
        for kernel in [
            &self.count,
            &self.fill,
            &self.inner,
            &self.inner_count,
            &self.inner_fill,
            &self.order,
        ] {
            kernel.pipelines(&mut set);
        }
        self.scan.pipelines(&mut set);
        set.compile(gpu)
    }

    /// Builds a uniform or two-level grid over `triangles`, and blocks until it is complete.
    ///
    /// # Errors
    ///
    /// Any error of [`GridParts::new`] and [`GridParts::reserve`].
    pub fn run(&self, gpu: &Gpu, triangles: &[Triangle], two_level: bool) -> Result<StructureData> {
        let mut parts = GridParts::new(gpu, triangles, two_level)?;
        for step in 0..parts.steps() {
            let mut encoder = gpu.encoder("grid");
            parts.begin(&mut encoder, step);
            self.record(gpu, &mut encoder, &parts, step)?;
            gpu.queue.submit([encoder.finish()]);
            parts.reserve(gpu, step)?;
        }
        parts.read(gpu)
    }

    /// Records the kernels of a step. Call [`GridParts::begin`] first.
    ///
    /// # Errors
    ///
    /// Any error of compiling a kernel.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        parts: &GridParts,
        step: u32,
    ) -> Result<()> {
        let upper = &parts.upper;
        let mut dispatch = |kernel: &Kernel, count, level: &Level, cursors: &wgpu::Buffer| {
            let own = parts.bound(gpu, count, level, cursors);
            let own = own.each_ref().map(|buffer| -> &dyn Bind { buffer });
            let mut pass = recorder.scoped_compute_pass("grid");
            let workgroups = Workgroups::Count(count.div_ceil(64));
            kernel.dispatch(gpu, &mut pass, &[], &own, workgroups)
        };
        let triangles = parts.triangles.len() as u32;
        let summed = match (step, &parts.lower) {
            (0, _) => {
                dispatch(&self.count, triangles, upper, &upper.cursors)?;
                Some((&upper.begins, upper.cells))
            }
            (1, lower) => {
                dispatch(&self.fill, triangles, upper, &upper.cursors)?;
                dispatch(&self.order, upper.cells, upper, &upper.cursors)?;
                match lower {
                    Some(lower) => {
                        dispatch(&self.inner, upper.cells, &lower.level, &lower.sides)?;
                        Some((&lower.firsts, upper.cells))
                    }
                    None => None,
                }
            }
            (_, None) => None,
            (2, Some(Lower { level, .. })) => {
                dispatch(&self.inner_count, upper.link_count, level, &level.cursors)?;
                Some((&level.begins, level.cells))
            }
            (_, Some(Lower { level, .. })) => {
                dispatch(&self.inner_fill, upper.link_count, level, &level.cursors)?;
                dispatch(&self.order, level.cells, level, &level.cursors)?;
                None
            }
        };
        match summed {
            Some((numbers, count)) => self.scan.record(gpu, recorder, numbers, count),
            None => Ok(()),
        }
    }
}

impl GridParts {
    /// Uploads `triangles`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the triangles or their cells exceed a limit of the device. [`Error::Argument`]
    /// without a triangle.
    pub fn new(gpu: &Gpu, triangles: &[Triangle], two_level: bool) -> Result<Self> {
        if triangles.is_empty() {
            return Err(Error::Argument("the grid needs at least one triangle".into()));
        }
        let bounds = grid::around(Aabb::from_points(triangles.iter().flatten().copied()));
        let cells = match two_level {
            true => Cells::upper(bounds, triangles.len()),
            false => Cells::uniform(bounds, triangles.len()),
        };
        // Fails early, before a GPU counts for minutes.
        grid::check_links(triangles.iter().map(|t| cells.touched_count(t)).sum())?;
        gpu.check_binding("the laboratory's triangles", size_of_val(triangles) as u64)?;
        let corners = gpu.catch(|| gpu.buffer_with("grid.corners", triangles, Buffer::STORAGE))?;
        let upper = Level::new(gpu, cells.len() as u32)?;
        let room = |label| gpu.buffer(label, 4 * (u64::from(upper.cells) + 1), USAGE);
        let lower = match two_level {
            true => Some(Lower {
                firsts: room("grid.firsts"),
                sides: room("grid.sides"),
                level: Level::new(gpu, 1)?,
            }),
            false => None,
        };
        Ok(Self {
            bounds,
            cells,
            triangles: triangles.to_vec(),
            corners,
            upper,
            lower,
        })
    }

    /// Returns the bindings of a kernel that runs `count` threads on `level`. The upper level is bound as an
    /// input only if `level` is the lower one.
    fn bound(&self, gpu: &Gpu, count: u32, level: &Level, cursors: &wgpu::Buffer) -> [wgpu::Buffer; 8] {
        let params = LabGrid {
            lower: self.bounds.min.to_array(),
            count,
            upper: self.bounds.max.to_array(),
            cells: self.upper.cells,
            side: self.cells.count,
            ..LabGrid::default()
        };
        let unused = || gpu.buffer("grid.unused", 4, USAGE);
        let upper = match std::ptr::eq(level, &self.upper) {
            true => [unused(), unused()],
            false => [self.upper.begins.clone(), self.upper.links.clone()],
        };
        let [begins, links] = upper;
        let lower = self.lower.as_ref();
        [
            gpu.buffer_with("grid.params", &[params], Buffer::UNIFORM),
            self.corners.clone(),
            begins,
            links,
            lower.map_or_else(unused, |lower| lower.firsts.clone()),
            level.begins.clone(),
            cursors.clone(),
            level.links.clone(),
        ]
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> u32 {
        if self.lower.is_some() { 4 } else { 2 }
    }

    /// Clears the counters that a step increments.
    pub fn begin(&self, encoder: &mut wgpu::CommandEncoder, step: u32) {
        let level = match (&self.lower, step) {
            (Some(lower), 2..) => &lower.level,
            _ => &self.upper,
        };
        if step.is_multiple_of(2) {
            encoder.clear_buffer(&level.begins, 0, None);
        } else {
            encoder.clear_buffer(&level.cursors, 0, None);
        }
    }

    /// Allocates the memory that the step has counted, and blocks until the counts arrive.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if triangles overlap too many cells, and [`Error::Gpu`] if the device is lost.
    pub fn reserve(&mut self, gpu: &Gpu, step: u32) -> Result<()> {
        match (step, &mut self.lower) {
            (0, _) => self.upper.reserve(gpu),
            (1, Some(lower)) => {
                let cells = self.upper.cells as usize;
                let firsts: Vec<u32> = gpu.read_first(&lower.firsts, cells + 1)?;
                let cells = firsts.last().copied().unwrap_or(0);
                grid::check_links(cells as usize)?;
                grid::check_links(within_count(gpu, &self.upper, &self.cells, &self.triangles)?)?;
                lower.level = Level::new(gpu, cells)?;
                Ok(())
            }
            (2, Some(lower)) => lower.level.reserve(gpu),
            _ => Ok(()),
        }
    }

    /// Reads the grid back in the layout of traversals, and blocks until it arrives.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the device is lost.
    pub fn read(&self, gpu: &Gpu) -> Result<StructureData> {
        let triangles = self.triangles.len();
        let mut built = StructureData::in_order(self.bounds, self.cells.count, triangles);
        built.node_bytes = 4;
        built.node_count = self.upper.cells;
        let Some(lower) = &self.lower else {
            built.links = self.upper.read(gpu)?;
            return Ok(built);
        };
        let cells = self.upper.cells as usize;
        let firsts: Vec<u32> = gpu.read_first(&lower.firsts, cells)?;
        let sides: Vec<u32> = gpu.read_first(&lower.sides, cells)?;
        let rows = firsts.iter().zip(&sides);
        built.rows = rows
            .map(
                |(first, side)| {
                    if *side == 0 { [0; 4] } else { [*first, *side, 0, 0] }
                },
            )
            .collect();
        built.links = lower.level.read(gpu)?;
        built.node_count += lower.level.cells;
        Ok(built)
    }
}
