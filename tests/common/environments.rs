//! Environment files, written byte by byte, so that no encoder affects them.

/// Storage of the rows of a Radiance file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    Flat,
    Old,
    New,
}

/// A Radiance HDR file of `rgbe` texels.
pub(crate) fn hdr([width, height]: [u32; 2], runs: Runs, texel: impl Fn(u32, u32) -> [u8; 4]) -> Vec<u8> {
    let mut out = hdr_header(&format!("-Y {height} +X {width}"));
    for y in 0..height {
        let row: Vec<[u8; 4]> = (0..width).map(|x| texel(x, y)).collect();
        match runs {
            Runs::Flat => out.extend(row.as_flattened()),
            Runs::Old => {
                for run in row.chunk_by(|a, b| a == b) {
                    out.extend(run[0]);
                    // Digits of the count in base 256, the lowest first.
                    let mut more = run.len() - 1;
                    while more > 0 {
                        out.extend([1, 1, 1, more as u8]);
                        more >>= 8;
                    }
                }
            }
            Runs::New => {
                out.extend([2, 2, (width >> 8) as u8, width as u8]);
                for channel in 0..4 {
                    let bytes: Vec<u8> = row.iter().map(|t| t[channel]).collect();
                    for run in bytes.chunk_by(|a, b| a == b) {
                        for part in run.chunks(127) {
                            // Single bytes as literal runs of one.
                            let count = part.len() as u8;
                            out.extend([if count > 1 { 128 + count } else { 1 }, part[0]]);
                        }
                    }
                }
            }
        }
    }
    out
}

/// A header, and the line with the size.
pub(crate) fn hdr_header(size: &str) -> Vec<u8> {
    format!("#?RADIANCE\n# made by a test\nFORMAT=32-bit_rle_rgbe\n\n{size}\n").into_bytes()
}

/// Values of the channels.
pub(crate) fn of_rgbe(texel: [u8; 4]) -> [f32; 3] {
    let unit = (f64::from(texel[3]) - 136.0).exp2();
    [0, 1, 2].map(|c| (f64::from(texel[c]) * unit) as f32)
}

/// An OpenEXR file of uncompressed lines, with R, G, B (and A, which is 0.25) as f32.
#[derive(Debug, Clone)]
pub(crate) struct Exr {
    /// Left, top, right, bottom.
    pub(crate) data: [i32; 4],
    pub(crate) display: [i32; 4],
    pub(crate) alpha: bool,
    /// 0 none, 1 run lengths, 2 ZIP of a line, 3 ZIP of 16, 4 PIZ.
    pub(crate) compression: u8,
    /// Attributes before the others: name, type, value.
    pub(crate) more: Vec<(&'static str, &'static str, Vec<u8>)>,
    /// The stored lines.
    pub(crate) lines: u32,
    /// Bytes of each line instead of its texels.
    pub(crate) squeezed: Option<Vec<u8>>,
}

impl Exr {
    pub(crate) fn new([width, height]: [i32; 2]) -> Self {
        Self {
            data: [0, 0, width - 1, height - 1],
            display: [0, 0, width - 1, height - 1],
            alpha: false,
            compression: 0,
            more: Vec::new(),
            lines: height as u32,
            squeezed: None,
        }
    }

    pub(crate) fn write(&self, texel: impl Fn(i32, i32) -> [f32; 3]) -> Vec<u8> {
        let names: &[u8] = if self.alpha { b"ABGR" } else { b"BGR" };
        let ints = |values: [i32; 4]| values.map(i32::to_le_bytes).concat();
        let mut channels = Vec::new();
        for name in names {
            channels.extend([*name, 0]);
            channels.extend([2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
        }
        channels.push(0);
        let mut out = b"\x76\x2f\x31\x01\x02\0\0\0".to_vec();
        let own = [
            ("channels", "chlist", channels),
            ("compression", "compression", vec![self.compression]),
            ("dataWindow", "box2i", ints(self.data)),
            ("displayWindow", "box2i", ints(self.display)),
            ("lineOrder", "lineOrder", vec![0]),
            ("pixelAspectRatio", "float", 1_f32.to_le_bytes().to_vec()),
            ("screenWindowCenter", "v2f", vec![0; 8]),
            ("screenWindowWidth", "float", 1_f32.to_le_bytes().to_vec()),
        ];
        for (name, kind, value) in self.more.iter().chain(&own) {
            out.extend([name.as_bytes(), b"\0", kind.as_bytes(), b"\0"].concat());
            out.extend((value.len() as u32).to_le_bytes());
            out.extend(value);
        }
        out.push(0);
        let [left, top, right, _] = self.data;
        let width = (i64::from(right) - i64::from(left) + 1).clamp(0, 1 << 16) as i32;
        let raw_bytes = width as usize * names.len() * 4;
        let line_bytes = self.squeezed.as_ref().map_or(raw_bytes, Vec::len);
        let first = out.len() + 8 * self.lines as usize;
        for line in 0..self.lines as usize {
            out.extend(((first + line * (8 + line_bytes)) as u64).to_le_bytes());
        }
        for y in top..top + self.lines as i32 {
            out.extend(y.to_le_bytes());
            out.extend((line_bytes as u32).to_le_bytes());
            if let Some(squeezed) = &self.squeezed {
                out.extend(squeezed);
                continue;
            }
            for name in names {
                for x in left..left + width {
                    let [red, green, blue] = texel(x, y);
                    let value = match name {
                        b'A' => 0.25,
                        b'B' => blue,
                        b'G' => green,
                        _ => red,
                    };
                    out.extend(value.to_le_bytes());
                }
            }
        }
        out
    }
}
