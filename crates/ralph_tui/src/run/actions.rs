//! What the keys of a run do, outside of text fields, dialogs and requests.

use ralph_run::control::{ControlCommand, SendMode};
use ralph_run::{RunKind, short_run_id};

use super::screen::RunScreen;
use super::side_list;
use crate::app::Now;
use crate::bindings::Action;
use crate::dialog::{
    Dialog, ModelDialog, PermissionModeDialog, QueueDialog, StopDialog, StopKind, TopUpDialog,
};
use crate::effect::{Destination, Effect};
use crate::transcript::{Filter, FoldTarget, Jump};
use crate::widgets::{FieldKind, TextField};

impl RunScreen {
    /// Performs an action. Those of the application itself come back as effects.
    pub(super) fn act(&mut self, action: Action, now: Now) -> Vec<Effect> {
        self.view.stay();
        match action {
            Action::Quit => return vec![Effect::Quit],
            Action::Redraw => return vec![Effect::Redraw],
            Action::Suspend => return vec![Effect::Suspend],
            Action::Back => return self.back(),
            Action::Message => self.open_composer(SendMode::Steer),
            Action::QueueMessage => self.open_composer(SendMode::Queue),
            Action::ShowQueue => self.dialog = Some(Dialog::Queue(QueueDialog::default())),
            Action::Interrupt => return self.interrupt(),
            Action::Stop => self.open_live(|_| Dialog::Stop(StopDialog::new(StopKind::Stop))),
            Action::TopUp => self.open_live(|run| Dialog::TopUp(TopUpDialog::new(&run.model))),
            Action::ChangeModel => self.open_live(|_| Dialog::Model(ModelDialog::new())),
            Action::ChangePermissionMode => {
                self.open_live(|_| Dialog::PermissionMode(PermissionModeDialog::default()));
            }
            Action::ShowRequest => self.show_request(now),
            Action::Follow => self.view.set_following(!self.view.is_following()),
            Action::Down => self.view.scroll(&self.transcript, 1),
            Action::Up => self.view.scroll(&self.transcript, -1),
            Action::HalfPageDown => self.view.page(&self.transcript, 1),
            Action::HalfPageUp => self.view.page(&self.transcript, -1),
            Action::PageDown => self.view.page(&self.transcript, 2),
            Action::PageUp => self.view.page(&self.transcript, -2),
            Action::Top => self.view.to_top(&self.transcript),
            Action::Bottom => self.view.to_bottom(),
            Action::SelectNext => self.view.select_next(&self.transcript),
            Action::SelectPrevious => self.view.select_previous(&self.transcript),
            Action::NextError => self.jump(Jump::NextError, "no later error"),
            Action::PreviousError => self.jump(Jump::PreviousError, "no earlier error"),
            Action::NextEdit => self.jump(Jump::NextEdit, "no later edit"),
            Action::PreviousEdit => self.jump(Jump::PreviousEdit, "no earlier edit"),
            Action::NextRequest => self.jump(Jump::NextRequest, "no later request"),
            Action::PreviousRequest => self.jump(Jump::PreviousRequest, "no earlier request"),
            Action::NextIteration => self.jump(Jump::NextIteration, "no later iteration"),
            Action::PreviousIteration => self.jump(Jump::PreviousIteration, "no earlier iteration"),
            Action::FoldSelected => self.view.toggle_fold(&self.transcript, FoldTarget::Selected),
            Action::FoldAll => self.view.toggle_fold(&self.transcript, FoldTarget::All),
            Action::FoldThinking => self.view.toggle_fold(&self.transcript, FoldTarget::Thinking),
            Action::FoldTools => self.view.toggle_fold(&self.transcript, FoldTarget::Tools),
            Action::CycleFilter => self.cycle_filter(),
            Action::Search => {
                self.view.begin_typing();
                self.search = Some(TextField::new(FieldKind::OneLine, ""));
            }
            Action::NextHit => self.next_hit(true),
            Action::PreviousHit => self.next_hit(false),
            Action::Copy => return self.copy(),
            Action::Export => {
                let name = format!("ralph-{}.md", short_run_id(&self.id));
                return self.send_transcript(Destination::File { name });
            }
            Action::PrintToScrollback => return self.send_transcript(Destination::Scrollback),
            Action::EditTranscript => return self.send_transcript(Destination::Editor),
            Action::OpenFile => return self.open_file(),
            Action::ShowRaw => return self.show_raw(),
            Action::SideList => {
                self.has_side_list = !self.has_side_list;
                if self.has_side_list && self.areas.columns < side_list::MIN_SCREEN_COLUMNS {
                    let needed = side_list::MIN_SCREEN_COLUMNS;
                    self.notice = Some(format!("the list needs a window of {needed} columns"));
                }
            }
            Action::SideBySide => {
                if let Err(needed) = self.view.toggle_side_by_side() {
                    self.notice = Some(format!(
                        "diffs are side by side once the transcript has {needed} columns"
                    ));
                }
            }
            Action::Wrap => self.view.toggle_wrap(),
            Action::ScrollLeft => self.view.scroll_sideways(false),
            Action::ScrollRight => self.view.scroll_sideways(true),
            Action::BrowseRun => {
                let run = self.id.clone();
                return vec![Effect::OpenInBrowser { run }];
            }
            // Those of other contexts, and those of `App`.
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn command(&self, command: ControlCommand) -> Effect {
        Effect::Command {
            run: self.id.clone(),
            command,
        }
    }

    /// Whether the run still takes commands. Says so if it does not.
    fn is_live(&mut self) -> bool {
        if self.has_ended() {
            self.notice = Some("the run has ended".to_owned());
            return false;
        }
        true
    }

    fn open_live(&mut self, dialog: impl FnOnce(&Self) -> Dialog) {
        if self.is_live() {
            self.dialog = Some(dialog(self));
        }
    }

    fn open_composer(&mut self, mode: SendMode) {
        if self.is_live() {
            self.composer.open(mode);
        }
    }

    /// Escape leaves one thing at a time.
    fn back(&mut self) -> Vec<Effect> {
        if self.view.hits().is_some() {
            self.view.clear_search();
            return Vec::new();
        }
        if self.view.filter() != Filter::All {
            self.view.set_filter(&self.transcript, Filter::All);
            return Vec::new();
        }
        vec![Effect::Close]
    }

    /// In a loop it ends the run, so it asks.
    fn interrupt(&mut self) -> Vec<Effect> {
        if !self.is_live() {
            return Vec::new();
        }
        let is_conversation = self
            .model
            .started()
            .is_some_and(|started| started.kind == RunKind::Session);
        if is_conversation {
            return vec![self.command(ControlCommand::Interrupt)];
        }
        self.dialog = Some(Dialog::Stop(StopDialog::new(StopKind::Interrupt)));
        Vec::new()
    }

    fn show_request(&mut self, now: Now) {
        match self.prompt.as_mut().filter(|prompt| !prompt.is_answered()) {
            Some(prompt) => {
                prompt.unhide(now.instant);
            }
            None => self.notice = Some("no request is waiting for an answer".to_owned()),
        }
    }

    fn jump(&mut self, jump: Jump, absent: &str) {
        if !self.view.jump(&self.transcript, jump) {
            self.notice = Some(absent.to_owned());
        }
    }

    fn cycle_filter(&mut self) {
        let filter = match self.view.filter() {
            Filter::All => Filter::Conversation,
            Filter::Conversation => Filter::Tools,
            Filter::Tools => Filter::Edits,
            Filter::Edits => Filter::Errors,
            Filter::Errors => Filter::All,
        };
        self.view.set_filter(&self.transcript, filter);
    }

    fn next_hit(&mut self, is_forward: bool) {
        let found = match is_forward {
            true => self.view.next_hit(&self.transcript),
            false => self.view.previous_hit(&self.transcript),
        };
        if !found {
            self.notice = Some(match self.view.hits() {
                Some(_) if self.view.is_searching(&self.transcript) => "no match so far".to_owned(),
                Some(_) => "no match".to_owned(),
                None => "press / to search".to_owned(),
            });
        }
    }

    fn copy(&mut self) -> Vec<Effect> {
        match self.view.copy_text(&self.transcript) {
            Some(text) => vec![Effect::Copy { text }],
            None => self.say("nothing to copy"),
        }
    }

    /// The driver builds it from the journal: a long one takes a while, and what is loaded may be only its end.
    fn send_transcript(&mut self, destination: Destination) -> Vec<Effect> {
        // What is saved in the editor is not the answer to a request whose editor did not open.
        self.edited_request = None;
        self.notice = Some("preparing the transcript…".to_owned());
        vec![Effect::Transcript {
            run: self.id.clone(),
            destination,
        }]
    }

    fn open_file(&mut self) -> Vec<Effect> {
        let Some((path, line)) = self.view.file_place(&self.transcript) else {
            return self.say("the selected entry is not about a file; select one with J and K");
        };
        let workspace = self
            .model
            .started()
            .map_or("", |started| started.workspace.as_str());
        let path = match path.starts_with('/') || workspace.is_empty() {
            true => path,
            false => format!("{}/{path}", workspace.trim_end_matches('/')),
        };
        vec![Effect::EditFile { path, line }]
    }

    fn show_raw(&mut self) -> Vec<Effect> {
        let cell = self.view.selected().and_then(|index| self.transcript.cell(index));
        let Some((attempt, raw)) = cell.and_then(|cell| Some((cell.raw_log, cell.raw?))) else {
            return self.say("the selected entry has no line of the agent; select one with J and K");
        };
        vec![Effect::ShowRaw {
            run: self.id.clone(),
            attempt,
            offset: raw.offset,
            length: raw.length,
        }]
    }

    fn say(&mut self, text: &str) -> Vec<Effect> {
        self.notice = Some(text.to_owned());
        Vec::new()
    }
}
