// overlay: edges, vertices, normals and tangents of the meshes, as lines over the picture.
//
// overlay_edge: vertex shader for the four corners of a strip; the instance index selects the line or dot
// in   the merged scene (group 2)
// overlay_line: fragment shader of the lines
// in   the G-buffer's position
// out  colours premultiplied with their coverage. Blending keeps the maximum of each channel, so their order does not
//      matter.
// overlay_show: blends the lines over the picture
// Hidden meshes have no lines.
#import "frame/fullscreen.wgsl"
#import "frame/gbuffer_position.wgsl"
#import "frame/scene.wgsl"

struct OverlayParams {
    clip_from_offset: mat4x4f,
    eye: vec3f,
    // Opacity of lines behind surfaces.
    hidden: f32,
    forward: vec3f,
    // Half the line width in pixels.
    half_width: f32,
    // Size in pixels of the picture under the overlay.
    size: vec2f,
    // Width in metres of a G-buffer pixel at the eye, and its growth per metre of depth.
    pixel_side: vec2f,
    // Length of normals and tangents, in metres.
    length: f32,
    first_vertex: u32,
    first_triangle: u32,
    // For each kind: the end of its range of instances, and the stride between its elements.
    kinds: array<vec4u, OVERLAY_KINDS>,
}

@group(0) @binding(0) var<uniform> params: OverlayParams;
@group(0) @binding(1) var position_texture: texture_2d<f32>;

@group(0) @binding(0) var lines_texture: texture_2d<f32>;

struct Segment {
    a: vec3f,
    b: vec3f,
    is_shown: bool,
}

struct Line {
    @builtin(position) clip: vec4f,
    // Offset from the centre of the line in pixels, y up.
    @location(0) @interpolate(linear) offset: vec2f,
    // View depth in metres.
    @location(1) depth: f32,
    // Line colour; the alpha component is half the line width in pixels.
    @location(2) @interpolate(flat, either) color: vec4f,
}

// True if the mesh of a vertex is hidden. Hidden meshes are deformed with scale 0, which frame/deform.wgsl clamps to
// 1e-6 in the tangent's w.
fn is_hidden(vertex: u32) -> bool {
    return abs(scene_tangent(vertex).w) <= 1.0e-6;
}

fn kind_color(kind: u32) -> vec3f {
    switch kind {
        case OVERLAY_FACE_NORMALS: { return OVERLAY_FACE_NORMALS_COLOR.rgb; }
        case OVERLAY_VERTICES: { return OVERLAY_VERTICES_COLOR.rgb; }
        case OVERLAY_NORMALS: { return OVERLAY_NORMALS_COLOR.rgb; }
        case OVERLAY_TANGENTS: { return OVERLAY_TANGENTS_COLOR.rgb; }
        case OVERLAY_BITANGENTS: { return OVERLAY_BITANGENTS_COLOR.rgb; }
        default: { return OVERLAY_WIREFRAME_COLOR.rgb; }
    }
}

// Returns the line of element `number` of a kind: an edge, the normal of a triangle, or a vector at a vertex.
fn segment(kind: u32, number: u32) -> Segment {
    let step = params.kinds[kind].y;
    if kind == OVERLAY_WIREFRAME {
        let corner = number % 3u;
        let first = 3u * (params.first_triangle + step * (number / 3u));
        let a = indices(first + corner);
        let b = indices(first + select(corner + 1u, 0u, corner == 2u));
        return Segment(scene_position(a), scene_position(b), !is_hidden(a));
    }
    if kind == OVERLAY_FACE_NORMALS {
        let first = 3u * (params.first_triangle + step * number);
        let a = scene_position(indices(first));
        let b = scene_position(indices(first + 1u));
        let c = scene_position(indices(first + 2u));
        let normal = cross(b - a, c - a);
        let middle = (a + b + c) / 3.0;
        let area = length(normal);
        return Segment(middle, middle + params.length * (normal / area), area > 0.0 && !is_hidden(indices(first)));
    }
    let vertex = params.first_vertex + step * number;
    let position = scene_position(vertex);
    let normal = scene_normal(vertex);
    let tangent = scene_tangent(vertex);
    var along = vec3f(0.0);
    switch kind {
        case OVERLAY_NORMALS: { along = normal; }
        case OVERLAY_TANGENTS: { along = tangent.xyz; }
        case OVERLAY_BITANGENTS: { along = cross(normal, tangent.xyz) * sign(tangent.w); }
        default: {}
    }
    return Segment(position, position + params.length * along, !is_hidden(vertex));
}

