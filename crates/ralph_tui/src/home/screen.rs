//! `HomeScreen`: the list of runs, the dialog above it, and inputs from outside. See `keys`, `mouse` and `draw`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_api::RequestId;
use ralph_run::model::{RunModel, RunState, WaitingFor};
use ralph_run::short_run_id;
use ratatui::layout::Rect;
use run_view::{armed_at, one_line};

use super::answer_dialog::{AnswerDialog, AnswerStep};
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
    /// The notice to show for a few seconds.
    pub(super) notice: Option<String>,
    /// The request whose arguments are open in the editor.
    edited_request: Option<RequestId>,
    /// The last picture: where the list was, and which runs it had. A click is resolved against it.
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
        self.check_dialogs();
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
        self.refresh_preview(now)
    }

    pub(crate) fn set_preview(&mut self, run: &str, model: Box<RunModel>, now: Now) -> Vec<Effect> {
        self.preview.set_model(run, model, now.instant);
        self.check_dialogs();
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
            self.notify(format!("cannot read run {}: {reason}", short_run_id(run)));
        }
    }

    pub(super) fn notify(&mut self, text: impl Into<String>) {
        self.notice = Some(text.into());
    }

    /// The notice to show for a few seconds.
    pub(crate) fn take_notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    pub(crate) fn reply(&mut self, reply: &Reply) {
        match &reply.result {
            Ok(Some(note)) => self.notify(note.clone()),
            Ok(None) => {}
            Err(reason) => self.notify(format!("run {}: {reason}", short_run_id(&reply.run))),
        }
    }

    /// A run was started, or could not be. Whether it may be opened: `is_shown` is `false` if something covers this
    /// screen, and what is open above the list and did not ask for the run keeps its keys.
    pub(crate) fn started(&mut self, result: Result<String, String>, is_shown: bool) -> bool {
        let from_form = self.starting.take() == Some(StartedFrom::Form);
        let is_form_open = matches!(self.dialog, Some(HomeDialog::NewRun));
        let run = match (result, &mut self.form) {
            (Ok(run), _) => run,
            (Err(reason), Some(form)) if from_form => {
                form.fail(&reason);
                if !is_form_open {
                    self.notify(reason);
                }
                return false;
            }
            (Err(reason), _) => {
                self.notify(reason);
                return false;
            }
        };
        if from_form {
            self.form = None;
            if is_form_open {
                self.dialog = None;
            }
        }
        self.notify(format!("started run {}", short_run_id(&run)));
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
    pub(crate) fn edited(&mut self, text: Option<String>, now: Now) -> Vec<Effect> {
        let Some(request) = self.edited_request.take() else {
            if let (Some(form), Some(text)) = (&mut self.form, text) {
                form.set_prompt(&text);
            }
            return Vec::new();
        };
        match &mut self.dialog {
            Some(HomeDialog::Answer(dialog)) if *dialog.request() == request => {
                let step = dialog.edited(text, now.instant);
                self.answer_step(step)
            }
            _ => {
                self.notify("your arguments were not sent: the request was answered elsewhere");
                Vec::new()
            }
        }
    }

    pub(super) fn answer_step(&mut self, step: AnswerStep) -> Vec<Effect> {
        let Some(HomeDialog::Answer(dialog)) = &self.dialog else {
            return Vec::new();
        };
        let run = dialog.run.clone();
        if let AnswerStep::Edit(text) = step {
            self.edited_request = Some(dialog.request().clone());
            return vec![Effect::EditText { text }];
        }
        if step != AnswerStep::Open {
            self.dialog = None;
        }
        match step {
            AnswerStep::Open | AnswerStep::Closed | AnswerStep::Edit(_) => Vec::new(),
            AnswerStep::OpenRun => vec![Effect::Open { run }],
            AnswerStep::Answered { command, notice } => {
                self.notify(notice);
                vec![Effect::Command { run, command }]
            }
        }
    }

    /// Ctrl-C: closes what is open above the list. Whether there was something.
    pub(crate) fn cancel(&mut self, now: Now) -> bool {
        match &mut self.dialog {
            None => return false,
            Some(HomeDialog::Filter) => self.list.filter.text.set_text(""),
            Some(HomeDialog::Answer(dialog)) => {
                if dialog.cancel(&self.keymap, now.instant) {
                    return true;
                }
            }
            Some(HomeDialog::NewRun | HomeDialog::Stop { .. }) => {}
        }
        self.dialog = None;
        self.list.refresh();
        true
    }

    /// Reads the selected run if its preview is shown, or if it asks something, and what is known is old.
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
        let is_wanted = self.columns >= PREVIEW_MIN_COLUMNS || has_request(run);
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
        if !has_request(run) {
            let text = match run.file.status.state.needs_person() {
                true => format!("run {short}: press enter to open it and answer"),
                false => format!("run {short} is not waiting for an answer"),
            };
            self.notify(text);
            return Vec::new();
        }
        let name = name_of(&run.file, NAME_COLUMNS);
        let Some(model) = self.preview.model_of(&id) else {
            self.answer_wanted = Some(id);
            return self.ask_preview(now);
        };
        let waiting = model.requests().len().saturating_sub(1);
        match model.requests().iter().next() {
            Some(request) => {
                let dialog = AnswerDialog::new(id, name, request.clone(), waiting, now.instant);
                self.dialog = Some(HomeDialog::Answer(Box::new(dialog)));
                Vec::new()
            }
            // The journal was read before the request came.
            None => {
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
    fn check_dialogs(&mut self) {
        match &self.dialog {
            Some(HomeDialog::Answer(dialog)) => {
                let is_waiting = self.list.run(&dialog.run).is_some_and(has_request);
                let is_answered = self
                    .preview
                    .model_of(&dialog.run)
                    .is_some_and(|model| model.requests().get(dialog.request()).is_none());
                if !is_waiting || is_answered {
                    self.dialog = None;
                    self.notify("the request was answered elsewhere");
                }
            }
            Some(HomeDialog::Stop { run, name, .. }) => {
                if self.list.run(run).is_none_or(|run| run.file.is_ended()) {
                    let text = format!("run {name} has ended");
                    self.dialog = None;
                    self.notify(text);
                }
            }
            Some(HomeDialog::Filter | HomeDialog::NewRun) | None => {}
        }
    }

    pub(crate) fn next_tick(&self, now: Now, clock: ClockRate) -> Option<Instant> {
        let armed = match &self.dialog {
            Some(HomeDialog::Answer(dialog)) => Some(dialog.armed_at(now.instant)),
            Some(HomeDialog::Stop { .. }) => self.last_key_at.map(|at| armed_at(at, None)),
            Some(HomeDialog::Filter | HomeDialog::NewRun) | None => None,
        };
        let future = |at: &Instant| *at > now.instant;
        [
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
        if matches!(self.dialog, Some(HomeDialog::NewRun)) {
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

/// Whether a request of its agent can be answered.
pub(super) fn has_request(run: &RunSummary) -> bool {
    let RunState::Waiting { what } = &run.file.status.state else {
        return false;
    };
    !run.is_lost
        && matches!(
            what,
            WaitingFor::Permission | WaitingFor::Question | WaitingFor::Plan
        )
}
