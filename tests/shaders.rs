//! Every shader composes and validates, and every shared struct is declared alike in Rust and WGSL. No GPU is
//! needed.

use canopy::{
    accel,
    device::SHADERS,
    gpu::{Arrays, RayBoxes, RayStack, ShaderChoices, shader, structs::StructLayout},
    lab::{TriangleTest, Walk, kernels},
};

use naga::{
    back::pipeline_constants::process_overrides,
    valid::{Capabilities, ValidationFlags, Validator},
};
use std::collections::{BTreeMap, BTreeSet};

/// Shaders with entry points.
fn entry_shaders() -> impl Iterator<Item = &'static str> {
    SHADERS.entry_files().map(|(path, _)| path)
}

fn parse(path: &str, choices: impl Into<ShaderChoices>) -> (shader::Composed, naga::Module) {
    let composed = shader::compose(&SHADERS, path, choices).unwrap_or_else(|e| panic!("{e}"));
    let module = parsed(&composed);
    (composed, module)
}

fn parsed(composed: &shader::Composed) -> naga::Module {
    naga::front::wgsl::parse_str(&composed.text).unwrap_or_else(|e| {
        let line = e.location(&composed.text).map_or(0, |at| at.line_number as usize);
        panic!("{}: {}", composed.origin(line), e.message())
    })
}

/// Any triangle test works with any traversal.
#[test]
fn every_laboratory_shader_pair_validates() {
    for test in TriangleTest::ALL {
        for walk in Walk::ALL {
            let composed = kernels::composed(&SHADERS, test, walk).unwrap();
            let module = parsed(&composed);
            assert_eq!(module.entry_points.len(), 6);
            let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
            let valid = validator.validate(&module);
            if let Err(error) = valid {
                let text = error.emit_to_string(&composed.text);
                panic!("{} with {}: {text:.2000}", test.name(), walk.name());
            }
        }
    }
}

#[test]
fn every_shader_validates_with_portable_capabilities() {
    let mut entry_points = 0;
    for path in entry_shaders() {
        // Devices without these capabilities never compile these shaders.
        let capabilities = match path {
            "bvh/build/sort_subgroups.wgsl" | "environment/project_sh_subgroups.wgsl" => {
                Capabilities::SUBGROUP
            }
            "passes/gbuffer_indexed.wgsl" => Capabilities::PRIMITIVE_INDEX,
            _ => Capabilities::empty(),
        };
        // WebGPU has these built-in functions everywhere.
        let capabilities = capabilities | Capabilities::SHADER_FLOAT16_IN_FLOAT32;
        let buffers = ShaderChoices::from(Arrays::Buffers);
        let other_rays = ShaderChoices {
            ray_boxes: RayBoxes::Bytes,
            ray_stack: RayStack::Private,
            ..buffers
        };
        for choices in [buffers, other_rays, Arrays::Textures.into()] {
            let (composed, module) = parse(path, choices);
            entry_points += module.entry_points.len();
            assert!(!module.entry_points.is_empty(), "{path} has no entry point");
            let mut validator = Validator::new(ValidationFlags::all(), capabilities);
            let stages = naga::valid::ShaderStages::COMPUTE;
            validator
                .subgroup_stages(stages)
                .subgroup_operations(naga::valid::SubgroupOperationSet::all());
            if let Err(error) = validator.validate(&module) {
                panic!("{path}: {}", error.emit_to_string(&composed.text));
            }
        }
    }
    assert_eq!(
        entry_points,
        3 * 260,
        "entry points were added or lost: count them here too"
    );
}

