//! How the C library shares memory out among threads.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "the allocator's settings have no safe interface")
)]

/// Lets all threads take their memory from few places, for a program with more threads than work: by itself the C
/// library gives each thread a place of its own, and what one of them has freed no other one uses. To be called before
/// there are threads. Does nothing elsewhere than with the GNU library.
pub fn share_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: only sets a number; one that it does not know is ignored.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}
