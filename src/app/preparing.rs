//! Passes that are compiled on a thread while the window goes on showing what it showed.

use crate::{
    Error, Result,
    gpu::{Gpu, Needs},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

/// Passes being compiled. Dropped, it ends once those are done that have been begun: nothing is to be left in the driver when the program ends.
#[derive(Debug)]
pub(super) struct Preparing {
    /// Their names.
    names: String,
    outcome: mpsc::Receiver<Result<()>>,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Whether the window has shown that: until then it waits, because a driver may compile when a pass first runs, and hold everything up.
    is_shown: bool,
}

impl Preparing {
    /// Starts to compile what `needs` holds. `wake` is called when it is done.
    pub(super) fn start(needs: Needs, gpu: Arc<Gpu>, wake: impl FnOnce() + Send + 'static) -> Self {
        let names = needs.names();
        let cancelled = Arc::new(AtomicBool::new(false));
        let (sender, outcome) = mpsc::channel();
        let stop = cancelled.clone();
        let thread = std::thread::spawn(move || {
            // Nobody listens any more once the window is closed or the device is lost.
            sender.send(needs.meet_unless(&gpu, &stop)).ok();
            wake();
        });
        Self {
            names,
            outcome,
            cancelled,
            thread: Some(thread),
            is_shown: false,
        }
    }

    /// Their names, for the window.
    pub(super) fn names(&self) -> String {
        self.names.clone()
    }

    /// The window has been presented with them.
    pub(super) fn shown(&mut self) {
        self.is_shown = true;
    }

    /// The outcome, once it is there and the window has shown what it waits for.
    pub(super) fn poll(&self) -> Option<Result<()>> {
        if !self.is_shown {
            return None;
        }
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(mpsc::TryRecvError::Empty) => None,
            Err(mpsc::TryRecvError::Disconnected) => {
                let what = "compiling shaders failed unexpectedly; please report this";
                Some(Err(Error::Gpu(what.into())))
            }
        }
    }
}

impl Drop for Preparing {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What it panicked with was told by `poll`.
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Config, gpu::OnDemand};

    #[test]
    fn it_is_done_once_it_is_ready_and_was_shown() {
        let gpu = Arc::new(Gpu::new(&Config::default().gpu).unwrap());
        for fails in [false, true] {
            let made = OnDemand::new("shadow_map", move |_| match fails {
                false => Ok(()),
                true => Err(Error::Gpu("no".into())),
            });
            let mut needs = Needs::default();
            needs.add(&made);
            let (sender, woken) = mpsc::channel();
            let wake = move || sender.send(()).unwrap();
            let mut preparing = Preparing::start(needs, gpu.clone(), wake);
            woken.recv().unwrap();
            assert_eq!(preparing.names(), "shadow_map");
            assert!(
                preparing.poll().is_none(),
                "the window has not shown it yet"
            );
            preparing.shown();
            assert_eq!(preparing.poll().unwrap().is_err(), fails);
        }
    }
}