/// The stack of rays in workgroup memory has room for 64 threads, each of which must say which it is.
#[test]
fn ray_kernels_have_64_threads_and_begin_with_their_index() {
    let mut checked = 0;
    for path in entry_shaders() {
        let (_, module) = parse(path, Arrays::Buffers);
        let global = |name: &str| {
            let mut globals = module.global_variables.iter();
            globals.find(|(_, global)| global.name.as_deref() == Some(name))
        };
        let (Some((stack, _)), Some((thread, _))) = (global("ray_stack"), global("ray_stack_bottom")) else {
            continue;
        };
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::SHADER_FLOAT16_IN_FLOAT32);
        let info = validator.validate(&module).unwrap();
        for (index, entry) in module.entry_points.iter().enumerate() {
            let info = info.get_entry_point(index);
            if !info[stack].is_empty() {
                let size: u32 = entry.workgroup_size.iter().product();
                assert_eq!(size, accel::layout::BVH_RAY_THREADS, "{path} {}", entry.name);
                let is_set = info[thread].contains(naga::valid::GlobalUse::WRITE);
                assert!(is_set, "{path} {} does not call bvh_ray_begin", entry.name);
                checked += 1;
            }
        }
    }
    assert!(checked >= 12, "{checked}");
}

/// The shaders of the BVH compile only from their own files, as a library below the renderer's.
#[test]
fn tree_shaders_compile_without_other_shaders() {
    let trees: Vec<_> = accel::SHADERS.entry_files().collect();
    assert_eq!(trees.len(), 34);
    for (path, _) in trees {
        let alone = shader::compose(&accel::SHADERS, path, Arrays::Buffers);
        assert_eq!(alone.unwrap().text, parse(path, Arrays::Buffers).0.text, "{path}");
    }
}

#[test]
fn every_shader_file_is_embedded_and_imported() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut on_disk = BTreeSet::new();
    let mut pending = vec![root.clone()];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        if name != "README.md" {
            on_disk.insert(name.replace('\\', "/"));
        }
    }
    let embedded: BTreeSet<_> = SHADERS.files().map(|(path, _)| path.to_owned()).collect();
    assert_eq!(embedded.len(), SHADERS.files().count(), "a file is there twice");
    assert_eq!(embedded, on_disk, "device::SHADERS and shaders/ differ");
    let entries: BTreeSet<_> = entry_shaders().collect();
    let is_part = |(path, _): &(&str, &str)| !entries.contains(path) && !kernels::is_part(path);
    let parts = SHADERS.files().filter(is_part);
    for (path, _) in parts {
        let import = format!("#import \"{path}\"");
        assert!(
            SHADERS.files().any(|(_, text)| text.contains(&import)),
            "nothing imports {path}"
        );
    }
}

/// The README lists the imports of each folder, and each folder imports only those above it.
#[test]
fn shader_folders_import_only_those_above_them() {
    let folder = |path: &str| path.rsplit_once('/').unwrap().0.to_owned();
    let mut imports = BTreeMap::<String, BTreeSet<String>>::new();
    for (path, text) in SHADERS.files() {
        let imported = text.lines().filter_map(|line| {
            let imported = line.strip_prefix("#import \"")?.strip_suffix('"')?;
            Some(folder(imported)).filter(|imported| *imported != folder(path))
        });
        imports.entry(folder(path)).or_default().extend(imported);
    }
    let page = include_str!("../shaders/README.md");
    let mut above = BTreeSet::new();
    let mut told = BTreeMap::new();
    for row in page.lines().filter(|line| line.starts_with("| [")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_start_matches('[').split(']').next().unwrap();
        let names = cells[3].split(", ").filter(|name| !name.is_empty());
        let names: BTreeSet<_> = names.map(str::to_owned).collect();
        assert!(
            names.is_subset(&above),
            "{name} imports what stands below it: {names:?}"
        );
        above.insert(name.to_owned());
        told.insert(name.to_owned(), names);
    }
    assert_eq!(told, imports);
}

/// Every struct that Rust declares for the shaders.
fn structs() -> impl Iterator<Item = &'static StructLayout> {
    canopy::device::structs()
}

