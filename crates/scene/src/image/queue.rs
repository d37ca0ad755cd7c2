//! Parallel decoding of images, within a shared memory budget.

use super::{
    decode::{self, EncodedImage, Outcome},
    request::{Request, TextureSupport},
    texels::Image,
};
use crate::{
    Result,
    files::Bytes,
    load::{Budget, Load, Progress},
};
use std::{
    collections::BinaryHeap,
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// Decoded images.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) images: Vec<Image>,
    /// True for each image that is missing and replaced by a placeholder.
    pub(crate) missing: Vec<bool>,
}

/// Images that threads are decoding.
#[derive(Debug)]
pub(crate) struct Decoding {
    outcomes: mpsc::Receiver<(usize, Outcome)>,
    count: usize,
}

/// Decodes `sources`. A missing or broken image becomes a placeholder and a line in `warnings`.
pub(crate) fn decode_all(
    sources: &[EncodedImage],
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Decoded> {
    thread::scope(|scope| start(scope, sources, load)?.finish(load, warnings))
}

/// Starts decoding `sources`. Images that exceed a limit are scaled down. Fails only if even that is not
/// enough.
pub(crate) fn start<'scope, 'load: 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    sources: &'scope [EncodedImage],
    load: &mut Load<'load>,
) -> Result<Decoding> {
    let requests = requests(sources, load)?;
    let (sender, outcomes) = mpsc::channel();
    let next = Arc::new(AtomicUsize::new(0));
    let requests: Arc<[Request]> = requests.into();
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(sources.len());
    for _ in 0..threads {
        let (sender, next, requests) = (sender.clone(), next.clone(), requests.clone());
        let progress = load.progress();
        scope.spawn(move || work(sources, &requests, &next, progress, &sender));
    }
    Ok(Decoding {
        outcomes,
        count: sources.len(),
    })
}

fn work(
    sources: &[EncodedImage],
    requests: &[Request],
    next: &AtomicUsize,
    progress: &Progress,
    sender: &mpsc::Sender<(usize, Outcome)>,
) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let (Some(source), Some(request)) = (sources.get(index), requests.get(index)) else {
            return;
        };
        // A closed channel means that the load has failed elsewhere.
        if progress.check().is_err() || sender.send((index, decode::decode(source, request))).is_err() {
            return;
        }
    }
}

impl Decoding {
    /// Waits for all images, and returns them in the order of their sources.
    pub(crate) fn finish(self, load: &Load<'_>, warnings: &mut Vec<String>) -> Result<Decoded> {
        let mut outcomes: Vec<Option<Outcome>> = (0..self.count).map(|_| None).collect();
        for done in 0..self.count {
            let share = done as f32 / self.count as f32;
            load.enter(
                format!("decoding image {} of {}", done + 1, self.count),
                0.5 + 0.5 * share,
            )?;
            let Ok((index, outcome)) = self.outcomes.recv() else {
                break;
            };
            outcomes[index] = Some(outcome);
        }
        load.progress().check()?;
        let mut decoded = Decoded {
            images: Vec::with_capacity(self.count),
            missing: Vec::with_capacity(self.count),
        };
        // Every index has arrived, because the threads stop early only if the load is cancelled.
        for outcome in outcomes.into_iter().flatten() {
            warnings.extend(outcome.notes);
            decoded.images.push(outcome.image);
            decoded.missing.push(outcome.is_missing);
        }
        Ok(decoded)
    }
}

/// Decides how each image is decoded, so that all images together stay within the memory budget of textures.
fn requests(sources: &[EncodedImage], load: &mut Load<'_>) -> Result<Vec<Request>> {
    let max_pixels = load.limits.max_image_pixels;
    let mut sizes = Vec::with_capacity(sources.len());
    for source in sources {
        load.progress().check()?;
        let probes = source.candidates.iter().flatten();
        let probe = |bytes: &Bytes| decode::probe(bytes, max_pixels).ok();
        sizes.push(probes.filter_map(probe).max().unwrap_or(0));
    }
    let mut total = sizes.iter().copied().fold(0, u64::saturating_add);
    let allowed = load.texture_bytes_left();
    let mut largest: BinaryHeap<(u64, usize)> = sizes.iter().copied().zip(0..).collect();
    let mut max_bytes = vec![u64::MAX; sources.len()];
    while total > allowed {
        let Some((bytes, index)) = largest.pop().filter(|(bytes, _)| *bytes >= 64) else {
            load.take(Budget::TextureBytes, total, || "all images".into())?;
            break;
        };
        total -= bytes - bytes / 4;
        max_bytes[index] = bytes / 4;
        largest.push((bytes / 4, index));
    }
    load.take(Budget::TextureBytes, total, || "all images".into())?;
    let request = |(source, max_bytes): (&EncodedImage, u64)| Request {
        uses: source.uses,
        supported: if source.uses.texels {
            TextureSupport {
                max_side: load.supported.max_side,
                ..TextureSupport::default()
            }
        } else {
            load.supported
        },
        max_pixels,
        max_bytes,
    };
    Ok(sources.iter().zip(max_bytes).map(request).collect())
}
