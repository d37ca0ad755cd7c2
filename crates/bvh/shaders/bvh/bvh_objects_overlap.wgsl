// Overlap tests between two leaf objects: triangles, boxes and balls (bvh/bvh_object.wgsl).
#import "bvh/box.wgsl"
#import "bvh/bvh_region.wgsl"

// Kind of object in the other tree, like BVH_OBJECTS.
override BVH_OTHERS: u32 = BVH_TRIANGLES;

// True if an axis separates two triangles. A zero axis separates nothing.
fn bvh_is_apart(axis: vec3f, a: LeafTriangle, b: LeafTriangle, origin: vec3f) -> bool {
    let p = vec3f(dot(axis, a.v0 - origin), dot(axis, a.v1 - origin), dot(axis, a.v2 - origin));
    let q = vec3f(dot(axis, b.v0 - origin), dot(axis, b.v1 - origin), dot(axis, b.v2 - origin));
    return min(p.x, min(p.y, p.z)) > max(q.x, max(q.y, q.z))
        || max(p.x, max(p.y, p.z)) < min(q.x, min(q.y, q.z));
}

// Returns an edge of a triangle.
fn bvh_edge(triangle: LeafTriangle, number: u32) -> vec3f {
    if number == 0u {
        return triangle.v1 - triangle.v0;
    }
    if number == 1u {
        return triangle.v2 - triangle.v1;
    }
    return triangle.v0 - triangle.v2;
}

// True if no axis separates two triangles. The candidates are both normals, the cross products of an edge of one with
// an edge of the other, and, for coplanar triangles, the in-plane edge normals of each triangle.
fn bvh_triangles_meet(a: LeafTriangle, b: LeafTriangle) -> bool {
    let origin = a.v0;
    let a_normal = cross(a.v1 - a.v0, a.v2 - a.v0);
    let b_normal = cross(b.v1 - b.v0, b.v2 - b.v0);
    if bvh_is_apart(a_normal, a, b, origin) || bvh_is_apart(b_normal, a, b, origin) {
        return false;
    }
    for (var i = 0u; i < 3u; i++) {
        let edge = bvh_edge(a, i);
        if bvh_is_apart(cross(edge, a_normal), a, b, origin) {
            return false;
        }
        if bvh_is_apart(cross(bvh_edge(b, i), b_normal), a, b, origin) {
            return false;
        }
        for (var k = 0u; k < 3u; k++) {
            if bvh_is_apart(cross(edge, bvh_edge(b, k)), a, b, origin) {
                return false;
            }
        }
    }
    return true;
}

// True if a ball touches an object of this tree.
fn bvh_ball_meets(object: LeafTriangle, ball: LeafTriangle) -> bool {
    let gap = bvh_gap(object, ball.v2, vec3f(0.0));
    let radius = bvh_ball_radius(ball);
    return dot(gap.offset, gap.offset) <= radius * radius;
}

fn bvh_corner_box(object: LeafTriangle) -> Box {
    return Box(
        min(object.v0, min(object.v1, object.v2)),
        max(object.v0, max(object.v1, object.v2)),
    );
}

// True if an object of this tree touches one of the other tree. The caller has tested that their boxes overlap.
fn bvh_objects_overlap(object: LeafTriangle, other: LeafTriangle) -> bool {
    if BVH_OTHERS == BVH_BALLS {
        return bvh_ball_meets(object, other);
    }
    if BVH_OTHERS == BVH_BOXES {
        if BVH_OBJECTS == BVH_TRIANGLES {
            return bvh_box_touches(object, other.v0, other.v1);
        }
        return bvh_region_touches(bvh_region_box(other.v0, other.v1), object);
    }
    if BVH_OBJECTS == BVH_TRIANGLES {
        return bvh_triangles_meet(object, other);
    }
    if BVH_OBJECTS == BVH_BOXES {
        return bvh_box_touches(other, object.v0, object.v1);
    }
    let gap = bvh_gap_triangle(
        other.v0 - object.v2,
        other.v1 - object.v2,
        other.v2 - object.v2,
        vec3f(0.0),
    );
    let radius = bvh_ball_radius(object);
    return dot(gap.offset, gap.offset) <= radius * radius;
}

// True if two triangles have a vertex at the same position.
fn bvh_share_corner(a: LeafTriangle, b: LeafTriangle) -> bool {
    let v0 = all(a.v0 == b.v0) || all(a.v0 == b.v1) || all(a.v0 == b.v2);
    let v1 = all(a.v1 == b.v0) || all(a.v1 == b.v1) || all(a.v1 == b.v2);
    return v0 || v1 || all(a.v2 == b.v0) || all(a.v2 == b.v1) || all(a.v2 == b.v2);
}
