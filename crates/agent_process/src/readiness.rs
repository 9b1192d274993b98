//! Waiting for descriptors.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets the runtime wait until a descriptor can be read.
#[expect(
    unsafe_code,
    reason = "tokio cannot know by itself that the descriptor stays open"
)]
pub(crate) fn register(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` keeps its descriptor open and to itself until it is dropped, and `AsyncFd` deregisters first.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?)
}
