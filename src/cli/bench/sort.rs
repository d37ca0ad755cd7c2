//! `canopy bench sort`: radix sort of pairs of a 32-bit key and a 32-bit value.

use super::{
    floor,
    inputs::Random,
    report::{Column, Format, Run},
    session::Session,
    timing::{Meter, Timings},
};
use crate::{
    Error, Result,
    accel::sort::{Digits, RadixSort, SortBuffers},
    gpu::{Array, Gpu},
};
use serde_json::json;

/// Number of bits of a key.
const BITS: u32 = 32;

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("keys", "name", Format::Text),
    ("pairs", "pairs", Format::Count),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("pairs/s", "pairs_per_s", Format::Count),
    ("t(2N)/t(N)", "scaling", Format::Decimal),
    ("of copy", "share/sort", Format::Percent),
];

/// Distribution of keys.
#[derive(Debug, Clone, Copy)]
enum Keys {
    Random,
    Sorted,
    Equal,
    Few,
}

impl Keys {
    const ALL: [Self; 4] = [Self::Random, Self::Sorted, Self::Equal, Self::Few];

    fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sorted => "sorted",
            Self::Equal => "equal",
            Self::Few => "few",
        }
    }

    fn make(self, count: u32, seed: u64) -> Vec<u32> {
        let mut random = Random(seed);
        let key = |i: u32| match self {
            Self::Random => random.bits(),
            Self::Sorted => (u64::from(i) * (1 << 32) / u64::from(count)) as u32,
            Self::Equal => 0xdead_beef,
            // Sixteen distinct keys that differ in every digit.
            Self::Few => (random.bits() & 15) * 0x1111_1111,
        };
        (0..count).map(key).collect()
    }
}

/// Sorts every distribution of keys at every size.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let default: &[u32] = if session.software {
        &[1_000, 16_000, 128_000, 256_000, 512_000]
    } else {
        &[
            1_000, 16_000, 128_000, 256_000, 512_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000,
            32_000_000, 64_000_000,
        ]
    };
    let sizes = session.args.pairs.clone();
    let sizes = if sizes.is_empty() { default } else { &sizes };
    let sort = RadixSort::new(&session.meter.gpu);
    let mut progress = session.progress(sizes.len() * Keys::ALL.len());
    for keys in Keys::ALL {
        for pairs in sizes {
            progress.step(&format!("{} keys, {pairs} pairs", keys.name()));
            let mut run = Run::new(json!({"name": keys.name(), "pairs": pairs}));
            let make = || keys.make(*pairs, session.args.seed);
            let (list, sorting) = match SortRun::new(&session.meter.gpu, &sort, *pairs, make) {
                Ok(made) => made,
                Err(why) => {
                    session.report.skip(run, &why);
                    continue;
                }
            };
            let timings = sorting.time(&mut session.meter, &sort)?;
            sorting.check(&session.meter.gpu, &list)?;
            let bytes = floor::sort_bytes(u64::from(*pairs), BITS);
            let copy = session.report.copy_gb_per_s;
            run.time(&timings, |_, ms| Some(floor::share(bytes, ms, copy?)));
            run.set("pairs_per_s", f64::from(*pairs) / timings.median_ms() * 1e3);
            session.report.runs.push(run);
        }
    }
    session.report.scaling("pairs");
    Ok(())
}

/// Buffers to sort, and the unsorted pairs.
struct SortRun {
    pairs: SortBuffers,
    digits: Digits,
    keys: wgpu::Buffer,
    values: wgpu::Buffer,
    count: u32,
}

