//! `ExitReport`: how a child ended.

use std::fmt;
use std::io;

use bytes::Bytes;

/// The outcome of a child. If we stopped it, that is the outcome, whatever status the system reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// The child exited by itself with this code.
    Code(i32),
    /// The child was ended by a signal that was not part of stopping it: from outside, its own, or an interrupt.
    Signal(i32),
    /// The child was stopped because a deadline passed: its timeout, or the one for exiting after it closed its
    /// output.
    TimedOut,
    /// The child was stopped because the caller asked for it or dropped its output.
    Cancelled,
    /// The child's status is unknown because its guard was killed or the runtime was shut down. The child was killed,
    /// and its descendants as far as the marker or the guard reached them.
    Lost,
}

impl Exit {
    /// Whether the child exited by itself with code 0.
    #[must_use]
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "exited with code {code}"),
            Self::Signal(9) => formatter.write_str("killed by signal 9 (out of memory?)"),
            Self::Signal(signal) => write!(formatter, "killed by signal {signal}"),
            Self::TimedOut => formatter.write_str("stopped: timed out"),
            Self::Cancelled => formatter.write_str("stopped on request"),
            Self::Lost => formatter.write_str("lost: exit status unknown"),
        }
    }
}

/// The status that the system reported for the child, also if we stopped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStatus {
    /// The exit code.
    Code(i32),
    /// The number of the signal that ended it.
    Signal(i32),
}

/// A step of the stop ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StopStep {
    /// SIGINT was sent to the child's process group.
    Interrupt,
    /// SIGTERM was sent to the child's process group.
    Terminate,
    /// The child and all its descendants were killed.
    Kill,
}

/// How a child ended. Available once the child and its descendants are gone.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExitReport {
    /// The outcome.
    pub exit: Exit,
    /// The status the system reported, also if we stopped the child.
    pub status: Option<WaitStatus>,
    /// The last step of the stop ladder that was taken, if any.
    pub stopped_by: Option<StopStep>,
    /// How many descendants were alive after the child's exit and had to be killed.
    pub survivors_killed: u32,
    /// How many descendants could not be killed: processes of other users, or ones stuck in the kernel.
    pub survivors_remaining: u32,
    /// The end of stderr, up to [`Limits::stderr_tail_bytes`](crate::Limits::stderr_tail_bytes).
    pub stderr_tail: Bytes,
    /// Total length of stderr.
    pub stderr_bytes: u64,
    /// Total length of stdout.
    pub stdout_bytes: u64,
    /// Set if the raw log could not be written to its end, for example because the disk is full. The output was
    /// delivered all the same.
    pub raw_log_error: Option<io::Error>,
    /// The same for the stderr log.
    pub stderr_log_error: Option<io::Error>,
    /// Whether another process truncated the spool. The bytes it cut off before they were read are lost.
    pub log_truncated: bool,
    /// Whether some bytes for stdin were not written because the child closed it, died or did not read.
    pub stdin_cut: bool,
}

impl ExitReport {
    /// A report with this outcome and nothing else.
    #[must_use]
    pub fn new(exit: Exit) -> Self {
        Self {
            exit,
            status: None,
            stopped_by: None,
            survivors_killed: 0,
            survivors_remaining: 0,
            stderr_tail: Bytes::new(),
            stderr_bytes: 0,
            stdout_bytes: 0,
            raw_log_error: None,
            stderr_log_error: None,
            log_truncated: false,
            stdin_cut: false,
        }
    }
}
