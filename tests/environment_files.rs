//! Environment files: decoding every format to texels, and writing baked environments.

use crate::common::{environments, images};
use canopy::{
    Error,
    config::{Config, Load},
    output::baked::{self, Baked, CubeTexels},
    render::FloatImage,
    scene::{
        environment::{self, EnvironmentImage, Shape},
        picture::Picture,
    },
};
use environments::{Exr, Runs, hdr, of_rgbe};
use half::f16;
use images::{Ktx2, dds, zstd};
use std::{f64::consts::PI, fs};
use tempfile::TempDir;

fn limits() -> Load {
    Config::default().frame.opening.load
}

#[track_caller]
fn loaded(bytes: &[u8], most: u32) -> EnvironmentImage {
    environment::load_bytes("test", bytes, &limits(), most).unwrap()
}

#[track_caller]
fn fault(bytes: &[u8]) -> String {
    let error = environment::load_bytes("test", bytes, &limits(), 8192).unwrap_err();
    error.to_string()
}

/// Texels that a file is meant to hold.
fn values(image: &EnvironmentImage) -> Vec<[f32; 3]> {
    let value = |[r, g, b, a]: &[f16; 4]| {
        assert_eq!(a.to_f32(), 1.0);
        [r, g, b].map(|c| c.to_f32() * image.scale)
    };
    image.texels.iter().map(value).collect()
}

fn halved(value: f32) -> f32 {
    f16::from_f32(value).to_f32()
}

// Radiance HDR.

/// Runs of many lengths, one of them longer than 256, in rows that all differ.
fn speckled(x: u32, y: u32) -> [u8; 4] {
    let x = x.saturating_sub(700) / (1 + y % 5);
    [
        128 + (x % 97) as u8,
        3 + (y % 250) as u8,
        200,
        128 + ((x + y) % 12) as u8,
    ]
}

#[test]
fn radiance_reads_the_same_however_its_rows_are_stored() {
    for size in [[1100, 550], [8, 4], [130, 65]] {
        let expected: Vec<_> = (0..size[0] * size[1])
            .map(|i| of_rgbe(speckled(i % size[0], i / size[0])).map(halved))
            .collect();
        for runs in [Runs::Flat, Runs::Old, Runs::New] {
            let image = loaded(&hdr(size, runs, speckled), 8192);
            assert_eq!((image.shape, image.scale), (Shape::Equirectangular, 1.0));
            assert_eq!([image.width, image.height], size);
            assert!(values(&image) == expected, "{size:?} {runs:?}");
        }
    }
}

#[test]
fn radiance_files_have_two_signatures_and_truncation_is_an_error() {
    let bytes = hdr([16, 8], Runs::New, speckled);
    let other = [b"#?RGBE\n", &bytes[b"#?RADIANCE\n".len()..]].concat();
    assert_eq!(loaded(&bytes, 99).texels, loaded(&other, 99).texels);
    for length in 0..bytes.len() {
        fault(&bytes[..length]);
    }
    assert!(fault(&bytes[..bytes.len() - 1]).starts_with("test: is cut off in row 7 of 8"));
}

/// An image of two grey texels of radiance 2, with additional header lines and this line ending.
fn grey_hdr(lines: &str, end: &str) -> Vec<u8> {
    let header = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n{lines}\n-Y 1 +X 2\n");
    let mut bytes = header.replace('\n', end).into_bytes();
    bytes.extend([128, 128, 128, 130].repeat(2));
    bytes
}