impl SortRun {
    /// Creates buffers of `count` pairs and fills them with the keys of `make`, which are also returned.
    /// Fails before `make` runs if the adapter cannot bind the keys.
    fn new(
        gpu: &Gpu,
        sort: &RadixSort,
        count: u32,
        make: impl FnOnce() -> Vec<u32>,
    ) -> Result<(Vec<u32>, Self)> {
        gpu.check_binding(&format!("{count} keys"), 4 * u64::from(count))?;
        let keys = make();
        let values: Vec<u32> = (0..count).collect();
        let sorting = gpu.catch(|| {
            let pairs = sort.buffers(gpu, count)?;
            let mut digits = sort.digits(gpu, &pairs, 0, BITS, false);
            digits.set_count(gpu, count);
            Ok::<_, Error>(Self {
                pairs,
                digits,
                keys: gpu.buffer_with("bench.keys", &keys, wgpu::BufferUsages::COPY_SRC),
                values: gpu.buffer_with("bench.values", &values, wgpu::BufferUsages::COPY_SRC),
                count,
            })
        })??;
        Ok((keys, sorting))
    }

    fn time(&self, meter: &mut Meter, sort: &RadixSort) -> Result<Timings> {
        meter.time(
            |encoder| {
                // Sorting overwrites the pairs, so each repetition starts from a copy of the unsorted ones.
                let input = self.digits.input();
                for (from, array) in [
                    (&self.keys, &self.pairs.keys[input]),
                    (&self.values, &self.pairs.values[input]),
                ] {
                    let bytes = 4 * u64::from(self.count);
                    encoder.copy_buffer_to_buffer(from, 0, array.buffer(), 0, bytes);
                    array.publish(encoder, 0..self.count);
                }
            },
            |gpu, scope| Ok(sort.record(gpu, scope, &self.pairs, &self.digits).map(drop)?),
        )
    }

    /// Fails unless the pairs are a stable sort of `keys`.
    fn check(&self, gpu: &Gpu, keys: &[u32]) -> Result<()> {
        let output = self.digits.output();
        let read = |array: &Array| -> Result<Vec<u32>> {
            let mut words = array.read(gpu)?;
            words.truncate(keys.len());
            Ok(words)
        };
        let (sorted, values) = (read(&self.pairs.keys[output])?, read(&self.pairs.values[output])?);
        if is_sorted(keys, &sorted, &values) {
            return Ok(());
        }
        Err(Error::WrongResult("the sort gave a wrong order".into()))
    }
}

/// True if `sorted` with `values` is a stable sort of `keys`, whose values were 0, 1, 2, ….
fn is_sorted(keys: &[u32], sorted: &[u32], values: &[u32]) -> bool {
    let pairs: Vec<_> = sorted.iter().zip(values).collect();
    // Stable sorting makes the pairs strictly ascending, so no value can occur twice under a key.
    let kept = |(key, value): &(&u32, &u32)| keys.get(**value as usize) == Some(*key);
    pairs.len() == keys.len() && pairs.is_sorted_by(|a, b| a < b) && pairs.iter().all(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_sort_orders_are_detected() {
        let keys = [3, 1, 2, 1];
        assert!(is_sorted(&keys, &[1, 1, 2, 3], &[1, 3, 2, 0]));
        assert!(!is_sorted(&keys, &[1, 1, 2, 3], &[3, 1, 2, 0]), "unstable");
        assert!(!is_sorted(&keys, &[1, 2, 1, 3], &[1, 2, 3, 0]), "unsorted");
        assert!(!is_sorted(&keys, &[1, 1, 2, 4], &[1, 3, 2, 0]), "another key");
        assert!(!is_sorted(&keys, &[1, 2, 3], &[1, 2, 0]), "one is lost");
    }

    #[test]
    fn generated_keys_have_the_distribution_of_their_kind() {
        let distinct = |keys: Keys| {
            let keys = keys.make(1000, 1);
            assert_eq!(keys.len(), 1000);
            keys.into_iter().collect::<std::collections::HashSet<_>>().len()
        };
        assert!(distinct(Keys::Random) > 990);
        assert_eq!(distinct(Keys::Sorted), 1000);
        assert!(Keys::Sorted.make(1000, 1).is_sorted());
        assert_eq!(distinct(Keys::Equal), 1);
        assert_eq!(distinct(Keys::Few), 16);
    }
}
