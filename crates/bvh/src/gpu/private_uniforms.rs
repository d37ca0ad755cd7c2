//! Copies of uniforms that hide them from llvmpipe before version 25.
//!
//! The driver (`lvp_inline_uniforms.c`) recompiles a shader for each value of a uniform if a branch or a loop
//! depends only on that uniform, and keeps every variant. It records such uniforms in a table. Uniforms of
//! the fifth and later uniform buffers are written past the end of that table, which corrupts the heap while
//! the shader compiles. The driver ignores a value whose first operand is not a uniform.
//!
//! So every entry point begins by copying the uniforms that it uses. Each number is combined with a zero that
//! the driver does not recognise as one, and everything else reads the copy.

use wgpu::naga::{
    AddressSpace, ArraySize, BinaryOperator, Binding, Block, BuiltIn, EntryPoint, Expression, Function,
    FunctionArgument, GlobalVariable, Handle, Literal, Module, Range, Scalar, ScalarKind, ShaderStage, Span,
    Statement, Type, TypeInner, VectorSize,
    valid::{Capabilities, ValidationFlags, Validator},
};

/// Maximum length of arrays whose elements are copied. Variables with longer arrays stay as they are, because
/// no branch reads them.
const MAX_ELEMENTS: u32 = 32;

type Value = Handle<Expression>;

/// Makes `module` read copies of its uniforms. Returns `None` if the module is not valid.
pub(crate) fn make_private(module: &mut Module) -> Option<()> {
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(module).ok()?;
    let vec4 = numbers(module, VectorSize::Quad, Scalar::F32);
    let uvec3 = numbers(module, VectorSize::Tri, Scalar::U32);
    let uint = module.types.insert(
        Type {
            name: None,
            inner: TypeInner::Scalar(Scalar::U32),
        },
        Span::UNDEFINED,
    );
    let uniforms: Vec<_> = module
        .global_variables
        .iter()
        .filter(|(_, variable)| variable.space == AddressSpace::Uniform && is_copied(module, variable.ty))
        .map(|(handle, variable)| (handle, variable.clone()))
        .collect();
    let mut copies = Vec::new();
    for (copy, uniform) in uniforms {
        let ty = uniform.ty;
        let original = module.global_variables.append(uniform, Span::UNDEFINED);
        let copied: &mut GlobalVariable = module.global_variables.get_mut(copy);
        (copied.space, copied.binding) = (AddressSpace::Private, None);
        copies.push((copy, original, ty));
    }
    let mut entry_points = std::mem::take(&mut module.entry_points);
    for (index, entry) in entry_points.iter_mut().enumerate() {
        let used = info.get_entry_point(index);
        let copies: Vec<_> = copies
            .iter()
            .copied()
            .filter(|(copy, ..)| !used[*copy].is_empty())
            .collect();
        if !copies.is_empty() {
            prepend_copies(module, entry, &copies, [vec4, uvec3, uint]);
        }
    }
    module.entry_points = entry_points;
    Some(())
}

fn numbers(module: &mut Module, size: VectorSize, scalar: Scalar) -> Handle<Type> {
    let inner = TypeInner::Vector { size, scalar };
    module.types.insert(Type { name: None, inner }, Span::UNDEFINED)
}

/// True for types whose variables are copied.
fn is_copied(module: &Module, ty: Handle<Type>) -> bool {
    match &module.types[ty].inner {
        TypeInner::Struct { members, .. } => members.iter().all(|member| is_copied(module, member.ty)),
        TypeInner::Array { base, .. } => {
            elements(module, ty).is_some_and(|count| count <= MAX_ELEMENTS) && is_copied(module, *base)
        }
        _ => true,
    }
}

fn elements(module: &Module, ty: Handle<Type>) -> Option<u32> {
    match module.types[ty].inner {
        TypeInner::Array {
            size: ArraySize::Constant(count),
            ..
        } => Some(count.get()),
        _ => None,
    }
}

/// Copies the uniforms of one entry point.
struct Copier<'a> {
    module: &'a Module,
    function: &'a mut Function,
    zero: Value,
    stores: Vec<[Value; 2]>,
}

