//! Output files. They are written atomically, and their names may contain a frame number.

pub mod baked;
pub mod deviation_colors;
pub mod deviation_text;
pub mod embedded;
pub mod flip;
pub mod intersection_colors;
pub mod magma;
pub mod numbers;
pub mod path_part;
pub mod picture;
pub mod picture_error;

pub use crate::atomic_file::{check_writable, write};

use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// Returns the extension of `path` in lower case if it is one of `known`.
///
/// # Errors
///
/// [`Error::Usage`] for any other extension. The message lists `known`.
pub fn extension(path: &Path, known: &[&'static str]) -> Result<&'static str> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    known
        .iter()
        .find(|k| extension.as_deref() == Some(**k))
        .copied()
        .ok_or_else(|| {
            let listed: Vec<_> = known.iter().map(|k| format!(".{k}")).collect();
            let listed = match listed.split_last() {
                Some((last, others)) if !others.is_empty() => {
                    format!("{} or {last}", others.join(", "))
                }
                _ => listed.concat(),
            };
            Error::Usage(format!(
                "{}: unknown output format; the name must end in {}",
                path.display(),
                listed
            ))
        })
}

/// File name with a placeholder for the frame number, `{frame}` or `{frame:4}`.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    path: PathBuf,
    /// Text before the number, text after it, and its minimum width in digits. `None` without a placeholder.
    number: Option<(String, String, usize)>,
}

impl Template {
    /// Parses a name. Only a name that is valid Unicode can contain a placeholder.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for a malformed placeholder.
    pub fn new(path: &Path) -> Result<Self> {
        let path = path.to_owned();
        let Some((before, rest)) = path.to_str().and_then(|text| text.split_once("{frame")) else {
            return Ok(Self { path, number: None });
        };
        let parsed = rest.split_once('}').and_then(|(width, after)| {
            let width = match width.strip_prefix(':') {
                Some(digits) => digits.parse().ok().filter(|w| *w <= 20)?,
                None if width.is_empty() => 1,
                None => return None,
            };
            Some((before.to_owned(), after.to_owned(), width))
        });
        match parsed {
            Some(number) => Ok(Self {
                number: Some(number),
                path,
            }),
            None => Err(Error::Usage(format!(
                "{}: expected {{frame}} or {{frame:4}} in the name",
                path.display()
            ))),
        }
    }

    /// True if the name contains a placeholder.
    pub fn is_numbered(&self) -> bool {
        self.number.is_some()
    }

    /// Returns the file name of a frame.
    pub fn frame(&self, frame: u32) -> PathBuf {
        match &self.number {
            Some((before, after, width)) => format!("{before}{frame:0width$}{after}").into(),
            None => self.path.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_templates_number_frames() {
        let name = |text: &str| Template::new(Path::new(text)).unwrap();
        assert_eq!(name("a-{frame}.png").frame(7), Path::new("a-7.png"));
        assert_eq!(name("a-{frame:4}.png").frame(7), Path::new("a-0007.png"));
        assert_eq!(name("a{b}.png").frame(7), Path::new("a{b}.png"));
        assert!(!name("a.png").is_numbered());
        for bad in ["{frame", "{frames}", "{frame:}", "{frame:x}", "{frame:99}"] {
            assert!(Template::new(Path::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn unknown_extensions_list_the_known_ones() {
        assert_eq!(extension(Path::new("A.PNG"), &["png", "exr"]).unwrap(), "png");
        let message = extension(Path::new("a.gif"), &["png", "exr"])
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "a.gif: unknown output format; the name must end in .png or .exr"
        );
        let message = extension(Path::new("a"), &["png", "jpg", "exr"]).unwrap_err();
        assert!(
            message.to_string().ends_with("in .png, .jpg or .exr"),
            "{message}"
        );
        assert!(extension(Path::new("png"), &["png"]).is_err());
    }
}
