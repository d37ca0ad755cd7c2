//! Functions for the fuzz targets and the mutation tests. From any bytes, they return a valid scene or a
//! one-line error.

use canopy::{
    config::{Config, Load},
    scene::{
        self, Error, Pose, Progress, PropertyOf, Result, Scene, deform,
        environment::{self, EnvironmentImage, Shape},
    },
};
use std::{fs, path::Path};

/// Limits small enough that files exceed them, and that no load takes long.
pub(crate) const LIMITS: Load = Load {
    follow_links: false,
    max_file_bytes: 1 << 25,
    max_total_bytes: 1 << 26,
    max_json_objects: 500_000,
    max_image_pixels: 1 << 16,
    max_environment_pixels: 1 << 16,
    max_texture_bytes: 1 << 22,
    max_triangles: 100_000,
    max_vertices: 300_000,
    max_empty_vertices: 10_000,
    max_nodes: 110_000,
    max_joints: 10_000,
    max_morph_targets: 10_000,
    max_morph_bytes: 1 << 22,
    max_voxels: 1 << 18,
    max_volume_nodes: 50,
    obj_texture: true,
};

/// Loads a `.gltf`.
pub(crate) fn gltf(bytes: &[u8]) -> Result<Scene> {
    load("fuzz.gltf", bytes)
}

/// Loads a `.glb`.
pub(crate) fn glb(bytes: &[u8]) -> Result<Scene> {
    load("fuzz.glb", bytes)
}

/// Loads an OBJ without files beside it.
pub(crate) fn obj(bytes: &[u8]) -> Result<Scene> {
    load("fuzz.obj", bytes)
}

/// Loads an MTL, referenced by an OBJ in `folder` that uses its materials `a` and `b`.
pub(crate) fn mtl(folder: &Path, bytes: &[u8]) -> Result<Scene> {
    const OBJ: &str = "mtllib fuzz.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n\
        usemtl a\nf 1/1 2/1 3/1\nusemtl b\nf 1 2 3\n";
    let io = |e| Error::io(folder, e);
    fs::write(folder.join("fuzz.mtl"), bytes).map_err(io)?;
    fs::write(folder.join("fuzz.obj"), OBJ).map_err(io)?;
    let loaded = scene::load(&[folder.join("fuzz.obj")], &LIMITS, &Progress::default());
    checked(loaded)
}

/// Loads an NRRD without a file beside it.
pub(crate) fn nrrd(bytes: &[u8]) -> Result<Scene> {
    load("fuzz.nrrd", bytes)
}

/// Loads a NIfTI, which may be compressed.
pub(crate) fn nifti(bytes: &[u8]) -> Result<Scene> {
    load("fuzz.nii", bytes)
}

/// Loads an OpenVDB file.
pub(crate) fn vdb(bytes: &[u8]) -> Result<Scene> {
    load("fuzz.vdb", bytes)
}

/// Loads a NanoVDB file.
pub(crate) fn nvdb(bytes: &[u8]) -> Result<Scene> {
    load("fuzz.nvdb", bytes)
}

/// Merges a `config.toml` into the defaults.
pub(crate) fn config(bytes: &[u8]) -> canopy::Result<()> {
    let merged = Config::default().merge("fuzz.toml", &String::from_utf8_lossy(bytes));
    if let Err(error) = &merged {
        one_line(error);
    }
    merged
}

/// Loads an environment of any format.
pub(crate) fn environment(bytes: &[u8]) -> Result<EnvironmentImage> {
    let loaded = environment::load_bytes("fuzz", bytes, &LIMITS, MAX_TEXELS);
    match &loaded {
        Ok(image) => check_environment(image),
        Err(error) => one_line(error),
    }
    loaded
}

/// Texels along the longer side of an environment. They are few, so that most environments are scaled down.
pub(crate) const MAX_TEXELS: u32 = 24;

/// Asserts the guarantees of [`EnvironmentImage`].
pub(crate) fn check_environment(image: &EnvironmentImage) {
    let [width, height] = [image.width, image.height].map(|side| side as usize);
    assert!(image.texels.len() == width * height && width > 0);
    assert!(image.width <= MAX_TEXELS);
    if image.shape == Shape::Cube {
        assert_eq!(height, 6 * width);
    }
    let mut channels = image.texels.iter().flatten();
    assert!(channels.all(|c| c.is_finite() && !c.is_sign_negative()));
    assert!(image.scale > 0.0 && image.scale.log2().fract() == 0.0);
    let mean = image.mean_luminance();
    assert!(mean.is_finite() && mean >= 0.0);
}