/// Factors in a header that the pixels were multiplied by are divided out, in environments and in compared
/// images.
#[test]
fn radiance_exposure_and_color_correction_are_divided_out() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.hdr");
    for (lines, expected) in [
        ("", [2.0; 3]),
        ("EXPOSURE=4\n", [0.5; 3]),
        ("EXPOSURE= 4.000000e+00 \n", [0.5; 3]),
        ("EXPOSURE=0.25\n", [8.0; 3]),
        ("EXPOSURE=2\n# a comment\nEXPOSURE=4\n", [0.25; 3]),
        ("COLORCORR=1 2 4\n", [2.0, 1.0, 0.5]),
        (
            "COLORCORR=1 2 4\nEXPOSURE=2\nCOLORCORR= 2 2 0.5\n",
            [0.5, 0.25, 0.5],
        ),
        ("EXPOSURE=1\nVIEW= -vtv\nSOFTWARE=x=y\npcomb a.hdr\n", [2.0; 3]),
        // Header of the image that this one was derived from.
        ("a.hdr:\n\tEXPOSURE=16\n\tFORMAT=none\n", [2.0; 3]),
        ("PRIMARIES= .64 .33 .3 .6 .15 .06 .3127 .329\n", [2.0; 3]),
        // The form that Photoshop writes.
        ("PRIMARIES=0 0 0 0 0 0 0 0\n", [2.0; 3]),
    ] {
        for end in ["\n", "\r\n"] {
            let bytes = grey_hdr(lines, end);
            assert_eq!(values(&loaded(&bytes, 8192)), [expected; 2], "{lines}");
            fs::write(&path, &bytes).unwrap();
            let picture = Picture::load(&path, &limits()).unwrap();
            assert_eq!(picture.pixels, [expected; 2], "{lines}");
        }
    }
    // Grey stays grey with any primaries. Rec. 2020 red is outside Rec. 709.
    let wide = grey_hdr(
        "PRIMARIES=.708 .292 .17 .797 .131 .046 .3127 .329\nEXPOSURE=2\n",
        "\n",
    );
    for texel in values(&loaded(&wide, 8192)) {
        assert!(texel.iter().all(|c| (c - 1.0).abs() < 1e-3), "{texel:?}");
    }
    let mut red = wide.clone();
    let end = red.len();
    red[end - 3] = 0;
    red[end - 2] = 0;
    fs::write(&path, &red).unwrap();
    let texel = Picture::load(&path, &limits()).unwrap().pixels[1];
    assert!((texel[0] - 1.6605).abs() < 1e-3 && texel[1] < 0.0, "{texel:?}");
    for line in [
        "EXPOSURE=0",
        "EXPOSURE=-1",
        "EXPOSURE=nan",
        "EXPOSURE=inf",
        "EXPOSURE=1e999",
        "EXPOSURE=bright",
        "EXPOSURE=",
        "COLORCORR=1 1",
        "COLORCORR=1 0 1",
        "COLORCORR=1 1 nan",
        "PRIMARIES=1 2 3",
        "PRIMARIES=.3 .3 .3 .3 .3 .3 .3 .3",
        "PRIMARIES=nan 0 0 0 0 0 0 0",
        "EXPOSURE=1e30\nEXPOSURE=1e30",
        "EXPOSURE=1e-30\nEXPOSURE=1e-30",
    ] {
        let bytes = grey_hdr(&format!("{line}\n"), "\n");
        let key = line.split('=').next().unwrap();
        let told = fault(&bytes);
        let is_told = told.contains(key) || told.contains("chromaticities");
        assert!(is_told && !told.contains('\n'), "{told}");
        fs::write(&path, &bytes).unwrap();
        let error = Picture::load(&path, &limits()).unwrap_err().to_string();
        assert!(error.contains("a.hdr"), "{error}");
    }
}

// OpenEXR.

/// Colours with other primaries are converted to Rec. 709, in environments and in compared images.
#[test]
fn openexr_with_other_primaries_is_converted_to_rec_709() {
    let with = |xy: &[f32]| Exr {
        more: vec![(
            "chromaticities",
            "chromaticities",
            xy.iter().flat_map(|value| value.to_le_bytes()).collect(),
        )],
        ..Exr::new([2, 1])
    };
    let texel = |x: i32, _| [[1.0, 0.0, 0.0], [0.5, 0.5, 0.5]][x as usize];
    let rec_709 = [0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329];
    let rec_2020 = [0.708, 0.292, 0.17, 0.797, 0.131, 0.046, 0.3127, 0.329];
    let same = loaded(&with(&rec_709).write(texel), 8192);
    assert_eq!(values(&same), [[1.0, 0.0, 0.0], [0.5; 3]]);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.exr");
    fs::write(&path, with(&rec_2020).write(texel)).unwrap();
    let [red, grey] = Picture::load(&path, &limits()).unwrap().pixels[..] else {
        panic!("two pixels")
    };
    let is = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
    assert!(is(red, [1.6605, -0.1246, -0.0182]), "{red:?}");
    assert!(is(grey, [0.5; 3]), "{grey:?}");
    let image = loaded(&with(&rec_2020).write(texel), 8192);
    // Negative radiance is clamped.
    assert!(is(values(&image)[0], [1.6605, 0.0, 0.0]));
    for broken in [
        &[0.3; 8][..],
        &[f32::NAN; 8],
        &[f32::INFINITY; 8],
        &[0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.9, 0.05],
    ] {
        let told = fault(&with(broken).write(texel));
        assert!(told.contains("chromaticities"), "{told}");
    }
    fault(&with(&rec_709[..3]).write(texel));
}

