enable primitive_index;
// gbuffer_indexed: gbuffer for adapters with a primitive index.
//
// in   the merged scene as vertex buffers, one material (group 3); the instance index is the draw's first triangle
// out  the outputs of gbuffer.wgsl
// Draws are indexed, so a vertex is shaded once for all triangles that share it.
#import "passes/gbuffer_surface.wgsl"

struct MergedVertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) tangent: vec4f,
    @location(3) uv: vec4f,
    @location(4) color: vec4f,
}

@vertex
fn indexed_vertex(vertex: MergedVertex, @builtin(instance_index) first_triangle: u32) -> Fragment {
    return fragment_at(vertex.position, vertex.normal, vertex.tangent, vertex.uv, vertex.color, first_triangle);
}

@fragment
fn gbuffer_indexed(
    in: Fragment,
    @builtin(front_facing) front: bool,
    @builtin(primitive_index) primitive: u32,
) -> GBufferTexel {
    return opaque_texel(in, front, in.triangle + primitive);
}

@fragment
fn gbuffer_indexed_masked(
    in: Fragment,
    @builtin(front_facing) front: bool,
    @builtin(primitive_index) primitive: u32,
) -> GBufferTexel {
    return masked_texel(in, front, in.triangle + primitive);
}
