//! `EXT_meshopt_compression` and `KHR_meshopt_compression`: decompresses buffer views. The declaration of a
//! stream is validated before decoding, because the decoder asserts it. The decoded bytes may be anything, so
//! they are validated like uncompressed ones.

use super::{
    accessor::byte_range,
    file::{DecodedView, File},
};
use crate::{
    Result,
    files::Bytes,
    load::{Budget, Load},
};
use ::gltf::json::buffer::View as JsonView;
use meshopt::ffi;
use serde::Deserialize;
use serde_json::Value;

/// Names of the extension, the current one first.
const NAMES: [&str; 2] = ["KHR_meshopt_compression", "EXT_meshopt_compression"];

/// JSON of the extension on a buffer view.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extension {
    buffer: usize,
    #[serde(default)]
    byte_offset: u64,
    byte_length: u64,
    byte_stride: u64,
    count: u64,
    mode: Mode,
    #[serde(default)]
    filter: Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Filter {
    #[default]
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

/// Decodes each compressed buffer view once. The result is `None` for uncompressed views, and for broken
/// streams if the file also has the uncompressed bytes.
pub(super) fn views(file: &File<'_>, load: &mut Load<'_>) -> Result<Vec<Option<DecodedView>>> {
    let views = file.root.buffer_views.iter().enumerate();
    let mut streams = Vec::with_capacity(views.len());
    // All streams are taken from the budget before the first is decoded.
    for (index, view) in views {
        load.progress().check()?;
        let others = view.extensions.as_ref().map(|all| &all.others);
        let of_name = |name| Some((name, others?.get(name)?));
        let named = NAMES.into_iter().find_map(of_name);
        let stream = named.map(|(name, value)| (name, Stream::of(file, value)));
        if let Some((_, Ok(stream))) = &stream {
            let bytes = stream.count as u64 * stream.stride as u64;
            let what = || format!("{}: buffer view {index}", file.path.display());
            load.take(Budget::DecodedBytes, bytes, what)?;
        }
        streams.push(stream);
    }
    let mut views = Vec::with_capacity(streams.len());
    for (index, stream) in streams.into_iter().enumerate() {
        let Some((name, stream)) = stream else {
            views.push(None);
            continue;
        };
        load.progress().check()?;
        let decoded = stream.and_then(Stream::decode);
        views.push(match decoded {
            Err(why) if !file.requires(name) && has_plain(file, &file.root.buffer_views[index]) => {
                file.warn(format!(
                    "buffer view {index}: {name}: {why}; its plain bytes are read instead"
                ));
                None
            }
            decoded => Some(decoded.map_err(|why| format!("{name}: {why}"))),
        });
    }
    Ok(views)
}

/// True if a buffer is only a placeholder for decompressed bytes, and so needs no bytes of its own.
pub(super) fn is_fallback(buffer: &::gltf::json::Buffer) -> bool {
    let others = buffer.extensions.as_ref().map(|all| &all.others);
    let flag = |name: &&str| Some(others?.get(*name)?.get("fallback")? == &Value::Bool(true));
    NAMES.iter().find_map(flag).unwrap_or_default()
}

/// True if the file also has the uncompressed bytes of a compressed view.
fn has_plain(file: &File<'_>, view: &JsonView) -> bool {
    let bytes = file
        .buffers
        .get(view.buffer.value())
        .and_then(|bytes| bytes.as_ref().ok());
    let range = byte_range(view.byte_offset.unwrap_or_default().0, view.byte_length.0);
    bytes
        .zip(range)
        .is_some_and(|(bytes, range)| range.end <= bytes.len())
}

/// A stream with a validated declaration.
#[derive(Debug)]
struct Stream<'a> {
    bytes: &'a [u8],
    count: usize,
    stride: usize,
    mode: Mode,
    filter: Filter,
}

impl<'a> Stream<'a> {
    fn of(file: &'a File<'_>, value: &Value) -> std::result::Result<Self, String> {
        let json = Extension::deserialize(value).map_err(|why| why.to_string())?;
        let buffer = json.buffer;
        let bytes = file.buffers.get(buffer).and_then(|bytes| bytes.as_ref().ok());
        let bytes = bytes.ok_or_else(|| format!("buffer {buffer} has no bytes"))?;
        let bytes = byte_range(json.byte_offset, json.byte_length)
            .and_then(|range| bytes.get(range))
            .ok_or_else(|| format!("the stream reaches past buffer {buffer}"))?;
        let (count, stride) = (json.count, json.byte_stride);
        let fits = match (json.mode, json.filter) {
            (Mode::Attributes, Filter::None | Filter::Exponential) => {
                stride.is_multiple_of(4) && (4..=256).contains(&stride)
            }
            (Mode::Attributes, Filter::Octahedral | Filter::Color) => stride == 4 || stride == 8,
            (Mode::Attributes, Filter::Quaternion) => stride == 8,
            (Mode::Triangles, Filter::None) => (stride == 2 || stride == 4) && count.is_multiple_of(3),
            (Mode::Indices, Filter::None) => stride == 2 || stride == 4,
            _ => false,
        };
        if !fits {
            return Err(format!(
                "{count} elements of {stride} bytes are not valid for {:?} with the filter {:?}",
                json.mode, json.filter
            ));
        }
        let least = shortest(json.mode, count, stride);
        if least.is_none_or(|shortest| shortest > bytes.len() as u64) {
            return Err(format!(
                "{count} elements of {stride} bytes do not fit into {} bytes",
                bytes.len()
            ));
        }
        Ok(Self {
            bytes,
            count: usize::try_from(count).map_err(|why| why.to_string())?,
            stride: stride as usize,
            mode: json.mode,
            filter: json.filter,
        })
    }