#[test]
fn openexr_keeps_floats_and_leaves_out_alpha() {
    let texel = |x: i32, y: i32| [x as f32 * 0.25, y as f32, 100.0];
    for alpha in [false, true] {
        let exr = Exr {
            alpha,
            ..Exr::new([8, 4])
        };
        let image = loaded(&exr.write(texel), 8192);
        assert_eq!([image.width, image.height], [8, 4]);
        let expected: Vec<_> = (0..32).map(|i| texel(i % 8, i / 8)).collect();
        assert_eq!(values(&image), expected);
    }
    // Texels outside the display window are discarded, and texels outside the data window are black.
    let exr = Exr {
        data: [-1, 1, 2, 2],
        lines: 2,
        ..Exr::new([4, 2])
    };
    let image = loaded(&exr.write(|x, y| [x as f32 + 5.0, y as f32, 1.0]), 8192);
    let row = [[5.0, 1.0, 1.0], [6.0, 1.0, 1.0], [7.0, 1.0, 1.0], [0.0; 3]];
    assert_eq!(values(&image), [[[0.0; 3]; 4], row].concat());
}

#[test]
fn openexr_in_tiles_and_runs_as_canopy_writes_it() {
    let texels: Vec<_> = (0..160 * 80).map(|i| [i as f32 / 16.0, 1.0, 0.5, 0.0]).collect();
    let picture = FloatImage {
        width: 160,
        height: 80,
        texels,
    };
    let image = loaded(&canopy::output::picture::exr(&picture).unwrap(), 8192);
    let expected: Vec<_> = picture
        .texels
        .iter()
        .map(|t| [0, 1, 2].map(|c| halved(t[c])))
        .collect();
    assert!(values(&image) == expected);
}

/// Decoders allocate a whole block before they know that nothing fills it.
#[test]
fn openexr_with_blocks_past_all_memory_is_refused() {
    for (compression, width, refused) in [
        (2, 1 << 27, true),
        (9, 1 << 20, true),
        (9, 1 << 14, false),
        (2, 1 << 22, false),
    ] {
        let exr = Exr {
            compression,
            data: [0, 0, width - 1, 0],
            lines: 1,
            squeezed: Some(vec![0; 4]),
            ..Exr::new([2, 1])
        };
        let fault = fault(&exr.write(|_, _| [0.0; 3]));
        assert_eq!(
            fault.contains("has blocks of"),
            refused,
            "{compression} {width}: {fault}"
        );
    }
}

// Values.

#[test]
fn nan_and_negative_texels_are_replaced_and_bright_suns_fit() {
    let of = |odd: f32| {
        let exr = Exr::new([2, 1]).write(|x, _| if x == 0 { [odd, 1.0, 0.001] } else { [0.5; 3] });
        let image = loaded(&exr, 8192);
        (values(&image)[0][0], image)
    };
    for (odd, expected, scale) in [
        (f32::NAN, 0.0, 1.0),
        (-3.0, 0.0, 1.0),
        (f32::NEG_INFINITY, 0.0, 1.0),
        (f32::INFINITY, 65504.0, 1.0),
        (65504.0, 65504.0, 1.0),
        (65536.0, 65536.0, 2.0),
        (1.6e9, 1.6e9, 32768.0),
        (f32::MAX, 65504.0 * 65536.0, 65536.0),
    ] {
        let (value, image) = of(odd);
        assert!((value - expected).abs() <= expected / 2048.0, "{odd}: {value}");
        assert_eq!(image.scale, scale, "{odd}");
        // Dark texels next to it keep the precision that the least step of a half float leaves.
        let dark = values(&image)[0][2];
        assert!(
            (dark - 0.001).abs() <= (scale * 2.0_f32.powi(-25)).max(1e-6),
            "{odd}: {dark}"
        );
    }
    // A night sky keeps its precision.
    let night = Exr::new([2, 1]).write(|x, _| [1e-7 * (x + 1) as f32, 1e-9, 0.0]);
    let image = loaded(&night, 8192);
    for (value, expected) in values(&image)
        .as_flattened()
        .iter()
        .zip([1e-7, 1e-9, 0.0, 2e-7, 1e-9, 0.0])
    {
        assert!((value - expected).abs() <= expected / 2048.0, "{value}");
    }
}

// Sizes.

