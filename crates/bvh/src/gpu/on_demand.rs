//! What is compiled when it is first needed: pipelines, one by one where a frame meets them, or several at a
//! time on threads.

use super::{device::Gpu, shader_folder, stopwatch::Stopwatch};
use crate::{Error, Result};
use std::{
    cell::Cell,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// A pipeline, or several that are always needed together, made when first needed, and again once shaders have changed.
/// Clones share what is made.
pub struct OnDemand<T>(Arc<Inner<T>>);

/// What compiles it.
type Make<T> = Box<dyn Fn(&Gpu) -> Result<T> + Send + Sync>;

struct Inner<T> {
    label: String,
    make: Make<T>,
    made: RwLock<Option<Made<T>>>,
    /// Held while it is made, so that of two threads that need it one waits.
    making: Mutex<()>,
}

struct Made<T> {
    /// Edition of the shaders it was made of.
    edition: u32,
    value: T,
}

impl<T> OnDemand<T> {
    /// Address of the shared state: equal for clones.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    fn is_made(&self) -> bool {
        let made = self.0.made.read().unwrap_or_else(PoisonError::into_inner);
        made.as_ref()
            .is_some_and(|made| made.edition == shader_folder::edition())
    }
}

impl<T: Clone> OnDemand<T> {
    /// Nothing yet. `make` compiles it, on any thread.
    pub fn new(label: impl Into<String>, make: impl Fn(&Gpu) -> Result<T> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            label: label.into(),
            make: Box::new(make),
            made: RwLock::default(),
            making: Mutex::new(()),
        }))
    }

    /// It, made now if it is not yet. Where a changed shader makes none, the last one stays, and the fault is reported
    /// ([`Gpu::take_errors`]).
    ///
    /// # Errors
    ///
    /// Those of making it; the next call tries again.
    pub fn get(&self, gpu: &Gpu) -> Result<T> {
        let inner = &*self.0;
        if let Some(value) = self.current() {
            return Ok(value);
        }
        let _making = inner.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.current() {
            return Ok(value);
        }
        let edition = shader_folder::edition();
        let stopwatch = Stopwatch::new();
        let value = match ((inner.make)(gpu), self.last()) {
            (Ok(value), _) => {
                log::debug!("compiled {} in {:.1} ms", inner.label, stopwatch.ms());
                gpu.count_compiled();
                value
            }
            (Err(error), Some(last)) => {
                gpu.report(&error);
                last
            }
            (Err(error), None) => return Err(error),
        };
        let mut made = inner.made.write().unwrap_or_else(PoisonError::into_inner);
        *made = Some(Made {
            edition,
            value: value.clone(),
        });
        Ok(value)
    }

    /// It, where it is made. Otherwise it is made now, or, where this thread collects what is missing
    /// ([`collect`]), there is `None`, and nothing may be recorded that needs it.
    ///
    /// # Errors
    ///
    /// As [`OnDemand::get`].
    pub fn get_or_collect(&self, gpu: &Gpu) -> Result<Option<T>>
    where
        T: Send + Sync + 'static,
    {
        if let Some(value) = self.current() {
            return Ok(Some(value));
        }
        match missed(|needs| needs.add(self)) {
            true => Ok(None),
            false => self.get(gpu).map(Some),
        }
    }

    fn current(&self) -> Option<T> {
        let made = self.0.made.read().unwrap_or_else(PoisonError::into_inner);
        let made = made.as_ref()?;
        (made.edition == shader_folder::edition()).then(|| made.value.clone())
    }

    fn last(&self) -> Option<T> {
        let made = self.0.made.read().unwrap_or_else(PoisonError::into_inner);
        made.as_ref().map(|made| made.value.clone())
    }
}

impl<T> Clone for OnDemand<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> std::fmt::Debug for OnDemand<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnDemand")
            .field("label", &self.0.label)
            .field("is_made", &self.is_made())
            .finish()
    }
}

/// An [`OnDemand`] of whatever type.
pub trait Prepare: Send + Sync {
    /// Its name.
    fn label(&self) -> &str;

