// pick: finds the nearest visible hit of a ray from the camera.
//
// in   the BVHs (group 1), the merged scene (group 2), the G-buffer's position and ids
// out  picked: the triangle that is hit, with its corners, or the point or line in front of it
// One thread. The ray follows the visibility rules of the picture. It hits blended surfaces unless they are fully
// transparent, skips the back faces of single-sided surfaces, and hits masked surfaces where the G-buffer shows them.
// The G-buffer may have sampled a masked surface away from the pixel centre (material/cut_out.wgsl), while rays go
// through the centre. The ray's own alpha test therefore decides only where the ray misses the G-buffer's triangle, for
// example at edges.
// Points and lines are in no tree, so they are looked up in the G-buffer.
#import "material/alpha.wgsl"
#import "bvh/bvh.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "frame/gbuffer_position.wgsl"
#import "frame/segment.wgsl"

struct PickParams {
    // The ray, with the fields of Ray.
    origin: vec3f,
    t_min: f32,
    direction: vec3f,
    t_max: f32,
    eye: vec3f,
    leaf_cutoff: u32,
    forward: vec3f,
    // Radius in pixels around `pixel` in which points and lines are searched; 0 if the scene has none.
    reach: u32,
    // G-buffer pixel that the ray goes through.
    pixel: vec2u,
    // Number of triangles in the merged scene.
    triangle_count: u32,
    // View rays of the G-buffer.
    rays: ViewRays,
}

struct PickHit {
    v0: vec3f,
    // Distance in units of the length of the ray's direction.
    t: f32,
    v1: vec3f,
    // Mesh number; BVH_MISS if no triangle is hit.
    mesh: u32,
    v2: vec3f,
    // Number of the triangle in the merged index buffer.
    triangle: u32,
    normal: vec3f,
    material: u32,
    uv: vec2f,
    barycentric: vec2f,
    // Position of the point or line.
    segment_position: vec3f,
    // Index of the point or line in triangle_info, plus 1; 0 if a triangle is nearer.
    segment: u32,
}

@group(0) @binding(0) var<uniform> params: PickParams;
@group(0) @binding(1) var position_texture: texture_2d<f32>;
@group(0) @binding(2) var ids_texture: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> picked: PickHit;

// Id in the G-buffer at this pixel: for a triangle its index plus 1, and 0 for the background.
var<private> shown: u32;
// True if `shown` is the background, or a triangle that the ray hits. Then `shown` decides which masked surfaces are
// visible.
var<private> is_shown_known: bool;

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    let header = ALPHA_HEADER * triangle.payload;
    if is_shown_known && tables[header + ALPHA_MODE] == ALPHA_MASK {
        return triangle.triangle + 1u == shown;
    }
    let value = alpha_value(header, triangle.triangle, barycentric);
    let blends = tables[header + ALPHA_BLENDED] != 0u;
    return select(value >= bitcast<f32>(tables[header + ALPHA_CUTOFF]), value > 0.0, blends);
}

// Reads the G-buffer's triangle at the pixel and tests whether the ray hits it.
fn read_shown(ray: Ray) {
    shown = textureLoad(ids_texture, params.pixel, 0).r;
    is_shown_known = shown == 0u;
    if gbuffer_is_triangle(shown) {
        let first = 3u * (shown - 1u);
        let triangle = LeafTriangle(
            scene_position(indices(first)),
            shown - 1u,
            scene_position(indices(first + 1u)),
            0u,
            scene_position(indices(first + 2u)),
            0u,
        );
        var hit: BvhLeafHit;
        is_shown_known = bvh_triangle(triangle, ray, bvh_projection(ray.direction), &hit);
    }
}

fn is_seen(triangle: LeafTriangle, direction: vec3f) -> bool {
    let has_back = tables[ALPHA_HEADER * triangle.payload + ALPHA_DOUBLE_SIDED] != 0u;
    return has_back || dot(cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0), direction) <= 0.0;
}

fn nearest_seen() -> BvhLeafHit {
    var ray = Ray(params.origin, params.t_min, params.direction, params.t_max);
    read_shown(ray);
    var hit: BvhLeafHit;
    // Passes through consecutive back faces. The bound guarantees that the loop ends.
    for (var passed = 0u; passed < 256u; passed++) {
        hit = bvh_traverse(ray, params.leaf_cutoff, false);
        if hit.leaf == BVH_MISS || is_seen(tree_triangle(hit.leaf), ray.direction) {
            break;
        }
        ray.t_min = hit.t;
        hit.leaf = BVH_MISS;
    }
    return hit;
}

struct Segment {
    position: vec3f,
    // Same encoding as PickHit.segment.
    segment: u32,
}

// Finds the point or line nearest to the pixel that is not behind `depth`.
fn find_segment(depth: f32) -> Segment {
    let size = vec2i(textureDimensions(ids_texture));
    let reach = i32(params.reach);
    var nearest = 1.0e9;
    var found: Segment;
    for (var y = -reach; y <= reach; y++) {
        for (var x = -reach; x <= reach; x++) {
            let at = vec2i(params.pixel) + vec2i(x, y);
            let distance = f32(x * x + y * y);
            if any(at < vec2i(0)) || any(at >= size) || distance >= nearest {
                continue;
            }
            let id = textureLoad(ids_texture, at, 0).r;
            let texel = textureLoad(position_texture, at, 0);
            // Lines may lie in a surface, and `depth` belongs to another pixel.
            if id > GBUFFER_NO_TRIANGLE && gbuffer_depth(texel, params.eye, params.forward) <= depth * 1.01 {
                nearest = distance;
                let seen_at = (vec2f(at) + 0.5) / vec2f(size);
                found = Segment(gbuffer_point(texel, params.rays, seen_at).xyz, id & ~GBUFFER_NO_TRIANGLE);
            }
        }
    }
    if found.segment != 0u {
        // The pixel's centre does not lie on the line, so the position is moved onto it.
        let place = segment_place(found.segment - 1u, params.triangle_count, found.position);
        let ends = place.vertices;
        found.position = mix(scene_position(ends.x), scene_position(ends.y), place.share);
    }
    return found;
}

@compute @workgroup_size(1)
fn pick() {
    let hit = nearest_seen();
    var out: PickHit;
    out.t = hit.t;
    out.mesh = BVH_MISS;
    if hit.leaf != BVH_MISS {
        let triangle = tree_triangle(hit.leaf);
        let number = triangle.triangle;
        let i = vec3u(indices(3u * number), indices(3u * number + 1u), indices(3u * number + 2u));
        let w = vec3f(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
        out.v0 = triangle.v0;
        out.v1 = triangle.v1;
        out.v2 = triangle.v2;
        out.mesh = triangle.mesh & ~ANY_HIT_TEST;
        out.triangle = number;
        out.normal = w.x * scene_normal(i.x) + w.y * scene_normal(i.y) + w.z * scene_normal(i.z);
        out.material = triangle.payload;
        out.uv = w.x * scene_uv(i.x, 0u) + w.y * scene_uv(i.y, 0u) + w.z * scene_uv(i.z, 0u);
        out.barycentric = hit.barycentric;
    }
    if params.reach > 0u {
        let found = find_segment(hit.t);
        out.segment_position = found.position;
        out.segment = found.segment;
    }
    picked = out;
}
