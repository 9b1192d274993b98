//! What is taken out of text and of lines of the journal.

#![expect(
    clippy::unwrap_used,
    reason = "a redactor that cannot be made has to fail the test"
)]

use std::borrow::Cow;

use proptest::{prop_assert, prop_assert_eq, proptest};
use ralph_run::{RedactError, Redactor, Secret, secrets_among};
use serde_json::{Value, json};

const NO_PATTERNS: [&str; 0] = [];

fn plain() -> Redactor {
    Redactor::new([], NO_PATTERNS).unwrap()
}

fn with_secret(value: &str) -> Redactor {
    Redactor::new(Secret::new("MY_KEY", value), NO_PATTERNS).unwrap()
}

fn with_pattern(pattern: &str) -> Redactor {
    Redactor::new([], [pattern]).unwrap()
}

fn redacted_line(redactor: &Redactor, value: &Value) -> Value {
    let mut line = serde_json::to_vec(value).unwrap();
    redactor.redact_json_line(&mut line);
    serde_json::from_slice(&line).unwrap()
}

/// Made here, so that no file of the project looks as if it held a secret.
fn github_token() -> String {
    format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5")
}

#[test]
fn text_without_secrets_is_not_copied() {
    let text = "fn main() { println!(\"task-force, disk-usage, https://example.com:8080/@user\"); }";
    assert!(matches!(plain().redact(text), Cow::Borrowed(_)));
}

#[test]
fn a_token_is_replaced_by_its_kind() {
    let text = format!("git clone with {}.", github_token());
    assert_eq!(plain().redact(&text), "git clone with [redacted:github].");
}

#[test]
fn several_tokens_in_one_text_are_all_replaced() {
    let token = github_token();
    let text = format!("{token} {token}\n{token}");
    let gone = "[redacted:github]";
    assert_eq!(plain().redact(&text), format!("{gone} {gone}\n{gone}"));
}

#[test]
fn an_address_keeps_all_but_the_password() {
    assert_eq!(
        plain().redact(&format!(
            "postgres://me:{}@db.example.com:5432/app",
            "correct-horse"
        )),
        "postgres://me:[redacted:url-password]@db.example.com:5432/app"
    );
}

#[test]
fn a_header_keeps_its_name() {
    let text = format!("curl -H 'Authorization: Bearer {}'", "a1b2c3d4e5f6a7b8c9d0");
    assert_eq!(
        plain().redact(&text),
        "curl -H 'Authorization: Bearer [redacted:bearer]'"
    );
}

#[test]
fn a_private_key_goes_as_a_whole() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj".repeat(3);
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let key = format!("{begin}\n{body}\n{body}\n{end}");
    let text = format!("$ cat key\n{key}\n$ ");
    assert_eq!(plain().redact(&text), "$ cat key\n[redacted:private-key]\n$ ");
    let cut = format!("{begin}\n{body}\n\"next\"");
    assert_eq!(plain().redact(&cut), "[redacted:private-key]\n\"next\"");
    for value in [
        json!([text]),
        json!([cut]),
        json!([json!({ "inner": key }).to_string()]),
    ] {
        let line = redacted_line(&plain(), &value).to_string();
        assert!(
            line.contains("[redacted:private-key]") && !line.contains("MIIE"),
            "{line}"
        );
    }
    let talk = format!("A file that starts with {begin} is a key, and should not be committed");
    assert_eq!(plain().redact(&talk), talk);
    let certificate = format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----");
    assert_eq!(plain().redact(&certificate), certificate);
}

#[test]
fn a_named_secret_is_replaced_by_its_name_wherever_it_is() {
    let redactor = with_secret("correct horse battery");
    assert_eq!(redactor.redact("xcorrect horse batteryx"), "x[redacted:MY_KEY]x");
}

#[test]
fn only_variables_with_telling_names_are_secrets() {
    let secrets = secrets_among([
        ("ANTHROPIC_API_KEY", "one-secret-value"),
        ("HOME", "/home/somebody"),
        ("SHORT_TOKEN", "short"),
    ]);
    let redactor = Redactor::new(secrets, NO_PATTERNS).unwrap();
    assert_eq!(
        redactor.redact("one-secret-value in /home/somebody, short"),
        "[redacted:ANTHROPIC_API_KEY] in /home/somebody, short"
    );
}

