//! A thin layer over wgpu: the device, shaders, layouts, labelled pipelines, timings. Knows no pass.

pub mod adapter;
pub mod array;
pub mod bind;
pub mod image;
pub mod kernel;
pub mod layout;
pub mod on_demand;
pub mod pass;
mod pipeline_cache;
pub mod profiler;
pub mod readback;
pub mod shader;
pub mod uniform;
pub mod uniform_array;

pub use adapter::{AdapterReport, Display, adapters, instance};
pub use array::{Array, Arrays};
pub use bind::{Bind, bind_group};
pub use image::GpuImage;
pub use kernel::{Cover, Kernel, Workgroups};
pub use on_demand::{Needs, OnDemand};
pub use uniform::Uniform;
pub use uniform_array::UniformArray;

use crate::{Error, Result, config, error::guarded};
use pipeline_cache::PipelineCache;
use std::collections::{HashMap, HashSet};
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicU32, Ordering},
};
use std::time::Duration;

/// How long any wait on the GPU may take: a guard against a hang, not a budget.
const WAIT_TIMEOUT: Duration = Duration::from_secs(300);

/// Workgroup memory that building with a thread per run takes: the stacks of accel/grow.wgsl.
const SERIAL_WORKGROUP_BYTES: u32 = 2 * 97 * 8 * 16;

/// A device with its queue, and what was learned about it once.
#[derive(Debug)]
pub struct Gpu {
    /// The adapter the device came from.
    pub adapter: wgpu::Adapter,
    /// Name, backend, driver and kind of the adapter.
    pub info: wgpu::AdapterInfo,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// What the device was opened with.
    pub limits: wgpu::Limits,
    /// How large arrays are held: chosen once, by the kind of adapter. It also says which of two builders grows the trees: many threads that
    /// share a workgroup's memory, or on software adapters, where each of its barriers is dear, one thread for a run of elements.
    pub arrays: Arrays,
    /// Threads of a subgroup, where subgroup operations may be used and all subgroups are of one size.
    pub subgroup_size: Option<u32>,
    errors: Arc<Mutex<Vec<String>>>,
    /// Why the device is gone, once it is.
    lost: Arc<OnceLock<String>>,
    /// Shaders that have been parsed, by path and by how they read arrays.
    modules: Mutex<HashMap<(String, Arrays), wgpu::ShaderModule>>,
    compiled: AtomicU32,
    /// How much of that the pipeline cache's file has.
    saved: AtomicU32,
    pipeline_cache: Option<PipelineCache>,
}

/// What to ask of the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// All limits the adapter has, and the features canopy knows to use.
    Adapter,
    /// Exactly what WebGPU promises everywhere: the road that has to work.
    Portable,
}

impl Gpu {
    /// Opens the adapter that `options` names (or the environment variables of wgpu, or the fastest) without a window.
    pub fn new(options: &config::Gpu) -> Result<Self> {
        let instance = instance(options, None)?;
        let gpu = Self::open(&adapter::choose(&instance, options, None)?, Tier::Adapter)?;
        Ok(gpu.with_options(options))
    }

    /// Opens an adapter that can draw to `surface`.
    pub fn for_surface(
        instance: &wgpu::Instance,
        options: &config::Gpu,
        surface: &wgpu::Surface<'_>,
    ) -> Result<Self> {
        let adapter = adapter::choose(instance, options, Some(surface))?;
        Ok(Self::open(&adapter, Tier::Adapter)?.with_options(options))
    }

    /// As the configuration wants arrays to be read and pipelines to be kept.
    fn with_options(mut self, options: &config::Gpu) -> Self {
        self.arrays = match options.arrays {
            config::ArrayMode::Auto => self.arrays,
            config::ArrayMode::Buffers => Arrays::Buffers,
            config::ArrayMode::Textures => Arrays::Textures,
        };
        if options.pipeline_cache && !self.is_software() {
            self.pipeline_cache = PipelineCache::open(&self.device, &self.info);
        }
        self
    }

