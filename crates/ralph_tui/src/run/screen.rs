//! `RunScreen`: a run, its transcript, and what the user is doing with it.

use std::time::{Duration, Instant};

use agent_api::{Body, CloseReason, RequestId};
use ralph_run::model::RunModel;
use ralph_run::{Record, RunBody, RunEvent, RunKind, ViewUpdate};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::{one_line, width};
use terminal_input::{Edit, Key, Mouse, MouseAction, armed_at};

use super::composer::Composer;
use super::footer::{FooterContext, render_footer};
use super::header::{Presence, header_rows, note, render_header, run_title};
use super::request_panel::{panel_rows, render_request, request_title};
use super::request_prompt::{PromptStep, RequestPrompt};
use super::side_list;
use crate::app::Now;
use crate::bindings::{Action, Context, action_for};
use crate::dialog::{Dialog, DialogStep};
use crate::effect::Effect;
use crate::input::LoadedRun;
use crate::theme::{Role, Theme};
use crate::transcript::{Filter, Jump, Transcript, TranscriptView};
use crate::widgets::{TextField, put, put_spans};

/// Rows that one notch of the mouse wheel scrolls.
const WHEEL_ROWS: isize = 3;

#[derive(Debug)]
pub(crate) struct RunScreen {
    pub(super) id: String,
    pub(super) model: RunModel,
    pub(super) transcript: Transcript,
    pub(super) view: TranscriptView,
    pub(super) presence: Presence,
    /// Why the journal cannot be read any further. What is loaded stays readable.
    problem: Option<String>,
    pub(super) dialog: Option<Dialog>,
    pub(super) composer: Composer,
    pub(super) search: Option<TextField>,
    pub(super) prompt: Option<RequestPrompt>,
    /// What the editor is open for.
    pub(super) edited_request: Option<RequestId>,
    /// The newest answer in the journal, and who gave it.
    answered: Option<(RequestId, Option<String>)>,
    closed: Option<(RequestId, CloseReason)>,
    last_key_at: Option<Instant>,
    /// When a request was closed under the user's hands. Keys that were meant for it are dropped.
    closed_at: Option<Instant>,
    /// Whether the next click only gives the terminal its focus.
    click_focuses: bool,
    pub(super) has_side_list: bool,
    pub(super) notice: Option<String>,
    areas: Areas,
}

/// Where things were drawn, for the mouse.
#[derive(Debug, Default)]
struct Areas {
    transcript: Rect,
    panel: Rect,
    side: Rect,
    side_targets: Vec<Option<u32>>,
}

