// Query regions: a box, a capsule (or a ball), or a frustum of six planes.
#import "bvh/bvh_object.wgsl"

struct BvhRegion {
    // BVH_BOX, BVH_CAPSULE or BVH_FRUSTUM. If it is a constant, the compiler removes the code of the other shapes.
    shape: u32,
    // Corners of a box, or ends of a capsule's axis.
    lower: vec3f,
    upper: vec3f,
    radius: f32,
    // Inward normals and offsets of a frustum: dot(normal, point) + w >= 0 inside.
    planes: array<vec4f, 6>,
}

fn bvh_region_box(lower: vec3f, upper: vec3f) -> BvhRegion {
    return BvhRegion(BVH_BOX, lower, upper, 0.0, array<vec4f, 6>());
}

// Returns the region of all points within `radius` of the segment from `a` to `b`.
fn bvh_region_capsule(a: vec3f, b: vec3f, radius: f32) -> BvhRegion {
    return BvhRegion(BVH_CAPSULE, a, b, radius, array<vec4f, 6>());
}

fn bvh_region_ball(centre: vec3f, radius: f32) -> BvhRegion {
    return bvh_region_capsule(centre, centre, radius);
}

fn bvh_region_frustum(planes: array<vec4f, 6>) -> BvhRegion {
    return BvhRegion(BVH_FRUSTUM, vec3f(0.0), vec3f(0.0), 0.0, planes);
}

// True if the region is not empty. Frusta are not checked.
fn bvh_region_is_valid(region: BvhRegion) -> bool {
    if region.shape == BVH_BOX {
        return all(region.lower <= region.upper);
    }
    return region.radius >= 0.0;
}

// Returns the mask of a node's child boxes that touch a box. Conservative: rounding never loses a child.
fn bvh_boxes_touch(node: Node, lower: vec3f, upper: vec3f) -> vec4<bool> {
    let step = bvh_grid_step(node);
    let slack = bvh_grid_slack(node.origin, step);
    let low = node.origin - slack - upper;
    let high = lower - node.origin - slack;
    let x = max(bvh_steps(node.lower.x) * step.x + low.x, high.x - bvh_steps(node.upper.x) * step.x);
    let y = max(bvh_steps(node.lower.y) * step.y + low.y, high.y - bvh_steps(node.upper.y) * step.y);
    let z = max(bvh_steps(node.lower.z) * step.z + low.z, high.z - bvh_steps(node.upper.z) * step.z);
    return max(x, max(y, z)) <= vec4f(0.0);
}

// Returns the mask of the child boxes that are not entirely behind any of the planes. Conservative.
fn bvh_boxes_in_front_of(node: Node, planes: array<vec4f, 6>) -> vec4<bool> {
    let step = bvh_grid_step(node);
    let slack = bvh_grid_slack(node.origin, step);
    var least = vec4f(1.0);
    var faces = planes;
    for (var i = 0u; i < 6u; i++) {
        let plane = faces[i];
        let far = select(node.lower, node.upper, plane.xyz >= vec3f(0.0));
        let scaled = plane.xyz * step;
        let at = dot(plane.xyz, node.origin) + plane.w;
        // Rounding error of the sum, in addition to the rounding of the boxes.
        let reach = abs(plane.xyz) * (abs(node.origin) + 256.0 * step);
        let rounds = dot(abs(plane.xyz), slack) + (reach.x + reach.y + reach.z + abs(plane.w)) * 6.0e-7;
        let along = bvh_steps(far.x) * scaled.x + bvh_steps(far.y) * scaled.y + bvh_steps(far.z) * scaled.z;
        least = min(least, along + vec4f(at + rounds));
    }
    return least >= vec4f(0.0);
}

// Returns the mask of a node's child boxes that touch the region. Conservative: a capsule counts as its bounding box.
fn bvh_region_enters(node: Node, region: BvhRegion) -> vec4<bool> {
    if region.shape == BVH_FRUSTUM {
        return bvh_boxes_in_front_of(node, region.planes);
    }
    let lower = min(region.lower, region.upper) - vec3f(region.radius);
    let upper = max(region.lower, region.upper) + vec3f(region.radius);
    let wide = select(vec3f(0.0), abs(upper) + abs(lower), region.radius > 0.0) * 2.0e-7;
    return bvh_boxes_touch(node, lower - wide, upper + wide);
}

// True if an axis separates a triangle from a box. The vertices are relative to the box's centre.
fn bvh_separates(axis: vec3f, a: vec3f, b: vec3f, c: vec3f, half_extent: vec3f) -> bool {
    let corners = vec3f(dot(axis, a), dot(axis, b), dot(axis, c));
    let reach = dot(abs(axis), half_extent);
    return min(corners.x, min(corners.y, corners.z)) > reach
        || max(corners.x, max(corners.y, corners.z)) < -reach;
}

