#![no_main]

#[path = "../../tests/common/fuzz.rs"]
#[expect(dead_code, reason = "each target uses its own part of this")]
mod fuzz;

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use tempfile::TempDir;

static FOLDER: OnceLock<TempDir> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let folder = FOLDER.get_or_init(|| TempDir::new().expect("a temporary folder"));
    fuzz::mtl(folder.path(), bytes).ok();
});