#[test]
fn a_secret_that_looks_like_a_token_has_its_own_name() {
    let token = github_token();
    let redactor = with_secret(&token);
    assert_eq!(redactor.redact(&token), "[redacted:MY_KEY]");
    let other = token.replace("aB3", "zZ9");
    assert_eq!(redactor.redact(&other), "[redacted:github]");
}

#[test]
fn secrets_with_the_same_beginning_are_told_apart() {
    let secrets = [
        ("A", "beginning-one"),
        ("B", "beginning-one-and-two"),
        ("C", "beginning"),
    ];
    let secrets = secrets
        .iter()
        .filter_map(|(name, value)| Secret::new(name, value));
    let redactor = Redactor::new(secrets, NO_PATTERNS).unwrap();
    assert_eq!(
        redactor.redact("beginning-one-and-two beginning-one beginning-three"),
        "[redacted:B] [redacted:A] [redacted:C]-three"
    );
}

#[test]
fn a_secret_is_found_in_json_and_in_json_within_json() {
    let secret = "pa\"ss\\wörd\n🦀 end";
    let redactor = with_secret(secret);
    let inner = json!({ "password": secret }).to_string();
    let ascii = r#"{"password":"pa\"ss\\w\u00f6rd\n\ud83e\udd80 end"}"#;
    let value = json!({ "text": secret, "inner": inner, "ascii": ascii });
    assert_eq!(
        redacted_line(&redactor, &value),
        json!({
            "text": "[redacted:MY_KEY]",
            "inner": "{\"password\":\"[redacted:MY_KEY]\"}",
            "ascii": "{\"password\":\"[redacted:MY_KEY]\"}",
        })
    );
    assert_eq!(redactor.redact(secret), "[redacted:MY_KEY]");
}

#[test]
fn a_token_after_an_escape_is_found() {
    let token = github_token();
    let value = json!([
        format!("a\n{token}\tb"),
        json!([format!("\n{token}")]).to_string()
    ]);
    assert_eq!(
        redacted_line(&plain(), &value),
        json!(["a\n[redacted:github]\tb", "[\"\\n[redacted:github]\"]"])
    );
}

#[test]
fn half_an_escape_is_not_the_beginning_of_a_token() {
    // As JSON this is `\npm_…`, which only looks like the prefix `npm_`.
    let value = json!([format!("\npm_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5")]);
    assert_eq!(redacted_line(&plain(), &value), value);
    let redactor = with_secret("nine-nines");
    let value = json!(["\nine-nines", "\n\nnine-nines", "\\nine-nines", "\\nnine-nines"]);
    assert_eq!(
        redacted_line(&redactor, &value),
        json!([
            "\nine-nines",
            "\n\n[redacted:MY_KEY]",
            "\\[redacted:MY_KEY]",
            "\\n[redacted:MY_KEY]"
        ])
    );
}

#[test]
fn a_secret_of_digits_does_not_touch_numbers() {
    let redactor = with_secret("12345678");
    let value = json!({ "seq": 12_345_678, "text": "pin 12345678", "cost": 123_456_789 });
    assert_eq!(
        redacted_line(&redactor, &value),
        json!({ "seq": 12_345_678, "text": "pin [redacted:MY_KEY]", "cost": 123_456_789 })
    );
}

#[test]
fn a_secret_that_is_a_word_does_not_touch_our_names() {
    let redactor = with_secret("iteration");
    let value = json!({ "iteration": 1, "last_iteration_number": 2, "text": "my iteration" });
    assert_eq!(
        redacted_line(&redactor, &value),
        json!({ "iteration": 1, "last_iteration_number": 2, "text": "my [redacted:MY_KEY]" })
    );
}

#[test]
fn a_token_as_a_name_is_redacted() {
    let value = json!({ github_token(): 1 });
    assert_eq!(redacted_line(&plain(), &value), json!({ "[redacted:github]": 1 }));
}

