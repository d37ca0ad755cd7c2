//! State of an uploaded scene that frames change: the written pose, windings, animated materials, and the
//! BVHs.

use super::{scene_buffers::SceneBuffers, version::next_version};
use crate::{
    bindings::Layouts,
    frame::FrameSetup,
    geometry::{
        last_positions::LastPositions,
        tree_policy::{TreePlan, TreePolicy},
    },
    layout::Light,
    light::{
        light_tree::{self, LightGrid},
        lights,
    },
    materials::{AnimatedMaterials, Materials},
    raster::draw_lists::{DrawLists, Surfaces},
    stats::{FrameStats, TreeWork},
};
use canopy_bvh::{
    Result,
    accel::{Quality, Tree},
    gpu::Gpu,
};
use canopy_scene::{Pose, Scene, animation::instance_matrices, deform::Mirrors};
use std::{collections::BTreeSet, ops::Range};

/// Scene in GPU memory.
#[derive(Debug)]
pub struct UploadedScene {
    /// Uploaded buffers, which frames only read.
    pub buffers: SceneBuffers,
    /// State that frames change.
    pub state: SceneState,
}

/// State after the frames so far.
#[derive(Debug)]
pub struct SceneState {
    /// BVHs.
    pub tree: Tree,
    /// Policy that decides when the BVHs are rebuilt.
    pub(crate) policy: TreePolicy,
    pub(crate) last_positions: LastPositions,
    pose: WrittenPose,
    /// Leaf cutoff and quality of the BVHs after the last committed frame.
    built: (u32, Quality),
    /// True for each instance that has changed since the last committed frame.
    changed: Vec<bool>,
    materials: AnimatedMaterials,
    lights: WrittenLights,
}

/// Lights in GPU memory.
#[derive(Debug, Default)]
struct WrittenLights {
    /// Lights in the scene's tables; none if the tables have been replaced.
    lights: Vec<Light>,
    /// True if their tree is in the tables too.
    has_tree: bool,
}

/// Pose in GPU memory.
#[derive(Debug, Default)]
struct WrittenPose {
    /// Matrices, weights and visibility that were written last. Other fields of the pose are not kept.
    pose: Pose,
    /// Matrices and weights; `None` before the first frame.
    words: Vec<f32>,
    /// Mirroring per instance that the winding of the index buffer accounts for.
    mirrors: Vec<Mirrors>,
}

impl UploadedScene {
    /// Writes changed materials; see [`crate::Renderer::write_materials`].
    pub(crate) fn write_materials(
        &mut self,
        gpu: &Gpu,
        layouts: &Layouts,
        scene: &Scene,
        changed: &BTreeSet<usize>,
    ) -> Result<()> {
        let drawn = |materials: &Materials, index: usize| materials.surfaces[index];
        let mut is_drawn_otherwise = false;
        let mut is_rebound = false;
        let mut written = Ok(());
        for &index in changed {
            let materials = &mut self.buffers.materials;
            let before = drawn(materials, index);
            match materials.write(gpu, scene, index) {
                Ok(is_new) => is_rebound |= is_new,
                Err(error) => written = Err(error),
            }
            is_drawn_otherwise |= drawn(materials, index) != before;
            self.state.materials.invalidate(index);
        }
        if is_rebound {
            self.rebind_tables(gpu, layouts);
            // The new tables hold the materials of the rest pose. Animated materials are written again.
            self.state.materials = AnimatedMaterials::default();
        }
        self.buffers.version = next_version();
        if is_drawn_otherwise {
            self.write_variant(gpu, scene);
        }
        written
    }

    /// Makes room for the lights of a scene to which lights have been added.
    pub(crate) fn make_room_for_lights(&mut self, gpu: &Gpu, layouts: &Layouts, scene: &Scene) -> Result<()> {
        let words = light_tree::words_of(lights::max_lights(scene));
        if self.buffers.materials.make_room_for_lights(gpu, words)? {
            self.rebind_tables(gpu, layouts);
        }
        Ok(())
    }

    /// Binds tables that have been replaced. They hold no lights, so these are written again.
    fn rebind_tables(&mut self, gpu: &Gpu, layouts: &Layouts) {
        self.buffers.bind_scene(gpu, layouts);
        self.state.lights = WrittenLights::default();
        self.buffers.version = next_version();
    }

