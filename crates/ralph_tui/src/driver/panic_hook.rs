//! `PanicHook`: restores the terminal before the message of a panic is written. `catch_panic()`: makes a panic of a helper
//! thread an error that the user sees.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;

type Hook = dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync;

/// Does the work of a helper thread. If it panics, the error says so: nothing waits for its result for ever.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // What the work had is dropped with it, so nothing half-changed is seen.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("internal error: {}", message.as_deref().unwrap_or("unknown"))
    })
}

/// In place until it is dropped.
pub(super) struct PanicHook {
    before: Arc<Hook>,
}

impl PanicHook {
    /// From now on, a panic of this thread restores the terminal with `restore` before it is reported. One of another
    /// thread is only logged: the terminal UI goes on, and nothing else may write to its screen.
    pub(super) fn install(restore: impl Fn() + Send + Sync + 'static) -> Self {
        let before: Arc<Hook> = Arc::from(panic::take_hook());
        let ours = thread::current().id();
        let report = Arc::clone(&before);
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == ours {
                restore();
                report(info);
            } else {
                tracing::error!(%info, "a thread of the terminal UI has failed");
            }
        }));
        Self { before }
    }
}

impl Drop for PanicHook {
    fn drop(&mut self) {
        // A thread that panics must not change the hook.
        if !thread::panicking() {
            let before = Arc::clone(&self.before);
            panic::set_hook(Box::new(move |info| before(info)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic;
    use std::sync::{Arc, Mutex};

    use super::{PanicHook, catch_panic};

    #[test]
    fn a_panic_of_a_helper_thread_is_an_error_in_words() {
        let failed = catch_panic(|| -> u8 { panic!("no row {}", 7) });
        assert_eq!(failed, Err("internal error: no row 7".to_owned()));
        assert_eq!(catch_panic(|| 7), Ok(7));
    }

    #[test]
    fn the_terminal_is_restored_before_the_message_and_only_for_our_thread() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let reported = Arc::clone(&order);
        panic::set_hook(Box::new(move |_| reported.lock().unwrap().push("reported")));
        let restored = Arc::clone(&order);
        let hook = PanicHook::install(move || restored.lock().unwrap().push("restored"));
        assert!(std::thread::spawn(|| panic!("elsewhere")).join().is_err());
        assert!(order.lock().unwrap().is_empty());
        assert!(panic::catch_unwind(|| panic!("here")).is_err());
        assert_eq!(*order.lock().unwrap(), ["restored", "reported"]);
        drop(hook);
        assert!(panic::catch_unwind(|| panic!("afterwards")).is_err());
        let _ = panic::take_hook();
        assert_eq!(*order.lock().unwrap(), ["restored", "reported", "reported"]);
    }
}