fn load(name: &str, bytes: &[u8]) -> Result<Scene> {
    checked(scene::load_bytes(name, bytes, &LIMITS, &Progress::default()))
}

fn checked(loaded: Result<Scene>) -> Result<Scene> {
    match &loaded {
        Ok(scene) => check(scene),
        Err(error) => one_line(error),
    }
    loaded
}

fn one_line(error: &impl std::fmt::Display) {
    let line = error.to_string();
    assert!(!line.is_empty() && !line.contains('\n'), "{line:?}");
}

/// Asserts the guarantees of [`Scene`] that all code after the loaders relies on.
pub(crate) fn check(scene: &Scene) {
    for (index, node) in scene.nodes.iter().enumerate() {
        assert!(node.parent.is_none_or(|parent| parent < index));
        assert!(node.mesh.is_none_or(|mesh| mesh < scene.meshes.len()));
        assert!(node.light.is_none_or(|light| light < scene.lights.len()));
        assert!(node.camera.is_none_or(|camera| camera < scene.cameras.len()));
        assert!(node.volume.is_none_or(|volume| volume < scene.volumes.len()));
        let Some(mesh) = node.mesh else { continue };
        let primitives = &scene.meshes[mesh].primitives;
        let targets = primitives.first().map_or(0, |p| p.targets.len());
        assert!([0, targets].contains(&node.weights.len()));
        if let Some(skin) = node.skin {
            let joints = scene.skins[skin].joints.len();
            let mut used = primitives.iter().flat_map(|p| &p.joints);
            assert!(used.all(|&joint| (joint as usize) < joints));
        }
    }
    for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        let count = primitive.positions.len();
        assert!(primitive.material < scene.materials.len());
        assert!(primitive.positions.iter().all(|p| p.is_finite()));
        assert!(primitive.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
        assert!(primitive.tangents.iter().all(|t| t.is_finite()));
        let corners = primitive.indices.as_flattened();
        assert!(corners.iter().all(|&v| (v as usize) < count));
        assert_eq!(
            (primitive.normals.len(), primitive.tangents.len()),
            (count, count)
        );
        for length in [primitive.uv0.len(), primitive.uv1.len(), primitive.colors.len()] {
            assert!([0, count].contains(&length));
        }
        let influences = count * primitive.influences_per_vertex;
        assert_eq!(primitive.joints.len(), influences);
        assert_eq!(primitive.joint_weights.len(), influences);
        for target in &primitive.targets {
            for offsets in [&target.positions, &target.normals, &target.tangents] {
                assert!([0, count].contains(&offsets.len()));
                assert!(offsets.iter().all(|o| o.is_finite()));
            }
        }
    }
    for volume in &scene.volumes {
        assert!(!volume.grids.is_empty());
        for grid in &volume.grids {
            let voxels: usize = grid.size.iter().map(|side| *side as usize).product();
            assert!(voxels > 0 && [1, 3].contains(&grid.components));
            assert_eq!(grid.values.len(), voxels * grid.components);
            assert!(grid.values.iter().all(|value| value.is_finite()));
            assert!(grid.background.is_finite());
            let matrix = grid.volume_from_voxel;
            assert!(matrix.is_finite() && matrix.inverse().is_finite());
            assert_eq!(matrix.row(3).to_array(), [0.0, 0.0, 0.0, 1.0]);
        }
    }
    for texture in &scene.textures {
        assert!(texture.image < scene.images.len());
    }
    for skin in &scene.skins {
        assert!(skin.joints.iter().all(|&joint| joint < scene.nodes.len()));
        assert_eq!(skin.joints.len(), skin.joint_from_mesh.len());
    }
    for channel in scene.clips.iter().flat_map(|clip| &clip.channels) {
        let targets = match channel.property.of() {
            PropertyOf::Node => scene.nodes.len(),
            PropertyOf::Material => scene.materials.len(),
            PropertyOf::Light => scene.lights.len(),
            PropertyOf::Camera => scene.cameras.len(),
        };
        assert!(channel.target < targets && !channel.times_secs.is_empty());
        assert!(channel.times_secs.windows(2).all(|pair| pair[0] < pair[1]));
    }
    // All code after the loaders relies on this.
    let clip = (!scene.clips.is_empty()).then_some(0);
    for time in [0.0, 0.4] {
        deform::positions(scene, &Pose::new(scene, clip, time));
    }
}
