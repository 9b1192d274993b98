//! `extract`: the searchable text of a record. It is indexed, and snippets are cut from it.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::DeserializeSeed as _;
use serde_json::value::RawValue;

use super::strings::Strings;
use ralph_run::RecordHead;

/// How much of a record is indexed.
pub(super) const TEXT_BYTES: usize = 65_536;

/// What a record says about tools.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToolUse<'a> {
    /// Nothing.
    None,
    /// A call of this tool begins.
    Started { item: Cow<'a, str>, name: Cow<'a, str> },
    /// A call ends.
    Finished { item: Cow<'a, str> },
    /// It is about this tool.
    About { name: Cow<'a, str> },
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Prompt<'a> {
    #[serde(borrow)]
    prompt: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    code: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default)]
    error: Option<Message<'a>>,
    #[serde(borrow, default)]
    failure: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Started<'a> {
    #[serde(borrow)]
    item: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    subject: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Finished<'a> {
    #[serde(borrow)]
    item: Cow<'a, str>,
    #[serde(borrow, default)]
    output: Cow<'a, str>,
    #[serde(borrow, default)]
    changes: Vec<Change<'a>>,
}

#[derive(Deserialize)]
struct Change<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Verified<'a> {
    #[serde(borrow)]
    command: Cow<'a, str>,
    #[serde(borrow, default)]
    output: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Permission<'a> {
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(borrow, default)]
    subject: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Questions<'a> {
    #[serde(borrow)]
    questions: &'a RawValue,
}

#[derive(Deserialize)]
struct Plan<'a> {
    #[serde(borrow)]
    plan: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Entries<'a> {
    #[serde(borrow)]
    entries: Vec<Text<'a>>,
}

#[derive(Deserialize)]
struct Task<'a> {
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    summary: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Denial<'a> {
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(borrow, default)]
    reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Command<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// Puts the words of a record into `out`, which stays empty if it has none.
pub(super) fn extract<'a>(head: &RecordHead<'a>, out: &mut String) -> ToolUse<'a> {
    out.clear();
    read(head, out).unwrap_or(ToolUse::None)
}

/// None where there are no words, or the data are of another shape than we know.
fn read<'a>(head: &RecordHead<'a>, out: &mut String) -> Option<ToolUse<'a>> {
    match &*head.event.kind {
        "text_block" | "thinking_block" | "user_message" => add(out, &head.data::<Text<'a>>()?.text),
        "iteration_started" => add(out, &head.data::<Prompt<'a>>()?.prompt),
        "tool_started" => return started(head.data()?, out),
        "tool_finished" => return Some(finished(head.data()?, out)),
        "error" | "notice" | "warned" | "run_ended" => message(out, &head.data()?),
        "retry_scheduled" | "turn_finished" | "attempt_ended" | "finished" | "iteration_ended" => {
            let failure = head.data::<Failure<'a>>()?;
            failure.error.iter().for_each(|error| message(out, error));
            failure.failure.iter().for_each(|failure| add(out, failure));
        }
        "verify_finished" => {
            let verified = head.data::<Verified<'a>>()?;
            add(out, &verified.command);
            add(out, &verified.output);
        }
        "command_received" => add(out, &head.data::<Command<'a>>()?.text?),
        "question_asked" => strings(out, head.data::<Questions<'a>>()?.questions),
        "plan_updated" => head
            .data::<Entries<'a>>()?
            .entries
            .iter()
            .for_each(|entry| add(out, &entry.text)),
        "task_updated" => {
            let task = head.data::<Task<'a>>()?;
            for text in [&task.title, &task.summary].into_iter().flatten() {
                add(out, text);
            }
        }
        "permission_denied" => {
            let denial = head.data::<Denial<'a>>()?;
            add(out, &denial.tool);
            denial.reason.iter().for_each(|reason| add(out, reason));
            return Some(ToolUse::About { name: denial.tool });
        }
        "plan_proposed" => add(out, &head.data::<Plan<'a>>()?.plan),
        "permission_requested" => {
            let permission = head.data::<Permission<'a>>()?;
            for text in [&permission.subject, &permission.description]
                .into_iter()
                .flatten()
            {
                add(out, text);
            }
            return Some(ToolUse::About {
                name: permission.tool,
            });
        }
        _ => {}
    }
    None
}

fn started<'a>(call: Started<'a>, out: &mut String) -> Option<ToolUse<'a>> {
    // A call is reported before its arguments are known, and again with them: the second one has the words.
    if call.subject.is_some() || call.input.is_some() {
        add(out, &call.name);
        if let Some(input) = call.input {
            strings(out, input);
        }
        if let Some(subject) = call.subject.filter(|subject| !out.contains(&**subject)) {
            add(out, &subject);
        }
    }
    Some(ToolUse::Started {
        item: call.item,
        name: call.name,
    })
}

fn finished<'a>(call: Finished<'a>, out: &mut String) -> ToolUse<'a> {
    add(out, &call.output);
    call.changes.iter().for_each(|change| add(out, &change.path));
    ToolUse::Finished { item: call.item }
}

