// What all passes of a bounce of reflections know.

struct ReflectionParams {
    // Number of the bounce, from 0 on.
    bounce: u32,
    // Most rays of a batch.
    batch: u32,
    // The part of a lobe's width that what a ray finds is blurred by.
    blur: f32,
    // Whether no bounce follows.
    is_last: u32,
}
