//! How a child ended.

use std::fmt;
use std::io;

use bytes::Bytes;

/// The outcome of one child. What we caused comes first, then what the system reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited by itself with this code.
    Code(i32),
    /// A signal ended it that was not part of stopping it: one from outside, its own, or an interrupt.
    Signal(i32),
    /// A deadline passed and it was stopped: its timeout, or the one for exiting after it closed its output.
    TimedOut,
    /// It was stopped because the caller said so, or dropped its output.
    Cancelled,
    /// Nobody saw how it ended: its guard was killed, or the runtime was shut down. The child was killed; of its
    /// descendants those that the marker or the guard still reached.
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
            Self::TimedOut => formatter.write_str("stopped: its time was up"),
            Self::Cancelled => formatter.write_str("stopped on request"),
            Self::Lost => formatter.write_str("lost: nobody saw how it ended"),
        }
    }
}

/// What the system said about the child's end, whatever caused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStatus {
    /// An exit code.
    Code(i32),
    /// A signal's number.
    Signal(i32),
}

/// How far the stop ladder had to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopStep {
    /// SIGINT was sent to the child's process group.
    Interrupt,
    /// SIGTERM was sent.
    Terminate,
    /// Everything the child ever started was killed.
    Kill,
}

/// All that is known about a child once it and its descendants are gone.
#[derive(Debug)]
pub struct ExitReport {
    /// The outcome.
    pub exit: Exit,
    /// The status the child was reaped with, also when we stopped it.
    pub status: Option<WaitStatus>,
    /// The last step of the stop ladder that was needed, if any was.
    pub stopped_by: Option<StopStep>,
    /// How many descendants were still alive after the child's exit and had to be killed.
    pub survivors_killed: u32,
    /// How many descendants could not be killed: other users' processes, or ones stuck in the kernel.
    pub survivors_remaining: u32,
    /// The end of stderr.
    pub stderr_tail: Bytes,
    /// How many bytes stderr had in all.
    pub stderr_bytes: u64,
    /// How many bytes stdout had in all.
    pub stdout_bytes: u64,
    /// The raw log could not be written to its end (disk full?); the events were delivered all the same.
    pub raw_log_error: Option<io::Error>,
    /// Likewise for the log of stderr.
    pub stderr_log_error: Option<io::Error>,
    /// The spool shrank under us: somebody truncated the child's stdout, and what was cut off is lost.
    pub log_truncated: bool,
    /// Not all bytes for stdin were taken: the child closed it, died, or did not read.
    pub stdin_cut: bool,
}
