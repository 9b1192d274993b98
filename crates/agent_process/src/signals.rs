//! What this process inherited for a signal, and stopping itself like a program without a handler.
#![expect(unsafe_code, reason = "sigaction and raise have no safe interface")]

use std::mem::MaybeUninit;
use std::ptr;

/// Whether a signal is ignored. Before a program installs handlers, that means that its parent wants it so, as `nohup`
/// does for SIGHUP and a shell without job control for SIGINT and SIGQUIT of background commands.
#[must_use]
pub fn is_signal_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the call only fills `action`, which is valid in any case, as it is plain memory that was zeroed.
    let action = unsafe {
        if libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) != 0 {
            return false;
        }
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

/// Stops this process by SIGTSTP with its default action, for which the kernel decides whether anyone can continue it.
pub(crate) fn stop_this_process() {
    // SAFETY: both actions are plain memory; the default action has no handler. A signal that is raised is delivered to
    // this thread before the call returns, so the handler is not restored too early.
    unsafe {
        let mut handler = MaybeUninit::<libc::sigaction>::zeroed();
        let mut default = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        default.sa_sigaction = libc::SIG_DFL;
        if libc::sigaction(libc::SIGTSTP, &raw const default, handler.as_mut_ptr()) == 0 {
            libc::raise(libc::SIGTSTP);
            libc::sigaction(libc::SIGTSTP, handler.as_ptr(), ptr::null_mut());
        }
    }
}