// True if a triangle and a box touch, by the axes of Akenine-Möller 2001, "Fast 3D Triangle-Box Overlap Testing".
fn bvh_box_touches(triangle: LeafTriangle, lower: vec3f, upper: vec3f) -> bool {
    let low = min(triangle.v0, min(triangle.v1, triangle.v2));
    let high = max(triangle.v0, max(triangle.v1, triangle.v2));
    // Exact comparison, and false for NaN.
    let is_near = all(low <= upper) && all(high >= lower);
    // Intersect the box with the triangle's own box, so that rounding is relative to the smaller one.
    let least = max(lower, low);
    let most = min(upper, high);
    // A triangle whose box lies within the other needs no separating axes.
    var is_apart = false;
    if is_near && (any(least > low) || any(most < high)) {
        let centre = 0.5 * least + 0.5 * most;
        let half_extent = 0.5 * most - 0.5 * least;
        let a = triangle.v0 - centre;
        let b = triangle.v1 - centre;
        let c = triangle.v2 - centre;
        let normal = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
        is_apart = bvh_separates(normal, a, b, c, half_extent);
        var edge = b - a;
        for (var i = 0u; i < 3u; i++) {
            is_apart = is_apart || bvh_separates(vec3f(0.0, -edge.z, edge.y), a, b, c, half_extent)
                || bvh_separates(vec3f(edge.z, 0.0, -edge.x), a, b, c, half_extent)
                || bvh_separates(vec3f(-edge.y, edge.x, 0.0), a, b, c, half_extent);
            edge = select(a - c, c - b, i == 0u);
        }
    }
    return is_near && !is_apart;
}

// True if a part of the triangle remains after clipping by all planes (Sutherland and Hodgman 1974).
fn bvh_frustum_touches(triangle: LeafTriangle, planes: array<vec4f, 6>) -> bool {
    var faces = planes;
    var corners: array<vec3f, 9>;
    corners[0] = triangle.v0;
    corners[1] = triangle.v1;
    corners[2] = triangle.v2;
    var count = 3u;
    for (var i = 0u; i < 6u; i++) {
        let plane = faces[i];
        var kept: array<vec3f, 9>;
        var kept_count = 0u;
        for (var k = 0u; k < count; k++) {
            let here = corners[k];
            let there = corners[select(k + 1u, 0u, k + 1u == count)];
            let side = dot(plane.xyz, here) + plane.w;
            let other_side = dot(plane.xyz, there) + plane.w;
            if side >= 0.0 {
                kept[kept_count] = here;
                kept_count++;
            }
            if (side >= 0.0) != (other_side >= 0.0) && kept_count < 9u {
                kept[kept_count] = mix(here, there, saturate(side / (side - other_side)));
                kept_count++;
            }
        }
        corners = kept;
        count = kept_count;
        if count == 0u {
            break;
        }
    }
    return count > 0u;
}

// True if the region touches a leaf's object. For frusta, boxes and balls are tested conservatively: they count as
// inside if no plane has them entirely behind it.
fn bvh_region_touches(region: BvhRegion, object: LeafTriangle) -> bool {
    // Objects that no tree can hold are stored at EMPTY_BOX_EXTENT.
    if object.v0.x >= EMPTY_BOX_EXTENT {
        return false;
    }
    if region.shape == BVH_CAPSULE {
        let gap = bvh_gap(object, region.lower, region.upper - region.lower);
        return dot(gap.offset, gap.offset) <= region.radius * region.radius;
    }
    if BVH_OBJECTS == BVH_TRIANGLES {
        if region.shape == BVH_FRUSTUM {
            return bvh_frustum_touches(object, region.planes);
        }
        return bvh_box_touches(object, region.lower, region.upper);
    }
    let radius = bvh_ball_radius(object);
    if region.shape == BVH_FRUSTUM {
        var is_before = true;
        var faces = region.planes;
        for (var i = 0u; i < 6u; i++) {
            let plane = faces[i];
            let far = select(object.v0, object.v1, plane.xyz >= vec3f(0.0));
            let of_box = dot(plane.xyz, far) + plane.w;
            let of_ball = dot(plane.xyz, object.v2) + plane.w + radius * length(plane.xyz);
            is_before = is_before && select(of_ball, of_box, BVH_OBJECTS == BVH_BOXES) >= 0.0;
        }
        return is_before;
    }
    if BVH_OBJECTS == BVH_BOXES {
        return all(object.v0 <= region.upper) && all(object.v1 >= region.lower);
    }
    let offset = object.v2 - clamp(object.v2, region.lower, region.upper);
    return dot(offset, offset) <= radius * radius;
}
