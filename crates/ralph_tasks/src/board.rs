//! `Board`: where every task stands. Computed from the files, the base commit and the claims, without I/O.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::backlog::Backlog;
use crate::base::Base;
use crate::claim::{Claim, ClaimState};
use crate::claim_store::Claims;
use crate::dependents::Dependents;
use crate::id::TaskId;
use crate::not_started::{Dependency, NotStarted};
use crate::repeated_failure::{RepeatedFailure, repeated_failure};
use crate::task::{Permissions, Status, Task};
use crate::touches::first_overlap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// It waits for something.
    Todo,
    /// It can be worked on. Limits and overlaps may still hold it back for a while.
    Ready,
    Doing,
    Review,
    Done,
    Blocked,
}

impl Column {
    pub const ALL: [Self; 6] = [
        Self::Todo,
        Self::Ready,
        Self::Doing,
        Self::Review,
        Self::Done,
        Self::Blocked,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::Ready => "ready",
            Self::Doing => "doing",
            Self::Review => "review",
            Self::Done => "done",
            Self::Blocked => "blocked",
        }
    }
}

/// How much is worked on at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tasks that are worked on at the same time.
    pub parallel: usize,
    /// Tasks that are finished but not merged, those that are worked on included. `None` where nobody reviews.
    pub max_review: Option<usize>,
    /// Attempts before a task is blocked.
    pub max_attempts: usize,
    /// Tasks that may fail with the same error before nothing is started any more.
    pub max_same_failures: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            parallel: 1,
            max_review: Some(5),
            max_attempts: 2,
            max_same_failures: 3,
        }
    }
}

/// A task on the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card<'a> {
    pub task: &'a Task,
    pub column: Column,
    /// `None` for tasks that are done or worked on, and for those that can start now.
    pub why: Option<NotStarted>,
    pub claim: Option<&'a Claim>,
    /// What the base commit lets it run. `None` if the commit does not have the task.
    pub permissions: Option<&'a Permissions>,
    /// The most urgent priority of this task and of those that wait for it.
    pub urgency: u8,
    /// How many tasks wait for it.
    pub dependents: usize,
}

/// A task that is not merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held<'a> {
    pub(crate) task: &'a TaskId,
    pub(crate) touches: &'a [String],
    /// The work is finished; otherwise its run still works on it.
    pub(crate) is_review: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board<'a> {
    pub backlog: &'a Backlog,
    pub limits: Limits,
    cards: BTreeMap<&'a TaskId, Card<'a>>,
    /// Claims of runs that work on tasks without a card: the file is gone or has errors.
    orphans: Vec<&'a Claim>,
    repeated_failure: Option<RepeatedFailure>,
}

impl<'a> Board<'a> {
    pub fn new(backlog: &'a Backlog, base: &'a Base, claims: &'a Claims, limits: Limits) -> Self {
        let maker = Maker {
            backlog,
            base,
            claims,
            limits,
        };
        let dependents = Dependents::new(backlog);
        let ids = backlog.tasks().map(|task| &task.id);
        let done: BTreeSet<&TaskId> = ids.filter(|id| maker.is_done(id)).collect();
        let mut cards: BTreeMap<&TaskId, Card<'a>> = BTreeMap::new();
        for task in backlog.tasks() {
            let (column, why) = maker.place(task);
            let waiting = dependents.of(&task.id);
            let open = waiting.iter().filter(|other| !done.contains(&other.id));
            let card = Card {
                task,
                column,
                why,
                claim: claims.get(&task.id),
                permissions: base.task(&task.id).map(|base| &base.permissions),
                urgency: open
                    .map(|other| other.priority)
                    .chain([task.priority])
                    .min()
                    .unwrap_or(task.priority),
                dependents: waiting.len(),
            };
            cards.insert(&task.id, card);
        }
        let mut board = Self {
            backlog,
            limits,
            repeated_failure: repeated_failure(cards.values(), limits.max_same_failures),
            orphans: claims
                .iter()
                .filter(|(id, claim)| claim.is_held() && !cards.contains_key(id))
                .map(|(_, claim)| claim)
                .collect(),
            cards,
        };
        board.hold_back();
        board
    }

