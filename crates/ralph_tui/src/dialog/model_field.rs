//! `ModelDialog`: another model for the agent.

use ralph_run::control::ControlCommand;
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::one_line;
use terminal_input::{Edit, Key};

use super::{Anchor, BoxFrame, DialogStep};
use crate::bindings::{Action, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::{FieldKind, TextField, put};

/// What is typed for the model that the agent chooses by itself.
const DEFAULT: &str = "default";

#[derive(Debug)]
pub(crate) struct ModelDialog {
    field: TextField,
    error: Option<String>,
}

impl ModelDialog {
    /// The field is empty, so that nothing is appended to the present model.
    pub(crate) fn new() -> Self {
        Self {
            field: TextField::new(FieldKind::OneLine, ""),
            error: None,
        }
    }

    /// Asks again, because the run refused.
    pub(crate) fn refused(model: Option<&str>, reason: &str) -> Self {
        Self {
            field: TextField::new(FieldKind::OneLine, model.unwrap_or(DEFAULT)),
            error: Some(one_line(reason, 200)),
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
        if model.is_empty() {
            self.error = Some("enter the name of a model, or `default`".to_owned());
            return DialogStep::Stay;
        }
        DialogStep::Command(ControlCommand::SetModel {
            model: (model != DEFAULT).then_some(model),
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
            title: "Model",
            keys: &keymap.hints(Context::Model),
            anchor: Anchor::Center,
            columns: 54,
            rows: 3,
        };
        let inner = frame.render(area, buffer, theme);
        let field = Rect::new(inner.x, inner.y, inner.width, inner.height.min(1));
        let cursor = self.field.render(field, buffer, theme);
        let now = run
            .model()
            .map(|model| format!("Now {model}. "))
            .unwrap_or_default();
        let hint = format!("{now}`default` is the agent's own choice.");
        let hint = one_line(&hint, usize::from(inner.width));
        put(buffer, inner, 1, &hint, theme.style(Role::Faint));
        if let Some(error) = &self.error {
            let error = one_line(error, usize::from(inner.width));
            put(buffer, inner, 2, &error, theme.style(Role::Bad));
        }
        cursor
    }
}
