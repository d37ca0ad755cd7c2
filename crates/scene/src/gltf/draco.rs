//! `KHR_draco_mesh_compression`: reads the triangles and attributes of a primitive from one compressed
//! stream.

use super::{
    accessor::{ANY, Accessor, UNSIGNED, view_bytes},
    file::File,
};
use crate::{
    Error, Result,
    load::{Budget, Load},
};
use ::gltf::json::{
    Index,
    accessor::{ComponentType, Type},
    buffer::View,
    mesh::{Mode, Primitive as JsonPrimitive, Semantic},
    validation::Checked,
};
use draco_core::{
    DataType, DecodeLimits, DecoderBuffer, ErrorKind, GeometryMetadata, Mesh, MeshDecoder, PointAttribute,
    PointIndex,
};
use serde::Deserialize;
use std::collections::BTreeMap;

const NAME: &str = "KHR_draco_mesh_compression";

/// Bytes that the crate allocates per triangle for each attribute's seam table.
const SEAM_BYTES: u64 = 48;

/// Decoded bytes that are always allowed, even if the accessors declare few vertices. A stream may have
/// attributes that the file does not use.
const SMALL: u64 = 64 << 20;

/// Maximum number of attributes that a stream may declare.
const MAX_ATTRIBUTES: usize = 16;

/// Encoding method of a stream with compressed triangles, and flag of a stream with metadata (Draco bitstream
/// 2.2, "Header").
const EDGEBREAKER: u8 = 1;
const HAS_METADATA: u16 = 0x8000;

/// True if a primitive can be read without its stream: the file does not require the extension and has the
/// uncompressed bytes.
pub(super) fn is_optional(file: &File<'_>, json: &JsonPrimitive) -> bool {
    let has_bytes = |index: usize| {
        let accessor = file.root.accessors.get(index);
        accessor.is_some_and(|accessor| accessor.buffer_view.is_some())
    };
    let mut accessors = json.attributes.values().chain(&json.indices);
    is_streamed(json) && !file.requires(NAME) && accessors.all(|a| has_bytes(a.value()))
}

/// True if a primitive has a Draco stream.
pub(super) fn is_streamed(json: &JsonPrimitive) -> bool {
    let extensions = json.extensions.as_ref();
    extensions.is_some_and(|all| all.others.contains_key(NAME))
}

/// Returns the number of triangles that a primitive's accessors declare for its stream, or 0 if they declare
/// none. A mismatch is reported when the stream is decoded.
pub(super) fn declared_triangles(file: &File<'_>, json: &JsonPrimitive, name: &str) -> u64 {
    let declared = Declared::of(file, json, name).ok().flatten();
    declared.and_then(|of| of.triangles).unwrap_or_default()
}

/// JSON of the extension.
#[derive(Debug, Deserialize)]
struct Extension {
    #[serde(rename = "bufferView")]
    buffer_view: Index<View>,
    /// Attribute semantics, with the unique ids of the attributes in the stream.
    attributes: BTreeMap<String, u32>,
}

/// Counts that a primitive's accessors declare for its stream.
#[derive(Debug)]
struct Declared {
    /// Number of triangles. `None` for a strip, whose indices are not the corners of the stream's triangles.
    triangles: Option<u64>,
    vertices: u64,
}

/// A decoded stream.
pub(super) struct Decoded<'a> {
    file: &'a File<'a>,
    mesh: Mesh,
    ids: BTreeMap<String, u32>,
}

impl<'a> Decoded<'a> {
    /// Decodes the stream of the primitive `name`, and takes its triangles from the budget. Returns `None` if
    /// it has no stream, or none that canopy draws.
    pub(super) fn open(
        file: &'a File<'a>,
        json: &JsonPrimitive,
        name: &str,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<Option<Self>> {
        let fail = |what: String| file.error(format!("{name}: {NAME}: {what}"));
        let extensions = json.extensions.as_ref();
        let Some(value) = extensions.and_then(|all| all.others.get(NAME)) else {
            return Ok(None);
        };
        let Some(declared) = Declared::of(file, json, name)? else {
            return Ok(None);
        };
        let extension = Extension::deserialize(value).map_err(|why| fail(why.to_string()))?;
        // Checked before decoding, because a stream of a few bytes can hold millions of equal values.
        let what = || format!("{}: {name}", file.path.display());
        declared.take(what, instances, load)?;
        let view = extension.buffer_view;
        let (bytes, _) = view_bytes(file, view, || format!("{name}: {NAME}"))?;
        let limits = declared.limits(extension.attributes.len(), load);
        let mesh = check_seams(bytes, extension.attributes.len())
            .and_then(|()| decode(bytes, limits))
            .and_then(|mesh| declared.compare(&mesh).map(|()| mesh))
            .map_err(|why| fail(format!("the stream in buffer view {view}: {why}")))?;
        if declared.triangles.is_none() {
            load.take(
                Budget::Triangles,
                (mesh.num_faces() as u64).saturating_mul(instances),
                what,
            )?;
        }
        Ok(Some(Self {
            file,
            mesh,
            ids: extension.attributes,
        }))
    }

    /// Returns the vertex indices of each triangle. They are not range-checked.
    pub(super) fn triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> {
        self.mesh.faces().iter().map(|face| face.map(u32::from))
    }

    /// Opens accessor `index` over the decoded values of the attribute `key`. Returns `None` if the stream
    /// does not have the attribute.
    pub(super) fn attribute(
        &self,
        key: &str,
        index: usize,
        user: &str,
        kinds: &[Type],
        components: &[ComponentType],
    ) -> Result<Option<Accessor<'a>>> {
        let Some(&id) = self.ids.get(key) else {
            return Ok(None);
        };
        let mut accessor = Accessor::declared(self.file, index, user, kinds, components)?;
        let fail = |what: String| self.file.error(format!("{user}: accessor {index} {what}"));
        let attribute = self.mesh.attribute_by_unique_id(id).ok_or_else(|| {
            fail(format!(
                "is attribute {id} of its Draco stream, which has no such attribute"
            ))
        })?;
        let has = usize::from(attribute.num_components());
        if has != accessor.components {
            return Err(fail(format!(
                "has {} components, and attribute {id} of its Draco stream has {has}",
                accessor.components
            )));
        }
        let bytes = values(attribute, self.mesh.num_points(), accessor.component)
            .map_err(|why| fail(format!("(attribute {id} of its Draco stream) {why}")))?;
        accessor.hold(bytes);
        Ok(Some(accessor))
    }
}

