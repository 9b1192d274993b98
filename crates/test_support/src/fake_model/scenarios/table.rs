use super::turn::Turn;
use super::{agents, faults, files, shell, talk};
use crate::fake_model::message::Answer;

pub(super) type Scenario = fn(&Turn<'_>) -> Answer;

const TABLES: [&[(&str, Scenario)]; 5] = [
    talk::SCENARIOS,
    shell::SCENARIOS,
    files::SCENARIOS,
    agents::SCENARIOS,
    faults::SCENARIOS,
];

/// The names that `SCENARIO:<name>` knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().flatten().map(|(name, _)| *name)
}

pub(in crate::fake_model) fn find(name: &str) -> Option<Scenario> {
    TABLES
        .into_iter()
        .flatten()
        .find(|(known, _)| *known == name)
        .map(|(_, scenario)| *scenario)
}
