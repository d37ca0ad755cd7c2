//! `canopy adapters`: lists the graphics adapters that wgpu finds.

use super::console::{json_text, print};
use crate::{
    Result,
    config::Config,
    gpu::{self, AdapterReport},
};
use clap::Args;
use serde_json::json;
use std::fmt::Write;

/// Arguments of `canopy adapters`.
#[derive(Debug, Args)]
pub struct AdaptersArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Lists the adapters.
///
/// # Errors
///
/// [`crate::Error::NotFound`] for an unknown backend.
pub fn run(args: &AdaptersArgs, config: &Config) -> Result<()> {
    let adapters = gpu::adapters(&gpu::instance(crate::device::options(&config.gpu), None)?);
    if args.json {
        let list: Vec<_> = adapters.iter().map(report_json).collect();
        return print(&json_text(&json!(list)));
    }
    if adapters.is_empty() {
        return print("no adapters: install your graphics card's Vulkan driver, or Mesa's software one\n");
    }
    print(&adapters.iter().map(report_text).collect::<String>())
}

fn report_json(adapter: &AdapterReport) -> serde_json::Value {
    let mut json = adapter_json(&adapter.info);
    json["usable"] = adapter.lacks.is_none().into();
    json["lacks"] = adapter.lacks.clone().into();
    json["timings"] = has_timings(adapter).into();
    json["max_storage_binding_bytes"] = adapter.limits.max_storage_buffer_binding_size.into();
    json
}

fn report_text(adapter: &AdapterReport) -> String {
    let info = &adapter.info;
    let mut text = format!("{}\n", info.name);
    let mut row = |name: &str, value: &str| writeln!(text, "  {name:<9}{value}").ok();
    row("kind", kind(info));
    row("backend", info.backend.to_str());
    row("driver", &driver(info));
    row(
        "buffers",
        &format!(
            "up to {} MiB bound at once",
            adapter.limits.max_storage_buffer_binding_size >> 20
        ),
    );
    row(
        "timings",
        if has_timings(adapter) {
            "GPU timestamps"
        } else {
            "none (the adapter has no timestamps)"
        },
    );
    match &adapter.lacks {
        None => row("usable", "yes"),
        Some(lacks) => row("usable", &format!("no: lacks {lacks}")),
    };
    text
}

fn has_timings(adapter: &AdapterReport) -> bool {
    adapter.features.contains(wgpu::Features::TIMESTAMP_QUERY)
}

/// Describes an adapter in JSON.
pub(super) fn adapter_json(info: &wgpu::AdapterInfo) -> serde_json::Value {
    json!({
        "name": info.name,
        "backend": info.backend.to_str(),
        "driver": driver(info),
        "type": kind(info),
    })
}

/// Returns the kind of an adapter as text.
pub(super) fn kind(info: &wgpu::AdapterInfo) -> &'static str {
    match info.device_type {
        wgpu::DeviceType::DiscreteGpu => "discrete GPU",
        wgpu::DeviceType::IntegratedGpu => "integrated GPU",
        wgpu::DeviceType::VirtualGpu => "virtual GPU",
        wgpu::DeviceType::Cpu => "software renderer",
        wgpu::DeviceType::Other => "other",
    }
}

/// Returns the name and version of an adapter's driver, or "unknown".
pub(super) fn driver(info: &wgpu::AdapterInfo) -> String {
    let text = format!("{} {}", info.driver, info.driver_info);
    match text.trim() {
        "" => "unknown".into(),
        text => text.into(),
    }
}
