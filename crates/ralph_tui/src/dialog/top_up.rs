//! `TopUpDialog`: raises the limits of a run.

use agent_api::MicroUsd;
use ralph_run::control::{ControlCommand, TopUp};
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::{one_line, parse_count, parse_duration, parse_money, parse_tokens};
use terminal_input::{Edit, Key};

use super::{Anchor, BoxFrame, DialogStep};
use crate::bindings::{Action, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::{FieldKind, TextField, put};

const LABELS: [&str; 4] = [
    "Cost, in dollars",
    "Iterations",
    "Time, such as 30m",
    "Tokens, such as 100k",
];
const LABEL_COLUMNS: u16 = 22;

#[derive(Debug)]
pub(crate) struct TopUpDialog {
    /// Cost, iterations, time, tokens.
    fields: [TextField; 4],
    focus: usize,
    error: Option<String>,
}

impl TopUpDialog {
    /// Suggests to double the limits that are reached.
    pub(crate) fn new(run: &RunModel) -> Self {
        let started = run.started();
        let max_cost = started
            .and_then(|started| started.max_cost)
            .filter(|max| *max > MicroUsd::ZERO && run.totals().cost.unwrap_or_default() >= *max);
        let max_iterations = started
            .map(|started| started.max_iterations)
            .filter(|max| *max > 0 && run.iteration() >= *max);
        let amounts = TopUp {
            cost: max_cost,
            iterations: max_iterations,
            ..TopUp::default()
        };
        Self::with_amounts(&amounts, None)
    }

    /// Asks again, because the run refused.
    pub(crate) fn refused(amounts: &TopUp, reason: &str) -> Self {
        Self::with_amounts(amounts, Some(one_line(reason, 200)))
    }

    fn with_amounts(amounts: &TopUp, error: Option<String>) -> Self {
        let texts = [
            amounts.cost.map(dollars),
            amounts.iterations.map(|iterations| iterations.to_string()),
            amounts.seconds.map(|seconds| format!("{seconds}s")),
            amounts.tokens.map(|tokens| tokens.to_string()),
        ];
        let focus = texts.iter().position(Option::is_some).unwrap_or(0);
        Self {
            fields: texts.map(|text| TextField::new(FieldKind::OneLine, &text.unwrap_or_default())),
            focus,
            error,
        }
    }

    pub(super) fn key(&mut self, key: &Key, keymap: &Keymap) -> DialogStep {
        let count = self.fields.len();
        match keymap.action(Context::Limits, key) {
            Some(Action::Close) => return DialogStep::Close,
            Some(Action::NextField) => self.focus = (self.focus + 1) % count,
            Some(Action::PreviousField) => self.focus = (self.focus + count - 1) % count,
            _ => {
                let Some(field) = self.fields.get_mut(self.focus) else {
                    return DialogStep::Stay;
                };
                self.error = None;
                if field.key(key) == Edit::Complete {
                    return self.submit();
                }
            }
        }
        DialogStep::Stay
    }

    fn submit(&mut self) -> DialogStep {
        match self.amounts() {
            Ok(amounts) => DialogStep::Command(ControlCommand::TopUp(amounts)),
            Err((focus, error)) => {
                self.focus = focus;
                self.error = Some(error);
                DialogStep::Stay
            }
        }
    }

    fn amounts(&self) -> Result<TopUp, (usize, String)> {
        let [cost, iterations, time, tokens] = &self.fields;
        let amounts = TopUp {
            cost: amount(0, "cost", cost, parse_money)?.filter(|cost| *cost > MicroUsd::ZERO),
            iterations: amount(1, "iterations", iterations, parse_count)?.filter(|count| *count > 0),
            seconds: amount(2, "time", time, parse_duration)?
                .map(|time| time.as_secs())
                .filter(|seconds| *seconds > 0),
            tokens: amount(3, "tokens", tokens, parse_tokens)?.filter(|count| *count > 0),
        };
        match amounts == TopUp::default() {
            true => Err((
                self.focus,
                "enter how much to add to at least one limit".to_owned(),
            )),
            false => Ok(amounts),
        }
    }

    pub(super) fn render(
        &self,
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        let frame = BoxFrame {
            title: "Raise limits by",
            keys: &keymap.hints(Context::Limits),
            anchor: Anchor::Center,
            columns: 54,
            rows: LABELS.len() + 2,
        };
        let inner = frame.render(area, buffer, theme);
        let mut cursor = None;
        for (index, (label, field)) in LABELS.iter().zip(&self.fields).enumerate() {
            let row = u16::try_from(index).unwrap_or(0);
            if row >= inner.height {
                break;
            }
            let is_focused = index == self.focus;
            let role = if is_focused { Role::Strong } else { Role::Faint };
            put(buffer, inner, row, label, theme.style(role));
            let columns = inner.width.saturating_sub(LABEL_COLUMNS);
            let place = Rect::new(
                inner.x + LABEL_COLUMNS.min(inner.width),
                inner.y + row,
                columns,
                1,
            );
            let at = field.render(place, buffer, theme);
            if is_focused {
                cursor = at;
            }
        }
        if let Some(error) = &self.error {
            let error = one_line(error, usize::from(inner.width));
            put(buffer, inner, 5, &error, theme.style(Role::Bad));
        }
        cursor
    }
}

type Parser<T> = fn(&str) -> Result<T, String>;

fn amount<T>(
    index: usize,
    name: &str,
    field: &TextField,
    parse: Parser<T>,
) -> Result<Option<T>, (usize, String)> {
    match field.text().trim() {
        "" => Ok(None),
        text => parse(text)
            .map(Some)
            .map_err(|error| (index, format!("{name} {error}"))),
    }
}

/// `2.5`, as the form reads it.
fn dollars(cost: MicroUsd) -> String {
    let micro_usd = cost.as_micro_usd();
    let text = format!("{}.{:06}", micro_usd / 1_000_000, micro_usd % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
