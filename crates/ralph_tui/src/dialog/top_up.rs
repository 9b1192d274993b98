//! `TopUpDialog`: raises the limits of a run.

use agent_api::MicroUsd;
use ralph_run::RunKind;
use ralph_run::control::{ControlCommand, TopUp};
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::{format_cents, one_line, parse_count, parse_duration, parse_money, parse_tokens};
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
const LABEL_COLUMNS: u16 = 21;
const FIELD_COLUMNS: u16 = 11;

#[derive(Debug)]
pub(crate) struct TopUpDialog {
    /// Cost, iterations, time, tokens.
    fields: [TextField; 4],
    focus: usize,
    error: Option<String>,
}

impl TopUpDialog {
    /// All fields are empty, so that nothing is appended to a number that nobody typed. The cursor is in the field of
    /// the limit that is reached.
    pub(crate) fn new(run: &RunModel) -> Self {
        let is_cost_reached = max_cost(run).is_some_and(|max| run.spent_of_limit() >= max);
        let are_iterations_used = max_iterations(run).is_some_and(|max| run.iteration() >= max);
        Self {
            focus: usize::from(are_iterations_used && !is_cost_reached),
            ..Self::with_amounts(&TopUp::default(), None)
        }
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

    /// The present limit beside a field, and what it becomes: `$5.00 → $15.00`.
    fn limit_line(&self, index: usize, run: &RunModel) -> Option<String> {
        let text = self.fields.get(index)?.text();
        let (before, after) = match index {
            0 => {
                let max = max_cost(run)?;
                let added = parse_money(text.trim()).ok();
                let sum =
                    |added: MicroUsd| MicroUsd::new(max.as_micro_usd().saturating_add(added.as_micro_usd()));
                (format_cents(max), added.map(sum).map(format_cents))
            }
            1 => {
                let max = max_iterations(run)?;
                let added = parse_count(text.trim()).ok();
                let sum = |added: u32| max.saturating_add(added).to_string();
                (max.to_string(), added.map(sum))
            }
            _ => return None,
        };
        Some(match after {
            Some(after) => format!("{before} → {after}"),
            None => format!("now {before}"),
        })
    }

    pub(super) fn render(
        &self,
        run: &RunModel,
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        let frame = BoxFrame {
            title: "Add to the limits",
            keys: &keymap.hints(Context::Limits),
            anchor: Anchor::Center,
            columns: 56,
            rows: LABELS.len() + 3,
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
            let limit = self.limit_line(index, run);
            let free = inner.width.saturating_sub(LABEL_COLUMNS);
            let columns = if limit.is_some() {
                FIELD_COLUMNS.min(free)
            } else {
                free
            };
            let place = Rect::new(
                inner.x + LABEL_COLUMNS.min(inner.width),
                inner.y + row,
                columns,
                1,
            );
            if let Some(limit) = limit {
                let beside = Rect::new(place.right(), place.y, free - columns, 1);
                put(buffer, beside, 0, &format!(" {limit}"), theme.style(Role::Faint));
            }
            let at = field.render(place, buffer, theme);
            if is_focused {
                cursor = at;
            }
        }
        if let Some(error) = &self.error {
            let lines = run_view::wrap(&one_line(error, 200), 0, usize::from(inner.width));
            for (row, line) in (4..inner.height).zip(lines.lines()) {
                put(buffer, inner, row, line, theme.style(Role::Bad));
            }
        }
        cursor
    }
}

fn max_cost(run: &RunModel) -> Option<MicroUsd> {
    let max = run.started().and_then(|started| started.max_cost);
    max.filter(|max| *max > MicroUsd::ZERO)
}

/// Those of a conversation are not shown: each message is one.
fn max_iterations(run: &RunModel) -> Option<u32> {
    let started = run.started().filter(|started| started.kind != RunKind::Session);
    started
        .map(|started| started.max_iterations)
        .filter(|max| *max > 0)
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
