//! Mesa's drivers, as compilers for GPUs that are not installed.
//!
//! RADV opens a device without hardware if `RADV_FORCE_FAMILY` names one. The other drivers, and RADV of Mesa
//! 26, need mesa-drm-shim, which emulates the kernel driver.

use crate::Error;
use std::{
    env::{self, consts::ARCH},
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// Family of GPUs that one driver compiles for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Amd,
    Apple,
    Adreno,
    Nvidia,
}

/// A GPU to compile for.
#[derive(Debug)]
pub(super) struct Target {
    name: String,
    family: Family,
    /// Names of the chip, which differ between versions of Mesa.
    chips: Vec<String>,
}

/// Two names for each AMD chip whose name differs between versions of Mesa.
const AMD_CHIPS: &[[&str; 2]] = &[
    ["navi10", "gfx1010"],
    ["navi21", "gfx1030"],
    ["navi22", "gfx1031"],
    ["navi23", "gfx1032"],
    ["navi24", "gfx1034"],
    ["navi31", "gfx1100"],
    ["navi32", "gfx1101"],
    ["navi33", "gfx1102"],
];

/// A driver's files, with the name of the chip that it knows.
#[derive(Debug)]
pub(super) struct Driver {
    family: Family,
    /// Manifest for the Vulkan loader.
    manifest: PathBuf,
    /// Folder of its libraries.
    libraries: PathBuf,
    chip: String,
}

impl Target {
    /// Parses a name: `m1`, `adreno750`, `turing`, `ampere`, or otherwise the name of an AMD chip.
    pub(super) fn new(name: &str) -> Self {
        let name = &*name.to_lowercase();
        let (family, chips) = match name {
            "m1" => (Family::Apple, vec![name]),
            "turing" => (Family::Nvidia, vec!["162"]),
            "ampere" => (Family::Nvidia, vec!["177"]),
            _ => match name.strip_prefix("adreno") {
                Some(number) => (Family::Adreno, vec![number]),
                None => (Family::Amd, amd_chips(name)),
            },
        };
        Self {
            name: name.into(),
            family,
            chips: chips.into_iter().map(String::from).collect(),
        }
    }

    /// Returns candidate drivers, best first. Drivers in the folder of the driver that environment variables
    /// select precede the system's drivers.
    pub(super) fn drivers(&self) -> Vec<Driver> {
        let chosen = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(env::var_os);
        let files: Vec<_> = chosen.iter().flatten().flat_map(env::split_paths).collect();
        let folders = files.iter().filter_map(|file| file.parent());
        let system = ["/usr/share", "/usr/local/share", "/etc"];
        let system = system.map(|folder| Path::new(folder).join("vulkan/icd.d"));
        let folders = folders.chain(system.iter().map(PathBuf::as_path));
        let mut drivers = Vec::new();
        for folder in folders {
            for name in self.family.manifests() {
                let manifest = folder.join(name);
                if !manifest.is_file() {
                    continue;
                }
                // The folder is either ROOT/usr/share/vulkan/icd.d of an unpacked driver, or a folder of the
                // system.
                let unpacked = folder
                    .ancestors()
                    .nth(3)
                    .filter(|_| folder.ends_with("share/vulkan/icd.d"));
                let usr = unpacked.unwrap_or(Path::new("/usr"));
                let libraries = usr.join(format!("lib/{ARCH}-linux-gnu"));
                drivers.extend(self.chips.iter().map(|chip| Driver {
                    family: self.family,
                    manifest: manifest.clone(),
                    libraries: libraries.clone(),
                    chip: chip.clone(),
                }));
            }
        }
        drivers
    }

    /// Creates the error for a GPU that no driver supports. `last` is the error of the last driver.
    pub(super) fn unknown(&self, last: Option<Error>) -> Error {
        let (name, driver) = (&self.name, self.family.driver());
        let why = match last {
            Some(error) => error.to_string(),
            None => {
                format!("there is no {driver}_icd.json beside VK_DRIVER_FILES or on the system")
            }
        };
        Error::NotFound(format!(
            "no compiler for {name}: {why}; Debian's mesa-vulkan-drivers has compilers for rdna2 and \
             rdna3, scripts/isa fetches compilers for chips such as navi23 and gfx1201, m1, adreno750, turing and ampere"
        ))
    }
}

