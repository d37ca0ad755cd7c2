//! Text embedded in a picture file: an `iTXt` chunk of PNG, a comment of JPEG, or an attribute of OpenEXR.

use crate::{Error, Result};
use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

/// Keyword of the text in each format.
pub const KEYWORD: &str = "canopy";

/// Maximum size of a text in bytes, for writing and reading.
pub const MAX_BYTES: usize = 1 << 20;

/// Maximum size of a text in a JPEG file in bytes. JPEG limits the length of comments.
pub const MAX_BYTES_OF_JPEG: usize = u16::MAX as usize - 3 - KEYWORD.len();

/// Maximum number of chunks, segments or attributes to search.
const MAX_PARTS: usize = 10_000;

/// Signature of a PNG file. The IHDR chunk that follows it has a fixed size.
const PNG_MAGIC: &[u8; 8] = b"\x89PNG\r\n\x1a\n";
const PNG_HEADER: usize = 8 + 25;

/// Signature of a JPEG file.
const JPEG_MAGIC: &[u8; 2] = b"\xff\xd8";

/// Signature of an OpenEXR file.
const EXR_MAGIC: &[u8; 4] = b"\x76\x2f\x31\x01";

/// Inserts `text` into the PNG file `picture` as an `iTXt` chunk, and `software` as its `Software` (PNG,
/// section 11.3.3).
pub fn into_png(picture: &[u8], text: &str, software: &str) -> Vec<u8> {
    let mut made = KEYWORD.as_bytes().to_vec();
    // Not compressed, without a language and a translated keyword.
    made.extend(b"\0\0\0\0\0");
    made.extend(text.as_bytes());
    let mut by = b"Software\0".to_vec();
    by.extend(software.as_bytes());
    let (head, rest) = picture.split_at(PNG_HEADER.min(picture.len()));
    [head, &chunk(b"tEXt", &by), &chunk(b"iTXt", &made), rest].concat()
}

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut bytes = (data.len() as u32).to_be_bytes().to_vec();
    bytes.extend(kind);
    bytes.extend(data);
    let checksum = crc32fast::hash(&bytes[4..]);
    bytes.extend(checksum.to_be_bytes());
    bytes
}

/// Inserts `text` into the JPEG file `picture` as a comment. Leaves the text out if it is too long.
pub fn into_jpeg(picture: &[u8], text: &str) -> Vec<u8> {
    let data = [KEYWORD.as_bytes(), b"\0", text.as_bytes()].concat();
    let Ok(length) = u16::try_from(data.len() + 2) else {
        log::warn!("the settings are too long for a JPEG comment and are not stored");
        return picture.to_owned();
    };
    // Readers expect the JFIF segment first.
    let is_jfif = picture.get(2..4) == Some(&[0xff, 0xe0]);
    let jfif = picture.get(4..6).filter(|_| is_jfif);
    let jfif = jfif.map_or(0, |length| {
        2 + usize::from(u16::from_be_bytes([length[0], length[1]]))
    });
    let (head, rest) = picture.split_at((2 + jfif).min(picture.len()));
    [head, &[0xff, 0xfe], &length.to_be_bytes(), &data, rest].concat()
}

/// Reads the text of the picture at `path`. Returns `None` if it has none or is another kind of file.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read. [`Error::Scene`] if the text is longer than [`MAX_BYTES`],
/// compressed, or not UTF-8.
pub fn find(path: &Path) -> Result<Option<String>> {
    let mut file = BufReader::new(File::open(path).map_err(|e| Error::io(path, e))?);
    let found = find_in(&mut file).map_err(|e| Error::io(path, e))?;
    let text = found.map_err(|what| Error::scene(path, what))?;
    text.map(|bytes| {
        String::from_utf8(bytes).map_err(|_| Error::scene(path, "its settings are not text (UTF-8)"))
    })
    .transpose()
}

type Embedded = std::result::Result<Option<Vec<u8>>, String>;