#[test]
fn patterns_of_the_user_work_on_text_and_within_strings_of_json() {
    let redactor = with_pattern("(?i)password=.*");
    assert_eq!(redactor.redact("a\nPassword=x y\nb"), "a\n[redacted:pattern]\nb");
    let value = json!({ "a": "password=\"x\\", "b": ["keep", 1], "password=": "p" });
    assert_eq!(
        redacted_line(&redactor, &value),
        json!({ "a": "[redacted:pattern]", "b": ["keep", 1], "[redacted:pattern]": "p" })
    );
}

/// A pattern is written for what an agent says, not for how JSON escapes it.
#[test]
fn patterns_with_quotes_anchors_and_newlines_work_within_strings_of_json() {
    for (pattern, text, expected) in [
        (r#"token="[^"]+""#, r#"a token="abc" b"#, "a [redacted:pattern] b"),
        (r"^SECRET.*$", "SECRET of ours", "[redacted:pattern]"),
        (r"(?m)^key: .*$", "x\nkey: 1\ny", "x\n[redacted:pattern]\ny"),
        (r"C:\\keys\\\w+", r"in C:\keys\mine", "in [redacted:pattern]"),
        (r"BEGIN\n[a-z]+\nEND", "BEGIN\nabc\nEND", "[redacted:pattern]"),
    ] {
        let redactor = with_pattern(pattern);
        let line = redacted_line(&redactor, &json!({ "text": text, "n": 1 }));
        assert_eq!(line, json!({ "text": expected, "n": 1 }), "{pattern}");
        assert_eq!(redactor.redact(text), expected, "{pattern}");
    }
}

#[test]
fn patterns_that_match_nothing_or_everything_keep_json_valid() {
    let value = json!({ "é": "x\n\"🦀\\", "n": [1, true, null, "" ] });
    for pattern in [
        "", "x*", r"\b", ".*", "(?s).+", r#"".*""#, r"\\", "[^a]", "e|é|.$",
    ] {
        let redactor = with_pattern(pattern);
        redacted_line(&redactor, &value);
        assert!(!redactor.redact("é x\n🦀").is_empty());
    }
}

#[test]
fn a_wrong_pattern_is_named() {
    let error = Redactor::new([], ["("]).unwrap_err();
    assert!(matches!(&error, RedactError::Pattern { pattern, .. } if pattern == "("));
    assert!(error.to_string().starts_with("redaction pattern `(`"));
}

#[test]
fn a_redactor_does_not_show_what_it_looks_for() {
    let shown = format!("{:?}", with_secret("correct horse battery"));
    assert!(!shown.contains("horse"), "{shown}");
}

#[test]
fn bytes_that_are_no_json_are_left_alone() {
    let mut line = [b"\xff\"".as_slice(), github_token().as_bytes(), b"\""].concat();
    let before = line.clone();
    plain().redact_json_line(&mut line);
    assert_eq!(line, before);
}

proptest! {
    #[test]
    fn any_line_stays_json_of_the_same_shape_and_loses_its_secret(
        secret in r#"[a-z0-9"\\\n/é🦀 -]{8,24}"#,
        before in r#"[a-z0-9"\\\n/é🦀:@-]{0,24}"#,
        after in r#"[a-z0-9"\\\n/é🦀:@-]{0,24}"#,
    ) {
        let Some(known) = Secret::new("K", &secret) else { return Ok(()) };
        let redactor = Redactor::new([known], [r"[0-9]{2}.*\\"]).unwrap();
        let text = format!("{before}{}{after}", secret.trim());
        let value = json!({ "number": 1, "text": text, "list": [json!({ "in": text }).to_string(), null] });
        let line = redacted_line(&redactor, &value);
        prop_assert_eq!(&line["number"], 1);
        prop_assert_eq!(line.as_object().unwrap().len(), 3);
        prop_assert!(!line["text"].as_str().unwrap().contains(secret.trim()));
        prop_assert!(!redactor.redact(&text).contains(secret.trim()));
    }

    #[test]
    fn any_text_is_read_without_panic(text in r#"(sk-|eyJ|://|-----BEGIN |PRIVATE KEY-----|Bearer |@|:|\\|"|[a-zA-Z0-9é. -]{1,50}){0,12}"#) {
        let redactor = plain();
        prop_assert!(redactor.redact(&text).is_empty() == text.is_empty());
        redacted_line(&redactor, &json!([text]));
    }
}
