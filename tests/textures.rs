//! Images of every format, from the bits of a file to the displayed texels.

use crate::common::{self, gltf_builder, images};
use canopy::{
    config::{Config, Load},
    gpu::Gpu,
    render::{
        Channel, View,
        materials::{
            material_textures::texture_support,
            mipmap::{Filter, Mipmap},
        },
    },
    scene::{
        self, Error, Image, Pose, Progress, Projection, Sampler, Scene, TexelFormat, Texture, TextureRef,
        TextureSupport,
    },
};
use common::{
    Random, gpu, portable_gpu,
    scenes::{self, Stage, look_at, matte, primitive, sphere},
};
use glam::{Affine2, DVec3, Mat4, Vec2, Vec3};
use gltf_builder::{Builder, U8};
use images::{Ktx2, Png, bc1, dds, etc1s, jpeg, uastc, zstd, zstd_bomb};
use serde_json::{Value, json};
use tempfile::TempDir;

const ALL: TextureSupport = TextureSupport {
    blocks: true,
    sixteen_bits: true,
    max_side: 4096,
};

fn limits() -> Load {
    Load {
        max_image_pixels: 1 << 20,
        max_texture_bytes: 1 << 24,
        ..Config::default().frame.opening.load
    }
}

fn load_with(builder: &Builder, limits: &Load, takes: TextureSupport) -> scene::Result<Scene> {
    let folder = TempDir::new().unwrap();
    let path = builder.write(folder.path(), "test.glb");
    scene::load_for(&[path], limits, takes, &Progress::default())
}

/// Adds an image and a texture that uses it.
fn add_image(builder: &mut Builder, bytes: &[u8]) -> usize {
    let view = builder.view(bytes);
    let image = builder.push("images", json!({ "bufferView": view }));
    builder.push("textures", json!({ "source": image }))
}

/// The scene of a file that uses each of `files` in `slot` of a material of its own.
fn scene_of(files: &[Vec<u8>], slot: &str, limits: &Load, takes: TextureSupport) -> Scene {
    let mut builder = Builder::triangle();
    for bytes in files {
        let texture = add_image(&mut builder, bytes);
        builder.push("materials", json!({ slot: { "index": texture } }));
    }
    load_with(&builder, limits, takes).unwrap()
}

/// An image, and the warnings of its load.
fn decoded(bytes: &[u8], slot: &str, takes: TextureSupport) -> (Image, Vec<String>) {
    let mut scene = scene_of(&[bytes.to_vec()], slot, &limits(), takes);
    (scene.images.remove(0), scene.warnings)
}

/// The image of a file that loads without warnings.
#[track_caller]
fn sound(bytes: &[u8], slot: &str, takes: TextureSupport) -> Image {
    let (image, warnings) = decoded(bytes, slot, takes);
    assert_eq!(warnings, [""; 0]);
    image
}

const COLOR: &str = "emissiveTexture";
const NUMBERS: &str = "occlusionTexture";
const NORMAL: &str = "normalTexture";

fn is_placeholder(image: &Image) -> bool {
    (image.width, image.height) == (8, 8) && image.rgba8()[..8] == [255, 0, 255, 255, 0, 0, 0, 255]
}

fn texel(image: &Image, x: u32, y: u32) -> [u8; 4] {
    let at = (y * image.width + x) as usize * 4;
    image.rgba8()[at..at + 4].try_into().unwrap()
}

// PNG, JPEG and WebP.

