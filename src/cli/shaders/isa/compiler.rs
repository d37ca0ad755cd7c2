//! Shader compiler of a Vulkan driver. Pipelines are created but never run.
//!
//! `VK_KHR_pipeline_executable_properties` reports the result of each compilation.

use crate::{Error, Result, cli::reflected::Bound};
use ash::{Device, Entry, Instance, khr::pipeline_executable_properties as executables, vk};
use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_void},
};
use wgpu::naga::{AddressSpace, ArraySize, GlobalVariable, ImageClass, Module, ShaderStage, TypeInner};

/// Default compute subgroup size, if the driver supports it. Statistics of different GPUs are best compared
/// at the same size.
pub(super) const DEFAULT_SUBGROUP: u32 = 32;

/// An open device.
pub(super) struct Compiler {
    /// Name of the GPU to compile for.
    pub(super) gpu: String,
    /// Driver, such as "Mesa 25.0.7".
    pub(super) driver: String,
    is_radv: bool,
    /// Range of subgroup sizes that a compute pipeline may require, or `None` if it cannot require any.
    subgroups: Option<[u32; 2]>,
    device: Device,
    executables: executables::Device,
    /// Vulkan loader library, which is unloaded when dropped.
    _entry: Entry,
}

/// Shader stages and interface of a pipeline to compile.
pub(super) struct Program<'a> {
    pub(super) module: &'a Module,
    /// A compute stage, or a vertex stage with an optional fragment stage.
    pub(super) stages: Vec<Stage>,
    pub(super) bound: Bound<'a>,
    pub(super) inputs: Vec<wgpu::VertexAttribute>,
    pub(super) outputs: Vec<wgpu::TextureFormat>,
    /// Required compute subgroup size. The default is [`DEFAULT_SUBGROUP`] if the driver supports it.
    pub(super) subgroup: Option<u32>,
}

/// An entry point in SPIR-V.
pub(super) struct Stage {
    pub(super) stage: ShaderStage,
    pub(super) entry: String,
    pub(super) words: Vec<u32>,
}

/// A compiled stage.
#[derive(Debug)]
pub(super) struct Executable {
    pub(super) stages: vk::ShaderStageFlags,
    pub(super) subgroup: u32,
    /// Statistics, by the names that the driver gives them.
    pub(super) statistics: BTreeMap<String, f64>,
    /// AMD assembly, if the driver has a disassembler.
    pub(super) assembly: Option<String>,
}

/// Converts a [`ShaderStage`] to Vulkan flags.
pub(super) fn stage_flags(stage: ShaderStage) -> vk::ShaderStageFlags {
    match stage {
        ShaderStage::Vertex => vk::ShaderStageFlags::VERTEX,
        ShaderStage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        _ => vk::ShaderStageFlags::COMPUTE,
    }
}

fn failed(what: &str) -> impl Fn(vk::Result) -> Error {
    move |result| Error::Gpu(format!("{what}: {result}"))
}

