// baseline: textbook BVH traversal, as a reference for the speed of `trace`.
//
// in   rays, nodes (a binary tree whose root is node 0), corners (three vec4 per triangle)
// out  hits, one per ray; the mesh is 0, or BVH_MISS for a miss, and `triangle` is the index among all triangles
// One thread per ray. A node is its own box with two children or one triangle, so both children must be fetched to be
// tested. Children are pushed unordered. Each leaf has one triangle, with the intersection test of Möller and Trumbore
// (1997). The host checks that no tree is deeper than the stack.
#import "bvh/dispatch.wgsl"
#import "bvh/ray.wgsl"

struct BaselineNode {
    lower: vec3f,
    // Triangle of a leaf, or the left child.
    left: u32,
    upper: vec3f,
    // Right child, or 0 for a leaf.
    right: u32,
}

// x: number of rays.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> rays: array<Ray>;
@group(0) @binding(2) var<storage, read> nodes: array<BaselineNode>;
@group(0) @binding(3) var<storage, read> corners: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> hits: array<Hit>;

fn enters(node: BaselineNode, ray: Ray, inverse: vec3f) -> bool {
    let a = (node.lower - ray.origin) * inverse;
    let b = (node.upper - ray.origin) * inverse;
    let near = min(a, b);
    let far = max(a, b);
    let enter = max(max(near.x, near.y), max(near.z, ray.t_min));
    let leave = min(min(far.x, far.y), min(far.z, ray.t_max));
    return enter <= leave * 1.00000048;
}

fn intersect(triangle: u32, ray: Ray, hit: ptr<function, Hit>) -> bool {
    let v0 = corners[3u * triangle].xyz;
    let edge1 = corners[3u * triangle + 1u].xyz - v0;
    let edge2 = corners[3u * triangle + 2u].xyz - v0;
    let p = cross(ray.direction, edge2);
    let determinant = dot(edge1, p);
    if determinant == 0.0 {
        return false;
    }
    let from_v0 = ray.origin - v0;
    let u = dot(from_v0, p) / determinant;
    let q = cross(from_v0, edge1);
    let v = dot(ray.direction, q) / determinant;
    let t = dot(edge2, q) / determinant;
    if u < 0.0 || v < 0.0 || u + v > 1.0 || t <= ray.t_min || t >= ray.t_max {
        return false;
    }
    *hit = Hit(t, vec2f(u, v), 0u, triangle);
    return true;
}

fn baseline(i: u32, any: bool) {
    if i >= query.x {
        return;
    }
    var ray = rays[i];
    let tiny = vec3f(1.0e-20);
    let d = ray.direction;
    let inverse = 1.0 / select(d, select(tiny, -tiny, d < vec3f(0.0)), abs(d) < tiny);
    var hit = Hit(ray.t_max, vec2f(0.0), BVH_MISS, 0u);
    var stack: array<u32, BASELINE_STACK>;
    var depth = 1u;
    stack[0] = 0u;
    while depth > 0u {
        depth--;
        let node = nodes[stack[depth]];
        if !enters(node, ray, inverse) {
            continue;
        }
        if node.right == 0u {
            if intersect(node.left, ray, &hit) {
                ray.t_max = hit.t;
                if any {
                    break;
                }
            }
        } else {
            stack[depth] = node.left;
            stack[depth + 1u] = node.right;
            depth += 2u;
        }
    }
    hits[i] = hit;
}

@compute @workgroup_size(TRACE_BLOCK)
fn baseline_closest_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    baseline(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, false);
}

@compute @workgroup_size(TRACE_BLOCK)
fn baseline_any_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    baseline(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, true);
}