#[test]
fn png_of_every_depth_and_color_type_is_read() {
    let palette: Vec<u8> = (0..16).flat_map(|i| [i * 10, 255 - i, i]).collect();
    for interlaced in [false, true] {
        for (color_type, depths) in [
            (0, &[1_u8, 2, 4, 8, 16][..]),
            (2, &[8, 16]),
            (3, &[1, 2, 4, 8]),
            (4, &[8, 16]),
            (6, &[8, 16]),
        ] {
            for &bits in depths {
                let most = if bits == 16 { u16::MAX } else { (1 << bits) - 1 };
                let channels = [1, 0, 3, 1, 2, 0, 4][usize::from(color_type)];
                let sample = |x: u32, y: u32, channel: u32| -> u16 {
                    let value = (x * 7919 + y * 104_729 + channel * 2711) as u16;
                    match color_type {
                        3 => value % (most + 1).min(16),
                        _ => value & most,
                    }
                };
                let mut png = Png::new([11, 9], bits, color_type);
                png.interlaced = interlaced;
                // Chunks that glTF ignores, and a colour key for transparency.
                png.chunks.push((b"gAMA", 200_000_u32.to_be_bytes().to_vec()));
                if color_type == 3 {
                    let colors = 3 * (usize::from(most) + 1).min(16);
                    png.chunks.push((b"PLTE", palette[..colors].to_vec()));
                    png.chunks.push((b"tRNS", vec![7]));
                }
                let bytes = png.write(|x, y| (0..channels).map(|c| sample(x, y, c)).collect());
                let image = sound(&bytes, COLOR, TextureSupport::default());
                assert_eq!((image.width, image.height), (11, 9));
                for (x, y) in (0..9).flat_map(|y| (0..11).map(move |x| (x, y))) {
                    let eight = |channel| {
                        let value = f64::from(sample(x, y, channel)) / f64::from(most);
                        (value * 255.0).round() as u8
                    };
                    let expected = match color_type {
                        0 => [eight(0), eight(0), eight(0), 255],
                        2 => [eight(0), eight(1), eight(2), 255],
                        3 => {
                            let index = usize::from(sample(x, y, 0));
                            let [r, g, b] = [0, 1, 2].map(|c| palette[3 * index + c]);
                            [r, g, b, if index == 0 { 7 } else { 255 }]
                        }
                        4 => [eight(0), eight(0), eight(0), eight(1)],
                        _ => [0, 1, 2, 3].map(eight),
                    };
                    let what = format!("type {color_type}, {bits} bits, {interlaced}, {x} {y}");
                    assert_eq!(texel(&image, x, y), expected, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_color_key_is_transparent() {
    let mut png = Png::new([2, 1], 8, 2);
    png.chunks.push((b"tRNS", vec![0, 1, 0, 2, 0, 3]));
    let bytes = png.write(|x, _| if x == 0 { vec![1, 2, 3] } else { vec![1, 2, 4] });
    let image = sound(&bytes, COLOR, TextureSupport::default());
    assert_eq!(*image.rgba8(), [1, 2, 3, 0, 1, 2, 4, 255]);
}

#[test]
fn sixteen_bits_are_kept_for_data_and_rounded_for_colors() {
    let values = [0_u16, 128, 129, 385, 386, 32_767, 65_406, 65_407, 65_535];
    let bytes = Png::new([9, 1], 16, 0).write(|x, _| vec![values[x as usize]]);
    for slot in [NUMBERS, NORMAL] {
        let image = sound(&bytes, slot, ALL);
        assert_eq!(image.format, TexelFormat::Rgba16);
        let texels: Vec<u16> = image.levels[0]
            .chunks_exact(2)
            .map(|c| u16::from_ne_bytes([c[0], c[1]]))
            .collect();
        for (texel, value) in texels.chunks_exact(4).zip(values) {
            assert_eq!(texel, [value, value, value, u16::MAX]);
        }
        // It has coarser levels: nine texels in four parts.
        assert_eq!(image.levels.len(), 4);
        let first = u16::from_ne_bytes([image.levels[1][0], image.levels[1][1]]);
        if slot == NORMAL {
            // Their mean direction, of length 1.
            let diagonal = 0.5 - 0.5 / 3f64.sqrt();
            assert_eq!(first, (65_535.0 * diagonal).round() as u16);
            continue;
        }
        let [a, b, c] = [0, 1, 2].map(|i| f64::from(values[i]));
        assert_eq!(first, ((4.0 * a + 4.0 * b + c) / 9.0).round() as u16);
    }
    let rounded = values.map(|v| (f64::from(v) / 257.0).round() as u8);
    for (slot, takes) in [(COLOR, ALL), (NUMBERS, TextureSupport::default())] {
        let image = sound(&bytes, slot, takes);
        assert_eq!(image.format, TexelFormat::Rgba8);
        let reds: Vec<u8> = image.rgba8().chunks_exact(4).map(|t| t[0]).collect();
        assert_eq!(reds, rounded);
    }
    // With both uses, the bits are kept for numbers, and rounded for colours.
    let mut builder = Builder::triangle();
    let texture = add_image(&mut builder, &bytes);
    builder.push(
        "materials",
        json!({
            COLOR: { "index": texture },
            "pbrMetallicRoughness": { "metallicRoughnessTexture": { "index": texture } },
        }),
    );
    builder.push("materials", json!({ NUMBERS: { "index": texture } }));
    let scene = load_with(&builder, &limits(), ALL).unwrap();
    assert_eq!(scene.images.len(), 1, "an image is decoded once");
    assert_eq!(scene.images[0].format, TexelFormat::Rgba16);
    let reds: Vec<u8> = scene.images[0].rgba8().chunks_exact(4).map(|t| t[0]).collect();
    assert_eq!(reds, rounded);
}

#[test]
fn grey_rgb_and_cmyk_jpeg_is_read_baseline_and_progressive() {
    const ADOBE: &[u8] = b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0";
    for progressive in [false, true] {
        let grey = sound(&jpeg(&[77], progressive, &[]), COLOR, TextureSupport::default());
        assert_eq!(texel(&grey, 3, 4), [77, 77, 77, 255]);
        // Luma 150, and a red difference of 40 and blue one of −20 (JFIF 1.02).
        let color = sound(
            &jpeg(&[150, 108, 168], progressive, &[]),
            COLOR,
            TextureSupport::default(),
        );
        let expected = [
            150.0 + 1.402 * 40.0,
            150.0 + 0.344 * 20.0 - 0.714 * 40.0,
            150.0 - 1.772 * 20.0,
        ];
        for (is, wanted) in texel(&color, 0, 0).iter().zip(expected) {
            assert!((f64::from(*is) - wanted).abs() < 2.0, "{is} {wanted}");
        }
    }
    // Adobe stores inks inverted: no cyan, full magenta and yellow, a fifth of black.
    let ink = sound(
        &jpeg(&[255, 0, 0, 204], false, ADOBE),
        COLOR,
        TextureSupport::default(),
    );
    let [r, g, b, a] = texel(&ink, 0, 0);
    assert!(
        r.abs_diff(204) < 3 && g < 3 && b < 3 && a == 255,
        "{r} {g} {b} {a}"
    );
}

fn webp(width: u32, height: u32) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    image::RgbaImage::from_fn(width, height, |x, y| image::Rgba([x as u8, y as u8, 9, 200]))
        .write_to(&mut out, image::ImageFormat::WebP)
        .unwrap();
    out.into_inner()
}

#[test]
fn webp_is_detected_by_content() {
    let mut builder = Builder::triangle();
    let view = builder.view(&webp(5, 3));
    builder.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    builder.push(
        "textures",
        json!({ "extensions": { "EXT_texture_webp": { "source": 0 } } }),
    );
    builder.push("materials", json!({ COLOR: { "index": 0 } }));
    builder.json["extensionsRequired"] = json!(["EXT_texture_webp"]);
    builder.json["extensionsUsed"] = json!(["EXT_texture_webp"]);
    let scene = load_with(&builder, &limits(), ALL).unwrap();
    assert_eq!(scene.warnings, [""; 0]);
    assert_eq!(texel(&scene.images[0], 4, 2), [4, 2, 9, 200]);
}

// The choice of a texture's image.

#[test]
fn extension_images_take_precedence_if_they_decode() {
    let red = Png::new([1, 1], 8, 2).write(|_, _| vec![255, 0, 0]);
    let uastc = Ktx2::uastc([1, 1], &[vec![[0, 255, 0, 255]]]).write();
    let broken = uastc[..60].to_vec();
    for (bytes, expected, count) in [(&uastc, [0, 255, 0, 255], 0), (&broken, [255, 0, 0, 255], 1)] {
        let mut builder = Builder::triangle();
        for bytes in [&red, bytes] {
            let view = builder.view(bytes);
            builder.push("images", json!({ "bufferView": view }));
        }
        builder.push(
            "textures",
            json!({ "source": 0, "extensions": { "KHR_texture_basisu": { "source": 1 } } }),
        );
        builder.push("materials", json!({ COLOR: { "index": 0 } }));
        let scene = load_with(&builder, &limits(), ALL).unwrap();
        assert_eq!(texel(&scene.images[0], 0, 0), expected);
        assert_eq!(scene.warnings.len(), count, "{:?}", scene.warnings);
    }
}

#[test]
fn texture_extensions_without_a_valid_source_are_warned_about() {
    for (texture, part) in [
        (
            json!({ "extensions": { "KHR_texture_basisu": { "source": 7 } } }),
            "KHR_texture_basisu",
        ),
        (
            json!({ "extensions": { "KHR_texture_basisu": {} } }),
            "KHR_texture_basisu",
        ),
        (
            json!({ "extensions": { "EXT_texture_avif": { "source": 0 } } }),
            "EXT_texture_avif",
        ),
        (json!({}), "no image"),
    ] {
        let mut builder = Builder::triangle();
        builder.push("images", json!({ "uri": "data:,x" }));
        builder.push("textures", texture);
        builder.push("materials", json!({ COLOR: { "index": 0 } }));
        let scene = load_with(&builder, &limits(), ALL).unwrap();
        assert!(is_placeholder(&scene.images[0]));
        assert!(scene.warnings[0].contains(part), "{:?}", scene.warnings);
    }
}

/// A warning about an image identifies it.
#[test]
fn warnings_name_the_omitted_image() {
    let avif = "data:image/avif;base64,AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZg==";
    let only = json!({ "extensions": { "EXT_texture_avif": { "source": 0 } } });
    for (image, texture, name) in [
        (
            json!({ "uri": avif, "name": "wood" }),
            only.clone(),
            "image wood: ",
        ),
        (json!({ "uri": "data:,x" }), only.clone(), "image 0: "),
        (json!({ "uri": "b.avif" }), only.clone(), "image b.avif: "),
        (json!({ "uri": avif, "name": "" }), only, "image 0: "),
        (
            json!({ "uri": avif, "name": " " }),
            json!({ "source": 0 }),
            "image 0: ",
        ),
        (
            json!({ "uri": avif, "mimeType": "image/avif" }),
            json!({ "source": 0 }),
            "image 0: ",
        ),
        (
            json!({ "uri": "", "name": "" }),
            json!({ "source": 0 }),
            "image 0: ",
        ),
        (
            json!({ "uri": avif }),
            json!({ "extensions": { "EXT_texture_avif": { "source": 9 } } }),
            "image of texture 0: ",
        ),
        (json!({ "uri": avif }), json!({}), "image of texture 0: "),
    ] {
        let mut builder = Builder::triangle();
        builder.push("images", image);
        builder.push("textures", texture);
        builder.push("materials", json!({ COLOR: { "index": 0 } }));
        let scene = load_with(&builder, &limits(), ALL).unwrap();
        let told = scene.warnings.iter().filter(|line| line.contains(name));
        assert_eq!(told.count(), 1, "{name}: {:?}", scene.warnings);
    }
}

#[test]
fn identical_image_bytes_are_decoded_once() {
    let mut builder = Builder::triangle();
    let png = Png::new([2, 2], 8, 0).write(|_, _| vec![5]);
    let view = builder.view(&png);
    builder.push("images", json!({ "bufferView": view, "name": "a" }));
    builder.push("images", json!({ "bufferView": view, "name": "b" }));
    for source in [0, 1, 0] {
        let texture = builder.push("textures", json!({ "source": source }));
        builder.push("materials", json!({ COLOR: { "index": texture } }));
    }
    let scene = load_with(&builder, &limits(), ALL).unwrap();
    assert_eq!((scene.textures.len(), scene.images.len()), (3, 1));
}

// KTX2 and DDS.

/// The levels of an 8 × 4 image of UASTC, each of one colour.
const LEVELS: [[u8; 4]; 4] = [
    [10, 20, 30, 255],
    [60, 70, 80, 200],
    [1, 2, 3, 100],
    [255, 254, 0, 0],
];

fn uastc_levels() -> Ktx2 {
    Ktx2::uastc(
        [8, 4],
        &[
            vec![LEVELS[0]; 2],
            vec![LEVELS[1]],
            vec![LEVELS[2]],
            vec![LEVELS[3]],
        ],
    )
}

#[test]
fn uastc_becomes_blocks_or_texels_of_the_same_colors() {
    let file = uastc_levels().write();
    for (takes, format) in [
        (ALL, TexelFormat::Bc7),
        (TextureSupport::default(), TexelFormat::Rgba8),
    ] {
        let image = sound(&file, COLOR, takes);
        assert_eq!((image.format, image.levels.len()), (format, 4));
        for (level, color) in LEVELS.into_iter().enumerate() {
            let [width, height] = [8_u32 >> level, 4 >> level].map(|side| side.max(1));
            let level = Image {
                width,
                height,
                levels: vec![image.levels[level].clone()],
                ..image.clone()
            };
            for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                let difference = texel(&level, x, y)
                    .iter()
                    .zip(color)
                    .map(|(a, b)| a.abs_diff(b))
                    .max();
                assert!(
                    difference <= Some(1),
                    "{format:?} {:?} {color:?}",
                    texel(&level, x, y)
                );
            }
        }
    }
}

#[test]
fn basis_without_every_level_or_of_odd_sizes_becomes_texels() {
    let one = Ktx2::uastc([8, 4], &[vec![LEVELS[0]; 2]]).write();
    let odd = Ktx2::uastc([5, 2], &[vec![LEVELS[0]; 2], vec![LEVELS[1]], vec![LEVELS[2]]]).write();
    for (file, size, levels) in [(one, (8, 4), 1), (odd, (5, 2), 3)] {
        let image = sound(&file, COLOR, ALL);
        assert_eq!((image.format, image.levels.len()), (TexelFormat::Rgba8, levels));
        assert_eq!((image.width, image.height), size);
        assert_eq!(texel(&image, 4, 1), LEVELS[0]);
    }
}

#[test]
fn etc1s_becomes_blocks_or_texels_of_the_same_colors() {
    // Red equals green, because decoders differ in which of the two becomes alpha.
    let ends = [
        ([31, 31, 16], 0),
        ([4, 4, 9], 3),
        ([9, 9, 9], 0),
        ([17, 17, 19], 1),
    ];
    // The intensity tables of ETC1.
    let table = |table: u8| match table {
        0 => [-8, -2, 2, 8],
        1 => [-17, -5, 5, 17],
        _ => [-42, -13, 13, 42],
    };
    let texels = |block: usize, x: usize| {
        let (color, intensities) = ends[block];
        let value = |c: u8| i32::from(c << 3 | c >> 2) + table(intensities)[x % 4];
        color.map(|c| value(c).clamp(0, 255) as u8)
    };
    for has_alpha in [false, true] {
        let file = etc1s(ends, has_alpha).write();
        let plain = sound(&file, COLOR, TextureSupport::default());
        assert_eq!((plain.format, plain.levels.len()), (TexelFormat::Rgba8, 4));
        for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
            let block = (y / 4 * 2 + x / 4) as usize;
            let [r, g, b] = texels(block, x as usize);
            let alpha = if has_alpha {
                texels(3 - block, x as usize)[1]
            } else {
                255
            };
            assert_eq!(texel(&plain, x, y), [r, g, b, alpha], "{x} {y}");
        }
        for (slot, opaque) in [(COLOR, TexelFormat::Bc1), (NUMBERS, TexelFormat::Bc7)] {
            let blocks = sound(&file, slot, ALL);
            assert_eq!(blocks.format, if has_alpha { TexelFormat::Bc7 } else { opaque });
            let worst = blocks
                .rgba8()
                .iter()
                .zip(plain.rgba8().iter())
                .map(|(a, b)| a.abs_diff(*b))
                .max();
            assert!(worst < Some(16), "{:?}: {worst:?}", blocks.format);
        }
    }
}

#[test]
fn two_channels_of_basis_are_red_and_green() {
    let mut file = Ktx2::uastc([4, 4], &[vec![[200, 200, 200, 90]]]);
    file.model.1 = vec![5];
    let bytes = file.write();
    assert_eq!(texel(&sound(&bytes, NUMBERS, ALL), 0, 0), [200, 90, 0, 255]);
    // For a normal, blue completes the unit length.
    let [x, y, z, _] = texel(&sound(&bytes, NORMAL, ALL), 0, 0).map(|c| f64::from(c) / 127.5 - 1.0);
    assert!((x * x + y * y + z * z - 1.0).abs() < 0.02 && z > 0.0);
}

#[test]
fn ktx2_without_basis_is_read_plain_and_in_zstandard() {
    for (format, texel_bytes, expected) in [
        (9, vec![10], [10, 0, 0, 255]),
        (22, vec![10, 20], [10, 20, 0, 255]),
        (23, vec![10, 20, 30], [10, 20, 30, 255]),
        (36, vec![10, 20, 30], [30, 20, 10, 255]),
        (43, vec![10, 20, 30, 40], [10, 20, 30, 40]),
        (44, vec![10, 20, 30, 40], [30, 20, 10, 40]),
    ] {
        let level = |count: usize| texel_bytes.repeat(count);
        let mut file = Ktx2::plain(format, [3, 2], &[level(6), level(1)]);
        for supercompression in [0, 2] {
            file.supercompression = supercompression;
            if supercompression == 2 {
                file.levels.iter_mut().for_each(|(data, _)| *data = zstd(data));
            }
            let image = sound(&file.write(), COLOR, ALL);
            assert_eq!((image.width, image.height, image.levels.len()), (3, 2, 2));
            assert_eq!(texel(&image, 2, 1), expected, "format {format}");
            assert_eq!(image.levels[1], expected);
        }
    }
    let (image, warnings) = decoded(&Ktx2::plain(50, [1, 1], &[vec![0; 3]]).write(), COLOR, ALL);
    assert!(
        is_placeholder(&image) && warnings[0].contains("level 0"),
        "{warnings:?}"
    );
    let (image, warnings) = decoded(&Ktx2::plain(97, [1, 1], &[vec![0; 8]]).write(), COLOR, ALL);
    assert!(
        is_placeholder(&image) && warnings[0].contains("VkFormat 97"),
        "{warnings:?}"
    );
}

#[test]
fn block_compressed_textures_are_kept_and_decode_correctly() {
    // Red, two thirds red, a third red, black.
    let gradient = bc1([0xf800, 0]);
    let row = [
        [255, 0, 0, 255],
        [170, 0, 0, 255],
        [85, 0, 0, 255],
        [0, 0, 0, 255],
    ];
    let green = bc1([0x07e0, 0]);
    let levels = vec![gradient, green.clone(), green];
    let ktx2 = Ktx2::plain(134, [4, 4], &levels).write();
    let dds = dds(71, [4, 4], 3, 1, &levels.concat());
    for file in [ktx2, dds] {
        for (takes, format) in [
            (ALL, TexelFormat::Bc1),
            (TextureSupport::default(), TexelFormat::Rgba8),
        ] {
            let image = sound(&file, COLOR, takes);
            assert_eq!((image.format, image.levels.len()), (format, 3));
            let coarser = Image {
                levels: image.levels[2..].to_vec(),
                ..image.clone()
            };
            assert_eq!(coarser.rgba8()[..4], [0, 255, 0, 255]);
            for (x, expected) in (0..).zip(row) {
                assert_eq!(texel(&image, x, 3), expected);
            }
        }
    }
}

#[test]
fn dds_with_rgba_texels_and_two_channel_normals_is_read() {
    let texels: Vec<u8> = (0..24).collect();
    let image = sound(&dds(28, [3, 2], 1, 1, &texels), COLOR, ALL);
    assert_eq!((image.format, &*image.rgba8()), (TexelFormat::Rgba8, &texels[..]));
    // BC5 of one value each: 204 and 128.
    let block = [204, 204, 0, 0, 0, 0, 0, 0, 128, 128, 0, 0, 0, 0, 0, 0];
    let image = sound(&dds(83, [4, 4], 1, 1, &block), NORMAL, ALL);
    assert_eq!(texel(&image, 0, 0), [204, 128, 229, 255]);
    let image = sound(&dds(83, [4, 4], 1, 1, &block), NUMBERS, ALL);
    assert_eq!(texel(&image, 0, 0), [204, 128, 0, 255]);
}

#[test]
fn the_first_of_several_layers_is_shown_with_a_warning() {
    let mut cube = uastc_levels();
    (cube.size, cube.faces) = ([4, 4], 6);
    let face: Vec<u8> = (0..6).flat_map(|i| uastc([i * 40, 0, 0, 255])).collect();
    cube.levels = vec![(face, 96)];
    let layers = dds(28, [1, 1], 1, 3, &[9, 8, 7, 6, 5, 5, 5, 5, 4, 4, 4, 4]);
    for (file, expected) in [(cube.write(), [0, 0, 0, 255]), (layers, [9, 8, 7, 6])] {
        let (image, warnings) = decoded(&file, COLOR, ALL);
        assert_eq!(texel(&image, 0, 0), expected);
        assert!(
            warnings.len() == 1 && warnings[0].contains("first"),
            "{warnings:?}"
        );
    }
}

// Images beyond limits, and broken images.

#[test]
fn oversized_images_are_scaled_down() {
    let half = |x: u32| {
        if x < 4 {
            vec![0, 0, 0, 0]
        } else {
            vec![255, 255, 255, 255]
        }
    };
    let bytes = Png::new([8, 8], 8, 6).write(|x, _| half(x % 2 * 4));
    let takes = TextureSupport { max_side: 4, ..ALL };
    for (slot, expected) in [(COLOR, 188), (NUMBERS, 128)] {
        let (image, warnings) = decoded(&bytes, slot, takes);
        assert_eq!((image.width, image.height), (4, 4));
        // Black and white average to half of white's light as colours, and to half of its value as numbers.
        assert_eq!(texel(&image, 2, 2), [expected, expected, expected, 128]);
        assert!(
            warnings[0].contains("8×8") && warnings[0].contains("4×4"),
            "{warnings:?}"
        );
    }
    // Stored levels are dropped from the finest on. Blocks stay blocks while their sides allow it.
    for (max_side, size, format) in [(4, (4, 2), TexelFormat::Rgba8), (8, (8, 4), TexelFormat::Bc7)] {
        let (image, _) = decoded(&uastc_levels().write(), COLOR, TextureSupport { max_side, ..ALL });
        assert_eq!(
            (image.width, image.height, image.format),
            (size.0, size.1, format)
        );
        let color = if max_side == 4 { LEVELS[1] } else { LEVELS[0] };
        assert!(
            texel(&image, 0, 0)
                .iter()
                .zip(color)
                .all(|(a, b)| a.abs_diff(b) < 2)
        );
    }
}

#[test]
fn the_total_size_of_images_stays_within_the_limit() {
    let large = Png::new([64, 64], 8, 0).write(|_, _| vec![50]);
    let small = Png::new([8, 8], 8, 0).write(|_, _| vec![60]);
    let mut load = limits();
    // The large files have different bytes, 16 KiB each.
    let files = [large.clone(), small, [large, vec![0]].concat()];
    for (max_texture_bytes, sizes) in [
        (40_000, [64, 8, 64]),
        (21_000, [64, 8, 32]),
        (9_000, [32, 8, 32]),
        (600, [4, 4, 4]),
    ] {
        load.max_texture_bytes = max_texture_bytes;
        let scene = scene_of(&files, COLOR, &load, TextureSupport::default());
        let mut widths: Vec<u32> = scene.images.iter().map(|i| i.width).collect();
        let bytes: usize = scene.images.iter().map(|i| i.rgba8().len()).sum();
        assert!(
            bytes as u64 <= max_texture_bytes,
            "{bytes} of {max_texture_bytes}"
        );
        let mut sizes = sizes.to_vec();
        if max_texture_bytes > 600 {
            widths.sort_unstable();
            sizes.sort_unstable();
            assert_eq!(widths, sizes);
        }
        let scaled = scene
            .images
            .iter()
            .zip([64, 8, 64])
            .filter(|(i, w)| i.width != *w)
            .count();
        assert_eq!(scene.warnings.len(), scaled);
    }
    load.max_texture_bytes = 20;
    let mut builder = Builder::triangle();
    for bytes in &files {
        let texture = add_image(&mut builder, bytes);
        builder.push("materials", json!({ COLOR: { "index": texture } }));
    }
    let refused = load_with(&builder, &load, TextureSupport::default());
    assert!(matches!(refused, Err(Error::Limit { by, .. }) if by == "load.max_texture_bytes"));
}

#[test]
fn invalid_and_oversized_images_become_placeholders() {
    let mut many_layers = Ktx2::uastc([4, 4], &[vec![[1, 2, 3, 4]]]);
    many_layers.supercompression = 2;
    many_layers.layers = 1 << 30;
    many_layers.levels = vec![(zstd_bomb(1 << 31, 100), 16 << 30)];
    let mut lying = Ktx2::uastc([4, 4], &[vec![[1, 2, 3, 4]]]);
    lying.supercompression = 2;
    lying.levels = vec![(zstd_bomb(1 << 31, 16_384), 1 << 31)];
    let mut window = Ktx2::plain(43, [1, 1], &[zstd_bomb(90 << 20, 1)]);
    window.supercompression = 2;
    let mut sizes: Vec<Vec<u8>> = Vec::new();
    for size in [
        [65_535, 65_535],
        [0, 0],
        [0, 9],
        [u32::MAX, u32::MAX],
        [1 << 16, 1 << 16],
    ] {
        sizes.push(Ktx2::uastc(size, &[vec![[1; 4]]]).write());
        sizes.push(Ktx2::plain(43, size, &[vec![1; 64]]).write());
        sizes.push(
            Ktx2 {
                size,
                ..etc1s([([1; 3], 0); 4], true)
            }
            .write(),
        );
        sizes.push(dds(28, size, 1, 1, &[1; 64]));
        sizes.push(dds(98, size, 17, u32::MAX, &[1; 64]));
        let mut png = Png::new([1, 1], 8, 0).write(|_, _| vec![1]);
        png[16..24].copy_from_slice(&[size[0].to_be_bytes(), size[1].to_be_bytes()].concat());
        sizes.push(png);
        let mut jpeg = jpeg(&[9], false, &[]);
        let frame = jpeg.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
        let sides = [size[1] as u16, size[0] as u16].map(u16::to_be_bytes).concat();
        jpeg[frame + 5..frame + 9].copy_from_slice(&sides);
        sizes.push(jpeg);
    }
    let wide_webp = {
        let mut webp = webp(1, 1);
        // 16384 by 16384 in the header of the lossless stream.
        webp[21..25].copy_from_slice(&[255, 255, 255, 15]);
        webp
    };
    let truncated = [
        webp(9, 9),
        etc1s([([1; 3], 0); 4], true).write(),
        uastc_levels().write(),
        dds(28, [4, 4], 1, 1, &[1; 64]),
        jpeg(&[9, 8, 7], true, &[]),
    ];
    let mut files = vec![
        b"<!DOCTYPE html><html>".to_vec(),
        Vec::new(),
        b"\xabKTX 20\xbb\r\n\x1a\n".to_vec(),
        b"DDS ".to_vec(),
        many_layers.write(),
        lying.write(),
        window.write(),
        wide_webp,
    ];
    files.extend(sizes);
    files.extend(
        truncated
            .iter()
            .map(|bytes| bytes[..bytes.len() * 2 / 3].to_vec()),
    );
    for (index, bytes) in files.iter().enumerate() {
        let (image, warnings) = decoded(bytes, COLOR, ALL);
        // A JPEG that ends early shows its decoded part.
        let is_jpeg = bytes.starts_with(&[0xff, 0xd8]);
        assert!(
            is_placeholder(&image) || is_jpeg,
            "file {index}: {}×{}",
            image.width,
            image.height
        );
        assert!(warnings.len() == 1 || is_jpeg, "file {index}: {warnings:?}");
        assert!(
            warnings.iter().all(|w| !w.contains('\n') && w.len() < 400),
            "{warnings:?}"
        );
    }
}

/// Every image file in this test, corrupted at random. Each file loads or is replaced by a placeholder, and
/// no decoder's panic escapes.
#[test]
fn broken_image_bytes_never_panic() {
    let seeds = [
        etc1s(
            [
                ([31, 0, 16], 0),
                ([4, 20, 9], 3),
                ([0, 0, 0], 7),
                ([17, 18, 19], 1),
            ],
            true,
        )
        .write(),
        etc1s([([1, 2, 3], 4); 4], false).write(),
        uastc_levels().write(),
        {
            let mut file = uastc_levels();
            file.supercompression = 2;
            file.levels.iter_mut().for_each(|(data, _)| *data = zstd(data));
            file.write()
        },
        Ktx2::plain(146, [4, 4], &vec![vec![0x55; 16]; 3]).write(),
        dds(98, [8, 8], 4, 1, &[0x5a; 112]),
        dds(80, [8, 8], 1, 2, &[0x5a; 64]),
        jpeg(&[1, 200, 30], false, &[]),
        jpeg(&[1, 200, 30, 4], true, &[]),
        webp(6, 5),
        Png::new([7, 5], 4, 3).write(|x, _| vec![x as u16]),
    ];
    let mut random = Random(7);
    let mut below = |bound: usize| random.bits() as usize % bound;
    let mutants: Vec<Vec<u8>> = (0..2400)
        .map(|round| {
            let mut bytes = seeds[round % seeds.len()].clone();
            for _ in 0..=below(6) {
                let at = below(bytes.len());
                match below(5) {
                    0 => bytes[at] ^= 1 << below(8),
                    1 => bytes[at] = [0, 1, 127, 128, 255][below(5)],
                    2 => bytes.truncate(at.max(12)),
                    3 => {
                        let end = (at + 4).min(bytes.len());
                        bytes[at..end].fill([0, 255][below(2)]);
                    }
                    _ => bytes.insert(at, below(256) as u8),
                }
            }
            bytes
        })
        .collect();
    for slot in [COLOR, NORMAL] {
        let scene = scene_of(&mutants, slot, &limits(), ALL);
        assert_eq!(scene.images.len(), mutants.len());
        let replaced = scene.images.iter().filter(|i| is_placeholder(i)).count();
        assert!((200..2200).contains(&replaced), "{replaced}");
        for image in &scene.images {
            let sizes = (0..image.levels.len()).map(|level| {
                image
                    .format
                    .level_bytes([image.width, image.height].map(|s| (s >> level).max(1)))
            });
            assert!(sizes.eq(image.levels.iter().map(|l| l.len() as u64)));
        }
    }
}

// On the GPU.

/// A square that fills the picture, textured from its top left to its bottom right.
fn card(builder: &mut Builder, material: Value, uv0: [f32; 8], uv1: [f32; 8]) {
    let position = builder.floats("VEC3", &[-1., 1., 0., 1., 1., 0., 1., -1., 0., -1., -1., 0.]);
    let [uv0, uv1] = [uv0, uv1].map(|uv| builder.floats("VEC2", &uv));
    let indices = builder.accessor("SCALAR", U8, 6, &[0, 2, 1, 0, 3, 2]);
    let material = builder.push("materials", material);
    builder.primitive(json!({
        "attributes": { "POSITION": position, "TEXCOORD_0": uv0, "TEXCOORD_1": uv1 },
        "indices": indices, "material": material
    }));
}

const WHOLE: [f32; 8] = [0., 0., 1., 0., 1., 1., 0., 1.];

/// A channel of a picture of [`card`], `size` pixels a side, for each scene.
fn shown(gpu: &Gpu, scenes: &[Scene], channel: Channel, size: u32) -> Vec<Vec<[f32; 4]>> {
    let mut stage = Stage::new(gpu, &scenes[0], [size; 2]);
    let view = View {
        world_from_view: Mat4::from_translation(Vec3::Z),
        projection: Projection::Orthographic { half_height: 1.0 },
        near: 0.1,
        far: 2.0,
    };
    let mut pictures = Vec::new();
    for scene in scenes {
        stage.scene = scene;
        let uploader = stage.renderer.uploader();
        stage.uploaded = uploader.upload(gpu, scene, &stage.config).unwrap();
        stage.draw(&Pose::new(scene, None, 0.0), view);
        pictures.push(stage.channel(channel).texels);
    }
    pictures
}

fn linear(byte: u8) -> f32 {
    let c = f32::from(byte) / 255.0;
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

fn close(a: &[[f32; 4]], b: &[[f32; 4]], channels: usize, tolerance: f32) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            a.iter()
                .zip(b)
                .take(channels)
                .all(|(a, b)| (a - b).abs() <= tolerance)
        })
}

#[test]
fn every_wrap_mode_and_transform_samples_the_expected_texel() {
    let gpu = gpu();
    let png = Png::new([4, 4], 8, 2).write(|x, y| vec![x as u16 * 60, y as u16 * 60, 100]);
    let moved = json!({
        "offset": [0.25, -0.5],
        "rotation": std::f32::consts::FRAC_PI_2,
        "scale": [2, 0.5],
        "texCoord": 1,
    });
    let mut cases = Vec::new();
    let mut scenes = Vec::new();
    let wraps = [(33071, 33648), (33648, 10497), (10497, 33071)];
    for (is_moved, is_smooth) in [(false, false), (true, false), (false, true), (true, true)] {
        for (wrap_s, wrap_t) in wraps {
            let mut builder = Builder::new();
            let texture = add_image(&mut builder, &png);
            builder.json["textures"][0]["sampler"] = json!(0);
            let mut sampler = json!({ "wrapS": wrap_s, "wrapT": wrap_t });
            if !is_smooth {
                sampler["magFilter"] = json!(9728);
                sampler["minFilter"] = json!(9728);
            }
            builder.push("samplers", sampler);
            let mut reference = json!({ "index": texture });
            if is_moved {
                reference["extensions"] = json!({ "KHR_texture_transform": moved });
            }
            let three = [-1., -1., 2., -1., 2., 2., -1., 2.];
            let material = json!({ "pbrMetallicRoughness": { "baseColorTexture": reference } });
            card(&mut builder, material, three, three.map(|c| c + 0.125));
            scenes.push(load_with(&builder, &limits(), texture_support(&gpu)).unwrap());
            cases.push((is_moved, is_smooth, [wrap_s, wrap_t]));
        }
    }
    let size = 24_u32;
    let pictures = shown(&gpu, &scenes, Channel::Albedo, size);
    for (picture, (is_moved, is_smooth, wraps)) in pictures.iter().zip(cases) {
        for (is, (y, x)) in picture
            .iter()
            .zip((0..size).flat_map(|y| (0..size).map(move |x| (y, x))))
        {
            let mut uv = [x, y].map(|c| (c as f32 + 0.5) / size as f32 * 3.0 - 1.0);
            if is_moved {
                // The second set, scaled, rotated counter-clockwise in an image whose v points down, and
                // offset.
                let [u, v] = uv.map(|c| c + 0.125);
                uv = [0.5 * v + 0.25, -2.0 * u - 0.5];
            }
            if uv.iter().any(|c| ((c * 4.0).round() - c * 4.0).abs() < 1e-3) {
                // Between two texels.
                continue;
            }
            let texel = |axis: usize, i: i32| {
                let texel = match wraps[axis] {
                    33071 => i.clamp(0, 3),
                    33648 if i.rem_euclid(8) >= 4 => 3 - i.rem_euclid(4),
                    _ => i.rem_euclid(4),
                };
                linear(texel as u8 * 60)
            };
            let filtered = |axis: usize| {
                if !is_smooth {
                    return texel(axis, (uv[axis] * 4.0).floor() as i32);
                }
                let at = uv[axis] * 4.0 - 0.5;
                let (first, share) = (at.floor() as i32, at - at.floor());
                (1.0 - share) * texel(axis, first) + share * texel(axis, first + 1)
            };
            let expected = [filtered(0), filtered(1), linear(100)];
            assert!(
                (0..3).all(|c| (is[c] - expected[c]).abs() < 0.01),
                "moved {is_moved}, smooth {is_smooth}, wraps {wraps:?}, pixel {x} {y}: {is:?} {expected:?}"
            );
        }
    }
}

#[test]
fn each_slot_has_its_own_transform_and_uv_set() {
    let gpu = gpu();
    // The left half of each channel is 51, the right half 153.
    let png = Png::new([2, 1], 8, 2).write(|x, _| vec![if x == 0 { 51 } else { 153 }; 3]);
    let slots = [
        ("occlusionTexture", Channel::Occlusion),
        ("emissiveTexture", Channel::Emissive),
        ("normalTexture", Channel::Normal),
        ("metallicRoughnessTexture", Channel::Roughness),
    ];
    // The first set has u = 0 everywhere and the second u = 1. The transform moves them to the middle of a
    // half.
    let reference = |right: bool, set: u32| {
        let offset = if right { 0.75 } else { 0.25 } - 0.1 * set as f32;
        let transform = json!({ "scale": [0.1, 0.1], "offset": [offset, 0.5], "texCoord": set });
        json!({ "index": 0, "texCoord": 1 - set, "extensions": { "KHR_texture_transform": transform } })
    };
    let is_right = |slot: usize, turn: usize| (slot + turn) % 2 == 1;
    let scenes = [0, 1].map(|turn| {
        let mut builder = Builder::new();
        add_image(&mut builder, &png);
        builder.json["textures"][0]["sampler"] = json!(0);
        builder.push("samplers", json!({ "magFilter": 9728, "minFilter": 9728 }));
        let mut material = json!({ "emissiveFactor": [1, 1, 1], "pbrMetallicRoughness": {} });
        for (index, (slot, _)) in slots.iter().enumerate() {
            let reference = reference(is_right(index, turn), (index / 2) as u32);
            if *slot == "metallicRoughnessTexture" {
                material["pbrMetallicRoughness"][slot] = reference;
            } else {
                material[slot] = reference;
            }
        }
        card(&mut builder, material, [0.; 8], [1.; 8]);
        load_with(&builder, &limits(), texture_support(&gpu)).unwrap()
    });
    for (index, (slot, channel)) in slots.into_iter().enumerate() {
        for (turn, picture) in shown(&gpu, &scenes, channel, 4).iter().enumerate() {
            let byte = if is_right(index, turn) { 153 } else { 51 };
            let expected = match channel {
                Channel::Emissive => linear(byte),
                // All three components are equal, and only the sign differs.
                Channel::Normal => (f32::from(byte) / 127.5 - 1.0).signum() / 3_f32.sqrt(),
                _ => f32::from(byte) / 255.0,
            };
            // The channel shows normals in tangent space, and two axes define its directions.
            let is = if channel == Channel::Normal {
                picture[5][2]
            } else {
                picture[5][0]
            };
            assert!((is - expected).abs() < 0.01, "{slot} {turn}: {:?}", picture[5]);
        }
    }
}

#[test]
fn block_compressed_and_decoded_textures_look_alike() {
    let (all, portable) = (gpu(), portable_gpu());
    assert_eq!(
        texture_support(&portable),
        TextureSupport {
            max_side: 8192,
            ..TextureSupport::default()
        }
    );
    let ends = [
        ([31, 0, 16], 0),
        ([4, 20, 9], 3),
        ([12, 12, 0], 2),
        ([17, 18, 19], 1),
    ];
    let files = [
        (etc1s(ends, false).write(), 0.08),
        (etc1s(ends, true).write(), 0.08),
        (
            Ktx2::uastc([4, 4], &vec![vec![[200, 100, 50, 255]]; 3]).write(),
            0.01,
        ),
        (
            Ktx2::plain(134, [4, 4], &vec![bc1([0xf800, 0x001f]); 3]).write(),
            0.01,
        ),
    ];
    for (file, tolerance) in files {
        let mut builder = Builder::new();
        let texture = add_image(&mut builder, &file);
        let material = json!({ "alphaMode": "MASK", "alphaCutoff": 0.0,
            "pbrMetallicRoughness": { "baseColorTexture": { "index": texture } } });
        card(&mut builder, material, WHOLE, WHOLE);
        let scenes =
            [&portable, &all].map(|gpu| load_with(&builder, &limits(), texture_support(gpu)).unwrap());
        assert_eq!(scenes[0].images[0].format, TexelFormat::Rgba8);
        if texture_support(&all).blocks {
            assert_ne!(scenes[1].images[0].format, TexelFormat::Rgba8);
        }
        let blocks = shown(&all, &scenes[1..], Channel::Albedo, 8).remove(0);
        // A device without support for the loaded format still shows it.
        for texels in shown(&portable, &scenes, Channel::Albedo, 8) {
            assert!(close(&blocks, &texels, 3, tolerance), "{blocks:?} {texels:?}");
            assert!(texels.iter().any(|t| t[0] > 0.1), "nothing is shown");
        }
    }
}

#[test]
fn sixteen_bits_reach_the_surface() {
    let gpu = gpu();
    let png = Png::new([1, 1], 16, 0).write(|_, _| vec![32_800]);
    let mut builder = Builder::new();
    let texture = add_image(&mut builder, &png);
    let material = json!({ "pbrMetallicRoughness": { "metallicRoughnessTexture": { "index": texture } } });
    card(&mut builder, material, WHOLE, WHOLE);
    let scene = load_with(&builder, &limits(), texture_support(&gpu)).unwrap();
    let kept = texture_support(&gpu).sixteen_bits;
    assert_eq!(scene.images[0].format == TexelFormat::Rgba16, kept);
    // The G-buffer stores roughness with more than eight bits.
    let roughness = shown(&gpu, &[scene], Channel::Roughness, 2)[0][0][0];
    let expected = if kept { 32_800.0 / 65_535.0 } else { 128.0 / 255.0 };
    assert!((roughness - expected).abs() < 3e-4, "{roughness}");
}

/// The next coarser level in f64. The weight of a texel is the length of its overlap with the coarser one.
fn coarser(level: &[[f64; 4]], [width, height]: [usize; 2], cut: bool) -> Vec<[f64; 4]> {
    let shares = |size: usize| -> Vec<Vec<(usize, f64)>> {
        let half = (size / 2).max(1);
        let step = size as f64 / half as f64;
        let share = |i: usize| {
            let (start, end) = (i as f64 * step, (i + 1) as f64 * step);
            let common = move |t: usize| (end.min(t as f64 + 1.0) - start.max(t as f64)) / step;
            (0..size)
                .map(move |t| (t, common(t)))
                .filter(|(_, s)| *s > 1e-9)
                .collect()
        };
        (0..half).map(share).collect()
    };
    let mut out = Vec::new();
    for rows in shares(height) {
        for columns in shares(width) {
            let (mut sum, mut weighted) = ([0.0; 4], [0.0; 4]);
            for (y, sy) in &rows {
                for (x, sx) in &columns {
                    let texel = level[y * width + x];
                    for channel in 0..4 {
                        sum[channel] += sx * sy * texel[channel];
                        weighted[channel] += sx * sy * texel[3] * texel[channel];
                    }
                }
            }
            if cut && sum[3] > 0.0 {
                (0..3).for_each(|c| sum[c] = weighted[c] / sum[3]);
            }
            out.push(sum);
        }
    }
    out
}

#[test]
fn mipmaps_are_box_filters_in_linear_light_for_every_size() {
    let gpu = gpu();
    let mipmap = Mipmap::new(&gpu);
    let formats = [
        (wgpu::TextureFormat::Rgba8Unorm, Filter::Plain),
        (wgpu::TextureFormat::Rgba8UnormSrgb, Filter::Plain),
        (wgpu::TextureFormat::Rgba8UnormSrgb, Filter::Cut),
    ];
    let mut random = Random(3);
    for [width, height] in [[8_u32, 8], [5, 5], [7, 4], [1, 9], [6, 3], [33, 17], [2, 1]] {
        for (format, filter) in formats {
            let bytes: Vec<u8> = (0..width * height * 4).map(|_| random.bits() as u8).collect();
            let size = wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            };
            let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("test"),
                size,
                mip_level_count: size.max_mips(wgpu::TextureDimension::D2),
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::TEXTURE_BINDING
                    | wgpu::TextureUsages::RENDER_ATTACHMENT
                    | wgpu::TextureUsages::COPY_DST
                    | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            });
            let layout = wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(4 * width),
                rows_per_image: None,
            };
            gpu.queue
                .write_texture(texture.as_image_copy(), &bytes, layout, size);
            let mut encoder = gpu.encoder("test");
            mipmap.record(&gpu, &mut encoder, &texture, filter).unwrap();
            gpu.queue.submit([encoder.finish()]);
            let srgb = format.is_srgb();
            let light = |bytes: &[u8]| -> Vec<[f64; 4]> {
                bytes
                    .chunks_exact(4)
                    .map(|t| {
                        let c = |i: usize| {
                            if srgb && i < 3 {
                                f64::from(linear(t[i]))
                            } else {
                                f64::from(t[i]) / 255.0
                            }
                        };
                        [c(0), c(1), c(2), c(3)]
                    })
                    .collect()
            };
            let mut finer = light(&bytes);
            let mut sides = [width, height];
            for level in 1..texture.mip_level_count() {
                let expected = coarser(&finer, sides.map(|s| s as usize), filter == Filter::Cut);
                sides = sides.map(|s| (s / 2).max(1));
                let read = light(&level_of(&gpu, &texture, level, sides));
                assert_eq!(read.len(), expected.len());
                for (is, wanted) in read.iter().zip(&expected) {
                    for channel in 0..4 {
                        // A step of the byte at this brightness, with a margin.
                        let step = if srgb && channel < 3 { 0.009 } else { 0.0021 };
                        assert!(
                            (is[channel] - wanted[channel]).abs() < step,
                            "{width}×{height} {format:?} {filter:?} level {level}: {is:?} {wanted:?}"
                        );
                    }
                }
                // Continues from the GPU's level, so that rounding does not accumulate.
                finer = read;
            }
        }
    }
}

