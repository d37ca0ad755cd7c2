// outline: draws lines around the selected meshes, over the finished picture.
//
// outline_mask: rasterises the selected meshes without a depth test
// in   the merged scene (group 2), mesh and material of each triangle
// out  one channel per selected mesh: 1 where the mesh covers the sample
// outline_edges: full-screen pass that draws the lines along the border of the mask
// in   the mask, resolved from several samples
// out  colours premultiplied with their coverage
// outline_show: blends the lines over the picture
// The alpha of masked and fully transparent surfaces is respected.
#import "material/alpha.wgsl"
#import "frame/fullscreen.wgsl"

struct OutlineParams {
    clip_from_offset: mat4x4f,
    eye: vec3f,
    // Line width in pixels.
    width: f32,
    colors: array<vec4f, 2>,
    // Top-left corner of the picture in the target.
    origin: vec2u,
    // Number of triangles in the merged buffers. Lines and points follow them.
    triangle_count: u32,
}

@group(0) @binding(0) var<uniform> params: OutlineParams;
@group(0) @binding(1) var<storage, read> triangle_info: array<vec2u>;
@group(0) @binding(1) var source_texture: texture_2d<f32>;

struct Covering {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec4f,
    @location(1) alpha: f32,
    @location(2) @interpolate(flat, either) material: u32,
    @location(3) @interpolate(flat, either) selected: u32,
}

fn covering(vertex: u32, number: u32, selected: u32) -> Covering {
    let clip = params.clip_from_offset * vec4f(scene_position(vertex) - params.eye, 1.0);
    let uv = vec4f(scene_uv(vertex, 0u), scene_uv(vertex, 1u));
    return Covering(clip, uv, scene_color(vertex).a, triangle_info[number].y, selected);
}

// The instance index is the number of the selected mesh, 0 or 1.
@vertex
fn outline_triangle(
    @builtin(vertex_index) corner: u32,
    @builtin(instance_index) selected: u32,
) -> Covering {
    return covering(indices(corner), corner / 3u, selected);
}

fn segment(number: u32, end: u32, selected: u32) -> Covering {
    let word = indices(3u * params.triangle_count + 2u * number + end);
    return covering(word & SEGMENT_NUMBER, params.triangle_count + number, selected);
}

@vertex
fn outline_line(@builtin(vertex_index) corner: u32, @builtin(instance_index) selected: u32) -> Covering {
    return segment(corner / 2u, corner & 1u, selected);
}

@vertex
fn outline_point(@builtin(vertex_index) point: u32, @builtin(instance_index) selected: u32) -> Covering {
    return segment(point, 0u, selected);
}

@fragment
fn outline_mask(in: Covering) -> @location(0) vec4f {
    let header = ALPHA_HEADER * in.material;
    var value = bitcast<f32>(tables[header + ALPHA_FACTOR]) * in.alpha;
    let uv_set = tables[header + ALPHA_UV_SET];
    if uv_set < 2u {
        value *= alpha_sample(header, select(in.uv.xy, in.uv.zw, uv_set == 1u));
    }
    let blends = tables[header + ALPHA_BLENDED] != 0u;
    if select(value < bitcast<f32>(tables[header + ALPHA_CUTOFF]), value <= 0.0, blends) {
        discard;
    }
    return select(vec4f(0.0, 1.0, 0.0, 0.0), vec4f(1.0, 0.0, 0.0, 0.0), in.selected == 0u);
}

// Returns the coverage of the line at a pixel `distance` pixels from the border of the mask.
fn line_coverage(distance: f32, width: f32) -> f32 {
    return saturate(width - distance);
}

@fragment
fn outline_edges(in: Corner) -> @location(0) vec4f {
    let size = vec2i(textureDimensions(source_texture));
    let at = vec2i(in.clip.xy);
    let here = textureLoad(source_texture, at, 0).xy;
    let width = params.width;
    // The dark rim keeps the line visible over any picture.
    let rim = width + 1.0;
    let reach = i32(ceil(rim));
    var nearest = vec2f(1.0e4);
    for (var y = -reach; y <= reach; y++) {
        for (var x = -reach; x <= reach; x++) {
            let neighbour = clamp(at + vec2i(x, y), vec2i(0), size - 1);
            let covered = textureLoad(source_texture, neighbour, 0).xy;
            let distance = length(vec2f(f32(x), f32(y)));
            // A pixel that is half covered has the border at its centre.
            let to_border = vec2f(distance) + 0.5 - covered;
            nearest = select(nearest, min(nearest, to_border), covered > vec2f(0.0));
        }
    }
    var shown = vec4f(0.0);
    for (var selected = 1; selected >= 0; selected--) {
        let distance = nearest[selected];
        let outside = 1.0 - here[selected];
        if outside == 0.0 || distance > rim + 1.0 {
            continue;
        }
        let line = params.colors[selected] * line_coverage(distance, width) * outside;
        let dark = vec4f(0.0, 0.0, 0.0, 0.6 * line_coverage(distance, rim) * outside);
        let both = line + dark * (1.0 - line.a);
        shown = both + shown * (1.0 - both.a);
    }
    return shown;
}

@fragment
fn outline_show(in: Corner) -> @location(0) vec4f {
    return textureLoad(source_texture, vec2i(in.clip.xy) - vec2i(params.origin), 0);
}
