// Outputs of blended surfaces: radiance, and colours that are shown without exposure or tone mapping.

struct Blended {
    @location(0) hdr: vec4f,
    @location(1) display: vec4f,
}
