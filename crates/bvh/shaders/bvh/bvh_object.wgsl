// Objects of a BVH's leaves, stored as three corners (bvh/build/objects.wgsl): triangles; boxes, with v0 as the lower
// and v1 as the upper corner; or balls, with v0 and v1 as the corners of the bounding box and v2 as the centre.
#import "bvh/tree_read.wgsl"

override BVH_OBJECTS: u32 = BVH_TRIANGLES;

fn bvh_ball_radius(ball: LeafTriangle) -> f32 {
    return 0.5 * (ball.v1.x - ball.v0.x);
}

// Shortest connection between an object and a segment: the offset from the object's point to the segment's point, and
// the parameter along the segment.
struct BvhGap {
    offset: vec3f,
    along: f32,
}

fn bvh_less_gap(a: BvhGap, b: BvhGap) -> BvhGap {
    if dot(b.offset, b.offset) < dot(a.offset, a.offset) {
        return b;
    }
    return a;
}

// Returns the gap between a segment from the origin and one from `start` (after Ericson 2005, section 5.1.9). Nearly
// parallel lines are solved by alternating projection.
fn bvh_gap_segment(segment: vec3f, start: vec3f, edge: vec3f) -> BvhGap {
    let tiny = 1.0e-30;
    let a = max(dot(segment, segment), tiny);
    let e = max(dot(edge, edge), tiny);
    let b = dot(segment, edge);
    let c = dot(segment, start);
    let f = dot(edge, start);
    let parallel = a * e - b * b;
    var s = 0.0;
    if parallel > 1.0e-7 * a * e {
        s = saturate((c * e - b * f) / parallel);
    }
    var t = saturate((b * s - f) / e);
    s = saturate((b * t + c) / a);
    t = saturate((b * s - f) / e);
    return BvhGap(s * segment - (start + t * edge), s);
}

// Sets `offset` to the vector from the nearest point of the triangle's plane to `point`. Returns false if that nearest
// point is outside the triangle, or if the triangle has no area.
fn bvh_gap_inside(a: vec3f, ab: vec3f, ac: vec3f, point: vec3f, offset: ptr<function, vec3f>) -> bool {
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    // A value this small counts as no area, because it is close to the smallest normal float.
    if squared <= 1.0e-36 {
        return false;
    }
    let to_corner = a - point;
    var weights = vec2f(dot(cross(ac, to_corner), normal), dot(cross(to_corner, ab), normal)) / squared;
    // One refinement step on the in-plane residual, because the weights of needle-shaped triangles are ill-conditioned.
    let left = to_corner + weights.x * ab + weights.y * ac;
    weights += vec2f(dot(cross(ac, left), normal), dot(cross(left, ab), normal)) / squared;
    *offset = -(to_corner + weights.x * ab + weights.y * ac);
    return all(weights >= vec2f(0.0)) && weights.x + weights.y <= 1.0;
}

// Returns the gap between a triangle and a segment from the origin.
fn bvh_gap_triangle(a: vec3f, b: vec3f, c: vec3f, segment: vec3f) -> BvhGap {
    var gap = bvh_gap_segment(segment, a, b - a);
    gap = bvh_less_gap(gap, bvh_gap_segment(segment, b, c - b));
    gap = bvh_less_gap(gap, bvh_gap_segment(segment, c, a - c));
    var offset = vec3f(0.0);
    for (var end = 0u; end < 2u; end++) {
        if bvh_gap_inside(a, b - a, c - a, f32(end) * segment, &offset) {
            gap = bvh_less_gap(gap, BvhGap(offset, f32(end)));
        }
    }
    // If the segment passes through the interior, the gap is zero.
    let normal = cross(b - a, c - a);
    let before = dot(normal, -a);
    let after = dot(normal, segment - a);
    if (before < 0.0) != (after < 0.0) && before != after {
        let along = before / (before - after);
        if bvh_gap_inside(a, b - a, c - a, along * segment, &offset) {
            gap = BvhGap(vec3f(0.0), along);
        }
    }
    return gap;
}

// Returns the derivative of half the squared distance between a box and a point that moves along a segment.
fn bvh_box_slope(lower: vec3f, upper: vec3f, segment: vec3f, along: f32) -> f32 {
    let point = along * segment;
    return dot(point - clamp(point, lower, upper), segment);
}

// Returns the gap between a box and a segment from the origin. The squared distance is convex, and its slope is linear
// between the planes of the box's faces.
fn bvh_gap_box(lower: vec3f, upper: vec3f, segment: vec3f) -> BvhGap {
    var low = 0.0;
    var high = 1.0;
    for (var i = 0u; i < 6u; i++) {
        let axis = i % 3u;
        let part = segment[axis];
        let at = select(lower, upper, i >= 3u)[axis] / select(part, 1.0, part == 0.0);
        if part != 0.0 && at > low && at < high {
            if bvh_box_slope(lower, upper, segment, at) < 0.0 {
                low = at;
            } else {
                high = at;
            }
        }
    }
    let before = bvh_box_slope(lower, upper, segment, low);
    let after = bvh_box_slope(lower, upper, segment, high);
    var along = select(low, high, after < 0.0);
    if before < 0.0 && after >= 0.0 {
        along = low + (high - low) * saturate(before / (before - after));
    }
    let point = along * segment;
    return BvhGap(point - clamp(point, lower, upper), along);
}

// Returns the gap between an object and the segment from `start` along `segment`, which may have zero length.
fn bvh_gap(object: LeafTriangle, start: vec3f, segment: vec3f) -> BvhGap {
    if BVH_OBJECTS == BVH_TRIANGLES {
        return bvh_gap_triangle(object.v0 - start, object.v1 - start, object.v2 - start, segment);
    }
    if BVH_OBJECTS == BVH_BOXES {
        return bvh_gap_box(object.v0 - start, object.v1 - start, segment);
    }
    let centre = object.v2 - start;
    let along = saturate(dot(centre, segment) / max(dot(segment, segment), 1.0e-30));
    let offset = along * segment - centre;
    let length = length(offset);
    let outside = max(length - bvh_ball_radius(object), 0.0);
    return BvhGap(offset * (outside / max(length, 1.0e-30)), along);
}
