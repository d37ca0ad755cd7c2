//! Targets for recording commands: a plain encoder, or a profiler scope.

use crate::Result;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Target for recording compute passes: a [`wgpu::CommandEncoder`] or a [`Scope`].
pub trait Recorder {
    /// Opens a scope: a debug group and, under a profiler, a row of timings.
    fn scope(&mut self, label: &str) -> Scope<'_>;

    /// Begins a compute pass, which has a row of timings under a profiler.
    fn scoped_compute_pass(&mut self, label: &str) -> ComputePass<'_>;

    /// Returns the encoder.
    fn encoder(&mut self) -> &mut wgpu::CommandEncoder;

    /// True if its passes are timed.
    fn is_timed(&self) -> bool;
}

/// Compute passes of a recorder. If passes are timed, each [`Passes::record`] call has a pass of its own.
/// Otherwise all dispatches share a single pass, which avoids the GPU's work between passes.
pub struct Passes<'a, R: Recorder> {
    recorder: &'a mut R,
    open: Option<wgpu::ComputePass<'static>>,
    begun: u32,
}

impl<'a, R: Recorder> Passes<'a, R> {
    /// Creates a set of passes without beginning one.
    pub fn new(recorder: &'a mut R) -> Self {
        Self {
            recorder,
            open: None,
            begun: 0,
        }
    }

    /// Calls `record` with a new timed pass named `label`, or with the shared pass in a debug group named
    /// `label`.
    ///
    /// # Errors
    ///
    /// Any error of `record`.
    pub fn record<T>(
        &mut self,
        label: &str,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>) -> Result<T>,
    ) -> Result<T> {
        self.begun += u32::from(self.open.is_none());
        if self.recorder.is_timed() {
            return record(&mut self.recorder.scoped_compute_pass(label));
        }
        let encoder = self.recorder.encoder();
        let pass = self.open.get_or_insert_with(|| {
            let descriptor = wgpu::ComputePassDescriptor::default();
            encoder.begin_compute_pass(&descriptor).forget_lifetime()
        });
        pass.push_debug_group(label);
        let recorded = record(pass);
        pass.pop_debug_group();
        recorded
    }

    /// Returns the number of passes begun so far.
    pub fn begun(&self) -> u32 {
        self.begun
    }

    /// Ends the open pass and returns the recorder, for commands outside of passes.
    pub fn recorder(&mut self) -> &mut R {
        self.open = None;
        self.recorder
    }
}

impl<R: Recorder> fmt::Debug for Passes<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passes").finish_non_exhaustive()
    }
}

/// Debug group on an encoder, in which you can open passes and nested scopes. It dereferences to the encoder.
pub struct Scope<'a>(Kind<'a>, IsTimed);

/// True if passes have timestamps, which needs a profiler and an adapter with timestamps.
type IsTimed = bool;

enum Kind<'a> {
    Plain(Group<'a>),
    #[cfg(feature = "tools")]
    Timed(wgpu_profiler::Scope<'a, wgpu::CommandEncoder>),
}

/// Closes its debug group when dropped.
struct Group<'a>(&'a mut wgpu::CommandEncoder);

/// Compute pass that dereferences to wgpu's.
pub struct ComputePass<'a>(ComputeKind<'a>);

enum ComputeKind<'a> {
    Plain(wgpu::ComputePass<'a>),
    #[cfg(feature = "tools")]
    Timed(wgpu_profiler::OwningScope<'a, wgpu::ComputePass<'a>>),
}

/// Render pass that dereferences to wgpu's.
#[cfg(feature = "tools")]
pub struct RenderPass<'a>(RenderKind<'a>);

#[cfg(feature = "tools")]
enum RenderKind<'a> {
    Plain(wgpu::RenderPass<'a>),
    Timed(wgpu_profiler::OwningScope<'a, wgpu::RenderPass<'a>>),
}

impl Recorder for wgpu::CommandEncoder {
    fn scope(&mut self, label: &str) -> Scope<'_> {
        self.push_debug_group(label);
        Scope(Kind::Plain(Group(self)), false)
    }

    fn scoped_compute_pass(&mut self, label: &str) -> ComputePass<'_> {
        let descriptor = wgpu::ComputePassDescriptor {
            label: Some(label),
            timestamp_writes: None,
        };
        ComputePass(ComputeKind::Plain(self.begin_compute_pass(&descriptor)))
    }

    fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        self
    }

    fn is_timed(&self) -> bool {
        false
    }
}

