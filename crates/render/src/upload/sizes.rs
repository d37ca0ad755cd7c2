//! Checks that a scene is within the limits of an adapter, before anything is allocated.

use super::merge::SEGMENT_PLAIN;
use crate::{raster::ground, settings::Settings};
use canopy_bvh::{Error, Result, gpu::Gpu};
use canopy_scene::Scene;

/// Element counts of a scene, before anything is allocated. The integers are wide enough not to overflow.
#[derive(Debug, Default)]
struct Sizes {
    vertices: u64,
    triangles: u64,
    /// Number of lines and points.
    segments: u64,
    /// Number of bind-pose vertices, counted once per mesh.
    sources: u64,
    influences: u64,
    /// Number of morph-target deltas: targets × vertices, counted once per mesh.
    deltas: u64,
    matrices: u64,
    weights: u64,
}

impl Sizes {
    /// Adds the counts of an instance. `first` is true for the first instance of a mesh.
    fn add(&mut self, scene: &Scene, node: usize, mesh: usize, first: bool) {
        let skin = scene.nodes[node].skin;
        let primitives = &scene.meshes[mesh].primitives;
        let targets = primitives.iter().map(|primitive| primitive.targets.len());
        self.weights += targets.max().unwrap_or(0) as u64;
        self.matrices += 1 + skin.map_or(0, |skin| scene.skins[skin].joints.len() as u64);
        for primitive in primitives {
            let vertices = primitive.positions.len() as u64;
            self.vertices += vertices;
            self.triangles += primitive.indices.len() as u64;
            self.segments += (primitive.lines.len() + primitive.points.len()) as u64;
            if first {
                self.sources += vertices;
                self.influences += primitive.joints.len() as u64;
                self.deltas += vertices * primitive.targets.len() as u64;
            }
        }
    }

    /// Returns name and size in bytes of each buffer that is bound with its full size.
    fn bindings(&self) -> [(&'static str, u64); 7] {
        [
            (
                "merged normals and tangents",
                (self.vertices + u64::from(ground::VERTICES)) * 28,
            ),
            (
                "merged indices",
                (3 * (self.triangles + self.segments) + ground::CORNERS.len() as u64) * 4,
            ),
            ("tree's nodes", self.triangles * 64),
            ("bind-pose vertices", self.sources * 40),
            ("joint influences", self.influences * 8),
            ("morph targets", self.deltas * 36),
            ("pose", (16 * self.matrices + self.weights) * 4),
        ]
    }

    /// Fails if a scene with points or lines has indices that do not fit below the flag bits.
    fn check_numbers(&self) -> Result<()> {
        let numbers = self.vertices.max(self.triangles + self.segments);
        if self.segments > 0 && numbers >= SEGMENT_PLAIN.into() {
            return Err(Error::Limit {
                what: "a scene with points or lines".into(),
                needed: format!("{numbers} vertices or triangles"),
                allowed: format!("{SEGMENT_PLAIN} of them"),
                by: "the numbers of vertices, which have 30 bits".into(),
            });
        }
        Ok(())
    }
}

/// Fails if a scene exceeds the configuration's or the device's limits. The error includes the number of
/// instances, from the first on, that are within the limits.
pub(crate) fn check_sizes(gpu: &Gpu, scene: &Scene, config: &Settings) -> Result<()> {
    let most_bytes = gpu.binding_limit();
    let most_triangles = config.load.max_triangles;
    let mut sizes = Sizes::default();
    let mut seen = vec![false; scene.meshes.len()];
    let (mut instances, mut fitting, mut fault) = (0_u64, 0, None);
    for (node, mesh) in scene.instances() {
        let first = !std::mem::replace(&mut seen[mesh], true);
        let fitted = sizes.triangles;
        sizes.add(scene, node, mesh, first);
        if fault.is_none() {
            let bindings = sizes.bindings();
            let large = bindings.iter().position(|(_, bytes)| *bytes > most_bytes);
            if sizes.triangles > most_triangles || large.is_some() {
                (fitting, fault) = (instances, Some((large, fitted)));
            }
        }
        instances += 1;
    }
    let Some((large, fitted)) = fault else {
        return sizes.check_numbers();
    };
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let (by, share) = match large {
        None => ("load.max_triangles".to_owned(), most_triangles),
        Some(index) => {
            let (what, bytes) = sizes.bindings()[index];
            let [needed, most] = [bytes, most_bytes].map(mib);
            let by = format!("the {what} are {needed}, and {} binds {most}", gpu.info.name);
            let share = u128::from(sizes.triangles) * u128::from(most_bytes) / u128::from(bytes);
            (by, u64::try_from(share).unwrap_or(u64::MAX))
        }
    };
    let count = |instances: u64, triangles: u64| format!("{triangles} triangles in {instances} instances");
    Err(Error::Limit {
        what: "the scene".into(),
        needed: count(instances, sizes.triangles),
        allowed: if fitting > 0 {
            count(fitting, fitted)
        } else {
            format!("about {share} triangles")
        },
        by,
    })
}
