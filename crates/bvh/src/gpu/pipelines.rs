//! Pipelines compiled on a device, each only once. Renderers on one device share them, for example both sides
//! of a comparison.

use super::{capabilities::ShaderChoices, shader_folder::generation};
use crate::Result;
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

/// Bind group layouts and pipelines of a device.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    /// Layouts by their entries. Equal layouts are shared, so that pipelines over them can be shared too.
    layouts: Mutex<HashMap<Vec<wgpu::BindGroupLayoutEntry>, wgpu::BindGroupLayout>>,
    compute: Mutex<HashMap<PipelineKey, wgpu::ComputePipeline>>,
    render: Mutex<HashMap<PipelineKey, wgpu::RenderPipeline>>,
}

/// Identity of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PipelineKey {
    choices: ShaderChoices,
    groups: Vec<Option<wgpu::BindGroupLayout>>,
    /// Description of the shader, its entry points and everything else that distinguishes the pipeline.
    text: String,
}

impl PipelineKey {
    /// Creates the key of a pipeline over the bind groups `groups`, whose shaders were composed
    /// with `choices`. `text` describes everything else that distinguishes it.
    pub fn new(choices: ShaderChoices, groups: &[Option<wgpu::BindGroupLayout>], text: String) -> Self {
        Self {
            choices,
            groups: groups.to_vec(),
            text,
        }
    }
}

impl Pipelines {
    /// Returns the layout of `entries`, which `make` creates on first use.
    pub(super) fn layout(
        &self,
        entries: &[wgpu::BindGroupLayoutEntry],
        make: impl FnOnce() -> wgpu::BindGroupLayout,
    ) -> wgpu::BindGroupLayout {
        let key = entries.to_vec();
        let mut layouts = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        layouts.entry(key).or_insert_with(make).clone()
    }

    /// Drops the pipelines of the shaders at `paths`.
    pub(super) fn invalidate(&self, paths: &[String]) {
        let stays = |key: &PipelineKey| !paths.iter().any(|path| key.text.contains(path.as_str()));
        let mut compute = self.compute.lock().unwrap_or_else(PoisonError::into_inner);
        compute.retain(|key, _| stays(key));
        let mut render = self.render.lock().unwrap_or_else(PoisonError::into_inner);
        render.retain(|key, _| stays(key));
    }

    /// Returns the compute pipeline of `key`, which `make` compiles on first use.
    pub(super) fn compute(
        &self,
        key: PipelineKey,
        make: impl FnOnce() -> Result<wgpu::ComputePipeline>,
    ) -> Result<wgpu::ComputePipeline> {
        once(&self.compute, key, make)
    }

    /// Returns the render pipeline of `key`, which `make` compiles on first use.
    pub(super) fn render(
        &self,
        key: PipelineKey,
        make: impl FnOnce() -> Result<wgpu::RenderPipeline>,
    ) -> Result<wgpu::RenderPipeline> {
        once(&self.render, key, make)
    }
}

/// Returns the value of `key`, which `make` creates on first use. If two threads need it at the same time,
/// both may create it.
fn once<K: Eq + Hash, T: Clone>(
    made: &Mutex<HashMap<K, T>>,
    key: K,
    make: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let lock = || made.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = lock().get(&key) {
        return Ok(found.clone());
    }
    let begun = generation();
    let found = make()?;
    if begun != generation() {
        // Shaders have changed meanwhile, so do not share the outdated pipeline. Its user compiles it again.
        return Ok(found);
    }
    Ok(lock().entry(key).or_insert(found).clone())
}
