//! Ray files, which `canopy lab` writes and reads (format in `docs/lab.md`).

use canopy_bvh::accel::{Query, Ray};
use canopy_scene::{Error, Result};
use std::path::Path;

/// First bytes of a file.
const MAGIC: [u8; 8] = *b"canopyry";
/// Version of the format.
const VERSION: u32 = 1;
/// Size of the header in bytes.
const HEADER: usize = 64;
/// Maximum length of a name in bytes. Shorter names are padded with zeros.
const NAME: usize = 24;
/// Maximum number of rays of a file, which take 2 GiB.
const RAYS_MAX: u64 = 1 << 26;

/// Named list of rays.
#[derive(Debug, Clone, PartialEq)]
pub struct RaySet {
    /// Name of at most 24 lower-case letters, digits and dashes, such as `primary` or `diffuse-2`.
    pub name: String,
    /// Query type that the rays are made for.
    pub query: Query,
    /// Rays. A ray whose `t_max` is not above its `t_min` is a placeholder for a pixel without a ray.
    pub rays: Vec<Ray>,
    /// Hash of the triangles that the rays were made for ([`hash`] of nine floats each).
    pub scene: u64,
}

/// Returns the 64-bit FNV-1a hash of `bytes`.
pub fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= NAME && name.chars().all(is_letter)
}

impl RaySet {
    /// Returns the hash of the rays.
    pub fn hash(&self) -> u64 {
        hash(bytemuck::cast_slice(&self.rays))
    }

    /// Serialises the set to the bytes of a file.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Argument`] if the name is invalid.
    pub fn to_bytes(&self) -> canopy_bvh::Result<Vec<u8>> {
        if !is_name(&self.name) {
            let what = format!("{:?} is not a name of a ray set", self.name);
            return Err(canopy_bvh::Error::Argument(what));
        }
        let mut bytes = Vec::with_capacity(HEADER + size_of_val(self.rays.as_slice()));
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(u32::from(self.query == Query::AnyHit).to_le_bytes());
        bytes.extend((self.rays.len() as u64).to_le_bytes());
        bytes.extend(self.hash().to_le_bytes());
        bytes.extend(self.scene.to_le_bytes());
        let mut name = [0; NAME];
        name[..self.name.len()].copy_from_slice(self.name.as_bytes());
        bytes.extend(name);
        for ray in &self.rays {
            let [ox, oy, oz] = ray.origin;
            let [dx, dy, dz] = ray.direction;
            for number in [ox, oy, oz, ray.t_min, dx, dy, dz, ray.t_max] {
                bytes.extend(number.to_le_bytes());
            }
        }
        Ok(bytes)
    }

    /// Parses the set from the bytes of the file at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Scene`] with the reason if the bytes are invalid.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let wrong = |what: String| Error::scene(path, what);
        let word = |at: usize| -> Result<u64> {
            let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok());
            word.map(u64::from_le_bytes)
                .ok_or_else(|| wrong("ends within its header of 64 bytes".into()))
        };
        if bytes.get(..MAGIC.len()) != Some(&MAGIC) {
            return Err(wrong(
                "is not a ray file: it does not begin with \"canopyry\"".into(),
            ));
        }
        let (version, query) = (word(8)? as u32, word(8)? >> 32);
        if version != VERSION {
            return Err(wrong(format!(
                "has version {version}; canopy reads version {VERSION}"
            )));
        }
        let query = match query {
            0 => Query::ClosestHit,
            1 => Query::AnyHit,
            other => {
                return Err(wrong(format!(
                    "asks for query {other}; 0 is closest hit, 1 any hit"
                )));
            }
        };
        let (count, told, scene) = (word(16)?, word(24)?, word(32)?);
        word(HEADER - 8)?;
        let name = &bytes[HEADER - NAME..HEADER];
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
        let name = str::from_utf8(&name[..end]).ok().filter(|name| is_name(name));
        let name = name.ok_or_else(|| wrong("has a name that is not a lower-case word".into()))?;
        if count > RAYS_MAX {
            return Err(wrong(format!(
                "declares {count} rays; canopy reads up to {RAYS_MAX}"
            )));
        }
        let rest = &bytes[HEADER..];
        if rest.len() as u64 != 32 * count {
            return Err(wrong(format!(
                "declares {count} rays, which need {} bytes, but holds {} bytes",
                32 * count,
                rest.len()
            )));
        }
        let rays: Vec<Ray> = rest.chunks_exact(32).map(ray).collect();
        let is_finite = |ray: &Ray| {
            let numbers = ray
                .origin
                .iter()
                .chain(&ray.direction)
                .chain([&ray.t_min, &ray.t_max]);
            numbers.copied().all(f32::is_finite) && ray.t_min >= 0.0
        };
        if let Some(number) = rays.iter().position(|ray| !is_finite(ray)) {
            return Err(wrong(format!(
                "ray {number} is not finite, or begins behind its origin"
            )));
        }
        let goes = |ray: &Ray| ray.direction != [0.0; 3] || ray.t_max <= ray.t_min;
        if let Some(number) = rays.iter().position(|ray| !goes(ray)) {
            return Err(wrong(format!("ray {number} has no direction")));
        }
        let set = Self {
            name: name.into(),
            query,
            rays,
            scene,
        };
        if set.hash() != told {
            return Err(wrong("is damaged: the hash of its rays does not match".into()));
        }
        Ok(set)
    }
}

