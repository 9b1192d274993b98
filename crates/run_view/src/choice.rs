//! How a person's words become an answer. `ralph answer`, the keyboard and the terminal UI share it.

use agent_api::Question;
use ralph_run::control::AnswerChoice;

/// The reason for the agent if none is given.
const NO_REASON: &str = "The user does not want this.";

/// A denial. Without a reason, the agent is told that the user does not want it.
pub fn denial(reason: &str) -> AnswerChoice {
    let reason = match reason.trim() {
        "" => NO_REASON,
        reason => reason,
    };
    AnswerChoice::Deny {
        reason: reason.to_owned(),
    }
}

/// The keys that choose among so many options: `1`, `1-3`.
#[must_use]
pub fn option_keys(options: usize) -> String {
    match options {
        1 => "1".to_owned(),
        last => format!("1-{last}"),
    }
}

/// The option with this number, counted from 1, or with this label.
fn option_label<'a>(question: &'a Question, typed: &str) -> Option<&'a str> {
    let by_label = question
        .options
        .iter()
        .find(|option| option.label.eq_ignore_ascii_case(typed));
    let by_number = || question.options.get(typed.parse::<usize>().ok()?.checked_sub(1)?);
    by_label.or_else(by_number).map(|option| option.label.as_str())
}

/// The labels of the options that were typed as numbers or labels, several separated by commas where the question allows
/// it. `None` if one of them is not an option.
pub fn option_labels(question: &Question, typed: &str) -> Option<String> {
    let typed = typed.trim();
    let parts: Vec<&str> = match question.is_multiple {
        true => typed.split(',').map(str::trim).collect(),
        false => vec![typed],
    };
    let labels: Option<Vec<&str>> = parts.iter().map(|part| option_label(question, part)).collect();
    // A label may contain a comma.
    let labels = labels.or_else(|| Some(vec![option_label(question, typed)?]))?;
    Some(labels.join(", "))
}

#[cfg(test)]
mod tests {
    use super::option_keys;

    #[test]
    fn a_single_option_has_a_single_key() {
        assert_eq!([1, 2, 12].map(option_keys), ["1", "1-2", "1-12"]);
    }
}
