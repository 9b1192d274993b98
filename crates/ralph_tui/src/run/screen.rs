//! `RunScreen`: a run, its transcript, and what the user is doing with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_api::{Body, CloseReason, RequestId};
use ralph_run::model::RunModel;
use ralph_run::{Record, RunBody, RunEvent, RunKind, ViewUpdate};
use ratatui::layout::Rect;
use run_view::{armed_at, describe_actor, one_line};
use terminal_input::Key;

use super::composer::Composer;
use super::header::{Presence, RunName, run_title};
use crate::app::{ClockRate, Now};
use crate::bindings::Keymap;
use crate::dialog::Dialog;
use crate::input::LoadedRun;
use crate::request::RequestPanel;
use crate::transcript::{Transcript, TranscriptView};
use crate::widgets::TextField;

/// Between two slices of a search.
const SEARCH_INTERVAL: Duration = Duration::from_millis(16);
/// Until cells that changed are searched again.
const SEARCH_AGAIN_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(crate) struct RunScreen {
    pub(super) id: String,
    pub(crate) keymap: Arc<Keymap>,
    pub(super) model: RunModel,
    pub(super) transcript: Transcript,
    pub(super) view: TranscriptView,
    pub(super) presence: Presence,
    /// Why the journal cannot be read any further. What is loaded stays readable.
    pub(super) problem: Option<String>,
    pub(super) dialog: Option<Dialog>,
    pub(super) composer: Composer,
    pub(super) search: Option<TextField>,
    pub(super) prompt: Option<RequestPanel>,
    /// What the editor is open for.
    pub(super) edited_request: Option<RequestId>,
    /// The newest answer in the journal, and who gave it.
    answered: Option<(RequestId, Option<String>)>,
    closed: Option<(RequestId, CloseReason)>,
    pub(super) last_key_at: Option<Instant>,
    /// When a request was closed while the user was answering it. Keys typed for it are dropped.
    pub(super) closed_at: Option<Instant>,
    pub(super) has_side_list: bool,
    /// The task or the prompt in one line, once it is known.
    pub(super) subject: Option<String>,
    /// When the transcript was last searched.
    searched_at: Option<Instant>,
    pub(super) notice: Option<String>,
    pub(super) areas: Areas,
}

/// Where things were drawn, for the mouse.
#[derive(Debug, Default)]
pub(super) struct Areas {
    /// Of the whole screen.
    pub(super) columns: u16,
    pub(super) transcript: Rect,
    pub(super) panel: Rect,
    pub(super) side: Rect,
    pub(super) side_targets: Vec<Option<u32>>,
}

