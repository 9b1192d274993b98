use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// A request as the server got it.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// Counted from 1.
    pub number: usize,
    /// `POST` and so on.
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The JSON sent; null if there was none.
    pub body: Value,
    /// What the server made of it, such as `bash[0]#1`: scenario, step, attempt.
    pub label: String,
}

impl RecordedRequest {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value.as_str())
    }

    /// All texts that the user's side of the conversation holds, without the CLI's own reminders.
    #[must_use]
    pub fn user_texts(&self) -> Vec<String> {
        user_texts(&self.body)
    }
}

/// The scenario that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) argument: Option<String>,
    pub(super) nonce: Option<String>,
    /// The model's messages since the tag.
    pub(super) step: usize,
}

static TAG: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"SCENARIO:([a-zA-Z0-9_]+)(?::([^\s"<]+(?:\{[^}]*\})?))?(?:\s+NONCE=(\S+))?"#));
static REMINDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)<system-reminder>.*?</system-reminder>"));
static DIRECTORY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?:Primary working directory|[Ww]orking directory): ([^\\"\n]+)"#));

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and every test uses them"
)]
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// The last tag in the conversation's user texts.
pub(super) fn find_tag(request: &Value) -> Option<Tag> {
    let messages = messages(request);
    let mut found = None;
    for (index, message) in messages
        .iter()
        .enumerate()
        .filter(|(_, message)| is_from(message, "user"))
    {
        for text in texts(message) {
            for tag in TAG.captures_iter(&without_reminders(text)) {
                let group = |number| tag.get(number).map(|group| group.as_str().to_owned());
                let later = messages.get(index + 1..).unwrap_or_default();
                found = Some(Tag {
                    name: group(1).unwrap_or_default(),
                    argument: group(2),
                    nonce: group(3),
                    step: later
                        .iter()
                        .filter(|message| is_from(message, "assistant"))
                        .count(),
                });
            }
        }
    }
    found
}

pub(super) fn user_texts(request: &Value) -> Vec<String> {
    let from_user = messages(request)
        .iter()
        .filter(|message| is_from(message, "user"));
    from_user
        .flat_map(texts)
        .map(|text| without_reminders(text).trim().to_owned())
        .collect()
}

pub(super) fn message_count(request: &Value) -> usize {
    messages(request).len()
}

pub(super) fn last_user_message(request: &Value) -> String {
    let last = messages(request)
        .iter()
        .rev()
        .find(|message| is_from(message, "user"));
    last.map(Value::to_string).unwrap_or_default()
}

/// The id of the background command that the CLI has just told about.
pub(super) fn background_id(request: &Value) -> Option<String> {
    static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"ID: (\w+)"));
    Some(
        ID.captures(&last_user_message(request))?
            .get(1)?
            .as_str()
            .to_owned(),
    )
}

/// The id of the agent that Codex has just started.
pub(super) fn agent_id(request: &Value) -> Option<String> {
    static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"agent_id\W+([0-9a-f-]{36})"));
    let last = last_user_message(request);
    Some(ID.captures(&last)?.get(1)?.as_str().to_owned())
}

/// The CLI's working directory, which it tells the model.
pub(super) fn working_directory(request: &Value) -> String {
    let told = format!("{}{}", request["system"], request["messages"]);
    let found = DIRECTORY.captures(&told).and_then(|found| found.get(1));
    found.map_or("/workspace", |path| path.as_str().trim()).to_owned()
}

fn messages(request: &Value) -> &[Value] {
    request["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn is_from(message: &Value, role: &str) -> bool {
    message["role"] == role
}

fn texts(message: &Value) -> Vec<&str> {
    match &message["content"] {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

fn without_reminders(text: &str) -> String {
    REMINDER.replace_all(text, "").into_owned()
}

#[cfg(test)]
mod tests {
    use super::{find_tag, working_directory};
    use serde_json::json;

    #[test]
    fn the_newest_tag_wins_and_the_step_counts_from_it() {
        let request = json!({"messages": [
            {"role": "user", "content": "SCENARIO:plain"},
            {"role": "assistant", "content": []},
            {"role": "user", "content": [{"type": "text", "text": "<system-reminder>SCENARIO:no</system-reminder>SCENARIO:flaky:529x2 NONCE=7"}]},
            {"role": "assistant", "content": []},
            {"role": "user", "content": [{"type": "tool_result"}]},
        ]});
        let tag = find_tag(&request).unwrap();
        assert_eq!(
            (tag.name.as_str(), tag.argument.as_deref(), tag.nonce.as_deref()),
            ("flaky", Some("529x2"), Some("7"))
        );
        assert_eq!(tag.step, 1);
    }

    #[test]
    fn the_working_directory_is_read_from_the_system_prompt() {
        let request = json!({"system": [{"text": "x\nPrimary working directory: /a b/c\nIs a git repo"}]});
        assert_eq!(working_directory(&request), "/a b/c");
    }
}
