//! `Secret`: a value of the environment that `Redactor` replaces wherever it occurs.

use std::collections::BTreeSet;
use std::fmt;

/// Shorter values are words: they would be found everywhere.
const MIN_BYTES: usize = 8;

/// The last word of the names of variables with secrets: `GITHUB_TOKEN`, `TOKEN`.
const NAME_WORDS: [&str; 14] = [
    "TOKEN",
    "SECRET",
    "KEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "PASS",
    "PASSCODE",
    "PAT",
    "PIN",
    "DSN",
    "COOKIE",
    "WEBHOOK",
    "CONNECTION_STRING",
];
/// How such names end, whatever is before it: `PGPASSWORD`.
const NAME_ENDINGS: [&str; 7] = [
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SSHPASS",
    "APIKEY",
    "APITOKEN",
    "_PWD",
];

/// A value that must not be seen. Its `Debug` form does not show it either.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// What is shown instead, as in `[redacted:ANTHROPIC_API_KEY]`.
    name: String,
    value: String,
}

impl Secret {
    /// A secret and its name. `None` if the value is too short to be told from ordinary text.
    pub fn new(name: &str, value: &str) -> Option<Self> {
        let value = value.trim();
        (value.len() >= MIN_BYTES).then(|| Self {
            // Only what needs no escape in JSON and no care on a terminal.
            name: name
                .chars()
                .map(|it| {
                    if it.is_ascii_alphanumeric() || it == '_' {
                        it
                    } else {
                        '-'
                    }
                })
                .collect(),
            value: value.to_owned(),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn value(&self) -> &str {
        &self.value
    }

    /// The value as it can stand within a JSON string, or within JSON within a JSON string.
    pub(super) fn json_forms(&self) -> BTreeSet<String> {
        let mut forms = BTreeSet::new();
        for escape in [escaped, ascii_escaped] {
            let once = escape(&self.value);
            forms.insert(escape(&once));
            forms.insert(once);
        }
        forms
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Secret")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The variables whose names say that they are secret: `…_TOKEN`, `…_SECRET`, `…_KEY`, `…_PASSWORD` and the like.
pub fn secrets_among<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Secret> {
    variables
        .into_iter()
        .filter(|(name, _)| is_secret_name(name))
        .filter_map(|(name, value)| Secret::new(name, value))
        .collect()
}

fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    if upper.ends_with("PUBLIC_KEY") {
        return false;
    }
    let is_word = |word: &&str| {
        let before = upper.strip_suffix(word);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    NAME_WORDS.iter().any(is_word) || NAME_ENDINGS.iter().any(|ending| upper.ends_with(ending))
}

/// As most writers do it: only what must be.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted
        .strip_prefix('"')
        .and_then(|it| it.strip_suffix('"'))
        .unwrap_or_default()
        .to_owned()
}

/// As some writers do it: everything outside of ASCII, too.
fn ascii_escaped(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for it in escaped(text).chars() {
        if it.is_ascii() {
            ascii.push(it);
            continue;
        }
        let mut units = [0; 2];
        for unit in it.encode_utf16(&mut units) {
            ascii.push_str(&format!("\\u{unit:04x}"));
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::{Secret, ascii_escaped, is_secret_name};

    #[test]
    fn names_tell_what_is_secret() {
        for name in [
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "TOKEN",
            "db_password",
            "OPENAI_APIKEY",
            "AWS_SECRET_ACCESS_KEY",
            "CLIENT_SECRET",
            "PGPASSWORD",
            "MYSQL_PWD",
            "SMTP_PASS",
            "GITLAB_PAT",
            "SSHPASS",
            "SENTRY_DSN",
            "GPG_PASSPHRASE",
            "AZURE_STORAGE_CONNECTION_STRING",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "MONKEY",
            "SSH_PUBLIC_KEY",
            "MAX_TOKENS",
            "KEYBOARD",
            "HOME",
            "PWD",
            "OLDPWD",
            "COMPASS",
            "PATH_PATTERN",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn short_values_are_no_secrets() {
        assert_eq!(Secret::new("A_KEY", " 1234567 "), None);
        assert!(Secret::new("A_KEY", "12345678\n").is_some());
    }

    #[test]
    fn a_secret_is_not_shown_by_accident() {
        let secret = Secret::new("A_KEY", "12345678").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret { name: \"A_KEY\", .. }");
    }

    #[test]
    fn characters_outside_of_ascii_have_an_escaped_form() {
        assert_eq!(ascii_escaped("é\"🦀"), "\\u00e9\\\"\\ud83e\\udd80");
    }
}
