// Test for two triangles that pass through each other. Their interiors intersect in a segment of nonzero length, and
// each triangle has vertices on both sides of the other's plane. Triangles that only touch do not pass through each
// other, for example with a vertex or an edge on the other triangle. Neither do coplanar triangles, nor cases that
// rounding leaves undecided.
//
// Every sign is the sign of a volume, or 0 if the volume is below its rounding error (Shewchuk 1997, "Adaptive
// Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", section 4.3: 7 half ulp of the sum of the
// absolute terms). So every reported pair is correct. A vertex also counts as in the other triangle's plane if its
// distance from the plane is within half a millionth of the largest coordinate. Positions are rounded too, and an
// object that stands on a floor should not pass through it.
#import "bvh/tree.wgsl"

// 2^-21, which is 8 half ulp.
const THROUGH_SLACK = 4.7683716e-7;

struct Turned {
    // Vertices of the triangle, in cyclic order. The first is the only vertex on its side of the other triangle's
    // plane.
    corners: array<vec3f, 3>,
    // Side of the first vertex: 1 or -1, or 0 if the triangle has no vertices on one of the sides.
    side: f32,
}

fn through_sign(volume: f32, slack: f32) -> f32 {
    return select(0.0, sign(volume), abs(volume) > slack);
}

// Returns the sign of the volume of the tetrahedron that three edges from one vertex span.
fn through_volume(u: vec3f, v: vec3f, w: vec3f) -> f32 {
    let most = dot(abs(u), abs(v.yzx * w.zxy) + abs(v.zxy * w.yzx));
    return through_sign(dot(u, cross(v, w)), THROUGH_SLACK * most);
}

// Rotates a triangle's vertices so that the first is the only vertex on its side of the plane of `other`.
fn through_turned(triangle: LeafTriangle, other: LeafTriangle, reach: f32) -> Turned {
    let ab = other.v1 - other.v0;
    let ac = other.v2 - other.v0;
    let normal = cross(ab, ac);
    let spread = abs(ab.yzx * ac.zxy) + abs(ab.zxy * ac.yzx);
    let around = reach * length(normal);
    var corners = array(triangle.v0, triangle.v1, triangle.v2);
    var sides: vec3f;
    for (var i = 0u; i < 3u; i++) {
        let offset = corners[i] - other.v0;
        let slack = THROUGH_SLACK * dot(abs(offset), spread) + around;
        sides[i] = through_sign(dot(offset, normal), slack);
    }
    let before = dot(vec3f(sides > vec3f(0.0)), vec3f(1.0));
    let behind = dot(vec3f(sides < vec3f(0.0)), vec3f(1.0));
    let side = select(-1.0, 1.0, before == 1.0) * select(0.0, 1.0, before * behind > 0.0);
    if sides.y == side {
        corners = array(triangle.v1, triangle.v2, triangle.v0);
    } else if sides.z == side {
        corners = array(triangle.v2, triangle.v0, triangle.v1);
    }
    return Turned(corners, side);
}

// Returns the vertices, with the last two swapped if the other triangle's first vertex is behind this triangle's plane.
fn through_oriented(turned: Turned, side_of_other: f32) -> array<vec3f, 3> {
    let corners = turned.corners;
    if side_of_other < 0.0 {
        return array(corners[0], corners[2], corners[1]);
    }
    return corners;
}

// True if the triangles pass through each other. Each triangle cuts an interval from the intersection line of their
// planes. The two intervals overlap if each begins before the other ends (Guigue and Devillers 2003, "Fast and Robust
// Triangle-Triangle Overlap Test Using Orientation Predicates").
fn bvh_triangles_pass_through(a: LeafTriangle, b: LeafTriangle) -> bool {
    let far = max(max(max(abs(a.v0), abs(a.v1)), abs(a.v2)), max(max(abs(b.v0), abs(b.v1)), abs(b.v2)));
    let reach = THROUGH_SLACK * max(far.x, max(far.y, far.z));
    let turned_a = through_turned(a, b, reach);
    if turned_a.side == 0.0 {
        return false;
    }
    let turned_b = through_turned(b, a, reach);
    if turned_b.side == 0.0 {
        return false;
    }
    let p = through_oriented(turned_a, turned_b.side);
    let q = through_oriented(turned_b, turned_a.side);
    return through_volume(p[0] - q[1], p[1] - q[1], q[0] - q[1]) > 0.0
        && through_volume(p[0] - q[0], p[2] - q[0], q[2] - q[0]) > 0.0;
}
