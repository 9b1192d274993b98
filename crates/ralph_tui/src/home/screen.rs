//! `HomeScreen`: the list of runs, what is open above it, and what arrives from outside. See `keys`, `mouse` and `draw`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ralph_run::control::PendingRequest;
use ralph_run::model::{RunModel, RunState, WaitingFor};
use ralph_run::short_run_id;
use ratatui::layout::Rect;
use run_view::one_line;
use terminal_input::armed_at;

use super::answer_dialog::AnswerDialog;
use super::new_run_form::NewRunForm;
use super::preview::Preview;
use super::row::{name_of, next_change_seconds};
use super::run_table::RunTable;
use crate::app::{ClockRate, Now};
use crate::bindings::Keymap;
use crate::dialog::StopDialog;
use crate::effect::Effect;
use crate::input::{Reply, RunSummary};

/// From here on the selected run is shown at the side.
pub(super) const PREVIEW_MIN_COLUMNS: u16 = 140;

/// How long a notice is shown.
const NOTICE_TIME: Duration = Duration::from_secs(6);

/// How much of a title a notice or a dialog has.
pub(super) const NAME_COLUMNS: usize = 40;

/// What has the keys instead of the list.
#[derive(Debug)]
pub(super) enum HomeDialog {
    /// The text of the filter is being typed.
    Filter,
    /// Asks whether this run is to be stopped.
    Stop {
        run: String,
        name: String,
        dialog: StopDialog,
    },
    NewRun,
    Answer(Box<AnswerDialog>),
}

/// Where the run that is being started was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartedFrom {
    Form,
    /// A run of the list was resumed or forked.
    List,
}

#[derive(Debug, Default)]
pub(crate) struct HomeScreen {
    pub(super) keymap: Arc<Keymap>,
    pub(super) list: RunTable,
    pub(super) dialog: Option<HomeDialog>,
    /// Kept while it is closed: a draft is not lost.
    pub(super) form: Option<NewRunForm>,
    /// Set until `started`: a second key must not start a second run.
    pub(super) starting: Option<StartedFrom>,
    pub(super) preview: Preview,
    /// The run whose request is to be shown as soon as it is known.
    pub(super) answer_wanted: Option<String>,
    pub(super) unreadable: usize,
    pub(super) has_runs: bool,
    pub(super) notice: Option<(String, Instant)>,
    /// When Ctrl-C was pressed.
    pub(super) leave_asked_at: Option<Instant>,
    /// The last picture: where the list was, and which runs it had. Clicks are about what was seen.
    pub(super) list_area: Rect,
    pub(super) drawn: Vec<String>,
    pub(super) columns: u16,
    pub(super) last_key_at: Option<Instant>,
    #[cfg(test)]
    pub(super) formatted_rows: usize,
}

impl HomeScreen {
    /// Whether a text is being typed, or a dialog is open: then keys have no other meaning.
    pub(crate) fn has_dialog(&self) -> bool {
        self.dialog.is_some()
    }

    pub(crate) fn set_keymap(&mut self, keymap: Arc<Keymap>) {
        self.keymap = keymap;
    }

    /// The workspace of new runs and of the filter.
    pub(crate) fn set_workspace(&mut self, workspace: String) {
        self.list.filter.workspace = workspace;
        self.list.refresh();
    }

    pub(crate) fn set_runs(&mut self, runs: Vec<impl Into<Arc<RunSummary>>>, now: Now) -> Vec<Effect> {
        self.has_runs = true;
        self.list.set_runs(runs.into_iter().map(Into::into));
        self.check_dialogs(now);
        self.refresh_preview(now)
    }

    pub(crate) fn set_unreadable(&mut self, count: usize) {
        self.unreadable = count;
    }

    pub(crate) fn resized(&mut self, columns: u16, now: Now) -> Vec<Effect> {
        self.columns = columns;
        self.refresh_preview(now)
    }

    /// A deadline has passed.
    pub(crate) fn tick(&mut self, now: Now) -> Vec<Effect> {
        if self
            .notice
            .as_ref()
            .is_some_and(|(_, at)| now.instant >= *at + NOTICE_TIME)
        {
            self.notice = None;
        }
        self.refresh_preview(now)
    }

