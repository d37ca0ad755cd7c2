//! Lazily compiled pipelines. They are compiled one by one when a frame needs them, or in parallel on several
//! threads.

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

/// Pipeline, or several that are always used together. It is compiled on first use, and again after its
/// shaders have changed. Clones share the result.
pub struct LazyPipeline<T>(Arc<Inner<T>>);

/// Function that compiles a pipeline.
type Make<T> = Box<dyn Fn(&Gpu) -> Result<T> + Send + Sync>;

struct Inner<T> {
    label: String,
    make: Make<T>,
    made: RwLock<Option<Compiled<T>>>,
    /// Held during compilation, so that a second thread waits instead of compiling again.
    making: Mutex<()>,
}

struct Compiled<T> {
    /// Value of [`shader_folder::generation`] before the compilation.
    generation: u32,
    value: T,
}

impl<T> LazyPipeline<T> {
    /// Returns the address of the shared state, which is equal for clones.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    fn is_made(&self) -> bool {
        let made = self.0.made.read().unwrap_or_else(PoisonError::into_inner);
        made.as_ref()
            .is_some_and(|made| made.generation == shader_folder::generation())
    }
}

impl<T: Clone> LazyPipeline<T> {
    /// Creates a pipeline without compiling it. `make` compiles it, on any thread.
    pub fn new(label: impl Into<String>, make: impl Fn(&Gpu) -> Result<T> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            label: label.into(),
            make: Box::new(make),
            made: RwLock::default(),
            making: Mutex::new(()),
        }))
    }

    /// Returns the pipeline, and compiles it first if necessary. If a changed shader fails to compile, the
    /// previous pipeline stays, and the error is reported ([`Gpu::take_errors`]).
    ///
    /// # Errors
    ///
    /// Any error of compiling it. The next call tries again.
    pub fn get(&self, gpu: &Gpu) -> Result<T> {
        let inner = &*self.0;
        if let Some(value) = self.current() {
            return Ok(value);
        }
        let _making = inner.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.current() {
            return Ok(value);
        }
        let generation = shader_folder::generation();
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
        *made = Some(Compiled {
            generation,
            value: value.clone(),
        });
        Ok(value)
    }

    /// Returns the pipeline if it is compiled. Otherwise it compiles it, or returns `None` if this thread
    /// collects missing pipelines ([`collect`]). After `None`, do not record anything that needs it.
    ///
    /// # Errors
    ///
    /// The errors of [`LazyPipeline::get`].
    pub fn get_or_collect(&self, gpu: &Gpu) -> Result<Option<T>>
    where
        T: Send + Sync + 'static,
    {
        if let Some(value) = self.current() {
            return Ok(Some(value));
        }
        match add_missing(|set| set.add(self)) {
            true => Ok(None),
            false => self.get(gpu).map(Some),
        }
    }

    fn current(&self) -> Option<T> {
        let made = self.0.made.read().unwrap_or_else(PoisonError::into_inner);
        let made = made.as_ref()?;
        (made.generation == shader_folder::generation()).then(|| made.value.clone())
    }

    fn last(&self) -> Option<T> {
        let made = self.0.made.read().unwrap_or_else(PoisonError::into_inner);
        made.as_ref().map(|made| made.value.clone())
    }
}

impl<T> Clone for LazyPipeline<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> std::fmt::Debug for LazyPipeline<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LazyPipeline")
            .field("label", &self.0.label)
            .field("is_made", &self.is_made())
            .finish()
    }
}

/// [`LazyPipeline`] of any type.
pub trait Compile: Send + Sync {
    /// Returns the name of the pipeline.
    fn label(&self) -> &str;

    /// Returns the address of the shared state, which is equal for clones.
    fn identity(&self) -> usize;

    /// True if it is compiled.
    fn is_ready(&self) -> bool;

    /// Compiles it, if necessary.
    ///
    /// # Errors
    ///
    /// Any error of compiling it.
    fn prepare(&self, gpu: &Gpu) -> Result<()>;
}

impl<T: Clone + Send + Sync> Compile for LazyPipeline<T> {
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
    /// Pipelines that this thread has missed since it began to collect. `None` if it does not collect.
    static MISSED: Cell<Option<PipelineSet>> = const { Cell::new(None) };
}

/// Calls `add` with the pipelines missed so far, if this thread collects. Returns true if so.
fn add_missing(add: impl FnOnce(&mut PipelineSet)) -> bool {
    let mut missed = MISSED.take();
    let added = missed.as_mut().map(add);
    MISSED.set(missed);
    added.is_some()
}

/// Calls `record`, and returns the pipelines that it used before they were compiled. This thread compiles
/// nothing in the meantime. If anything is missing, the recorded commands are incomplete.
pub fn collect<R>(record: impl FnOnce() -> R) -> (R, PipelineSet) {
    /// Ends the collection, even if `record` panics.
    struct Collecting;
    impl Drop for Collecting {
        fn drop(&mut self) {
            MISSED.take();
        }
    }
    MISSED.set(Some(PipelineSet::default()));
    let _collecting = Collecting;
    let recorded = record();
    (recorded, MISSED.take().unwrap_or_default())
}

/// Also collects pipelines that a later frame will need, if this thread collects.
pub fn collect_later(add: impl FnOnce(&mut PipelineSet)) {
    add_missing(add);
}

/// Set of pipelines to compile, for example those that a frame needs.
#[derive(Default)]
pub struct PipelineSet(Vec<Box<dyn Compile>>);

impl std::fmt::Debug for PipelineSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|one| one.label()))
            .finish()
    }
}

impl PipelineSet {
    /// Adds a pipeline, unless it is compiled or already in the set.
    pub fn add<T: Clone + Send + Sync + 'static>(&mut self, one: &LazyPipeline<T>) {
        let is_there = || self.0.iter().any(|other| other.identity() == one.identity());
        if !(one.is_ready() || is_there()) {
            self.0.push(Box::new(one.clone()));
        }
    }

    /// Adds the pipelines of `more` that are not in the set yet.
    pub fn append(&mut self, more: Self) {
        for one in more.0 {
            if self.0.iter().all(|other| other.identity() != one.identity()) {
                self.0.push(one);
            }
        }
    }

    /// True if there is nothing to compile.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of all pipelines, in order.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|one| one.label().to_owned()).collect()
    }

    /// Compiles all pipelines of the set, on as many threads as there are CPU cores.
    ///
    /// # Errors
    ///
    /// The first compilation error.
    pub fn compile(&self, gpu: &Gpu) -> Result<()> {
        self.compile_unless(gpu, &AtomicBool::new(false), &AtomicUsize::new(0))
    }

    /// Compiles like [`PipelineSet::compile`], but starts no further pipelines once `cancelled` is true.
    /// Increments `done` after each pipeline.
    ///
    /// # Errors
    ///
    /// The errors of [`PipelineSet::compile`].
    pub fn compile_unless(&self, gpu: &Gpu, cancelled: &AtomicBool, done: &AtomicUsize) -> Result<()> {
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