fn message(out: &mut String, message: &Message<'_>) {
    for text in [&message.code, &message.message].into_iter().flatten() {
        add(out, text);
    }
}

fn strings(out: &mut String, json: &RawValue) {
    let mut deserializer = serde_json::Deserializer::from_str(json.get());
    let seed = Strings {
        out,
        limit: TEXT_BYTES,
    };
    // A value that ends early has given what it had.
    let _ = seed.deserialize(&mut deserializer);
}

fn add(out: &mut String, text: &str) {
    push(out, text, TEXT_BYTES);
}

/// Adds a line to a text that may only get so long.
pub(super) fn push(out: &mut String, text: &str, limit: usize) {
    if text.is_empty() || out.len() + 1 >= limit {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let room = limit - out.len();
    out.push_str(&text[..text.floor_char_boundary(room.min(text.len()))]);
}

#[cfg(test)]
mod tests {
    use super::{TEXT_BYTES, ToolUse, extract};
    use ralph_run::RecordHead;

    fn text_of(kind: &str, data: &str) -> String {
        let line = format!(
            r#"{{"seq":1,"at":"2026-11-16T02:35:20Z","iteration":1,"attempt":1,"event":{{"type":"{kind}","data":{data}}}}}"#
        );
        let mut out = "left over".to_owned();
        extract(&RecordHead::parse(line.as_bytes()).unwrap(), &mut out);
        out
    }

    #[test]
    fn what_is_said_and_done_has_words() {
        for (kind, data, text) in [
            ("text_block", r#"{"item":"a","text":"a\nb"}"#, "a\nb"),
            ("iteration_started", r#"{"number":1,"prompt":"do it"}"#, "do it"),
            (
                "tool_started",
                r#"{"item":"a","name":"Bash","subject":"ls","input":{"command":"ls -l","n":[1,{"x":"why"}],"b":true,"z":null,"f":1.5},"state":"running"}"#,
                "Bash\nls -l\nwhy",
            ),
            (
                "tool_started",
                r#"{"item":"a","name":"Bash","state":"preparing"}"#,
                "",
            ),
            (
                "tool_finished",
                r#"{"item":"a","output":"out","changes":[{"path":"src/x.rs","kind":"added"}]}"#,
                "out\nsrc/x.rs",
            ),
            ("notice", r#"{"severity":"debug","message":"small"}"#, "small"),
            (
                "task_updated",
                r#"{"task_id":"t","title":"Look round","state":"completed","summary":"all well"}"#,
                "Look round\nall well",
            ),
            (
                "permission_denied",
                r#"{"tool":"Bash","reason":"not here"}"#,
                "Bash\nnot here",
            ),
            (
                "plan_updated",
                r#"{"entries":[{"text":"first","status":"completed"},{"text":"then","status":"pending"}]}"#,
                "first\nthen",
            ),
            (
                "notice",
                r#"{"severity":"warning","code":"c","message":"m"}"#,
                "c\nm",
            ),
            ("error", r#"{"class":"other","code":"c","message":"m"}"#, "c\nm"),
            ("finished", r#"{"error":{"message":"broke"}}"#, "broke"),
            ("run_ended", r#"{"reason":"failed","message":"why"}"#, "why"),
            (
                "verify_finished",
                r#"{"command":"make","output":"bad"}"#,
                "make\nbad",
            ),
            (
                "command_received",
                r#"{"command":"send","text":"stop that"}"#,
                "stop that",
            ),
            (
                "question_asked",
                r#"{"request":"r","questions":[{"text":"Which?"}]}"#,
                "Which?",
            ),
            ("usage", r#"{"scope":"step"}"#, ""),
            ("text_block", r#"{"text":7}"#, ""),
            ("delta", r#"{"text":"x"}"#, ""),
        ] {
            assert_eq!(text_of(kind, data), text, "{kind} {data}");
        }
    }

    #[test]
    fn a_text_is_bounded_at_a_character() {
        let data = format!(r#"{{"text":"{}"}}"#, "é".repeat(TEXT_BYTES));
        assert!(text_of("text_block", &data).len() <= TEXT_BYTES);
    }

    #[test]
    fn a_call_is_known_by_its_item() {
        let line = br#"{"seq":1,"at":"2026-11-16T02:35:20Z","iteration":1,"attempt":1,"event":{"type":"tool_started","data":{"item":"a","name":"Bash","kind":"execute","state":"preparing"}}}"#;
        let tool = extract(&RecordHead::parse(line).unwrap(), &mut String::new());
        assert_eq!(
            tool,
            ToolUse::Started {
                item: "a".into(),
                name: "Bash".into()
            }
        );
    }
}
