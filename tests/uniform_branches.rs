//! Mesa's software driver notes down the uniforms that branches read, and writes those of late buffers past its table
//! (`shaders/common/unseen.wgsl`): the program then crashes now and then, often in another place.

use crate::shaders::{entry_shaders, parse};
use canopy::gpu::Arrays;
use naga::{
    AddressSpace, Block, Expression, Function, Handle, LocalVariable, Module, Span, Statement,
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

/// Uniforms that a value is made of, operand by operand, up to the first that is neither uniform nor constant: those
/// that Mesa notes down.
#[derive(Debug, Clone, Default)]
struct Noted {
    uniforms: BTreeSet<String>,
    goes_on: bool,
}

impl Noted {
    fn of(uniforms: impl IntoIterator<Item = String>) -> Self {
        Self {
            uniforms: uniforms.into_iter().collect(),
            goes_on: true,
        }
    }

    fn all(operands: impl IntoIterator<Item = Self>) -> Self {
        let mut together = Self::of([]);
        for operand in operands {
            together.uniforms.extend(operand.uniforms);
            together.goes_on = operand.goes_on;
            if !operand.goes_on {
                break;
            }
        }
        together
    }
}

/// A function at one of its calls, as Mesa inlines them all.
struct Call<'a> {
    module: &'a Module,
    function: &'a Function,
    arguments: Vec<Noted>,
    /// What a variable's value is made of, where it has one value, or one of two by a condition.
    variables: BTreeMap<Handle<LocalVariable>, Vec<Handle<Expression>>>,
    /// Variables whose values are being looked at.
    open: RefCell<BTreeSet<Handle<LocalVariable>>>,
    /// What called functions return.
    results: BTreeMap<Handle<Expression>, Noted>,
}

impl<'a> Call<'a> {
    fn new(module: &'a Module, function: &'a Function, arguments: Vec<Noted>) -> Self {
        let mut call = Self {
            module,
            function,
            arguments,
            variables: BTreeMap::new(),
            open: RefCell::default(),
            results: BTreeMap::new(),
        };
        let mut stores: BTreeMap<_, u32> = BTreeMap::new();
        for (variable, local) in function.local_variables.iter() {
            stores.insert(variable, u32::from(local.init.is_some()));
            call.variables
                .insert(variable, local.init.into_iter().collect());
        }
        let mut choices = BTreeMap::new();
        each(&function.body, &mut |statement| match statement {
            Statement::Store { pointer, value } => {
                if let Some(variable) = call.variable(*pointer) {
                    *stores.entry(variable).or_default() += 1;
                    call.variables.insert(variable, vec![*value]);
                }
            }
            // Through its pointers.
            Statement::Call { arguments, .. } => {
                for variable in arguments.iter().filter_map(|value| call.variable(*value)) {
                    *stores.entry(variable).or_default() += 2;
                }
            }
            Statement::If {
                condition,
                accept,
                reject,
            } => {
                if let (Some(first), Some(second)) = (call.stored(accept), call.stored(reject))
                    && first.0 == second.0
                {
                    choices.insert(first.0, vec![*condition, first.1, second.1]);
                }
            }
            _ => {}
        });
        call.variables.retain(|variable, _| stores[variable] == 1);
        call.variables.extend(choices);
        call
    }

    /// The variable and the value that a block stores at its end.
    fn stored(&self, block: &Block) -> Option<(Handle<LocalVariable>, Handle<Expression>)> {
        match block.last() {
            Some(Statement::Store { pointer, value })
                if is_cheap(self.module, self.function, block) =>
            {
                Some((self.variable(*pointer)?, *value))
            }
            _ => None,
        }
    }

    /// Whether a pointer's indices are constants.
    fn is_at_constant(&self, pointer: Handle<Expression>) -> bool {
        match self.function.expressions[pointer] {
            Expression::Access { base, index } => {
                let index = self.noted(index);
                index.goes_on && index.uniforms.is_empty() && self.is_at_constant(base)
            }
            Expression::AccessIndex { base, .. } => self.is_at_constant(base),
            _ => true,
        }
    }

    fn variable(&self, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        match root(self.function, pointer) {
            Expression::LocalVariable(variable) => Some(*variable),
            _ => None,
        }
    }

