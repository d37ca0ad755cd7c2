//! Image files of every format, written bit by bit, so that no encoder affects them.

/// Bits, from the lowest of each byte on.
#[derive(Debug, Clone, Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn put(&mut self, value: u32, bits: u32) {
        for bit in 0..bits {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            self.bytes[self.count / 8] |= ((value >> bit & 1) as u8) << (self.count % 8);
            self.count += 1;
        }
    }

    /// Writes a symbol in a Huffman code of `bits` bits for each of `2^bits` symbols, from its highest bit
    /// on.
    fn symbol(&mut self, value: u32, bits: u32) {
        self.put(value.reverse_bits() >> (32 - bits), bits);
    }

    /// The table of those codes in the format of BasisLZ.
    fn table(&mut self, bits: u32) {
        const ORDER: [u32; 21] = [
            17, 18, 19, 20, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15, 16,
        ];
        self.put(1 << bits, 14);
        self.put(21, 5);
        for length in ORDER {
            self.put(u32::from(length == bits), 3);
        }
        // Every symbol has the only length, whose own code is a single zero.
        (0..1 << bits).for_each(|_| self.put(0, 1));
    }
}

fn checked(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in kind.iter().chain(data) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    let length = (data.len() as u32).to_be_bytes();
    [&length[..], kind, data, &(!crc).to_be_bytes()].concat()
}