/// A texel of a normal map: its direction, and the length of the mean normal that it represents.
fn normal_of(texel: &[f64; 4]) -> (DVec3, f64) {
    let [x, y, z, a] = *texel;
    let direction = DVec3::new(x, y, z) * 2.0 - 1.0;
    (direction, 1.0 - (1.0 - a) * (1.0 - a))
}

/// Levels of normal maps hold directions. Alpha stores how far the normals of the finest level below a texel
/// cancel out. If those are all equal, alpha is 1, independent of the rounding of their lengths to eight
/// bits.
#[test]
fn mipmaps_of_normals_keep_their_variance() {
    let gpu = gpu();
    let mut random = Random(11);
    let mut rough = || [0.0; 3].map(|_: f64| (f64::from(random.unit()) * 255.0).round() as u8);
    let bumps: Vec<[u8; 3]> = (0..64 * 64).map(|_| rough()).collect();
    // An odd size, with one direction that no byte represents exactly.
    let slope = vec![[150, 101, 247]; 21 * 9];
    for (size, texels) in [([64_u32, 64], bumps), ([21, 9], slope)] {
        let mut builder = Builder::triangle();
        let bytes = texels.iter().flat_map(|[r, g, b]| [*r, *g, *b, 7]).collect();
        let image = image::RgbaImage::from_raw(size[0], size[1], bytes).unwrap();
        let mut png = std::io::Cursor::new(Vec::new());
        image.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let texture = add_image(&mut builder, png.get_ref());
        builder.push("materials", json!({ "normalTexture": { "index": texture } }));
        let scene = load_with(&builder, &limits(), texture_support(&gpu)).unwrap();
        let mipmap = Mipmap::new(&gpu);
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("test"),
            size: wgpu::Extent3d {
                width: size[0],
                height: size[1],
                depth_or_array_layers: 1,
            },
            mip_level_count: size[0].ilog2() + 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::RENDER_ATTACHMENT
                | wgpu::TextureUsages::COPY_DST
                | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let opaque: Vec<u8> = texels.iter().flat_map(|[r, g, b]| [*r, *g, *b, 255]).collect();
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * size[0]),
            rows_per_image: None,
        };
        let copy = texture.as_image_copy();
        gpu.queue.write_texture(copy, &opaque, layout, texture.size());
        let mut encoder = gpu.encoder("test");
        mipmap
            .record(&gpu, &mut encoder, &texture, Filter::Normals)
            .unwrap();
        gpu.queue.submit([encoder.finish()]);
        // Computed from the finest level, in f64.
        let numbers = |bytes: &[u8]| -> Vec<[f64; 4]> {
            let texels = bytes.chunks_exact(4);
            texels
                .map(|t| [0, 1, 2, 3].map(|i| f64::from(t[i]) / 255.0))
                .collect()
        };
        let unit = |texel: &[f64; 4]| {
            let normal = normal_of(texel).0.normalize();
            [normal.x, normal.y, normal.z, 0.0]
        };
        let mut means: Vec<_> = numbers(&opaque).iter().map(unit).collect();
        let mut sides = size;
        for level in 1..texture.mip_level_count() {
            means = coarser(&means, sides.map(|s| s as usize), false);
            sides = sides.map(|s| (s / 2).max(1));
            let read = numbers(&level_of(&gpu, &texture, level, sides));
            for (is, mean) in read.iter().zip(&means) {
                let mean = DVec3::from_slice(mean);
                let (direction, length) = normal_of(is);
                assert!(
                    (length - mean.length()).abs() < 0.02,
                    "level {level}: {is:?} for {mean}"
                );
                let apart = direction.normalize().angle_between(mean);
                assert!(apart * mean.length() < 0.02, "level {level}: {is:?} for {mean}");
                if size[0] == 21 {
                    assert_eq!(is[3], 1.0, "level {level}: {is:?}");
                }
            }
        }
        assert_eq!(scene.warnings, Vec::<String>::new());
    }
}