/// The input that an output texel covers, with each texel weighted by its solid angle.
fn brute_force(size: [u32; 2], to: [u32; 2], texel: impl Fn(u32, u32) -> [f32; 3]) -> Vec<[f64; 3]> {
    let covered = |from: u32, of: u32, to: u32, by: u32| {
        let scale = f64::from(by) / f64::from(of);
        let (start, end) = (f64::from(from) * scale, f64::from(from + 1) * scale);
        (end.min(f64::from(to + 1)) - start.max(f64::from(to))).max(0.0)
    };
    let mut out = Vec::new();
    for (row, column) in (0..to[1]).flat_map(|row| (0..to[0]).map(move |column| (row, column))) {
        let (mut sum, mut weights) = ([0.0; 3], 0.0);
        for (y, x) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (y, x))) {
            let edge = |y: u32| (f64::from(y) / f64::from(size[1]) * PI).cos();
            let weight = (edge(y) - edge(y + 1))
                * covered(y, size[1], row, to[1])
                * covered(x, size[0], column, to[0]);
            for (sum, value) in sum.iter_mut().zip(texel(x, y)) {
                *sum += weight * f64::from(value);
            }
            weights += weight;
        }
        out.push(sum.map(|sum| sum / weights));
    }
    out
}

#[test]
fn pictures_are_scaled_down_by_solid_angle() {
    let texel = |x: i32, y: i32| {
        [
            ((x * 7 + y * 3) % 11) as f32,
            if y < 3 { 100.0 } else { 0.0 },
            x as f32,
        ]
    };
    let whole = loaded(&Exr::new([40, 20]).write(texel), 40);
    assert_eq!(whole.width, 40);
    for (most, to) in [
        (20, [20, 10]),
        (17, [17, 9]),
        (39, [39, 20]),
        (1, [1, 1]),
        (0, [1, 1]),
    ] {
        // A decoder that returns rows and one that returns the whole image agree.
        let image = loaded(&Exr::new([40, 20]).write(texel), most);
        assert_eq!([image.width, image.height], to);
        let expected = brute_force([40, 20], to, |x, y| texel(x as i32, y as i32));
        for (got, expected) in values(&image).iter().zip(&expected) {
            for (got, expected) in got.iter().zip(expected) {
                assert!(
                    (f64::from(*got) - expected).abs() <= expected.abs() / 2000.0,
                    "{most}: {got} {expected}"
                );
            }
        }
    }
    let stored = |x, y| [128, if y < 3 { 255 } else { 0 }, (x % 128) as u8, 129];
    let image = loaded(&hdr([40, 20], Runs::New, stored), 17);
    let expected = brute_force([40, 20], [17, 9], |x, y| of_rgbe(stored(x, y)));
    for (got, expected) in values(&image).as_flattened().iter().zip(expected.as_flattened()) {
        assert!(
            (f64::from(*got) - expected).abs() <= expected.abs() / 2000.0,
            "{got} {expected}"
        );
    }
}

#[test]
fn pictures_with_another_aspect_ratio_are_stretched_with_a_warning() {
    let of = |width: i32, height: i32| Exr::new([width, height]).write(|_, _| [0.25; 3]);
    for (width, height) in [(2, 1), (1, 1), (3, 2), (16, 8), (420, 200), (380, 200)] {
        let image = loaded(&of(width, height), 8192);
        assert!(image.warnings.is_empty(), "{:?}", image.warnings);
    }
    for (width, height) in [
        (16, 16),
        (16, 12),
        (12, 16),
        (4, 24),
        (48, 8),
        (421, 200),
        (379, 200),
        (32, 8),
        (1, 64),
        (64, 1),
    ] {
        let image = loaded(&of(width, height), 8192);
        assert_eq!([image.width, image.height], [width as u32, height as u32]);
        assert!((image.mean_luminance() - 0.25).abs() < 1e-3);
        let expected = format!("test: is {width}×{height} pixels; an equirectangular picture is");
        assert_eq!(image.warnings.len(), 1);
        assert!(image.warnings[0].starts_with(&expected), "{:?}", image.warnings);
        // The limit applies to the file's own size.
        let small = loaded(&of(width, height), 3);
        assert_eq!(small.warnings, image.warnings);
    }
    let stored = loaded(&hdr([30, 30], Runs::New, speckled), 8192);
    assert!(stored.warnings[0].contains("30×30"), "{:?}", stored.warnings);
}

// The mean.

