//! `FoldState`: what a fold needs to continue where it stopped, besides the rows.

use ralph_run::model::RunModel;
use serde::{Deserialize, Serialize};

use super::settled_usage::SettledUsage;
use crate::rows::SignedTokens;

/// Raise it when the fold gives other rows or summaries for the same journal: what an older fold indexed is read again.
pub(crate) const FOLD_VERSION: u32 = 4;

/// Kept with the run, as JSON. One of another version is not continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoldState {
    /// 0 for folds that had no version.
    #[serde(default)]
    version: u32,
    #[serde(default = "RunModel::summary_only")]
    pub(super) model: RunModel,
    #[serde(default)]
    pub(super) damaged: u64,
    #[serde(default)]
    pub(super) unsettled_from: Option<u64>,
    /// The journal has a format that only newer versions read.
    #[serde(default)]
    pub(super) is_newer: bool,
    /// The messages of the model that are being written: by the call they belong to, and their usage row.
    #[serde(default)]
    pub(super) lanes: Vec<(Option<String>, u64)>,
    /// What the usage rows of the open attempt add up to, without those of the open turn.
    #[serde(default)]
    pub(super) rows_tokens: SignedTokens,
    #[serde(default)]
    pub(super) rows_cost: i64,
    /// The usage rows of ended turns of the whole run.
    #[serde(default)]
    pub(super) settled: SettledUsage,
}

impl Default for FoldState {
    fn default() -> Self {
        Self {
            version: FOLD_VERSION,
            model: RunModel::summary_only(),
            damaged: 0,
            unsettled_from: None,
            is_newer: false,
            lanes: Vec::new(),
            rows_tokens: SignedTokens::default(),
            rows_cost: 0,
            settled: SettledUsage::default(),
        }
    }
}

impl FoldState {
    /// The version of the fold that made it.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Whether this version of the fold can continue from it.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.version == FOLD_VERSION
    }

    /// The first usage row whose figures may still change.
    #[must_use]
    pub fn unsettled_from(&self) -> Option<u64> {
        self.unsettled_from
    }

    /// How many lines of the journal are not records.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged
    }
}

#[cfg(test)]
mod tests {
    use super::FoldState;

    #[test]
    fn the_state_of_an_older_fold_is_read_and_not_continued() {
        let old = r#"{"activity":{"state":"idle"},"account":{"closed":{"tokens":{},"turns":1,"duration_ms":0},"turns":0,
            "is_running":true},"damaged":3,"unsettled_from":7,"lanes":[[null,7]]}"#;
        let old: FoldState = serde_json::from_str(old).unwrap();
        assert!(!old.is_current() && old.damaged() == 3);
        let new = serde_json::to_string(&FoldState::default()).unwrap();
        assert!(serde_json::from_str::<FoldState>(&new).unwrap().is_current());
    }
}
