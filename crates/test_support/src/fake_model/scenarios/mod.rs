//! What the model says: one function per scenario, from a turn to an answer.

mod agents;
mod faults;
mod files;
mod shell;
mod talk;
mod turn;

pub(super) use turn::Turn;

use super::message::Answer;

type Scenario = fn(&Turn<'_>) -> Answer;

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

pub(super) fn find(name: &str) -> Option<Scenario> {
    TABLES
        .into_iter()
        .flatten()
        .find(|(known, _)| *known == name)
        .map(|(_, scenario)| *scenario)
}