    /// Says of ready tasks why they cannot start now.
    fn hold_back(&mut self) {
        let unmerged: Vec<Held<'a>> = self.unmerged().collect();
        let is_review_full = self.limits.max_review.filter(|limit| unmerged.len() >= *limit);
        for card in self
            .cards
            .values_mut()
            .filter(|card| card.column == Column::Ready)
        {
            let overlap = unmerged.iter().find_map(|other| {
                let (touches, other_touches) = first_overlap(&card.task.touches, other.touches)?;
                Some(NotStarted::Overlaps {
                    task: other.task.clone(),
                    touches: touches.to_owned(),
                    other_touches: other_touches.to_owned(),
                })
            });
            let same_failure = self
                .repeated_failure
                .as_ref()
                .map(|failure| NotStarted::SameFailure {
                    tasks: failure.tasks.clone(),
                });
            let review = is_review_full.map(|limit| NotStarted::ReviewLimit { limit });
            card.why = same_failure.or(overlap).or(review);
        }
    }

    pub fn card(&self, id: &TaskId) -> Option<&Card<'a>> {
        self.cards.get(id)
    }

    /// All cards, by id.
    pub fn cards(&self) -> impl Iterator<Item = &Card<'a>> {
        self.cards.values()
    }

    pub fn in_column(&self, column: Column) -> impl Iterator<Item = &Card<'a>> {
        self.cards().filter(move |card| card.column == column)
    }

    /// Claims of runs that work on tasks whose files are gone or have errors.
    pub fn orphans(&self) -> &[&'a Claim] {
        &self.orphans
    }

    /// Tasks that a run works on or that wait to be merged, whether or not they have a card.
    pub(crate) fn unmerged(&self) -> impl Iterator<Item = Held<'a>> {
        let cards = self.cards.values().filter_map(|card| {
            Some(Held {
                task: &card.task.id,
                touches: &card.task.touches,
                is_review: match card.column {
                    Column::Doing => false,
                    Column::Review => true,
                    Column::Todo | Column::Ready | Column::Done | Column::Blocked => return None,
                },
            })
        });
        let orphans = self.orphans.iter().map(|claim| Held {
            task: &claim.task,
            touches: &claim.touches,
            is_review: claim.state == ClaimState::Review,
        });
        cards.chain(orphans)
    }

    /// The tasks that can be worked on, the first one first: the most urgent, counting what waits for them, then those
    /// that most others wait for.
    pub fn ready(&self) -> Vec<&Card<'a>> {
        let mut ready: Vec<&Card<'a>> = self.in_column(Column::Ready).collect();
        ready.sort_by_key(|card| (card.urgency, usize::MAX - card.dependents, &card.task.id));
        ready
    }

    /// Why the task is not started. `None` if it is done, worked on, or can start now.
    pub fn why_not_started(&self, id: &TaskId) -> Option<&NotStarted> {
        self.card(id)?.why.as_ref()
    }

    pub fn repeated_failure(&self) -> Option<&RepeatedFailure> {
        self.repeated_failure.as_ref()
    }
}

struct Maker<'a> {
    backlog: &'a Backlog,
    base: &'a Base,
    claims: &'a Claims,
    limits: Limits,
}

