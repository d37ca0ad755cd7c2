// Outputs of blended surfaces: radiance, and colours that are displayed without exposure or tone mapping.

struct Blended {
    @location(0) hdr: vec4f,
    @location(1) display: vec4f,
}
