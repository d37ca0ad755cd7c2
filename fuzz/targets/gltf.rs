#![no_main]

#[path = "../../tests/common/fuzz.rs"]
#[expect(dead_code, reason = "each target uses its own part of this")]
mod fuzz;
#[path = "../../tests/common/mutate.rs"]
mod mutate;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| {
    fuzz::gltf(bytes).ok();
});

// Half of the mutations are aware of JSON and chunks.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(2) {
        return fuzzer_mutate(data, size, max_size);
    }
    let changed = mutate::Mutator(seed.into()).mutate(&data[..size], &[]);
    let length = changed.len().min(max_size);
    data[..length].copy_from_slice(&changed[..length]);
    length
});
