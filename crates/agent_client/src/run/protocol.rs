//! `Protocol`: what the loop needs to know about one agent. Implemented once per client crate.

use std::io;
use std::time::Duration;

use agent_process::ExitReport;
use bytes::Bytes;
use json_lines::Framed;

use super::callbacks::CallbackOrder;
use super::link::AgentLink;

/// One agent's protocol, as a state machine without a clock, a process or a channel: lines and commands go in, items
/// and bytes for the agent's input come out. The loop owns everything else.
pub trait Protocol: Send + 'static {
    /// What the consumer reads.
    type Item: Send + 'static;
    /// What the holder of the run can say.
    type Command: Send + 'static;
    /// What the completion resolves to.
    type Conclusion: Send + 'static;

    /// Handles the next line of output.
    fn on_line(&mut self, line: Framed, agent: &mut AgentLink<'_>);

    /// The output could not be read any further.
    fn on_output_error(&mut self, error: &io::Error);

    /// The output has ended. Callers that wait for an answer learn that none will come.
    fn on_end_of_output(&mut self) {}

    /// Handles a line on stderr.
    fn on_stderr(&mut self, line: StderrLine) {
        let _ = line;
    }

    /// Handles a command: writes it to the agent, or reports why not.
    fn on_command(&mut self, command: Self::Command, agent: &mut AgentLink<'_>);

    /// Takes the next order about callbacks. The command that a callback resolves to is handled like one of the holder.
    fn next_callback(&mut self) -> Option<CallbackOrder<Self::Command>> {
        None
    }

    /// Everything is done and the agent waits for the next message. Called once until there is more to do.
    fn on_idle(&mut self) {}

    /// Background tasks are still open this long after the last turn, and the caller has nothing more to say. They are
    /// stopped with the agent.
    fn on_background_timeout(&mut self, waited: Duration) {
        let _ = waited;
    }

    /// What the agent is doing.
    fn activity(&self) -> Activity;

    /// Whether a tool call is open: silence is normal for longer then.
    fn has_open_tool_call(&self) -> bool {
        false
    }

    /// How long the agent said it would be silent, for example before it asks its model again. Zero once it has written
    /// something else.
    fn announced_pause(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether no further command can be carried out, for example after a failed handshake. The input is then closed
    /// even if the caller asked to keep it open.
    fn is_over(&self) -> bool {
        false
    }

    /// The time after the start by which the agent must have answered, for handshakes.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// The agent did not answer before [`Protocol::deadline`].
    fn on_deadline(&mut self, agent: &mut AgentLink<'_>) {
        let _ = agent;
    }

    /// A request to stop working, for the agent's input. The agent gets it when the run is cancelled, and has a short
    /// grace before it is stopped by signals.
    fn cancel_request(&mut self) -> Option<Bytes> {
        None
    }

    /// The weight of the next item in the queue to the consumer; `None` if there is no item.
    fn next_weight(&self) -> Option<u32>;

    /// Takes the next item.
    fn next_item(&mut self) -> Option<Self::Item>;

    /// Concludes how the run ended. The last items can be queued here.
    fn conclude(&mut self, end: RunEnd) -> Self::Conclusion;
}

/// What an agent is doing. Decides which deadline applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A turn is open, or has not begun yet.
    Working,
    /// The agent waits for an answer from the caller.
    WaitingForAnswer,
    /// The last turn is finished; only background tasks are open.
    BackgroundOnly,
    /// Everything is done.
    Idle,
}

/// A line on stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StderrLine {
    /// Its text.
    Text(String),
    /// A line that is too long to be passed on; the log has it.
    Overlong {
        /// Its length.
        length_bytes: u64,
    },
    /// Some lines were skipped because there were too many at once; the log has them.
    Gap,
    /// All further lines are only in the log.
    LimitReached,
}

/// Why the loop stopped the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// The holder cancelled, or dropped the events.
    Cancelled,
    /// The agent was silent for too long.
    Stalled,
    /// The agent did not exit although everything was done.
    Lingered,
    /// The timeout was reached.
    TimedOut,
}

/// How the process ended, for [`Protocol::conclude`].
#[derive(Debug)]
pub struct RunEnd {
    /// Why the loop stopped the process, if it did, and whether everything was done by then.
    pub stop: Option<(StopCause, Activity)>,
    /// Whether the process was stopped at its timeout.
    pub is_overdue: bool,
    /// The time from the start to the exit.
    pub duration: Duration,
    /// The process's own end.
    pub exit: ExitReport,
}
