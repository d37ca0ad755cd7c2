// moments: computes the far-field moments of each node of a BVH over triangles, for winding numbers.
//
// moments_leaves  in the BVH (group 1); out moments: two rows for each leaf
// moments_level   in moments; out moments: two rows for each eight pairs of rows of the previous level
// moments_nodes   in moments, the BVH; out moments: two rows for each node, after all levels
// First-order moments of Barill et al. 2018, "Fast Winding Numbers for Soups and Clouds", section 3: the sum of the
// triangles' area-weighted normals, their area, and the sum of their area-weighted centroids. One thread per pair of
// rows. A node's leaves are a contiguous range, summed from at most 14 pairs of rows of each level.
#import "bvh/dispatch.wgsl"
#import "bvh/tree_read.wgsl"

// x and y: number of row pairs to write, and offset of the first, in pairs. For moments_level, z and w: offset of the
// first pair to read, and number of pairs to read.
@group(0) @binding(0) var<uniform> level: vec4u;
@group(0) @binding(1) var<storage, read_write> moments: array<vec4f>;

const MOMENT_FAN = 8u;

struct Moment {
    normal: vec4f,
    centroid: vec4f,
}

fn moment_at(pair: u32) -> Moment {
    return Moment(moments[2u * pair], moments[2u * pair + 1u]);
}

fn moment_store(pair: u32, moment: Moment) {
    moments[2u * pair] = moment.normal;
    moments[2u * pair + 1u] = moment.centroid;
}

fn moment_add(a: Moment, b: Moment) -> Moment {
    return Moment(a.normal + b.normal, a.centroid + b.centroid);
}

@compute @workgroup_size(TRACE_BLOCK)
fn moments_leaves(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= level.x {
        return;
    }
    let triangle = tree_triangle(i);
    var normal = 0.5 * cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    let area = length(normal);
    var centroid = (triangle.v0 + triangle.v1 + triangle.v2) / 3.0;
    // Triangles that no tree can hold are stored at EMPTY_BOX_EXTENT.
    if triangle.v0.x >= EMPTY_BOX_EXTENT {
        normal = vec3f(0.0);
        centroid = vec3f(0.0);
    }
    moment_store(i, Moment(vec4f(normal, area), vec4f(area * centroid, 0.0)));
}

@compute @workgroup_size(TRACE_BLOCK)
fn moments_level(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= level.x {
        return;
    }
    var sum = Moment(vec4f(0.0), vec4f(0.0));
    for (var k = MOMENT_FAN * i; k < min(MOMENT_FAN * (i + 1u), level.w); k++) {
        sum = moment_add(sum, moment_at(level.z + k));
    }
    moment_store(level.y + i, sum);
}

@compute @workgroup_size(TRACE_BLOCK)
fn moments_nodes(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= level.x {
        return;
    }
    let node = tree_node(i);
    var count = level.x;
    // Unused slots may hold anything, so clamp the range.
    var end = min(node.ends.w, count);
    var begin = min(node.first, end);
    var first = 0u;
    var sum = Moment(vec4f(0.0), vec4f(0.0));
    while begin < end {
        while begin < end && begin % MOMENT_FAN != 0u {
            sum = moment_add(sum, moment_at(first + begin));
            begin++;
        }
        while begin < end && end % MOMENT_FAN != 0u {
            end--;
            sum = moment_add(sum, moment_at(first + end));
        }
        first += count;
        count = (count + MOMENT_FAN - 1u) / MOMENT_FAN;
        begin /= MOMENT_FAN;
        end /= MOMENT_FAN;
    }
    moment_store(level.y + i, sum);
}
