//! How much work the GPU is given at once. Systems take a device away whose work does not end within seconds, so a long frame is handed over in
//! parts, and shadow rays pass through their list in batches that this adapter traces in a fraction of a second.

use crate::gpu::{
    Gpu,
    profiler::{Scope, Stopwatch},
};

/// A frame that takes longer on the GPU is handed over in parts.
const LONG_FRAME_MS: f64 = 250.0;
/// Time that tracing a batch of rays is to take at most.
const BATCH_MS: f64 = 250.0;
/// Rays of the first batches, before any were measured: what a slow integrated GPU traces in time.
const FIRST_BATCH: u32 = 1 << 20;
/// Fewer rays do not fill a GPU.
const LEAST_BATCH: u32 = 1 << 16;
/// Rays that are too few to tell how fast the adapter is.
const FEW_RAYS: u64 = 1 << 12;

/// What was learned of the adapter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Rays of a batch at most, a power of two.
    pub batch_rays: u32,
    /// Whether frames are handed over in parts: until one is known to be short.
    pub in_parts: bool,
}

impl Pace {
    /// Rays of a batch at most: as many pixels as an entry of the list can tell apart.
    pub const MOST_RAYS: u32 = 1 << 24;

    /// Takes in what a frame and its shadow rays took.
    pub fn learn(&mut self, frame_ms: f64, rays: u64, rays_ms: f64) {
        self.in_parts = frame_ms > LONG_FRAME_MS;
        if rays < FEW_RAYS || rays_ms <= 0.0 {
            return;
        }
        let in_time = (rays as f64 * BATCH_MS / rays_ms).clamp(1.0, f64::from(Self::MOST_RAYS));
        let fitting = (1 << (in_time as u32).ilog2()).max(LEAST_BATCH);
        // Another size means other targets: it grows only where that is worth it.
        if fitting < self.batch_rays || fitting >= 4 * self.batch_rays {
            self.batch_rays = fitting;
        }
    }

    /// Hands over what was recorded in `scope`, and goes on in a scope of the same name. `recording` does not count the handing over: software
    /// adapters take their time for it.
    pub fn part(self, gpu: &Gpu, scope: &mut Scope<'_>, recording: &mut Stopwatch) {
        if !self.in_parts {
            return;
        }
        if let Some(query) = scope.scope.take() {
            scope.profiler.end_query(scope.recorder, query);
        }
        let recorded = std::mem::replace(scope.recorder, gpu.encoder("frame"));
        recording.without(|| gpu.queue.submit([recorded.finish()]));
        scope.scope = Some(scope.profiler.begin_query("frame", scope.recorder));
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            batch_rays: FIRST_BATCH,
            in_parts: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_follow_the_adapter() {
        let mut pace = Pace::default();
        // A thousand million rays a second, then two million, then a hundred thousand.
        pace.learn(5.0, 2_000_000, 2.0);
        assert_eq!((pace.batch_rays, pace.in_parts), (Pace::MOST_RAYS, false));
        pace.learn(1000.0, 2_000_000, 1000.0);
        assert_eq!((pace.batch_rays, pace.in_parts), (1 << 18, true));
        pace.learn(1000.0, 100_000, 1000.0);
        assert_eq!(pace.batch_rays, LEAST_BATCH);
        // Twice as fast is no reason to make targets anew, and what says nothing changes nothing.
        pace.learn(1000.0, 1_048_576, 1000.0);
        assert_eq!(pace.batch_rays, 1 << 18);
        for (rays, ms) in [
            (1_500_000, 1000.0),
            (2_000_000, 1000.0),
            (0, 1.0),
            (1 << 20, 0.0),
        ] {
            pace.learn(1000.0, rays, ms);
            assert_eq!(pace.batch_rays, 1 << 18);
        }
    }
}
