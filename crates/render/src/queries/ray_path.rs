//! `ray_path`: records every traversal step of a pixel's rays through the BVHs of the last frame, with an
//! asynchronous readback.

use super::copied::PendingCopy;
use crate::{
    bindings::Layouts,
    layout::{
        RayPathHead, RayPathQuery, RayStep, TREE_BOX_BY_DEPTH, TREE_BOX_CURRENT, TREE_BOX_LINE, TreeBox,
    },
    resources::GBuffer,
    upload::scene_state::UploadedScene,
    view::PickQuery,
};
use canopy_bvh::{
    Result,
    accel::layout::{ANY_HIT_TEST, LeafTriangle, Node},
    gpu::{
        Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        library::wgsl_constants,
        pass::Binding::{Float, Uint, Write},
        shader::Replaced,
    },
};
use glam::Vec3;
use std::collections::HashMap;

wgsl_constants! {
    /// Maximum number of steps that are stored.
    pub const RAY_PATH_STEPS: u32 = 4096;
    const RAY_STEP_RAY: u32 = 0;
    const RAY_STEP_NODE: u32 = 1;
    const RAY_STEP_TRIANGLE: u32 = 2;
    const RAY_STEP_ANSWER: u32 = 3;
}

/// Replacement of bvh/bvh_steps.wgsl, the traversal hooks.
const HOOKS: &str = "
fn bvh_step_ray(ray: Ray) { ray_step_ray(ray); }
fn bvh_step_node(number: u32, node: Node, enter: vec4f, t_max: f32) {
    ray_step_node(number, node, enter, t_max);
}
fn bvh_step_triangle(leaf: u32, triangle: LeafTriangle, is_hit: bool, t: f32, t_max: f32) {
    ray_step_triangle(leaf, triangle, is_hit, t, t_max);
}
fn bvh_step_answer(is_accepted: bool) { ray_step_answer(is_accepted); }
";

/// Sizes in bytes of the query, and of the head before the steps with WGSL's alignment.
const QUERY_BYTES: usize = size_of::<RayPathQuery>();
const HEAD_BYTES: usize = size_of::<RayPathHead>().next_multiple_of(16);
const BYTES: usize = QUERY_BYTES + HEAD_BYTES + RAY_PATH_STEPS as usize * size_of::<RayStep>();

/// Kind of ray of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RayKind {
    /// Camera ray.
    #[default]
    Camera,
    /// Shadow rays that the last frame has cast to all lights.
    Shadow,
}

/// Traversal step of a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PathStep {
    /// Start of a ray, in world space. Distances are in lengths of its direction.
    Ray {
        /// Origin.
        origin: Vec3,
        /// Direction.
        direction: Vec3,
        /// Maximum distance.
        t_max: f32,
    },
    /// Visit of a node.
    Node {
        /// Index of the node.
        number: u32,
        /// Mesh that the node belongs to; `None` for the TLAS.
        mesh: Option<u32>,
        /// Levels below the root of its BVH.
        depth: u32,
        /// Corners of its box in world space.
        corners: [Vec3; 2],
        /// Number of leaves of each child, and the distance at which the ray enters its box, if it does.
        /// `None` for a child that does not exist.
        children: [Option<(u32, Option<f32>)>; 4],
        /// Distance of the closest hit so far.
        t_max: f32,
    },
    /// Test against a triangle.
    Triangle {
        /// Index of the mesh.
        mesh: u32,
        /// Index of the triangle in the merged index buffer.
        triangle: u32,
        /// World positions of its vertices.
        corners: [Vec3; 3],
        /// Distance of the hit, if there is one.
        t: Option<f32>,
        /// Distance of the closest hit so far.
        t_max: f32,
    },
    /// Result of the any-hit test of the previous triangle.
    Answer {
        /// True if the hit is accepted.
        is_accepted: bool,
    },
}

/// Traversal of a pixel's rays through the BVHs.
#[derive(Debug, Clone, PartialEq)]
pub struct RayPath {
    /// First steps, up to [`RAY_PATH_STEPS`].
    pub steps: Vec<PathStep>,
    /// Total number of steps.
    pub step_count: u32,
    /// Number of visited nodes, including nodes of the TLAS.
    pub nodes: u32,
    /// Number of tested triangles.
    pub triangles: u32,
    /// Origin of the frame's coordinates in world space.
    pub origin: Vec3,
}

