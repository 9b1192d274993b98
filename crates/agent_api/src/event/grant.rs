//! `Grant`: a lasting permission that a request offers beside "allow once". An answer names the ones it gives by id.

use serde::{Deserialize, Serialize};

use super::id::GrantId;

/// One lasting permission that a request offers. Nothing is granted unless an answer names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Grant {
    /// What the answer names. It depends on all that would be granted: another grant has another id.
    pub id: GrantId,
    /// What is granted.
    pub kind: GrantKind,
    /// How long it lasts, and where it is kept.
    pub destination: GrantDestination,
    /// All of it in one line, in the agent's untrusted words: `Allow Bash(git status *) for this session`.
    pub text: String,
}

/// What is granted, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantKind {
    /// Calls that a rule names run without asking.
    Rule,
    /// An option that only the agent knows the extent of.
    Option,
    /// The agent may work in one more directory.
    Directory,
    /// Another permission mode, which allows much more than this call.
    Mode,
    /// A kind of a newer version.
    #[serde(other)]
    Unknown,
}

/// How long a grant lasts, and where it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantDestination {
    /// Until the agent's session ends.
    Session,
    /// The workspace's settings for this user.
    Workspace,
    /// The workspace's settings for everyone.
    Project,
    /// The user's settings, for all workspaces.
    User,
    /// Only the agent knows.
    #[serde(other)]
    Unknown,
}
