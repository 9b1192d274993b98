//! `PermissionModeDialog`: what the agent may do without asking.

use ralph_run::control::{ControlCommand, PermissionChoice};
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::{one_line, permission_choice_words, permission_mode_words};
use terminal_input::Key;

use super::{Anchor, BoxFrame, DialogStep};
use crate::bindings::{Action, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::put;

const CHOICES: [(PermissionChoice, &str); 5] = [
    (PermissionChoice::Ask, "the agent asks"),
    (PermissionChoice::AcceptEdits, "edits need no permission"),
    (PermissionChoice::Plan, "no changes until a plan is approved"),
    (PermissionChoice::Refuse, "what would be asked is refused"),
    (PermissionChoice::Bypass, "the agent can do anything you can"),
];

#[derive(Debug, Default)]
pub(crate) struct PermissionModeDialog {
    selected: usize,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Choose,
    /// Enter came too soon after another key.
    TooSoon,
    /// Asks whether the agent may really do so much without asking.
    Confirm,
}

impl PermissionModeDialog {
    /// Enter and the answer to the question take effect only when nothing was typed for a moment.
    pub(super) fn key(&mut self, key: &Key, is_armed: bool, keymap: &Keymap) -> DialogStep {
        let action = keymap.action(Context::PermissionMode, key);
        if self.stage == Stage::Confirm {
            return self.confirm_key(key, action, is_armed);
        }
        self.stage = Stage::Choose;
        match action {
            Some(Action::Close) => return DialogStep::Close,
            Some(Action::Down) => self.selected = (self.selected + 1) % CHOICES.len(),
            Some(Action::Up) => self.selected = (self.selected + CHOICES.len() - 1) % CHOICES.len(),
            Some(Action::ChooseOption) => {
                if let Key::Character(digit) = key {
                    let number = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                    self.selected = number.and_then(|number| number.checked_sub(1)).unwrap_or(0);
                }
            }
            Some(Action::Submit) if !is_armed => self.stage = Stage::TooSoon,
            Some(Action::Submit) if self.question().is_some() => self.stage = Stage::Confirm,
            Some(Action::Submit) => return self.command(),
            _ => {}
        }
        DialogStep::Stay
    }

    fn confirm_key(&mut self, key: &Key, action: Option<Action>, is_armed: bool) -> DialogStep {
        match key {
            Key::Character('y') if is_armed => return self.command(),
            Key::Character('n') => self.stage = Stage::Choose,
            _ if action == Some(Action::Close) => self.stage = Stage::Choose,
            _ => {}
        }
        DialogStep::Stay
    }

    fn command(&self) -> DialogStep {
        match CHOICES.get(self.selected) {
            Some((mode, ..)) => DialogStep::Command(ControlCommand::SetPermissionMode { mode: *mode }),
            None => DialogStep::Stay,
        }
    }

    /// What is asked before the agent may do more without asking.
    fn question(&self) -> Option<[&'static str; 2]> {
        match CHOICES.get(self.selected)?.0 {
            PermissionChoice::AcceptEdits => Some([
                "Let the agent edit files without asking?",
                "You see its edits only after they are made.",
            ]),
            PermissionChoice::Bypass => Some([
                "Turn permission checks off?",
                "The agent can then do anything you can, unasked.",
            ]),
            PermissionChoice::Ask | PermissionChoice::Plan | PermissionChoice::Refuse => None,
        }
    }

    fn render_question(question: [&str; 2], is_armed: bool, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let frame = BoxFrame {
            title: "Permission mode",
            keys: if is_armed { "y yes · esc back" } else { "" },
            anchor: Anchor::Center,
            columns: 56,
            rows: question.len(),
        };
        let inner = frame.render(area, buffer, theme);
        for (row, (text, role)) in (0..).zip(question.into_iter().zip([Role::Bad, Role::Strong])) {
            put(buffer, inner, row, text, theme.style(role));
        }
    }

    /// The cursor stands on the selected row.
    pub(super) fn render(
        &self,
        run: &RunModel,
        is_armed: bool,
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        if let Some(question) = self.question().filter(|_| self.stage == Stage::Confirm) {
            Self::render_question(question, is_armed, area, buffer, theme);
            return None;
        }
        let keys = match self.stage {
            Stage::TooSoon => "press enter once more to change it".to_owned(),
            Stage::Choose | Stage::Confirm => keymap.hints(Context::PermissionMode),
        };
        let frame = BoxFrame {
            title: "Permission mode",
            keys: &keys,
            anchor: Anchor::Center,
            columns: 56,
            rows: CHOICES.len() + 1,
        };
        let inner = frame.render(area, buffer, theme);
        let current = run.permission_mode().map_or("unknown", permission_mode_words);
        let current = one_line(&format!("now: {current}"), usize::from(inner.width));
        put(buffer, inner, 0, &current, theme.style(Role::Faint));
        for (index, (choice, meaning)) in CHOICES.iter().enumerate() {
            let name = permission_choice_words(*choice);
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