impl Maker<'_> {
    fn place(&self, task: &Task) -> (Column, Option<NotStarted>) {
        let claim = self.claims.get(&task.id);
        // A run has it, whatever its file says by now. Only the merge ends that.
        if let Some(claim) = claim.filter(|_| self.is_held(&task.id)) {
            return match claim.state {
                ClaimState::Review => (Column::Review, None),
                ClaimState::Doing | ClaimState::Released => (Column::Doing, None),
            };
        }
        if let Some(message) = self.backlog.invalid(&task.id) {
            let message = message.to_owned();
            return (Column::Todo, Some(NotStarted::Invalid { message }));
        }
        if let Some(file) = self.backlog.broken_part(&task.id) {
            let message = format!("`{file}`, which is a part of it, has errors");
            return (Column::Todo, Some(NotStarted::Invalid { message }));
        }
        if self.is_done(&task.id) {
            return (Column::Done, None);
        }
        if !self.backlog.children(&task.id).is_empty() {
            return self.place_parent(task);
        }
        if let Some(blocked) = self.blocked(task) {
            return (Column::Blocked, Some(blocked));
        }
        if let Some(claim) = claim.filter(|claim| claim.failed_attempts() >= self.limits.max_attempts) {
            let failed = NotStarted::Failed {
                attempts: claim.failed_attempts(),
                evidence: claim.last_evidence().map(str::to_owned),
            };
            return (Column::Blocked, Some(failed));
        }
        if matches!(self.base, Base::Commit(_)) && self.base.task(&task.id).is_none() {
            return (Column::Todo, Some(NotStarted::NotCommitted));
        }
        // A run that works on a task above it may do the work of this one as well.
        let ancestors = self.backlog.ancestors(&task.id).into_iter();
        let held = ancestors.filter(|id| self.is_held(id));
        let dependencies = self.backlog.dependencies(&task.id).into_iter();
        let waits: Vec<Dependency> = dependencies
            .filter(|id| !self.is_merged(id))
            .chain(held)
            .map(|id| Dependency {
                is_uncommitted: self.is_done(&id),
                id,
            })
            .collect();
        match waits.is_empty() {
            true => (Column::Ready, None),
            false => (Column::Todo, Some(NotStarted::WaitsFor { tasks: waits })),
        }
    }

    /// Whether a run has it and the work is not merged.
    fn is_held(&self, id: &TaskId) -> bool {
        self.claims.get(id).is_some_and(Claim::is_held) && !self.is_merged(id)
    }

    fn place_parent(&self, task: &Task) -> (Column, Option<NotStarted>) {
        if let Some(blocked) = self.blocked(task) {
            return (Column::Blocked, Some(blocked));
        }
        let open = self
            .backlog
            .leaves(&task.id)
            .into_iter()
            .filter(|id| !self.is_done(id));
        let why = NotStarted::HasChildren { open: open.count() };
        (Column::Todo, Some(why))
    }

    fn blocked(&self, task: &Task) -> Option<NotStarted> {
        let ancestors = self.backlog.ancestors(&task.id);
        let tasks = std::iter::once(&task.id).chain(&ancestors);
        let blocked = tasks
            .filter_map(|id| self.backlog.task(id))
            .find(|task| task.status == Status::Blocked)?;
        Some(NotStarted::Blocked {
            ancestor: (blocked.id != task.id).then(|| blocked.id.clone()),
            reason: blocked.blocked_reason.clone(),
        })
    }

    /// Whether its file says so; for a parent, whether those of all tasks below it do.
    fn is_done(&self, id: &TaskId) -> bool {
        let is_done = |id: &TaskId| {
            self.backlog
                .task(id)
                .is_some_and(|task| task.status == Status::Done)
        };
        let leaves = self.backlog.leaves(id);
        // Tasks that are their own ancestors have none.
        self.backlog.broken_part(id).is_none() && !leaves.is_empty() && leaves.iter().all(is_done)
    }

    /// Whether the base commit says that it is done, and nobody has opened it again.
    fn is_merged(&self, id: &TaskId) -> bool {
        let is_in_base = |id: &TaskId| match self.base {
            Base::Missing => true,
            Base::Commit(_) => self.base.task(id).is_some_and(|base| base.status == Status::Done),
        };
        self.is_done(id) && self.backlog.leaves(id).iter().all(is_in_base)
    }
}