/// Returns all names of an AMD chip. `rdna1` to `rdna4` select a chip of that architecture.
fn amd_chips(name: &str) -> Vec<&str> {
    let chip = match name {
        "rdna1" => "navi10",
        "rdna2" => "navi21",
        "rdna3" => "navi31",
        "rdna4" => "gfx1201",
        _ => name,
    };
    let same = AMD_CHIPS.iter().find(|names| names.contains(&chip));
    same.map_or(vec![chip], |names| names.to_vec())
}

impl Family {
    fn driver(self) -> &'static str {
        match self {
            Self::Amd => "radeon",
            Self::Apple => "asahi",
            Self::Adreno => "freedreno",
            Self::Nvidia => "nouveau",
        }
    }

    fn manifests(self) -> [String; 2] {
        let driver = self.driver();
        [format!("{driver}_icd.json"), format!("{driver}_icd.{ARCH}.json")]
    }

    /// Returns the name of its mesa-drm-shim, and the variable that selects the chip. Apple's only supports
    /// the M1.
    fn shim(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Amd => ("amdgpu", Some("AMDGPU_GPU_ID")),
            Self::Apple => ("asahi", None),
            Self::Adreno => ("freedreno", Some("FD_GPU_ID")),
            Self::Nvidia => ("nouveau", Some("NOUVEAU_CHIPSET")),
        }
    }
}

impl Driver {
    /// Returns a part of the device's name that distinguishes it from installed GPUs.
    pub(super) fn gpu_name(&self) -> String {
        match self.family {
            Family::Amd => self.chip.to_uppercase(),
            Family::Apple => "Apple M1".into(),
            Family::Adreno => self.chip.clone(),
            Family::Nvidia => "NVK".into(),
        }
    }

    /// Creates a command that runs `program` with only this driver.
    pub(super) fn command(&self, program: &Path) -> Command {
        let (shim, variable) = self.family.shim();
        let shim = self.libraries.join(format!("lib{shim}_noop_drm_shim.so"));
        let has_shim = shim.is_file();
        let mut command = match self.interpreter() {
            // Libraries of a newer system need that system's C library, which only its own dynamic linker can
            // load.
            Some(interpreter) => {
                let mut command = Command::new(interpreter);
                command.arg("--library-path").arg(&self.libraries);
                if has_shim {
                    command.arg("--preload").arg(&shim);
                }
                command.arg(program);
                command
            }
            None => {
                let mut command = Command::new(program);
                let others = env::var_os("LD_LIBRARY_PATH").filter(|paths| !paths.is_empty());
                let mut paths: OsString = self.libraries.clone().into();
                if let Some(others) = others {
                    paths.push(":");
                    paths.push(others);
                }
                command.env("LD_LIBRARY_PATH", paths);
                if has_shim {
                    command.env("LD_PRELOAD", &shim);
                }
                command
            }
        };
        let variable = match (self.family, has_shim) {
            (Family::Amd, false) => Some("RADV_FORCE_FAMILY"),
            _ => variable,
        };
        if let Some(variable) = variable {
            command.env(variable, &self.chip);
        }
        command
            .env("VK_DRIVER_FILES", &self.manifest)
            .env("VK_ICD_FILENAMES", &self.manifest)
            // Disables the cache, because cached shaders are not compiled.
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            // Disables a Mesa layer that looks for displays.
            .env("NODEVICE_SELECT", "1");
        command
    }

    fn interpreter(&self) -> Option<PathBuf> {
        let files = std::fs::read_dir(&self.libraries).ok()?;
        let is_system = self.libraries.starts_with("/usr/lib");
        let mut paths = files.flatten().map(|file| file.path());
        paths.find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !is_system && name.starts_with("ld-linux")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpu_names_map_to_the_chip_names_of_all_driver_versions() {
        let chips = |name: &str| Target::new(name).chips;
        assert_eq!(chips("rdna3"), ["navi31", "gfx1100"]);
        assert_eq!(chips("GFX1100"), chips("rdna3"));
        assert_eq!(chips("gfx1201"), chips("rdna4"));
        assert_eq!(chips("adreno750"), ["750"]);
        assert_eq!(Target::new("m1").family, Family::Apple);
        // An empty name matches no chip.
        assert_eq!(chips(""), [""]);
    }
}
