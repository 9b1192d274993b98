//! `ControlError`: why `ControlClient` got no receipt.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::refusal::Refusal;

/// Why a client got no receipt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// There is no socket, or no process listens on it.
    #[error("the run is not running (nothing is listening on `{}`)", path.display())]
    NotRunning { path: PathBuf },
    /// The runner is there and says nothing.
    #[error("the run did not answer within {} s", limit.as_secs())]
    Silent { limit: Duration },
    /// The runner closed the connection before it answered.
    #[error("the runner closed the connection; the run has probably ended")]
    Closed,
    #[error("`{}` is not a ralph control socket", path.display())]
    NotARunner { path: PathBuf },
    /// The client and the runner have no protocol version in common.
    #[error(
        "the run was started by ralph {ralph}, which speaks version {theirs} of the protocol, and this is \
         version {ours}: use the same ralph for both"
    )]
    Incompatible {
        ralph: String,
        /// The newest protocol of the runner.
        theirs: u32,
        /// The newest protocol of the client.
        ours: u32,
    },
    /// The command is too long for one line.
    #[error("too long: {length} bytes, and at most {limit} can be sent")]
    TooLong { length: usize, limit: usize },
    /// The runner does not do it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("cannot speak to the runner: {0}")]
    Io(#[from] io::Error),
}
