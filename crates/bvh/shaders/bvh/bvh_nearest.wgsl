// The point of the tree's triangles that is nearest to a point. The tree is group 1 (bvh/tree_read.wgsl).
//
// Nodes are visited by the distance of their boxes, the nearest first, and left out where nothing in them can
// be nearer than the best so far (Roussopoulos et al. 1995, "Nearest Neighbor Queries").
#import "bvh/tree_read.wgsl"

struct Nearest {
    position: vec3f,
    // Of the point from there; what it was looked for within, where nothing is as near.
    distance: f32,
    // Weights of the triangle's second and third vertex.
    barycentric: vec2f,
    // The mesh; BVH_MISS where nothing is as near.
    mesh: u32,
    // The triangle, numbered within its mesh.
    triangle: u32,
}

// A leaf, the square of its distance, and the first triangle of its mesh. Weights are computed once, at the end.
struct BvhNearLeaf {
    squared: f32,
    leaf: u32,
    first: u32,
}

// A point of a triangle, relative to the point that is looked for.
struct BvhNear {
    offset: vec3f,
    squared: f32,
    barycentric: vec2f,
}

fn bvh_near(a: vec3f, ab: vec3f, ac: vec3f, barycentric: vec2f) -> BvhNear {
    let offset = a + barycentric.x * ab + barycentric.y * ac;
    return BvhNear(offset, dot(offset, offset), barycentric);
}

fn bvh_nearer(a: BvhNear, b: BvhNear) -> BvhNear {
    if b.squared < a.squared {
        return b;
    }
    return a;
}

// Where along an edge from `a` the origin is nearest.
fn bvh_along(a: vec3f, edge: vec3f) -> f32 {
    return saturate(-dot(a, edge) / max(dot(edge, edge), 1.0e-30));
}

// The nearest of its inside and its three edges, each by itself: triangles without an area have their edges.
fn bvh_near_triangle(triangle: LeafTriangle, point: vec3f) -> BvhNear {
    let a = triangle.v0 - point;
    let ab = triangle.v1 - triangle.v0;
    let ac = triangle.v2 - triangle.v0;
    let bc = triangle.v2 - triangle.v1;
    let along = bvh_along(triangle.v1 - point, bc);
    var best = bvh_near(a, ab, ac, vec2f(bvh_along(a, ab), 0.0));
    best = bvh_nearer(best, bvh_near(a, ab, ac, vec2f(0.0, bvh_along(a, ac))));
    best = bvh_nearer(best, bvh_near(a, ab, ac, vec2f(1.0 - along, along)));
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    // Less is no area, in units that hold the square.
    if squared > 1.0e-36 {
        var weights = vec2f(dot(cross(ac, a), normal), dot(cross(a, ab), normal)) / squared;
        // What is left of it in the plane, for needles: their weights are steep.
        let left = a + weights.x * ab + weights.y * ac;
        weights += vec2f(dot(cross(ac, left), normal), dot(cross(left, ab), normal)) / squared;
        if all(weights >= vec2f(0.0)) && weights.x + weights.y <= 1.0 {
            best = bvh_nearer(best, bvh_near(a, ab, ac, weights));
        }
    }
    return best;
}

// Squares of the distances of a node's boxes, never too large.
fn bvh_box_distances(node: Node, point: vec3f) -> vec4f {
    let step = bvh_grid_step(node);
    let start = node.origin - point;
    let slack = bvh_grid_slack(start, step);
    let low = start - slack;
    let high = -start - slack;
    let x = max(bvh_steps(node.lower.x) * step.x + low.x, high.x - bvh_steps(node.upper.x) * step.x);
    let y = max(bvh_steps(node.lower.y) * step.y + low.y, high.y - bvh_steps(node.upper.y) * step.y);
    let z = max(bvh_steps(node.lower.z) * step.z + low.z, high.z - bvh_steps(node.upper.z) * step.z);
    let dx = max(x, vec4f(0.0));
    let dy = max(y, vec4f(0.0));
    let dz = max(z, vec4f(0.0));
    return (dx * dx + dy * dy + dz * dz) * 0.999999;
}

// The square of a triangle's distance; that of slivers, whose normals are rounded, is found as above.
fn bvh_near_squared(triangle: LeafTriangle, point: vec3f) -> f32 {
    let a = triangle.v0 - point;
    let b = triangle.v1 - point;
    let ab = triangle.v1 - triangle.v0;
    let ac = triangle.v2 - triangle.v0;
    let bc = triangle.v2 - triangle.v1;
    let on_ab = a + bvh_along(a, ab) * ab;
    let on_ac = a + bvh_along(a, ac) * ac;
    let on_bc = b + bvh_along(b, bc) * bc;
    let edges = min(dot(on_ab, on_ab), min(dot(on_ac, on_ac), dot(on_bc, on_bc)));
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    let height = dot(a, normal);
    let u = dot(cross(ac, a), normal);
    let v = dot(cross(a, ab), normal);
    let is_inside = min(u, v) >= 0.0 && u + v <= squared && squared > 1.0e-36;
    var nearest = select(edges, min(edges, height * height / squared), is_inside);
    let is_sliver = squared < 0.01 * dot(ab, ab) * dot(ac, ac) && squared > 1.0e-36;
    if is_sliver {
        nearest = bvh_near_triangle(triangle, point).squared;
    }
    return nearest;
}

