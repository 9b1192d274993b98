//! What goes on from one batch to the next.

use ralph_run::Activity;
use serde::{Deserialize, Serialize};

use super::account::Account;

/// What a fold needs to go on, besides the rows. Kept with the run, as JSON; what a newer version adds is ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FoldState {
    /// What the agent does, whoever waits for whom.
    pub(super) activity: Activity,
    pub(super) account: Account,
    pub(super) damaged: u64,
    pub(super) unsettled_from: Option<u64>,
    /// The messages of the model that are being written: by the call they belong to, and their usage row.
    pub(super) lanes: Vec<(Option<String>, u64)>,
}

impl FoldState {
    /// The first usage row whose figures may still change.
    #[must_use]
    pub fn unsettled_from(&self) -> Option<u64> {
        self.unsettled_from
    }

    /// How many lines of the journal are no records.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged
    }
}
