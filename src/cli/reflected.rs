//! Reflection of a shader through naga: the resources that its entry points bind, read and write.

use crate::{
    Error, Result,
    gpu::{
        ShaderChoices,
        library::Library,
        shader::{self, Composed},
    },
};
use std::collections::BTreeMap;
use wgpu::naga::{
    Binding, EntryPoint, FunctionArgument, GlobalVariable, Handle, Module, Scalar, ScalarKind, ShaderStage,
    Type, TypeInner,
    front::wgsl,
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};

/// Global variables by group and binding.
pub(super) type Bound<'a> = BTreeMap<u32, BTreeMap<u32, &'a GlobalVariable>>;

/// A shader file that is compiled on its own.
pub(super) struct Reflected {
    pub(super) path: &'static str,
    pub(super) composed: Composed,
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
}

impl Reflected {
    /// Composes, parses and validates a file.
    ///
    /// # Errors
    ///
    /// [`Error::Shader`] with file and line.
    pub(super) fn new(library: &Library, path: &'static str, choices: ShaderChoices) -> Result<Self> {
        Self::of(path, shader::compose(library, path, choices)?)
    }

    /// Parses and validates a composed file.
    ///
    /// # Errors
    ///
    /// [`Error::Shader`] with file and line.
    pub(super) fn of(path: &'static str, composed: Composed) -> Result<Self> {
        let at = |line: Option<u32>| match line {
            Some(line) => composed.origin(line as usize),
            None => path.into(),
        };
        let module = wgsl::parse_str(&composed.text).map_err(|error| {
            let location = error.location(&composed.text);
            let line = at(location.map(|location| location.line_number));
            Error::Shader(format!("{line}: {}", error.message()))
        })?;
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let info = validator.validate(&module).map_err(|error| {
            let location = error.location(&composed.text);
            let line = at(location.map(|location| location.line_number));
            let mut cause: &dyn std::error::Error = error.as_inner();
            while let Some(below) = cause.source() {
                cause = below;
            }
            Error::Shader(format!("{line}: {cause}"))
        })?;
        Ok(Self {
            path,
            composed,
            module,
            info,
        })
    }

    /// Returns the globals that the entry points at `indices` use.
    pub(super) fn bound(&self, indices: &[usize]) -> Bound<'_> {
        let mut groups = Bound::new();
        for (handle, global) in self.module.global_variables.iter() {
            let Some(binding) = &global.binding else {
                continue;
            };
            let used = |index: &usize| !self.info.get_entry_point(*index)[handle].is_empty();
            if indices.iter().any(used) {
                let group = groups.entry(binding.group).or_default();
                group.insert(binding.binding, global);
            }
        }
        groups
    }

    /// True if all entry points are vertex shaders. In other files, vertex shaders are compiled together with
    /// a fragment shader, and compute entry points ignore imported vertex shaders.
    pub(super) fn only_has_vertices(&self) -> bool {
        let mut entries = self.module.entry_points.iter();
        entries.all(|entry| entry.stage == ShaderStage::Vertex)
    }

    /// Finds a vertex entry point that writes all inputs of `fragment`.
    pub(super) fn vertex_for(&self, fragment: &EntryPoint) -> Result<usize> {
        let feeds = |vertex: &EntryPoint| vertex.stage == ShaderStage::Vertex && self.feeds(vertex, fragment);
        let mut entries = self.module.entry_points.iter();
        entries.position(feeds).ok_or_else(|| {
            let (path, name) = (self.path, &fragment.name);
            Error::Internal(format!("{path}: {name} has no vertex entry point"))
        })
    }

    fn feeds(&self, vertex: &EntryPoint, fragment: &EntryPoint) -> bool {
        let result = vertex.function.result.iter();
        let made: Vec<_> = result
            .flat_map(|result| self.locations(result.ty, result.binding.as_ref()))
            .collect();
        let arguments = fragment.function.arguments.iter();
        let mut read = arguments.flat_map(|a| self.locations(a.ty, a.binding.as_ref()));
        read.all(|read| made.contains(&read))
    }

    /// Returns the location and type of an inter-stage value, or of each of its members if it is a struct.
    fn locations(&self, ty: Handle<Type>, binding: Option<&Binding>) -> Vec<(u32, Handle<Type>)> {
        match (&self.module.types[ty].inner, binding) {
            (TypeInner::Struct { members, .. }, None) => members
                .iter()
                .flat_map(|member| self.locations(member.ty, member.binding.as_ref()))
                .collect(),
            (_, Some(Binding::Location { location, .. })) => vec![(*location, ty)],
            _ => Vec::new(),
        }
    }

    /// True if the path, or the name of one of `entries`, contains one of `names`, or if `names` is empty.
    pub(super) fn has_named<'a>(
        &self,
        entries: impl Iterator<Item = &'a EntryPoint>,
        names: &[String],
    ) -> bool {
        let mut own = entries.map(|entry| entry.name.as_str()).chain([self.path]);
        names.is_empty() || own.any(|own| names.iter().any(|name| own.contains(name.as_str())))
    }

    /// Returns formats for the colour targets that a fragment entry point writes.
    pub(super) fn outputs(&self, entry: &EntryPoint) -> Vec<wgpu::TextureFormat> {
        let Some(result) = &entry.function.result else {
            return Vec::new();
        };
        let types = match &self.module.types[result.ty].inner {
            TypeInner::Struct { members, .. } => members.iter().map(|member| member.ty).collect(),
            _ => vec![result.ty],
        };
        let format = |ty| match scalar(&self.module.types[ty].inner) {
            Some((scalar, _)) if scalar.kind == ScalarKind::Uint => wgpu::TextureFormat::R32Uint,
            _ => wgpu::TextureFormat::Rgba16Float,
        };
        types.into_iter().map(format).collect()
    }

    /// Returns the vertex attributes that a vertex entry point reads. Each is in a buffer of its own.
    pub(super) fn inputs(&self, entry: &EntryPoint) -> Vec<wgpu::VertexAttribute> {
        let attribute = |argument: &FunctionArgument| {
            let Some(Binding::Location { location, .. }) = argument.binding else {
                return None;
            };
            use wgpu::VertexFormat::{
                Float32, Float32x2, Float32x3, Float32x4, Uint32, Uint32x2, Uint32x3, Uint32x4,
            };
            let (scalar, size) = scalar(&self.module.types[argument.ty].inner)?;
            let formats = match scalar.kind {
                ScalarKind::Uint => [Uint32, Uint32x2, Uint32x3, Uint32x4],
                _ => [Float32, Float32x2, Float32x3, Float32x4],
            };
            Some(wgpu::VertexAttribute {
                format: *formats.get(size - 1)?,
                offset: 0,
                shader_location: location,
            })
        };
        let arguments = &entry.function.arguments;
        arguments.iter().filter_map(attribute).collect()
    }
}

/// Returns the WGSL name of a stage.
pub(super) fn stage_name(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::Vertex => "vertex",
        ShaderStage::Fragment => "fragment",
        _ => "compute",
    }
}

/// Returns the scalar type and the number of components of a scalar or vector.
fn scalar(inner: &TypeInner) -> Option<(Scalar, usize)> {
    match *inner {
        TypeInner::Scalar(scalar) => Some((scalar, 1)),
        TypeInner::Vector { size, scalar } => Some((scalar, size as usize)),
        _ => None,
    }
}
