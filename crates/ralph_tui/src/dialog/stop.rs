//! `StopDialog`: asks before a run is ended.

use ralph_run::control::ControlCommand;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use terminal_input::Key;

use super::{Anchor, BoxFrame, DialogStep};
use crate::theme::{Role, Theme};
use crate::widgets::put;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopKind {
    Stop,
    /// Of a loop, which ends with its turn.
    Interrupt,
}

#[derive(Debug)]
pub(crate) struct StopDialog {
    kind: StopKind,
}

impl StopDialog {
    pub(crate) fn new(kind: StopKind) -> Self {
        Self { kind }
    }

    pub(super) fn key(&self, key: &Key) -> DialogStep {
        match (self.kind, key) {
            (StopKind::Stop, Key::Character('y' | 'Y')) => DialogStep::Command(ControlCommand::Stop),
            (StopKind::Stop, Key::Character('k' | 'K')) => DialogStep::Command(ControlCommand::Kill),
            (StopKind::Interrupt, Key::Character('y' | 'Y')) => {
                DialogStep::Command(ControlCommand::Interrupt)
            }
            (_, Key::Escape | Key::Character('n' | 'N')) => DialogStep::Close,
            _ => DialogStep::Stay,
        }
    }

    pub(super) fn render(&self, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let (title, rows, keys) = match self.kind {
            StopKind::Stop => (
                "Stop the run?",
                [
                    "Stopping lets the agent finish cleanly.",
                    "Killing ends its process at once.",
                ],
                "y stop · k kill · esc keep running",
            ),
            StopKind::Interrupt => (
                "Interrupt the agent?",
                [
                    "This run is a loop: interrupting the agent ends the run.",
                    "To give it a hint instead, send a message.",
                ],
                "y interrupt · esc keep running",
            ),
        };
        let frame = BoxFrame {
            title,
            keys,
            anchor: Anchor::Center,
            columns: 56,
            rows: rows.len(),
        };
        let inner = frame.render(area, buffer, theme);
        for (row, text) in (0..).zip(rows) {
            let role = if row == 0 { Role::Strong } else { Role::Faint };
            put(buffer, inner, row, text, theme.style(role));
        }
    }
}
