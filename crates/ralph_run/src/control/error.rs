//! Why a client got no receipt.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::refusal::Refusal;

/// Why a client got no receipt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// There is no socket, or nobody listens on it.
    #[error("the run is not running (nothing is listening on `{}`)", path.display())]
    NotRunning {
        /// The socket.
        path: PathBuf,
    },
    /// The runner is there and says nothing.
    #[error("the run did not answer within {} s", limit.as_secs())]
    Silent {
        /// How long it was given.
        limit: Duration,
    },
    /// The runner closed the connection before it answered.
    #[error("the runner closed the connection; the run has probably ended")]
    Closed,
    /// Something else listens there.
    #[error("`{}` is not a ralph control socket", path.display())]
    NotARunner {
        /// The socket.
        path: PathBuf,
    },
    /// There is no version of the protocol that both speak.
    #[error(
        "the run was started by ralph {ralph}, which speaks version {theirs} of the protocol, and this is \
         version {ours}: use the same ralph for both"
    )]
    Incompatible {
        /// The runner's version of ralph.
        ralph: String,
        /// The newest protocol of the runner.
        theirs: u32,
        /// The newest protocol of the client.
        ours: u32,
    },
    /// The command is too long for one line.
    #[error("too long: {length} bytes, and at most {limit} can be sent")]
    TooLong {
        /// Its length.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// The runner does not do it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// What the system said.
    #[error("cannot speak to the runner: {0}")]
    Io(#[from] io::Error),
}
