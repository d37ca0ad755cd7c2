//! Readback of a frame: channels, the merged triangles, visibility. All of it waits for the GPU.

use crate::{
    Channel, Recording, Renderer, SceneBuffers,
    frame::recording::FrameBudget,
    inspect::channel::ChannelSource,
    layout::{SHADOW_HEADER, TreeBox},
    paths::path_sums::PathSums,
    resources::Incident,
};
use canopy_bvh::{Error, Result, gpu::Gpu};
use glam::{Vec3, Vec4};

/// Image of floats, with rows from the top.
#[derive(Debug, Clone)]
pub struct FloatImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four floats per pixel. Components that a channel does not use are 0. Alpha is 1 where there is a
    /// surface.
    pub texels: Vec<[f32; 4]>,
}

/// Geometry read back from the merged buffers.
#[derive(Debug, Clone)]
pub struct Merged {
    /// Vertex positions in world space.
    pub positions: Vec<Vec3>,
    /// Vertex normals in world space.
    pub normals: Vec<Vec3>,
    /// Vertex tangents in world space, with the bitangent's sign in w.
    pub tangents: Vec<Vec4>,
    /// World-space length of one metre of mesh space, along each vertex normal.
    pub scales: Vec<f32>,
    /// Vertex indices of each triangle.
    pub indices: Vec<[u32; 3]>,
    /// Index of the material of each triangle.
    pub materials: Vec<u32>,
    /// Range of triangles of each mesh instance.
    pub meshes: Vec<std::ops::Range<u32>>,
}

impl Renderer {
    /// Returns the sample sums of the last frame, which must be path-traced.
    pub fn read_path_sums(&self, gpu: &Gpu) -> Result<PathSums> {
        self.passes.paths.read(gpu)
    }

    /// Returns a channel of the last frame. [`Channel::Lit`] is linear radiance before exposure. For a
    /// picture of several frames, it is the mean of the frames so far.
    pub fn read_channel(
        &mut self,
        gpu: &Gpu,
        channel: Channel,
        buffers: &SceneBuffers,
    ) -> Result<FloatImage> {
        let Some(last) = &self.last else {
            return Err(Error::NotFound("no frame has been drawn yet".into()));
        };
        if channel == Channel::Motion && !self.passes.motion.is_known() {
            let why = "the frame was drawn without motion vectors";
            return Err(Error::NotFound(why.into()));
        }
        if channel == Channel::Deviation && !self.passes.inspect.deviation.is_set() {
            let why = "there is no surface to measure the deviation from";
            return Err(Error::NotFound(why.into()));
        }
        if channel == Channel::Lab && self.passes.inspect.guest_image().is_none() {
            let why = "the frame was drawn without rays through a structure of the laboratory";
            return Err(Error::NotFound(why.into()));
        }
        if channel == Channel::Intersections && !self.passes.inspect.intersections.is_known() {
            let why = "the frame was drawn without looking for intersections";
            return Err(Error::NotFound(why.into()));
        }
        let tells_of_volumes = matches!(channel, Channel::Transmittance | Channel::Scattered);
        if tells_of_volumes && !self.passes.volumes.is_known() {
            let why = "the frame was drawn without the channels of volumes";
            return Err(Error::NotFound(why.into()));
        }
        let visibility = self.passes.shadows.output();
        if channel == Channel::Cost && visibility.is_traced() && !visibility.has_cost() {
            let why = "the frame was drawn without counting the visits of rays";
            return Err(Error::NotFound(why.into()));
        }
        let group = &last.group;
        let lit = match last.is_hybrid {
            true => self.passes.lighting.output(),
            false => self.passes.paths.output(),
        };
        let radiance = self.passes.depth_of_field.output().unwrap_or(lit);
        let [width, height] = radiance.size();
        let texels = if channel == Channel::Lit && !last.is_hybrid {
            let samples = self.passes.paths.samples();
            self.passes.paths.read(gpu)?.mean(samples)
        } else if channel == Channel::Lit && last.sample.count > 1 {
            self.passes.present.accumulate.read(gpu, last.sample.index + 1)?
        } else {
            let mut encoder = gpu.encoder("channel");
            let budget = FrameBudget {
                in_parts: false,
                ..self.budget
            };
            let (profiler, row_offsets) = (&self.profiler, &self.row_offsets);
            let mut recording = Recording::new(gpu, profiler, row_offsets, "channel", &mut encoder, budget);
            let (pass, measured) = self.passes.inspect.channel_and_measured();
            let source = ChannelSource {
                group,
                buffers,
                gbuffer: self.passes.gbuffer.output(),
                light: Incident::new(
                    visibility,
                    self.passes.occlusion.output(),
                    self.passes.reflections.output(),
                    self.passes.fog.output(),
                ),
                radiance,
                motion: self.passes.motion.output(self.passes.gbuffer.output()),
                measured,
                volumes: self.passes.volumes.total(),
            };
            pass.record(&mut recording, channel, source)?;
            recording.finish();
            self.profiler.submit(gpu, encoder);
            let bytes = gpu.read_texture(&self.passes.inspect.channel.output().texture)?;
            bytemuck::pod_collect_to_vec(&bytes)
        };
        Ok(FloatImage {
            width,
            height,
            texels,
        })
    }