/// zlib without compression.
fn zlib(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 1];
    let mut chunks = data.chunks(65535).peekable();
    while let Some(chunk) = chunks.next() {
        out.push(u8::from(chunks.peek().is_none()));
        let length = chunk.len() as u16;
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(chunk);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in data {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    out.extend((b << 16 | a).to_be_bytes());
    out
}

/// A PNG whose texels have `bits` bits per channel of `color_type`. `texel` packs them like in the file, in
/// whole bytes or fewer bits.
pub(crate) struct Png {
    pub(crate) size: [u32; 2],
    pub(crate) bits: u8,
    pub(crate) color_type: u8,
    pub(crate) interlaced: bool,
    /// Chunks between the header and the texels.
    pub(crate) chunks: Vec<(&'static [u8; 4], Vec<u8>)>,
}

impl Png {
    pub(crate) fn new(size: [u32; 2], bits: u8, color_type: u8) -> Self {
        Self {
            size,
            bits,
            color_type,
            interlaced: false,
            chunks: Vec::new(),
        }
    }

    /// The file. `samples` returns the channels of a texel.
    pub(crate) fn write(&self, samples: impl Fn(u32, u32) -> Vec<u16>) -> Vec<u8> {
        let [width, height] = self.size;
        let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
        header.extend([self.bits, self.color_type, 0, 0, u8::from(self.interlaced)]);
        let passes: &[[u32; 4]] = if self.interlaced {
            &[
                [0, 0, 8, 8],
                [4, 0, 8, 8],
                [0, 4, 4, 8],
                [2, 0, 4, 4],
                [0, 2, 2, 4],
                [1, 0, 2, 2],
                [0, 1, 1, 2],
            ]
        } else {
            &[[0, 0, 1, 1]]
        };
        let mut rows = Vec::new();
        for [x0, y0, dx, dy] in passes.iter().copied() {
            if x0 >= width {
                continue;
            }
            for y in (y0..height).step_by(dy as usize) {
                rows.push(0);
                let (mut byte, mut filled) = (0_u8, 0);
                for x in (x0..width).step_by(dx as usize) {
                    for sample in samples(x, y) {
                        match self.bits {
                            16 => rows.extend(sample.to_be_bytes()),
                            8 => rows.push(sample as u8),
                            bits => {
                                byte = byte << bits | sample as u8;
                                filled += bits;
                                if filled == 8 {
                                    rows.push(byte);
                                    (byte, filled) = (0, 0);
                                }
                            }
                        }
                    }
                }
                if filled > 0 {
                    rows.push(byte << (8 - filled));
                }
            }
        }
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        out.extend(checked(b"IHDR", &header));
        for (kind, data) in &self.chunks {
            out.extend(checked(kind, data));
        }
        out.extend(checked(b"IDAT", &zlib(&rows)));
        out.extend(checked(b"IEND", &[]));
        out
    }
}

/// A JPEG of 8 × 8 texels of one colour, with a mean for each component. `app` precedes the tables.
pub(crate) fn jpeg(components: &[u8], progressive: bool, app: &[u8]) -> Vec<u8> {
    let count = components.len() as u8;
    let mut out = b"\xff\xd8".to_vec();
    out.extend(app);
    let mut segment = |marker: u8, data: &[u8]| {
        out.extend([0xff, marker]);
        out.extend((data.len() as u16 + 2).to_be_bytes());
        out.extend(data);
    };
    // A quantisation step of 8 makes the DC coefficient the mean minus 128.
    segment(0xdb, &[&[0][..], &[8; 64]].concat());
    let mut frame = vec![8, 0, 8, 0, 8, count];
    (0..count).for_each(|c| frame.extend([c + 1, 0x11, 0]));
    segment(if progressive { 0xc2 } else { 0xc0 }, &frame);
    // Twelve codes of four bits for the sizes of DC coefficients, and one code of one bit that ends a block.
    let sizes: Vec<u8> = (0..12).collect();
    segment(
        0xc4,
        &[&[0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sizes].concat(),
    );
    segment(0xc4, &[0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut scan = vec![count];
    (0..count).for_each(|c| scan.extend([c + 1, 0]));
    scan.extend([0, if progressive { 0 } else { 63 }, 0]);
    segment(0xda, &scan);
    let mut bits: Vec<bool> = Vec::new();
    for mean in components {
        let value = i32::from(*mean) - 128;
        let size = 32 - value.unsigned_abs().leading_zeros();
        let code = if value < 0 { value + (1 << size) - 1 } else { value };
        bits.extend((0..4).rev().map(|bit| size >> bit & 1 == 1));
        bits.extend((0..size).rev().map(|bit| code >> bit & 1 == 1));
        if !progressive {
            bits.push(false);
        }
    }
    bits.resize(bits.len().next_multiple_of(8), true);
    for byte in bits.chunks(8) {
        let byte = byte.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        out.push(byte);
        if byte == 0xff {
            out.push(0);
        }
    }
    out.extend([0xff, 0xd9]);
    out
}

/// A KTX2 file.
pub(crate) struct Ktx2 {
    pub(crate) format: u32,
    pub(crate) size: [u32; 2],
    pub(crate) layers: u32,
    pub(crate) faces: u32,
    /// 1 BasisLZ, 2 Zstandard.
    pub(crate) supercompression: u32,
    /// Colour model and the channels of its samples.
    pub(crate) model: (u8, Vec<u8>),
    pub(crate) global: Vec<u8>,
    /// Levels, finest first, each with its decompressed size.
    pub(crate) levels: Vec<(Vec<u8>, u64)>,
}

impl Ktx2 {
    /// A file in a Vulkan format.
    pub(crate) fn plain(format: u32, size: [u32; 2], levels: &[Vec<u8>]) -> Self {
        Self {
            format,
            size,
            layers: 0,
            faces: 1,
            supercompression: 0,
            model: (1, vec![0]),
            global: Vec::new(),
            levels: levels.iter().map(|l| (l.clone(), l.len() as u64)).collect(),
        }
    }

    /// UASTC of blocks of one colour.
    pub(crate) fn uastc(size: [u32; 2], levels: &[Vec<[u8; 4]>]) -> Self {
        let levels: Vec<Vec<u8>> = levels
            .iter()
            .map(|blocks| blocks.iter().flat_map(|color| uastc(*color)).collect())
            .collect();
        Self {
            model: (166, vec![3]),
            ..Self::plain(0, size, &levels)
        }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let (model, channels) = &self.model;
        let mut descriptor = vec![0, 0, 0, 0, 2, 0];
        descriptor.extend((24 + 16 * channels.len() as u16).to_le_bytes());
        // Model, primaries, transfer (linear), flags, block, bytes of planes.
        descriptor.extend([*model, 1, 1, 0]);
        descriptor.extend([3, 3, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]);
        for channel in channels {
            descriptor.extend([0, 0, 127, *channel, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
        }
        let total = descriptor.len() as u32 + 4;
        descriptor.splice(0..0, total.to_le_bytes());
        let mut out = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
        let [width, height] = self.size;
        let index = 80 + 24 * self.levels.len() as u32;
        let global = index + total;
        for word in [
            self.format,
            1,
            width,
            height,
            0,
            self.layers,
            self.faces,
            self.levels.len() as u32,
            self.supercompression,
            index,
            total,
            0,
            0,
        ] {
            out.extend(word.to_le_bytes());
        }
        out.extend(u64::from(if self.global.is_empty() { 0 } else { global }).to_le_bytes());
        out.extend((self.global.len() as u64).to_le_bytes());
        let mut at = u64::from(global) + self.global.len() as u64;
        for (level, inflated) in &self.levels {
            at = at.next_multiple_of(16);
            for word in [at, level.len() as u64, *inflated] {
                out.extend(word.to_le_bytes());
            }
            at += level.len() as u64;
        }
        out.extend(descriptor);
        out.extend(&self.global);
        for (level, _) in &self.levels {
            out.resize(out.len().next_multiple_of(16), 0);
            out.extend(level);
        }
        out
    }
}

/// A block of UASTC in its mode 8: one colour.
pub(crate) fn uastc(color: [u8; 4]) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.put(0x17, 5);
    color.iter().for_each(|c| bits.put(u32::from(*c), 8));
    bits.bytes.resize(16, 0);
    bits.bytes
}

/// Four blocks of ETC1S, in two rows: five bits each of red, green and blue and an intensity table. With
/// alpha, each block has the alpha of the block at the other end. In every block the four selectors go from
/// left to right. Coarser levels are copies of the first block.
pub(crate) fn etc1s(ends: [([u8; 3], u8); 4], has_alpha: bool) -> Ktx2 {
    let mut endpoints = Bits::default();
    [5, 5, 5, 3].iter().for_each(|bits| endpoints.table(*bits));
    endpoints.put(0, 1);
    let (mut before, mut table_before) = ([16_u8; 3], 0);
    for (color, table) in ends {
        endpoints.symbol(u32::from(table.wrapping_sub(table_before) & 7), 3);
        table_before = table;
        for channel in 0..3 {
            let delta = color[channel].wrapping_sub(before[channel]) & 31;
            endpoints.symbol(u32::from(delta), 5);
        }
        before = color;
    }
    // Two raw selector patterns of four rows. The second one is unused.
    let mut selectors = Bits::default();
    selectors.put(0b100, 3);
    for row in [
        0b11_10_01_00,
        0b11_10_01_00,
        0b11_10_01_00,
        0b11_10_01_00,
        0,
        0,
        0,
        0,
    ] {
        selectors.put(row, 8);
    }
    // Predictors, differences of end points, selectors, runs of selectors.
    let mut tables = Bits::default();
    [8, 2, 1, 1].iter().for_each(|bits| tables.table(*bits));
    tables.put(1, 13);
    let slice = |order: &[u32]| {
        let mut bits = Bits::default();
        // Every block stores its end points as a difference.
        bits.symbol(0xff, 8);
        let mut last = 0;
        for index in order {
            bits.symbol((index + 4 - last) % 4, 2);
            bits.symbol(0, 1);
            last = *index;
        }
        bits.bytes
    };
    let streams = [endpoints.bytes, selectors.bytes, tables.bytes];
    let mut global = [4_u16.to_le_bytes(), 2_u16.to_le_bytes()].concat();
    for stream in &streams {
        global.extend((stream.len() as u32).to_le_bytes());
    }
    global.extend([0; 4]);
    let mut levels = Vec::new();
    for (colors, alphas) in [(&[0, 1, 2, 3][..], &[3, 2, 1, 0][..])]
        .into_iter()
        .chain([(&[0][..], &[3][..]); 3])
    {
        let mut level = slice(colors);
        let color_bytes = level.len() as u32;
        let alpha = if has_alpha { slice(alphas) } else { Vec::new() };
        let alpha_start = if has_alpha { color_bytes } else { 0 };
        for word in [0, 0, color_bytes, alpha_start, alpha.len() as u32] {
            global.extend(word.to_le_bytes());
        }
        level.extend(alpha);
        levels.push((level, 0));
    }
    global.extend(streams.concat());
    let channels = if has_alpha { vec![0, 15] } else { vec![0] };
    Ktx2 {
        supercompression: 1,
        model: (163, channels),
        global,
        levels,
        ..Ktx2::plain(0, [8, 8], &[])
    }
}

/// Zstandard without compression: one raw block.
pub(crate) fn zstd(data: &[u8]) -> Vec<u8> {
    let mut out = zstd_header(data.len() as u32);
    out.extend(&((data.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    out.extend(data);
    out
}

/// Zstandard of `blocks` times 128 KiB of zeros in four bytes each, in a frame that declares `bytes`.
pub(crate) fn zstd_bomb(bytes: u32, blocks: u32) -> Vec<u8> {
    let mut out = zstd_header(bytes);
    for block in 1..=blocks {
        let header = (128 << 10) << 3 | 1 << 1 | u32::from(block == blocks);
        out.extend(&u32::to_le_bytes(header)[..3]);
        out.push(0);
    }
    out
}

/// A single segment with a size of four bytes.
fn zstd_header(bytes: u32) -> Vec<u8> {
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    out.extend(bytes.to_le_bytes());
    out
}

/// A DDS file with the header of Direct3D 10: its format number, and its number of textures.
pub(crate) fn dds(dxgi: u32, [width, height]: [u32; 2], levels: u32, layers: u32, data: &[u8]) -> Vec<u8> {
    let mut words = vec![124, 0x0002_1007, height, width, 0, 0, levels];
    words.extend([0; 11]);
    words.extend([32, 4, u32::from_le_bytes(*b"DX10"), 0, 0, 0, 0, 0]);
    words.extend([0x0040_1008, 0, 0, 0, 0]);
    words.extend([dxgi, 3, 0, layers, 0]);
    let mut out = b"DDS ".to_vec();
    out.extend(words.iter().flat_map(|w: &u32| w.to_le_bytes()));
    out.extend(data);
    out
}

/// A block of BC1: a gradient across four texels, with 5:6:5 bits for each end.
pub(crate) fn bc1(ends: [u16; 2]) -> Vec<u8> {
    let mut out = [ends[0].to_le_bytes(), ends[1].to_le_bytes()].concat();
    out.extend([0b01_11_10_00; 4]);
    out
}
