//! The line at the bottom of the terminal.

use agent_api::{ContextUse, MicroUsd, Status as AgentStatus};
use jiff::Timestamp;

use super::figures::{format_cents, format_clock};
use super::one_line::one_line;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// What the line at the bottom of the terminal tells.
#[derive(Debug, Clone, Default)]
pub(super) struct Status {
    pub(super) started_at: Option<Timestamp>,
    pub(super) iteration: u32,
    pub(super) max_iterations: u32,
    pub(super) max_cost: Option<MicroUsd>,
    /// What the attempts cost that have ended.
    pub(super) settled_cost: MicroUsd,
    /// What the present attempt costs so far.
    pub(super) open_cost: Option<MicroUsd>,
    /// Whether something in `settled_cost` is our own estimate.
    pub(super) is_settled_estimate: bool,
    /// Whether `open_cost` is.
    pub(super) is_open_estimate: bool,
    pub(super) context: Option<ContextUse>,
    pub(super) activity: Activity,
}

/// What goes on right now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Activity {
    #[default]
    Starting,
    Agent(AgentStatus),
    /// A tool or a verify command, in words.
    Call(String),
    /// Somebody has to answer.
    Waiting,
    /// Somebody has to say something, by this command.
    Message(String),
}

impl Status {
    /// `⠋ iteration 2/50 · 01:23 · $0.12 of $10.00 · context 34 % · Bash: cargo test`, at most `columns` wide.
    pub(super) fn render(&self, frame: usize, now: Timestamp, columns: usize) -> String {
        let mut text = SPINNER[frame % SPINNER.len()].to_string();
        let mut push = |part: String| {
            text.push_str(if text.chars().count() > 1 { " · " } else { " " });
            text.push_str(&part);
        };
        match (self.iteration, self.max_iterations) {
            (0, _) | (_, 1) => {}
            (number, 0) => push(format!("iteration {number}")),
            (number, most) => push(format!("iteration {number}/{most}")),
        }
        if let Some(started_at) = self.started_at {
            let elapsed = now.as_second().saturating_sub(started_at.as_second());
            push(format_clock(u64::try_from(elapsed).unwrap_or(0)));
        }
        let is_cost_known = self.open_cost.is_some() || self.settled_cost > MicroUsd::ZERO;
        let is_estimate = self.is_settled_estimate || (self.open_cost.is_some() && self.is_open_estimate);
        let cost = format!(
            "{}{}",
            if is_estimate { "~" } else { "" },
            format_cents(self.settled_cost + self.open_cost.unwrap_or_default())
        );
        match self.max_cost.filter(|most| *most > MicroUsd::ZERO) {
            Some(most) => push(format!("{cost} of {}", format_cents(most))),
            None if is_cost_known => push(cost),
            None => {}
        }
        if let Some(ContextUse {
            used,
            size: Some(size @ 1..),
        }) = self.context
        {
            push(format!("context {} %", used.saturating_mul(100) / size));
        }
        match &self.activity {
            Activity::Starting => push("starting".to_owned()),
            Activity::Call(label) => push(label.clone()),
            Activity::Waiting => push("waiting for an answer".to_owned()),
            Activity::Message(command) => push(format!("waiting for a message: {command}")),
            Activity::Agent(status) => push(
                match status {
                    AgentStatus::Requesting => "waiting for the model",
                    AgentStatus::Thinking => "thinking",
                    AgentStatus::Compacting => "compacting",
                    AgentStatus::Running => "working",
                    AgentStatus::Idle => "idle",
                    AgentStatus::Waiting => "waiting for an answer",
                }
                .to_owned(),
            ),
        }
        one_line(&text, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::{Activity, Status};
    use agent_api::{ContextUse, MicroUsd};
    use jiff::Timestamp;

    #[test]
    fn the_line_has_what_is_known_and_is_cut_to_the_width() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let status = Status {
            started_at: Some(at(1_000)),
            iteration: 2,
            max_iterations: 50,
            max_cost: Some(MicroUsd::new(10_000_000)),
            settled_cost: MicroUsd::new(100_000),
            open_cost: Some(MicroUsd::new(20_000)),
            context: Some(ContextUse {
                used: 68_000,
                size: Some(200_000),
            }),
            activity: Activity::Call("Bash: cargo test".to_owned()),
            ..Status::default()
        };
        assert_eq!(
            status.render(0, at(1_083), 100),
            "⠋ iteration 2/50 · 01:23 · $0.12 of $10.00 · context 34 % · Bash: cargo test"
        );
        assert_eq!(
            status.render(10, at(1_083), 39),
            "⠋ iteration 2/50 · 01:23 · $0.12 of $1…"
        );
        assert_eq!(status.render(1, at(1), 20), "⠙ iteration 2/50 · …");
        assert_eq!(Status::default().render(0, at(1), 100), "⠋ starting");
    }
}