fn prepend_copies(
    module: &Module,
    entry: &mut EntryPoint,
    copies: &[(Handle<GlobalVariable>, Handle<GlobalVariable>, Handle<Type>)],
    types: [Handle<Type>; 3],
) {
    let (argument, member) = varying(module, entry, types);
    let function = &mut entry.function;
    // These expressions are valid from the start of the function, and need no emit statement.
    let argument = add(function, Expression::FunctionArgument(argument));
    let top_bit = add(function, Expression::Literal(Literal::U32(31)));
    let variables: Vec<_> = copies
        .iter()
        .map(|(copy, original, ty)| {
            let [to, from] =
                [copy, original].map(|handle| add(function, Expression::GlobalVariable(*handle)));
            (to, from, *ty)
        })
        .collect();
    let first = function.expressions.len();
    let mut number = argument;
    for index in member {
        number = add(function, Expression::AccessIndex { base: number, index });
    }
    if entry.stage != ShaderStage::Fragment {
        number = cast(function, number, ScalarKind::Float, Some(4));
    }
    let bits = cast(function, number, ScalarKind::Uint, None);
    // The sign bit of a non-negative number.
    let zero = binary(function, BinaryOperator::ShiftRight, bits, top_bit);
    let mut copier = Copier {
        module,
        function,
        zero,
        stores: Vec::new(),
    };
    for (to, from, ty) in variables {
        copier.copy(to, from, ty);
    }
    let stores = copier.stores;
    let handles: Vec<_> = function.expressions.iter().map(|(handle, _)| handle).collect();
    let last = handles[handles.len() - 1];
    let mut block = Block::new();
    let emitted = Range::new_from_bounds(handles[first], last);
    block.push(Statement::Emit(emitted), Span::UNDEFINED);
    for [pointer, value] in stores {
        block.push(Statement::Store { pointer, value }, Span::UNDEFINED);
    }
    block.append(&mut function.body);
    function.body = block;
}

impl Copier<'_> {
    /// Copies the value that the pointer `from` refers to, of type `ty`, to `to`.
    fn copy(&mut self, to: Value, from: Value, ty: Handle<Type>) {
        let parts: Vec<Handle<Type>> = match &self.module.types[ty].inner {
            TypeInner::Struct { members, .. } => members.iter().map(|member| member.ty).collect(),
            TypeInner::Array { base, .. } => {
                let count = elements(self.module, ty).unwrap_or(0);
                vec![*base; count as usize]
            }
            inner => {
                let value = add(self.function, Expression::Load { pointer: from });
                let value = match *inner {
                    TypeInner::Scalar(scalar) => self.hidden(value, scalar, None),
                    TypeInner::Vector { size, scalar } => self.hidden(value, scalar, Some(size)),
                    // No branch depends only on a matrix.
                    _ => value,
                };
                self.stores.push([to, value]);
                return;
            }
        };
        for (index, part) in (0..).zip(parts) {
            let [to, from] =
                [to, from].map(|base| add(self.function, Expression::AccessIndex { base, index }));
            self.copy(to, from, part);
        }
    }

    /// Returns the same bits in a form that the driver does not recognise as a uniform.
    fn hidden(&mut self, value: Value, scalar: Scalar, size: Option<VectorSize>) -> Value {
        let function = &mut *self.function;
        let zero = match size {
            Some(size) => add(
                function,
                Expression::Splat {
                    size,
                    value: self.zero,
                },
            ),
            None => self.zero,
        };
        let is_uint = scalar.kind == ScalarKind::Uint;
        let bits = match is_uint {
            true => value,
            false => cast(function, value, ScalarKind::Uint, None),
        };
        let joined = binary(function, BinaryOperator::InclusiveOr, zero, bits);
        match is_uint {
            true => joined,
            false => cast(function, joined, scalar.kind, None),
        }
    }
}

fn add(function: &mut Function, expression: Expression) -> Value {
    function.expressions.append(expression, Span::UNDEFINED)
}

fn cast(function: &mut Function, expr: Value, kind: ScalarKind, convert: Option<u8>) -> Value {
    add(function, Expression::As { expr, kind, convert })
}

fn binary(function: &mut Function, op: BinaryOperator, left: Value, right: Value) -> Value {
    add(function, Expression::Binary { op, left, right })
}