@vertex
fn overlay_edge(
    @builtin(vertex_index) corner: u32,
    @builtin(instance_index) instance: u32,
) -> Line {
    // Counts the kinds whose instances all come before this one.
    var kind = 0u;
    var first = 0u;
    for (var k = 0u; k < OVERLAY_KINDS - 1u; k++) {
        let end = params.kinds[k].x;
        kind += select(0u, 1u, instance >= end);
        first = select(first, end, instance >= end);
    }
    let drawn = segment(kind, instance - first);
    let a = drawn.a - params.eye;
    let b = drawn.b - params.eye;
    var clip_a = params.clip_from_offset * vec4f(a, 1.0);
    var clip_b = params.clip_from_offset * vec4f(b, 1.0);
    // Clips the line at the near plane. Depth is reversed.
    let front = vec2f(clip_a.w - clip_a.z, clip_b.w - clip_b.z);
    var line: Line;
    if !drawn.is_shown || max(front.x, front.y) <= 0.0 {
        line.clip = vec4f(2.0, 2.0, 0.0, 1.0);
        return line;
    }
    let share = front.x / (front.x - front.y);
    let cut = mix(clip_a, clip_b, share);
    let depth_cut = mix(a, b, share);
    clip_a = select(clip_a, cut, front.x < 0.0);
    clip_b = select(clip_b, cut, front.y < 0.0);
    let depths = vec2f(
        dot(select(a, depth_cut, front.x < 0.0), params.forward),
        dot(select(b, depth_cut, front.y < 0.0), params.forward),
    );
    let to_pixels = 0.5 * params.size;
    let along_line = (clip_b.xy / clip_b.w - clip_a.xy / clip_a.w) * to_pixels;
    let pixels = length(along_line);
    let direction = select(vec2f(1.0, 0.0), along_line / pixels, pixels > 1.0e-6);
    let is_dot = kind == OVERLAY_VERTICES;
    let half_width = select(params.half_width, params.half_width + OVERLAY_DOT, is_dot);
    // Margin for partly covered pixels.
    let reach = half_width + 1.0;
    let is_end = (corner & 1u) != 0u;
    let beside = select(-reach, reach, (corner & 2u) != 0u) * vec2f(-direction.y, direction.x);
    let along = select(0.0, select(-reach, reach, is_end), is_dot) * direction;
    let at = select(clip_a, clip_b, is_end);
    line.offset = beside + along;
    line.clip = vec4f(at.xy + line.offset / to_pixels * at.w, at.z, at.w);
    line.depth = select(depths.x, depths.y, is_end);
    line.color = vec4f(kind_color(kind), half_width);
    return line;
}

@fragment
fn overlay_line(in: Line) -> @location(0) vec4f {
    let coverage = saturate(in.color.a + 0.5 - length(in.offset));
    // Takes the farthest surface in a 3×3 neighbourhood around the centre of the line. Edges at grazing angles and
    // silhouettes would otherwise count as hidden.
    let seen = vec2f(textureDimensions(position_texture));
    let middle = vec2i((in.clip.xy - vec2f(in.offset.x, -in.offset.y)) / params.size * seen);
    let last = vec2i(seen) - 1;
    var surface = -1.0e30;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let texel = clamp(middle + vec2i(x, y), vec2i(0), last);
            let seen_there = textureLoad(position_texture, texel, 0);
            let depth = gbuffer_depth(seen_there, params.eye, params.forward);
            surface = max(surface, select(depth, 1.0e30, gbuffer_w(seen_there) == 0.0));
        }
    }
    let pixel = params.pixel_side.x + params.pixel_side.y * surface;
    let is_behind = in.depth > surface + pixel + 1.0e-4 * abs(surface);
    let opacity = coverage * select(1.0, params.hidden, is_behind);
    return vec4f(in.color.rgb * opacity, opacity);
}

@fragment
fn overlay_show(in: Corner) -> @location(0) vec4f {
    return textureLoad(lines_texture, vec2i(in.clip.xy), 0);
}
