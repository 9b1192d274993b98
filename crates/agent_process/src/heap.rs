//! How the C library shares memory out among threads.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "the allocator's settings have no safe interface")
)]

/// What counts as large. Once it is set, the library does not raise it by itself.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: libc::c_int = 128 << 10;

/// Lets all threads take their memory from few places, for a program with more threads than work: by itself the C
/// library gives each thread a place of its own, and what one of them has freed no other one uses. Large pieces stay
/// apart and go back to the system when they are freed. To be called before there are threads. Does nothing elsewhere
/// than with the GNU library.
pub fn share_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: these only set numbers; what the library does not know it ignores.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE_BYTES);
    }
}
