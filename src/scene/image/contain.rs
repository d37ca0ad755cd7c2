//! Keeps a decoder's panic to the image that caused it.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    /// Whether this thread is inside of [`panics`].
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; `None` if it panicked, of which nothing is printed.
pub(super) fn panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                print(info);
            }
        }));
    });
    let outer = INSIDE.replace(true);
    // Whatever `work` was about to change is dropped, or a message at most.
    let outcome = panic::catch_unwind(AssertUnwindSafe(work)).ok();
    INSIDE.set(outer);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::unnecessary_literal_unwrap, reason = "something has to panic")]
    fn a_panic_is_nothing_and_a_value_is_one() {
        assert_eq!(panics(|| None::<u32>.unwrap()), None);
        assert_eq!(panics(|| 3), Some(3));
        assert!(!INSIDE.get());
    }
}