fn ray(bytes: &[u8]) -> Ray {
    let number = |i: usize| {
        let word: [u8; 4] = std::array::from_fn(|byte| bytes[4 * i + byte]);
        f32::from_le_bytes(word)
    };
    Ray {
        origin: [number(0), number(1), number(2)],
        t_min: number(3),
        direction: [number(4), number(5), number(6)],
        t_max: number(7),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> RaySet {
        let ray = |i: u32| Ray {
            origin: [i as f32, 0.5, -1.0],
            t_min: 0.0,
            direction: [0.0, 0.0, 1.0],
            t_max: 10.0,
        };
        RaySet {
            name: "diffuse-2".into(),
            query: Query::AnyHit,
            rays: (0..3).map(ray).collect(),
            scene: 42,
        }
    }

    fn read(bytes: &[u8]) -> Result<RaySet> {
        RaySet::from_bytes(Path::new("a.rays"), bytes)
    }

    #[test]
    fn ray_files_round_trip() {
        let set = set();
        let bytes = set.to_bytes().unwrap();
        assert_eq!(bytes.len(), 64 + 3 * 32);
        assert_eq!(read(&bytes).unwrap(), set);
        let empty = RaySet {
            rays: Vec::new(),
            ..set
        };
        assert_eq!(read(&empty.to_bytes().unwrap()).unwrap(), empty);
        let unnamed = RaySet {
            name: "../a".into(),
            ..empty
        };
        assert!(unnamed.to_bytes().is_err());
    }

    #[test]
    fn broken_ray_files_give_a_one_line_error() {
        let good = set().to_bytes().unwrap();
        let with = |at: usize, new: &[u8]| {
            let mut bytes = good.clone();
            bytes[at..at + new.len()].copy_from_slice(new);
            bytes
        };
        let cases = [
            (Vec::new(), "not a ray file"),
            (with(0, b"glTF"), "not a ray file"),
            (good[..30].to_vec(), "ends within its header"),
            (good[..63].to_vec(), "ends within its header"),
            (with(8, &[9]), "version 9"),
            (with(12, &[2]), "query 2"),
            (
                with(16, &u64::MAX.to_le_bytes()),
                "declares 18446744073709551615 rays",
            ),
            (with(16, &4_u64.to_le_bytes()), "declares 4 rays"),
            (good[..good.len() - 1].to_vec(), "holds 95 bytes"),
            (with(40, b"../"), "name"),
            (with(64, &f32::NAN.to_le_bytes()), "ray 0 is not finite"),
            (with(64 + 16, &[0; 12]), "ray 0 has no direction"),
            (with(64, &[1]), "damaged"),
        ];
        for (bytes, expected) in cases {
            let line = read(&bytes).unwrap_err().to_string();
            assert!(line.starts_with("a.rays: ") && line.contains(expected), "{line}");
            assert!(!line.contains('\n'));
        }
        // No prefix of a file is valid.
        assert!((0..good.len()).all(|end| read(&good[..end]).is_err()));
    }
}