/// A level of a texture, read back.
fn level_of(gpu: &Gpu, texture: &wgpu::Texture, level: u32, [width, height]: [u32; 2]) -> Vec<u8> {
    let size = wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let copy = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("test"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: texture.format(),
        usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let mut encoder = gpu.encoder("test");
    let from = wgpu::TexelCopyTextureInfo {
        mip_level: level,
        ..texture.as_image_copy()
    };
    encoder.copy_texture_to_texture(from, copy.as_image_copy(), size);
    gpu.queue.submit([encoder.finish()]);
    gpu.read_texture(&copy).unwrap()
}

#[test]
fn a_load_is_cancelled_among_its_images() {
    let mut builder = Builder::triangle();
    for index in 0..200 {
        let png = Png::new([64, 64], 8, 0).write(|x, y| vec![(x * y + index) as u16 & 255]);
        let texture = add_image(&mut builder, &png);
        builder.push("materials", json!({ COLOR: { "index": texture } }));
    }
    let folder = TempDir::new().unwrap();
    let path = builder.write(folder.path(), "many.glb");
    let progress = Progress::default();
    let stages = std::sync::Mutex::new(Vec::new());
    let outcome = std::thread::scope(|scope| {
        let loading = scope.spawn(|| scene::load(std::slice::from_ref(&path), &limits(), &progress));
        while !loading.is_finished() {
            let stage = progress.stage();
            if stage.contains("decoding image") {
                stages.lock().unwrap().push(stage);
                progress.cancel();
                break;
            }
            std::thread::yield_now();
        }
        loading.join().unwrap()
    });
    assert!(
        matches!(outcome, Err(Error::Cancelled)),
        "{:?}",
        outcome.map(|s| s.images.len())
    );
    assert!(stages.lock().unwrap()[0].ends_with("of 200"), "{stages:?}");
    assert!(progress.fraction() < 1.0);
}

/// Each triangle of a ball shows a point, or a small area, of one half of a texture. The ball has the colour
/// of that half everywhere, for every filter of the texture.
#[test]
fn palette_textures_do_not_bleed_between_colours() {
    const SIDE: u32 = 256;
    let halves = (0..SIDE * SIDE).flat_map(|i| match i % SIDE < SIDE / 2 {
        true => [255, 128, 0, 255],
        false => [0, 0, 0, 255],
    });
    let gpu = gpu();
    let mut random = Random(7);
    for spread in [0.0, 1e-3] {
        let round = sphere(Vec3::ZERO, 1.0, 6, 0);
        let corners = |t: &[u32; 3]| t.map(|vertex| round.positions[vertex as usize]);
        let triangles: Vec<_> = round.indices.iter().map(corners).collect();
        let mut ball = primitive(&triangles, 0);
        let mut uv = || Vec2::new(0.2, 0.5) + spread * (Vec2::new(random.unit(), random.unit()) - 0.5);
        ball.uv0 = ball.positions.iter().map(|_| uv()).collect();
        let mut scene = scenes::scene([ball], vec![matte(Vec3::ONE)]);
        let image = Image::from_rgba8("halves", SIDE, SIDE, halves.clone().collect());
        scene.images.push(image);
        let sampler = Sampler::default();
        scene.textures.push(Texture { image: 0, sampler });
        scene.materials[0].base_color_texture = Some(TextureRef {
            texture: 0,
            uv_set: 0,
            texture_from_uv: Affine2::IDENTITY,
        });
        let mut stage = Stage::new(&gpu, &scene, [200, 150]);
        let view = look_at(Vec3::new(1.0, 1.5, 3.0), Vec3::ZERO, 20.0);
        stage.draw(&Pose::new(&scene, None, 0.0), view);
        let albedo = stage.channel(Channel::Albedo).texels;
        let seen: Vec<_> = albedo.iter().filter(|texel| texel[3] == 1.0).collect();
        assert!(seen.len() > 2000);
        let other = seen.iter().filter(|texel| texel[0] < 0.99).count();
        assert_eq!(other, 0, "{other} pixels of {} at {spread}", seen.len());
    }
}
