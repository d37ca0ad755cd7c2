// Angles of directions in a plane.

// Returns atan2, with a zero y taken as +0. Vulkan does not guarantee to preserve the sign of zeros: SwiftShader
// returns π for y = −0 and x = 1.
fn angle_of(y: f32, x: f32) -> f32 {
    return atan2(select(y, 0.0, y == 0.0), x);
}
