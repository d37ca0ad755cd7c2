// Writing to the pyramid, apart from reading because WGSL wants the access mode of `pyramid` to fit.
#import "common/pyramid.wgsl"

fn pyramid_store(level: u32, index: u32, b: Box) {
    let at = pyramid_word(level, index);
    for (var axis = 0u; axis < 3u; axis++) {
        pyramid[at + axis] = b.lower[axis];
        pyramid[at + 3u + axis] = b.upper[axis];
    }
}
