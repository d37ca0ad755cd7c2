//! Cameras and their projections.

/// A camera that looks along its node's −Z.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Name of the camera, or of its node; may be empty.
    pub name: String,
    /// Projection of the camera.
    pub projection: Projection,
}

/// A camera's projection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// Perspective projection.
    Perspective {
        /// Vertical field of view in radians.
        fov_y: f32,
    },
    /// Orthographic projection.
    Orthographic {
        /// Half the height of the view in metres.
        half_height: f32,
    },
}
