//! glTF extensions that canopy knows, and those that a file lists.

use crate::{
    files::shorten,
    graph::{
        ExtensionUse,
        Treatment::{self, Approximate, Full, Ignored},
    },
};
use ::gltf::json::Root;

/// Known extensions, with their treatment and their effect on the image.
const KNOWN: &[(&str, Treatment, &str)] = &[
    // Compression and layout.
    (
        "EXT_mesh_gpu_instancing",
        Full,
        "every instance counts as one of the scene",
    ),
    ("EXT_meshopt_compression", Full, "decompressed when it is loaded"),
    (
        "KHR_draco_mesh_compression",
        Full,
        "decompressed when it is loaded",
    ),
    ("KHR_mesh_quantization", Full, "read as floats"),
    ("KHR_meshopt_compression", Full, "decompressed when it is loaded"),
    // Textures.
    ("EXT_texture_webp", Full, "decoded when it is loaded"),
    (
        "KHR_texture_basisu",
        Full,
        "transcoded to a format that the adapter supports",
    ),
    ("KHR_texture_transform", Full, "on every texture"),
    ("MSFT_texture_dds", Full, "decoded when it is loaded"),
    // Materials.
    (
        "KHR_materials_anisotropy",
        Full,
        "anisotropic highlights and reflections",
    ),
    ("KHR_materials_clearcoat", Full, "with its normal texture"),
    (
        "KHR_materials_diffuse_transmission",
        Ignored,
        "no light is transmitted",
    ),
    (
        "KHR_materials_dispersion",
        Ignored,
        "refraction does not depend on the wavelength",
    ),
    ("KHR_materials_emissive_strength", Full, "scales the emission"),
    (
        "KHR_materials_ior",
        Full,
        "changes the reflectance of dielectrics; nothing is refracted",
    ),
    (
        "KHR_materials_iridescence",
        Full,
        "the film is evaluated at the viewing angle",
    ),
    (
        "KHR_materials_pbrSpecularGlossiness",
        Approximate,
        "read as a dielectric with this specular colour",
    ),
    ("KHR_materials_sheen", Full, "with roughness of at least 0.07"),
    (
        "KHR_materials_specular",
        Full,
        "strength and colour of the specular reflection",
    ),
    (
        "KHR_materials_transmission",
        Approximate,
        "the background is tinted, without refraction or blur",
    ),
    (
        "KHR_materials_unlit",
        Full,
        "unlit colours, without exposure or tone curve",
    ),
    (
        "KHR_materials_variants",
        Full,
        "chosen by name in the panel or with --variant",
    ),
    (
        "KHR_materials_volume",
        Approximate,
        "tinted by the thickness of each instance, without refraction",
    ),
    // Scene.
    (
        "EXT_lights_image_based",
        Ignored,
        "the environment of the file is ignored",
    ),
    (
        "KHR_animation_pointer",
        Approximate,
        "transforms, weights, visibility, factors of core materials and of emissive strength, texture \
         transforms, lights and fields of view are animated; warnings name all others",
    ),
    (
        "KHR_gaussian_splatting",
        Ignored,
        "splats are points, which canopy does not draw",
    ),
    ("KHR_interactivity", Ignored, "nothing reacts"),
    ("KHR_lights_punctual", Full, "all three kinds of lights"),
    (
        "KHR_node_hoverability",
        Ignored,
        "canopy does not react to hovering",
    ),
    (
        "KHR_node_selectability",
        Ignored,
        "canopy does not restrict selection",
    ),
    (
        "KHR_node_visibility",
        Full,
        "hidden nodes are not drawn and cast no shadows",
    ),
    (
        "KHR_xmp_json_ld",
        Ignored,
        "metadata, without effect on the picture",
    ),
    ("MSFT_lod", Ignored, "the finest level is always drawn"),
];

/// Maximum number of extensions that are kept, because a file can list any number.
const MAX_NAMES: usize = 100;

/// True if canopy reads the extension.
pub(super) fn reads(name: &str) -> bool {
    KNOWN
        .iter()
        .any(|(known, treatment, _)| *known == name && *treatment != Ignored)
}

/// Returns the extensions that a file lists.
pub(super) fn used(root: &Root) -> Vec<ExtensionUse> {
    let mut names: Vec<&String> = root.extensions_used.iter().collect();
    names.extend(&root.extensions_required);
    names.sort_unstable();
    names.dedup();
    let describe = |name: &String| {
        let known = KNOWN.iter().find(|(known, ..)| known == name);
        let (treatment, note) = known.map_or((Ignored, "not known to canopy"), |known| (known.1, known.2));
        ExtensionUse {
            name: shorten(name),
            required: root.extensions_required.contains(name),
            treatment,
            note,
        }
    };
    names.into_iter().take(MAX_NAMES).map(describe).collect()
}
