// tree_boxes: draws boxes of the BVHs as lines over the picture.
//
// tree_boxes_count, tree_boxes_list: one thread per leaf descends from the root to its leaf and emits the boxes whose
// first leaf this is, so that each box is emitted once
// in   the BVHs (group 1), one row per mesh
// out  number of boxes of each thinning level and in all, and the depth of the deepest box; then the boxes of the
//      chosen level and above, in any order
// tree_boxes_choose: one thread
// in   the counts
// out  the lowest thinning level whose boxes all fit into the list. For unchanged BVHs, the result is the same in every
//      frame.
// tree_boxes_edge: vertex shader for the four corners of a strip along each of the twelve edges of a box
// in   the list
// tree_boxes_line: fragment shader of the lines
// in   the G-buffer's position
// out  colours premultiplied with their coverage. Blending keeps the maximum of each channel, so their order does not
//      matter.
// tree_boxes_show: blends the lines over the picture
// Workgroups share data only through atomicAdd and atomicMax.
#import "bvh/box.wgsl"
#import "frame/fullscreen.wgsl"
#import "bvh/dispatch.wgsl"
#import "frame/gbuffer_position.wgsl"
#import "math/magma.wgsl"
#import "bvh/tree_read.wgsl"

struct TreeBoxesParams {
    clip_from_offset: mat4x4f,
    eye: vec3f,
    // First leaf to descend to.
    first_leaf: u32,
    forward: vec3f,
    leaf_count: u32,
    // Size in pixels of the picture under the boxes.
    size: vec2f,
    // Nonzero to show leaves of the TLAS.
    over_meshes: u32,
    leaf_cutoff: u32,
    // Range of depths to show, unless leaves_alone shows only leaf boxes.
    first_depth: u32,
    last_depth: u32,
    leaves_alone: u32,
    // Half the line width in pixels.
    half_width: f32,
    // Opacity of lines behind surfaces.
    hidden: f32,
    // Width in metres of a G-buffer pixel at the eye, and its growth per metre of depth.
    pixel_side: vec2f,
    // Top-left corner of the picture in the target.
    origin: vec2u,
}

struct TreeBox {
    lower: vec3f,
    // Levels below the root.
    depth: u32,
    upper: vec3f,
    // Style: a box coloured by depth, the current box, or a line from one corner to the other.
    kind: u32,
}

@group(0) @binding(0) var<uniform> params: TreeBoxesParams;
@group(0) @binding(1) var<storage, read> tlas: array<TlasEntry>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> list: array<TreeBox>;
@group(0) @binding(4) var<storage, read_write> arguments: array<u32, 4>;

@group(0) @binding(1) var<storage, read> listed: array<TreeBox>;
@group(0) @binding(2) var<storage, read> counted: array<u32>;
@group(0) @binding(3) var position_texture: texture_2d<f32>;

@group(0) @binding(1) var lines_texture: texture_2d<f32>;

// True to list the boxes; false to count them.
var<private> lists: bool;

// Returns the highest thinning level at which a box is still shown. Half of all boxes have level 0, a quarter level 1,
// and so on.
fn thinning_level(leaf: u32, depth: u32) -> u32 {
    var hash = (leaf + 1u) * 0x9e3779b9u ^ depth * 0x85ebca6bu;
    hash = (hash ^ (hash >> 16u)) * 0x7feb352du;
    hash = (hash ^ (hash >> 15u)) * 0x846ca68bu;
    hash ^= hash >> 16u;
    return min(countTrailingZeros(hash), TREE_BOX_LEVELS - 1u);
}

fn found(bounds: Box, leaf: u32, depth: u32) {
    let level = thinning_level(leaf, depth);
    if !lists {
        atomicAdd(&counts[TREE_BOX_HEADER + level], 1u);
        atomicAdd(&counts[TREE_BOXES_FOUND], 1u);
        atomicMax(&counts[TREE_BOXES_DEEPEST], depth);
    } else if level >= atomicLoad(&counts[TREE_BOXES_LEVEL]) {
        let place = atomicAdd(&counts[TREE_BOXES_LISTED], 1u);
        if place < TREE_BOX_LIMIT {
            list[place] = TreeBox(bounds.lower, depth, bounds.upper, TREE_BOX_BY_DEPTH);
        }
    }
}

