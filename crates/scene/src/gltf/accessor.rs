//! Accessors. Opening one validates everything, so that reading an element cannot fail.

use super::file::File;
use crate::{Result, files::Bytes};
use ::gltf::json::{
    Index,
    accessor::{ComponentType, Type},
    buffer::View,
    validation::Checked,
};
use std::{borrow::Cow, ops::Range, rc::Rc};

/// An accessor whose elements all lie in its buffer.
#[derive(Debug)]
pub(super) struct Accessor<'a> {
    /// Number of elements.
    pub(super) count: usize,
    /// Number of components in an element.
    pub(super) components: usize,
    pub(super) component: ComponentType,
    normalized: bool,
    stride: usize,
    /// Bytes from the first element on. `None` reads as zeros.
    data: Option<Cow<'a, [u8]>>,
    sparse: Option<Sparse<'a>>,
}

/// Sparse elements, which replace others (glTF 2.0, 3.6.2.3).
#[derive(Debug)]
struct Sparse<'a> {
    /// Indices of the replaced elements, strictly increasing.
    indices: Rc<[u32]>,
    /// Replacement values, tightly packed.
    values: &'a [u8],
}

/// Component types that vertex indices may have.
pub(super) const UNSIGNED: [ComponentType; 3] = [ComponentType::U8, ComponentType::U16, ComponentType::U32];

/// All component types.
pub(super) const ANY: [ComponentType; 6] = [
    ComponentType::I8,
    ComponentType::U8,
    ComponentType::I16,
    ComponentType::U16,
    ComponentType::U32,
    ComponentType::F32,
];

fn components_of(kind: Type) -> usize {
    match kind {
        Type::Scalar => 1,
        Type::Vec2 => 2,
        Type::Vec3 => 3,
        Type::Vec4 | Type::Mat2 => 4,
        Type::Mat3 => 9,
        Type::Mat4 => 16,
    }
}