    pub(crate) fn set_preview(&mut self, run: &str, model: Box<RunModel>, now: Now) -> Vec<Effect> {
        self.preview.set_model(run, model, now.instant);
        self.check_dialogs(now);
        if self.answer_wanted.take_if(|wanted| wanted == run).is_some()
            && self.dialog.is_none()
            && self.list.selected_id() == Some(run)
        {
            return self.open_answer(now);
        }
        Vec::new()
    }

    pub(crate) fn preview_failed(&mut self, run: &str, reason: &str, now: Now) {
        self.preview.set_failure(run, reason, now.instant);
        if self.answer_wanted.take_if(|wanted| wanted == run).is_some() {
            self.notify(format!("cannot read run {}: {reason}", short_run_id(run)), now);
        }
    }

    pub(crate) fn notify(&mut self, text: impl Into<String>, now: Now) {
        self.notice = Some((text.into(), now.instant));
    }

    pub(crate) fn reply(&mut self, reply: &Reply, now: Now) {
        match &reply.result {
            Ok(Some(note)) => self.notify(note.clone(), now),
            Ok(None) => {}
            Err(reason) => {
                self.notify(format!("run {}: {reason}", short_run_id(&reply.run)), now);
            }
        }
    }

    /// A run was started, or could not be. Whether it may be opened: `is_shown` is `false` if something covers this
    /// screen, and what is open above the list and did not ask for the run keeps its keys.
    pub(crate) fn started(&mut self, result: Result<String, String>, is_shown: bool, now: Now) -> bool {
        let from_form = self.starting.take() == Some(StartedFrom::Form);
        let is_form_open = matches!(self.dialog, Some(HomeDialog::NewRun));
        let run = match (result, &mut self.form) {
            (Ok(run), _) => run,
            (Err(reason), Some(form)) if from_form => {
                form.fail(&reason);
                if !is_form_open {
                    self.notify(reason, now);
                }
                return false;
            }
            (Err(reason), _) => {
                self.notify(reason, now);
                return false;
            }
        };
        if from_form {
            self.form = None;
            if is_form_open {
                self.dialog = None;
            }
        }
        self.notify(format!("started run {}", short_run_id(&run)), now);
        let may_open = is_shown && self.dialog.is_none();
        if may_open {
            self.list.select(&run);
        }
        may_open
    }

    /// The screen is seen again: keys that were typed elsewhere answer nothing.
    pub(crate) fn rearm(&mut self, now: Now) {
        if let Some(HomeDialog::Answer(dialog)) = &mut self.dialog {
            dialog.rearm(now.instant);
        }
    }

    /// The user closed the editor.
    pub(crate) fn edited(&mut self, text: Option<&str>) {
        if let (Some(form), Some(text)) = (&mut self.form, text) {
            form.set_prompt(text);
        }
    }

    /// Reads the selected run if its preview is shown, or if it asks for permission, and what is known is old.
    pub(super) fn refresh_preview(&mut self, now: Now) -> Vec<Effect> {
        self.preview.select(self.list.selected_id(), now.instant);
        let Some(due) = self.preview_due() else {
            return Vec::new();
        };
        if now.instant < due {
            return Vec::new();
        }
        self.ask_preview(now)
    }

    pub(super) fn ask_preview(&mut self, now: Now) -> Vec<Effect> {
        let Some(run) = self.list.selected().filter(|_| !self.preview.is_reading()) else {
            return Vec::new();
        };
        self.preview.note_asked(&run.file.status, now.instant);
        vec![Effect::Preview {
            run: run.file.run_id.clone(),
        }]
    }

    fn preview_due(&self) -> Option<Instant> {
        let run = self.list.selected()?;
        let is_wanted = self.columns >= PREVIEW_MIN_COLUMNS || asks_permission(run);
        let is_for_answer = self.answer_wanted.as_deref() == Some(run.file.run_id.as_str());
        let due = self.preview.due_at(&run.file.status, is_for_answer);
        due.filter(|_| is_wanted)
    }