// The leaf that is nearer than `start`, which is a leaf's or has BVH_MISS; `start` where there is none.
//
// As rays do (bvh/bvh.wgsl), down nodes to triangles and then through those, in turns.
fn bvh_nearest_leaf(point: vec3f, start: BvhNearLeaf, cutoff: u32) -> BvhNearLeaf {
    let leaf_cutoff = max(tree.leaf_cutoff, cutoff);
    var best = start;
    // First triangle of the mesh that is being visited.
    var first = 0u;
    // The leaves leaf..end are to be tested, then later_leaf..later_end, then `next` is to be visited.
    var leaf = 0u;
    var end = 0u;
    var later_leaf = 0u;
    var later_end = 0u;
    var next = bvh_root();
    // What is to be visited, and the square of its distance as bits: apart, because the time in which software adapters
    // compile an array grows with the square of its words.
    var stack: array<u32, STACK_SIZE>;
    var stack_distances: array<u32, STACK_SIZE>;
    var depth = 0u;
    var visits = tree.triangle_count + tree.mesh_count;
    loop {
        loop {
            if next == BVH_MISS && depth > 0u {
                depth--;
                let squared = bitcast<f32>(stack_distances[depth]);
                next = select(BVH_MISS, stack[depth], squared < best.squared);
            }
            // Into the mesh that is next.
            if !bvh_is_node(next) && next != BVH_MISS {
                let mesh = tree_triangle(next & ~BVH_MESH);
                first = mesh.triangle;
                next = first;
                if mesh.payload <= leaf_cutoff {
                    leaf = first;
                    end = first + mesh.payload;
                    later_leaf = later_end;
                    next = BVH_MISS;
                }
            }
            if bvh_is_node(next) {
                visits--;
                let node = tree_node(next);
                let over_meshes = next >= tree.triangle_count;
                let starts = vec4u(node.first, node.ends.xyz);
                let sizes = node.ends - starts;
                let distances = bvh_box_distances(node, point);
                let is_near = (distances < vec4f(best.squared)) & (sizes != vec4u(0u));
                let is_leaf = sizes <= vec4u(select(leaf_cutoff, 1u, over_meshes));
                // Children that are leaves: one range of the first two, and one of the others.
                let tested = is_near & is_leaf & vec4<bool>(!over_meshes);
                leaf = select(starts.y, starts.x, tested.x);
                end = select(starts.y, starts.z, tested.y);
                later_leaf = select(starts.w, starts.z, tested.z);
                later_end = select(starts.w, node.ends.w, tested.w);
                if leaf == end {
                    leaf = later_leaf;
                    end = later_end;
                    later_leaf = later_end;
                }
                // In the order of distances, whose lowest bits are the child's number.
                let visited = is_near & !(is_leaf & vec4<bool>(!over_meshes));
                let keys = select(
                    vec4u(BVH_MISS),
                    (bitcast<vec4u>(distances) & vec4u(0x7ffffffcu)) | vec4u(0u, 1u, 2u, 3u),
                    visited,
                );
                let low = min(keys.xz, keys.yw);
                let high = max(keys.xz, keys.yw);
                let inner = vec2u(max(low.x, low.y), min(high.x, high.y));
                let later = vec3u(min(inner.x, inner.y), max(inner.x, inner.y), max(high.x, high.y));
                let numbers = bvh_children(node, over_meshes, is_leaf);
                next = bvh_child(numbers, min(low.x, low.y));
                let counted = select(vec3u(0u), vec3u(1u), later != vec3u(BVH_MISS));
                let room = depth + counted.x + counted.y + counted.z;
                if room > STACK_SIZE {
                    // All of it as one range.
                    leaf = node.first;
                    end = node.ends.w;
                    later_leaf = later_end;
                    next = BVH_MISS;
                } else {
                    // The farthest lowest.
                    if later.x != BVH_MISS {
                        stack[room - 1u] = bvh_child(numbers, later.x);
                        stack_distances[room - 1u] = later.x & ~3u;
                    }
                    if later.y != BVH_MISS {
                        stack[room - 2u] = bvh_child(numbers, later.y);
                        stack_distances[room - 2u] = later.y & ~3u;
                    }
                    if later.z != BVH_MISS {
                        stack[room - 3u] = bvh_child(numbers, later.z);
                        stack_distances[room - 3u] = later.z & ~3u;
                    }
                    depth = room;
                }
            }
            if leaf != end || (next == BVH_MISS && depth == 0u) || visits == 0u {
                break;
            }
        }
        if leaf == end {
            break;
        }
        loop {
            let squared = bvh_near_squared(tree_triangle(leaf), point);
            if squared < best.squared {
                best = BvhNearLeaf(squared, leaf, first);
            }
            leaf++;
            if leaf == end {
                leaf = later_leaf;
                end = later_end;
                later_leaf = later_end;
            }
            if leaf == end {
                break;
            }
        }
        if visits == 0u {
            break;
        }
    }
    return best;
}

// The nearest point of what `bvh_nearest_leaf` has found within `reach`.
fn bvh_nearest_point(point: vec3f, reach: f32, found: BvhNearLeaf) -> Nearest {
    if found.leaf == BVH_MISS {
        return Nearest(point, reach, vec2f(0.0), BVH_MISS, 0u);
    }
    let triangle = tree_triangle(found.leaf);
    let near = bvh_near_triangle(triangle, point);
    return Nearest(
        point + near.offset,
        sqrt(near.squared),
        near.barycentric,
        triangle.mesh & ~ANY_HIT_TEST,
        triangle.triangle - found.first,
    );
}

// What is nearer than `reach`, which is not negative. Any `cutoff` gives the same distance, but for rounding.
fn bvh_nearest(point: vec3f, reach: f32, cutoff: u32) -> Nearest {
    let found = bvh_nearest_leaf(point, BvhNearLeaf(reach * reach, BVH_MISS, 0u), cutoff);
    return bvh_nearest_point(point, reach, found);
}