impl Compiler {
    /// Opens the device whose name contains `wanted`.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if there is none, or if it does not report compilation results.
    pub(super) fn open(wanted: &str) -> Result<Self> {
        // SAFETY: the Vulkan loader is a well-known library whose initialisation has no preconditions.
        let entry = unsafe { Entry::load() }.map_err(|e| Error::Gpu(e.to_string()))?;
        let application = vk::ApplicationInfo::default()
            .application_name(c"canopy")
            .api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structs are valid and live until the call returns.
        let instance = unsafe { entry.create_instance(&info, None) };
        let instance = instance.map_err(failed("the driver does not start"))?;
        // SAFETY: the instance is alive.
        let devices = unsafe { instance.enumerate_physical_devices() };
        let devices = devices.map_err(failed("the driver lists no GPU"))?;
        let is_wanted = |device: &vk::PhysicalDevice| {
            // SAFETY: the device belongs to the instance.
            let properties = unsafe { instance.get_physical_device_properties(*device) };
            text(&properties.device_name).contains(wanted) && properties.api_version >= vk::API_VERSION_1_3
        };
        let Some(physical) = devices.into_iter().find(is_wanted) else {
            return Err(Error::Gpu(format!("the driver has no {wanted}")));
        };
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut driver)
            .push_next(&mut sizes);
        // SAFETY: the device belongs to the instance, and both structs extend the properties.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let name = text(&properties.properties.device_name);
        let forced = name
            .strip_prefix("Null hardware (")
            .and_then(|name| name.strip_suffix(')'));
        let gpu = forced.map_or(name.clone(), String::from);
        let can_ask = sizes
            .required_subgroup_size_stages
            .contains(vk::ShaderStageFlags::COMPUTE);
        let subgroups = can_ask.then_some([sizes.min_subgroup_size, sizes.max_subgroup_size]);
        let device = open_device(&instance, physical)?;
        Ok(Self {
            gpu,
            driver: version(&text(&driver.driver_info)),
            is_radv: driver.driver_id == vk::DriverId::MESA_RADV,
            subgroups,
            executables: executables::Device::new(&instance, &device),
            device,
            _entry: entry,
        })
    }

    /// Compiles a pipeline.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the driver fails.
    pub(super) fn compile(&self, program: &Program<'_>) -> Result<Vec<Executable>> {
        let pipeline = self.pipeline(program)?;
        let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: the pipeline belongs to the device and was created with statistics capture.
        let all = unsafe { self.executables.get_pipeline_executable_properties(&info) };
        let all = all.map_err(failed("executables"))?;
        let mut found = Vec::new();
        for (index, executable) in (0..).zip(&all) {
            let info = vk::PipelineExecutableInfoKHR::default()
                .pipeline(pipeline)
                .executable_index(index);
            // SAFETY: the pipeline was created with statistics capture, and the index is in range.
            let statistics = unsafe { self.executables.get_pipeline_executable_statistics(&info) };
            let statistics = statistics.map_err(failed("statistics"))?;
            let statistics = statistics.iter().map(|s| (text(&s.name), value(s)));
            found.push(Executable {
                stages: executable.stages,
                subgroup: executable.subgroup_size,
                statistics: statistics.collect(),
                assembly: self.assembly(&info)?,
            });
        }
        // SAFETY: it was created above, and nothing runs it.
        unsafe { self.device.destroy_pipeline(pipeline, None) };
        Ok(found)
    }

    /// Creates a pipeline. Layouts and modules are never destroyed, because the process compiles each shader
    /// once and then ends.
    fn pipeline(&self, program: &Program<'_>) -> Result<vk::Pipeline> {
        let layout = self.layout(program)?;
        let mut names = Vec::new();
        for stage in &program.stages {
            let name = CString::new(stage.entry.as_str());
            names.push(name.map_err(|e| Error::Internal(e.to_string()))?);
        }
        let subgroup = program.subgroup.unwrap_or(DEFAULT_SUBGROUP);
        let [least, most] = self.subgroups.unwrap_or_default();
        let can_ask = (least..=most).contains(&subgroup);
        if program.subgroup.is_some() && !can_ask {
            return Err(Error::Gpu(match self.subgroups {
                Some(_) => format!("subgroups have {least} to {most} threads"),
                None => "the driver chooses the subgroup size itself".into(),
            }));
        }
        let mut required =
            vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default().required_subgroup_size(subgroup);
        let mut stages = Vec::new();
        for (stage, name) in program.stages.iter().zip(&names) {
            let info = vk::ShaderModuleCreateInfo::default().code(&stage.words);
            // SAFETY: the words come from a module that naga has validated.
            let module = unsafe { self.device.create_shader_module(&info, None) };
            stages.push(
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(stage_flags(stage.stage))
                    .module(module.map_err(failed("module"))?)
                    .name(name),
            );
        }
        let mut flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
        if self.is_radv {
            flags |= vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        }
        let is_compute = matches!(program.stages.as_slice(), [one] if one.stage == ShaderStage::Compute);
        let pipelines = match is_compute {
            true => {
                let mut stage = stages[0];
                if can_ask {
                    stage = stage.push_next(&mut required);
                }
                let info = vk::ComputePipelineCreateInfo::default()
                    .flags(flags)
                    .stage(stage)
                    .layout(layout);
                // SAFETY: modules and layout belong to the device, and the layout has everything that the
                // shader binds.
                unsafe {
                    self.device
                        .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
                }
            }
            false => self.draw(program, &stages, layout, flags),
        };
        let pipelines = pipelines.map_err(|(_, result)| failed("the driver does not compile it")(result))?;
        Ok(pipelines[0])
    }

    /// Creates a pipeline that draws triangles with a depth buffer.
    fn draw(
        &self,
        program: &Program<'_>,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
        layout: vk::PipelineLayout,
        flags: vk::PipelineCreateFlags,
    ) -> std::result::Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)> {
        let numbered = || (0..).zip(&program.inputs);
        let buffers: Vec<_> = numbered()
            .map(|(slot, _)| {
                vk::VertexInputBindingDescription::default()
                    .binding(slot)
                    .stride(16)
            })
            .collect();
        let attributes: Vec<_> = numbered()
            .map(|(slot, input)| {
                vk::VertexInputAttributeDescription::default()
                    .binding(slot)
                    .location(input.shader_location)
                    .format(vertex_format(input.format))
            })
            .collect();
        let formats: Vec<_> = program.outputs.iter().map(|f| color_format(*f)).collect();
        let blends: Vec<_> = formats
            .iter()
            .map(|_| {
                vk::PipelineColorBlendAttachmentState::default()
                    .color_write_mask(vk::ColorComponentFlags::RGBA)
            })
            .collect();
        let inputs = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&buffers)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(true)
            .depth_write_enable(true)
            .depth_compare_op(vk::CompareOp::GREATER_OR_EQUAL);
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&formats)
            .depth_attachment_format(vk::Format::D32_SFLOAT);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .flags(flags)
            .stages(stages)
            .vertex_input_state(&inputs)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(layout)
            .push_next(&mut rendering);
        // SAFETY: all state structs live until the call returns. The stages match each other and the layout.
        unsafe {
            self.device
                .create_graphics_pipelines(vk::PipelineCache::null(), &[info], None)
        }
    }

    fn layout(&self, program: &Program<'_>) -> Result<vk::PipelineLayout> {
        let groups = program.bound.keys().max().map_or(0, |last| last + 1);
        let mut sets = Vec::new();
        for group in 0..groups {
            let globals = program.bound.get(&group).into_iter().flatten();
            let bindings: Vec<_> = globals
                .map(|(binding, global)| {
                    let (kind, count) = descriptor(program.module, global);
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(*binding)
                        .descriptor_type(kind)
                        .descriptor_count(count)
                        .stage_flags(vk::ShaderStageFlags::ALL)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the bindings live until the call returns.
            let set = unsafe { self.device.create_descriptor_set_layout(&info, None) };
            sets.push(set.map_err(failed("bindings"))?);
        }
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        // SAFETY: the sets belong to the device.
        let layout = unsafe { self.device.create_pipeline_layout(&info, None) };
        layout.map_err(failed("layout"))
    }

    fn assembly(&self, info: &vk::PipelineExecutableInfoKHR<'_>) -> Result<Option<String>> {
        if !self.is_radv {
            return Ok(None);
        }
        // SAFETY: the pipeline was created with capture of internal representations. Without pointers the
        // driver returns the text lengths.
        let texts = unsafe {
            self.executables
                .get_pipeline_executable_internal_representations(info)
        };
        let mut texts = texts.map_err(failed("assembly"))?;
        let mut bytes: Vec<_> = texts.iter().map(|text| vec![0_u8; text.data_size]).collect();
        for (text, bytes) in texts.iter_mut().zip(&mut bytes) {
            text.p_data = bytes.as_mut_ptr().cast::<c_void>();
        }
        let mut count = texts.len() as u32;
        let read = self
            .executables
            .fp()
            .get_pipeline_executable_internal_representations_khr;
        // SAFETY: there are `count` structs, each with a pointer to a buffer of `data_size` bytes.
        let result = unsafe { read(self.device.handle(), info, &mut count, texts.as_mut_ptr()) };
        result.result().map_err(failed("assembly"))?;
        let is_assembly =
            |one: &vk::PipelineExecutableInternalRepresentationKHR<'_>| text(&one.name) == "Assembly";
        let found = texts.iter().position(is_assembly);
        Ok(found.map(|index| {
            let text = CStr::from_bytes_until_nul(&bytes[index]).unwrap_or_default();
            text.to_string_lossy().into_owned()
        }))
    }
}

/// Opens a device with all features, and with robust buffer access like wgpu.
fn open_device(instance: &Instance, physical: vk::PhysicalDevice) -> Result<Device> {
    // SAFETY: the device belongs to the instance.
    let extensions = unsafe { instance.enumerate_device_extension_properties(physical) };
    let extensions = extensions.map_err(failed("extensions"))?;
    let has = |name: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    let names = [executables::NAME, ash::ext::robustness2::NAME];
    if let Some(missing) = names.iter().find(|name| !has(name)) {
        let missing = missing.to_string_lossy();
        return Err(Error::Gpu(format!("the driver has no {missing}")));
    }
    let names = names.map(CStr::as_ptr);
    let mut telling =
        vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
    let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default()
        .robust_buffer_access2(true)
        .robust_image_access2(true);
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut v13)
        .push_next(&mut v12)
        .push_next(&mut v11)
        .push_next(&mut telling);
    // SAFETY: every struct of the chain extends the features.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut features)
        .push_next(&mut robustness);
    // SAFETY: the device reports these features and extensions, and every device has a queue in family 0.
    let device = unsafe { instance.create_device(physical, &info, None) };
    device.map_err(failed("the driver opens no device"))
}

