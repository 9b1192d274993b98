//! How a run begins.

use jiff::Timestamp;
use ralph_run::{Activity, RunKind};

use super::data::Begun;
use super::epoch::epoch_of;
use crate::glance::Glance;
use crate::summary::RunSummary;

/// What is said of a run whose first record is lost.
const NOT_KNOWN: &str = "the first record of its journal cannot be read: how it was started is not known";

/// What a run is called and which journal it has, until its first record comes.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// What it is called, whatever its journal says.
    name: Option<String>,
    /// The journal's, once its first line has come.
    epoch: Option<String>,
}

impl Beginning {
    pub(super) fn of(name: String) -> Self {
        Self {
            name: Some(name),
            epoch: None,
        }
    }

    /// The first line that could be read, or not, has come: it is the one that makes the epoch.
    pub(super) fn note(&mut self, line: &[u8]) {
        self.epoch.get_or_insert_with(|| epoch_of(line));
    }

    /// The run, with its first record. If that is lost, what is known with the next one; a run without a name is none.
    pub(super) fn begin(&mut self, line: &[u8], glance: &Glance<'_>, at: Timestamp) -> Option<RunSummary> {
        self.note(line);
        let begun: Option<Begun> = (glance.kind == "run_started").then(|| glance.data()).flatten();
        let is_known = begun.is_some();
        let begun = begun.or_else(|| self.name.is_some().then(Begun::default))?;
        Some(RunSummary {
            id: self.name.take().unwrap_or(begun.run_id),
            epoch: self.epoch.take().unwrap_or_default(),
            kind: match begun.kind.as_deref() {
                Some("session") => RunKind::Session,
                _ => RunKind::Loop,
            },
            workspace: begun.workspace,
            backend: begun.backend,
            display_name: begun.display_name,
            model: begun.model,
            mode: begun.mode,
            task: begun.task,
            permission_mode: begun.permission_mode,
            title: String::new(),
            started_at: at,
            ended_at: None,
            updated_at: at,
            activity: Activity::Starting,
            reason: None,
            exit_code: None,
            message: (!is_known).then(|| NOT_KNOWN.to_owned()),
            iteration: 0,
            attempt: 0,
            totals: ralph_run::Totals::default(),
            max_cost_micro_usd: begun.max_cost,
            context: None,
            session_ids: Vec::new(),
            resumed_from: begun.resumed_from,
            is_ephemeral: begun.is_ephemeral,
            pending: 0,
            errors: 0,
            head_seq: 0,
        })
    }
}
