//! Memory by kind. GPU memory comes from wgpu's allocator report, by the labels of the allocations. Process
//! memory comes from the system.

use crate::gpu::Gpu;
use serde_json::{Value, json};

/// Kinds of GPU memory, in the order of [`Memory::gpu_bytes`].
pub const KINDS: [&str; 5] = ["geometry", "trees", "textures", "targets", "other"];

/// Memory usage at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// Allocated GPU bytes of each of [`KINDS`], or zeros if the backend does not report them.
    pub gpu_bytes: [u64; KINDS.len()],
    /// Resident bytes of the process, if the system reports them.
    pub process_bytes: Option<u64>,
}

impl Memory {
    /// Measures the current memory usage.
    pub fn now(gpu: &Gpu) -> Self {
        let mut gpu_bytes = [0; KINDS.len()];
        if let Some(report) = gpu.device.generate_allocator_report() {
            for allocation in &report.allocations {
                log::trace!("{} bytes of {}", allocation.size, allocation.name);
                gpu_bytes[kind(&allocation.name)] += allocation.size;
            }
        }
        Self {
            gpu_bytes,
            process_bytes: resident_bytes(),
        }
    }

    /// Returns the total of allocated GPU bytes, or `None` if the backend does not report them.
    pub fn gpu_total(&self) -> Option<u64> {
        Some(self.gpu_bytes.iter().sum()).filter(|total| *total > 0)
    }

    /// Returns the maximum of each value of the two measurements.
    pub fn max(mut self, other: &Self) -> Self {
        for (mine, others) in self.gpu_bytes.iter_mut().zip(other.gpu_bytes) {
            *mine = others.max(*mine);
        }
        self.process_bytes = self.process_bytes.max(other.process_bytes);
        self
    }

    /// Returns the bytes of each kind by name.
    pub fn kinds_json(&self) -> Value {
        let kinds = KINDS.iter().zip(self.gpu_bytes);
        kinds
            .map(|(kind, bytes)| ((*kind).to_owned(), json!(bytes)))
            .collect()
    }
}

/// Label prefixes of allocations, for each of [`KINDS`] but the last.
const LABELS: [&[&str]; KINDS.len() - 1] = [
    &["deform.", "displacement", "geometry_copy", "merged.", "scene."],
    &["cost.", "hierarchy", "lbvh.", "ploc.", "sort.", "tlas"],
    &[
        "blue_noise",
        "brdf_table",
        "equirect",
        "image ",
        "prefilter",
        "project_sh",
        "radiance",
        "sheen_table",
        "sky",
    ],
    &[
        "accumulate.",
        "albedo",
        "blocked_light",
        "bounced.",
        "channel",
        "composite",
        "depth",
        "deviation",
        "display",
        "edges",
        "emissive",
        "hdr",
        "hits.",
        "ids",
        "light_choice",
        "lobes.",
        "motion",
        "normal",
        "occlusion",
        "outline.",
        "picture",
        "position",
        "ray_list",
        "reflect",
        "reproject.",
        "shadow_",
        "signal.",
        "stretched",
        "temporal.",
        "weights",
    ],
];

/// Returns the index in [`KINDS`] of an allocation with this label.
fn kind(label: &str) -> usize {
    let is_of = |labels: &[&str]| labels.iter().any(|start| label.starts_with(start));
    let found = LABELS.iter().position(|labels| is_of(labels));
    found.unwrap_or(KINDS.len() - 1)
}

/// Reads the resident memory of this process in bytes, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_labels_determine_the_memory_kind() {
        for (label, expected) in [
            ("merged.positions", "geometry"),
            ("lbvh.nodes of 94722 triangles", "trees"),
            ("image lbvh.png", "textures"),
            ("normal", "targets"),
            ("(wgpu internal) zero init buffer", "other"),
            ("", "other"),
        ] {
            assert_eq!(KINDS[kind(label)], expected, "{label}");
        }
    }

    #[test]
    fn the_maximum_of_each_memory_figure_is_kept() {
        let [a, b] = [[1, 9, 0, 0, 0], [5, 2, 0, 0, 7]].map(|gpu_bytes| Memory {
            gpu_bytes,
            process_bytes: None,
        });
        assert_eq!(a.max(&b).gpu_bytes, [5, 9, 0, 0, 7]);
        assert_eq!(a.gpu_total(), Some(10));
        assert_eq!(Memory::default().gpu_total(), None);
    }
}
