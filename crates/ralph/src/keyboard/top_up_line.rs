//! `TopUpLine`: raises the limit that a run waits at. `Keyboard` shows it while the run waits for a higher limit.

use std::time::{Duration, Instant};

use agent_api::MicroUsd;
use ralph_run::control::{ControlCommand, TopUp};
use ralph_run::{BudgetAwaited, LimitKind};

use super::input_lines::render_input;
use run_view::{armed_at, parse_count, parse_duration, parse_money, parse_tokens};
use terminal_input::{Edit, Key, LineEditor};

use super::state::KeyAction;
use crate::console::InputArea;
use crate::settings::show_duration;

/// An amount to add to a limit, as `ralph top-up` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedTopUp {
    /// `--cost`.
    pub option: &'static str,
    /// `10`.
    pub amount: String,
}

impl ProposedTopUp {
    /// Doubles the limit that was reached; a usual amount where an older journal does not have it.
    pub fn new(awaited: &BudgetAwaited) -> Self {
        let value = awaited.limit_value.filter(|value| *value > 0);
        let (option, amount) = match TopUpLimit::of(awaited) {
            Some(TopUpLimit::Tokens) => ("--tokens", show_tokens(value.unwrap_or(100_000))),
            Some(TopUpLimit::Iterations) => ("--iterations", value.unwrap_or(10).to_string()),
            Some(TopUpLimit::Time) => {
                let time = Duration::from_secs(value.unwrap_or(60 * 60));
                ("--time", show_duration(&time).replace(' ', ""))
            }
            Some(TopUpLimit::Cost) | None => {
                let cost = MicroUsd::new(value.unwrap_or(5_000_000)).to_string();
                ("--cost", show_dollars(&cost))
            }
        };
        Self { option, amount }
    }
}

/// `100k`, but `1500`.
fn show_tokens(tokens: u64) -> String {
    match tokens % 1_000 {
        0 => format!("{}k", tokens / 1_000),
        _ => tokens.to_string(),
    }
}

/// `10` of `$10.00`.
fn show_dollars(cost: &str) -> String {
    let amount = cost.trim_start_matches('$');
    amount.strip_suffix(".00").unwrap_or(amount).to_owned()
}

/// The limits that can be raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TopUpLimit {
    Cost,
    Tokens,
    Iterations,
    Time,
}

impl TopUpLimit {
    fn of(awaited: &BudgetAwaited) -> Option<Self> {
        match awaited.limit.known()? {
            LimitKind::Cost => Some(Self::Cost),
            LimitKind::Tokens => Some(Self::Tokens),
            LimitKind::Iterations => Some(Self::Iterations),
            LimitKind::Runtime => Some(Self::Time),
            LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage => None,
        }
    }

    fn prompt(self) -> &'static str {
        match self {
            Self::Cost => "Raise the cost limit by $",
            Self::Tokens => "Raise the token limit by ",
            Self::Iterations => "Raise the iteration limit by ",
            Self::Time => "Raise the time limit by ",
        }
    }

    fn top_up(self, text: &str) -> Result<TopUp, String> {
        let mut amounts = TopUp::default();
        match self {
            Self::Cost => amounts.cost = Some(parse_money(text)?),
            Self::Tokens => amounts.tokens = Some(parse_tokens(text)?),
            Self::Iterations => amounts.iterations = Some(parse_count(text)?),
            Self::Time => amounts.seconds = Some(parse_duration(text)?.as_secs()),
        }
        Ok(amounts)
    }
}

/// A limit that the run waits at, and the amount that is being typed.
#[derive(Debug)]
pub(super) struct TopUpLine {
    limit: TopUpLimit,
    proposal: String,
    shown_at: Instant,
    /// None until a key opens it.
    editor: Option<LineEditor>,
}

impl TopUpLine {
    /// `None` for a limit that cannot be raised.
    pub(super) fn new(awaited: &BudgetAwaited, now: Instant) -> Option<Self> {
        Some(Self {
            limit: TopUpLimit::of(awaited)?,
            proposal: ProposedTopUp::new(awaited).amount,
            shown_at: now,
            editor: None,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.editor.is_some()
    }

    pub(super) fn close(&mut self) {
        self.editor = None;
    }

    /// When a key can open it.
    pub(super) fn armed_at(&self, last_key_at: Option<Instant>) -> Instant {
        armed_at(self.shown_at, last_key_at)
    }

    /// Takes a key; `None` if it is not meant for this line. Text that was being typed when the limit was reached does
    /// not open it.
    pub(super) fn update(
        &mut self,
        key: &Key,
        last_key_at: Option<Instant>,
        now: Instant,
    ) -> Option<Vec<KeyAction>> {
        let is_armed = now >= self.armed_at(last_key_at);
        let Some(editor) = &mut self.editor else {
            return match key {
                Key::Character('t' | 'T') if is_armed => {
                    let mut editor = LineEditor::default();
                    editor.apply(&Key::Paste(self.proposal.clone()));
                    self.editor = Some(editor);
                    Some(Vec::new())
                }
                _ => None,
            };
        };
        match key {
            Key::Escape | Key::EndOfInput => self.close(),
            Key::LineBreak | Key::OversizedPaste => {}
            key => {
                if editor.apply(key) == Edit::Complete {
                    return Some(vec![self.submit()]);
                }
            }
        }
        Some(Vec::new())
    }

    /// A wrong amount stays, to be corrected.
    fn submit(&mut self) -> KeyAction {
        let text = self.editor.as_ref().map(LineEditor::text).unwrap_or_default();
        match self.limit.top_up(&text) {
            Ok(amounts) => {
                self.close();
                KeyAction::Command(ControlCommand::TopUp(amounts))
            }
            Err(why) => KeyAction::Notice(format!("the amount {why}")),
        }
    }

    /// The amount that is being typed.
    pub(super) fn render(&self, columns: usize) -> Option<InputArea> {
        let editor = self.editor.as_ref()?;
        Some(render_input(self.limit.prompt(), editor, columns))
    }

    /// The keys that the status line names.
    pub(super) fn hint(&self, last_key_at: Option<Instant>, now: Instant) -> &'static str {
        match self.is_open() {
            true => "enter raise · esc cancel",
            false if now < self.armed_at(last_key_at) => "",
            false => "t raise the limit",
        }
    }
}

#[cfg(test)]
mod tests {
    use ralph_run::{BudgetAwaited, LimitKind};

    use super::ProposedTopUp;

    #[test]
    fn the_proposal_doubles_the_limit_in_the_words_of_the_command() {
        let proposed = |limit: LimitKind, limit_value| {
            let awaited = BudgetAwaited {
                limit: limit.into(),
                message: String::new(),
                limit_value,
                until: None,
            };
            let ProposedTopUp { option, amount } = ProposedTopUp::new(&awaited);
            format!("{option} {amount}")
        };
        assert_eq!(proposed(LimitKind::Cost, Some(10_000_000)), "--cost 10");
        assert_eq!(proposed(LimitKind::Cost, Some(2_500_000)), "--cost 2.50");
        assert_eq!(proposed(LimitKind::Tokens, Some(250_000)), "--tokens 250k");
        assert_eq!(proposed(LimitKind::Tokens, Some(1_234)), "--tokens 1234");
        assert_eq!(proposed(LimitKind::Iterations, Some(50)), "--iterations 50");
        assert_eq!(proposed(LimitKind::Runtime, Some(5_400)), "--time 1h30m");
        // Of an older journal.
        assert_eq!(proposed(LimitKind::Cost, None), "--cost 5");
        assert_eq!(proposed(LimitKind::Runtime, None), "--time 1h");
    }
}
