// walk: moves a walking character through the scene, as a capsule under gravity that collides with triangles.
//
// in   params; the BVHs (group 1); the merged positions and indices
// out  state
// One thread, which sweeps the capsule through the BVHs (bvh/bvh_sweep.wgsl). Every triangle is solid from both sides,
// regardless of its material. A gap, the skin, remains between the capsule and its obstacles, so that rounding cannot
// trap it. Motions are clipped against the planes they hit (Fauerby 2003, "Improved Collision detection and Response").
// To climb a step, the capsule moves up, ahead and down again.
#import "bvh/bvh_region.wgsl"
#import "bvh/bvh_sweep.wgsl"

struct WalkParams {
    // Lowest point of the capsule.
    position: vec3f,
    radius: f32,
    velocity: vec3f,
    // Height of the capsule.
    height: f32,
    // Requested velocity along the ground.
    desired_velocity: vec3f,
    // Greatest height of a step that is climbed.
    step_height: f32,
    // For walk_start: vector from the camera along the view to beyond the scene.
    view_offset: vec3f,
    skin: f32,
    // For walk_start: a point above the centre of the scene.
    top: vec3f,
    // Height of the ground below the scene; very low if there is none.
    floor: f32,
    // The point under the capsule in the last frame, with its triangle and weights.
    ground_point: vec3f,
    gravity: f32,
    ground_weights: vec2f,
    // BVH_MISS if the point is on no triangle.
    ground_triangle: u32,
    is_grounded: u32,
    // Cosine of the steepest walkable slope.
    walkable: f32,
    // Jump speed; 0 if the character does not jump.
    jump: f32,
    acceleration: f32,
    // Time step in seconds.
    step_secs: f32,
    steps: u32,
    leaf_cutoff: u32,
}

struct WalkState {
    position: vec3f,
    is_grounded: u32,
    velocity: vec3f,
    ground_triangle: u32,
    ground_point: vec3f,
    ground_weights: vec2f,
}

@group(0) @binding(0) var<uniform> params: WalkParams;
@group(0) @binding(1) var<storage, read> positions: array<f32>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> state: WalkState;

const UP = vec3f(0.0, 1.0, 0.0);
// Greatest number of planes that clip a motion.
const WALK_PLANES = 4u;
// Terminal velocity, in capsule heights per second.
const WALK_FASTEST_FALL = 20.0;

// First contact of a motion.
struct WalkTouch {
    // Fraction of the motion before the contact; 1 if there is none.
    t: f32,
    normal: vec3f,
    // True if the contact is walkable. Then its height and leaf follow; BVH_MISS is the ground below the scene.
    is_walkable: bool,
    height: f32,
    leaf: u32,
}

struct WalkMove {
    position: vec3f,
    // True if something blocked the motion.
    is_blocked: bool,
    // True if the motion ended on a walkable surface. Then `height` and `leaf` have their meaning in WalkTouch.
    has_landed: bool,
    height: f32,
    leaf: u32,
}

fn walk_low(feet: vec3f) -> vec3f {
    return feet + params.radius * UP;
}

fn walk_high(feet: vec3f) -> vec3f {
    return feet + (params.height - params.radius) * UP;
}

// True if a contact is walkable, by its slope or, at edges, by the slope of the triangle.
fn walk_is_walkable(contact: BvhContact) -> bool {
    let object = tree_triangle(contact.leaf);
    let face = cross(object.v1 - object.v0, object.v2 - object.v0);
    let is_level = abs(face.y) > params.walkable * length(face);
    return contact.normal.y >= params.walkable || (contact.normal.y > 0.05 && is_level);
}