/// Pending readback of a traversal.
#[derive(Debug)]
pub struct RayPathCopy {
    copied: PendingCopy,
    origin: Vec3,
    triangle_count: u32,
}

/// Pass that records a traversal.
#[derive(Debug)]
pub struct RayPathPass {
    kernel: Kernel,
}

impl RayPathPass {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let hooks = Replaced {
            path: "bvh/bvh_steps.wgsl",
            text: HOOKS.into(),
            name: "ray_path".into(),
        };
        let shared = [(0, &layouts.frame), (1, &layouts.tree), (2, &layouts.scene)];
        let bindings = [Float, Uint, Uint, Write];
        let path = "inspect/ray_path.wgsl";
        Self {
            kernel: Kernel::with_text(gpu, path, "ray_path", &shared, &bindings, &[], Some(hooks)),
        }
    }

    /// Adds its pipeline.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.kernel.pipelines(set);
    }

    /// Traces the rays of the pixel of `query`. `frame` is the frame's bind group 0.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (frame, gbuffer): (&wgpu::BindGroup, &GBuffer),
        (query, of): (&PickQuery, RayKind),
    ) -> Result<RayPathCopy> {
        let buffers = &scene.buffers;
        let view = query.view.translated(-buffers.origin);
        let [origin, direction] = view.ray(query.pixel, query.size);
        let query = RayPathQuery {
            origin: origin.to_array(),
            t_min: view.near,
            direction: direction.to_array(),
            t_max: view.far,
            pixel: query.pixel_of(gbuffer.size()),
            shadow: u32::from(of == RayKind::Shadow),
            ..RayPathQuery::default()
        };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let path = gpu.catch(|| gpu.buffer("ray_path.path", BYTES as u64, usage))?;
        gpu.queue.write_buffer(&path, 0, bytemuck::bytes_of(&query));
        let mut pass = encoder.scoped_compute_pass("ray_path");
        self.kernel.dispatch(
            gpu,
            &mut pass,
            &[(0, frame), (1, &buffers.tree_group), (2, &buffers.scene_group)],
            &[&gbuffer.position, &gbuffer.normal, &gbuffer.ids, &path],
            Workgroups::Count(1),
        )?;
        drop(pass);
        let parts = [(&path, BYTES as u64)];
        Ok(RayPathCopy {
            copied: PendingCopy::record(gpu, encoder, "the path of a ray", &parts)?,
            origin: buffers.origin,
            triangle_count: buffers.triangle_count,
        })
    }
}

impl RayPathCopy {
    /// Requests the mapping of the recorded steps. Call it after the submission.
    pub fn map(&self) {
        self.copied.map();
    }

    /// True if the readback has arrived or has failed. Poll the device meanwhile.
    pub fn is_done(&self) -> bool {
        self.copied.is_done()
    }

    /// Returns the traversal.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](canopy_bvh::Error::Gpu) if it has not arrived.
    pub fn read(&self) -> Result<RayPath> {
        self.copied.read(|bytes| {
            let (head, steps) = bytes[QUERY_BYTES..].split_at(HEAD_BYTES);
            let head: RayPathHead = bytemuck::pod_read_unaligned(&head[..size_of::<RayPathHead>()]);
            let kept = head.steps.min(RAY_PATH_STEPS) as usize;
            let steps = &steps[..kept * size_of::<RayStep>()];
            let steps: Vec<RayStep> = bytemuck::pod_collect_to_vec(steps);
            let mut depths = Depths::default();
            let step = |step: &RayStep| self.step(step, &mut depths);
            RayPath {
                steps: steps.iter().map(step).collect(),
                step_count: head.steps,
                nodes: head.nodes,
                triangles: head.triangles,
                origin: self.origin,
            }
        })
    }

