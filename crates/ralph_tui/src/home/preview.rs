//! `Preview`: the selected run at the side of the list, from its journal.

use std::time::{Duration, Instant};

use ralph_run::RunStatus;
use ralph_run::control::PendingRequest;
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use run_view::{cut_line, describe_permission, in_workspace, one_line, sanitise, wrap};

use super::row::{activity_of, name_of, state_of};
use crate::app::Now;
use crate::input::RunSummary;
use crate::theme::{Role, Theme};
use crate::widgets::put;

/// The cursor rests this long before a run is read.
const REST_TIME: Duration = Duration::from_millis(120);
/// A run that only works is read again after this long, and after this many times as long as reading it took.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
const REFRESH_FACTOR: u32 = 20;

/// How many rows the lists have at most.
const MAX_FILES: usize = 8;
const MAX_WARNINGS: usize = 3;

const MAX_CHARACTER_BYTES: usize = 4;

/// The model of the selected run, and the reads that were requested.
#[derive(Debug, Default)]
pub(super) struct Preview {
    run: Option<String>,
    selected_at: Option<Instant>,
    model: Option<Box<RunModel>>,
    /// Why it cannot be read.
    failure: Option<String>,
    asked: Option<Asked>,
    /// Whether a run is being read, be it this one or the one before: never two at once.
    is_reading: bool,
}

#[derive(Debug)]
struct Asked {
    at: Instant,
    /// How long it took to read it.
    took: Duration,
    status: RunStatus,
}

impl Preview {
    /// Another run, or none, is selected.
    pub(super) fn select(&mut self, run: Option<&str>, now: Instant) {
        if self.run.as_deref() != run {
            *self = Self {
                run: run.map(str::to_owned),
                selected_at: Some(now),
                is_reading: self.is_reading,
                ..Self::default()
            };
        }
    }

    pub(super) fn is_reading(&self) -> bool {
        self.is_reading
    }

    /// When the selected run is to be read; `None` if what is known is up to date, or a run is being read. What is
    /// missing for an answer is never up to date.
    pub(super) fn due_at(&self, status: &RunStatus, is_for_answer: bool) -> Option<Instant> {
        match &self.asked {
            _ if self.is_reading => None,
            None => Some(self.selected_at? + REST_TIME),
            Some(asked) if asked.status == *status && !is_for_answer => None,
            Some(asked) if asked.status.state != status.state && status.state.needs_person() => {
                Some(asked.at)
            }
            Some(asked) => Some(asked.at + REFRESH_INTERVAL.max(asked.took * REFRESH_FACTOR)),
        }
    }

    pub(super) fn note_asked(&mut self, status: &RunStatus, now: Instant) {
        self.asked = Some(Asked {
            at: now,
            took: Duration::ZERO,
            status: status.clone(),
        });
        self.is_reading = true;
    }

    /// A preview that comes after the cursor has moved on is dropped.
    pub(super) fn set_model(&mut self, run: &str, model: Box<RunModel>, now: Instant) {
        self.is_reading = false;
        if self.run.as_deref() == Some(run) {
            self.model = Some(model);
            self.failure = None;
            self.note_read(now);
        }
    }

    pub(super) fn set_failure(&mut self, run: &str, reason: &str, now: Instant) {
        self.is_reading = false;
        if self.run.as_deref() == Some(run) {
            self.failure = Some(reason.to_owned());
            self.note_read(now);
        }
    }

    fn note_read(&mut self, now: Instant) {
        if let Some(asked) = &mut self.asked {
            asked.took = now.saturating_duration_since(asked.at);
        }
    }

    /// What the selected run's journal says, if it is known.
    pub(super) fn model_of(&self, run: &str) -> Option<&RunModel> {
        self.model.as_deref().filter(|_| self.run.as_deref() == Some(run))
    }

