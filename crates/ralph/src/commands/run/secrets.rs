//! `check_prompt`: refuses a prompt that contains a secret. `ralph run` and the server use it before a run starts.

use ralph_run::{FoundSecret, Redactor, secrets_among};

use crate::failure::Failure;
use crate::settings::Settings;

/// # Errors
/// If the prompt contains a secret, unless `allow_secrets` is set.
pub(in crate::commands) fn check_prompt(settings: &Settings, prompt: Option<&str>) -> Result<(), Failure> {
    let Some(prompt) = prompt.filter(|_| !settings.allow_secrets) else {
        return Ok(());
    };
    let given = settings.agent.env.iter();
    let given = given.filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
    match find_secret(prompt, given, &settings.redact) {
        None => Ok(()),
        Some(found) => Err(Failure::config(format!(
            "the prompt contains {found}: remove it, or add `--allow-secrets` to send it to the agent"
        ))),
    }
}

/// The first secret in a text, in words: what it is and in which line. Secrets are the values of variables of this
/// process and of the agent, and everything that the journal redacts.
pub(crate) fn find_secret(
    text: &str,
    variables: impl Iterator<Item = (String, String)>,
    patterns: &[String],
) -> Option<String> {
    let own = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let variables: Vec<(String, String)> = own.chain(variables).collect();
    let secrets = secrets_among(
        variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    // A pattern that is not a regular expression is reported when the run starts.
    let redactor = Redactor::new(secrets, patterns).ok()?;
    let FoundSecret { kind, line } = redactor.find_first(text)?;
    let is_variable = |kind: &str| {
        kind.chars()
            .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_')
    };
    let what = match kind.as_str() {
        "pattern" => "text that matches a pattern of `redact`".to_owned(),
        kind if is_variable(kind) => format!("the value of `{kind}`"),
        kind => format!("a secret of kind `{kind}`"),
    };
    Some(format!("{what} (line {line})"))
}

#[cfg(test)]
mod tests {
    use super::find_secret;

    fn found(text: &str, patterns: &[&str]) -> Option<String> {
        let variables = [("MY_API_KEY".to_owned(), "hunter2hunter2".to_owned())];
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        find_secret(text, variables.into_iter(), &patterns)
    }

    #[test]
    fn the_kind_and_the_line_of_a_secret_are_named() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        assert_eq!(
            found(&format!("Use this.\n\nToken: {token}\n"), &[]).as_deref(),
            Some("a secret of kind `github` (line 3)")
        );
        assert_eq!(
            found("the key is hunter2hunter2", &[]).as_deref(),
            Some("the value of `MY_API_KEY` (line 1)")
        );
        assert_eq!(
            found("a\nplan-9\n", &["plan-[0-9]"]).as_deref(),
            Some("text that matches a pattern of `redact` (line 2)")
        );
        assert_eq!(found("Rotate the keys; é [redacted:github] stays.", &[]), None);
        assert_eq!(found("", &[]), None);
    }
}
