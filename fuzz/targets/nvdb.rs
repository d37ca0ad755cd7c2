#![no_main]

#[path = "../../tests/common/fuzz.rs"]
#[expect(dead_code, reason = "each target uses its own part of this")]
mod fuzz;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    fuzz::nvdb(bytes).ok();
});
