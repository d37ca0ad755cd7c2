// The table of the path tracer: all that a path may meet, in one buffer, because adapters without binding
// arrays cannot choose a texture by its number. The uniform says where its parts begin, in words:
//
// materials     uniforms of materials, `material_stride` words each, as Material; layers alike, as
//               MaterialLayers
// headers       PATH_HEADER words a material: which of the layers it has (all ones for none), a bit for each
//               texture that it has, then four words a texture: first word of its texels, width, height,
//               flags PATH_TEXEL_…
// emitters      triangles that glow, in rising order; then, for each, the share of light of it and those
//               before; then their materials
// environment   for each texel of a cube of `environment_face`, alike
// sheen         the table of material/material_layers.wgsl
// volumes       PATH_VOLUME words a volume: see path/path_volume.wgsl

#import "fog/fog_scatter.wgsl"

struct PathParams {
    // Number of the sample, and most times that light is scattered.
    index: u32,
    bounces: u32,
    // Most that a path adds after the first surface; 0 for any.
    clamp: f32,
    // Distance along the view from which on things are seen.
    near: f32,
    material_word: u32,
    material_stride: u32,
    layer_word: u32,
    layer_stride: u32,
    header_word: u32,
    emitter_word: u32,
    emitter_count: u32,
    environment_word: u32,
    environment_face: u32,
    sheen_word: u32,
    // Of what `path_scan` sums: first word, and how many.
    scan_word: u32,
    scan_count: u32,
    // Samples of the mean that is shown.
    count: u32,
    width: u32,
    volume_word: u32,
    volume_count: u32,
    medium: FogMedium,
}
