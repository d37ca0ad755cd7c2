// Diffuse albedo of surfaces at hits of rays: the mean colour of their texture times the colours of their vertices.
#import "ambient/occlusion_hit.wgsl"
#import "bvh/tree_read.wgsl"
#import "frame/frame.wgsl"
#import "frame/scene.wgsl"

// Returns the diffuse albedo of the surface.
fn scattered_share(triangle: LeafTriangle, weights: vec3f) -> vec3f {
    let is_bare = (frame.materials_without & MATERIALS_BASE_COLOR_TEXTURE) != 0u;
    let at = ALPHA_HEADER * triangle.payload + select(ALPHA_SCATTERS, ALPHA_SCATTERS_BARE, is_bare);
    let factor = vec3f(bitcast<f32>(tables[at]), bitcast<f32>(tables[at + 1u]), bitcast<f32>(tables[at + 2u]));
    let i = 3u * triangle.triangle;
    let own = weights.x * scene_color(indices(i)).rgb + weights.y * scene_color(indices(i + 1u)).rgb
        + weights.z * scene_color(indices(i + 2u)).rgb;
    let color = select(own, vec3f(1.0), (frame.materials_without & MATERIALS_VERTEX_COLORS) != 0u);
    let clay = vec3f(MATERIALS_CLAY_ALBEDO);
    return select(factor * color, clay, (frame.materials_without & MATERIALS_CLAY) != 0u);
}

fn hit_albedo(hit: OcclusionHit) -> vec3f {
    let weights = vec3f(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    return scattered_share(tree_triangle(hit.leaf), weights);
}
