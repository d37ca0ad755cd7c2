//! SPIR-V of entry points, as wgpu generates it for Vulkan 1.3 on a GPU with robust buffer and image access.

use crate::{Error, Result, cli::reflected::Reflected, device::SHADERS, gpu::shader_folder::shader_folder};
use wgpu::naga::{
    EntryPoint,
    back::{
        pipeline_constants::process_overrides,
        spv::{self, WriterFlags, ZeroInitializeWorkgroupMemoryMode},
    },
    proc::{BoundsCheckPolicies, BoundsCheckPolicy},
};

/// Values of `override` constants by name.
pub(super) type Constants = Vec<(String, f64)>;

/// True if a shader is compiled without index and loop checks.
pub(super) fn is_unchecked(path: &str) -> bool {
    SHADERS.is_proven(path) && shader_folder().is_none()
}

/// Returns the SPIR-V words of an entry point. `constants` may name constants that the shader does not have.
/// Constants without a value or a default are 1.
pub(super) fn words(shader: &Reflected, entry: &EntryPoint, constants: &Constants) -> Result<Vec<u32>> {
    let (stage, name) = (entry.stage, &entry.name);
    let broken = |what: String| Error::Internal(format!("{} {name}: {what}", shader.path));
    let declared = shader.module.overrides.iter();
    let values = declared
        .filter_map(|(_, constant)| {
            let name = constant.name.clone()?;
            let given = constants.iter().find(|(given, _)| *given == name);
            let missing = constant.init.is_none().then_some(1.0);
            Some((name, given.map(|(_, value)| *value).or(missing)?))
        })
        .collect();
    let (module, info) = process_overrides(
        &shader.module,
        &shader.info,
        Some((stage, name.as_str())),
        &values,
    )
    .map_err(|e| Error::Usage(format!("{} {name}: {e}", shader.path)))?;
    let is_checked = !is_unchecked(shader.path);
    let options = spv::Options {
        lang_version: (1, 6),
        flags: WriterFlags::DEBUG | WriterFlags::LABEL_VARYINGS | WriterFlags::FORCE_POINT_SIZE,
        bounds_check_policies: BoundsCheckPolicies {
            index: match is_checked {
                true => BoundsCheckPolicy::Restrict,
                false => BoundsCheckPolicy::Unchecked,
            },
            // The device's robust access checks these.
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        force_loop_bounding: is_checked,
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
        ..spv::Options::default()
    };
    let pipeline = spv::PipelineOptions {
        shader_stage: stage,
        entry_point: name.clone(),
    };
    spv::write_vec(&module, &info, &options, Some(&pipeline)).map_err(|e| broken(e.to_string()))
}
