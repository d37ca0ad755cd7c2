//! Parts of the work of `canopy render` for several machines, and the identity that parts of one picture
//! share.

use crate::{
    Error, Result,
    config::Config,
    output::path_part::Identity,
    provenance::{PictureInputs, Provenance, SOFTWARE},
    scene::is_stdin,
};
use std::{fs::File, io::Read as _, ops::Range, path::Path, str::FromStr};

/// Maximum number of parts.
const MAX_PARTS: u32 = 1_000_000;

/// One of several parts of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Number, from 1.
    number: u32,
    count: u32,
}

impl Part {
    /// The whole work as a single part.
    pub(super) const WHOLE: Self = Self { number: 1, count: 1 };

    /// Returns its number, from 1, and the number of parts.
    pub(super) fn of(self) -> [u32; 2] {
        [self.number, self.count]
    }

    /// Returns the range of `whole` that belongs to this part. The ranges of all parts add up to `whole`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if there is less than one item per part. `what` names the items.
    pub(super) fn share(self, whole: &Range<u32>, what: &str) -> Result<Range<u32>> {
        let length = whole.len() as u64;
        if length < u64::from(self.count) {
            let Self { number, count } = self;
            return Err(Error::Usage(format!(
                "--part {number}/{count}: {length} {what} cannot be split into {count} parts"
            )));
        }
        let end_of = |parts: u32| whole.start + (length * u64::from(parts) / u64::from(self.count)) as u32;
        Ok(end_of(self.number - 1)..end_of(self.number))
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, count)| {
            let (number, count) = (number.parse().ok()?, count.parse().ok()?);
            ((1..=MAX_PARTS).contains(&count) && (1..=count).contains(&number))
                .then_some(Self { number, count })
        });
        numbers.ok_or_else(|| "expected a part from 1/N to N/N, such as 2/3".into())
    }
}

/// Returns a hash of the contents of `files`, independent of their order. Skips standard input, missing files
/// and special files.
///
/// # Errors
///
/// [`Error::Io`] if a file cannot be read again.
pub(super) fn contents<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<u32> {
    let mut numbers = Vec::new();
    // Standard input cannot be read again.
    for path in files.into_iter().filter(|path| !is_stdin(path)) {
        let io = |e| Error::io(path, e);
        // The scene records missing files itself. Files that are not regular are skipped, because they may
        // never end.
        match std::fs::metadata(path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => continue,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(io(e)),
        }
        let mut file = File::open(path).map_err(io)?;
        let mut hasher = crc32fast::Hasher::new();
        let mut bytes = vec![0; 1 << 16];
        loop {
            match file.read(&mut bytes).map_err(io)? {
                0 => break,
                count => hasher.update(&bytes[..count]),
            }
        }
        numbers.push(hasher.finalize());
    }
    numbers.sort_unstable();
    Ok(number_of(&format!("{numbers:?}")))
}

/// Returns the identity of the picture of `shown` with these settings, which is equal on every machine.
/// `contents` is the hash of its files.
pub(super) fn identity(config: &Config, shown: &PictureInputs<'_>, contents: u32) -> Identity {
    let size = shown.size;
    // Cannot fail, because every field has a JSON form.
    let made = serde_json::to_value(Provenance::new(config, shown, None)).unwrap_or_default();
    let mut settings = made["settings"].clone();
    if let Some(keys) = settings.as_object_mut() {
        // Different sample counts still belong to the same picture.
        keys.remove("paths.samples");
    }
    Identity {
        version: SOFTWARE.into(),
        size,
        scene: number_of(&format!("{contents} {} {}", made["edits"], made["hidden"])),
        settings: number_of(&settings.to_string()),
        view: number_of(&made["view"].to_string()),
    }
}

fn number_of(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_partition_the_range_into_nearly_equal_sizes() {
        for whole in [0..7, 5..6, 3..1_000_003] {
            for count in [1, 2, 3, 7]
                .into_iter()
                .filter(|count| *count <= whole.len() as u32)
            {
                let mut end = whole.start;
                for number in 1..=count {
                    let share = Part { number, count }.share(&whole, "samples").unwrap();
                    assert_eq!(share.start, end);
                    let even = whole.len() as u32 / count;
                    assert!((even..=even + 1).contains(&(share.len() as u32)), "{share:?}");
                    end = share.end;
                }
                assert_eq!(end, whole.end);
            }
        }
        let part: Part = "2/3".parse().unwrap();
        let error = part.share(&(0..2), "samples").unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("2 samples cannot be split into 3 parts"),
            "{error}"
        );
        for bad in ["", "1", "0/3", "4/3", "1/0", "1/2/3", "-1/3", "1/2000000", "a/b"] {
            assert!(bad.parse::<Part>().is_err(), "{bad}");
        }
    }
}