/// Output of wgpu for a shader: its length in words of SPIR-V, and its text for Metal.
fn generated(module: &naga::Module, checked: bool) -> (usize, String) {
    use naga::{back, proc::BoundsCheckPolicy};
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(module);
    let info = info.unwrap_or_else(|e| panic!("{e}"));
    let policy = match checked {
        true => BoundsCheckPolicy::Restrict,
        false => BoundsCheckPolicy::Unchecked,
    };
    let bounds_check_policies = naga::proc::BoundsCheckPolicies {
        index: policy,
        buffer: policy,
        image_load: policy,
        binding_array: policy,
    };
    let spirv = back::spv::Options {
        bounds_check_policies,
        force_loop_bounding: checked,
        ..Default::default()
    };
    let words = back::spv::write_vec(module, &info, &spirv, None);
    let words = words.unwrap_or_else(|e| panic!("{e}"));
    let msl = back::msl::Options {
        bounds_check_policies,
        force_loop_bounding: checked,
        fake_missing_bindings: true,
        lang_version: (2, 4),
        ..Default::default()
    };
    let pipeline = back::msl::PipelineOptions::default();
    let text = back::msl::write_string(module, &info, &msl, &pipeline);
    let (text, _) = text.unwrap_or_else(|e| panic!("{e}"));
    (words.len(), text)
}

#[test]
fn proven_shaders_lose_their_checks() {
    let mut compared = Vec::new();
    for path in entry_shaders().filter(|path| SHADERS.is_proven(path)) {
        let (_, mut module) = parse(path, Arrays::Buffers);
        if path.contains("subgroups") {
            continue;
        }
        // Numbers keep their values.
        let is_bool = |ty| module.types[ty].inner == naga::TypeInner::Scalar(naga::Scalar::BOOL);
        let constants = module.overrides.iter();
        let constants = constants
            .filter(|(_, constant)| constant.init.is_none() || is_bool(constant.ty))
            .map(|(_, constant)| (constant.name.clone().unwrap(), 1f64))
            .collect();
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let info = validator.validate(&module).unwrap();
        let fixed = process_overrides(&module, &info, None, &constants).unwrap();
        module = fixed.0.into_owned();
        // Validation rejects leftovers of earlier passes.
        naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
        let ((checked_words, checked), (words, text)) = (generated(&module, true), generated(&module, false));
        let clamps = |text: &str| text.matches("metal::min(unsigned(").count();
        let bounds = |text: &str| text.matches("loop_bound").count() + text.matches("LOOP_IS_").count();
        assert_eq!((clamps(&text), bounds(&text)), (0, 0), "{path}");
        let has_loop = checked.contains("while(true)");
        assert!(words < checked_words && clamps(&checked) > 0, "{path}");
        assert!(!has_loop || bounds(&checked) > 0, "{path}");
        compared.push(path);
    }
    for path in [
        "bvh/query/trace.wgsl",
        "bvh/build/hierarchy.wgsl",
        "bvh/build/hierarchy_across.wgsl",
        "shadow/shadow_rays.wgsl",
    ] {
        assert!(compared.contains(&path), "{path}");
    }
    // Shaders that read a file's bytes without such a proof are not proven.
    for path in ["frame/deform.wgsl", "passes/gbuffer.wgsl", "bvh/bvh.wgsl"] {
        assert!(!SHADERS.is_proven(path));
    }
}

/// Difference between a struct in Rust and the one that naga parsed.
fn difference(rust: &StructLayout, module: &naga::Module) -> Option<String> {
    let (_, ty) = module
        .types
        .iter()
        .find(|(_, ty)| ty.name.as_deref() == Some(rust.name))?;
    let naga::TypeInner::Struct { members, span } = &ty.inner else {
        return Some(format!("{} is no struct in WGSL", rust.name));
    };
    let wgsl: Vec<_> = members
        .iter()
        .map(|member| (member.name.as_deref().unwrap_or(""), member.offset as usize))
        .collect();
    let ours: Vec<_> = rust
        .members
        .iter()
        .copied()
        .filter(|(name, _)| !name.starts_with('_'))
        .collect();
    // The size is the stride of an array, so it must match exactly.
    (wgsl != ours || *span as usize != rust.size).then(|| {
        format!(
            "{}: Rust has {ours:?} in {} bytes, WGSL {wgsl:?} in {span}",
            rust.name, rust.size
        )
    })
}