    /// Writes the changes of [`Scene::choose_variant`]: the materials of triangles, and the draw lists.
    pub fn write_variant(&mut self, gpu: &Gpu, scene: &Scene) {
        let surfaces = Surfaces::new(scene);
        let info = bytemuck::cast_slice(&surfaces.info);
        gpu.queue.write_buffer(&self.buffers.triangle_info, 0, info);
        self.buffers.draws = DrawLists::new(scene, &surfaces);
        self.buffers.version = next_version();
        // BVH leaves hold materials too.
        self.state.policy.reset();
    }
}

impl SceneState {
    /// Writes the BVH work of the frame of this plan into `stats`.
    pub(crate) fn report(&self, plan: &TreePlan, stats: &mut FrameStats) {
        stats.tree_work = plan.work;
        stats.tree_growth = plan.growth;
        stats.tree_dispatches = match plan.work {
            TreeWork::None => 0,
            _ => self.tree.dispatches(),
        };
    }

    /// Commits the frame of this plan, which has been recorded completely.
    pub(crate) fn commit(&mut self, plan: &TreePlan) {
        self.policy.commit(plan);
        self.last_positions.commit();
        self.changed.clear();
        self.built = (self.tree.leaf_cutoff(), self.tree.quality());
    }

    /// Undoes a frame that is dropped before its commit, of which nothing runs. The BVHs still belong to the
    /// previous frame.
    pub(crate) fn abort(&mut self, gpu: &Gpu) {
        let (leaf_cutoff, quality) = self.built;
        self.tree.set_leaf_cutoff(gpu, leaf_cutoff);
        self.tree.set_quality(quality);
        self.tree.invalidate_ray_nodes();
    }

    /// Invalidates the results of a committed frame that may have run only in part.
    pub(crate) fn invalidate(&mut self) {
        self.policy.invalidate();
        self.tree.invalidate_ray_nodes();
        self.last_positions.reset();
    }

    /// Creates the state for BVHs that have not been built yet.
    pub(crate) fn new(tree: Tree, policy: TreePolicy) -> Self {
        Self {
            built: (tree.leaf_cutoff(), tree.quality()),
            tree,
            policy,
            last_positions: LastPositions::default(),
            pose: WrittenPose::default(),
            changed: Vec::new(),
            materials: AnimatedMaterials::default(),
            lights: WrittenLights::default(),
        }
    }

    /// Writes the pose, the animated materials and the lights of a frame, and plans its BVH work.
    pub(crate) fn update(&mut self, gpu: &Gpu, frame: &FrameSetup<'_>) -> TreePlan {
        let FrameSetup { scene, buffers, .. } = frame;
        self.materials.write(gpu, &buffers.materials, scene, &frame.pose);
        self.lights.write(gpu, frame);
        let mut changed = self.pose.write(gpu, buffers, scene, &frame.pose);
        for (changed, before) in changed.iter_mut().zip(&self.changed) {
            *changed |= before;
        }
        self.changed.clone_from(&changed);
        let again = frame.sample.index > 0;
        self.policy
            .plan(&frame.config.tree, changed, again, self.tree.leaf_cutoff())
    }
}

impl WrittenLights {
    /// Writes the lights of a frame, and their tree if there is one, into the scene's tables.
    fn write(&mut self, gpu: &Gpu, frame: &FrameSetup<'_>) {
        let (lights, has_tree) = (&frame.lights, frame.light_plan.has_tree());
        if self.lights == *lights && self.has_tree == has_tree {
            return;
        }
        let mut words: Vec<u32> = bytemuck::cast_slice(lights).to_vec();
        if has_tree {
            words.extend(LightGrid::new(lights).tree(lights));
        }
        let materials = &frame.buffers.materials;
        let first_byte = 4 * u64::from(materials.lights_word);
        gpu.queue
            .write_buffer(&materials.tables, first_byte, bytemuck::cast_slice(&words));
        self.lights.clone_from(lights);
        self.has_tree = has_tree;
    }
}

