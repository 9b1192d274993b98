//! All measurements of the terminal UI.

use super::{bytes, flood, home, idle, open};

/// `bench tui`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    if let Some(option) = given.into_iter().next() {
        return Err(format!(
            "`tui` takes no `{option}`; give it to one of its parts"
        ));
    }
    let none = || std::iter::empty();
    open(none())?;
    home(none())?;
    flood(none())?;
    idle(none())?;
    bytes(none())
}
