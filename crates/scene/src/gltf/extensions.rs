//! The extensions of glTF that canopy knows, and those that a file lists.

use crate::{
    files::shorten,
    graph::{
        ExtensionUse,
        Treatment::{self, Approximate, Full, Ignored},
    },
};
use ::gltf::json::Root;

/// Every extension that canopy knows, how it is treated, and the effect on the picture.
const KNOWN: &[(&str, Treatment, &str)] = &[
    // Compression and layout.
    (
        "EXT_mesh_gpu_instancing",
        Full,
        "every instance is one of the scene's",
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
        "stretched highlights of lights and reflections of what is around",
    ),
    ("KHR_materials_clearcoat", Full, "with its normal texture"),
    (
        "KHR_materials_diffuse_transmission",
        Ignored,
        "no light comes through",
    ),
    (
        "KHR_materials_dispersion",
        Ignored,
        "light is not split into colours",
    ),
    ("KHR_materials_emissive_strength", Full, "scales what is emitted"),
    (
        "KHR_materials_ior",
        Full,
        "how much a dielectric reflects; nothing is bent",
    ),
    (
        "KHR_materials_iridescence",
        Full,
        "the film is evaluated at the viewing angle",
    ),
    (
        "KHR_materials_pbrSpecularGlossiness",
        Approximate,
        "read as a dielectric with that reflection",
    ),
    ("KHR_materials_sheen", Full, "with roughness of at least 0.07"),
    (
        "KHR_materials_specular",
        Full,
        "strength and colour of what is reflected",
    ),
    (
        "KHR_materials_transmission",
        Approximate,
        "what lies behind is tinted, and neither bent nor blurred",
    ),
    (
        "KHR_materials_unlit",
        Full,
        "colours as they are given, without lights, exposure or tone curve",
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
    // The scene.
    (
        "EXT_lights_image_based",
        Ignored,
        "the file's surroundings light nothing",
    ),
    (
        "KHR_animation_pointer",
        Approximate,
        "transforms, weights, visibility, factors of core materials and of emissive strength, texture \
         transforms, lights and fields of view are animated; warnings name what is not",
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
        "nothing is hovered over in canopy",
    ),
    ("KHR_node_selectability", Ignored, "nothing is selected in canopy"),
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

/// The most extensions that are kept; a file can list any number.
const MOST_NAMES: usize = 100;

/// Whether canopy reads an extension.
pub(super) fn reads(name: &str) -> bool {
    KNOWN
        .iter()
        .any(|(known, treatment, _)| *known == name && *treatment != Ignored)
}

/// The extensions that a file lists.
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
    names.into_iter().take(MOST_NAMES).map(describe).collect()
}