impl Declared {
    /// Reads the declarations of a primitive. Returns `None` for one that canopy does not draw; the reader
    /// warns about it.
    fn of(file: &File<'_>, json: &JsonPrimitive, name: &str) -> Result<Option<Self>> {
        let position = json.attributes.get(&Checked::Valid(Semantic::Positions));
        let (Checked::Valid(mode), Some(position)) = (json.mode, position) else {
            return Ok(None);
        };
        match mode {
            Mode::Triangles | Mode::TriangleStrip => {}
            Mode::TriangleFan => {
                return Err(file.error(format!("{name}: {NAME} holds no triangle fans")));
            }
            _ => {
                return Err(file.error(format!("{name}: {NAME} holds no points or lines")));
            }
        }
        let count = |index: usize, user: &str, kind, components: &[ComponentType]| {
            let user = format!("{name}: {user}");
            Accessor::declared(file, index, &user, &[kind], components).map(|a| a.count as u64)
        };
        let indices = json.indices.map(|i| i.value());
        let indices = indices.map(|index| count(index, "indices", Type::Scalar, &UNSIGNED));
        let indices = indices.transpose()?;
        if let Some(indices) = indices.filter(|n| mode == Mode::Triangles && n % 3 != 0) {
            return Err(file.error(format!("{name}: {indices} indices do not form triangles")));
        }
        Ok(Some(Self {
            triangles: indices.filter(|_| mode == Mode::Triangles).map(|n| n / 3),
            vertices: count(position.value(), "POSITION", Type::Vec3, &ANY)?,
        }))
    }

    /// Takes the declared triangles from the budget.
    fn take(&self, what: impl Fn() -> String, instances: u64, load: &mut Load<'_>) -> Result<()> {
        let triangles = self.triangles.unwrap_or_default();
        load.take(Budget::Triangles, triangles.saturating_mul(instances), &what)?;
        let most_vertices = load.limits.max_triangles.saturating_mul(3);
        if self.vertices <= most_vertices {
            return Ok(());
        }
        Err(Error::Limit {
            what: what(),
            needed: format!("{} vertices", self.vertices),
            allowed: format!("{most_vertices} vertices"),
            by: "three for each of load.max_triangles".into(),
        })
    }

    /// Returns decoder limits that allow four floats for each attribute of the stream.
    fn limits(&self, attributes: usize, load: &Load<'_>) -> DecodeLimits {
        let bytes = self
            .vertices
            .saturating_mul(16 * attributes.min(MAX_ATTRIBUTES) as u64);
        DecodeLimits::default()
            .with_max_points(self.vertices)
            .with_max_faces(self.triangles.unwrap_or(load.limits.max_triangles))
            .with_max_decoded_bytes(bytes.max(SMALL))
    }

    /// Fails if the decoded counts differ from the declared ones.
    fn compare(&self, mesh: &Mesh) -> std::result::Result<(), String> {
        let (triangles, vertices) = (mesh.num_faces() as u64, mesh.num_points() as u64);
        let declared = self.triangles.unwrap_or(triangles);
        if (triangles, vertices) == (declared, self.vertices) {
            return Ok(());
        }
        Err(format!(
            "it has {vertices} vertices and {} indices, but the accessors declare {} vertices and {} indices",
            3 * triangles,
            self.vertices,
            3 * declared
        ))
    }
}