    /// Opens `adapter`.
    pub fn open(adapter: &wgpu::Adapter, tier: Tier) -> Result<Self> {
        // Timestamps between passes tell the time of copies too.
        let wanted = wgpu::Features::TIMESTAMP_QUERY
            | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | wgpu::Features::PIPELINE_CACHE
            | wgpu::Features::SUBGROUP
            | wgpu::Features::TEXTURE_COMPRESSION_BC
            | wgpu::Features::TEXTURE_FORMAT_16BIT_NORM;
        let (required_features, required_limits) = match tier {
            Tier::Adapter => (adapter.features() & wanted, adapter.limits()),
            Tier::Portable => (wgpu::Features::empty(), wgpu::Limits::default()),
        };
        let info = adapter.get_info();
        let one_size = info.subgroup_min_size == info.subgroup_max_size;
        let has_subgroups = required_features.contains(wgpu::Features::SUBGROUP) && one_size;
        let subgroup_size = has_subgroups.then_some(info.subgroup_min_size);
        let workgroup_bytes = adapter.limits().max_compute_workgroup_storage_size;
        let has_room = workgroup_bytes >= SERIAL_WORKGROUP_BYTES;
        let arrays = match info.device_type {
            wgpu::DeviceType::Cpu if tier == Tier::Adapter && has_room => Arrays::Textures,
            _ => Arrays::Buffers,
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("canopy"),
            required_features,
            required_limits,
            ..Default::default()
        }))
        .map_err(|e| Error::Gpu(format!("the adapter {} gives no device: {e}", info.name)))?;

        let errors = Arc::new(Mutex::new(Vec::new()));
        let log = {
            let errors = errors.clone();
            let reported = Arc::new(Mutex::new(HashSet::new()));
            move |message: String| {
                let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
                // A broken pass repeats its error every frame: once is enough.
                if reported.len() < 256 && reported.insert(message.clone()) {
                    let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
                    errors.push(message);
                }
            }
        };
        device.on_uncaptured_error(Arc::new(move |error| log(one_line(&error.to_string()))));
        let lost = Arc::new(OnceLock::new());
        let tell = lost.clone();
        device.set_device_lost_callback(move |_, message| {
            // The first reason is the cause of all others.
            tell.set(one_line(&message)).ok();
        });
        let limits = device.limits();
        Ok(Self {
            adapter: adapter.clone(),
            info,
            device,
            queue,
            limits,
            arrays,
            subgroup_size,
            errors,
            lost,
            modules: Mutex::default(),
            compiled: AtomicU32::new(0),
            saved: AtomicU32::new(0),
            pipeline_cache: None,
        })
    }

    /// Whether the adapter is a processor in disguise.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// How much has been compiled on demand.
    pub fn compiled(&self) -> u32 {
        self.compiled.load(Ordering::Relaxed)
    }

    fn count_compiled(&self) {
        self.compiled.fetch_add(1, Ordering::Relaxed);
    }

    /// Errors that wgpu reported outside of any scope since the last call, each only the first time.
    pub fn take_errors(&self) -> Vec<String> {
        std::mem::take(&mut *self.errors.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why the device is gone, once it is: nothing that was made with it can be used any more.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// Fails with the first error that wgpu has reported since the last check, and always once the device is lost.
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

    /// Reads `buffer` back. It needs `COPY_SRC`; this waits, so it has no place in a frame.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder("readback");
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        self.map(&staging)
    }

    /// Reads the first level of `texture` back, rows packed and layer after layer. It needs `COPY_SRC`; this waits.
    pub fn read_texture(&self, texture: &wgpu::Texture) -> Result<Vec<u8>> {
        self.read_level(texture, 0)
    }

    /// As [`Gpu::read_texture`], another level.
    pub fn read_level(&self, texture: &wgpu::Texture, level: u32) -> Result<Vec<u8>> {
        let texel_bytes = texture.format().block_copy_size(None).unwrap_or(4);
        let [width, height] =
            [texture.width(), texture.height()].map(|side| (side >> level).max(1));
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
        let padded = self.map(&staging)?;
        Ok(padded
            .chunks(padded_row_bytes as usize)
            .flat_map(|row| &row[..row_bytes as usize])
            .copied()
            .collect())
    }

    /// Waits for `staging` and copies what it holds.
    fn map(&self, staging: &wgpu::Buffer) -> Result<Vec<u8>> {
        let slice = staging.slice(..);
        let outcome = Arc::new(Mutex::new(None));
        let seen = outcome.clone();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        self.wait()?;
        match outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            Some(Ok(())) => slice
                .get_mapped_range()
                .map(|bytes| bytes.to_vec())
                .map_err(|e| Error::Gpu(format!("reading back failed: {e}"))),
            Some(Err(e)) => Err(Error::Gpu(format!("reading back failed: {e}"))),
            None => Err(Error::Gpu("reading back did not finish".into())),
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
        let buffer = self.buffer(
            label,
            bytes.len() as u64,
            usage | wgpu::BufferUsages::COPY_DST,
        );
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// The largest storage binding in bytes.
    pub fn binding_limit(&self) -> u64 {
        let limits = &self.limits;
        (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size)
    }

    /// Fails when a storage binding of `bytes` is more than the device takes.
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

/// Folds a message of several lines into one.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
