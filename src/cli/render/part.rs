//! Parts of the work of `canopy render`, for several machines, and what parts of one picture have in common.

use crate::{
    Error, Result,
    config::Config,
    output::path_part::Identity,
    provenance::{Provenance, SOFTWARE, Shown},
    scene::is_stdin,
};
use std::{fs::File, io::Read as _, ops::Range, path::Path, str::FromStr};

/// Most parts of a picture.
const MOST: u32 = 1_000_000;

/// One of several parts of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From 1 on.
    number: u32,
    count: u32,
}

impl Part {
    /// The only one.
    pub(super) const WHOLE: Self = Self { number: 1, count: 1 };

    /// Its number, from 1 on, and how many there are.
    pub(super) fn of(self) -> [u32; 2] {
        [self.number, self.count]
    }

    /// Its share of `whole`. All shares together are `whole`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] where there is less than one for each part; `what` there are.
    pub(super) fn share(self, whole: &Range<u32>, what: &str) -> Result<Range<u32>> {
        let length = whole.len() as u64;
        if length < u64::from(self.count) {
            let Self { number, count } = self;
            return Err(Error::Usage(format!(
                "--part {number}/{count}: {length} {what} have no {count} parts"
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
            ((1..=MOST).contains(&count) && (1..=count).contains(&number)).then_some(Self { number, count })
        });
        numbers.ok_or_else(|| "expected a part from 1/N to N/N, such as 2/3".into())
    }
}

/// A number for what the files of a scene and of its settings hold, in any order.
///
/// # Errors
///
/// [`Error::Io`] for a file that cannot be read again.
pub(super) fn contents<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<u32> {
    let mut numbers = Vec::new();
    // Standard input is gone.
    for path in files.into_iter().filter(|path| !is_stdin(path)) {
        let io = |e| Error::io(path, e);
        // A scene remembers what it has missed, and what was no regular file, which may never end.
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

/// What pictures that show `shown` with these settings have in common, whatever machine makes them.
/// `contents` is the number of their files.
pub(super) fn identity(config: &Config, shown: &Shown<'_>, contents: u32) -> Identity {
    let size = shown.size;
    // Every field has a form in JSON.
    let made = serde_json::to_value(Provenance::new(config, shown, None)).unwrap_or_default();
    let mut settings = made["settings"].clone();
    if let Some(keys) = settings.as_object_mut() {
        // More samples are more of the same.
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
    fn shares_are_the_whole_and_of_nearly_one_size() {
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
            error.to_string().ends_with("2 samples have no 3 parts"),
            "{error}"
        );
        for bad in ["", "1", "0/3", "4/3", "1/0", "1/2/3", "-1/3", "1/2000000", "a/b"] {
            assert!(bad.parse::<Part>().is_err(), "{bad}");
        }
    }
}
