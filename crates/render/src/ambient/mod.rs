//! Ambient visibility and bounced light.

pub mod bounced_filter;
pub mod bounced_light;
pub mod occlusion;
pub mod occlusion_filter;
pub mod occlusion_rays;