#[test]
fn the_mean_is_over_the_sphere() {
    let mean = |texel: &dyn Fn(i32) -> [f32; 3]| {
        loaded(&Exr::new([128, 64]).write(|_, y| texel(y)), 8192).mean_luminance()
    };
    let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-3 * b;
    assert!(near(mean(&|_| [1.0; 3]), 1.0));
    assert!(near(mean(&|_| [1e6, 0.0, 0.0]), 0.2126e6));
    assert!(near(mean(&|y| [if y < 32 { 1.0 } else { 0.0 }; 3]), 0.5));
    // A cap of 45°.
    let cap = mean(&|y| [if y < 16 { 4.0 } else { 0.0 }; 3]);
    assert!(near(cap, 2.0 * (1.0 - (PI / 4.0).cos())), "{cap}");
    // A cube's face, and its inner quarter, whose corners are at (½, ½, 1).
    let white = |is_white: &dyn Fn(usize, usize, usize) -> bool| {
        let texels = (0..6 * 64).map(|i| {
            [if is_white(i / 64, i % 8, i / 8 % 8) {
                1.0
            } else {
                0.0
            }; 4]
        });
        loaded(&cube_of_floats(8, texels), 8192).mean_luminance()
    };
    assert!(near(white(&|face, _, _| face == 2), 1.0 / 6.0));
    let inner = 4.0 * (0.25_f64 / 1.5_f64.sqrt()).atan() / (4.0 * PI);
    assert!(near(
        white(&|face, x, y| face == 4 && (2..6).contains(&x) && (2..6).contains(&y)),
        inner
    ));
}

// Cube maps.

/// KTX2 with six faces in R32G32B32A32_SFLOAT.
fn cube_of_floats(side: u32, texels: impl Iterator<Item = [f32; 4]>) -> Vec<u8> {
    let bytes: Vec<u8> = texels.flatten().flat_map(f32::to_le_bytes).collect();
    cube_ktx2(109, side, bytes).write()
}

fn cube_ktx2(format: u32, side: u32, bytes: Vec<u8>) -> Ktx2 {
    Ktx2 {
        faces: 6,
        ..Ktx2::plain(format, [side; 2], &[bytes])
    }
}

/// DDS with six faces, each with its mip levels.
fn cube_dds(dxgi: u32, side: u32, levels: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = dds(dxgi, [side; 2], levels, 1, data);
    // D3D11_RESOURCE_MISC_TEXTURECUBE.
    bytes[136] = 4;
    bytes
}

/// Red, green and blue in steps that every format here represents.
const COLORS: [[f32; 3]; 6] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 1.0],
    [1.0, 0.0, 1.0],
];

/// A format: its Vulkan and DXGI numbers, the side of its blocks in texels (4, or 1 for uncompressed
/// formats), and the encoding of a colour of zeros and ones.
type Encoding = (u32, u32, u32, fn([f32; 3]) -> Vec<u8>);

const ENCODINGS: [Encoding; 10] = [
    (97, 10, 1, |[r, g, b]| {
        [r, g, b, 0.5].map(|c| f16::from_f32(c).to_le_bytes()).concat()
    }),
    (109, 2, 1, |[r, g, b]| {
        [r, g, b, 0.5].map(f32::to_le_bytes).concat()
    }),
    (106, 6, 1, |color| color.map(f32::to_le_bytes).concat()),
    (123, 67, 1, |color| {
        let [r, g, b] = color.map(|c| (c * 256.0) as u32);
        (r | g << 9 | b << 18 | 16 << 27).to_le_bytes().to_vec()
    }),
    (122, 26, 1, |color| {
        let [r, g, b] = color.map(|c| (c * 15.0) as u32);
        (r << 6 | g << 17 | b << 27).to_le_bytes().to_vec()
    }),
    (37, 28, 1, |[r, g, b]| {
        [r, g, b, 0.0].map(|c| (c * 255.0) as u8).to_vec()
    }),
    (43, 29, 1, |[r, g, b]| {
        [r, g, b, 0.0].map(|c| (c * 255.0) as u8).to_vec()
    }),
    (44, 87, 1, |[r, g, b]| {
        [b, g, r, 0.0].map(|c| (c * 255.0) as u8).to_vec()
    }),
    (50, 91, 1, |[r, g, b]| {
        [b, g, r, 0.0].map(|c| (c * 255.0) as u8).to_vec()
    }),
    (143, 95, 4, |color| {
        // Mode 11: ten bits per channel, twice; 495 encodes 1.
        let ends = color.map(|c| (c * 495.0) as u128);
        let bits = [ends, ends]
            .concat()
            .iter()
            .rev()
            .fold(0, |bits, end| bits << 10 | end);
        (bits << 5 | 0b00011).to_le_bytes().to_vec()
    }),
];

