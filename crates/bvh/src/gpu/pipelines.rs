//! What a device has compiled, each once: renderers on one device, such as the two sides of a comparison, share it.

use super::{capabilities::Arrays, shader_folder::edition};
use crate::Result;
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

/// Layouts and pipelines.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    /// By what they bind: layouts that are alike are one, so that pipelines over them are.
    layouts: Mutex<HashMap<Vec<wgpu::BindGroupLayoutEntry>, wgpu::BindGroupLayout>>,
    compute: Mutex<HashMap<PipelineKey, wgpu::ComputePipeline>>,
    render: Mutex<HashMap<PipelineKey, wgpu::RenderPipeline>>,
}

/// What a pipeline is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PipelineKey {
    arrays: Arrays,
    groups: Vec<Option<wgpu::BindGroupLayout>>,
    /// The shader, its entry points and all else, in words.
    text: String,
}

impl PipelineKey {
    /// Over the bind groups `groups`, of shaders that read arrays so; `text` tells all else of it.
    pub fn new(arrays: Arrays, groups: &[Option<wgpu::BindGroupLayout>], text: String) -> Self {
        Self {
            arrays,
            groups: groups.to_vec(),
            text,
        }
    }
}

impl Pipelines {
    /// The layout of `entries`, which `make` makes the first time.
    pub(super) fn layout(
        &self,
        entries: &[wgpu::BindGroupLayoutEntry],
        make: impl FnOnce() -> wgpu::BindGroupLayout,
    ) -> wgpu::BindGroupLayout {
        let key = entries.to_vec();
        let mut layouts = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        layouts.entry(key).or_insert_with(make).clone()
    }

    /// Forgets the pipelines of the shaders at `paths`.
    pub(super) fn forget(&self, paths: &[String]) {
        let stays = |key: &PipelineKey| !paths.iter().any(|path| key.text.contains(path.as_str()));
        let mut compute = self.compute.lock().unwrap_or_else(PoisonError::into_inner);
        compute.retain(|key, _| stays(key));
        let mut render = self.render.lock().unwrap_or_else(PoisonError::into_inner);
        render.retain(|key, _| stays(key));
    }

    /// The compute pipeline of `key`, which `make` compiles the first time.
    pub(super) fn compute(
        &self,
        key: PipelineKey,
        make: impl FnOnce() -> Result<wgpu::ComputePipeline>,
    ) -> Result<wgpu::ComputePipeline> {
        once(&self.compute, key, make)
    }

    /// The same of a render pipeline.
    pub(super) fn render(
        &self,
        key: PipelineKey,
        make: impl FnOnce() -> Result<wgpu::RenderPipeline>,
    ) -> Result<wgpu::RenderPipeline> {
        once(&self.render, key, make)
    }
}

/// Threads compile at the same time: where two need the same, both may compile it.
fn once<K: Eq + Hash, T: Clone>(
    made: &Mutex<HashMap<K, T>>,
    key: K,
    make: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let lock = || made.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = lock().get(&key) {
        return Ok(found.clone());
    }
    let begun = edition();
    let found = make()?;
    if begun != edition() {
        // Shaders have changed meanwhile: whoever made it makes it again.
        return Ok(found);
    }
    Ok(lock().entry(key).or_insert(found).clone())
}