/// Finds the text in a file. A truncated file counts as one without text.
fn find_in(file: &mut (impl Read + Seek)) -> io::Result<Embedded> {
    let mut magic = [0; 8];
    let found = file.read_exact(&mut magic).and_then(|()| {
        if magic == *PNG_MAGIC {
            in_png(file)
        } else if magic.starts_with(JPEG_MAGIC) {
            file.seek(SeekFrom::Start(2))?;
            in_jpeg(file)
        } else if magic.starts_with(EXR_MAGIC) {
            in_exr(file)
        } else {
            Ok(Ok(None))
        }
    });
    match found {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Ok(None)),
        found => found,
    }
}

fn too_long(bytes: u64) -> Embedded {
    Err(format!("its settings have {bytes} bytes, more than {MAX_BYTES}"))
}

fn in_png(file: &mut (impl Read + Seek)) -> io::Result<Embedded> {
    let keyword = [KEYWORD.as_bytes(), b"\0"].concat();
    for _ in 0..MAX_PARTS {
        let mut head = [0; 8];
        file.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        match &head[4..] {
            b"IEND" => break,
            b"iTXt" if length as usize >= keyword.len() => {
                let mut start = vec![0; keyword.len()];
                file.read_exact(&mut start)?;
                let left = length as usize - keyword.len();
                if start != keyword {
                    file.seek_relative_by(left as u64 + 4)?;
                    continue;
                }
                if left > MAX_BYTES {
                    return Ok(too_long(left as u64));
                }
                let mut data = vec![0; left];
                file.read_exact(&mut data)?;
                return Ok(text_of_chunk(&data));
            }
            _ => file.seek_relative_by(u64::from(length) + 4)?,
        }
    }
    Ok(Ok(None))
}

/// Returns the text of an `iTXt` chunk, from the data after its keyword.
fn text_of_chunk(data: &[u8]) -> Embedded {
    let [compressed, _, rest @ ..] = data else {
        return Ok(None);
    };
    if *compressed != 0 {
        return Err("its settings are compressed, which canopy does not read".into());
    }
    // The language and the translated keyword are both terminated by a zero.
    let mut parts = rest.splitn(3, |byte| *byte == 0);
    Ok(parts.nth(2).map(<[u8]>::to_vec))
}

fn in_jpeg(file: &mut (impl Read + Seek)) -> io::Result<Embedded> {
    let keyword = [KEYWORD.as_bytes(), b"\0"].concat();
    for _ in 0..MAX_PARTS {
        let mut head = [0; 4];
        file.read_exact(&mut head)?;
        let [0xff, marker, high, low] = head else {
            break;
        };
        let length = u16::from_be_bytes([high, low]).saturating_sub(2);
        match marker {
            // Start of scan: only pixel data follows.
            0xda => break,
            0xfe => {
                let mut data = vec![0; usize::from(length)];
                file.read_exact(&mut data)?;
                if let Some(text) = data.strip_prefix(&keyword[..]) {
                    return Ok(Ok(Some(text.to_vec())));
                }
            }
            _ => file.seek_relative_by(u64::from(length))?,
        }
    }
    Ok(Ok(None))
}

fn in_exr(file: &mut impl Read) -> io::Result<Embedded> {
    for _ in 0..MAX_PARTS {
        let name = text_to_zero(file)?;
        if name.is_empty() {
            break;
        }
        text_to_zero(file)?;
        let mut length = [0; 4];
        file.read_exact(&mut length)?;
        let length = u64::from(u32::from_le_bytes(length));
        if name != KEYWORD.as_bytes() {
            io::copy(&mut file.by_ref().take(length), &mut io::sink())?;
            continue;
        }
        if length > MAX_BYTES as u64 {
            return Ok(too_long(length));
        }
        let mut data = vec![0; length as usize];
        file.read_exact(&mut data)?;
        return Ok(Ok(Some(data)));
    }
    Ok(Ok(None))
}

