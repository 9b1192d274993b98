//! The loop that owns a run: it spawns the agent, reads its lines, feeds a [`Protocol`], and resolves a completion.

mod callbacks;
mod completion;
mod deadlines;
mod driver;
mod events;
mod input;
mod link;
mod output_lines;
mod protocol;
mod start;
mod stderr_lines;

pub use callbacks::{Callback, CallbackOrder};
pub use completion::{Completion, RunLost};
pub use deadlines::TimeLimits;
pub use events::Events;
pub use link::{AgentLink, CancelOutcome, LinkError, RunLink, WaitGuard};
pub use protocol::{Activity, Protocol, RunEnd, StderrLine, StopCause};
pub use start::{Close, Run, RunSetup, WithoutControls, start};
