//! Keys of the home screen. A dialog or a field that is open above the list takes all of them.

use ralph_run::short_run_id;
use run_view::one_line;
use terminal_input::{Edit, Key};

use super::new_run_form::{FormStep, NewRunForm};
use super::row::name_of;
use super::run_filter::StateGroup;
use super::screen::{HomeDialog, HomeScreen, NAME_COLUMNS, StartedFrom, has_request};
use crate::app::Now;
use crate::bindings::{Action, Context};
use crate::dialog::{DialogStep, StopDialog};
use crate::effect::Effect;
use crate::input::RunSummary;

impl HomeScreen {
    pub(crate) fn key(&mut self, key: &Key, now: Now) -> Vec<Effect> {
        let is_armed = self.is_quiet(now);
        self.last_key_at = Some(now.instant);
        let mut effects = match &self.dialog {
            None => self.list_key(key, now),
            Some(HomeDialog::Filter) => {
                self.filter_key(key);
                Vec::new()
            }
            Some(HomeDialog::Stop { run, dialog, .. }) => {
                let (run, step) = (run.clone(), dialog.key(key, is_armed, &self.keymap));
                self.stop_step(step, run)
            }
            Some(HomeDialog::NewRun) => self.form_key(key),
            Some(HomeDialog::Answer(_)) => self.answer_key(key, now),
        };
        effects.extend(self.refresh_preview(now));
        effects
    }

    fn list_key(&mut self, key: &Key, now: Now) -> Vec<Effect> {
        // A paste is not a series of keys.
        if matches!(key, Key::Paste(_) | Key::OversizedPaste) {
            self.notify("nothing takes a paste here; press c to describe a run");
            return Vec::new();
        }
        let Some(action) = self.keymap.action(Context::Home, key) else {
            return Vec::new();
        };
        self.answer_wanted = None;
        self.act(action, now)
    }

    fn act(&mut self, action: Action, now: Now) -> Vec<Effect> {
        let page = isize::try_from(self.drawn.len().max(1)).unwrap_or(1);
        match action {
            Action::Quit => return vec![Effect::Quit],
            Action::Redraw => return vec![Effect::Redraw],
            Action::Suspend => return vec![Effect::Suspend],
            Action::Up => self.list.move_by(-1),
            Action::Down => self.list.move_by(1),
            Action::HalfPageUp => self.list.move_by(-(page / 2).max(1)),
            Action::HalfPageDown => self.list.move_by((page / 2).max(1)),
            Action::PageUp => self.list.move_by(-page),
            Action::PageDown => self.list.move_by(page),
            Action::Top => self.list.go_to_row(0),
            Action::Bottom => self.list.go_to_row(usize::MAX),
            Action::Open => return self.open_selected(),
            Action::NewRun => self.open_form(),
            Action::StopSelected => self.ask_to_stop(),
            Action::ResumeSelected => return self.resume(false),
            Action::ForkSelected => return self.resume(true),
            Action::BrowseSelected => {
                let run = self.list.selected_id().map(str::to_owned);
                return run.map(|run| Effect::OpenInBrowser { run }).into_iter().collect();
            }
            Action::AnswerSelected => return self.open_answer(now),
            Action::Snooze => self.snooze(),
            Action::EditFilter => {
                // As a search does: it begins with an empty text.
                self.list.filter.text.set_text("");
                self.list.refresh();
                self.dialog = Some(HomeDialog::Filter);
            }
            Action::NextStateGroup => {
                self.list.filter.next_group();
                self.list.refresh();
            }
            Action::ToggleWorkspace => {
                self.list.filter.toggle_scope();
                self.list.refresh();
            }
            Action::ClearFilter => {
                self.list.filter.clear();
                self.list.refresh();
            }
            // Not of the home screen.
            _ => {}
        }
        Vec::new()
    }

    /// Whether an action does something now, for the footer.
    pub(super) fn does(&self, action: Action) -> bool {
        let run = self.list.selected();
        let is_active = |run: &RunSummary| !run.file.is_ended() && !run.is_lost;
        match action {
            Action::Open | Action::BrowseSelected => run.is_some(),
            Action::AnswerSelected => run.is_some_and(has_request),
            Action::StopSelected => run.is_some_and(is_active),
            Action::ResumeSelected => run.is_some_and(|run| !is_active(run) && !run.file.is_ephemeral),
            Action::ForkSelected => run.is_some_and(|run| !run.file.is_ephemeral),
            Action::Snooze => run.is_some_and(|run| StateGroup::of(run) == StateGroup::NeedsPerson),
            Action::EditFilter | Action::NextStateGroup | Action::ToggleWorkspace => self.list.total() > 0,
            _ => true,
        }
    }