#[test]
fn cubes_of_every_format_have_their_faces_in_order() {
    for (vulkan, dxgi, block, encode) in ENCODINGS {
        let side = 4;
        let blocks = (side / block).pow(2) as usize;
        let faces: Vec<u8> = COLORS
            .iter()
            .flat_map(|color| encode(*color).repeat(blocks))
            .collect();
        let expected: Vec<_> = COLORS.iter().flat_map(|color| vec![*color; 16]).collect();
        let ktx2 = cube_ktx2(vulkan, side, faces.clone());
        let packed = Ktx2 {
            supercompression: 2,
            levels: vec![(zstd(&faces), faces.len() as u64)],
            ..cube_ktx2(vulkan, side, Vec::new())
        };
        // Three mip levels. Below each face are a quarter and a sixteenth of it, in other colours.
        let below = encode([0.0; 3]).repeat(((2_usize / block as usize).pow(2)).max(1) + 1);
        let levels: Vec<u8> = COLORS
            .iter()
            .flat_map(|color| [encode(*color).repeat(blocks), below.clone()].concat())
            .collect();
        for bytes in [
            ktx2.write(),
            packed.write(),
            cube_dds(dxgi, side, 1, &faces),
            cube_dds(dxgi, side, 3, &levels),
        ] {
            let image = loaded(&bytes, 8192);
            assert_eq!(
                (image.shape, image.width, image.height, image.scale),
                (Shape::Cube, 4, 24, 1.0)
            );
            assert_eq!(values(&image), expected, "{vulkan} {dxgi}");
        }
    }
}

#[test]
fn cubes_are_srgb_decoded_only_for_srgb_formats() {
    let gray = vec![188; 6 * 4];
    for (vulkan, dxgi, expected) in [(37, 28, 188.0 / 255.0), (43, 29, 0.502_886_5)] {
        for bytes in [
            cube_ktx2(vulkan, 1, gray.clone()).write(),
            cube_dds(dxgi, 1, 1, &gray),
        ] {
            assert_eq!(
                values(&loaded(&bytes, 8192)),
                [[halved(expected); 3]; 6],
                "{vulkan}"
            );
        }
    }
}

#[test]
fn cubes_are_scaled_down_face_by_face() {
    let texels = || (0..6 * 64).map(|i: u32| [(i / 64) as f32, (i * 37 % 64) as f32, 1.0, 1.0]);
    let whole = loaded(&cube_of_floats(8, texels()), 32);
    assert_eq!([whole.width, whole.height], [8, 48]);
    for most in [4, 3, 1] {
        let image = loaded(&cube_of_floats(8, texels()), 4 * most);
        assert_eq!([image.width, image.height], [most, 6 * most]);
        for (i, value) in values(&image).iter().enumerate() {
            assert!((value[0] - (i as u32 / (most * most)) as f32).abs() < 1e-3);
            assert_eq!(value[2], 1.0);
        }
        // If whole texels are averaged, the mean is preserved.
        let change = image.mean_luminance() / whole.mean_luminance() - 1.0;
        assert!(
            change.abs() < if most == 3 { 0.02 } else { 1e-3 },
            "{most}: {change}"
        );
    }
}

#[test]
fn textures_that_are_not_cube_maps_are_refused() {
    let flat = Ktx2::plain(97, [2, 2], &[vec![0; 32]]).write();
    assert!(fault(&flat).contains("is not a cube map"));
    assert!(fault(&dds(10, [2, 2], 1, 1, &[0; 32])).contains("is not a cube map"));
    assert!(fault(&dds(10, [2, 2], 1, 6, &[0; 192])).contains("is not a cube map"));
    let oblong = Ktx2 {
        faces: 6,
        ..Ktx2::plain(97, [2, 4], &[vec![0; 384]])
    };
    assert!(fault(&oblong.write()).contains("must be square"));
    assert!(fault(&cube_ktx2(97, 2, vec![0; 191]).write()).contains("ends within"));
    assert!(fault(&cube_dds(10, 2, 1, &[0; 191])).contains("ends within face 5"));
    assert!(fault(&cube_ktx2(100, 2, vec![0; 192]).write()).contains("VkFormat 100"));
    let basis = Ktx2 {
        faces: 6,
        ..Ktx2::uastc([4, 4], &[vec![[9; 4]; 6]])
    };
    assert!(fault(&basis.write()).contains("Basis"));
    // Direct3D 9 files list the faces that exist.
    let mut words = vec![124_u32, 0x1007, 2, 2, 0, 0, 0];
    words.extend([0; 11]);
    words.extend([32, 4, 113, 0, 0, 0, 0, 0, 0x1008, 0x200 | 0x400, 0, 0, 0]);
    let header: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let partial = [b"DDS ", &header[..], &[0; 192]].concat();
    assert!(fault(&partial).contains("lacks faces"), "{}", fault(&partial));
}

// Files.

