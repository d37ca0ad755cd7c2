//! The device and its queue, together with capabilities, compiled shaders and reported errors.

use super::{
    capabilities::{Capabilities, ShaderChoices},
    library::Library,
    pipelines::Pipelines,
    shader_folder::generation,
};
#[cfg(feature = "tools")]
use super::{pipeline_cache::PipelineCache, pipelines::PipelineKey};
use crate::{
    Error, Result,
    error::{guarded, one_line},
};
use std::collections::HashMap;
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicU32, Ordering},
    mpsc,
};
use std::time::Duration;

/// Timeout of any wait on the GPU. It guards against a hang and is not a time budget.
const WAIT_TIMEOUT: Duration = Duration::from_secs(300);

/// Path of a shader, and the choices on which its text depends.
pub(super) type ModuleKey = (String, ShaderChoices);

/// Parsed shader, with a hash that detects changes of its text.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) module: wgpu::ShaderModule,
    pub(super) text_hash: u64,
}

/// Device and queue, with data that is determined only once.
#[derive(Debug)]
pub struct Gpu {
    /// Adapter that canopy opened. `None` for a device that you opened.
    pub adapter: Option<wgpu::Adapter>,
    /// Name, backend, driver and kind of the adapter.
    pub info: wgpu::AdapterInfo,
    /// The wgpu device.
    pub device: wgpu::Device,
    /// The device's queue.
    pub queue: wgpu::Queue,
    /// The device's limits.
    pub limits: wgpu::Limits,
    /// Capabilities of the device, and the choices that suit it.
    pub capabilities: Capabilities,
    shaders: &'static Library,
    unchecked: bool,
    /// Errors outside of any error scope. Only gathered on devices that canopy opened.
    errors: Arc<Mutex<Vec<String>>>,
    /// Reason for the loss of the device, once it is lost.
    lost: Arc<OnceLock<String>>,
    /// Parsed shaders.
    modules: Mutex<HashMap<ModuleKey, Parsed>>,
    pub(super) pipelines: Pipelines,
    compiled: AtomicU32,
    /// Value of `compiled` when the pipeline cache was last saved.
    #[cfg(feature = "tools")]
    saved: AtomicU32,
    #[cfg(feature = "tools")]
    pub(super) pipeline_cache: Option<PipelineCache>,
}

impl Gpu {
    /// Wraps a device that you have opened. `shaders` are the shaders that can be compiled on it. If you only
    /// need BVHs, pass [`accel::SHADERS`](crate::accel::SHADERS). Any device with compute shaders and
    /// WebGPU's default limits will do. `SUBGROUP` and higher limits are used if the device has them.
    ///
    /// The device's callbacks stay yours: canopy installs neither an uncaptured-error handler nor a
    /// device-lost callback. BVH creation, compilation and readback return their errors. Other errors reach
    /// your handler. wgpu panics if the device is lost while canopy waits for it, and canopy then suppresses
    /// the panic message.
    pub fn from_device(device: &wgpu::Device, queue: &wgpu::Queue, shaders: &'static Library) -> Self {
        Self {
            adapter: None,
            info: device.adapter_info(),
            device: device.clone(),
            queue: queue.clone(),
            limits: device.limits(),
            capabilities: Capabilities::new(device),
            shaders,
            unchecked: false,
            errors: Arc::default(),
            lost: Arc::default(),
            modules: Mutex::default(),
            pipelines: Pipelines::default(),
            compiled: AtomicU32::new(0),
            #[cfg(feature = "tools")]
            saved: AtomicU32::new(0),
            #[cfg(feature = "tools")]
            pipeline_cache: None,
        }
    }

    /// Gathers each error outside of any error scope once, and the reason for a device loss. For devices that
    /// canopy has opened.
    #[cfg(feature = "tools")]
    pub(super) fn gather_errors(&self) {
        let errors = self.errors.clone();
        let reported = Mutex::new(std::collections::HashSet::new());
        let gather = move |message: String| {
            let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
            // A broken pass repeats its error every frame, so report it only once.
            if reported.len() < 256 && reported.insert(message.clone()) {
                let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
                errors.push(message);
            }
        };
        self.device
            .on_uncaptured_error(Arc::new(move |error| gather(one_line(&error.to_string()))));
        let lost = self.lost.clone();
        self.device.set_device_lost_callback(move |_, message| {
            // The first reason is the cause of all others.
            lost.set(one_line(&message)).ok();
        });
    }

    /// Compiles proven shaders without the index and loop checks that wgpu adds. canopy's libraries mark the
    /// kernels of trees and rays as proven. The checks would be in their innermost loops. Results do not
    /// change. The canopy program does this on GPUs, for scenes that it has loaded. Other shaders keep their
    /// checks, and so do all shaders on software adapters, which use the memory of the process. Call it
    /// before anything is compiled.
    ///
    /// # Safety
    ///
    /// From now on you may only build trees over valid geometry. Every index must refer to an existing
    /// vertex. If there is [`triangle_info`](crate::accel::Geometry), every triangle must name the mesh that
    /// contains it. This must stay true for every later build. You may not write to or replace the buffers of
    /// a [`Tree`](crate::accel::Tree) or a [`RayBatch`](crate::accel::trace::RayBatch).
    pub unsafe fn disable_bounds_checks(&mut self) {
        self.unchecked = true;
    }