    /// Returns the triangle that each pixel of the last frame shows, as an index into the merged buffers. It
    /// is `None` for the background, points and lines. The ground's two triangles follow the triangles of the
    /// scene.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the device is lost.
    pub fn read_triangles(&self, gpu: &Gpu) -> Result<Vec<Option<u32>>> {
        let ids = gpu.read_texture(&self.passes.gbuffer.output().ids.texture)?;
        let ids: Vec<u32> = bytemuck::pod_collect_to_vec(&ids);
        let is_triangle = |id: &u32| *id > 0 && *id <= i32::MAX as u32;
        Ok(ids
            .into_iter()
            .map(|id| Some(id).filter(is_triangle).map(|id| id - 1))
            .collect())
    }

    /// Returns the BVH boxes that the last frame has drawn, in any order. Positions are relative to
    /// [`SceneBuffers::origin`].
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the device is lost.
    pub fn read_tree_boxes(&self, gpu: &Gpu) -> Result<Vec<TreeBox>> {
        self.passes.tree_boxes.read(gpu)
    }

    /// Returns the merged buffers of the last frame.
    pub fn read_merged(&self, gpu: &Gpu, buffers: &SceneBuffers) -> Result<Merged> {
        let mut merged = self.read_merged_from_origin(gpu, buffers)?;
        for position in &mut merged.positions {
            *position += buffers.origin;
        }
        Ok(merged)
    }

    /// Returns the merged buffers of the last frame, with positions relative to [`SceneBuffers::origin`], as
    /// they are drawn.
    pub fn read_merged_from_origin(&self, gpu: &Gpu, buffers: &SceneBuffers) -> Result<Merged> {
        let (vertices, triangles) = (buffers.vertex_count as usize, buffers.triangle_count as usize);
        let positions: Vec<[f32; 3]> =
            bytemuck::pod_collect_to_vec(&gpu.read(buffers.positions.buffer())?[..12 * vertices]);
        let frames: Vec<[f32; 7]> =
            bytemuck::pod_collect_to_vec(&gpu.read(buffers.frames.buffer())?[..28 * vertices]);
        Ok(Merged {
            positions: positions.into_iter().map(Vec3::from).collect(),
            normals: frames
                .iter()
                .map(|frame| Vec3::new(frame[0], frame[1], frame[2]))
                .collect(),
            tangents: frames
                .iter()
                .map(|frame| Vec4::new(frame[3], frame[4], frame[5], frame[6].signum()))
                .collect(),
            scales: frames.iter().map(|frame| frame[6].abs()).collect(),
            indices: bytemuck::pod_collect_to_vec(&gpu.read(buffers.indices.buffer())?[..12 * triangles]),
            materials: bytemuck::pod_collect_to_vec::<u8, [u32; 2]>(
                &gpu.read(&buffers.triangle_info)?[..8 * triangles],
            )
            .into_iter()
            .map(|[_, material]| material)
            .collect(),
            meshes: buffers
                .meshes
                .iter()
                .map(|mesh| mesh.first_triangle..mesh.first_triangle + mesh.triangle_count)
                .collect(),
        })
    }

    /// Returns the visibility of the lights at each pixel of the last frame. Byte i % 4 of word (i / 4 ·
    /// height + y) · width + x is the visible fraction of the light in slot i, from 0 to 255. Empty if the
    /// frame neither traced shadow rays nor attenuated shadow-mapped lights by volumes.
    pub fn read_visibility(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        let visibility = self.passes.shadows.output();
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&visibility.words)?);
        Ok(words[SHADOW_HEADER as usize..][..visibility.len()].to_vec())
    }

    /// Returns the lights that each pixel of the last frame chose, one word per slot (shadow/chosen_light.wgsl).
    /// Empty if pixels have a slot for each light.
    pub fn read_chosen_lights(&self, gpu: &Gpu) -> Result<Vec<Vec<u32>>> {
        let visibility = self.passes.shadows.output();
        let Some([first, pixels, slots]) = visibility.chosen() else {
            return Ok(Vec::new());
        };
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&visibility.words)?);
        let of = |pixel| {
            (0..slots)
                .map(|slot| words[first + slot * pixels + pixel])
                .collect()
        };
        Ok((0..pixels).map(of).collect())
    }

    /// Returns the ambient visibility of each pixel of the last frame. The upper 10 bits of a word are the
    /// visible fraction, and the lower 22 bits are the bent normal in octahedral coordinates
    /// (`reference::occlusion::unpack_visibility`). Empty if the frame traced no occlusion rays.
    pub fn read_ambient_visibility(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        let ambient = self.passes.occlusion.output();
        let words: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(&gpu.read(&ambient.words)?);
        Ok(words[..ambient.len()].iter().map(|[word, _]| *word).collect())
    }
}
