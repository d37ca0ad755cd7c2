// First contact of a moving capsule or ball. The BVH is in bind group 1 (bvh/tree_read.wgsl).
//
// The distance between two convex bodies is a convex function of time if one of them moves along a line. So Newton
// iteration from the start never passes the first contact. If the distance does not shrink, there is no contact.
#import "bvh/bvh_intersect_children.wgsl"
#import "bvh/bvh_object.wgsl"
#import "bvh/bvh_walk.wgsl"

struct Sweep {
    // Ends of the capsule's axis at the start of the motion, and its radius.
    a: vec3f,
    radius: f32,
    b: vec3f,
    // Total translation of the capsule.
    motion: vec3f,
}

struct BvhContact {
    // Fraction of the motion at which they touch, or 1 if they do not.
    t: f32,
    // Unit normal, from the object towards the capsule.
    normal: vec3f,
    // Contact point on the object.
    position: vec3f,
    // Leaf of the object, or BVH_MISS.
    leaf: u32,
    // First leaf of the object's mesh.
    first: u32,
}

// Returns the distance up to which bodies count as touching.
fn bvh_sweep_close(sweep: Sweep) -> f32 {
    let far = max(max(abs(sweep.a), abs(sweep.b)), max(abs(sweep.motion), vec3f(sweep.radius)));
    return 4.0e-7 * max(far.x, max(far.y, far.z));
}

// Returns true and sets the time, normal and position of `found` if the capsule touches the object before the fraction
// `most` of the motion. An object that overlaps at the start counts only if the capsule moves closer to it.
fn bvh_sweep_object(object: LeafTriangle, sweep: Sweep, most: f32, found: ptr<function, BvhContact>) -> bool {
    let segment = sweep.b - sweep.a;
    let close = bvh_sweep_close(sweep);
    let speed = length(sweep.motion);
    var t = 0.0;
    for (var step = 0u; step < 32u; step++) {
        let start = sweep.a + t * sweep.motion;
        let gap = bvh_gap(object, start, segment);
        let distance = length(gap.offset);
        let backwards = -sweep.motion / max(speed, 1.0e-30);
        var normal = select(backwards, gap.offset / max(distance, 1.0e-30), distance > close);
        let approach = -dot(normal, sweep.motion);
        // The capsule moves away, or in parallel within rounding.
        let is_leaving = !(approach > 1.0e-6 * speed);
        // This close to the object, rounding determines the normal. The contact counts, because the previous steps led
        // towards the object.
        let is_unsure = t > 0.0 && distance <= 16.0 * close;
        if is_leaving && !is_unsure {
            return false;
        }
        normal = select(normal, backwards, is_leaving);
        // If rounding made a step too long, the next one goes back. An overlap at the start has no earlier time to go
        // back to.
        let depth = sweep.radius - distance;
        if abs(depth) <= close || (depth > 0.0 && t == 0.0) || is_leaving || step == 31u {
            (*found).t = t;
            (*found).normal = normal;
            (*found).position = start + gap.along * segment - gap.offset;
            return true;
        }
        // Shorten the step by its possible rounding error, because a point that passes a triangle would end up on its
        // other side.
        let unsure = speed * close / max(distance, close);
        t = max(t - (depth + 0.5 * close) / (approach + unsure), 0.0);
        if !(t < most) {
            return false;
        }
    }
    return false;
}

// Returns the fractions of the motion at which the capsule's bounding box enters a node's child boxes, or negative
// numbers for those that it misses before `most`.
fn bvh_sweep_enter(node: Node, sweep: Sweep, inverse: vec3f, most: f32) -> vec4f {
    let centre = 0.5 * (sweep.a + sweep.b);
    let grown = 0.5 * abs(sweep.b - sweep.a) + sweep.radius + bvh_sweep_close(sweep);
    let forward = inverse >= vec3f(0.0);
    let near = select(node.upper, node.lower, forward);
    let far = select(node.lower, node.upper, forward);
    let step = bvh_grid_step(node) * inverse;
    let start = (node.origin - centre) * inverse;
    let wide = (grown + bvh_grid_slack(node.origin - centre, bvh_grid_step(node))) * abs(inverse);
    let near_x = bvh_steps(near.x) * step.x + (start.x - wide.x);
    let near_y = bvh_steps(near.y) * step.y + (start.y - wide.y);
    let near_z = bvh_steps(near.z) * step.z + (start.z - wide.z);
    let far_x = bvh_steps(far.x) * step.x + (start.x + wide.x);
    let far_y = bvh_steps(far.y) * step.y + (start.y + wide.y);
    let far_z = bvh_steps(far.z) * step.z + (start.z + wide.z);
    let enter = max(max(near_x, near_y), max(near_z, vec4f(0.0)));
    let leave = min(min(far_x, far_y), far_z) * BVH_MARGIN;
    return select(vec4f(-1.0), enter, enter <= min(leave, vec4f(most)));
}

fn bvh_sweep_begin(sweep: Sweep, cutoff: u32) -> BvhWalk {
    var walk = bvh_walk_begin(cutoff);
    if !(sweep.radius >= 0.0) {
        walk.next = BVH_MISS;
    }
    return walk;
}

// Advances the traversal until leaves are pending (test them `while !bvh_walk_is_done(walk)`). Returns false if no
// further object is touched before `most`.
fn bvh_sweep_advance(walk: ptr<function, BvhWalk>, sweep: Sweep, inverse: vec3f, most: f32) -> bool {
    for (var number = bvh_walk_node(walk, most); number != BVH_MISS; number = bvh_walk_node(walk, most)) {
        let node = tree_node(number);
        let enter = bvh_sweep_enter(node, sweep, inverse, most);
        bvh_walk_into(walk, number, node, max(enter, vec4f(0.0)), enter >= vec4f(0.0));
    }
    return !bvh_walk_is_done(walk);
}

// True if the next pending leaf is touched before `most`. Sets `contact`.
fn bvh_sweep_leaf(
    walk: ptr<function, BvhWalk>,
    sweep: Sweep,
    most: f32,
    contact: ptr<function, BvhContact>,
) -> bool {
    let leaf = bvh_walk_leaf(walk);
    let object = tree_triangle(leaf);
    (*contact).leaf = leaf;
    (*contact).first = (*walk).first;
    return object.v0.x < EMPTY_BOX_EXTENT && bvh_sweep_object(object, sweep, most, contact);
}

// Returns the first contact with any object.
fn bvh_sweep(sweep: Sweep, cutoff: u32) -> BvhContact {
    var walk = bvh_sweep_begin(sweep, cutoff);
    let inverse = bvh_inverse(sweep.motion);
    var first = BvhContact(1.0, vec3f(0.0), sweep.a + sweep.motion, BVH_MISS, 0u);
    var contact = first;
    while bvh_sweep_advance(&walk, sweep, inverse, first.t) {
        while !bvh_walk_is_done(&walk) {
            if bvh_sweep_leaf(&walk, sweep, first.t, &contact) {
                first = contact;
            }
        }
    }
    return first;
}
