//! Opens the accessors of one primitive.

use crate::{
    Error, Result,
    files::shorten,
    gltf::{
        accessor::{Accessor, UNSIGNED},
        draco::Decoded,
        extensions,
        file::File,
    },
    load::{Budget, Load},
};
use ::gltf::json::{
    accessor::{ComponentType, Type},
    mesh::{Primitive as JsonPrimitive, Semantic},
    validation::Checked,
};
use serde_json::{Map, Value};

/// A primitive that is being read.
pub(super) struct PrimitiveReader<'a> {
    pub(super) file: &'a File<'a>,
    pub(super) json: &'a JsonPrimitive,
    pub(super) draco: Option<Decoded<'a>>,
    /// Name in messages, such as "mesh 2 primitive 0".
    pub(super) name: String,
}

impl<'a> PrimitiveReader<'a> {
    /// Returns an error about the primitive.
    pub(super) fn error(&self, what: &str) -> Error {
        self.file.error(format!("{}: {what}", self.name))
    }

    /// Warns about the primitive.
    pub(super) fn warn(&self, what: &str) {
        self.file.warn(format!("{} {what}", self.name));
    }

    /// Returns the names of the file and the primitive, for messages about limits.
    pub(super) fn full_name(&self) -> String {
        format!("{}: {}", self.file.path.display(), self.name)
    }

    /// Fails if an accessor without data has more elements than the limit for such accessors.
    pub(super) fn check_empty(&self, accessor: &Accessor<'_>, load: &Load<'_>) -> Result<()> {
        if accessor.has_data() {
            return Ok(());
        }
        let count = accessor.count as u64;
        load.check(Budget::EmptyVertices, count, || self.full_name())
    }

    /// Opens the accessor of the indices.
    pub(super) fn indices(&self) -> Result<Option<Accessor<'a>>> {
        let open = |index: usize| {
            let user = format!("{}: indices", self.name);
            Accessor::open(self.file, index, &user, &[Type::Scalar], &UNSIGNED)
        };
        let index = self.json.indices.map(|index| index.value());
        index.map(open).transpose()
    }

    /// Opens the accessor of an attribute, which must have `count` elements.
    pub(super) fn attribute(
        &self,
        semantic: Semantic,
        kinds: &[Type],
        components: &[ComponentType],
        count: Option<usize>,
    ) -> Result<Option<Accessor<'a>>> {
        let key = Checked::Valid(semantic);
        let Some(index) = self.json.attributes.get(&key) else {
            return Ok(None);
        };
        let (key, index) = (key.to_string(), index.value());
        let user = format!("{}: {key}", self.name);
        let decoded = self.draco.as_ref().map_or(Ok(None), |draco| {
            draco.attribute(&key, index, &user, kinds, components)
        });
        let accessor = match decoded? {
            Some(accessor) => accessor,
            None => Accessor::open(self.file, index, &user, kinds, components)?,
        };
        match count {
            Some(count) if count != accessor.count => Err(self.file.error(format!(
                "{user}: accessor {index} has {} elements for {count} vertices",
                accessor.count
            ))),
            _ => Ok(Some(accessor)),
        }
    }

    /// Returns an extension that canopy does not read if bytes of the geometry are missing without it.
    pub(super) fn unreadable(&self) -> Option<String> {
        let unknown = |others: Option<&Map<String, Value>>| {
            let mut names = others?.keys().filter(|name| !extensions::reads(name));
            names.next().map(|name| shorten(name))
        };
        let of_primitive = unknown(self.json.extensions.as_ref().map(|all| &all.others));
        let root = &self.file.root;
        let positions = self.json.attributes.get(&Checked::Valid(Semantic::Positions));
        let accessors = self.json.attributes.values().chain(&self.json.indices);
        accessors
            .filter_map(|index| Some((index, root.accessors.get(index.value())?)))
            .find_map(|(index, accessor)| match accessor.buffer_view {
                // Positions or indices that are all zeros are no geometry.
                None if accessor.sparse.is_none()
                    && self.draco.is_none()
                    && [positions, self.json.indices.as_ref()].contains(&Some(index)) =>
                {
                    of_primitive.clone()
                }
                None => None,
                Some(view) => {
                    let view = root.buffer_views.get(view.value())?;
                    let buffer = self.file.buffers.get(view.buffer.value())?;
                    let extension = unknown(view.extensions.as_ref().map(|all| &all.others));
                    extension.filter(|_| buffer.is_err())
                }
            })
    }
}