#[test]
fn environment_formats_are_detected_by_content() {
    let folder = TempDir::new().unwrap();
    let load = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).unwrap();
        environment::load(&folder.path().join(name), &limits(), 8192)
    };
    let exr = Exr::new([2, 1]).write(|_, _| [1.0; 3]);
    let image = load("sky.hdr", &exr).unwrap();
    assert_eq!(image.name, "sky.hdr");
    assert_eq!(
        load("sky", &hdr([2, 1], Runs::Flat, |_, _| [200; 4]))
            .unwrap()
            .width,
        2
    );
    let error = load(
        "sky.exr",
        &images::Png::new([2, 1], 8, 2).write(|_, _| vec![9; 3]),
    )
    .unwrap_err();
    let line = error.to_string();
    assert!(
        line.contains("sky.exr: is not an environment map") && !line.contains('\n'),
        "{line}"
    );
    for extension in environment::EXTENSIONS {
        assert!(line.contains(&format!(".{extension}")), "{line}");
    }
    let missing = environment::load(&folder.path().join("none.hdr"), &limits(), 1).unwrap_err();
    assert!(matches!(missing, canopy::scene::Error::Io { .. }) && missing.to_string().contains("none.hdr"));
    let is_folder = environment::load(folder.path(), &limits(), 1).unwrap_err();
    assert!(is_folder.to_string().ends_with("is a folder"));
    let little = Load {
        max_file_bytes: 100,
        ..limits()
    };
    let large = environment::load(&folder.path().join("sky.hdr"), &little, 1).unwrap_err();
    assert!(large.to_string().contains("load.max_file_bytes"));
}

// Baked environments.

fn baked() -> Baked {
    let texel = |i: usize| [i as f32, -0.5, 1.0 / (i + 1) as f32, 1.0].map(f16::from_f32);
    let level = |side: usize, first: usize| (first..first + 6 * side * side).map(texel).collect();
    let harmonics = |factor: f32| (0..25).map(|i| [i as f32 * factor, -1e-7, 0.1]).collect();
    Baked {
        order: 5,
        radiance_sh: harmonics(1.0 / 3.0),
        irradiance_sh: harmonics(3.0),
        prefiltered: CubeTexels {
            face: 5,
            levels: vec![level(5, 0), level(2, 1000), level(1, 2000)],
        },
        irradiance: CubeTexels {
            face: 2,
            levels: vec![level(2, 3000)],
        },
    }
}

fn bytes_of(texels: &[[f16; 4]]) -> Vec<u8> {
    texels
        .as_flattened()
        .iter()
        .flat_map(|c| c.to_le_bytes())
        .collect()
}

#[test]
fn a_written_cube_is_read_back() {
    let baked = baked();
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("sky.ktx2");
    baked::check(&out).unwrap();
    baked::write(&baked, &out).unwrap();
    let beside = folder.path().join("sky-irradiance.ktx2");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    for (path, cube) in [(&out, &baked.prefiltered), (&beside, &baked.irradiance)] {
        let bytes = fs::read(path).unwrap();
        let reader = ktx2::Reader::new(&bytes).unwrap();
        let header = reader.header();
        assert_eq!(header.format, Some(ktx2::Format::R16G16B16A16_SFLOAT));
        assert_eq!(
            (header.pixel_width, header.pixel_height, header.face_count),
            (cube.face, cube.face, 6)
        );
        assert_eq!(
            (header.pixel_depth, header.layer_count, header.type_size),
            (0, 0, 2)
        );
        assert_eq!(reader.levels().len(), cube.levels.len());
        let mut before = bytes.len();
        for (level, texels) in reader.levels().zip(&cube.levels) {
            assert_eq!(level.data, bytes_of(texels));
            assert_eq!(level.uncompressed_byte_length, level.data.len() as u64);
            // Coarser levels precede finer ones, each at an offset where a texel of eight bytes may begin.
            let at = level.data.as_ptr() as usize - bytes.as_ptr() as usize;
            assert!(at.is_multiple_of(8) && at + level.data.len() <= before);
            before = at;
        }
        let descriptor = reader.basic_dfd().unwrap();
        assert_eq!(descriptor.color_model, Some(ktx2::ColorModel::RGBSDA));
        assert_eq!(descriptor.transfer_function, Some(ktx2::TransferFunction::Linear));
        assert_eq!(descriptor.bytes_planes, [8, 0, 0, 0, 0, 0, 0, 0]);
        let samples: Vec<_> = descriptor
            .sample_information
            .iter()
            .map(|s| (s.bit_offset, s.channel_type))
            .collect();
        assert_eq!(samples, [(0, 0), (16, 1), (32, 2), (48, 15)]);
        let pairs: Vec<_> = reader.key_value_data().collect();
        let keys: Vec<_> = pairs.iter().map(|(key, _)| *key).collect();
        assert_eq!(
            keys,
            [
                "KTXorientation",
                "KTXwriter",
                "canopy.irradiance_sh",
                "canopy.order",
                "canopy.radiance_sh",
                "canopy.roughness",
            ]
        );
        let text = |at: usize| {
            let value = pairs[at].1.strip_suffix(b"\0").unwrap();
            std::str::from_utf8(value).unwrap()
        };
        assert!(text(1).starts_with("canopy "));
        assert_eq!(text(3), "5");
        let radiance: Vec<[f32; 3]> = serde_json::from_str(text(4)).unwrap();
        assert_eq!(radiance, baked.radiance_sh);
        let irradiance: Vec<[f32; 3]> = serde_json::from_str(text(2)).unwrap();
        assert_eq!(irradiance, baked.irradiance_sh);
        // The file loads as an environment again, without negative values.
        let image = environment::load(path, &limits(), 8192).unwrap();
        assert_eq!((image.shape, image.width), (Shape::Cube, cube.face));
        let expected = cube.levels[0]
            .iter()
            .map(|[r, _, b, _]| [r.to_f32(), 0.0, b.to_f32()]);
        assert!(values(&image).into_iter().eq(expected));
    }
}