fn walk_sweep(feet: vec3f, motion: vec3f) -> WalkTouch {
    let sweep = Sweep(walk_low(feet), params.radius, walk_high(feet), motion);
    let inverse = bvh_inverse(motion);
    // If an edge is shared by a wall and a floor, the floor wins.
    let tie = 0.1 * params.skin / max(length(motion), 1.0e-30);
    var touch = WalkTouch(1.0, UP, false, 0.0, BVH_MISS);
    var carried = WalkTouch(2.0, UP, true, 0.0, BVH_MISS);
    let below = (feet.y - params.floor) / max(-motion.y, 1.0e-30);
    if motion.y < 0.0 && feet.y > params.floor - params.skin && below < 1.0 {
        touch.t = max(below, 0.0);
        carried = WalkTouch(touch.t, UP, true, params.floor, BVH_MISS);
    }
    var walk = bvh_sweep_begin(sweep, params.leaf_cutoff);
    var contact: BvhContact;
    while bvh_sweep_advance(&walk, sweep, inverse, min(touch.t + tie, 1.0)) {
        while !bvh_walk_is_done(&walk) {
            if !bvh_sweep_leaf(&walk, sweep, min(touch.t + tie, 1.0), &contact) {
                continue;
            }
            if contact.t < touch.t {
                touch.t = contact.t;
                touch.normal = contact.normal;
            }
            if contact.t < carried.t && walk_is_walkable(contact) {
                carried = WalkTouch(contact.t, contact.normal, true, contact.position.y, contact.leaf);
            }
        }
    }
    if carried.t <= touch.t + tie {
        touch.is_walkable = true;
        touch.height = carried.height;
        touch.leaf = carried.leaf;
    }
    return touch;
}

// Clips a motion against the first `count` planes. The last plane is the newest.
fn walk_clip(motion: vec3f, planes: array<vec3f, WALK_PLANES>, count: u32) -> vec3f {
    var faces = planes;
    let normal = faces[count - 1u];
    var left = motion - normal * min(dot(motion, normal), 0.0);
    for (var i = 0u; i + 1u < count; i++) {
        if dot(left, faces[i]) < 0.0 {
            // Slides along the intersection line of the two planes.
            let corner = cross(normal, faces[i]);
            let squared = dot(corner, corner);
            left = corner * select(0.0, dot(left, corner) / squared, squared > 1.0e-6);
        }
    }
    for (var i = 0u; i + 1u < count; i++) {
        if dot(left, faces[i]) < -1.0e-4 * length(left) {
            return vec3f(0.0);
        }
    }
    return left;
}

// Slides along obstacles. A level motion treats slopes too steep to walk on as vertical walls. Any other downward
// motion ends at the first walkable surface.
fn walk_slide(start: vec3f, motion: vec3f, is_level: bool) -> WalkMove {
    var moved = WalkMove(start, false, false, 0.0, BVH_MISS);
    var left = motion;
    var planes: array<vec3f, WALK_PLANES>;
    for (var i = 0u; i < WALK_PLANES; i++) {
        let way = length(left);
        if !(way > 1.0e-3 * params.skin) {
            break;
        }
        // Includes obstacles just beyond the end of the motion, so that the skin stays free.
        let reach = way + 2.0 * params.skin;
        let touch = walk_sweep(moved.position, left * (reach / way));
        let approach = max(-dot(touch.normal, left) / way, 1.0e-3);
        let free = touch.t * reach - params.skin / approach;
        if touch.t >= 1.0 || free >= way {
            moved.position += left;
            break;
        }
        let gone = max(free, 0.0) / way;
        moved.position += gone * left;
        left *= 1.0 - gone;
        if !is_level && touch.is_walkable && motion.y < 0.0 {
            moved.has_landed = true;
            moved.height = touch.height;
            moved.leaf = touch.leaf;
            break;
        }
        var normal = touch.normal;
        let is_wall = normal.y < params.walkable;
        moved.is_blocked = moved.is_blocked || is_wall || !is_level;
        let flat = vec3f(normal.x, 0.0, normal.z);
        if is_level && is_wall && dot(flat, flat) > 1.0e-6 {
            normal = normalize(flat);
        }
        planes[i] = normal;
        left = walk_clip(left, planes, i + 1u);
        if !(dot(left, motion) > 0.0) {
            break;
        }
    }
    return moved;
}

