//! A backlog as files.
//!
//! A task is a Markdown file with front matter in the repository. What changes while somebody works on it is a [`Claim`]
//! in the state directory. A [`Board`] is both together: it is computed, never stored. Nothing here runs git, starts an
//! agent or reads a clock: the caller says what the base commit has and what time it is.

mod backlog;
mod base;
mod board;
mod claim;
mod claim_store;
mod cycle;
mod dependents;
mod draft;
mod edit;
mod folder;
mod front_matter;
mod id;
mod not_started;
mod parse;
mod problem;
mod proposal;
mod repeated_failure;
mod select;
mod task;
mod touches;
mod yaml_text;

pub use backlog::Backlog;
pub use base::Base;
pub use board::{Board, Card, Column, Limits};
pub use claim::{Claim, ClaimState, Failure};
pub use claim_store::{ClaimError, ClaimStore, Claims, Release};
pub use draft::Draft;
pub use edit::{EditError, FieldValue, replace_body, set_field};
pub use folder::{FolderError, TASKS_FOLDER, TaskFolder};
pub use id::{FindTaskError, TaskId};
pub use not_started::{Dependency, NotStarted};
pub use parse::{ParsedFile, parse_task};
pub use problem::{Problem, Severity};
pub use proposal::{MAX_PROPOSED, Proposal, parse_proposal};
pub use repeated_failure::RepeatedFailure;
pub use select::{Selection, next};
pub use task::{Link, Permissions, RunLimits, Status, Task};
pub use touches::{first_overlap, patterns_overlap};