/// Fails for a stream with more seam tables than the file has attributes, because those would need much
/// memory. The crate's limits do not count these tables, and one header byte can declare up to 255 of them.
/// The decoder finds all other faults of a stream.
fn check_seams(bytes: &[u8], attributes: usize) -> std::result::Result<(), String> {
    let (triangles, tables) = seams(bytes).unwrap_or_default();
    let bytes = u64::from(triangles) * u64::from(tables) * SEAM_BYTES;
    if usize::from(tables) <= attributes.min(MAX_ATTRIBUTES) || bytes <= SMALL {
        return Ok(());
    }
    Err(format!(
        "it has seams for {tables} attributes, but the file names {attributes}"
    ))
}

/// Returns the numbers of triangles and of seam tables that the header of an Edgebreaker stream declares.
fn seams(bytes: &[u8]) -> Option<(u32, u8)> {
    let &[_, _, _, _, _, major, minor, _, method, flags_low, flags_high] = bytes.get(..11)? else {
        return None;
    };
    let mut head = DecoderBuffer::new(bytes);
    head.set_version(major, minor);
    head.try_advance(11).ok()?;
    if method != EDGEBREAKER {
        return None;
    }
    if u16::from_le_bytes([flags_low, flags_high]) & HAS_METADATA != 0 {
        GeometryMetadata::decode(&mut head).ok()?;
    }
    let _traversal = head.decode_u8().ok()?;
    let _vertices = head.decode_varint().ok()?;
    let triangles = head.decode_varint().ok()? as u32;
    Some((triangles, head.decode_u8().ok()?))
}

/// Decodes `bytes`. The crate did not panic in a test with twenty thousand truncated and bit-flipped streams.
fn decode(bytes: &[u8], limits: DecodeLimits) -> std::result::Result<Mesh, String> {
    let mut mesh = Mesh::new();
    let mut buffer = DecoderBuffer::new(bytes).with_limits(limits);
    match MeshDecoder::new().decode(&mut buffer, &mut mesh) {
        Ok(()) => Ok(mesh),
        Err(why) if why.kind() == ErrorKind::LimitExceeded => Err(format!(
            "the stream holds more than the accessors declare: {}",
            why.message()
        )),
        Err(why) => Err(why.to_string()),
    }
}

/// Returns the values of every vertex as an accessor of type `component` would hold them, tightly packed.
fn values(
    attribute: &PointAttribute,
    vertices: usize,
    component: ComponentType,
) -> std::result::Result<Vec<u8>, String> {
    let kind = attribute.data_type();
    let width = kind.byte_length();
    let components = usize::from(attribute.num_components());
    // If the stream is normalised and the accessor has floats, these are fractions.
    let largest = largest(kind).ok_or_else(|| format!("is of {kind:?}"))?;
    let normalised = attribute.normalized() && component == ComponentType::F32;
    let scale = if normalised { largest } else { 1.0 };
    let data = attribute.buffer().data();
    let mut bytes = Vec::new();
    for vertex in 0..vertices {
        let place = attribute.mapped_index(PointIndex::from(vertex)).0 as usize;
        let value = place
            .checked_mul(components * width)
            .and_then(|start| data.get(start..)?.get(..components * width))
            .ok_or_else(|| format!("lacks the value of vertex {vertex}"))?;
        for value in value.chunks_exact(width) {
            let value = read(kind, value) / scale;
            push(&mut bytes, component, value).ok_or_else(|| {
                format!("is {value} at vertex {vertex}, which is not a valid {component:?}")
            })?;
        }
    }
    Ok(bytes)
}

/// Returns the integer that represents 1 in a normalised attribute, or `None` for types that no accessor has.
fn largest(kind: DataType) -> Option<f64> {
    match kind {
        DataType::Int8 => Some(f64::from(i8::MAX)),
        DataType::Uint8 => Some(f64::from(u8::MAX)),
        DataType::Int16 => Some(f64::from(i16::MAX)),
        DataType::Uint16 => Some(f64::from(u16::MAX)),
        DataType::Int32 => Some(f64::from(i32::MAX)),
        DataType::Uint32 => Some(f64::from(u32::MAX)),
        DataType::Float32 => Some(1.0),
        _ => None,
    }
}

fn read(kind: DataType, bytes: &[u8]) -> f64 {
    match (kind, bytes) {
        (DataType::Int8, &[a]) => f64::from(a.cast_signed()),
        (DataType::Uint8, &[a]) => f64::from(a),
        (DataType::Int16, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
        (DataType::Uint16, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
        (DataType::Int32, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
        (DataType::Uint32, &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
        (_, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => 0.0,
    }
}

/// Appends `value` as a `component`. Returns `None` if that type cannot hold it.
fn push(bytes: &mut Vec<u8>, component: ComponentType, value: f64) -> Option<()> {
    let (least, most) = match component {
        ComponentType::F32 => {
            bytes.extend((value as f32).to_le_bytes());
            return Some(());
        }
        ComponentType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        ComponentType::U8 => (0.0, f64::from(u8::MAX)),
        ComponentType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        ComponentType::U16 => (0.0, f64::from(u16::MAX)),
        ComponentType::U32 => (0.0, f64::from(u32::MAX)),
    };
    if !(least..=most).contains(&value) || value.fract() != 0.0 {
        return None;
    }
    let width = component.size();
    bytes.extend(&(value as i64).to_le_bytes()[..width]);
    Some(())
}