// Pushes the capsule out of triangles that it overlaps, the nearest first.
fn walk_depenetrate(start: vec3f) -> vec3f {
    var feet = start;
    if feet.y < params.floor && feet.y > params.floor - params.height {
        feet.y = params.floor + params.skin;
    }
    for (var i = 0u; i < 8u; i++) {
        let low = walk_low(feet);
        let high = walk_high(feet);
        let region = bvh_region_capsule(low, high, params.radius);
        var nearest = params.radius;
        var push = vec3f(0.0);
        var walk = bvh_walk_begin(params.leaf_cutoff);
        loop {
            for (var number = bvh_walk_node(&walk, 1.0); number != BVH_MISS; number = bvh_walk_node(&walk, 1.0)) {
                let node = tree_node(number);
                bvh_walk_into_all(&walk, number, node, bvh_region_enters(node, region));
            }
            if bvh_walk_is_done(&walk) {
                break;
            }
            while !bvh_walk_is_done(&walk) {
                let object = tree_triangle(bvh_walk_leaf(&walk));
                let gap = bvh_gap(object, low, high - low);
                let distance = length(gap.offset);
                if object.v0.x >= EMPTY_BOX_EXTENT || !(distance < nearest) {
                    continue;
                }
                nearest = distance;
                push = gap.offset * ((params.radius + params.skin - distance) / max(distance, 1.0e-30));
                if distance < 1.0e-3 * params.radius {
                    // The axis passes through the triangle. Pushes towards the side with the longer part of the axis.
                    let face = cross(object.v1 - object.v0, object.v2 - object.v0);
                    let middle = dot(face, 0.5 * (low + high) - object.v0);
                    let normal = face * (select(-1.0, 1.0, middle >= 0.0) / max(length(face), 1.0e-30));
                    let behind = min(dot(normal, low - object.v0), dot(normal, high - object.v0));
                    push = normal * (params.radius + params.skin - min(behind, 0.0));
                }
            }
        }
        if nearest >= params.radius {
            break;
        }
        feet += push;
    }
    return feet;
}

fn walk_corner(triangle: u32, corner: u32) -> vec3f {
    let vertex = indices[3u * triangle + corner];
    return vec3f(positions[3u * vertex], positions[3u * vertex + 1u], positions[3u * vertex + 2u]);
}

// Returns the point of a triangle, from the weights of its second and third corner.
fn walk_point(triangle: u32, weights: vec2f) -> vec3f {
    let a = walk_corner(triangle, 0u);
    return a + weights.x * (walk_corner(triangle, 1u) - a) + weights.y * (walk_corner(triangle, 2u) - a);
}

// Stores the point of the leaf below the feet, so that moving triangles carry the capsule along.
fn walk_attach_to_ground(body: ptr<function, WalkState>, leaf: u32) {
    (*body).is_grounded = 1u;
    (*body).ground_triangle = BVH_MISS;
    if leaf == BVH_MISS {
        return;
    }
    let object = tree_triangle(leaf);
    let ab = object.v1 - object.v0;
    let ac = object.v2 - object.v0;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    if squared <= 1.0e-36 {
        return;
    }
    let to = (*body).position - object.v0;
    (*body).ground_triangle = object.triangle;
    (*body).ground_weights = vec2f(dot(cross(to, ac), normal), dot(cross(ab, to), normal)) / squared;
    (*body).ground_point = walk_point(object.triangle, (*body).ground_weights);
}