    pub(super) fn open_selected(&mut self) -> Vec<Effect> {
        let run = self.list.selected_id().map(str::to_owned);
        run.map(|run| Effect::Open { run }).into_iter().collect()
    }

    fn snooze(&mut self) {
        if !self.list.toggle_snooze() {
            self.notify("only a run that waits for you can be snoozed");
        }
    }

    fn open_form(&mut self) {
        let workspace = self.list.filter.workspace.clone();
        self.form
            .get_or_insert_with(|| NewRunForm::new(&workspace))
            .reopen();
        self.dialog = Some(HomeDialog::NewRun);
    }

    /// Whether the cursor is where the user left it. If its run is gone, says so.
    fn is_chosen(&mut self) -> bool {
        let is_chosen = !self.list.has_strayed();
        if !is_chosen {
            let text = match self.list.len() {
                0 => "no run is listed; press esc to list all runs",
                _ => "the selected run is not in the list any more; select one",
            };
            self.notify(text);
        }
        is_chosen
    }

    /// Whether a run may be started now: one at a time.
    fn may_start(&mut self) -> bool {
        let may_start = self.starting.is_none();
        if !may_start {
            self.notify("another run is being started");
        }
        may_start
    }

    fn ask_to_stop(&mut self) {
        if !self.is_chosen() {
            return;
        }
        let Some(run) = self.list.selected() else { return };
        let name = name_of(&run.file, NAME_COLUMNS);
        if run.file.is_ended() || run.is_lost {
            self.notify(format!("run {name} has ended"));
        } else {
            let run = run.file.run_id.clone();
            let dialog = StopDialog::of_run(&name);
            self.dialog = Some(HomeDialog::Stop { run, name, dialog });
        }
    }

    fn resume(&mut self, is_fork: bool) -> Vec<Effect> {
        if !self.is_chosen() || !self.may_start() {
            return Vec::new();
        }
        let Some(run) = self.list.selected() else {
            return Vec::new();
        };
        let file = &run.file;
        let short = one_line(short_run_id(&file.run_id), NAME_COLUMNS);
        let refusal = if file.is_ephemeral {
            Some(format!("run {short} did not save its session"))
        } else if !is_fork && !file.is_ended() && !run.is_lost {
            Some(format!("run {short} is still active"))
        } else {
            None
        };
        let run = file.run_id.clone();
        if let Some(text) = refusal {
            self.notify(text);
            return Vec::new();
        }
        self.starting = Some(StartedFrom::List);
        self.notify("starting…");
        vec![Effect::Resume { run, is_fork }]
    }

    /// Every key is the field's, as long as it is open.
    fn filter_key(&mut self, key: &Key) {
        match self.keymap.action(Context::Filter, key) {
            Some(Action::Close) => {
                self.list.filter.text.set_text("");
                self.dialog = None;
            }
            Some(Action::Up) => self.list.move_by(-1),
            Some(Action::Down) => self.list.move_by(1),
            _ => {
                if self.list.filter.text.key(key) == Edit::Complete {
                    self.dialog = None;
                }
            }
        }
        self.list.refresh();
    }

    fn stop_step(&mut self, step: DialogStep, run: String) -> Vec<Effect> {
        if step != DialogStep::Stay {
            self.dialog = None;
        }
        match step {
            DialogStep::Command(command) | DialogStep::CommandAndStay(command) => {
                vec![Effect::Command { run, command }]
            }
            DialogStep::Stay | DialogStep::Close => Vec::new(),
        }
    }

    fn form_key(&mut self, key: &Key) -> Vec<Effect> {
        let Some(form) = &mut self.form else {
            self.dialog = None;
            return Vec::new();
        };
        match form.key(key, &self.keymap) {
            FormStep::Edited => Vec::new(),
            FormStep::Closed => {
                self.dialog = None;
                Vec::new()
            }
            FormStep::Requested(effect) => {
                if matches!(*effect, Effect::Start(_)) {
                    if !self.may_start() {
                        return Vec::new();
                    }
                    self.starting = Some(StartedFrom::Form);
                    if let Some(form) = &mut self.form {
                        form.note_starting();
                    }
                }
                vec![*effect]
            }
        }
    }

    fn answer_key(&mut self, key: &Key, now: Now) -> Vec<Effect> {
        let Some(HomeDialog::Answer(dialog)) = &mut self.dialog else {
            return Vec::new();
        };
        let step = dialog.key(key, &self.keymap, now.instant);
        self.answer_step(step)
    }
}
