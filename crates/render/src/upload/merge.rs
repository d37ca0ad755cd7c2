//! Merges the scene on the CPU into the layout that `deform` and the draw passes read.

use crate::{layout::DeformPart, raster::draw_lists::Surfaces};
use canopy_bvh::{accel::MeshRange, gpu::library::wgsl_constants};
use canopy_scene::{Primitive, Scene, Shading};

wgsl_constants! {
    /// Flag in a vertex index of lines and points: the vertex has no normal, so base colour and emission are
    /// shown unlit.
    const SEGMENT_UNLIT: u32 = 1 << 31;
    /// Flag in a vertex index of lines and points: the vertex has no tangent, so normal textures are ignored.
    pub(crate) const SEGMENT_PLAIN: u32 = 1 << 30;
    /// Mask of the vertex index below the flags.
    const SEGMENT_NUMBER: u32 = SEGMENT_PLAIN - 1;
}

/// Merged scene.
#[derive(Debug, Default)]
pub(crate) struct Merge {
    pub(crate) parts: Vec<DeformPart>,
    pub(crate) part_of_vertex: Vec<u32>,
    pub(crate) sources: Vec<f32>,
    pub(crate) influences: Vec<[u32; 2]>,
    pub(crate) deltas: Vec<f32>,
    pub(crate) vertices: Vec<[u32; 6]>,
    pub(crate) surfaces: Surfaces,
    /// Vertex indices of the ends of lines, with flags.
    pub(crate) segments: Vec<[u32; 2]>,
    pub(crate) meshes: Vec<MeshRange>,
    pub(crate) matrix_count: u32,
    pub(crate) weight_count: u32,
}

/// Merges the scene: sources once per mesh, merged vertices and triangles once per instance.
pub(crate) fn merge(scene: &Scene) -> Merge {
    let mut merge = Merge {
        surfaces: Surfaces::new(scene),
        ..Merge::default()
    };
    let mut triangle_count = 0;
    let mut first_part_of_mesh = vec![None; scene.meshes.len()];
    for (node, mesh) in scene.instances() {
        let primitives = &scene.meshes[mesh].primitives;
        let sources: Vec<DeformPart> = first_part_of_mesh[mesh]
            .get_or_insert_with(|| {
                primitives
                    .iter()
                    .map(|primitive| merge.source(primitive))
                    .collect::<Vec<_>>()
            })
            .clone();
        let skin = scene.nodes[node]
            .skin
            .map(|skin| scene.skins[skin].joints.len() as u32);
        let range = MeshRange {
            first_triangle: triangle_count,
            first_vertex: merge.part_of_vertex.len() as u32,
            ..MeshRange::default()
        };
        for (primitive, source) in primitives.iter().zip(sources) {
            let skinned = skin.is_some() && primitive.influences_per_vertex > 0;
            let part = DeformPart {
                first_vertex: merge.part_of_vertex.len() as u32,
                first_influence: if skinned { source.first_influence } else { u32::MAX },
                first_matrix: merge.matrix_count + u32::from(skinned),
                first_weight: merge.weight_count,
                ..source
            };
            merge.part_of_vertex.extend(std::iter::repeat_n(
                merge.parts.len() as u32,
                primitive.positions.len(),
            ));
            merge.parts.push(part);
            merge
                .vertices
                .extend((0..primitive.positions.len()).map(|vertex| attributes(primitive, vertex)));
            triangle_count += primitive.indices.len() as u32;
            merge.segments.extend(segments(primitive, part.first_vertex));
        }
        merge.meshes.push(MeshRange {
            triangle_count: triangle_count - range.first_triangle,
            ..range
        });
        merge.matrix_count += 1 + skin.unwrap_or(0);
        merge.weight_count += primitives
            .iter()
            .map(|primitive| primitive.targets.len() as u32)
            .max()
            .unwrap_or(0);
    }
    // Weights follow the matrices in the same buffer.
    for part in &mut merge.parts {
        part.first_weight += 16 * merge.matrix_count;
    }
    merge
}

impl Merge {
    /// Adds a primitive's bind pose, influences and targets. The returned part still lacks the fields that
    /// differ between instances.
    fn source(&mut self, primitive: &Primitive) -> DeformPart {
        let vertex_count = primitive.positions.len();
        let part = DeformPart {
            first_source: (self.sources.len() / 10) as u32,
            first_influence: self.influences.len() as u32,
            influences_per_vertex: primitive.influences_per_vertex as u32,
            first_delta: (self.deltas.len() / 9) as u32,
            target_count: primitive.targets.len() as u32,
            vertex_count: vertex_count as u32,
            ..DeformPart::default()
        };
        for vertex in 0..vertex_count {
            self.sources.extend(primitive.positions[vertex].to_array());
            self.sources.extend(primitive.normals[vertex].to_array());
            self.sources.extend(primitive.tangents[vertex].to_array());
        }
        self.influences.extend(
            primitive
                .joints
                .iter()
                .zip(&primitive.joint_weights)
                .map(|(joint, weight)| [*joint, weight.to_bits()]),
        );
        for target in &primitive.targets {
            for vertex in 0..vertex_count {
                for list in [&target.positions, &target.normals, &target.tangents] {
                    self.deltas
                        .extend(list.get(vertex).copied().unwrap_or_default().to_array());
                }
            }
        }
        part
    }
}

/// Returns the lines, then the points, of a primitive whose vertices begin at `first_vertex`, with flags.
fn segments(primitive: &Primitive, first_vertex: u32) -> impl Iterator<Item = [u32; 2]> + '_ {
    let flags = match primitive.shading {
        Shading::Unlit => SEGMENT_UNLIT,
        Shading::Plain => SEGMENT_PLAIN,
        Shading::Mapped => 0,
    };
    let points = primitive.points.iter().map(|&point| [point; 2]);
    let lines = primitive.lines.iter().copied().chain(points);
    lines.map(move |line| line.map(|vertex| (first_vertex + vertex) | flags))
}

/// Packs the UV sets and the colour of a vertex in the layout that `frame/scene.wgsl` unpacks.
fn attributes(primitive: &Primitive, vertex: usize) -> [u32; 6] {
    let uv0 = primitive.uv0.get(vertex).copied().unwrap_or_default();
    let uv1 = primitive.uv1.get(vertex).copied().unwrap_or_default();
    let color = primitive.colors.get(vertex).copied().unwrap_or(glam::Vec4::ONE);
    let [r, g, b, a] = color
        .to_array()
        .map(|c| (c.clamp(0.0, 1.0) * 65535.0).round() as u32);
    [
        uv0.x.to_bits(),
        uv0.y.to_bits(),
        uv1.x.to_bits(),
        uv1.y.to_bits(),
        r | g << 16,
        b | a << 16,
    ]
}