// Returns the box of a child of a node.
fn child_box(node: Node, child: u32) -> Box {
    let step = bvh_grid_step(node);
    let shift = vec3u(8u * child);
    let lower = vec3f((node.lower >> shift) & vec3u(255u));
    let upper = vec3f((node.upper >> shift) & vec3u(255u));
    return Box(node.origin + lower * step, node.origin + upper * step);
}

// Returns the union of the boxes of a node's children.
fn node_box(node: Node) -> Box {
    var around = box_empty();
    for (var child = 0u; child < 4u; child++) {
        let bounds = child_box(node, child);
        if bounds.lower.x <= bounds.upper.x {
            around = box_union(around, bounds);
        }
    }
    return around;
}

// True if a mesh with this box is hidden. Hidden meshes are collapsed to a point.
fn is_hidden(mesh: Box) -> bool {
    return all(mesh.lower == mesh.upper);
}

fn descend(leaf: u32) {
    let over_meshes = params.over_meshes != 0u;
    let leaves_alone = params.leaves_alone != 0u;
    let cutoff = select(max(params.leaf_cutoff, tree.leaf_cutoff), 1u, over_meshes);
    var start = tree.triangle_count;
    var end = start + tree.mesh_count;
    var bounds = box_empty();
    let item = tree_triangle(leaf);
    if !over_meshes {
        let mesh = tlas[item.mesh & ~ANY_HIT_TEST];
        start = mesh.first_triangle;
        end = start + mesh.triangle_count;
        bounds = Box(mesh.box_min, mesh.box_max);
        if is_hidden(bounds) {
            return;
        }
    } else if tree.mesh_count > 1u {
        bounds = node_box(tree_node(start));
    } else {
        bounds = Box(item.v0, item.v1);
    }
    var number = start;
    for (var depth = 0u; depth <= params.last_depth; depth++) {
        let is_leaf = end - start <= cutoff;
        let is_shown = select(depth >= params.first_depth, is_leaf, leaves_alone);
        let is_hidden_mesh = over_meshes && is_leaf && is_hidden(Box(item.v0, item.v1));
        if leaf == start && is_shown && bounds.lower.x <= bounds.upper.x && !is_hidden_mesh {
            found(bounds, leaf, depth);
        }
        if is_leaf {
            break;
        }
        let node = tree_node(number);
        let starts = vec4u(node.first, node.ends.xyz);
        let before = select(vec3u(0u), vec3u(1u), node.ends.xyz <= vec3u(leaf));
        let child = before.x + before.y + before.z;
        let numbers = bvh_children(node, false, vec4<bool>(false));
        number = numbers[child];
        start = starts[child];
        end = node.ends[child];
        bounds = child_box(node, child);
    }
}

fn leaf_of(workgroup: vec3u, workgroups: vec3u, thread: u32) -> u32 {
    return TREE_BOX_THREADS * dispatch_workgroup(workgroup, workgroups) + thread;
}

@compute @workgroup_size(TREE_BOX_THREADS)
fn tree_boxes_count(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let leaf = leaf_of(workgroup, workgroups, thread);
    if leaf < params.leaf_count {
        descend(params.first_leaf + leaf);
    }
}

@compute @workgroup_size(TREE_BOX_THREADS)
fn tree_boxes_list(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let leaf = leaf_of(workgroup, workgroups, thread);
    lists = true;
    if leaf < params.leaf_count {
        descend(params.first_leaf + leaf);
    }
}

@compute @workgroup_size(1)
fn tree_boxes_choose() {
    var kept = 0u;
    var level = TREE_BOX_LEVELS;
    while level > 0u {
        let more = kept + atomicLoad(&counts[TREE_BOX_HEADER + level - 1u]);
        if more > TREE_BOX_LIMIT {
            break;
        }
        kept = more;
        level--;
    }
    atomicStore(&counts[TREE_BOXES_LEVEL], level);
    arguments = array(4u, 12u * kept, 0u, 0u);
}

struct Line {
    @builtin(position) clip: vec4f,
    // Offset from the centre of the line in pixels.
    @location(0) @interpolate(linear) beside: f32,
    // View depth in metres.
    @location(1) depth: f32,
    @location(2) @interpolate(flat, either) color: vec3f,
}