    fn noted(&self, value: Handle<Expression>) -> Noted {
        let all =
            |operands: &[Handle<Expression>]| Noted::all(operands.iter().map(|o| self.noted(*o)));
        match &self.function.expressions[value] {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::Override(_)
            | Expression::ZeroValue(_) => Noted::of([]),
            Expression::FunctionArgument(index) => self
                .arguments
                .get(*index as usize)
                .cloned()
                .unwrap_or_default(),
            Expression::Load { pointer } => match root(self.function, *pointer) {
                Expression::GlobalVariable(variable) => {
                    let variable = &self.module.global_variables[*variable];
                    let is_uniform = variable.space == AddressSpace::Uniform;
                    match is_uniform && self.is_at_constant(*pointer) {
                        true => Noted::of(variable.name.clone()),
                        false => Noted::default(),
                    }
                }
                Expression::LocalVariable(variable) => {
                    let Some(operands) = self.variables.get(variable) else {
                        return Noted::default();
                    };
                    // A value may be made of the last one.
                    if !self.open.borrow_mut().insert(*variable) {
                        return Noted::default();
                    }
                    let noted = all(operands);
                    self.open.borrow_mut().remove(variable);
                    noted
                }
                _ => Noted::default(),
            },
            Expression::CallResult(_) => self.results.get(&value).cloned().unwrap_or_default(),
            Expression::Compose { components, .. } => all(components),
            Expression::Access { base, index } => all(&[*base, *index]),
            Expression::AccessIndex { base: value, .. }
            | Expression::Splat { value, .. }
            | Expression::Swizzle { vector: value, .. }
            | Expression::Unary { expr: value, .. }
            | Expression::As { expr: value, .. }
            | Expression::Relational {
                argument: value, ..
            } => self.noted(*value),
            Expression::Binary { left, right, .. } => all(&[*left, *right]),
            Expression::Select {
                condition,
                accept,
                reject,
            } => all(&[*condition, *accept, *reject]),
            Expression::Math {
                arg,
                arg1,
                arg2,
                arg3,
                ..
            } => {
                let operands = [Some(*arg), *arg1, *arg2, *arg3];
                Noted::all(operands.into_iter().flatten().map(|o| self.noted(o)))
            }
            _ => Noted::default(),
        }
    }

    /// What a loop's condition is compared with, where it is that: Mesa knows how variables of loops go on.
    fn noted_of_loop(&self, condition: Handle<Expression>) -> Noted {
        let bound = match self.function.expressions[condition] {
            Expression::Binary { left, right, .. } => {
                let is_loaded = |value: Handle<Expression>| {
                    matches!(self.function.expressions[value], Expression::Load { pointer }
                        if self.variable(pointer).is_some())
                };
                match (is_loaded(left), is_loaded(right)) {
                    (true, _) => right,
                    (_, true) => left,
                    _ => condition,
                }
            }
            _ => condition,
        };
        self.noted(bound)
    }

    /// Adds what is noted down for the branches of a block and of what it calls, and where.
    fn branches(&mut self, block: &'a Block, path: &str, found: &mut Vec<(String, Span, Noted)>) {
        for statement in block {
            match statement {
                Statement::If {
                    condition,
                    accept,
                    reject,
                } => {
                    let breaks = |block: &Block| matches!(block.last(), Some(Statement::Break));
                    // At a function's end naga returns on both sides: nothing follows that one of them would skip.
                    let is_end = matches!(
                        (accept.last(), reject.last()),
                        (
                            Some(Statement::Return { value: None } | Statement::Kill),
                            Some(Statement::Return { value: None })
                        )
                    );
                    let (first, second) = match (&accept[..], &reject[..]) {
                        ([first @ .., Statement::Return { .. }] | first, [second @ .., _])
                            if is_end =>
                        {
                            (first, second)
                        }
                        both => both,
                    };
                    let is_cheap = |statements| is_cheap(self.module, self.function, statements);
                    if !is_cheap(first) || !is_cheap(second) {
                        let noted = match breaks(accept) || breaks(reject) {
                            true => self.noted_of_loop(*condition),
                            false => self.noted(*condition),
                        };
                        let at = self.function.expressions.get_span(*condition);
                        found.push((path.to_owned(), at, noted));
                    }
                    self.branches(accept, path, found);
                    self.branches(reject, path, found);
                }
                Statement::Switch { selector, cases } => {
                    let at = self.function.expressions.get_span(*selector);
                    found.push((path.to_owned(), at, self.noted(*selector)));
                    for case in cases {
                        self.branches(&case.body, path, found);
                    }
                }
                Statement::Loop {
                    body, continuing, ..
                } => {
                    self.branches(body, path, found);
                    self.branches(continuing, path, found);
                }
                Statement::Block(block) => self.branches(block, path, found),
                Statement::Call {
                    function,
                    arguments,
                    result,
                } => {
                    let called = &self.module.functions[*function];
                    let arguments = arguments.iter().map(|value| self.noted(*value)).collect();
                    let mut call = Call::new(self.module, called, arguments);
                    let path = format!("{path}, {}", called.name.as_deref().unwrap_or_default());
                    call.branches(&called.body, &path, found);
                    let mut returned = Vec::new();
                    each(&called.body, &mut |statement| {
                        if let Statement::Return { value } = statement {
                            returned.extend(*value);
                        }
                    });
                    if let (Some(result), [value]) = (result, &returned[..]) {
                        self.results.insert(*result, call.noted(*value));
                    }
                }
                _ => {}
            }
        }
    }
}

/// What a pointer points into.
fn root(function: &Function, pointer: Handle<Expression>) -> &Expression {
    match &function.expressions[pointer] {
        Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
            root(function, *base)
        }
        other => other,
    }
}