    pub(super) fn render(&self, run: &RunSummary, area: Rect, buffer: &mut Buffer, theme: Theme, now: Now) {
        let mut page = Page { area, buffer, row: 0 };
        let columns = usize::from(area.width);
        let file = &run.file;
        page.line(&name_of(file, columns), theme.style(Role::Strong));
        let state = activity_of(run, now.at).unwrap_or_else(|| state_of(run).to_owned());
        page.line(&state, theme.style(Role::Tool));
        page.line(&file.workspace, theme.style(Role::Faint));
        let model = file.model.as_deref().unwrap_or_default();
        page.line(
            &format!("{} {model}", file.display_name),
            theme.style(Role::Faint),
        );
        let Some(model) = self.model_of(&file.run_id) else {
            page.skip();
            match &self.failure {
                Some(reason) => page.line(reason, theme.style(Role::Bad)),
                None => page.line("loading…", theme.style(Role::Faint)),
            }
            return;
        };
        page.requests(model, theme);
        page.warnings(model, theme);
        page.files(model, &file.workspace, theme);
        page.last_text(model, theme);
    }
}

/// Rows from the top. What does not fit is left out.
struct Page<'a> {
    area: Rect,
    buffer: &'a mut Buffer,
    row: u16,
}

impl Page<'_> {
    /// A line of untrusted text.
    fn line(&mut self, text: &str, style: Style) {
        let text = one_line(text, usize::from(self.area.width));
        self.safe_line(&text, style);
    }

    fn safe_line(&mut self, text: &str, style: Style) {
        put(self.buffer, self.area, self.row, text, style);
        self.row = self.row.saturating_add(1);
    }

    fn skip(&mut self) {
        self.row = self.row.saturating_add(1);
    }

    fn head(&mut self, text: &str, theme: Theme) {
        self.skip();
        self.safe_line(text, theme.style(Role::Faint));
    }

    fn requests(&mut self, model: &RunModel, theme: Theme) {
        if model.requests().is_empty() {
            return;
        }
        self.head("Open requests", theme);
        for request in model.requests().iter() {
            let text = match request {
                PendingRequest::Permission(asked) => describe_permission(asked),
                PendingRequest::Question(asked) => {
                    let questions: Vec<&str> = asked
                        .questions
                        .iter()
                        .map(|question| question.text.as_str())
                        .collect();
                    format!("question: {}", questions.join(" "))
                }
                PendingRequest::Plan(_) => "plan to approve".to_owned(),
            };
            self.line(&text, theme.style(Role::NeedsPerson));
        }
    }

    fn warnings(&mut self, model: &RunModel, theme: Theme) {
        let warnings = model.warnings();
        if warnings.is_empty() {
            return;
        }
        let count = model.counts().warnings;
        self.head(&format!("Warnings ({count})"), theme);
        for warned in warnings.iter().rev().take(MAX_WARNINGS) {
            self.line(&warned.message, theme.style(Role::Warning));
        }
    }

    fn files(&mut self, model: &RunModel, workspace: &str, theme: Theme) {
        let files = model.files();
        if files.is_empty() {
            return;
        }
        let count = files.iter().len();
        self.head(&format!("Changed files ({count})"), theme);
        // The newest are at the end.
        for file in files.iter().rev().take(MAX_FILES) {
            let changed = format!("+{} -{}", file.added, file.removed);
            self.line(
                &format!("{changed} {}", in_workspace(&file.path, workspace)),
                Style::new(),
            );
        }
        if let Some(more) = count.checked_sub(MAX_FILES).filter(|more| *more > 0) {
            self.safe_line(&format!("… {more} more"), theme.style(Role::Faint));
        }
    }

    /// The end of the last text, as much as fits.
    fn last_text(&mut self, model: &RunModel, theme: Theme) {
        let text = model.last_text().trim();
        let rows = usize::from(self.area.height.saturating_sub(self.row)).saturating_sub(2);
        if text.is_empty() || rows == 0 {
            return;
        }
        self.head("Last text", theme);
        let columns = usize::from(self.area.width);
        // As much of the end as could fit, and not a text of megabytes for each frame.
        let start = text.len().saturating_sub(rows * columns * MAX_CHARACTER_BYTES);
        let text = text.get(text.ceil_char_boundary(start)..).unwrap_or_default();
        let lines: Vec<String> = sanitise(text)
            .lines()
            .flat_map(|line| {
                let wrapped = wrap(line, 0, columns);
                wrapped.split('\n').map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        for line in lines.iter().skip(lines.len().saturating_sub(rows)) {
            self.safe_line(&cut_line(line, columns), Style::new());
        }
    }
}