    fn step(&self, step: &RayStep, depths: &mut Depths) -> PathStep {
        let world = |position: [f32; 3]| self.origin + Vec3::from(position);
        let [x, y, z, _] = step.values;
        match step.kind {
            RAY_STEP_RAY => {
                *depths = Depths::default();
                let [dx, dy, dz, _] = step.rows[0].map(f32::from_bits);
                PathStep::Ray {
                    origin: world([x, y, z]),
                    direction: Vec3::new(dx, dy, dz),
                    t_max: step.t_max,
                }
            }
            RAY_STEP_NODE => {
                let node: Node = bytemuck::cast(step.rows);
                let over_meshes = step.number >= self.triangle_count;
                let boxes = (0..4).filter_map(|child| node.child_box(child));
                let around = boxes.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
                let (lower, upper) = around.unwrap_or_default();
                let child = |child: usize| {
                    let count = node.leaves(child).len() as u32;
                    let enter = step.values[child];
                    (count > 0).then_some((count, (enter >= 0.0).then_some(enter)))
                };
                PathStep::Node {
                    number: step.number,
                    mesh: (!over_meshes).then_some(node.mesh),
                    depth: depths.visit(step.number, &node),
                    corners: [lower, upper].map(|corner| self.origin + corner.as_vec3()),
                    children: std::array::from_fn(child),
                    t_max: step.t_max,
                }
            }
            RAY_STEP_TRIANGLE => {
                let triangle: LeafTriangle =
                    bytemuck::pod_read_unaligned(bytemuck::cast_slice(&step.rows[..3]));
                PathStep::Triangle {
                    mesh: triangle.mesh & !ANY_HIT_TEST,
                    triangle: triangle.triangle,
                    corners: [triangle.v0, triangle.v1, triangle.v2].map(world),
                    t: (x >= 0.0).then_some(x),
                    t_max: step.t_max,
                }
            }
            _ => PathStep::Answer {
                is_accepted: step.number == 1,
            },
        }
    }
}

/// Depth of each node. A parent is visited before its children, and each node only once.
#[derive(Debug, Default)]
struct Depths(HashMap<u32, u32>);

impl Depths {
    /// Returns the depth of a node, and stores the depths of its children.
    fn visit(&mut self, number: u32, node: &Node) -> u32 {
        let depth = self.0.get(&number).copied().unwrap_or(0);
        for child in (0..4).filter(|child| node.leaves(*child).len() > 1) {
            self.0.insert(node.child(child), depth + 1);
        }
        depth
    }
}

impl RayPath {
    /// Returns the distance of the closest accepted hit, up to the step `last`, of the ray that begins at the
    /// step `ray`.
    fn end(&self, ray: usize, last: usize) -> Option<f32> {
        let steps = &self.steps[ray + 1..=last.max(ray)];
        let own = steps
            .iter()
            .take_while(|step| !matches!(step, PathStep::Ray { .. }));
        let (mut end, mut before) = (None, None);
        for step in own {
            match step {
                PathStep::Triangle { t: Some(t), .. } => (before, end) = (end, Some(*t)),
                PathStep::Answer { is_accepted: false } => end = before,
                _ => {}
            }
        }
        end
    }

    /// Returns the boxes and lines that show the steps up to `last`. They show the visited nodes, with the
    /// current one highlighted, the triangle being tested, and the rays up to their closest hit so far. A ray
    /// without a hit is `reach` metres long. Positions are in the coordinates of the frame.
    pub fn drawn(&self, last: usize, reach: f32) -> Vec<TreeBox> {
        let last = last.min(self.steps.len().saturating_sub(1));
        let own = |position: Vec3| (position - self.origin).to_array();
        let mut drawn = Vec::new();
        let line = |from: Vec3, to: Vec3| TreeBox {
            lower: own(from),
            depth: 0,
            upper: own(to),
            kind: TREE_BOX_LINE,
        };
        for (number, step) in self.steps.iter().enumerate().take(last + 1) {
            match *step {
                PathStep::Ray {
                    origin,
                    direction,
                    t_max,
                } => {
                    let far = t_max.min(reach / direction.length().max(f32::MIN_POSITIVE));
                    let t = self.end(number, last).unwrap_or(far);
                    drawn.push(line(origin, origin + t * direction));
                }
                PathStep::Node { depth, corners, .. } => drawn.push(TreeBox {
                    lower: own(corners[0]),
                    depth,
                    upper: own(corners[1]),
                    kind: if number == last {
                        TREE_BOX_CURRENT
                    } else {
                        TREE_BOX_BY_DEPTH
                    },
                }),
                PathStep::Triangle { corners, .. } if number == last => {
                    let [a, b, c] = corners;
                    drawn.extend([line(a, b), line(b, c), line(c, a)]);
                }
                PathStep::Triangle { .. } | PathStep::Answer { .. } => {}
            }
        }
        drawn
    }
}
