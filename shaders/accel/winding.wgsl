// winding: winding numbers of points with regard to all triangles of the tree: 1 inside of a closed surface whose
// corners go round counterclockwise from outside, 0 outside, and in between near openings (Jacobson et al. 2013).
//
// in   points; moments (accel/moments.wgsl); the tree (group 1)
// out  winding: winding, a number for each point
//      winding_sign: found (accel/nearest.wgsl), whose distance becomes negative where the number is above 0.5
// Nodes that are far away count as one dipole (Barill et al. 2018); near triangles by their solid angle (van Oosterom
// and Strackee 1983). One thread per point.
#import "common/angle.wgsl"
#import "common/bvh_walk.wgsl"
#import "common/dispatch.wgsl"

struct Nearest {
    position: vec3f,
    distance: f32,
    barycentric: vec2f,
    mesh: u32,
    triangle: u32,
}

// The number of points; leaf_cutoff; behind how many pairs of rows the nodes' moments lie.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> points: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> winding_numbers: array<f32>;
@group(0) @binding(3) var<storage, read> moments: array<vec4f>;

@group(0) @binding(2) var<storage, read_write> found: array<Nearest>;

// How many times its size a node has to be away.
const DIPOLE_REACH = 2.5;
// The solid angle of all directions.
const WHOLE_ANGLE = 12.566371;

fn largest(packed: u32) -> f32 {
    let steps = bvh_steps(packed);
    return max(max(steps.x, steps.y), max(steps.z, steps.w));
}

// The solid angle of a triangle as seen from the origin, over 2.
fn half_solid_angle(a: vec3f, b: vec3f, c: vec3f) -> f32 {
    let la = length(a);
    let lb = length(b);
    let lc = length(c);
    let volume = dot(a, cross(b - a, c - a));
    let rest = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    if volume == 0.0 && rest == 0.0 {
        return 0.0;
    }
    return angle_of(volume, rest);
}

fn winding_number(point: vec3f) -> f32 {
    var sum = 0.0;
    var walk = bvh_walk_begin(point.x, query.y);
    loop {
        for (var number = bvh_walk_node(&walk, 1.0); number != BVH_MISS; number = bvh_walk_node(&walk, 1.0)) {
            let node = tree_node(number);
            var is_far = false;
            // The TLAS has no moments.
            if number < tree.triangle_count {
                let normal = moments[2u * (query.z + number)];
                let centroid = moments[2u * (query.z + number) + 1u].xyz / max(normal.w, 1.0e-30);
                let upper = vec3f(largest(node.upper.x), largest(node.upper.y), largest(node.upper.z));
                let half_extent = 0.5 * upper * bvh_grid_step(node);
                let size = length(abs(centroid - node.origin - half_extent) + half_extent);
                let offset = centroid - point;
                let distance = length(offset);
                is_far = distance > DIPOLE_REACH * size;
                if is_far {
                    sum += dot(normal.xyz, offset / distance) / (WHOLE_ANGLE * distance * distance);
                }
            }
            bvh_walk_into_all(&walk, number, node, vec4<bool>(!is_far));
        }
        if bvh_walk_is_done(&walk) {
            break;
        }
        while !bvh_walk_is_done(&walk) {
            let triangle = tree_triangle(bvh_walk_leaf(&walk));
            if triangle.v0.x < BOX_FAR {
                let half = half_solid_angle(triangle.v0 - point, triangle.v1 - point, triangle.v2 - point);
                sum += 2.0 * half / WHOLE_ANGLE;
            }
        }
    }
    return sum;
}

@compute @workgroup_size(TRACE_BLOCK)
fn winding(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i < min(query.x, min(arrayLength(&points), arrayLength(&winding_numbers))) {
        winding_numbers[i] = winding_number(points[i].xyz);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn winding_sign(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= min(query.x, min(arrayLength(&points), arrayLength(&found))) {
        return;
    }
    if found[i].mesh != BVH_MISS && winding_number(points[i].xyz) > 0.5 {
        found[i].distance = -found[i].distance;
    }
}