impl<'a> Accessor<'a> {
    /// Opens accessor `index`. Its type must be in `kinds` and its component type in `components`. `user`
    /// describes the object that refers to it, for messages.
    pub(super) fn open(
        file: &'a File<'_>,
        index: usize,
        user: &str,
        kinds: &[Type],
        components: &[ComponentType],
    ) -> Result<Self> {
        let mut accessor = Self::declared(file, index, user, kinds, components)?;
        let json = &file.root.accessors[index];
        let fail = |what: String| file.error(format!("{user}: accessor {index} {what}"));
        let (count, size) = (accessor.count, accessor.stride);
        if let Some(view) = json.buffer_view {
            let (bytes, declared) = view_bytes(file, view, || format!("{user}: accessor {index}"))?;
            let stride = declared.unwrap_or(size);
            if stride < size {
                return Err(fail(format!(
                    "has elements of {size} bytes and a byteStride of {stride}"
                )));
            }
            let offset = json.byte_offset.unwrap_or_default().0;
            let needed = (count as u64).checked_sub(1).map_or(Some(0), |last| {
                last.checked_mul(stride as u64)?
                    .checked_add(size as u64)?
                    .checked_add(offset)
            });
            if needed.is_none_or(|needed| needed > bytes.len() as u64) {
                return Err(fail(format!(
                    "reaches past its buffer view {view} ({count} elements, {} bytes)",
                    bytes.len()
                )));
            }
            accessor.stride = stride;
            accessor.data = Some(Cow::Borrowed(bytes.get(offset as usize..).unwrap_or_default()));
        }
        if let Some(sparse) = &json.sparse {
            let Checked::Valid(kind) = sparse.indices.component_type else {
                return Err(fail("has sparse indices of an unknown componentType".into()));
            };
            let slice = |view: Index<View>, offset: u64, size: usize| -> Result<&'a [u8]> {
                let (bytes, _) = view_bytes(file, view, || format!("{user}: accessor {index} (sparse)"))?;
                let range = sparse
                    .count
                    .0
                    .checked_mul(size as u64)
                    .and_then(|n| byte_range(offset, n));
                range.and_then(|r| bytes.get(r)).ok_or_else(|| {
                    fail(format!(
                        "has a sparse part that reaches past its buffer view {view}"
                    ))
                })
            };
            let known = file.sparse_indices.borrow().get(&index).cloned();
            let indices: Rc<[u32]> = match known {
                Some(indices) => indices,
                None => {
                    let (view, offset) = (sparse.indices.buffer_view, sparse.indices.byte_offset.0);
                    let width = kind.0.size();
                    let elements = slice(view, offset, width)?.chunks_exact(width);
                    let indices: Rc<[u32]> = elements.map(|bytes| unsigned(kind.0, bytes)).collect();
                    if indices.last().is_some_and(|&last| last as usize >= count)
                        || indices.windows(2).any(|pair| pair[0] >= pair[1])
                    {
                        return Err(fail(format!(
                            "has sparse indices that do not increase, or reach past its {count} elements"
                        )));
                    }
                    let mut known = file.sparse_indices.borrow_mut();
                    known.insert(index, indices.clone());
                    indices
                }
            };
            let values = slice(sparse.values.buffer_view, sparse.values.byte_offset.0, size)?;
            accessor.sparse = Some(Sparse { indices, values });
        }
        Ok(accessor)
    }

    /// Opens accessor `index` without its data, so that all of its elements are zeros.
    pub(super) fn declared(
        file: &File<'_>,
        index: usize,
        user: &str,
        kinds: &[Type],
        components: &[ComponentType],
    ) -> Result<Self> {
        let json = file.get(&file.root.accessors, "accessor", index, || user.to_owned())?;
        let fail = |what: String| file.error(format!("{user}: accessor {index} {what}"));
        let (Checked::Valid(kind), Checked::Valid(component)) = (json.type_, json.component_type) else {
            return Err(fail("has an unknown type or componentType".into()));
        };
        let component = component.0;
        if !kinds.contains(&kind) || !components.contains(&component) {
            let name = |kind: &Type| format!("{kind:?}").to_uppercase();
            let wanted: Vec<String> = kinds.iter().map(name).collect();
            return Err(fail(format!(
                "is {} of {component:?}; expected {} of {components:?}",
                name(&kind),
                wanted.join(" or ")
            )));
        }
        let count = usize::try_from(json.count.0)
            .map_err(|_| fail("has a count that does not fit into memory".into()))?;
        Ok(Self {
            count,
            components: components_of(kind),
            component,
            normalized: json.normalized,
            stride: components_of(kind) * component.size(),
            data: None,
            sparse: None,
        })
    }

    /// True if the file has the dense elements. Otherwise all but the sparse ones are zeros.
    pub(super) fn has_data(&self) -> bool {
        self.data.is_some()
    }

    /// True if the file has neither dense nor sparse elements, so that all are zeros.
    pub(super) fn is_zero(&self) -> bool {
        self.data.is_none() && self.sparse.is_none()
    }

    /// Sets the elements of a declared accessor. `bytes` must hold as many as it declares, tightly packed.
    pub(super) fn hold(&mut self, bytes: Vec<u8>) {
        self.data = Some(Cow::Owned(bytes));
    }

    /// Reads integers as fractions of their range even if the file does not say so. Used for attributes that
    /// are always normalised.
    pub(super) fn normalized(mut self) -> Self {
        self.normalized = true;
        self
    }

    /// Returns the bytes of element `index`, or `None` for zeros.
    fn element(&self, index: usize) -> Option<&[u8]> {
        if let Some(sparse) = &self.sparse
            && let Ok(index) = u32::try_from(index)
            && let Ok(place) = sparse.indices.binary_search(&index)
        {
            let size = self.components * self.component.size();
            return Some(&sparse.values[place * size..][..size]);
        }
        self.data.as_ref().map(|data| &data[index * self.stride..])
    }

    /// Returns the components of element `index`, which must be below `count`. Components that the element
    /// does not have are zero.
    pub(super) fn floats<const N: usize>(&self, index: usize) -> [f32; N] {
        let mut out = [0.0; N];
        if let Some(bytes) = self.element(index) {
            for (value, bytes) in out
                .iter_mut()
                .zip(bytes.chunks_exact(self.component.size()).take(self.components))
            {
                *value = self.float(bytes);
            }
        }
        out
    }

    /// Returns the components of element `index` of an unsigned accessor.
    pub(super) fn integers<const N: usize>(&self, index: usize) -> [u32; N] {
        let mut out = [0; N];
        if let Some(bytes) = self.element(index) {
            for (value, bytes) in out
                .iter_mut()
                .zip(bytes.chunks_exact(self.component.size()).take(self.components))
            {
                *value = unsigned(self.component, bytes);
            }
        }
        out
    }

    fn float(&self, bytes: &[u8]) -> f32 {
        let (value, largest) = match (self.component, bytes) {
            (ComponentType::F32, &[a, b, c, d]) => return f32::from_le_bytes([a, b, c, d]),
            (ComponentType::I8, &[a]) => (f32::from(a.cast_signed()), f32::from(i8::MAX)),
            (ComponentType::I16, &[a, b]) => (f32::from(i16::from_le_bytes([a, b])), f32::from(i16::MAX)),
            (ComponentType::U8, _) => (unsigned(self.component, bytes) as f32, f32::from(u8::MAX)),
            (ComponentType::U16, _) => (unsigned(self.component, bytes) as f32, f32::from(u16::MAX)),
            _ => (unsigned(self.component, bytes) as f32, u32::MAX as f32),
        };
        if self.normalized {
            (value / largest).max(-1.0)
        } else {
            value
        }
    }
}

