use super::identity::Identities;
use super::place::Place;
use super::prose;
use std::collections::HashSet;

/// Normalises the output of one scenario: what is the same in its lines stays the same.
#[derive(Debug)]
pub struct Normaliser {
    place: Place,
    identities: Identities,
    /// What the scripted model said: ours, however long, wherever the CLI repeats it.
    said: HashSet<String>,
}

impl Normaliser {
    /// For output that was produced there.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self {
            place,
            identities: Identities::default(),
            said: HashSet::new(),
        }
    }

    /// Text that is ours: only places, ids and times are replaced.
    pub fn text(&mut self, text: &str) -> String {
        self.identities.replace(&self.place.replace(text))
    }

    /// A line of the CLI: places, ids and times are replaced, and prose is cut. What is not JSON stays as it is.
    pub fn line(&mut self, line: &str) -> String {
        let replaced = self.text(line);
        prose::trim(&replaced, &mut self.said).unwrap_or(replaced)
    }
}
