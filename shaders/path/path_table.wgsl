// The table of the path tracer holds everything that a path may hit, in one buffer, because adapters without binding
// arrays cannot index textures. The uniform gives the first word of each part:
//
// materials     material uniforms, laid out like Material, `material_stride` words each; layers likewise, like
//               MaterialLayers
// headers       PATH_HEADER words per material: the index of its layers (all ones for none), a bit mask of its
//               textures, then four words per texture: first word of its texels, width, height, flags PATH_TEXEL_…
// emitters      emissive triangles in ascending order; then the cumulative fraction of light up to each of them; then
//               their materials
// environment   such cumulative fractions for each texel of a cube of `environment_face`
// sheen         the table of material/material_layers.wgsl
// volumes       PATH_VOLUME words per volume: see path/path_volume.wgsl

#import "fog/fog_scatter.wgsl"

struct PathParams {
    // Number of the sample, and greatest number of bounces.
    index: u32,
    bounces: u32,
    // Maximum contribution of a path after the first surface; 0 for no limit.
    clamp: f32,
    // Distance of the near plane along the view, in metres.
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
    // Range of `path_scan`: first word, and number of words.
    scan_word: u32,
    scan_count: u32,
    // Number of samples in the displayed mean.
    count: u32,
    width: u32,
    volume_word: u32,
    volume_count: u32,
    // Number of surfaces before Russian roulette starts.
    sure_bounces: u32,
    medium: FogMedium,
}
