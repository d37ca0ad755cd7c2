//! Detects the format of volume files, and reads them into a [`Volume`].

use super::{Grid, Volume, nanovdb, nifti, nrrd, openvdb, reading::Reading};
use crate::{Result, load::Load};
use std::path::Path;

/// Format of a volume file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VolumeFormat {
    Nrrd,
    Nifti,
    NanoVdb,
    OpenVdb,
}

impl VolumeFormat {
    /// Detects the format by content.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(nrrd::MAGIC) {
            return Some(Self::Nrrd);
        }
        if bytes.starts_with(openvdb::MAGIC) {
            return Some(Self::OpenVdb);
        }
        if nanovdb::is_nanovdb(bytes) {
            return Some(Self::NanoVdb);
        }
        nifti::is_nifti(bytes).then_some(Self::Nifti)
    }

    /// Returns the format of a lower-case extension.
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "nrrd" | "nhdr" => Self::Nrrd,
            "nii" => Self::Nifti,
            "nvdb" => Self::NanoVdb,
            "vdb" => Self::OpenVdb,
            _ => return None,
        })
    }

    /// Returns the display name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nrrd => "NRRD",
            Self::Nifti => "NIfTI",
            Self::NanoVdb => "NanoVDB",
            Self::OpenVdb => "OpenVDB",
        }
    }
}

/// A volume with the metadata and warnings of its file.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) volume: Volume,
    /// Warnings without the name of the file.
    pub(crate) warnings: Vec<String>,
    pub(crate) generator: Option<String>,
}

/// Reads the volume of the file `path` with the contents `bytes`.
pub(crate) fn load(path: &Path, bytes: &[u8], format: VolumeFormat, load: &mut Load<'_>) -> Result<Loaded> {
    load.enter(format!("reading the volume {}", path.display()), 0.1)?;
    let mut reading = Reading::new(path, load);
    let one = |grid: Grid| vec![grid];
    let grids = match format {
        VolumeFormat::Nrrd => nrrd::read(bytes, &mut reading).map(one),
        VolumeFormat::Nifti => nifti::read(bytes, &mut reading).map(one),
        VolumeFormat::NanoVdb => nanovdb::read(bytes, &mut reading),
        VolumeFormat::OpenVdb => openvdb::read(bytes, &mut reading),
    }?;
    if grids.is_empty() {
        let why = match reading.warnings.first() {
            Some(first) => format!("; {first}"),
            None => String::new(),
        };
        return Err(reading.error(format!("holds no grid that canopy reads{why}")));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let volume = Volume {
        name: stem.trim_end_matches(".nii").into(),
        grids,
    };
    Ok(Loaded {
        volume,
        warnings: reading.warnings,
        generator: reading.generator,
    })
}
