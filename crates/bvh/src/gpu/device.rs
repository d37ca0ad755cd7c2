//! A device with its queue, and what is kept beside them: capabilities, parsed shaders, reported errors.

use super::{
    capabilities::{Arrays, Capabilities},
    library::Library,
    pipelines::Pipelines,
    shader_folder::edition,
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

/// How long any wait on the GPU may take: a guard against a hang, not a budget.
const WAIT_TIMEOUT: Duration = Duration::from_secs(300);

/// Path of a shader, and how it reads arrays.
pub(super) type ModuleKey = (String, Arrays);

/// A parsed shader, and what tells whether its text has changed.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) module: wgpu::ShaderModule,
    pub(super) text_hash: u64,
}

/// A device with its queue, and what was learned about it once.
#[derive(Debug)]
pub struct Gpu {
    /// The adapter that canopy opened; `None` for a device that the caller made.
    pub adapter: Option<wgpu::Adapter>,
    /// Name, backend, driver and kind of the adapter.
    pub info: wgpu::AdapterInfo,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// The device's limits.
    pub limits: wgpu::Limits,
    /// What it can do, and what suits it.
    pub capabilities: Capabilities,
    shaders: &'static Library,
    unchecked: bool,
    /// Errors outside of any scope; they are gathered on devices that canopy opened.
    errors: Arc<Mutex<Vec<String>>>,
    /// Why the device is gone, once it is.
    lost: Arc<OnceLock<String>>,
    /// Shaders that have been parsed, by path and by how they read arrays.
    modules: Mutex<HashMap<ModuleKey, Parsed>>,
    pub(super) pipelines: Pipelines,
    compiled: AtomicU32,
    /// How much of that the pipeline cache's file has.
    #[cfg(feature = "tools")]
    saved: AtomicU32,
    #[cfg(feature = "tools")]
    pub(super) pipeline_cache: Option<PipelineCache>,
}

impl Gpu {
    /// Wraps a device that the caller has opened; `shaders` are those that can be compiled on it, for a tree
    /// alone [`accel::SHADERS`](crate::accel::SHADERS). Any device with compute shaders and WebGPU's default
    /// limits will do; `SUBGROUP` and higher limits are used where the device has them.
    ///
    /// The device's callbacks stay the caller's: canopy installs neither an uncaptured-error handler nor a
    /// device-lost callback. Making a tree, compiling and reading back return their errors; other faults
    /// reach the caller's handler. While canopy waits for the device it keeps a panic of wgpu's off the
    /// standard error: wgpu panics where a device is lost in the midst of that.
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

    /// Gathers errors that no scope catches, each once, and the reason for which the device is lost: for
    /// devices that canopy has opened.
    #[cfg(feature = "tools")]
    pub(super) fn gather_errors(&self) {
        let errors = self.errors.clone();
        let reported = Mutex::new(std::collections::HashSet::new());
        let gather = move |message: String| {
            let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
            // A broken pass repeats its error every frame: once is enough.
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

    /// Leaves out the checks of indices and loops that wgpu adds to shaders, in those that canopy's libraries name
    /// as proven: the kernels of trees and of rays, whose innermost loops hold them. Results are the same. The
    /// program does this on GPUs, for scenes that it has loaded; other shaders, and all on software
    /// adapters, whose memory is the process's own, keep their checks. Call it before anything is compiled.
    ///
    /// # Safety
    ///
    /// From now on trees may be made over valid geometry only: every index names a vertex of the positions, and
    /// where there is [`triangle_info`](crate::accel::Geometry), every triangle names the mesh that it lies in; so
    /// it has to stay for every later build. Buffers of a [`Tree`](crate::accel::Tree) or a
    /// [`RayBatch`](crate::accel::trace::RayBatch) may not be written to or replaced.
    pub unsafe fn set_unchecked(&mut self) {
        self.unchecked = true;
    }

    /// Whether proven shaders go without checks.
    pub fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// The shaders that can be compiled.
    pub fn shaders(&self) -> &'static Library {
        self.shaders
    }

    /// The module of the shader at `path`, from `parse` the first time.
    pub(super) fn module(
        &self,
        path: &str,
        parse: impl FnOnce() -> Result<Parsed>,
    ) -> Result<wgpu::ShaderModule> {
        let key = (path.to_owned(), self.capabilities.arrays);
        let modules = || self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parsed) = modules().get(&key) {
            return Ok(parsed.module.clone());
        }
        let begun = edition();
        let parsed = parse()?;
        let module = parsed.module.clone();
        if begun == edition() {
            modules().insert(key, parsed);
        }
        Ok(module)
    }

