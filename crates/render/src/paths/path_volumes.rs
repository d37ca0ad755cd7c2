//! Volumes in the table of the path tracer (path/path_volume.wgsl).

use crate::{
    frame::{Frame, recording::Recording},
    layout::{PathVoxels, VolumeParams},
    upload::scene_buffers::SceneBuffers,
    volumes::{
        volume_grids::VolumeGrids,
        volume_places::{VolumePlace, volume_places},
    },
};
use canopy_bvh::{
    Error, Result,
    gpu::{
        Bind, Gpu, Kernel, UniformArray, Workgroups,
        library::wgsl_constants,
        pass::Binding::{Float3d, Uniform, Write},
    },
};
use canopy_scene::Scene;
use std::{collections::BTreeMap, mem::offset_of};

wgsl_constants! {
    /// Number of words of a volume before its parameters.
    const PATH_VOLUME_HEADER: u32 = 5;
    /// Word of [`VolumeParams`] from which on fields are read by index, and the word of its tables.
    const PATH_VOLUME_ROWS: u32 = offset_of!(VolumeParams, size) as u32 / 4;
    const PATH_VOLUME_TABLES: u32 = offset_of!(VolumeParams, blackbody) as u32 / 4;
    /// Number of words of a volume: header and parameters.
    const PATH_VOLUME: u32 = PATH_VOLUME_HEADER + size_of::<VolumeParams>() as u32 / 4;
    /// Word offset that means there are no voxels.
    const PATH_NO_VOXELS: u32 = u32::MAX;
}

/// Label of the pass in frame timings.
const LABEL: &str = "path_voxels";
/// Number of mip levels of voxels. At the coarsest level a voxel covers a brick.
const LEVELS: u32 = 4;
/// Number of rows of voxels that a dispatch copies.
const COPIED_ROWS: u32 = 4096;

/// Pipeline that copies voxels, and their placement in the table.
#[derive(Debug)]
pub(crate) struct PathVolumes {
    voxels: Kernel,
    /// First words of the voxels of each placed volume.
    placed: BTreeMap<usize, Voxels>,
    /// First word of the bricks of each node with a volume.
    bricks: BTreeMap<usize, u32>,
    level: u32,
    /// First word of the volumes.
    pub(crate) word: u32,
}

#[derive(Debug, Clone, Copy)]
struct Voxels {
    densities: u32,
    colors: u32,
}

