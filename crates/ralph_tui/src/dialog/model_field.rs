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

const COLUMNS: usize = 54;

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
        let notes = self.notes(run);
        let frame = BoxFrame {
            title: "Model",
            keys: &keymap.hints(Context::Model),
            anchor: Anchor::Center,
            columns: COLUMNS,
            rows: 1 + notes.len(),
        };
        let inner = frame.render(area, buffer, theme);
        let field = Rect::new(inner.x, inner.y, inner.width, inner.height.min(1));
        let cursor = self.field.render(field, buffer, theme);
        for (row, (text, role)) in (1..).zip(&notes) {
            put(buffer, inner, row, text, theme.style(*role));
        }
        cursor
    }

    /// The rows below the field.
    fn notes(&self, run: &RunModel) -> Vec<(String, Role)> {
        let current = run
            .model()
            .map(|model| format!("Now {model}."))
            .unwrap_or_default();
        let meaning = "`default` is the agent's own choice.".to_owned();
        let error = self.error.clone().unwrap_or_default();
        let notes = [(current, Role::Faint), (meaning, Role::Faint), (error, Role::Bad)];
        let rows = notes.into_iter().flat_map(|(text, role)| {
            let text = run_view::wrap(&one_line(&text, 200), 0, COLUMNS);
            text.lines().map(|row| (row.to_owned(), role)).collect::<Vec<_>>()
        });
        rows.filter(|(row, _)| !row.is_empty()).collect()
    }
}