fn box_color(shown: TreeBox) -> vec3f {
    let first = f32(params.first_depth);
    let range = max(f32(counted[TREE_BOXES_DEEPEST]) - first, 1.0);
    // The lower end of the colour map is too dark for lines.
    let by_depth = magma(mix(TREE_BOX_DARKEST, 1.0, saturate((f32(shown.depth) - first) / range)));
    switch shown.kind {
        case TREE_BOX_CURRENT: { return TREE_BOX_CURRENT_COLOR.rgb; }
        case TREE_BOX_LINE: { return TREE_BOX_LINE_COLOR.rgb; }
        default: { return by_depth; }
    }
}

// Returns the corner of a box relative to the eye. Each bit selects the upper side on its axis.
fn box_corner(shown: TreeBox, bits: vec3u) -> vec3f {
    return select(shown.lower, shown.upper, bits != vec3u(0u)) - params.eye;
}

@vertex
fn tree_boxes_edge(
    @builtin(vertex_index) corner: u32,
    @builtin(instance_index) instance: u32,
) -> Line {
    let shown = listed[instance / 12u];
    let edge = instance % 12u;
    let axis = edge / 4u;
    let along = select(vec3u(0u), vec3u(1u), vec3u(axis) == vec3u(0u, 1u, 2u));
    // Sides of the box on the two other axes.
    let side = vec2u(edge & 1u, (edge >> 1u) & 1u);
    var start = vec3u(0u, side.x, side.y);
    if axis == 1u {
        start = vec3u(side.y, 0u, side.x);
    } else if axis == 2u {
        start = vec3u(side.x, side.y, 0u);
    }
    var a = box_corner(shown, start);
    var b = box_corner(shown, start + along);
    if shown.kind == TREE_BOX_LINE {
        a = shown.lower - params.eye;
        b = shown.upper - params.eye;
    }
    var clip_a = params.clip_from_offset * vec4f(a, 1.0);
    var clip_b = params.clip_from_offset * vec4f(b, 1.0);
    // Clips the line at the near plane. Depth is reversed.
    let front = vec2f(clip_a.w - clip_a.z, clip_b.w - clip_b.z);
    var line: Line;
    if max(front.x, front.y) <= 0.0 || (shown.kind == TREE_BOX_LINE && edge > 0u) {
        line.clip = vec4f(2.0, 2.0, 0.0, 1.0);
        return line;
    }
    let share = front.x / (front.x - front.y);
    if front.x < 0.0 {
        clip_a = mix(clip_a, clip_b, share);
        a = mix(a, b, share);
    } else if front.y < 0.0 {
        clip_b = mix(clip_a, clip_b, share);
        b = mix(a, b, share);
    }
    let to_pixels = 0.5 * params.size;
    let along_line = (clip_b.xy / clip_b.w - clip_a.xy / clip_a.w) * to_pixels;
    let pixels = length(along_line);
    let direction = select(vec2f(1.0, 0.0), along_line / pixels, pixels > 1.0e-6);
    let normal = vec2f(-direction.y, direction.x);
    let is_end = (corner & 1u) != 0u;
    // Margin for partly covered pixels.
    let beside = select(-1.0, 1.0, (corner & 2u) != 0u) * (params.half_width + 1.0);
    let at = select(clip_a, clip_b, is_end);
    line.clip = vec4f(at.xy + beside * normal / to_pixels * at.w, at.z, at.w);
    line.beside = beside;
    line.depth = dot(select(a, b, is_end), params.forward);
    line.color = box_color(shown);
    return line;
}

@fragment
fn tree_boxes_line(in: Line) -> @location(0) vec4f {
    let coverage = saturate(params.half_width + 0.5 - abs(in.beside));
    let seen = vec2f(textureDimensions(position_texture));
    let texel = min(vec2u(in.clip.xy / params.size * seen), vec2u(seen) - 1u);
    let seen_there = textureLoad(position_texture, texel, 0);
    let surface = gbuffer_depth(seen_there, params.eye, params.forward);
    // The surface in the pixel next to a line may be a pixel's width nearer.
    let pixel = params.pixel_side.x + params.pixel_side.y * surface;
    let is_behind = gbuffer_w(seen_there) != 0.0 && in.depth > surface + 2.0 * pixel + 1.0e-4 * abs(surface);
    let opacity = coverage * select(1.0, params.hidden, is_behind);
    return vec4f(in.color * opacity, opacity);
}

@fragment
fn tree_boxes_show(in: Corner) -> @location(0) vec4f {
    return textureLoad(lines_texture, vec2i(in.clip.xy) - vec2i(params.origin), 0);
}