    /// Shows the selected run's request, if it is one simple request.
    pub(super) fn open_answer(&mut self, now: Now) -> Vec<Effect> {
        let Some(run) = self.list.selected() else {
            return Vec::new();
        };
        let id = run.file.run_id.clone();
        let short = one_line(short_run_id(&id), NAME_COLUMNS);
        if !asks_permission(run) {
            let text = match run.file.status.state.needs_person() {
                true => format!("run {short}: press enter to open it and answer"),
                false => format!("run {short} is not waiting for permission"),
            };
            self.notify(text, now);
            return Vec::new();
        }
        let name = name_of(&run.file, NAME_COLUMNS);
        let Some(model) = self.preview.model_of(&id) else {
            self.answer_wanted = Some(id);
            return self.ask_preview(now);
        };
        let mut requests = model.requests().iter();
        match (requests.next(), requests.next()) {
            (Some(PendingRequest::Permission(asked)), None) => {
                let dialog = AnswerDialog::new(id, name, asked.clone(), now.instant);
                self.dialog = Some(HomeDialog::Answer(Box::new(dialog)));
                Vec::new()
            }
            (Some(_), _) => {
                self.notify(format!("run {short}: press enter to open it and answer"), now);
                Vec::new()
            }
            // The journal was read before the request came.
            (None, _) => {
                self.answer_wanted = Some(id);
                self.refresh_preview(now)
            }
        }
    }

    /// Whether nothing was typed for a moment, so that a key is meant for what is shown.
    pub(super) fn is_quiet(&self, now: Now) -> bool {
        self.last_key_at
            .is_none_or(|at| now.instant >= armed_at(at, None))
    }

    /// Closes a dialog whose request was answered elsewhere, or whose run ended.
    fn check_dialogs(&mut self, now: Now) {
        match &self.dialog {
            Some(HomeDialog::Answer(dialog)) => {
                let is_waiting = self.list.run(&dialog.run).is_some_and(asks_permission);
                let is_answered = self
                    .preview
                    .model_of(&dialog.run)
                    .is_some_and(|model| model.requests().get(dialog.request()).is_none());
                if !is_waiting || is_answered {
                    self.dialog = None;
                    self.notify("the request was answered elsewhere", now);
                }
            }
            Some(HomeDialog::Stop { run, name, .. }) => {
                if self.list.run(run).is_none_or(|run| run.file.is_ended()) {
                    let text = format!("run {name} has ended");
                    self.dialog = None;
                    self.notify(text, now);
                }
            }
            Some(HomeDialog::Filter | HomeDialog::NewRun) | None => {}
        }
    }

    pub(crate) fn next_tick(&self, now: Now, clock: ClockRate) -> Option<Instant> {
        let notice = self.notice.as_ref().map(|(_, at)| *at + NOTICE_TIME);
        let armed = match &self.dialog {
            Some(HomeDialog::Answer(dialog)) => Some(dialog.armed_at()),
            Some(HomeDialog::Stop { .. }) => self.last_key_at.map(|at| armed_at(at, None)),
            Some(HomeDialog::Filter | HomeDialog::NewRun) | None => None,
        };
        let future = |at: &Instant| *at > now.instant;
        [
            notice,
            armed.filter(future),
            self.preview_due(),
            self.next_clock(now, clock),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// When a clock of the last picture shows something else.
    fn next_clock(&self, now: Now, clock: ClockRate) -> Option<Instant> {
        if matches!(self.dialog, Some(HomeDialog::NewRun | HomeDialog::Answer(_))) {
            return None;
        }
        let seconds = self
            .drawn
            .iter()
            .filter_map(|id| self.list.run(id))
            .map(|run| next_change_seconds(run, now.at))
            .min()?;
        Some(now.instant + clock.at_least(Duration::from_secs(seconds)))
    }
}

pub(super) fn asks_permission(run: &RunSummary) -> bool {
    let state = &run.file.status.state;
    !run.is_lost
        && matches!(
            state,
            RunState::Waiting {
                what: WaitingFor::Permission
            }
        )
}