impl RunScreen {
    pub(crate) fn new(id: String, keymap: Arc<Keymap>) -> Self {
        Self {
            id,
            keymap,
            model: RunModel::new(),
            transcript: Transcript::default(),
            view: TranscriptView::default(),
            presence: Presence::Loading,
            problem: None,
            dialog: None,
            composer: Composer::default(),
            search: None,
            prompt: None,
            edited_request: None,
            answered: None,
            closed: None,
            last_key_at: None,
            closed_at: None,
            has_side_list: true,
            subject: None,
            searched_at: None,
            notice: None,
            areas: Areas::default(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn title(&self) -> String {
        let title = run_title(&self.model, self.name());
        match self.model.seq() {
            0 => title,
            // What needs a person comes first: tabs show only the start of a title.
            _ => format!("{} · {title}", self.state_word()),
        }
    }

    pub(super) fn name(&self) -> RunName<'_> {
        RunName {
            subject: self.subject.as_deref(),
            id: &self.id,
        }
    }

    fn state_word(&self) -> String {
        match self.presence {
            Presence::Lost => "lost".to_owned(),
            Presence::Loading | Presence::Live => run_view::state_word(self.model.state()).to_owned(),
        }
    }

    /// A deadline has passed.
    pub(crate) fn tick(&mut self, now: Now) {
        if self.search_due().is_some_and(|due| due <= now.instant) {
            self.searched_at = Some(now.instant);
            self.view.search_more(&self.transcript);
        }
    }

    /// When the next slice of the transcript is searched. Texts that grow are not searched again at once.
    fn search_due(&self) -> Option<Instant> {
        let interval = if self.view.is_searching(&self.transcript) {
            SEARCH_INTERVAL
        } else if self.view.has_stale_hits(&self.transcript) {
            SEARCH_AGAIN_INTERVAL
        } else {
            return None;
        };
        let searched_at = self.searched_at?;
        Some(searched_at + interval)
    }

    pub(super) fn search_for(&mut self, query: &str, now: Now) {
        self.searched_at = Some(now.instant);
        self.view.search(&self.transcript, query);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.model.ended().is_some() || self.presence == Presence::Lost
    }

    /// The notice to show for a few seconds.
    pub(crate) fn take_notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    pub(crate) fn set_loaded(&mut self, loaded: LoadedRun, now: Now) {
        self.view.replace(&self.transcript, &loaded.transcript);
        self.model = loaded.model;
        self.transcript = loaded.transcript;
        if self.presence == Presence::Loading {
            self.presence = Presence::Live;
        }
        self.problem = None;
        self.observe(now);
    }

    pub(crate) fn apply(&mut self, updates: Vec<ViewUpdate>, now: Now) {
        for update in updates {
            match update {
                ViewUpdate::Record(record) => {
                    self.note_answer(&record);
                    self.model.apply(&record);
                    self.transcript.apply(&record);
                }
                ViewUpdate::Delta(event) => self.transcript.apply_delta(&event),
                ViewUpdate::Damage(damage) => self.transcript.push_damage(&damage.to_string()),
            }
        }
        // A run without a runner can have an end after all: `reconcile` writes it.
        if self.presence == Presence::Loading || self.model.ended().is_some() {
            self.presence = Presence::Live;
        }
        self.observe(now);
    }

    pub(crate) fn load_failed(&mut self, reason: &str) {
        self.problem = Some(reason.to_owned());
    }

    pub(crate) fn runner_gone(&mut self) {
        if self.model.ended().is_none() {
            self.presence = Presence::Lost;
            self.prompt = None;
        }
    }

    /// Remembers who answered a request.
    fn note_answer(&mut self, record: &Record) {
        match &record.event {
            RunEvent::Run(RunBody::CommandReceived(command)) => {
                if let (Some(request), None) = (&command.request, &command.refused) {
                    self.answered = Some((request.clone(), command.by.clone()));
                }
            }
            RunEvent::Agent(event) => {
                if let Body::RequestClosed(closed) = &event.body {
                    self.closed = Some((closed.request.clone(), closed.reason));
                }
            }
            RunEvent::Run(_) | RunEvent::Unknown(_) => {}
        }
    }

    /// Follows the run: its kind, and the request that has been open longest.
    fn observe(&mut self, now: Now) {
        if self.subject.is_none() {
            let task = self.model.started().and_then(|started| started.task.clone());
            self.subject = task.or_else(|| self.transcript.first_prompt());
        }
        self.composer.stays_open = self
            .model
            .started()
            .is_some_and(|started| started.kind == RunKind::Session);
        let request = match self.presence {
            Presence::Lost => None,
            Presence::Loading | Presence::Live => self.model.requests().iter().next(),
        };
        if self.prompt.as_ref().map(RequestPanel::request) == request {
            return;
        }
        let next = request.cloned();
        if let Some(before) = self.prompt.take().filter(|prompt| !prompt.is_answered())
            && self.model.requests().get(before.id()).is_none()
        {
            self.notice = Some(self.describe_close(before.id()));
            let had_keys = !before.is_hidden() && !self.composer.is_open && self.dialog.is_none();
            if had_keys && self.search.is_none() {
                self.closed_at = Some(now.instant);
            }
        }
        self.prompt = next.map(|request| RequestPanel::new(request, self.last_key_at));
    }

    pub(super) fn describe_close(&self, request: &RequestId) -> String {
        let by = self.answered.as_ref().filter(|(id, _)| id == request);
        let reason = self.closed.as_ref().filter(|(id, _)| id == request);
        match (by, reason.map(|(_, reason)| reason)) {
            (Some((_, Some(by))), _) => {
                format!("the request was answered {}", one_line(&describe_actor(by), 60))
            }
            (Some((_, None)), _) => "the request was answered elsewhere".to_owned(),
            (None, Some(CloseReason::Answered)) => "the request was answered elsewhere".to_owned(),
            (None, Some(CloseReason::Denied)) => "the request was denied elsewhere".to_owned(),
            (None, Some(CloseReason::Withdrawn)) => "the agent withdrew its request".to_owned(),
            (None, _) => "the request is closed: its agent has ended".to_owned(),
        }
    }

    /// Whether keys have no other meaning: a text is being typed, a dialog is open, or a request has just been closed
    /// under the user's hands.
    pub(crate) fn takes_all_keys(&self, now: Now) -> bool {
        self.has_field() || self.drops_keys(now)
    }

    pub(super) fn has_field(&self) -> bool {
        self.dialog.is_some() || self.search.is_some() || self.composer.is_open || self.is_typing_answer()
    }

    pub(crate) fn drops_keys(&self, now: Now) -> bool {
        self.closed_at
            .is_some_and(|closed_at| now.instant < armed_at(closed_at, self.last_key_at))
    }

    /// Whether nothing was typed for a moment, so that a key is meant for the dialog that is shown.
    pub(super) fn is_dialog_armed(&self, now: Now) -> bool {
        is_quiet(self.last_key_at, now)
    }

    fn is_typing_answer(&self) -> bool {
        self.open_prompt().is_some_and(RequestPanel::is_typing)
    }

    pub(super) fn open_prompt(&self) -> Option<&RequestPanel> {
        self.prompt
            .as_ref()
            .filter(|prompt| !prompt.is_answered() && !prompt.is_hidden())
    }

    /// Ctrl-C: closes a dialog or a text field. Whether there was one.
    pub(crate) fn cancel(&mut self, now: Now) -> bool {
        let had_any = self.has_field();
        if had_any {
            self.key(&Key::Escape, now);
        }
        had_any
    }

    /// Clocks and countdowns tick once a second while the run is alive; a request is armed once.
    pub(crate) fn next_tick(&self, now: Now, clock: ClockRate) -> Option<Instant> {
        let armed_at = self
            .open_prompt()
            .filter(|_| !self.composer.is_open && self.dialog.is_none() && self.search.is_none())
            .map(|prompt| prompt.armed_at(now.instant))
            .filter(|at| *at > now.instant);
        let has_clock = self.model.seq() > 0 && !self.has_ended() && self.problem.is_none();
        let second = has_clock.then(|| {
            let past = u64::try_from(now.at.subsec_nanosecond()).unwrap_or(0);
            let second = Duration::from_nanos(1_000_000_000_u64.saturating_sub(past));
            now.instant + clock.at_least(second)
        });
        let dialog = self.dialog.as_ref().filter(|dialog| dialog.waits_for_quiet());
        let dialog_at = dialog.and(self.last_key_at).map(quiet_at);
        let dialog_at = dialog_at.filter(|at| *at > now.instant);
        [armed_at, second, dialog_at, self.search_due()]
            .into_iter()
            .flatten()
            .min()
    }
}

fn quiet_at(last_key_at: Instant) -> Instant {
    armed_at(last_key_at, None)
}

pub(super) fn is_quiet(last_key_at: Option<Instant>, now: Now) -> bool {
    last_key_at.is_none_or(|at| now.instant >= quiet_at(at))
}
