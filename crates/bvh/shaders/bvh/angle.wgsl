// Angles of directions in a plane.

// Returns atan2 independent of the sign of zeros, which Vulkan does not guarantee to keep: SwiftShader returns π at
// (−0, 1).
fn angle_of(y: f32, x: f32) -> f32 {
    return atan2(select(y, 0.0, y == 0.0), x);
}
