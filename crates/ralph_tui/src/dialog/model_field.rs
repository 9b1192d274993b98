//! `ModelDialog`: another model for the agent.

use ralph_run::control::ControlCommand;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::one_line;
use terminal_input::{Edit, Key};

use super::{Anchor, BoxFrame, DialogStep};
use crate::bindings::{Action, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::{FieldKind, TextField, put};

#[derive(Debug)]
pub(crate) struct ModelDialog {
    field: TextField,
    error: Option<String>,
}

impl ModelDialog {
    pub(crate) fn new(model: Option<&str>) -> Self {
        Self {
            field: TextField::new(FieldKind::OneLine, model.unwrap_or_default()),
            error: None,
        }
    }

    /// Asks again, because the run refused.
    pub(crate) fn refused(model: Option<&str>, reason: &str) -> Self {
        Self {
            error: Some(one_line(reason, 200)),
            ..Self::new(model)
        }
    }

    pub(super) fn key(&mut self, key: &Key, keymap: &Keymap) -> DialogStep {
        if keymap.action(Context::Model, key) == Some(Action::Close) {
            return DialogStep::Close;
        }
        self.error = None;
        if self.field.key(key) != Edit::Complete {
            return DialogStep::Stay;
        }
        let model = self.field.text().trim().to_owned();
        DialogStep::Command(ControlCommand::SetModel {
            model: (!model.is_empty()).then_some(model),
        })
    }

    pub(super) fn render(
        &self,
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        let frame = BoxFrame {
            title: "Model",
            keys: &keymap.hints(Context::Model),
            anchor: Anchor::Center,
            columns: 54,
            rows: 3,
        };
        let inner = frame.render(area, buffer, theme);
        let field = Rect::new(inner.x, inner.y, inner.width, inner.height.min(1));
        let cursor = self.field.render(field, buffer, theme);
        let hint = "Leave it empty for the agent's default model.";
        put(buffer, inner, 1, hint, theme.style(Role::Faint));
        if let Some(error) = &self.error {
            let error = one_line(error, usize::from(inner.width));
            put(buffer, inner, 2, &error, theme.style(Role::Bad));
        }
        cursor
    }
}
