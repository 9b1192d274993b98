//! What was found, and what would be needed.

use std::fmt;

use crate::backend::Found;
use crate::error::Error;
use crate::event::AgentKind;

/// What was found, in the order of preference.
#[derive(Debug)]
pub struct Report {
    /// One entry for each backend.
    pub entries: Vec<ReportEntry>,
}

/// One backend.
#[derive(Debug)]
pub struct ReportEntry {
    /// Its name.
    pub kind: AgentKind,
    /// Its name for people.
    pub display_name: &'static str,
    /// The program, or why there is none.
    pub found: Result<Found, Error>,
    /// The versions that were tested.
    pub tested_versions: Option<(&'static str, &'static str)>,
    /// How to log in.
    pub login_hint: &'static str,
}

impl Report {
    /// The first backend that is there.
    #[must_use]
    pub fn first(&self) -> Option<&ReportEntry> {
        self.entries.iter().find(|entry| entry.found.is_ok())
    }

    /// What would be needed, in one line.
    #[must_use]
    pub fn needed(&self) -> String {
        let needed: Vec<String> = self
            .entries
            .iter()
            .filter_map(|entry| entry.found.as_ref().err())
            .map(ToString::to_string)
            .collect();
        needed.join("; ")
    }
}

impl fmt::Display for Report {
    /// One line for each backend.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            match &entry.found {
                Ok(Found { program, version }) => {
                    write!(formatter, "{}: {}", entry.kind, program.display())?;
                    if let Some(version) = version {
                        write!(formatter, " {version}")?;
                    }
                }
                Err(error) => write!(formatter, "{}: {error}", entry.kind)?,
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}
