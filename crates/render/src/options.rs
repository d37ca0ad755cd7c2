//! Traits of a device by which settings are resolved.

use crate::settings;
use canopy_bvh::gpu::Capabilities;

impl From<&Capabilities> for settings::AdapterTraits {
    fn from(capabilities: &Capabilities) -> Self {
        Self {
            fast_rays: capabilities.fast_rays,
            better_trees: capabilities.better_trees,
            separate_path_kernels: capabilities.separate_path_kernels,
        }
    }
}
