//! Compiles pipelines on a thread, while the window keeps its last picture.

use crate::{
    Error, Result,
    app::{
        schedule::{Compiling, PictureKey},
        window::wake::Waker,
    },
    gpu::{Gpu, PipelineSet},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

/// Compiles the pipelines of the next picture. Only one picture is compiled at a time.
#[derive(Debug, Default)]
pub(in crate::app) struct PipelineCompilation(Option<CompileJob>);

impl PipelineCompilation {
    /// Returns the state of the compilation while `picture` is the next one. The end of a compilation is
    /// reported once.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pipelines.
    pub(in crate::app) fn poll(&mut self, picture: &PictureKey) -> Result<Option<Compiling>> {
        let Some(preparing) = &self.0 else {
            return Ok(None);
        };
        let is_for_next = preparing.picture.has_same_pipelines(picture);
        let outcome = preparing.poll();
        let is_done = outcome.is_some();
        if let Some(outcome) = outcome {
            self.0 = None;
            outcome?;
        }
        Ok(Some(Compiling { is_done, is_for_next }))
    }

    /// Starts to compile the pipelines of `picture`. `waker` requests a redraw once they are done.
    pub(in crate::app) fn start(
        &mut self,
        picture: &PictureKey,
        missing: PipelineSet,
        gpu: &Arc<Gpu>,
        waker: &Waker,
    ) {
        let preparing = CompileJob::start(picture.clone(), missing, gpu.clone(), waker.redraw());
        self.0 = Some(preparing);
    }

    /// Returns the progress for the window.
    pub(in crate::app) fn progress(&self) -> Option<CompileProgress> {
        self.0.as_ref().map(|preparing| CompileProgress {
            names: preparing.names.clone(),
            done: preparing.done.load(Ordering::Relaxed),
        })
    }

    /// Registers that the window has shown the names of the pipelines being compiled.
    pub(in crate::app) fn shown(&mut self) {
        if let Some(preparing) = &mut self.0 {
            preparing.is_shown = true;
        }
    }
}

/// Progress of the compilation of a picture's pipelines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct CompileProgress {
    /// Names of the kernels and draws.
    pub(in crate::app) names: Vec<String>,
    /// Number of compiled kernels and draws.
    pub(in crate::app) done: usize,
}

impl CompileProgress {
    /// True once nothing is left to compile. The next frame may still take long.
    pub(in crate::app) fn is_done(&self) -> bool {
        self.done == self.names.len()
    }
}

/// Pipelines that are being compiled. Dropping this waits for those that have begun, because the driver must
/// not be busy when the program ends.
#[derive(Debug)]
struct CompileJob {
    picture: PictureKey,
    /// Names of the kernels and draws that are compiled.
    names: Vec<String>,
    done: Arc<AtomicUsize>,
    outcome: mpsc::Receiver<Result<()>>,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// True if the window has shown the names. Drawing waits for that, because a driver may compile when a
    /// pipeline first runs, which blocks the window.
    is_shown: bool,
}

impl CompileJob {
    /// Starts to compile `missing`. Calls `wake` at the end.
    fn start(
        picture: PictureKey,
        missing: PipelineSet,
        gpu: Arc<Gpu>,
        wake: impl FnOnce() + Send + 'static,
    ) -> Self {
        let names = missing.names();
        let cancelled = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicUsize::new(0));
        let (sender, outcome) = mpsc::channel();
        let (stop, counter) = (cancelled.clone(), done.clone());
        let thread = std::thread::spawn(move || {
            // The receiver is gone once the window is closed or the device is lost.
            let outcome = missing.compile_unless(&gpu, &stop, &counter);
            sender.send(outcome.map_err(Error::from)).ok();
            wake();
        });
        Self {
            picture,
            names,
            done,
            outcome,
            cancelled,
            thread: Some(thread),
            is_shown: false,
        }
    }

    /// Returns the outcome once it exists and the window has shown the names.
    fn poll(&self) -> Option<Result<()>> {
        if !self.is_shown {
            return None;
        }
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(mpsc::TryRecvError::Empty) => None,
            Err(mpsc::TryRecvError::Disconnected) => Some(Err(Error::Internal(
                "compiling shaders failed unexpectedly".into(),
            ))),
        }
    }
}

impl Drop for CompileJob {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // `poll` reports a panic.
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Config, gpu::LazyPipeline};

    #[test]
    fn preparation_ends_once_it_is_ready_and_was_shown() {
        let gpu = Arc::new(Gpu::new(crate::device::options(&Config::default().gpu)).unwrap());
        let picture = PictureKey::for_tests();
        for fails in [false, true] {
            let made = LazyPipeline::new("shadow_map", move |_| match fails {
                false => Ok(()),
                true => Err(canopy_bvh::Error::Gpu("no".into())),
            });
            let mut missing = PipelineSet::default();
            missing.add(&made);
            let (sender, woken) = mpsc::channel();
            let wake = move || sender.send(()).unwrap();
            let preparing = CompileJob::start(picture.clone(), missing, gpu.clone(), wake);
            let mut preparation = PipelineCompilation(Some(preparing));
            woken.recv().unwrap();
            let progress = preparation.progress().unwrap();
            assert_eq!(progress.names, ["shadow_map"]);
            assert_eq!(progress.is_done(), !fails);
            let unseen = preparation.poll(&picture).unwrap().unwrap();
            assert!(!unseen.is_done, "the window has not shown it yet");
            assert!(unseen.is_for_next);
            preparation.shown();
            match preparation.poll(&picture) {
                Ok(done) => assert!(!fails && done.unwrap().is_done),
                Err(_) => assert!(fails),
            }
            assert_eq!(preparation.poll(&picture).unwrap(), None);
            assert_eq!(preparation.progress(), None);
        }
    }
}
