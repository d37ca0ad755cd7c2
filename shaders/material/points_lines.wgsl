// Points and lines in the raster passes: vertex shaders, and the surface of a fragment (glTF 2.0, section 3.9.7).
//
// After the triangles, `indices` holds two words for each point or line: the vertices at a line's ends, or a point's
// vertex twice. Their top bits are flags of the lighting. The instance index is the number of triangles.
// `Fragment::triangle` holds the number in `triangle_info`, which continues after the triangles, with the flags.
#import "material/material.wgsl"
#import "material/material_sample.wgsl"

fn segment_vertex(triangles: u32, segment: u32, end: u32) -> Fragment {
    let word = indices(3u * triangles + 2u * segment + end);
    return merged_fragment(word & SEGMENT_NUMBER, (word & ~SEGMENT_NUMBER) | (triangles + segment));
}

@vertex
fn line_vertex(@builtin(vertex_index) corner: u32, @builtin(instance_index) triangles: u32) -> Fragment {
    return segment_vertex(triangles, corner / 2u, corner & 1u);
}

@vertex
fn point_vertex(@builtin(vertex_index) point: u32, @builtin(instance_index) triangles: u32) -> Fragment {
    return segment_vertex(triangles, point, 0u);
}

// Returns the surface without layers. Plain segments keep the file's normal, whichever way it faces.
fn segment_surface(in: Fragment, base_color: vec4f) -> Surface {
    var s = material_surface(in, base_color, true);
    s.normal = select(s.normal, material_normal(in), (in.triangle & SEGMENT_PLAIN) != 0u);
    s.unlit = (in.triangle & SEGMENT_UNLIT) != 0u || s.unlit;
    s.layered = false;
    return s;
}