    /// The shaders that have been parsed, with the hashes of their texts.
    pub(super) fn parsed(&self) -> Vec<(ModuleKey, u64)> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let hashes = modules.iter();
        hashes
            .map(|(key, parsed)| (key.clone(), parsed.text_hash))
            .collect()
    }

    /// Replaces shaders that have changed.
    pub(super) fn replace_modules(&self, changed: Vec<(ModuleKey, Parsed)>) {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.extend(changed);
    }

    /// The render pipeline of `key`, which `make` compiles the first time.
    #[cfg(feature = "tools")]
    pub fn render_pipeline(
        &self,
        key: PipelineKey,
        make: impl FnOnce() -> Result<wgpu::RenderPipeline>,
    ) -> Result<wgpu::RenderPipeline> {
        self.pipelines.render(key, make)
    }

    /// What pipelines are compiled with.
    pub fn pipeline_cache(&self) -> Option<&wgpu::PipelineCache> {
        #[cfg(feature = "tools")]
        return self.pipeline_cache.as_ref().map(|cache| &cache.inner);
        #[cfg(not(feature = "tools"))]
        None
    }

    /// Keeps on disk what has been compiled since the start, or since the last call, so that the next run
    /// finds it.
    #[cfg(feature = "tools")]
    pub fn save_pipelines(&self) {
        let compiled = self.compiled();
        if compiled != self.saved.swap(compiled, Ordering::Relaxed)
            && let Some(cache) = &self.pipeline_cache
        {
            cache.save();
        }
    }

    /// How much has been compiled on demand.
    pub fn compiled(&self) -> u32 {
        self.compiled.load(Ordering::Relaxed)
    }

    pub(super) fn count_compiled(&self) {
        self.compiled.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports an error as wgpu's are.
    pub(super) fn report(&self, error: &Error) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.push(error.to_string());
    }

    /// Errors that wgpu reported outside of any scope since the last call, each only the first time. None on
    /// a device that the caller made.
    pub fn take_errors(&self) -> Vec<String> {
        std::mem::take(&mut *self.errors.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why the device is gone, once it is: nothing that was made with it can be used any more. A device that
    /// the caller made tells its owner instead.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// Fails with the first error that wgpu has reported since the last check, and always once the device is
    /// lost.
    pub fn check(&self) -> Result<()> {
        if let Some(why) = self.lost() {
            return Err(Error::Gpu(format!("the GPU device was lost: {why}")));
        }
        self.take_errors()
            .into_iter()
            .next()
            .map_or(Ok(()), |message| Err(Error::Gpu(message)))
    }

    /// Runs `work` and fails with the first validation or memory error that it causes.
    pub fn catch<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = work();
        let validation = pollster::block_on(validation.pop());
        // Where memory was short, what failed to validate afterwards is its consequence.
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
        // wgpu panics where the device is lost in the midst of this (`handle_error_fatal`).
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

    /// Waits until the queue is empty, but no longer than `wait`. Whatever goes wrong is told by [`Gpu::check`].
    pub fn wait_for(&self, wait: Duration) {
        let rest = wgpu::PollType::Wait {
            submission_index: None,
            timeout: Some(wait),
        };
        guarded(|| self.device.poll(rest).ok());
    }

    /// Reads `buffer` back. It needs `COPY_SRC`; this waits, so it has no place in a frame.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>> {
        self.read_bytes(buffer, buffer.size())
    }

    /// As [`Gpu::read`], the first `count` values of a buffer that holds as many.
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

    /// Reads the first level of `texture` back, rows packed and layer after layer. It needs `COPY_SRC`; this
    /// waits.
    pub fn read_texture(&self, texture: &wgpu::Texture) -> Result<Vec<u8>> {
        self.read_level(texture, 0)
    }

    /// As [`Gpu::read_texture`], another level.
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

    /// Waits for `staging` and copies what it holds.
    fn map<T: bytemuck::Pod>(&self, staging: &wgpu::Buffer) -> Result<Vec<T>> {
        let slice = staging.slice(..);
        let (told, outcome) = mpsc::channel();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            told.send(result).ok();
        });
        self.wait()?;
        // Another thread that polls may have taken the callback over, and runs it later than this wait ends.
        match outcome.recv_timeout(WAIT_TIMEOUT) {
            Ok(Ok(())) => slice
                .get_mapped_range()
                .map(|bytes| bytemuck::pod_collect_to_vec(&bytes))
                .map_err(|e| Error::Gpu(format!("reading back failed: {e}"))),
            Ok(Err(e)) => Err(Error::Gpu(format!("reading back failed: {e}"))),
            Err(_) => Err(Error::Gpu("reading back did not finish".into())),
        }
    }

    /// A command encoder with a label.
    pub fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        self.device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
    }

    /// A buffer of zeros with a label; at least 64 bytes, so that one element of everything can be bound.
    pub fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: bytes.next_multiple_of(16).max(64),
            usage,
            mapped_at_creation: false,
        })
    }

    /// A buffer with contents. Written through the queue: `create_buffer_init` panics where memory is short.
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

    /// The largest storage binding in bytes.
    pub fn binding_limit(&self) -> u64 {
        let limits = &self.limits;
        (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size)
    }

    /// Fails when a storage binding of `bytes` exceeds the limit of the device.
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