#[test]
fn structs_are_the_same_on_both_sides() {
    let modules: Vec<_> = entry_shaders()
        .map(|path| parse(path, Arrays::Buffers).1)
        .collect();
    for rust in structs() {
        let has = |module: &&naga::Module| {
            module
                .types
                .iter()
                .any(|(_, ty)| ty.name.as_deref() == Some(rust.name))
        };
        assert!(
            modules.iter().any(|module| has(&module)),
            "no shader declares {}",
            rust.name
        );
        for module in &modules {
            assert_eq!(difference(rust, module), None);
        }
    }
}

#[test]
fn the_layout_comparison_detects_errors() {
    let parse = |members: &str| {
        naga::front::wgsl::parse_str(&format!(
            "struct RayBatch {{ {members} }} @group(0) @binding(0) var<uniform> p: RayBatch;"
        ))
        .unwrap()
    };
    let rust = structs().find(|layout| layout.name == "RayBatch").unwrap();
    assert_eq!(
        difference(rust, &parse("row_offset: u32, first_slot: u32, slot_count: u32")),
        None
    );
    assert!(
        difference(rust, &parse("first_slot: u32, row_offset: u32, slot_count: u32")).is_some(),
        "swapped members pass"
    );
    assert!(
        difference(rust, &parse("row_offset: u32, slot: u32, slot_count: u32")).is_some(),
        "a renamed member passes"
    );
    assert!(
        difference(
            rust,
            &parse("row_offset: u32, first_slot: vec2u, slot_count: u32")
        )
        .is_some(),
        "a moved member passes"
    );
    assert!(
        difference(
            rust,
            &parse("row_offset: u32, first_slot: u32, @size(8) slot_count: u32")
        )
        .is_some(),
        "another stride passes"
    );
    assert!(
        difference(
            rust,
            &parse("row_offset: u32, first_slot: u32, slot_count: u32, more: mat4x4f")
        )
        .is_some(),
        "a further member passes"
    );
}

/// True if a block, or a function that it calls, discards fragments.
fn discards(module: &naga::Module, block: &naga::Block) -> bool {
    use naga::Statement;
    block.iter().any(|statement| match statement {
        Statement::Kill => true,
        Statement::Call { function, .. } => discards(module, &module.functions[*function].body),
        Statement::Block(block) => discards(module, block),
        Statement::If { accept, reject, .. } => discards(module, accept) || discards(module, reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| discards(module, &case.body)),
        Statement::Loop { body, continuing, .. } => discards(module, body) || discards(module, continuing),
        _ => false,
    })
}

/// Opaque surfaces have no discard, which prevents an early depth test. A hundred thousand coincident
/// surfaces would all be shaded.
#[test]
fn opaque_surfaces_are_not_discarded() {
    for name in ["gbuffer", "gbuffer_indexed"] {
        let (_, module) = parse(&format!("passes/{name}.wgsl"), Arrays::Buffers);
        let found: Vec<_> = module
            .entry_points
            .iter()
            .filter(|entry| entry.stage == naga::ShaderStage::Fragment)
            .map(|entry| (entry.name.clone(), discards(&module, &entry.function.body)))
            .collect();
        assert_eq!(found, [(name.into(), false), (format!("{name}_masked"), true)]);
    }
}

/// A declared constant with its file, its name and the text of its value.
struct Declared {
    file: String,
    name: String,
    value: String,
}

/// All `const NAME … = VALUE;` of the files below `folder` with this extension, at any indentation. Tests
/// within a file are left out.
fn declared(folder: &str, extension: &str) -> std::io::Result<Vec<Declared>> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|known| known == extension) {
                let text = std::fs::read_to_string(&path)?;
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                found.extend(constants_of(&file, code));
            }
        }
    }
    Ok(found)
}

fn constants_of(file: &str, code: &str) -> Vec<Declared> {
    let declaration = |line: &str| {
        let (head, value) = line.split_once('=')?;
        let head = head.split("const ").nth(1)?;
        let name = head.split(':').next()?.trim();
        let is_name = name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        (is_name && !line.trim_start().starts_with("//")).then(|| Declared {
            file: file.into(),
            name: name.into(),
            value: value.trim().trim_end_matches(';').replace('_', ""),
        })
    };
    code.lines().filter_map(declaration).collect()
}

