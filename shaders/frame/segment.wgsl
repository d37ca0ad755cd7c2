// Points and lines of the merged scene, which follow its triangles.
#import "frame/scene.wgsl"

// Position on a segment, which is a point or a line: the segment's two vertices, and the weight of the second.
struct SegmentPlace {
    vertices: vec2u,
    share: f32,
}

// Returns the position on a segment that is nearest to `position`. `segment` is its index in triangle_info.
fn segment_place(segment: u32, triangle_count: u32, position: vec3f) -> SegmentPlace {
    let first = 3u * triangle_count + 2u * (segment - triangle_count);
    // The other bits are flags.
    let vertices = vec2u(indices(first), indices(first + 1u)) & vec2u(SEGMENT_NUMBER);
    let start = scene_position(vertices.x);
    let along = scene_position(vertices.y) - start;
    let length2 = dot(along, along);
    let share = select(0.0, saturate(dot(position - start, along) / length2), length2 > 0.0);
    return SegmentPlace(vertices, share);
}