impl Recorder for Scope<'_> {
    fn scope(&mut self, label: &str) -> Scope<'_> {
        self.scope(label)
    }

    fn scoped_compute_pass(&mut self, label: &str) -> ComputePass<'_> {
        self.scoped_compute_pass(label)
    }

    fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        self
    }

    fn is_timed(&self) -> bool {
        self.1
    }
}

impl Scope<'_> {
    /// Opens a nested scope.
    pub fn scope(&mut self, label: &str) -> Scope<'_> {
        match &mut self.0 {
            Kind::Plain(group) => group.0.scope(label),
            #[cfg(feature = "tools")]
            Kind::Timed(scope) => Scope(Kind::Timed(scope.scope(label)), self.1),
        }
    }

    /// Begins a compute pass.
    pub fn scoped_compute_pass(&mut self, label: &str) -> ComputePass<'_> {
        match &mut self.0 {
            Kind::Plain(group) => group.0.scoped_compute_pass(label),
            #[cfg(feature = "tools")]
            Kind::Timed(scope) => ComputePass(ComputeKind::Timed(scope.scoped_compute_pass(label))),
        }
    }
}

#[cfg(feature = "tools")]
impl<'a> Scope<'a> {
    /// Creates a scope under a profiler.
    pub(super) fn profiled(scope: wgpu_profiler::Scope<'a, wgpu::CommandEncoder>, is_timed: IsTimed) -> Self {
        Self(Kind::Timed(scope), is_timed)
    }

    /// Begins a render pass, with timestamps from the profiler.
    pub fn scoped_render_pass(
        &mut self,
        label: &str,
        descriptor: wgpu::RenderPassDescriptor<'_>,
    ) -> RenderPass<'_> {
        RenderPass(match &mut self.0 {
            Kind::Plain(group) => RenderKind::Plain(group.0.begin_render_pass(&descriptor)),
            Kind::Timed(scope) => RenderKind::Timed(scope.scoped_render_pass(label, descriptor)),
        })
    }

    /// Continues recording in `encoder`, in a scope named `label`, and returns the encoder with the commands
    /// so far.
    pub fn split(&mut self, label: &str, encoder: wgpu::CommandEncoder) -> wgpu::CommandEncoder {
        match &mut self.0 {
            Kind::Plain(group) => {
                group.0.pop_debug_group();
                let recorded = std::mem::replace(group.0, encoder);
                group.0.push_debug_group(label);
                recorded
            }
            Kind::Timed(scope) => {
                if let Some(query) = scope.scope.take() {
                    scope.profiler.end_query(scope.recorder, query);
                }
                let recorded = std::mem::replace(scope.recorder, encoder);
                scope.scope = Some(scope.profiler.begin_query(label, scope.recorder));
                recorded
            }
        }
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        self.0.pop_debug_group();
    }
}

impl Deref for Group<'_> {
    type Target = wgpu::CommandEncoder;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl DerefMut for Group<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

/// Dereferences a scope or a pass to the wgpu type that it wraps.
macro_rules! dereferences {
    ($name:ident, $kind:ident, $target:ty) => {
        impl<'a> Deref for $name<'a> {
            type Target = $target;

            fn deref(&self) -> &Self::Target {
                match &self.0 {
                    $kind::Plain(plain) => plain,
                    #[cfg(feature = "tools")]
                    $kind::Timed(timed) => timed,
                }
            }
        }

        impl DerefMut for $name<'_> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match &mut self.0 {
                    $kind::Plain(plain) => plain,
                    #[cfg(feature = "tools")]
                    $kind::Timed(timed) => timed,
                }
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
dereferences!(Scope, Kind, wgpu::CommandEncoder);
dereferences!(ComputePass, ComputeKind, wgpu::ComputePass<'a>);
#[cfg(feature = "tools")]
dereferences!(RenderPass, RenderKind, wgpu::RenderPass<'a>);
