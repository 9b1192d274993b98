//! `PermissionModeDialog`: what the agent may do without asking.

use ralph_run::control::{ControlCommand, PermissionChoice};
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::one_line;
use terminal_input::Key;

use super::{Anchor, BoxFrame, DialogStep};
use crate::bindings::{Action, Context, Keymap};
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
    pub(super) fn key(&mut self, key: &Key, keymap: &Keymap) -> DialogStep {
        match keymap.action(Context::PermissionMode, key) {
            Some(Action::Close) => return DialogStep::Close,
            Some(Action::Down) => self.selected = (self.selected + 1) % CHOICES.len(),
            Some(Action::Up) => self.selected = (self.selected + CHOICES.len() - 1) % CHOICES.len(),
            Some(Action::ChooseOption) => {
                if let Key::Character(digit) = key {
                    let number = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                    self.selected = number.and_then(|number| number.checked_sub(1)).unwrap_or(0);
                }
            }
            Some(Action::Submit) => {
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
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        let frame = BoxFrame {
            title: "Permission mode",
            keys: &keymap.hints(Context::PermissionMode),
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
