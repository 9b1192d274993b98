//! The kinds of records that are indexed, and the weight of a hit in each.

/// Kinds by their number in the index, and how much a match there is worth. What a person or the model said counts
/// more than what a tool printed.
const KINDS: &[(&str, i64)] = &[
    ("text_block", 3),
    ("thinking_block", 1),
    ("user_message", 3),
    ("iteration_started", 2),
    ("tool_started", 2),
    ("tool_finished", 0),
    ("error", 3),
    ("notice", 2),
    ("warned", 2),
    ("verify_finished", 1),
    ("command_received", 3),
    ("question_asked", 3),
    ("plan_proposed", 3),
    ("permission_requested", 1),
    ("retry_scheduled", 1),
    ("turn_finished", 2),
    ("attempt_ended", 2),
    ("iteration_ended", 1),
    ("finished", 2),
    ("run_ended", 3),
    ("permission_denied", 2),
    ("task_updated", 1),
    ("plan_updated", 1),
];

/// The kinds that have words.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// The number of a kind; none for those that have no words.
pub(crate) fn number_of(kind: &str) -> Option<u8> {
    let number = KINDS.iter().position(|(name, _)| *name == kind)?;
    u8::try_from(number).ok()
}

/// How much a match in a kind is worth.
pub(super) fn weight_of(number: u8) -> i64 {
    KINDS.get(usize::from(number)).map_or(0, |(_, weight)| *weight)
}