#[test]
fn cubes_with_inconsistent_sizes_are_not_written() {
    let sound = baked().prefiltered;
    baked::cube_ktx2(&sound, &[]).unwrap();
    for break_it in [
        |cube: &mut CubeTexels| cube.levels.clear(),
        |cube: &mut CubeTexels| cube.levels[1].truncate(23),
        |cube: &mut CubeTexels| cube.face = 4,
        |cube: &mut CubeTexels| cube.levels.push(cube.levels[2].clone()),
    ] {
        let mut cube = sound.clone();
        break_it(&mut cube);
        baked::cube_ktx2(&cube, &[]).unwrap_err();
    }
}

#[test]
fn a_folder_holds_faces_and_harmonics() {
    let baked = baked();
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("sky");
    // Missing folders are created, and existing ones are reused.
    for _ in 0..2 {
        baked::check(&out).unwrap();
        baked::write(&baked, &out).unwrap();
    }
    assert_eq!(fs::read_dir(&out).unwrap().count(), 6 * 4 + 1);
    let cubes = [
        ("prefiltered-m0", &baked.prefiltered, 0),
        ("prefiltered-m1", &baked.prefiltered, 1),
    ];
    let cubes = cubes.into_iter().chain([
        ("prefiltered-m2", &baked.prefiltered, 2),
        ("irradiance", &baked.irradiance, 0),
    ]);
    for (prefix, cube, level) in cubes {
        let texels = &cube.levels[level];
        for (face, name) in ["px", "nx", "py", "ny", "pz", "nz"].iter().enumerate() {
            let path = out.join(format!("{prefix}-{name}.exr"));
            let picture = image::open(&path).unwrap().into_rgba32f();
            let count = texels.len() / 6;
            assert_eq!((picture.width() * picture.height()) as usize, count);
            let expected = texels[face * count..(face + 1) * count]
                .iter()
                .flatten()
                .map(|c| c.to_f32());
            assert!(picture.into_raw().into_iter().eq(expected), "{}", path.display());
        }
    }
    let text = fs::read_to_string(out.join("sh.json")).unwrap();
    let json = folder.path().join("sky.json");
    baked::check(&json).unwrap();
    baked::write(&baked, &json).unwrap();
    assert_eq!(fs::read_to_string(&json).unwrap(), text);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["order"], 5);
    for (key, expected) in [
        ("radiance_sh", &baked.radiance_sh),
        ("irradiance_sh", &baked.irradiance_sh),
    ] {
        let read: Vec<[f32; 3]> = serde_json::from_value(value[key].clone()).unwrap();
        assert_eq!(read, *expected);
    }
    assert!(text.contains("0.1]") && text.ends_with("}\n"), "{text}");
}

#[test]
fn unwritable_outputs_are_reported_before_any_work() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["sky.png", "sky.dds", "sky.exr"] {
        let error = baked::check(&at(name)).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
        assert!(error.to_string().contains(".json or .ktx2"), "{error}");
        baked::write(&baked(), &at(name)).unwrap_err();
    }
    fs::write(at("file"), b"").unwrap();
    fs::create_dir(at("beside-irradiance.ktx2")).unwrap();
    for name in [
        "none/sky.json",
        "none/sky.ktx2",
        "none/sky",
        "file",
        "file/sky.json",
        "beside.ktx2",
    ] {
        let error = baked::check(&at(name)).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{name}: {error}");
    }
    // A folder may be named like a file.
    fs::create_dir(at("sky.v1")).unwrap();
    baked::check(&at("sky.v1")).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}
