//! Cameras.

use super::file::{File, name_of};
use crate::{
    Result,
    camera::{Camera, Projection},
    graph::{Scene, WarningPlace},
};
use ::gltf::json::{camera::Type as CameraType, validation::Checked};
use std::f32::consts::FRAC_PI_2;

/// Reads all cameras.
pub(super) fn cameras(file: &File<'_>, scene: &mut Scene) -> Result<()> {
    for (index, json) in file.root.cameras.iter().enumerate() {
        file.place.set(Some(WarningPlace::Camera(index)));
        let projection = match (json.type_, &json.perspective, &json.orthographic) {
            (Checked::Valid(CameraType::Perspective), Some(p), _) => {
                let sound = p.yfov > 0.0 && p.yfov < 2.0 * FRAC_PI_2;
                if !sound {
                    file.warn(format!(
                        "camera {index} has a yfov of {}; canopy uses 45 degrees",
                        p.yfov
                    ));
                }
                Projection::Perspective {
                    fov_y: if sound { p.yfov } else { FRAC_PI_2 / 2.0 },
                }
            }
            (Checked::Valid(CameraType::Orthographic), _, Some(o)) => {
                let half_height = o.ymag.abs();
                let sound = half_height > 0.0 && half_height.is_finite();
                if !sound {
                    file.warn(format!("camera {index} has a ymag of {}; canopy uses 1", o.ymag));
                }
                Projection::Orthographic {
                    half_height: if sound { half_height } else { 1.0 },
                }
            }
            _ => {
                return Err(file.error(format!(
                    "camera {index} has an unknown type, or lacks its parameters"
                )));
            }
        };
        scene.cameras.push(Camera {
            name: name_of(json.name.as_ref()),
            projection,
        });
    }
    file.place.set(None);
    Ok(())
}