impl WrittenPose {
    /// Writes the matrices and weights of the pose, and the winding of instances that matrices have mirrored.
    /// Returns, for each instance, true if anything that moves its vertices differs from the last call. In
    /// the first call, all are true.
    fn write(&mut self, gpu: &Gpu, buffers: &SceneBuffers, scene: &Scene, pose: &Pose) -> Vec<bool> {
        if self.has(pose) {
            return vec![false; buffers.meshes.len()];
        }
        let target = &buffers.bind_pose;
        let mut words = Vec::with_capacity(target.pose.size() as usize / 4);
        let mut weights = Vec::new();
        let mut mirrors = Vec::with_capacity(buffers.meshes.len());
        // Ranges of the matrices and the weights of each instance.
        let mut parts: Vec<[Range<usize>; 2]> = Vec::with_capacity(buffers.meshes.len());
        for (node, mesh) in scene.instances() {
            let (rigid, joints) = instance_matrices(scene, pose, node);
            let primitives = &scene.meshes[mesh].primitives;
            let (first_word, first_weight) = (words.len(), target.weights_offset + weights.len());
            mirrors.push(Mirrors::new(scene, pose, node));
            words.extend_from_slice(rigid.as_ref());
            for joint in joints.iter().flatten() {
                words.extend_from_slice(AsRef::<[f32; 16]>::as_ref(joint));
            }
            if primitives.iter().any(|primitive| !primitive.targets.is_empty()) {
                weights.extend_from_slice(&pose.weights[node]);
            }
            parts.push([
                first_word..words.len(),
                first_weight..target.weights_offset + weights.len(),
            ]);
        }
        debug_assert_eq!(
            words.len(),
            target.weights_offset,
            "the pose has other matrices than the scene that was uploaded"
        );
        words.extend_from_slice(&weights);
        let same = |range: &Range<usize>| {
            let written = self.words.get(range.clone()).map(bits);
            written == Some(bits(&words[range.clone()]))
        };
        let changed: Vec<_> = parts.iter().map(|part| !part.iter().all(same)).collect();
        self.pose.world_from_node.clone_from(&pose.world_from_node);
        self.pose.visible.clone_from(&pose.visible);
        self.pose.weights.clone_from(&pose.weights);
        if !changed.contains(&true) {
            return changed;
        }
        gpu.queue
            .write_buffer(&target.pose, 0, bytemuck::cast_slice(&words));
        if mirrors != self.mirrors {
            self.write_indices(gpu, buffers, scene, &mirrors);
            self.mirrors = mirrors;
        }
        self.words = words;
        changed
    }

    /// True if the written pose has the same matrices, visibility and weights, as in frames in which nothing
    /// moves.
    fn has(&self, pose: &Pose) -> bool {
        let last = &self.pose;
        !self.words.is_empty()
            && last.world_from_node == pose.world_from_node
            && last.visible == pose.visible
            && last.weights == pose.weights
    }

    /// Writes the triangles of every instance whose winding differs from the index buffer. Neighbouring
    /// instances are written together, because each write has staging memory of its own.
    fn write_indices(&self, gpu: &Gpu, buffers: &SceneBuffers, scene: &Scene, mirrors: &[Mirrors]) {
        let mut first_triangle = 0;
        let mut indices: Vec<[u32; 3]> = Vec::new();
        let write = |first_triangle: u32, indices: &mut Vec<[u32; 3]>| {
            if !indices.is_empty() {
                let bytes = bytemuck::cast_slice(indices);
                gpu.queue
                    .write_buffer(buffers.indices.buffer(), u64::from(first_triangle) * 12, bytes);
                indices.clear();
            }
        };
        for (instance, (_, mesh)) in scene.instances().enumerate() {
            if self.mirrors.get(instance) == Some(&mirrors[instance]) {
                write(first_triangle, &mut indices);
                continue;
            }
            let range = buffers.meshes[instance];
            if indices.is_empty() {
                first_triangle = range.first_triangle;
            }
            let mut base = range.first_vertex;
            for primitive in &scene.meshes[mesh].primitives {
                let wound = mirrors[instance].triangles(primitive);
                indices.extend(wound.map(|triangle| triangle.map(|vertex| base + vertex)));
                base += primitive.positions.len() as u32;
            }
            if indices.len() >= WRITTEN_TRIANGLES {
                write(first_triangle, &mut indices);
            }
        }
        write(first_triangle, &mut indices);
    }
}

/// Number of triangles at which the collected indices are written.
const WRITTEN_TRIANGLES: usize = 1 << 20;

/// Returns the bits of floats. Unlike floats, they can be compared even if they are NaN.
fn bits(floats: &[f32]) -> &[u32] {
    bytemuck::cast_slice(floats)
}
