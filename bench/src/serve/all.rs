//! All measurements of the server.

use super::{answer, away, deltas, half_open, idle, kill, load, open, reconnect, stall};

/// `bench serve`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    if let Some(option) = given.into_iter().next() {
        return Err(format!(
            "`serve` takes no `{option}`; give it to one of its parts"
        ));
    }
    let none = || std::iter::empty();
    load(none())?;
    deltas(none())?;
    reconnect(none())?;
    stall(none())?;
    answer(none())?;
    open(none())?;
    idle(none())?;
    half_open(none())?;
    away(none())?;
    kill(none())
}