/// The value, if it is unlikely to occur by chance: two significant digits or more, and not a simple fraction
/// like 0.25.
fn telling(value: &str) -> Option<f64> {
    let number: f64 = value.trim_end_matches(['f', 'u']).parse().ok()?;
    let digits = value.split(['e', 'E']).next()?.replace('.', "");
    let digits = digits.trim_matches('0');
    let is_simple = (64.0 * number).fract() == 0.0;
    (value.contains('.') && digits.len() > 1 && !is_simple).then_some(number)
}

/// The constants of WGSL that are declared twice: in two files, in Rust as well, or as a number that Rust has
/// under another name.
fn doubled(
    wgsl: &[Declared],
    rust: &[Declared],
    shared: &BTreeSet<&str>,
    is_part: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, constant) in wgsl.iter().enumerate() {
        let Declared { file, name, .. } = constant;
        if shared.contains(name.as_str()) {
            faults.push(format!("{file}: {name} is declared in Rust"));
        }
        // A private constant of two entry shaders may share its name, but not its value.
        for other in &wgsl[..index] {
            let same = other.value == constant.value && other.file != *file;
            // A file in a folder `software` replaces the other one.
            let replaces = *file.replace("/software/", "/") == *other.file;
            if other.name == *name && !replaces && (same || is_part(&other.file)) {
                faults.push(format!("{file}: {name} is in {} too", other.file));
            }
        }
        let value = telling(&constant.value);
        for other in rust {
            let same_name = other.name == *name && other.value == constant.value;
            if same_name || value.is_some() && telling(&other.value) == value {
                faults.push(format!("{file}: {name} is {} of {}", other.name, other.file));
            }
        }
    }
    faults
}

#[test]
fn no_constant_is_written_twice() {
    let wgsl = declared("shaders", "wgsl").unwrap();
    let mut rust = declared("src", "rs").unwrap();
    rust.extend(declared("crates/bvh/src", "rs").unwrap());
    assert!(
        wgsl.len() > 40 && rust.len() > 150,
        "{} and {}",
        wgsl.len(),
        rust.len()
    );
    let shared: Vec<_> = SHADERS.constants().map(|constant| constant.name).collect();
    let names: BTreeSet<_> = shared.iter().copied().collect();
    assert_eq!(names.len(), shared.len(), "two shared constants have one name");
    let entries: BTreeSet<_> = entry_shaders().map(|path| format!("shaders/{path}")).collect();
    let is_part = |file: &str| !entries.contains(file);
    let faults = doubled(&wgsl, &rust, &names, &is_part);
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    // Every shared constant is named by some shader.
    let text: String = SHADERS.files().map(|(_, text)| text).collect();
    let words: BTreeSet<_> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for name in names {
        assert!(words.contains(name), "no shader names {name}");
    }
}

#[test]
fn duplicate_constants_are_detected() {
    let is_part = |file: &str| file.starts_with("shaders/math/");
    let wgsl = |code| constants_of("shaders/math/a.wgsl", code);
    let rust = constants_of(
        "src/b.rs",
        "pub const RADIUS: f64 = 0.004_653;\nconst SIDE: u32 = 7;",
    );
    let shared = BTreeSet::from(["LIMIT"]);
    for (code, count) in [
        ("const LIMIT = 3u;", 1),
        ("const SUN = 0.004653;", 1),
        ("const SIDE = 7;", 1),
        ("const HALF = 0.5;\nconst OTHER = 8;\n// const LIMIT = 3u;", 0),
    ] {
        assert_eq!(
            doubled(&wgsl(code), &rust, &shared, &is_part).len(),
            count,
            "{code}"
        );
    }
    let mut both = wgsl("const TWICE = 2u;");
    both.extend(constants_of("shaders/passes/c.wgsl", "const TWICE = 2u;"));
    assert_eq!(doubled(&both, &[], &BTreeSet::new(), &is_part).len(), 1);
}
