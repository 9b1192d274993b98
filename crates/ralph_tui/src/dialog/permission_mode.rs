//! `PermissionModeDialog`: what the agent may do without asking.

use ralph_run::control::{ControlCommand, PermissionChoice};
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::one_line;
use terminal_input::Key;

use super::{Anchor, BoxFrame, DialogStep};
use crate::theme::{Role, Theme};
use crate::widgets::put;

const CHOICES: [(PermissionChoice, &str, &str); 5] = [
    (PermissionChoice::Ask, "ask", "the agent asks"),
    (
        PermissionChoice::AcceptEdits,
        "accept edits",
        "edits need no permission",
    ),
    (
        PermissionChoice::Plan,
        "plan",
        "no changes until a plan is approved",
    ),
    (
        PermissionChoice::Refuse,
        "refuse",
        "what would be asked is refused",
    ),
    (
        PermissionChoice::Bypass,
        "bypass",
        "the agent can do anything you can",
    ),
];

#[derive(Debug, Default)]
pub(crate) struct PermissionModeDialog {
    selected: usize,
}

impl PermissionModeDialog {
    pub(super) fn key(&mut self, key: &Key) -> DialogStep {
        match key {
            Key::Escape => return DialogStep::Close,
            Key::Down | Key::Character('j' | '\t') => self.selected = (self.selected + 1) % CHOICES.len(),
            Key::Up | Key::BackTab | Key::Character('k') => {
                self.selected = (self.selected + CHOICES.len() - 1) % CHOICES.len();
            }
            Key::Character(digit @ '1'..='5') => {
                self.selected = usize::try_from(digit.to_digit(10).unwrap_or(1)).unwrap_or(1) - 1;
            }
            Key::Enter => {
                if let Some((mode, ..)) = CHOICES.get(self.selected) {
                    return DialogStep::Command(ControlCommand::SetPermissionMode { mode: *mode });
                }
            }
            _ => {}
        }
        DialogStep::Stay
    }

    /// The cursor stands on the selected row.
    pub(super) fn render(
        &self,
        run: &RunModel,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        let frame = BoxFrame {
            title: "Permission mode",
            keys: "enter change · esc cancel",
            anchor: Anchor::Center,
            columns: 56,
            rows: CHOICES.len() + 1,
        };
        let inner = frame.render(area, buffer, theme);
        let current = run.permission_mode().unwrap_or("unknown");
        let current = one_line(&format!("now: {current}"), usize::from(inner.width));
        put(buffer, inner, 0, &current, theme.style(Role::Faint));
        for (index, (_, name, meaning)) in CHOICES.iter().enumerate() {
            let row = u16::try_from(index + 1).unwrap_or(0);
            let is_selected = index == self.selected;
            let mark = if is_selected { '>' } else { ' ' };
            let text = format!("{mark} {} {name:<13} {meaning}", index + 1);
            let style = match is_selected {
                true => theme.style(Role::Selected),
                false => ratatui::style::Style::new(),
            };
            put(buffer, inner, row, &text, style);
        }
        let row = u16::try_from(self.selected + 1).unwrap_or(0);
        (row < inner.height).then(|| Position::new(inner.x, inner.y + row))
    }
}
