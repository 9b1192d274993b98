//! `RunFilter`: which runs the home screen lists.

use ralph_run::model::{RunState, WaitingFor};
use ralph_run::{RunFile, short_run_id};

use crate::input::RunSummary;
use crate::widgets::TextField;

/// Where a run stands for its user. The list is in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StateGroup {
    /// A person has to act.
    NeedsPerson,
    Active,
    Ended,
}

impl StateGroup {
    pub(super) const ALL: [Self; 3] = [Self::NeedsPerson, Self::Active, Self::Ended];

    pub(super) fn of(run: &RunSummary) -> Self {
        let state = &run.file.status.state;
        if state.has_ended() || run.is_lost {
            Self::Ended
        } else if (state.needs_person() || waits_for_message(state)) && !run.is_suspended {
            Self::NeedsPerson
        } else {
            Self::Active
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NeedsPerson => "waiting for you",
            Self::Active => "active",
            Self::Ended => "ended",
        }
    }
}

/// Whether a conversation waits for its next message. Its row says `waiting`, so it counts as such.
pub(super) fn waits_for_message(state: &RunState) -> bool {
    matches!(
        state,
        RunState::Waiting {
            what: WaitingFor::Message
        }
    )
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum WorkspaceScope {
    #[default]
    All,
    Here,
}

#[derive(Debug, Default)]
pub(super) struct RunFilter {
    pub(super) text: TextField,
    /// `None` lists all of them.
    pub(super) group: Option<StateGroup>,
    pub(super) scope: WorkspaceScope,
    /// The workspace that `WorkspaceScope::Here` means.
    pub(super) workspace: String,
}

impl RunFilter {
    pub(super) fn is_active(&self) -> bool {
        !self.text.is_empty() || self.group.is_some() || self.scope != WorkspaceScope::All
    }

    pub(super) fn clear(&mut self) {
        self.text.set_text("");
        self.group = None;
        self.scope = WorkspaceScope::All;
    }

    /// Waiting, active, ended, all.
    pub(super) fn next_group(&mut self) {
        let place = StateGroup::ALL
            .iter()
            .position(|group| Some(*group) == self.group);
        let next = place.map_or(0, |place| place + 1);
        self.group = StateGroup::ALL.get(next).copied();
    }

    pub(super) fn toggle_scope(&mut self) {
        self.scope = match self.scope {
            WorkspaceScope::All => WorkspaceScope::Here,
            WorkspaceScope::Here => WorkspaceScope::All,
        };
    }

    /// The words of the text field, for [`Self::passes`].
    pub(super) fn words(&self) -> Vec<String> {
        let text = self.text.text().to_lowercase();
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// `text` is the run's [`search_text`]; it is only looked at if there are words.
    pub(super) fn passes(&self, run: &RunSummary, text: &str, words: &[String]) -> bool {
        let has_word = |word: &String| text.contains(word) || run.file.run_id.starts_with(word.as_str());
        self.group.is_none_or(|group| StateGroup::of(run) == group)
            && (self.scope == WorkspaceScope::All || run.file.workspace == self.workspace)
            && words.iter().all(has_word)
    }
}

/// What the words of the filter are looked for in, in lower case. The whole id is not part of it: it begins with a date,
/// whose digits would match nearly everything.
pub(super) fn search_text(file: &RunFile) -> String {
    [
        file.task.as_deref().unwrap_or_default(),
        &file.prompt,
        &file.workspace,
        short_run_id(&file.run_id),
        &file.display_name,
        file.backend.as_str(),
        file.model.as_deref().unwrap_or_default(),
    ]
    .join("\n")
    .to_lowercase()
}
