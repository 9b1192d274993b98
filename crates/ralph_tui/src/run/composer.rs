//! `Composer`: a message to the agent that is being written. Its draft is kept while it is closed.

use ralph_run::control::{ControlCommand, SendMode};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use terminal_input::{Edit, History, Key};

use crate::bindings::{Action, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::{FieldKind, TextField, put};

const FIELD_ROWS: u16 = 3;

#[derive(Debug)]
pub(super) struct Composer {
    field: TextField,
    /// Sent messages, for the arrow keys.
    sent: History,
    mode: SendMode,
    pub(super) is_open: bool,
    /// Whether it stays open after a message: in a conversation.
    pub(super) stays_open: bool,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            field: TextField::new(FieldKind::Lines, ""),
            sent: History::default(),
            mode: SendMode::Steer,
            is_open: false,
            stays_open: false,
        }
    }
}

impl Composer {
    pub(super) fn open(&mut self, mode: SendMode) {
        self.mode = mode;
        self.is_open = true;
    }

    pub(super) fn has_draft(&self) -> bool {
        !self.field.is_empty()
    }

    #[cfg(test)]
    pub(super) fn draft(&self) -> String {
        self.field.text()
    }

    /// Takes a key while it is open. Gives the message once it is complete.
    pub(super) fn key(&mut self, key: &Key, keymap: &Keymap) -> Option<ControlCommand> {
        match keymap.action(Context::Message, key) {
            Some(Action::Close) => self.is_open = false,
            Some(Action::SwitchSendMode) => {
                self.mode = match self.mode {
                    SendMode::Steer => SendMode::Queue,
                    SendMode::Queue => SendMode::Steer,
                };
            }
            Some(Action::OlderMessage) => self.sent.older(self.field.editor_mut()),
            Some(Action::NewerMessage) => self.sent.newer(self.field.editor_mut()),
            _ => {
                if self.field.key(key) == Edit::Complete && !self.field.text().trim().is_empty() {
                    let text = self.field.text();
                    self.sent.add(std::mem::take(self.field.editor_mut()));
                    self.is_open = self.stays_open;
                    return Some(ControlCommand::Send {
                        text,
                        mode: self.mode,
                    });
                }
            }
        }
        None
    }

    /// The message was refused: it comes back, unless another one was begun meanwhile.
    pub(super) fn restore(&mut self, text: &str, mode: SendMode) -> bool {
        if self.has_draft() {
            return false;
        }
        self.field.set_text(text);
        self.mode = mode;
        true
    }

    pub(super) fn rows(&self) -> u16 {
        if self.is_open { FIELD_ROWS + 1 } else { 0 }
    }

    pub(super) fn render(&self, area: Rect, buffer: &mut Buffer, theme: Theme) -> Option<Position> {
        let label = match self.mode {
            SendMode::Steer => "Message, as soon as possible",
            SendMode::Queue => "Message, when the agent is done",
        };
        let ruler = "─".repeat(usize::from(area.width));
        put(buffer, area, 0, &ruler, theme.style(Role::Frame));
        let title = Rect::new(area.x + 1, area.y, area.width.saturating_sub(1), 1);
        // Not in the color of the ruler below it.
        let style = Style::reset().patch(theme.style(Role::Strong));
        put(buffer, title, 0, &format!(" {label} "), style);
        let field = Rect::new(
            area.x + 1,
            area.y + 1,
            area.width.saturating_sub(2),
            area.height.saturating_sub(1),
        );
        self.field.render(field, buffer, theme)
    }
}