/// Reads bytes up to a zero. Names have at most 255 bytes.
fn text_to_zero(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for _ in 0..256 {
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        if byte == [0] {
            return Ok(bytes);
        }
        bytes.extend(byte);
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// Seeks forward by an unsigned number of bytes.
trait SeekBy: Seek {
    fn seek_relative_by(&mut self, bytes: u64) -> io::Result<()> {
        let bytes = i64::try_from(bytes).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        self.seek(SeekFrom::Current(bytes)).map(drop)
    }
}

impl<T: Seek> SeekBy for T {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{output::picture, render::FloatImage};
    use std::io::Cursor;

    fn found(bytes: &[u8]) -> Embedded {
        find_in(&mut Cursor::new(bytes)).unwrap()
    }

    fn files(text: &str) -> [(Vec<u8>, Vec<u8>); 3] {
        let pixels = || vec![200; 4 * 6];
        let png = picture::png(3, 2, pixels()).unwrap();
        let jpeg = picture::jpeg(3, 2, pixels(), 90).unwrap();
        let image = FloatImage {
            width: 3,
            height: 2,
            texels: vec![[0.5, 1.5, -2.0, 1.0]; 6],
        };
        [
            (into_png(&png, text, "canopy"), png),
            (into_jpeg(&jpeg, text), jpeg),
            (
                picture::exr_with(&image, Some(text)).unwrap(),
                picture::exr_with(&image, None).unwrap(),
            ),
        ]
    }

    #[test]
    fn embedded_text_round_trips_and_keeps_the_pixels() {
        let text = "{\"files\":[\"fox.glb\"]}";
        for (with, without) in files(text) {
            assert_eq!(found(&with), Ok(Some(text.as_bytes().to_vec())));
            assert_eq!(found(&without), Ok(None));
            let decoded = |bytes: &[u8]| image::load_from_memory(bytes).unwrap();
            assert_eq!(decoded(&with), decoded(&without));
            // A file truncated at any point has either the complete text or none.
            for end in (0..with.len()).step_by(7) {
                let part = found(&with[..end]);
                assert!(part == Ok(None) || part == found(&with), "{end}");
            }
        }
        assert_eq!(found(b"glTF\x02\0\0\0 and so on"), Ok(None));
    }

    /// Lengths in a file are never allocated or followed beyond the limits.
    #[test]
    fn invalid_embedded_texts_are_refused_within_limits() {
        let png = picture::png(1, 1, vec![1; 4]).unwrap();
        let with = |data: &[u8]| {
            let (head, rest) = png.split_at(PNG_HEADER);
            [head, &chunk(b"iTXt", data), rest].concat()
        };
        assert_eq!(found(&with(b"canopy\0\0\0\0\0text")), Ok(Some(b"text".to_vec())));
        assert_eq!(found(&with(b"other\0\0\0\0\0text")), Ok(None));
        for broken in [
            "canopy\0",
            "canopy\0\0",
            "canopy\0\0\0",
            "canopy\0\0\0en\0",
            "c",
            "",
        ] {
            assert_eq!(found(&with(broken.as_bytes())), Ok(None), "{broken:?}");
        }
        let compressed = found(&with(b"canopy\0\x01\0\0\0text")).unwrap_err();
        assert!(compressed.contains("compressed"), "{compressed}");
        // A length larger than the file, and one larger than the limit.
        let mut huge = with(b"canopy\0\0\0\0\0text");
        huge[PNG_HEADER..PNG_HEADER + 4].copy_from_slice(&(1_u32 << 19).to_be_bytes());
        assert_eq!(found(&huge), Ok(None));
        huge[PNG_HEADER..PNG_HEADER + 4].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(found(&huge).unwrap_err().contains("more than"));
        let mut exr = EXR_MAGIC.to_vec();
        exr.extend(b"\x02\0\0\0canopy\0string\0\xff\xff\xff\xff");
        assert!(found(&exr).unwrap_err().contains("more than"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        std::fs::write(&path, with(b"canopy\0\0\0\0\0\xff\xfe")).unwrap();
        let message = find(&path).unwrap_err().to_string();
        assert!(
            message.ends_with("a.png: its settings are not text (UTF-8)"),
            "{message}"
        );
        // A file that consists of empty chunks only.
        let many = [&PNG_MAGIC[..], &chunk(b"tEXt", b"").repeat(2 * MAX_PARTS)].concat();
        assert_eq!(found(&many), Ok(None));
        let long = "x".repeat(70_000);
        let jpeg = picture::jpeg(1, 1, vec![1; 4], 90).unwrap();
        assert_eq!(into_jpeg(&jpeg, &long), jpeg);
    }
}