impl RunScreen {
    pub(crate) fn new(id: String) -> Self {
        Self {
            id,
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
            click_focuses: false,
            has_side_list: true,
            notice: None,
            areas: Areas::default(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn title(&self) -> String {
        run_title(&self.model, &self.id)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.model.ended().is_some() || self.presence == Presence::Lost
    }

    /// What is to be shown for a few seconds.
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
        self.observe(now);
    }

    pub(crate) fn load_failed(&mut self, reason: &str) {
        self.problem = Some(format!("cannot read the journal: {reason}"));
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
        self.composer.stays_open = self
            .model
            .started()
            .is_some_and(|started| started.kind == RunKind::Session);
        let request = match self.presence {
            Presence::Lost => None,
            Presence::Loading | Presence::Live => self.model.requests().iter().next(),
        };
        if self.prompt.as_ref().map(RequestPrompt::request) == request {
            return;
        }
        let next = request.cloned();
        if let Some(before) = self.prompt.take().filter(|prompt| !prompt.is_answered())
            && self.model.requests().get(before.id()).is_none()
        {
            self.notice = Some(self.describe_close(before.id()));
            let had_keys = !before.is_hidden && !self.composer.is_open && self.dialog.is_none();
            if had_keys && self.search.is_none() {
                self.closed_at = Some(now.instant);
            }
        }
        self.prompt = next.map(|request| RequestPrompt::new(request, self.last_key_at, now.instant));
    }

    fn describe_close(&self, request: &RequestId) -> String {
        let by = self.answered.as_ref().filter(|(id, _)| id == request);
        let reason = self.closed.as_ref().filter(|(id, _)| id == request);
        match (by, reason.map(|(_, reason)| reason)) {
            (Some((_, Some(by))), _) => format!("the request was answered by {}", one_line(by, 60)),
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

    fn has_field(&self) -> bool {
        self.dialog.is_some() || self.search.is_some() || self.composer.is_open || self.is_typing_answer()
    }

    fn drops_keys(&self, now: Now) -> bool {
        self.closed_at
            .is_some_and(|closed_at| now.instant < armed_at(closed_at, self.last_key_at))
    }

    fn is_typing_answer(&self) -> bool {
        self.open_prompt().is_some_and(RequestPrompt::is_typing)
    }

    fn open_prompt(&self) -> Option<&RequestPrompt> {
        self.prompt
            .as_ref()
            .filter(|prompt| !prompt.is_answered() && !prompt.is_hidden)
    }

    /// Ctrl-C: closes a dialog or a text field. Whether there was one.
    pub(crate) fn cancel(&mut self, now: Now) -> bool {
        let had_any = self.has_field();
        if had_any {
            self.key(&Key::Escape, now);
        }
        had_any
    }

    pub(crate) fn key(&mut self, key: &Key, now: Now) -> Vec<Effect> {
        match key {
            Key::Focused => {
                self.click_focuses = true;
                return Vec::new();
            }
            Key::Unfocused => return Vec::new(),
            Key::Mouse(mouse) => {
                self.mouse(*mouse);
                return Vec::new();
            }
            Key::OversizedPaste => {
                self.notice = Some("the paste was dropped: it is larger than 4 MiB".to_owned());
                return Vec::new();
            }
            _ => self.click_focuses = false,
        }
        let is_dropped = self.drops_keys(now);
        self.last_key_at = Some(now.instant);
        if let Some(dialog) = &mut self.dialog {
            let step = dialog.key(key, &self.model);
            self.rearm(now);
            return self.dialog_step(step);
        }
        if self.search.is_some() {
            self.rearm(now);
            self.search_key(key);
            return Vec::new();
        }
        if self.composer.is_open {
            self.rearm(now);
            let command = self.composer.key(key);
            return command.map(|command| self.command(command)).into_iter().collect();
        }
        if is_dropped {
            return Vec::new();
        }
        self.closed_at = None;
        if self.open_prompt().is_some()
            && let Some(effects) = self.request_key(key, now)
        {
            return effects;
        }
        self.note_key(now);
        if let Key::Paste(_) = key {
            self.notice = Some("nothing takes a paste here; press m to write a message".to_owned());
            return Vec::new();
        }
        match action_for(Context::Run, key) {
            Some(action) => self.act(action, now),
            None => Vec::new(),
        }
    }

    /// Keys went somewhere else: a request takes none of them before the user has seen it again.
    pub(crate) fn rearm(&mut self, now: Now) {
        if let Some(prompt) = &mut self.prompt {
            prompt.rearm(now.instant);
        }
    }

    fn note_key(&mut self, now: Now) {
        if let Some(prompt) = &mut self.prompt {
            prompt.note_key(now.instant);
        }
    }

    /// A key while a request is shown. `None` if it means nothing to the request.
    fn request_key(&mut self, key: &Key, now: Now) -> Option<Vec<Effect>> {
        let prompt = self.prompt.as_mut()?;
        if prompt.is_typing() {
            if !prompt.is_armed(now.instant) && *key != Key::Escape {
                prompt.note_key(now.instant);
                return Some(Vec::new());
            }
            let step = prompt.type_key(key, now.instant);
            return Some(self.prompt_step(step));
        }
        let action = action_for(Context::Request, key).filter(|action| prompt.takes(*action))?;
        let is_view = matches!(
            action,
            Action::HideRequest | Action::RequestDown | Action::RequestUp
        );
        if !is_view && !prompt.is_armed(now.instant) {
            prompt.note_key(now.instant);
            return Some(Vec::new());
        }
        let step = prompt.act(action, key, now.instant);
        Some(self.prompt_step(step))
    }

    pub(super) fn prompt_step(&mut self, step: PromptStep) -> Vec<Effect> {
        let Some(prompt) = &self.prompt else {
            return Vec::new();
        };
        let request = prompt.id().clone();
        match step {
            PromptStep::Stay => Vec::new(),
            PromptStep::Answer(answer) => {
                vec![self.command(ralph_run::control::ControlCommand::Answer { request, answer })]
            }
            PromptStep::Edit(text) => {
                self.edited_request = Some(request);
                vec![Effect::EditText { text }]
            }
        }
    }

    /// The user closed the editor.
    pub(crate) fn edited(&mut self, text: Option<String>, now: Now) -> Vec<Effect> {
        let Some(request) = self.edited_request.take() else {
            return Vec::new();
        };
        match self
            .prompt
            .as_mut()
            .filter(|prompt| *prompt.id() == request && !prompt.is_answered())
        {
            Some(prompt) => {
                let step = prompt.edited(text, now.instant);
                self.prompt_step(step)
            }
            None => {
                let closed = self.describe_close(&request);
                self.notice = Some(format!("your arguments were not sent: {closed}"));
                Vec::new()
            }
        }
    }

    fn dialog_step(&mut self, step: DialogStep) -> Vec<Effect> {
        match step {
            DialogStep::Stay => Vec::new(),
            DialogStep::Close => {
                self.dialog = None;
                Vec::new()
            }
            DialogStep::Command(command) => {
                self.dialog = None;
                vec![self.command(command)]
            }
            DialogStep::CommandAndStay(command) => vec![self.command(command)],
        }
    }

    fn search_key(&mut self, key: &Key) {
        let Some(field) = &mut self.search else { return };
        match (key, field.key(key)) {
            (Key::Escape, _) => {
                self.search = None;
                self.view.clear_search();
            }
            (_, Edit::Complete) => {
                let query = field.text();
                self.search = None;
                if query.is_empty() {
                    self.view.clear_search();
                } else if self.view.search(&self.transcript, &query) == 0 {
                    self.notice = Some(format!("no match for {}", one_line(&query, 40)));
                }
            }
            (_, Edit::Done) => {
                let query = field.text();
                if query.is_empty() {
                    self.view.clear_search();
                } else {
                    self.view.search(&self.transcript, &query);
                }
            }
            (_, Edit::Ignored) => {}
        }
    }

    fn mouse(&mut self, mouse: Mouse) {
        let place = Position::new(mouse.column, mouse.row);
        let is_in_panel = self.areas.panel.contains(place);
        match mouse.action {
            MouseAction::WheelUp | MouseAction::WheelDown => {
                let rows = match mouse.action == MouseAction::WheelUp {
                    true => -WHEEL_ROWS,
                    false => WHEEL_ROWS,
                };
                match self.prompt.as_mut().filter(|_| is_in_panel) {
                    Some(prompt) => prompt.scroll.scroll(rows),
                    None => self.view.scroll(&self.transcript, rows),
                }
            }
            MouseAction::Press if std::mem::take(&mut self.click_focuses) => {}
            MouseAction::Press if is_in_panel || self.dialog.is_some() => {}
            MouseAction::Press if self.areas.side.contains(place) => {
                let row = usize::from(mouse.row - self.areas.side.y);
                if let Some(Some(iteration)) = self.areas.side_targets.get(row) {
                    self.view.jump(&self.transcript, Jump::Iteration(*iteration));
                }
            }
            MouseAction::Press if self.areas.transcript.contains(place) => {
                let row = mouse.row - self.areas.transcript.y;
                self.view.click(&self.transcript, row);
            }
            MouseAction::Press | MouseAction::Release | MouseAction::Drag => {}
        }
    }

    /// Clocks and countdowns tick once a second while the run is alive; a request is armed once.
    pub(crate) fn next_tick(&self, now: Now) -> Option<Instant> {
        let armed_at = self
            .open_prompt()
            .filter(|_| !self.composer.is_open && self.dialog.is_none())
            .map(RequestPrompt::armed_at)
            .filter(|at| *at > now.instant);
        let has_clock = self.model.seq() > 0 && !self.has_ended() && self.problem.is_none();
        let second = has_clock.then(|| {
            let past = u64::try_from(now.at.subsec_nanosecond()).unwrap_or(0);
            now.instant + Duration::from_nanos(1_000_000_000_u64.saturating_sub(past))
        });
        [armed_at, second].into_iter().flatten().min()
    }

    pub(crate) fn render(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        now: Now,
    ) -> Option<Position> {
        let (header, rest) = split_top(area, header_rows(area.height));
        render_header(&self.model, &self.id, self.presence, header, buffer, theme, now);
        let (mut rest, footer) = split_bottom(rest, 1);
        render_footer(
            self.footer_context(),
            &self.reading_status(),
            footer,
            buffer,
            theme,
        );
        let mut cursor = None;
        if let Some(field) = &self.search {
            let (above, row) = split_bottom(rest, 1);
            rest = above;
            put(buffer, row, 0, "/", theme.style(Role::Strong));
            let place = Rect::new(row.x + 1, row.y, row.width.saturating_sub(1), 1);
            cursor = field.render(place, buffer, theme);
        }
        if self.composer.is_open {
            let (above, place) = split_bottom(rest, self.composer.rows());
            rest = above;
            cursor = self.composer.render(place, buffer, theme).or(cursor);
        }
        if let Some(problem) = &self.problem {
            let (above, row) = split_bottom(rest, 1);
            rest = above;
            let line = note(problem, usize::from(row.width), theme.style(Role::Bad));
            put_spans(buffer, row, 0, &line);
        }
        let (rest, panel_cursor) = self.render_prompt(rest, buffer, theme, now);
        let rest = self.render_side(area.width, rest, buffer, theme);
        self.areas.transcript = rest;
        self.view.render(&self.transcript, rest, buffer, theme, now.at);
        if let Some(dialog) = &mut self.dialog {
            return dialog.render(&self.model, area, buffer, theme);
        }
        cursor.or(panel_cursor)
    }

    /// The request above the footer: in full, or in one row while something else takes the keys.
    fn render_prompt(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        now: Now,
    ) -> (Rect, Option<Position>) {
        self.areas.panel = Rect::default();
        let waiting = self.model.requests().len().saturating_sub(1);
        let is_writing = self.composer.is_open || self.search.is_some();
        let Some(prompt) = self.prompt.as_mut().filter(|prompt| !prompt.is_answered()) else {
            return (area, None);
        };
        if prompt.is_hidden || is_writing {
            let hint = match is_writing {
                true => "  esc to answer (your text is kept)",
                false => "  tab to answer",
            };
            let (above, row) = split_bottom(area, 1);
            let room = usize::from(area.width).saturating_sub(width(hint));
            let title = request_title(prompt, room);
            put(buffer, row, 0, &title, theme.style(Role::NeedsPerson));
            let used = u16::try_from(width(&title)).unwrap_or(0).min(row.width);
            let place = Rect::new(row.x + used, row.y, row.width - used, 1);
            put(buffer, place, 0, hint, theme.style(Role::Faint));
            return (above, None);
        }
        let wanted = u16::try_from(panel_rows(prompt, area.width)).unwrap_or(u16::MAX);
        // A row or two of the transcript stay in view.
        let (above, place) = split_bottom(area, wanted.min(area.height.saturating_sub(2)));
        self.areas.panel = place;
        let cursor = render_request(prompt, waiting, place, buffer, theme, now);
        (above, cursor)
    }

    fn render_side(&mut self, columns: u16, area: Rect, buffer: &mut Buffer, theme: Theme) -> Rect {
        self.areas.side = Rect::default();
        if !self.has_side_list || columns < side_list::MIN_SCREEN_COLUMNS {
            return area;
        }
        let left = area.width - side_list::COLUMNS;
        let side = Rect::new(area.x + left, area.y, side_list::COLUMNS, area.height);
        self.areas.side = side;
        self.areas.side_targets = side_list::render_side_list(&self.model, side, buffer, theme);
        Rect::new(area.x, area.y, left, area.height)
    }

    /// Whose keys the footer names.
    fn footer_context(&self) -> FooterContext {
        if self.search.is_some() {
            FooterContext::Search
        } else if self.composer.is_open {
            FooterContext::Message
        } else if self.has_field() {
            // The dialog names its own keys.
            FooterContext::Dialog
        } else {
            FooterContext::Run
        }
    }

    /// `hit 3/12 · edits only · 5 new ↓`.
    fn reading_status(&self) -> String {
        let mut parts = Vec::new();
        if let Some((current, all)) = self.view.hits() {
            parts.push(format!("hit {current}/{all}"));
        }
        match self.view.filter() {
            Filter::All => {}
            Filter::Conversation => parts.push("conversation only".to_owned()),
            Filter::Tools => parts.push("tools only".to_owned()),
            Filter::Edits => parts.push("edits only".to_owned()),
            Filter::Errors => parts.push("errors only".to_owned()),
        }
        if !self.view.is_following() {
            parts.push(match self.view.new_cells_below(&self.transcript) {
                0 => "paused".to_owned(),
                count => format!("{count} new ↓"),
            });
        }
        if self.composer.has_draft() && !self.composer.is_open {
            parts.push("draft kept".to_owned());
        }
        parts.join(" · ")
    }
}

fn split_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (
        Rect::new(area.x, area.y, area.width, rows),
        Rect::new(area.x, area.y + rows, area.width, area.height - rows),
    )
}

fn split_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let above = area.height - rows;
    (
        Rect::new(area.x, area.y, area.width, above),
        Rect::new(area.x, area.y + above, area.width, rows),
    )
}