    fn decode(self) -> DecodedView {
        let broken = |why: meshopt::Error| format!("the stream is broken ({why})");
        let bytes = match (self.mode, self.stride) {
            (Mode::Attributes, _) => {
                let mut bytes = self.attributes()?;
                self.filter(&mut bytes);
                bytes
            }
            (Mode::Triangles, 2) => {
                let indices = meshopt::decode_index_buffer::<u16>(self.bytes, self.count);
                bytemuck::pod_collect_to_vec(&indices.map_err(broken)?)
            }
            (Mode::Triangles, _) => {
                let indices = meshopt::decode_index_buffer::<u32>(self.bytes, self.count);
                bytemuck::pod_collect_to_vec(&indices.map_err(broken)?)
            }
            (Mode::Indices, 2) => {
                let indices = meshopt::decode_index_sequence::<u16>(self.bytes, self.count);
                bytemuck::pod_collect_to_vec(&indices.map_err(broken)?)
            }
            (Mode::Indices, _) => {
                let indices = meshopt::decode_index_sequence::<u32>(self.bytes, self.count);
                bytemuck::pod_collect_to_vec(&indices.map_err(broken)?)
            }
        };
        Ok(Bytes::from(bytes))
    }

    /// Decodes a stream of attributes, without undoing its filter.
    fn attributes(&self) -> std::result::Result<Vec<u8>, String> {
        let mut bytes = vec![0; self.count * self.stride];
        // SAFETY: `bytes` holds `count` elements of `stride` bytes. The stride is a multiple of 4 up to 256,
        // as the decoder demands. The decoder copies into them byte by byte, and reads no more than the given
        // length of the stream, whatever it contains. The crate's safe function derives the stride from a
        // type.
        let code = unsafe {
            ffi::meshopt_decodeVertexBuffer(
                bytes.as_mut_ptr().cast(),
                self.count,
                self.stride,
                self.bytes.as_ptr(),
                self.bytes.len(),
            )
        };
        if code == 0 {
            Ok(bytes)
        } else {
            Err(format!("the stream is broken (code {code})"))
        }
    }

    /// Undoes the filter in aligned chunks. An aligned copy of all elements would double the memory.
    fn filter(&self, bytes: &mut [u8]) {
        let filter: fn(&mut [u32]) = match (self.filter, self.stride) {
            (Filter::None, _) => return,
            (Filter::Octahedral, 4) => {
                |words| meshopt::decode_filter_oct::<i8>(bytemuck::cast_slice_mut(words))
            }
            (Filter::Octahedral, _) => {
                |words| meshopt::decode_filter_oct::<i16>(bytemuck::cast_slice_mut(words))
            }
            (Filter::Quaternion, _) => |words| meshopt::decode_filter_quat(bytemuck::cast_slice_mut(words)),
            (Filter::Exponential, _) => {
                |words| meshopt::decode_filter_exp::<1>(bytemuck::cast_slice_mut(words))
            }
            (Filter::Color, 4) => |words| meshopt::decode_filter_color::<u8>(bytemuck::cast_slice_mut(words)),
            (Filter::Color, _) => {
                |words| meshopt::decode_filter_color::<u16>(bytemuck::cast_slice_mut(words))
            }
        };
        for piece in bytes.chunks_mut(256 * self.stride) {
            let mut words: Vec<u32> = bytemuck::pod_collect_to_vec(piece);
            filter(&mut words);
            piece.copy_from_slice(bytemuck::cast_slice(&words));
        }
    }
}

/// Returns the length of the shortest valid stream of `count` elements, so that a stream of a few bytes
/// cannot allocate billions. It has a header and a tail (KHR_meshopt_compression, appendix A). Between them
/// are two bits for each byte of an element in each block of attributes, a byte per triangle, or a byte per
/// index.
fn shortest(mode: Mode, count: u64, stride: u64) -> Option<u64> {
    let body = match mode {
        Mode::Attributes => {
            let block = (8192 / stride / 16 * 16).min(256);
            count.div_ceil(block).checked_mul(stride / 4)?
        }
        Mode::Triangles => (count / 3).checked_add(16)?,
        Mode::Indices => count.checked_add(4)?,
    };
    body.checked_add(1)
}