/// Whether Mesa runs a block without a branch: it computes, reads uniforms and sets variables, or discards.
fn is_cheap(module: &Module, function: &Function, statements: &[Statement]) -> bool {
    let is_cheap_value = |value| match &function.expressions[value] {
        Expression::Load { pointer } => match root(function, *pointer) {
            Expression::GlobalVariable(variable) => {
                module.global_variables[*variable].space == AddressSpace::Uniform
            }
            _ => true,
        },
        Expression::ImageLoad { .. } | Expression::ImageSample { .. } => false,
        _ => true,
    };
    statements.iter().all(|statement| match statement {
        Statement::Emit(range) => range.clone().all(is_cheap_value),
        Statement::Store { pointer, .. } => {
            matches!(root(function, *pointer), Expression::LocalVariable(_))
        }
        Statement::If { accept, reject, .. } => {
            is_cheap(module, function, accept) && is_cheap(module, function, reject)
        }
        Statement::Block(block) => is_cheap(module, function, block),
        Statement::Call { function, .. } => {
            let called = &module.functions[*function];
            match called.body.split_last() {
                Some((Statement::Return { .. }, others)) => is_cheap(module, called, others),
                _ => false,
            }
        }
        Statement::Kill => true,
        _ => false,
    })
}

/// Calls `f` with every statement of a block and of those within.
fn each<'a>(block: &'a Block, f: &mut impl FnMut(&'a Statement)) {
    for statement in block {
        f(statement);
        match statement {
            Statement::Block(block) => each(block, f),
            Statement::If { accept, reject, .. } => {
                each(accept, f);
                each(reject, f);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| each(&case.body, f)),
            Statement::Loop {
                body, continuing, ..
            } => {
                each(body, f);
                each(continuing, f);
            }
            _ => {}
        }
    }
}

/// The branches of a shader that note down a uniform of a late buffer: one behind group 0, where that is the frame's.
fn late(module: &Module, place: impl Fn(Span) -> String) -> BTreeSet<String> {
    let uniforms = || {
        let globals = module.global_variables.iter().map(|(_, global)| global);
        globals.filter(|global| global.space == AddressSpace::Uniform)
    };
    let named = |name: &str| uniforms().find(|global| global.name.as_deref() == Some(name));
    let is_late = |name: &String| {
        let binding = named(name).and_then(|global| global.binding.as_ref());
        named("frame").is_some() && binding.is_some_and(|binding| binding.group > 0)
    };
    let mut found = Vec::new();
    for entry in &module.entry_points {
        Call::new(module, &entry.function, Vec::new()).branches(
            &entry.function.body,
            &entry.name,
            &mut found,
        );
    }
    let late = found.into_iter().filter_map(|(path, span, noted)| {
        let name = noted.uniforms.into_iter().find(is_late)?;
        Some(format!("{}: {path}: {name}", place(span)))
    });
    late.collect()
}

/// A frame's shader with a late uniform and these statements.
fn shader(statements: &str) -> BTreeSet<String> {
    let text = format!(
        "@group(0) @binding(0) var<uniform> frame: vec4u;
        @group(1) @binding(0) var<uniform> params: vec4u;
        @group(1) @binding(1) var<storage, read_write> out: array<u32>;
        fn store(at: u32) {{ out[at] = at; }}
        fn sum(a: u32, b: u32) -> u32 {{ return a + b; }}
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) thread: u32) {{ {statements} }}"
    );
    let module = naga::front::wgsl::parse_str(&text).unwrap();
    late(&module, |span| span.location(&text).line_number.to_string())
}

#[test]
fn such_branches_are_found() {
    for noted in [
        "if params.x > 2u { store(thread); }",
        "if params.x > thread { store(thread); }",
        "if params.x > 2u && thread > 3u { store(thread); }",
        "let slot = params.x + thread; if slot > 3u { store(thread); }",
        "if sum(params.x, thread) > 3u { store(thread); }",
        "if params.x > 2u { return; } store(thread);",
        "for (var i = 0u; i < params.x; i++) { store(i); }",
        "switch params.x { case 1u: { store(thread); } default: {} }",
    ] {
        assert_eq!(shader(noted).len(), 1, "{noted}");
    }
    for fine in [
        "if frame.x > 2u { store(thread); }",
        "if thread + params.x > 2u { store(thread); }",
        "if thread > 3u && params.x > 2u { store(thread); }",
        "if sum(thread, params.x) > 3u { store(thread); }",
        "var at = thread; if params.x > 2u { at = 7u; } store(at);",
        "for (var i = 0u; i < params[thread & 3u]; i++) { store(i); }",
        "store(params.x);",
        "var at: u32; at = at + thread; if at > 2u { store(at); }",
    ] {
        assert_eq!(shader(fine), BTreeSet::new(), "{fine}");
    }
}

#[test]
fn no_branch_reads_a_uniform_of_a_late_buffer_first() {
    let mut found = BTreeSet::new();
    for path in entry_shaders() {
        for arrays in [Arrays::Textures, Arrays::Buffers] {
            let (composed, module) = parse(path, arrays);
            found.extend(late(&module, |span| {
                let line = span.location(&composed.text).line_number as usize;
                composed.origin(line).to_string()
            }));
        }
    }
    assert_eq!(found, BTreeSet::new());
}