/// Returns a non-negative number that differs between invocations: the index of an argument of the entry
/// point, and the path of member indices to the number.
fn varying(
    module: &Module,
    entry: &mut EntryPoint,
    [vec4, uvec3, uint]: [Handle<Type>; 3],
) -> (u32, Vec<u32>) {
    let (built_in, ty, is_vector) = match entry.stage {
        ShaderStage::Vertex => (BuiltIn::VertexIndex, uint, false),
        ShaderStage::Fragment => (BuiltIn::Position { invariant: false }, vec4, true),
        _ => (BuiltIn::GlobalInvocationId, uvec3, true),
    };
    let is_wanted = |binding: &Option<Binding>| match binding {
        Some(Binding::BuiltIn(found)) => std::mem::discriminant(found) == std::mem::discriminant(&built_in),
        _ => false,
    };
    let component = is_vector.then_some(0);
    let arguments = &mut entry.function.arguments;
    for (index, argument) in (0..).zip(arguments.iter()) {
        if is_wanted(&argument.binding) {
            return (index, component.into_iter().collect());
        }
        if let TypeInner::Struct { members, .. } = &module.types[argument.ty].inner
            && let Some(member) = members.iter().position(|member| is_wanted(&member.binding))
        {
            return (index, [member as u32].into_iter().chain(component).collect());
        }
    }
    arguments.push(FunctionArgument {
        name: None,
        ty,
        binding: Some(Binding::BuiltIn(built_in)),
    });
    let index = arguments.len() as u32 - 1;
    (index, component.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::naga::front::wgsl::parse_str;

    const TEXT: &str = "
        struct Part { weights: vec3f, count: i32 }
        struct Params { matrix: mat4x4f, part: Part, words: array<vec4u, 3>, scale: f32 }
        struct Corner { @builtin(position) clip: vec4f, @location(0) uv: vec2f }
        @group(0) @binding(0) var<uniform> params: Params;
        @group(0) @binding(1) var<uniform> rows: array<vec4f, 300>;
        @group(0) @binding(2) var<uniform> row: u32;
        @group(0) @binding(3) var<storage, read_write> out: array<f32>;
        fn scaled() -> f32 { return params.scale * params.part.weights.y; }
        @vertex fn corner() -> Corner { return Corner(params.matrix[0], vec2f(f32(row))); }
        @fragment fn pixel(in: Corner) -> @location(0) vec4f { return in.clip * scaled(); }
        @fragment fn plain() -> @location(0) vec4f { return rows[row]; }
        @compute @workgroup_size(8) fn sum(@builtin(local_invocation_index) i: u32) {
            for (var n = 0; n < params.part.count; n++) { out[i] += scaled() + f32(params.words[n % 3].x); }
        }
        @compute @workgroup_size(8) fn none() { storageBarrier(); }
    ";

    #[test]
    fn entry_points_copy_the_uniforms_they_use() {
        let mut module = parse_str(TEXT).unwrap();
        make_private(&mut module).unwrap();
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let info = validator.validate(&module).unwrap();
        let variables = || module.global_variables.iter();
        let bound = variables().filter(|(_, variable)| variable.binding.is_some());
        assert_eq!(bound.count(), 4);
        let stores = |entry: &EntryPoint| {
            let is_store = |statement: &&Statement| matches!(statement, Statement::Store { .. });
            let all = entry.function.body.iter().skip(1);
            all.take_while(is_store).count()
        };
        let counts: Vec<_> = module.entry_points.iter().map(stores).collect();
        // Matrix, weights, count, three words and scale are 7 stores. The row is one.
        assert_eq!(counts, [8, 7, 1, 7, 0]);
        for (index, entry) in module.entry_points.iter().enumerate() {
            let used = info.get_entry_point(index);
            let uniforms = variables().filter(|(_, of)| of.space == AddressSpace::Uniform);
            let read = uniforms.filter(|(handle, _)| !used[*handle].is_empty());
            let mut names: Vec<_> = read.filter_map(|(_, of)| of.name.as_deref()).collect();
            names.sort_unstable();
            let expected = match entry.name.as_str() {
                "corner" => vec!["params", "row"],
                "plain" => vec!["row", "rows"],
                "none" => vec![],
                _ => vec!["params"],
            };
            assert_eq!(names, expected, "{}", entry.name);
        }
    }
}