fn descriptor(module: &Module, global: &GlobalVariable) -> (vk::DescriptorType, u32) {
    let mut inner = &module.types[global.ty].inner;
    let mut count = 1;
    if let TypeInner::BindingArray { base, size } = inner {
        inner = &module.types[*base].inner;
        if let ArraySize::Constant(size) = size {
            count = size.get();
        }
    }
    let kind = match (inner, global.space) {
        (TypeInner::Sampler { .. }, _) => vk::DescriptorType::SAMPLER,
        (
            TypeInner::Image {
                class: ImageClass::Storage { .. },
                ..
            },
            _,
        ) => vk::DescriptorType::STORAGE_IMAGE,
        (TypeInner::Image { .. }, _) => vk::DescriptorType::SAMPLED_IMAGE,
        (_, AddressSpace::Uniform) => vk::DescriptorType::UNIFORM_BUFFER,
        _ => vk::DescriptorType::STORAGE_BUFFER,
    };
    (kind, count)
}

fn vertex_format(format: wgpu::VertexFormat) -> vk::Format {
    use wgpu::VertexFormat as F;
    match format {
        F::Uint32 => vk::Format::R32_UINT,
        F::Uint32x2 => vk::Format::R32G32_UINT,
        F::Uint32x3 => vk::Format::R32G32B32_UINT,
        F::Uint32x4 => vk::Format::R32G32B32A32_UINT,
        F::Float32 => vk::Format::R32_SFLOAT,
        F::Float32x2 => vk::Format::R32G32_SFLOAT,
        F::Float32x3 => vk::Format::R32G32B32_SFLOAT,
        _ => vk::Format::R32G32B32A32_SFLOAT,
    }
}

fn color_format(format: wgpu::TextureFormat) -> vk::Format {
    match format {
        wgpu::TextureFormat::R32Uint => vk::Format::R32_UINT,
        _ => vk::Format::R16G16B16A16_SFLOAT,
    }
}

/// Shortens a version, such as "Mesa 25.0.7-2~bpo12+1" to "Mesa 25.0.7".
fn version(info: &str) -> String {
    info.split('-').next().unwrap_or_default().into()
}

/// Converts a fixed-length, zero-terminated name.
fn text(chars: &[c_char]) -> String {
    let bytes: &[u8] = bytemuck::cast_slice(chars);
    let name = CStr::from_bytes_until_nul(bytes).unwrap_or_default();
    name.to_string_lossy().trim().to_owned()
}

fn value(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> f64 {
    let value = &statistic.value;
    // SAFETY: the format specifies which variant the driver wrote.
    unsafe {
        match statistic.format {
            vk::PipelineExecutableStatisticFormatKHR::BOOL32 => f64::from(value.b32),
            vk::PipelineExecutableStatisticFormatKHR::INT64 => value.i64 as f64,
            vk::PipelineExecutableStatisticFormatKHR::UINT64 => value.u64 as f64,
            _ => value.f64,
        }
    }
}