    /// True if proven shaders are compiled without checks.
    pub fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// Returns the library of shaders that can be compiled.
    pub fn shaders(&self) -> &'static Library {
        self.shaders
    }

    /// Returns the module of the shader at `path`, which `parse` creates on first use.
    pub(super) fn module(
        &self,
        path: &str,
        parse: impl FnOnce() -> Result<Parsed>,
    ) -> Result<wgpu::ShaderModule> {
        let key = (path.to_owned(), self.capabilities.shader_choices());
        let modules = || self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parsed) = modules().get(&key) {
            return Ok(parsed.module.clone());
        }
        let begun = generation();
        let parsed = parse()?;
        let module = parsed.module.clone();
        if begun == generation() {
            modules().insert(key, parsed);
        }
        Ok(module)
    }

    /// Returns the parsed shaders with the hashes of their texts.
    pub(super) fn parsed(&self) -> Vec<(ModuleKey, u64)> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let hashes = modules.iter();
        hashes
            .map(|(key, parsed)| (key.clone(), parsed.text_hash))
            .collect()
    }

    /// Replaces shaders whose text has changed.
    pub(super) fn replace_modules(&self, changed: Vec<(ModuleKey, Parsed)>) {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.extend(changed);
    }

    /// Returns the render pipeline of `key`, which `make` compiles on first use.
    #[cfg(feature = "tools")]
    pub fn render_pipeline(
        &self,
        key: PipelineKey,
        make: impl FnOnce() -> Result<wgpu::RenderPipeline>,
    ) -> Result<wgpu::RenderPipeline> {
        self.pipelines.render(key, make)
    }

    /// Returns the pipeline cache, if there is one.
    pub fn pipeline_cache(&self) -> Option<&wgpu::PipelineCache> {
        #[cfg(feature = "tools")]
        return self.pipeline_cache.as_ref().map(|cache| &cache.inner);
        #[cfg(not(feature = "tools"))]
        None
    }

    /// Saves to disk what was compiled since the start or the last call, for the next run.
    #[cfg(feature = "tools")]
    pub fn save_pipelines(&self) {
        let compiled = self.compiled();
        if compiled != self.saved.swap(compiled, Ordering::Relaxed)
            && let Some(cache) = &self.pipeline_cache
        {
            cache.save();
        }
    }

    /// Returns the number of pipelines compiled so far.
    pub fn compiled(&self) -> u32 {
        self.compiled.load(Ordering::Relaxed)
    }

    pub(super) fn count_compiled(&self) {
        self.compiled.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports an error in the same way as errors from wgpu.
    pub(super) fn report(&self, error: &Error) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.push(error.to_string());
    }

    /// Returns the errors that wgpu reported outside of any error scope since the last call. A repeated error
    /// is returned only once. Always empty for a device that you opened.
    pub fn take_errors(&self) -> Vec<String> {
        std::mem::take(&mut *self.errors.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the reason for the loss of the device, once it is lost. Nothing created on the device can be
    /// used any more. For a device that you opened, use its device-lost callback instead.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// Returns the first uncaptured error since the last check as `Err`, and drops the others. Always returns
    /// `Err` after a device loss.
    pub fn check(&self) -> Result<()> {
        if let Some(why) = self.lost() {
            return Err(Error::Gpu(format!("the GPU device was lost: {why}")));
        }
        self.take_errors()
            .into_iter()
            .next()
            .map_or(Ok(()), |message| Err(Error::Gpu(message)))
    }

    /// Runs `work`, and fails with the first validation or out-of-memory error that it causes.
    pub fn catch<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = work();
        let validation = pollster::block_on(validation.pop());
        // After an out-of-memory error, validation errors are only its consequence.
        match pollster::block_on(memory.pop()).or(validation) {
            Some(error) => Err(Error::Gpu(one_line(&error.to_string()))),
            None => Ok(result),
        }
    }

    /// Waits until the queue is empty.
    pub fn wait(&self) -> Result<()> {
        let rest = wgpu::PollType::Wait {
            submission_index: None,
            timeout: Some(WAIT_TIMEOUT),
        };
        // wgpu panics if the device is lost during the wait (`handle_error_fatal`).
        let outcome = guarded(|| self.device.poll(rest));
        self.check()?;
        match outcome {
            Some(Ok(_)) => Ok(()),
            Some(Err(e)) => Err(Error::Gpu(format!(
                "the GPU did not finish within {} s: {e}",
                WAIT_TIMEOUT.as_secs()
            ))),
            None => Err(Error::Gpu("waiting for the GPU failed".into())),
        }
    }

    /// Waits until the queue is empty, but no longer than `wait`. [`Gpu::check`] reports any error.
    pub fn wait_for(&self, wait: Duration) {
        let rest = wgpu::PollType::Wait {
            submission_index: None,
            timeout: Some(wait),
        };
        guarded(|| self.device.poll(rest).ok());
    }

    /// Reads `buffer` back, which needs `COPY_SRC`. It waits for the GPU, so do not call it within a frame.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>> {
        self.read_bytes(buffer, buffer.size())
    }

    /// Reads back the first `count` values of `buffer`, which must hold at least that many.
    pub fn read_first<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer, count: usize) -> Result<Vec<T>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let bytes = (count * size_of::<T>()) as u64;
        let copied = bytes.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        let mut values = self.read_bytes(buffer, copied.min(buffer.size()))?;
        values.truncate(count);
        Ok(values)
    }

    fn read_bytes<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer, bytes: u64) -> Result<Vec<T>> {
        let staging = self.catch(|| {
            let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("readback"),
                size: bytes,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            let mut encoder = self.encoder("readback");
            encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, bytes);
            self.queue.submit([encoder.finish()]);
            staging
        })?;
        self.map(&staging)
    }

    /// Reads back the first mip level of `texture`, which needs `COPY_SRC`, and waits for it. Rows are
    /// tightly packed, layer after layer.
    pub fn read_texture(&self, texture: &wgpu::Texture) -> Result<Vec<u8>> {
        self.read_level(texture, 0)
    }

    /// Reads back another mip level, in the format of [`Gpu::read_texture`].
    pub fn read_level(&self, texture: &wgpu::Texture, level: u32) -> Result<Vec<u8>> {
        let texel_bytes = texture.format().block_copy_size(None).unwrap_or(4);
        let [width, height] = [texture.width(), texture.height()].map(|side| (side >> level).max(1));
        let layers = texture.depth_or_array_layers();
        let row_bytes = width * texel_bytes;
        let padded_row_bytes = row_bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: u64::from(padded_row_bytes) * u64::from(height * layers),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder("readback");
        encoder.copy_texture_to_buffer(
            wgpu::TexelCopyTextureInfo {
                mip_level: level,
                ..texture.as_image_copy()
            },
            wgpu::TexelCopyBufferInfo {
                buffer: &staging,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded_row_bytes),
                    rows_per_image: Some(height),
                },
            },
            wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: layers,
            },
        );
        self.queue.submit([encoder.finish()]);
        let padded: Vec<u8> = self.map(&staging)?;
        Ok(padded
            .chunks(padded_row_bytes as usize)
            .flat_map(|row| &row[..row_bytes as usize])
            .copied()
            .collect())
    }

    /// Waits for `staging` and copies its contents.
    fn map<T: bytemuck::Pod>(&self, staging: &wgpu::Buffer) -> Result<Vec<T>> {
        let slice = staging.slice(..);
        let (told, outcome) = mpsc::channel();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            told.send(result).ok();
        });
        self.wait()?;
        // Another polling thread may have taken over the callback, and may run it after this wait has ended.
        match outcome.recv_timeout(WAIT_TIMEOUT) {
            Ok(Ok(())) => slice
                .get_mapped_range()
                .map(|bytes| bytemuck::pod_collect_to_vec(&bytes))
                .map_err(|e| Error::Gpu(format!("reading back failed: {e}"))),
            Ok(Err(e)) => Err(Error::Gpu(format!("reading back failed: {e}"))),
            Err(_) => Err(Error::Gpu("reading back did not finish".into())),
        }
    }

    /// Creates a command encoder with a label.
    pub fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        self.device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
    }

    /// Creates a zeroed buffer with a label. It has at least 64 bytes, so that one element of any type can be
    /// bound.
    pub fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: bytes.next_multiple_of(16).max(64),
            usage,
            mapped_at_creation: false,
        })
    }

    /// Creates a buffer with contents. They are written through the queue, because `create_buffer_init`
    /// panics if memory is short.
    pub fn buffer_with<T: bytemuck::NoUninit>(
        &self,
        label: &str,
        contents: &[T],
        usage: wgpu::BufferUsages,
    ) -> wgpu::Buffer {
        let bytes: &[u8] = bytemuck::cast_slice(contents);
        let buffer = self.buffer(label, bytes.len() as u64, usage | wgpu::BufferUsages::COPY_DST);
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// Returns the maximum size of a storage binding in bytes.
    pub fn binding_limit(&self) -> u64 {
        let limits = &self.limits;
        (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size)
    }

    /// Fails if a storage binding of `bytes` exceeds the device's limit.
    pub fn check_binding(&self, what: &str, bytes: u64) -> Result<()> {
        let allowed = self.binding_limit();
        if bytes <= allowed {
            return Ok(());
        }
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        Err(Error::Limit {
            what: what.into(),
            needed: mib(bytes),
            allowed: mib(allowed),
            by: format!("storage buffer binding limit of {}", self.info.name),
        })
    }
}