// Advances one time step.
fn walk_step(body: ptr<function, WalkState>) {
    let start = (*body).position;
    let dt = params.step_secs;
    var is_grounded = (*body).is_grounded != 0u;
    var level = vec3f((*body).velocity.x, 0.0, (*body).velocity.z);
    let change = params.desired_velocity - level;
    let most = params.acceleration * dt * select(0.3, 1.0, is_grounded);
    level += change * min(most / max(length(change), 1.0e-30), 1.0);
    var fall = (*body).velocity.y - params.gravity * dt;
    if is_grounded {
        fall = params.jump;
        is_grounded = !(params.jump > 0.0);
    }
    fall = max(fall, -WALK_FASTEST_FALL * params.height);
    let view_offset = level * dt;
    // Part 0 moves ahead. If a wall stops a grounded capsule, parts 1 to 3 move up, ahead and down. Part 4 moves down
    // to the ground or falls.
    var ahead_move: WalkMove;
    var place = start;
    var risen = start;
    var leaf = BVH_MISS;
    for (var part = 0u; part < 5u; part++) {
        if part >= 1u && part <= 3u && !(is_grounded && ahead_move.is_blocked) {
            continue;
        }
        var origin = place;
        var way = view_offset;
        if part == 1u {
            origin = start;
            way = params.step_height * UP;
        } else if part == 2u {
            origin = risen;
        } else if part == 3u {
            origin = risen;
            way = (start.y - risen.y - 2.0 * params.skin) * UP;
        } else if part == 4u {
            way = select(fall * dt, -(params.step_height + 2.0 * params.skin), is_grounded) * UP;
        }
        let moved = walk_slide(origin, way, part == 0u || part == 2u);
        if part == 0u {
            ahead_move = moved;
            place = moved.position;
        } else if part <= 2u {
            risen = moved.position;
        } else if part == 3u {
            let is_low = moved.height <= start.y + params.step_height;
            let further = dot(moved.position - place, view_offset) > 0.01 * dot(view_offset, view_offset);
            if moved.has_landed && is_low && further {
                place = moved.position;
                ahead_move.is_blocked = false;
            }
        } else if is_grounded {
            is_grounded = moved.has_landed;
            fall = 0.0;
            if moved.has_landed {
                place = moved.position;
                leaf = moved.leaf;
            }
        } else {
            place = moved.position;
            if moved.has_landed {
                is_grounded = true;
                fall = 0.0;
                leaf = moved.leaf;
            } else if moved.is_blocked {
                fall = (moved.position.y - origin.y) / dt;
            }
        }
    }
    if ahead_move.is_blocked {
        let gone = (place - start) / dt;
        level = vec3f(gone.x, 0.0, gone.z);
    }
    (*body).position = place;
    (*body).velocity = level + fall * UP;
    (*body).is_grounded = 0u;
    if is_grounded {
        walk_attach_to_ground(body, leaf);
    }
}

fn walk_begin() -> WalkState {
    var body: WalkState;
    body.position = params.position;
    body.is_grounded = params.is_grounded;
    body.velocity = params.velocity;
    body.ground_triangle = params.ground_triangle;
    body.ground_point = params.ground_point;
    body.ground_weights = params.ground_weights;
    return body;
}

@compute @workgroup_size(1)
fn walk() {
    var body = walk_begin();
    if body.is_grounded != 0u && body.ground_triangle != BVH_MISS {
        let carried = walk_point(body.ground_triangle, body.ground_weights) - body.ground_point;
        // An animation clip that restarts does not carry the capsule along.
        if dot(carried, carried) < params.height * params.height {
            body.position += carried;
            body.ground_point += carried;
        }
    }
    body.position = walk_depenetrate(body.position);
    for (var step = 0u; step < min(params.steps, WALK_STEPS); step++) {
        walk_step(&body);
    }
    state = body;
}

// Places the capsule below the camera, else below the point that the camera looks at, else on top of the scene. If none
// of these holds ground, `is_grounded` stays 0.
@compute @workgroup_size(1)
fn walk_start() {
    var body = walk_begin();
    let far = length(params.view_offset);
    var origin = params.position;
    var leaf = BVH_MISS;
    for (var attempt = 0u; attempt < 4u && body.is_grounded == 0u; attempt++) {
        let is_ahead = attempt == 1u;
        if attempt == 3u {
            origin = params.top;
        }
        let motion = select(-far * UP, params.view_offset, is_ahead);
        let touch = walk_sweep(origin, motion);
        let place = origin + motion * max(touch.t - params.skin / max(far, 1.0e-30), 0.0);
        if is_ahead {
            origin = place;
        } else if touch.t < 1.0 && touch.is_walkable {
            body.is_grounded = 1u;
            body.position = place;
            leaf = touch.leaf;
        }
    }
    if body.is_grounded != 0u {
        body.position = walk_depenetrate(body.position);
        walk_attach_to_ground(&body, leaf);
    }
    state = body;
}
