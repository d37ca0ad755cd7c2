// What surfaces that are blended write: radiance, and colours that are shown as they are.

struct Blended {
    @location(0) hdr: vec4f,
    @location(1) display: vec4f,
}
