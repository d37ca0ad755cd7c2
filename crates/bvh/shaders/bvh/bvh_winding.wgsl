// Winding number of a point with respect to all triangles of the BVH (Jacobson et al. 2013). The includer binds the
// moments of the nodes (bvh/build/moments.wgsl) as `moments: array<vec4f>`.
//
// Distant nodes are approximated by a dipole (Barill et al. 2018). Near triangles use their solid angle (van Oosterom
// and Strackee 1983).
#import "bvh/angle.wgsl"
#import "bvh/bvh_walk.wgsl"

// Distance from which a node counts as a dipole, relative to the node's size.
const BVH_DIPOLE_REACH = 2.5;
// Solid angle of a sphere, 4π.
const BVH_WHOLE_ANGLE = 12.566371;

fn bvh_largest_step(packed: u32) -> f32 {
    let steps = bvh_steps(packed);
    return max(max(steps.x, steps.y), max(steps.z, steps.w));
}

// Returns half the solid angle of a triangle as seen from the origin.
fn bvh_half_solid_angle(a: vec3f, b: vec3f, c: vec3f) -> f32 {
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

// Returns the winding number of a point. `first_node` is the offset of the node moments, in pairs of rows.
fn bvh_winding_number(point: vec3f, leaf_cutoff: u32, first_node: u32) -> f32 {
    var sum = 0.0;
    var walk = bvh_walk_begin(leaf_cutoff);
    loop {
        for (var number = bvh_walk_node(&walk, 1.0); number != BVH_MISS; number = bvh_walk_node(&walk, 1.0)) {
            let node = tree_node(number);
            var is_far = false;
            // The TLAS has no moments.
            if number < tree.triangle_count {
                let normal = moments[2u * (first_node + number)];
                let centroid = moments[2u * (first_node + number) + 1u].xyz / max(normal.w, 1.0e-30);
                let steps = node.upper;
                let upper = vec3f(bvh_largest_step(steps.x), bvh_largest_step(steps.y), bvh_largest_step(steps.z));
                let half_extent = 0.5 * upper * bvh_grid_step(node);
                let size = length(abs(centroid - node.origin - half_extent) + half_extent);
                let offset = centroid - point;
                let distance = length(offset);
                is_far = distance > BVH_DIPOLE_REACH * size;
                if is_far {
                    sum += dot(normal.xyz, offset / distance) / (BVH_WHOLE_ANGLE * distance * distance);
                }
            }
            bvh_walk_into_all(&walk, number, node, vec4<bool>(!is_far));
        }
        if bvh_walk_is_done(&walk) {
            break;
        }
        while !bvh_walk_is_done(&walk) {
            let triangle = tree_triangle(bvh_walk_leaf(&walk));
            if triangle.v0.x < EMPTY_BOX_EXTENT {
                let half = bvh_half_solid_angle(triangle.v0 - point, triangle.v1 - point, triangle.v2 - point);
                sum += 2.0 * half / BVH_WHOLE_ANGLE;
            }
        }
    }
    return sum;
}