impl PathVolumes {
    /// Creates the pass without compiling its pipeline.
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let own = [Uniform, Float3d, Write];
        Self {
            voxels: Kernel::new(gpu, "path/path_voxels.wgsl", LABEL, &[], &own),
            placed: BTreeMap::new(),
            bricks: BTreeMap::new(),
            level: 0,
            word: 0,
        }
    }

    /// Places the volumes of a scene from word `first` of the table on, and returns the end. They take at
    /// most half of the binding limit.
    pub(crate) fn place(
        &mut self,
        gpu: &Gpu,
        scene: &Scene,
        buffers: &SceneBuffers,
        first: u32,
    ) -> Result<u32> {
        let most = (gpu.binding_limit() / 8).min(u64::from(u32::MAX / 2));
        for level in 0..LEVELS {
            let end = self.place_at(scene, buffers, first, level);
            if end - u64::from(first) <= most {
                if level > 0 {
                    log::warn!(
                        "paths see volumes at 1/{} of their size, which fits {}",
                        1 << level,
                        gpu.info.name
                    );
                }
                return Ok(end as u32);
            }
        }
        Err(Error::Limit {
            what: "the volumes of the path tracer".into(),
            needed: format!("more than {} bytes", 4 * most),
            allowed: format!("{} bytes", 4 * most),
            by: format!("storage binding limit of {}", gpu.info.name),
        })
    }

    fn place_at(&mut self, scene: &Scene, buffers: &SceneBuffers, first: u32, level: u32) -> u64 {
        let mut end = u64::from(first);
        let mut room = |words: u64| {
            let first = end as u32;
            end += words;
            first
        };
        let nodes = scene.nodes.iter().enumerate();
        let nodes: Vec<_> = nodes
            .filter_map(|(index, node)| {
                let volume = node.volume?;
                Some((index, volume, buffers.volumes.get(volume)?.as_ref()?))
            })
            .collect();
        (self.level, self.placed, self.bricks) = (level, BTreeMap::new(), BTreeMap::new());
        self.word = room(u64::from(PATH_VOLUME) * nodes.len() as u64);
        for (node, volume, grids) in nodes {
            self.bricks.insert(node, room(grids.bricks.len() as u64));
            self.placed.entry(volume).or_insert_with(|| Voxels {
                densities: room(words(grids, level, false)),
                colors: match grids.facts.has_color_temperature {
                    true => room(words(grids, level, true)),
                    false => PATH_NO_VOXELS,
                },
            });
        }
        end
    }

    /// Copies the voxels into the table.
    pub(crate) fn copy(
        &self,
        recording: &mut Recording<'_>,
        buffers: &SceneBuffers,
        table: &wgpu::Buffer,
    ) -> Result<()> {
        let gpu = recording.gpu;
        for (volume, voxels) in &self.placed {
            let Some(grids) = buffers.volumes.get(*volume).and_then(Option::as_ref) else {
                continue;
            };
            for (word, view, colored) in [
                (voxels.densities, &grids.density, false),
                (voxels.colors, &grids.color_temperature, true),
            ] {
                if word == PATH_NO_VOXELS {
                    continue;
                }
                let [row_words, rows] = shape(grids, self.level, colored);
                let slices: Vec<_> = (0..rows).step_by(COPIED_ROWS as usize).collect();
                let slice_params = slices.iter().map(|&row_offset| PathVoxels {
                    size: grids.facts.size,
                    word,
                    level: self.level,
                    colored: u32::from(colored),
                    brightest: grids.facts.brightest,
                    row_offset,
                });
                let uniforms = UniformArray::new(gpu, LABEL, slice_params)?;
                for (number, row_offset) in slices.iter().enumerate() {
                    let uniform = uniforms.at(number);
                    let own: &[&dyn Bind] = &[&uniform, view, table];
                    let words = Workgroups::Pixels([row_words, COPIED_ROWS.min(rows - row_offset)]);
                    recording.dispatch(LABEL, &self.voxels, &[], own, words)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the volumes of this frame and returns their number.
    pub(crate) fn write(&self, gpu: &Gpu, frame: &Frame<'_>, table: &wgpu::Buffer) -> u32 {
        let write = |word: u32, bytes: &[u8]| {
            gpu.queue.write_buffer(table, 4 * u64::from(word), bytes);
        };
        let mut count = 0;
        for place in volume_places(frame) {
            let found = (self.placed.get(&place.volume), self.bricks.get(&place.node));
            let (Some(voxels), Some(bricks)) = found else {
                continue;
            };
            let VolumePlace { grids, settings, .. } = &place;
            let header: [u32; PATH_VOLUME_HEADER as usize] = [
                voxels.densities,
                voxels.colors,
                *bricks,
                self.level,
                grids.facts.brightest.to_bits(),
            ];
            let most = grids.majorants(settings, self.level > 0);
            write(*bricks, bytemuck::cast_slice(&most));
            let word = self.word + PATH_VOLUME * count;
            write(word, bytemuck::cast_slice(&header));
            write(word + PATH_VOLUME_HEADER, bytemuck::bytes_of(settings));
            count += 1;
        }
        count
    }
}

/// Returns the number of words of a row of voxels, and the number of rows.
fn shape(grids: &VolumeGrids, level: u32, colored: bool) -> [u32; 2] {
    let [x, y, z] = grids.facts.size.map(|side| side.div_ceil(1 << level));
    let row_words = if colored { 2 * x } else { x.div_ceil(2) };
    [row_words, y * z]
}

fn words(grids: &VolumeGrids, level: u32, colored: bool) -> u64 {
    let [row_words, rows] = shape(grids, level, colored).map(u64::from);
    row_words * rows
}
