//! Arguments of `canopy shaders`.

use crate::gpu::Arrays;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `canopy shaders`.
#[derive(Debug, Args)]
pub struct ShadersArgs {
    /// Parts of file or entry point names; default: all
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Write composed WGSL, and entry points as SPIR-V
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub dump: Option<PathBuf>,
    /// Validate these files in place of the built-in ones
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dump", "json", "shaders"])]
    pub check: Option<PathBuf>,
    /// Storage of large arrays in the composed shaders
    #[arg(long, value_name = "KIND", default_value = "buffers")]
    pub arrays: ArraysArg,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Options of `--isa`.
    #[command(flatten)]
    pub isa: IsaArgs,
}

/// Names of [`Arrays`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ArraysArg {
    /// Storage buffers, used on GPUs
    Buffers,
    /// Storage textures, used on software adapters
    Textures,
}

impl From<ArraysArg> for Arrays {
    fn from(arg: ArraysArg) -> Self {
        match arg {
            ArraysArg::Buffers => Self::Buffers,
            ArraysArg::Textures => Self::Textures,
        }
    }
}

/// Options of `canopy shaders --isa`.
#[derive(Debug, Args)]
pub struct IsaArgs {
    /// Compile for a GPU, and count instructions and registers (Linux)
    #[arg(long, conflicts_with_all = ["dump", "check"])]
    pub isa: bool,
    /// With --isa: rdna2, rdna3, gfx1201, m1, adreno750, ampere …
    #[arg(long, value_name = "NAME", default_value = "rdna3", requires = "isa")]
    pub gpu: String,
    /// With --isa: compute subgroup size; default: 32 if supported
    #[arg(long, value_name = "N", requires = "isa", value_parser = subgroup)]
    pub subgroup: Option<u32>,
    /// With --isa: value of an override constant
    #[arg(long, value_name = "NAME=VALUE", requires = "isa", value_parser = constant)]
    pub constant: Vec<(String, f64)>,
}

fn subgroup(text: &str) -> Result<u32, String> {
    let size = text
        .parse()
        .ok()
        .filter(|size: &u32| size.is_power_of_two() && *size <= 128);
    size.ok_or_else(|| "it is a power of two up to 128".into())
}

fn constant(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("it is NAME=VALUE")?;
    let value = match value {
        "true" => 1.0,
        "false" => 0.0,
        _ => value.parse().map_err(|e| format!("{value}: {e}"))?,
    };
    Ok((name.into(), value))
}
