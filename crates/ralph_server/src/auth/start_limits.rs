//! `StartLimits`: what the runs may use that a token, or anybody at a server, starts. A `StartBound` says whose they are.

use std::fmt;
use std::path::{Path, PathBuf};

use ralph_run::control::PermissionChoice;
use serde::{Deserialize, Serialize};

/// What runs may use. What is absent is not limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StartLimits {
    /// The permission modes that they may have; all if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission_modes: Vec<PermissionChoice>,
    /// How many of them may be live at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_live_runs: Option<u32>,
    /// What each of them may cost, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_run_cost_micro_usd: Option<u64>,
    /// What all of them together may cost each day, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_day_cost_micro_usd: Option<u64>,
}

impl StartLimits {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn allows_mode(&self, mode: PermissionChoice) -> bool {
        self.permission_modes.is_empty() || self.permission_modes.contains(&mode)
    }

    pub(crate) fn has_cost_ceiling(&self) -> bool {
        self.max_run_cost_micro_usd.is_some() || self.max_day_cost_micro_usd.is_some()
    }

    /// Whether runs must be counted or added up.
    pub(crate) fn counts_runs(&self) -> bool {
        self.max_live_runs.is_some() || self.has_cost_ceiling()
    }
}

/// The limits of a server: they hold for everybody, whatever their token allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerStartLimits {
    /// The directories below which runs may start, without links; all if empty.
    pub workspaces: Vec<PathBuf>,
    /// What the runs may use. All live runs and all costs count, however the runs were started.
    pub limits: StartLimits,
}

/// Whose limits these are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holder<'a> {
    /// A named token, or a login session that it opened.
    Token(&'a str),
    /// The server.
    Server,
}

/// As in `token ci may start …`.
impl fmt::Display for Holder<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(name) => write!(formatter, "{name}"),
            Self::Server => formatter.write_str("this server"),
        }
    }
}

/// What holds for a start, on one of the two sides.
#[derive(Debug, Clone)]
pub(crate) struct StartBound<'a> {
    pub(crate) holder: Holder<'a>,
    /// The directories below which runs may start; all if empty.
    pub(crate) workspaces: &'a [PathBuf],
    pub(crate) limits: &'a StartLimits,
}

impl StartBound<'_> {
    pub(crate) fn covers(&self, workspace: &Path) -> bool {
        self.workspaces.is_empty() || self.workspaces.iter().any(|root| workspace.starts_with(root))
    }
}
