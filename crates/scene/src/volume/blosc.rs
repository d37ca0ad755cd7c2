//! Blosc 1, the default compression of OpenVDB and NanoVDB: blocks of LZ4 or zlib with byte shuffling.
//!
//! The formats are defined by the documents "Blosc chunk format" and "LZ4 block format".

use super::{cursor::Cursor, inflate::Inflater};

/// Flag bits of the header.
const SHUFFLED: u8 = 1;
const STORED: u8 = 2;
const BITS_SHUFFLED: u8 = 4;
const UNSPLIT: u8 = 16;

/// Limits for split blocks. A block with fewer elements, or with larger elements in bytes, is one stream.
const MIN_SPLIT_ELEMENTS: usize = 128;
const MAX_SPLITS: usize = 16;

/// Size of the header in bytes.
const HEADER: usize = 16;

/// Decompresses `chunk` into `output`, whose size must match exactly.
pub(super) fn fill(chunk: &[u8], output: &mut [u8], inflater: &mut Inflater) -> Result<(), String> {
    let mut header = Cursor::new(chunk);
    let [_, _, flags, element] = header.array()?;
    let [bytes, block, _] = [header.u32()?, header.u32()?, header.u32()?].map(|n| n as usize);
    if bytes != output.len() {
        return Err(format!(
            "has a Blosc chunk of {bytes} bytes; expected {}",
            output.len()
        ));
    }
    if flags & STORED != 0 {
        output.copy_from_slice(header.take(bytes)?);
        return Ok(());
    }
    if block == 0 || element == 0 || flags & BITS_SHUFFLED != 0 {
        return Err("has a Blosc chunk that canopy does not read".into());
    }
    let element = usize::from(element);
    let codec = flags >> 5;
    let is_shuffled = flags & SHUFFLED != 0 && element > 1;
    let mut shuffled = vec![0; if is_shuffled { block.min(bytes) } else { 0 }];
    for (index, output) in output.chunks_mut(block).enumerate() {
        let mut table = Cursor::new(chunk);
        table.seek((HEADER + 4 * index) as u64)?;
        let mut input = Cursor::new(chunk);
        input.seek(table.u32()?.into())?;
        let is_split = flags & UNSPLIT == 0
            && element <= MAX_SPLITS
            && output.len() == block
            && block / element >= MIN_SPLIT_ELEMENTS
            && block.is_multiple_of(element);
        let part = if is_split { block / element } else { output.len() };
        if !is_shuffled {
            block_of(&mut input, output, part, codec, inflater)?;
            continue;
        }
        let shuffled = &mut shuffled[..output.len()];
        block_of(&mut input, shuffled, part, codec, inflater)?;
        unshuffle(shuffled, element, output);
    }
    Ok(())
}

/// Fills a block from its streams, which decompress to `part` bytes each.
fn block_of(
    input: &mut Cursor<'_>,
    output: &mut [u8],
    part: usize,
    codec: u8,
    inflater: &mut Inflater,
) -> Result<(), String> {
    const LZ4: u8 = 1;
    const ZLIB: u8 = 3;
    for output in output.chunks_mut(part.max(1)) {
        let size = input.u32()? as usize;
        let stream = input.take(size)?;
        if size == output.len() {
            output.copy_from_slice(stream);
            continue;
        }
        match codec {
            LZ4 => lz4(stream, output).ok_or("has broken LZ4 data")?,
            ZLIB => inflater.fill(stream, output)?,
            other => {
                return Err(format!("uses Blosc codec {other}; canopy reads LZ4 and zlib"));
            }
        }
    }
    Ok(())
}

/// Reverses byte shuffling, which stores the first bytes of all elements, then their second bytes, and so on.
fn unshuffle(shuffled: &[u8], element: usize, output: &mut [u8]) {
    let count = shuffled.len() / element;
    let whole = count * element;
    for (index, bytes) in output[..whole].chunks_exact_mut(element).enumerate() {
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = shuffled[place * count + index];
        }
    }
    output[whole..].copy_from_slice(&shuffled[whole..]);
}

/// Decompresses an LZ4 block into `output`. Returns `None` if it is broken or has another size.
fn lz4(mut input: &[u8], output: &mut [u8]) -> Option<()> {
    let mut at = 0;
    loop {
        let token = byte(&mut input)?;
        let literals = length(&mut input, usize::from(token >> 4))?;
        let (copied, rest) = input.split_at_checked(literals)?;
        output.get_mut(at..)?.get_mut(..literals)?.copy_from_slice(copied);
        input = rest;
        at += literals;
        if input.is_empty() {
            return (at == output.len()).then_some(());
        }
        let offset = u16::from_le_bytes([byte(&mut input)?, byte(&mut input)?]);
        let from = at.checked_sub(usize::from(offset)).filter(|_| offset > 0)?;
        let count = length(&mut input, usize::from(token & 15))?.checked_add(4)?;
        if count > output.len() - at {
            return None;
        }
        // The source may overlap the bytes that the copy itself writes.
        for step in 0..count {
            output[at + step] = output[from + step];
        }
        at += count;
    }
}

fn byte(input: &mut &[u8]) -> Option<u8> {
    let (first, rest) = input.split_first()?;
    *input = rest;
    Some(*first)
}

/// Reads a length whose nibble is `start`. A nibble of 15 continues in the bytes that follow.
fn length(input: &mut &[u8], start: usize) -> Option<usize> {
    let mut length = start;
    if start == 15 {
        loop {
            let more = byte(input)?;
            length = length.checked_add(usize::from(more))?;
            if more < 255 {
                break;
            }
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lz4_decodes_overlapping_matches() {
        let mut output = [0; 12];
        // "ab", then ten bytes copied from an offset of two, then no literals.
        lz4(&[0x26, b'a', b'b', 2, 0, 0x00], &mut output).unwrap();
        assert_eq!(&output, b"abababababab");
        for broken in [
            &[][..],
            &[0x26, b'a'],
            &[0x26, b'a', b'b', 3, 0, 0x00],
            &[0x26, b'a', b'b', 0, 0, 0x00],
            &[0x2f, b'a', b'b', 2, 0, 255, 255, 0x00],
            &[0xf0, 255],
            &[0x20, b'a', b'b'],
        ] {
            assert!(lz4(broken, &mut output).is_none(), "{broken:?}");
        }
    }

    #[test]
    fn chunks_are_unshuffled() {
        let header = |flags: u8, size: u8| {
            let mut chunk = vec![2, 1, flags, 2, size, 0, 0, 0, size, 0, 0, 0, 0, 0, 0, 0];
            chunk.extend([20, 0, 0, 0]);
            chunk
        };
        let mut chunk = header(SHUFFLED | UNSPLIT | 1 << 5, 5);
        chunk.extend([5, 0, 0, 0, 1, 2, 3, 4, 5]);
        let mut output = [0; 5];
        fill(&chunk, &mut output, &mut Inflater::default()).unwrap();
        assert_eq!(output, [1, 3, 2, 4, 5]);
        let mut stored = header(STORED, 4);
        stored.truncate(HEADER);
        stored.extend([9, 8, 7, 6]);
        fill(&stored, &mut output[..4], &mut Inflater::default()).unwrap();
        assert_eq!(output, [9, 8, 7, 6, 5]);
        for length in 0..chunk.len() {
            fill(&chunk[..length], &mut output, &mut Inflater::default()).unwrap_err();
        }
    }
}
