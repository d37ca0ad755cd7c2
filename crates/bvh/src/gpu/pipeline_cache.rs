//! Compiled pipelines, cached on disk between runs (`VkPipelineCache`). Mesa's software driver has nothing to
//! store there. Like drivers of other backends, it caches compiled shaders on disk by itself.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Maximum size of a cache file. Anything larger is not a cache of canopy's.
const MAX_BYTES: u64 = 256 << 20;
/// Size up to which a cache contains only the headers of wgpu and Vulkan.
const EMPTY_BYTES: usize = 128;

/// Pipeline cache and its file.
#[derive(Debug)]
pub(super) struct PipelineCache {
    pub(super) inner: wgpu::PipelineCache,
    path: PathBuf,
}

impl PipelineCache {
    /// Opens the adapter's cache in `folder`. `None` if the device has no pipeline caches.
    pub(super) fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo, folder: &Path) -> Option<Self> {
        let name = wgpu::util::pipeline_cache_key(info)?;
        Self::of_file(device, &folder.join(name))
    }

    /// Opens the cache in the file at `path`. The cache is empty if there is no such file or it belongs to
    /// another driver.
    fn of_file(device: &wgpu::Device, path: &Path) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let is_small = fs::metadata(path).is_ok_and(|file| file.len() <= MAX_BYTES);
        let data = is_small.then(|| fs::read(path).ok()).flatten();
        // SAFETY: the data is the result of `get_data` for a device of this name, in a folder that belongs to
        // this user. wgpu compares its header with the adapter, the driver's version and the length, and
        // starts with an empty cache if they differ.
        let inner = unsafe {
            device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                label: Some("canopy"),
                data: data.as_deref(),
                fallback: true,
            })
        };
        Some(Self {
            inner,
            path: path.to_owned(),
        })
    }

    /// Writes the cache to its file. A failure only costs time in the next run.
    pub(super) fn save(&self) {
        let Some(data) = self.inner.get_data() else {
            return;
        };
        if data.len() <= EMPTY_BYTES || data.len() as u64 > MAX_BYTES {
            return;
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let written = fs::create_dir_all(folder).and_then(|()| {
            // Write to a temporary file first, because another canopy process may be reading or writing this
            // one.
            let aside = self.path.with_extension(std::process::id().to_string());
            let written = fs::File::create(&aside)
                .and_then(|mut file| file.write_all(&data))
                .and_then(|()| fs::rename(&aside, &self.path));
            if written.is_err() {
                fs::remove_file(&aside).ok();
            }
            written
        });
        if let Err(error) = written {
            log::debug!("{}: {error}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        accel,
        gpu::{Gpu, Options, pass},
    };

    #[test]
    fn pipelines_compile_and_are_cached_with_any_cache_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some folder").join("cache");
        let mut gpu = Gpu::new(Options::new(&accel::SHADERS)).unwrap();
        if !gpu.device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return;
        }
        for contents in [None, Some(vec![]), Some(vec![7; 4096]), Some(vec![0; 40])] {
            if let Some(contents) = &contents {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, contents).unwrap();
            }
            // The second time, there may be a cache that the first has saved.
            for _ in 0..2 {
                gpu.pipeline_cache = PipelineCache::of_file(&gpu.device, &path);
                assert!(gpu.pipeline_cache().is_some());
                pass::compute_pipeline(&gpu, "bvh/build/scan.wgsl", "scan_sums").unwrap();
                gpu.count_compiled();
                gpu.save_pipelines();
                let saved = gpu.pipeline_cache().unwrap().get_data().unwrap();
                let is_saved = saved.len() > EMPTY_BYTES;
                assert_eq!(
                    fs::read(&path).ok(),
                    if is_saved { Some(saved) } else { contents.clone() }
                );
            }
            gpu.check().unwrap();
            let others = fs::read_dir(folder.path().join("some folder"));
            assert!(others.is_ok_and(|files| files.count() == 1) || contents.is_none());
        }
    }
}
