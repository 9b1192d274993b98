//! `ShownErrors`: filters errors that several events report.

use std::collections::VecDeque;

/// How many errors are remembered.
const MAX_ERRORS: usize = 16;

/// The errors that were shown, the latest last.
#[derive(Debug, Default)]
pub struct ShownErrors(VecDeque<String>);

impl ShownErrors {
    /// The new part of an error: an error that contains an earlier one is cut to the rest.
    pub fn news(&mut self, text: &str) -> Option<String> {
        let text = text.trim();
        if text.is_empty() || self.0.iter().any(|shown| shown.contains(text)) {
            return None;
        }
        let rests = self.0.iter().filter_map(|shown| rest(text, shown));
        let news = rests.min_by_key(|rest| rest.len()).unwrap_or(text).to_owned();
        if self.0.len() == MAX_ERRORS {
            self.0.pop_front();
        }
        self.0.push_back(text.to_owned());
        (!news.is_empty()).then_some(news)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The part of `text` before or after `shown`, if it is separated by a joint.
fn rest<'a>(text: &'a str, shown: &str) -> Option<&'a str> {
    const JOINTS: [char; 8] = [' ', '\n', ':', ';', ',', '.', '(', ')'];
    let behind = text
        .strip_prefix(shown)
        .filter(|rest| rest.starts_with(JOINTS) || shown.ends_with(JOINTS));
    let before = || {
        text.strip_suffix(shown)
            .filter(|rest| rest.ends_with(JOINTS) || shown.starts_with(JOINTS))
    };
    let rest = behind.or_else(before)?;
    // Brackets stay where they belong to what is left.
    let rest = rest.trim_matches([' ', '\n', ':', ';', ',', '.']);
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::{MAX_ERRORS, ShownErrors};

    #[test]
    fn an_error_that_says_an_earlier_one_and_more_is_cut_to_what_is_new() {
        let mut shown = ShownErrors::default();
        let mut news = |text: &str| shown.news(text);
        assert_eq!(news("529 Overloaded").as_deref(), Some("529 Overloaded"));
        assert_eq!(news("529 Overloaded"), None);
        assert_eq!(news("Overloaded"), None);
        assert_eq!(news("529 Overloaded."), None);
        assert_eq!(
            news("529 Overloaded: try again later").as_deref(),
            Some("try again later")
        );
        assert_eq!(
            news("the agent failed: 529 Overloaded").as_deref(),
            Some("the agent failed")
        );
        assert_eq!(news("529 Overloadedness").as_deref(), Some("529 Overloadedness"));
        assert_eq!(news(" \n"), None);
    }

    #[test]
    fn only_the_latest_errors_are_remembered() {
        let mut shown = ShownErrors::default();
        for number in 0..=MAX_ERRORS {
            assert!(shown.news(&format!("error [{number}]")).is_some());
        }
        assert!(shown.news("error [0]").is_some());
        assert!(shown.news(&format!("error [{MAX_ERRORS}]")).is_none());
    }
}
