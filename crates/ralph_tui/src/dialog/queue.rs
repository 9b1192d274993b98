//! `QueueDialog`: messages on their way to the agent. Those that were not sent yet can be edited and withdrawn.

use ralph_run::control::ControlCommand;
use ralph_run::machine::SendMode;
use ralph_run::model::{Message, MessageState, RunModel};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use run_view::{message_state_word, one_line};
use terminal_input::{Edit, Key};

use super::{Anchor, BoxFrame, DialogStep, render_rows};
use crate::bindings::{Action, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::{FieldKind, ListScroll, TextField, pad, put};

/// The cursor is bound to the message, not to its row: messages before it may be sent meanwhile.
#[derive(Debug, Default)]
pub(crate) struct QueueDialog {
    selected: Option<String>,
    editing: Option<(String, TextField)>,
    remark: Option<String>,
    scroll: ListScroll,
}

impl QueueDialog {
    /// Continues an edit that the run refused.
    pub(crate) fn refused(message_id: &str, text: &str, reason: &str) -> Self {
        Self {
            selected: Some(message_id.to_owned()),
            editing: Some((message_id.to_owned(), TextField::new(FieldKind::Lines, text))),
            remark: Some(one_line(reason, 200)),
            scroll: ListScroll::default(),
        }
    }

    /// The row of the selected message; `None` if it is not on its way any more.
    fn place(&self, run: &RunModel) -> Option<usize> {
        let Some(selected) = &self.selected else {
            return Some(0);
        };
        run.messages().open().position(|message| message.id == *selected)
    }

    pub(super) fn is_editing(&self) -> bool {
        self.editing.is_some()
    }

    pub(super) fn key(&mut self, key: &Key, keymap: &Keymap, run: &RunModel) -> DialogStep {
        if let Some((id, field)) = &mut self.editing {
            self.remark = None;
            match (key, field.key(key)) {
                (Key::Escape, _) => self.editing = None,
                (_, Edit::Complete) if !field.text().trim().is_empty() => {
                    let command = ControlCommand::EditMessage {
                        message_id: id.clone(),
                        text: field.text(),
                    };
                    self.editing = None;
                    return DialogStep::CommandAndStay(command);
                }
                (_, Edit::Complete | Edit::Done | Edit::Ignored) => {}
            }
            return DialogStep::Stay;
        }
        let Some(action) = keymap.action(Context::Queue, key) else {
            return DialogStep::Stay;
        };
        if action == Action::Close {
            return DialogStep::Close;
        }
        self.remark = None;
        let messages: Vec<&Message> = run.messages().open().collect();
        let is_change = matches!(action, Action::EditMessage | Action::WithdrawMessage);
        let place = match (action, self.place(run)) {
            (Action::MessageDown, Some(place)) => (place + 1).min(messages.len().saturating_sub(1)),
            (Action::MessageUp, Some(place)) => place.saturating_sub(1),
            (_, Some(place)) => place,
            // Another message takes its place only if the user says so.
            (_, None) if is_change => {
                self.remark = Some("the selected message is gone; select another one".to_owned());
                return DialogStep::Stay;
            }
            (_, None) => 0,
        };
        let Some(message) = messages.get(place) else {
            return DialogStep::Stay;
        };
        self.selected = Some(message.id.clone());
        if is_change && message.state != MessageState::Queued {
            self.remark = Some("the agent has this message already".to_owned());
            return DialogStep::Stay;
        }
        match action {
            Action::EditMessage => {
                let field = TextField::new(FieldKind::Lines, &message.text);
                self.editing = Some((message.id.clone(), field));
                DialogStep::Stay
            }
            Action::WithdrawMessage => DialogStep::CommandAndStay(ControlCommand::WithdrawMessage {
                message_id: message.id.clone(),
            }),
            _ => DialogStep::Stay,
        }
    }

    pub(super) fn render(
        &mut self,
        run: &RunModel,
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        let messages: Vec<&Message> = run.messages().open().collect();
        if self.selected.is_none() {
            // What is shown as selected is what a key is about.
            self.selected = messages.first().map(|message| message.id.clone());
        }
        let place = self.place(run);
        let selected = place.and_then(|place| messages.get(place));
        let can_change = selected.is_some_and(|message| message.state == MessageState::Queued);
        let keys = match self.is_editing() {
            true => "enter save · esc cancel".to_owned(),
            false => keymap.hints_of(Context::Queue, |action| match action {
                Action::EditMessage | Action::WithdrawMessage => can_change,
                Action::Close => true,
                _ => !messages.is_empty(),
            }),
        };
        let field_rows = if self.is_editing() { 5 } else { 1 };
        let frame = BoxFrame {
            title: "Messages on their way",
            keys: &keys,
            anchor: Anchor::Center,
            columns: usize::from(area.width).min(100),
            rows: messages.len().max(1) + field_rows,
        };
        let inner = frame.render(area, buffer, theme);
        let list_rows = inner
            .height
            .saturating_sub(u16::try_from(field_rows).unwrap_or(1));
        let list = Rect::new(inner.x, inner.y, inner.width, list_rows);
        let rows: Vec<Line<'static>> = messages
            .iter()
            .enumerate()
            .map(|(index, message)| {
                let state = match (message.state, message.mode) {
                    // It is sent as soon as the agent takes messages.
                    (MessageState::Queued, SendMode::Steer) => "not sent",
                    (state, _) => message_state_word(state),
                };
                let columns = usize::from(inner.width).saturating_sub(11);
                let text = pad(&one_line(&message.text, columns), columns);
                let style = match Some(index) == place {
                    true => theme.style(Role::Selected),
                    false => ratatui::style::Style::new(),
                };
                Line::from(vec![
                    Span::styled(format!("{state:<10} "), theme.style(Role::Faint)),
                    Span::styled(text, style),
                ])
            })
            .collect();
        if rows.is_empty() {
            put(
                buffer,
                list,
                0,
                "No messages are waiting.",
                theme.style(Role::Faint),
            );
        }
        let row = |index: usize| rows.get(index).cloned().unwrap_or_default();
        let view = render_rows(rows.len(), &mut self.scroll, place, list, buffer, theme, row);
        if let Some(remark) = &self.remark {
            let remark = one_line(remark, usize::from(inner.width));
            put(buffer, inner, list_rows, &remark, theme.style(Role::Warning));
        }
        if let Some((_, field)) = &self.editing {
            let rows = inner.height.saturating_sub(list_rows + 1);
            let place = Rect::new(inner.x, inner.y + list_rows + 1, inner.width, rows);
            return field.render(place, buffer, theme);
        }
        let row = u16::try_from(place?.saturating_sub(view.start)).unwrap_or(0);
        (!messages.is_empty() && row < list_rows).then(|| Position::new(inner.x + 11, inner.y + row))
    }
}