    /// Address of the shared state: equal for clones.
    fn identity(&self) -> usize;

    /// Whether it is made.
    fn is_ready(&self) -> bool;

    /// Makes it, if it is not.
    ///
    /// # Errors
    ///
    /// Those of making it.
    fn prepare(&self, gpu: &Gpu) -> Result<()>;
}

impl<T: Clone + Send + Sync> Prepare for OnDemand<T> {
    fn label(&self) -> &str {
        &self.0.label
    }

    fn identity(&self) -> usize {
        self.identity()
    }

    fn is_ready(&self) -> bool {
        self.is_made()
    }

    fn prepare(&self, gpu: &Gpu) -> Result<()> {
        self.get(gpu).map(|_| ())
    }
}

thread_local! {
    /// What this thread has missed since it began to collect; `None` where it does not.
    static MISSED: Cell<Option<Needs>> = const { Cell::new(None) };
}

/// Calls `add` with what this thread has missed so far, where it collects.
fn missed(add: impl FnOnce(&mut Needs)) -> bool {
    let mut missed = MISSED.take();
    let added = missed.as_mut().map(add);
    MISSED.set(missed);
    added.is_some()
}

/// Calls `record`, and returns what it has asked for and is not compiled yet. Nothing is compiled meanwhile on this
/// thread; what has been recorded is incomplete where anything was missing.
pub fn collect<R>(record: impl FnOnce() -> R) -> (R, Needs) {
    /// Ends the collection, also where `record` panics.
    struct Collecting;
    impl Drop for Collecting {
        fn drop(&mut self) {
            MISSED.take();
        }
    }
    MISSED.set(Some(Needs::default()));
    let _collecting = Collecting;
    let recorded = record();
    (recorded, MISSED.take().unwrap_or_default())
}

/// Has what a later frame is going to need collected too, where this thread collects.
pub fn will_need(add: impl FnOnce(&mut Needs)) {
    missed(add);
}

/// Several to be made: what a frame needs.
#[derive(Default)]
pub struct Needs(Vec<Box<dyn Prepare>>);

impl std::fmt::Debug for Needs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Needs({})", self.0.len())
    }
}

impl Needs {
    /// Adds one, unless it is ready or there already.
    pub fn add<T: Clone + Send + Sync + 'static>(&mut self, one: &OnDemand<T>) {
        let is_there = || self.0.iter().any(|other| other.identity() == one.identity());
        if !(one.is_ready() || is_there()) {
            self.0.push(Box::new(one.clone()));
        }
    }

    /// Adds those of `more` that are not there already.
    pub fn append(&mut self, more: Self) {
        for one in more.0 {
            if self.0.iter().all(|other| other.identity() != one.identity()) {
                self.0.push(one);
            }
        }
    }

    /// Whether there is nothing to make.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of all, in order.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|one| one.label().to_owned()).collect()
    }

    /// Makes all of them, on as many threads as the processor has.
    ///
    /// # Errors
    ///
    /// The first of any of them.
    pub fn meet(&self, gpu: &Gpu) -> Result<()> {
        self.meet_unless(gpu, &AtomicBool::new(false), &AtomicUsize::new(0))
    }

    /// As [`Needs::meet`], but begins no more of them once it is `cancelled`, and counts those that are `done`.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn meet_unless(&self, gpu: &Gpu, cancelled: &AtomicBool, done: &AtomicUsize) -> Result<()> {
        let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(one) = self.0.get(next.fetch_add(1, Ordering::Relaxed)) {
                if cancelled.load(Ordering::Relaxed) {
                    break;
                }
                one.prepare(gpu)?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let more = threads.min(self.0.len()).saturating_sub(1);
            let others: Vec<_> = (0..more).map(|_| scope.spawn(work)).collect();
            let mut outcome = work();
            for other in others {
                let panicked = |_| Err(Error::Gpu("a shader's compilation panicked".into()));
                outcome = outcome.and(other.join().unwrap_or_else(panicked));
            }
            outcome
        })
    }
}