fn unsigned(component: ComponentType, bytes: &[u8]) -> u32 {
    match (component, bytes) {
        (ComponentType::U8, &[a, ..]) => u32::from(a),
        (ComponentType::U16, &[a, b, ..]) => u32::from(u16::from_le_bytes([a, b])),
        (ComponentType::U32, &[a, b, c, d, ..]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// Returns `offset..offset + length`, or `None` if it exceeds the address space.
pub(super) fn byte_range(offset: u64, length: u64) -> Option<Range<usize>> {
    let end = usize::try_from(offset.checked_add(length)?).ok()?;
    Some(offset as usize..end)
}

/// Returns the checked range of a buffer view, in its buffer or in its decompressed bytes.
pub(super) fn view_range<'a>(
    file: &'a File<'_>,
    index: Index<View>,
    user: impl FnOnce() -> String,
) -> Result<(&'a Bytes, Range<usize>)> {
    let number = index.value();
    let view = file.get(&file.root.buffer_views, "buffer view", number, user)?;
    match file.views.get(number) {
        Some(Some(Ok(bytes))) => return Ok((bytes, 0..bytes.len())),
        Some(Some(Err(why))) => return Err(file.error(format!("buffer view {number}: {why}"))),
        _ => {}
    }
    let buffer = view.buffer.value();
    let bytes = file.get(&file.buffers, "buffer", buffer, || {
        format!("buffer view {number}")
    })?;
    let bytes = bytes
        .as_ref()
        .map_err(|why| file.error(format!("buffer {buffer}: {why}")))?;
    let range = byte_range(view.byte_offset.unwrap_or_default().0, view.byte_length.0)
        .filter(|range| range.end <= bytes.len());
    let range = range.ok_or_else(|| {
        let (has, declared) = (bytes.len(), file.root.buffers[buffer].byte_length.0);
        let lost = if (has as u64) < declared {
            format!(" of {declared} that it declares")
        } else {
            String::new()
        };
        file.error(format!(
            "buffer view {number} reaches past buffer {buffer} ({has} bytes{lost})"
        ))
    })?;
    Ok((bytes, range))
}

/// Returns the bytes of a buffer view and its byteStride.
pub(super) fn view_bytes<'a>(
    file: &'a File<'_>,
    index: Index<View>,
    user: impl FnOnce() -> String,
) -> Result<(&'a [u8], Option<usize>)> {
    let (bytes, range) = view_range(file, index, user)?;
    let stride = file.root.buffer_views[index.value()].byte_stride;
    // Some exporters write 0 for tightly packed elements.
    let stride = stride.map(|stride| stride.0).filter(|&stride| stride > 0);
    Ok((&bytes[range], stride))
}
