//! The results of tool calls: text, exit codes and file changes. Agents keep them in different places; all are tried.

use json_lines::Value;
use similar::TextDiff;

use super::call_content::{CallContent, Diff, StreamedOutput};
use crate::bounds::LIST_ENTRIES;
use crate::event::{ChangeKind, FileChange, ToolKind};

/// How many steps all diffs of a call may take to compute. One that takes more is left out: it would be longer than an
/// event can be.
const MAX_DIFF_STEPS: usize = 100_000_000;

/// What a call gave, as text.
pub(super) struct Results {
    pub(super) text: String,
    /// How long the text was before it was cut, if it was cut here.
    pub(super) whole_bytes: Option<u64>,
}

/// What the call gave, as text.
pub(super) fn output(content: &CallContent, raw: &Value, streamed: &StreamedOutput) -> Results {
    let whole = |text: &str| Results {
        text: text.to_owned(),
        whole_bytes: None,
    };
    // Qwen Code's content repeats the command, the directory and the exit code.
    if raw.text("type") == Some("shell_result")
        && let Some(output) = raw.text("output")
    {
        return whole(output);
    }
    if let Some(text) = &content.text {
        let whole_bytes = content.whole_bytes;
        return Results {
            text: text.clone(),
            whole_bytes,
        };
    }
    if !streamed.is_empty() {
        let (text, whole_bytes) = streamed.text();
        return Results { text, whole_bytes };
    }
    if let Some(text) = raw.as_str() {
        return whole(text);
    }
    let keys = [
        "output",
        "content",
        "formatted_output",
        "aggregated_output",
        "text",
        "error",
    ];
    if let Some(text) = keys.iter().find_map(|key| raw.text(key)) {
        return whole(text);
    }
    let streams = [raw.text("stdout"), raw.text("stderr")];
    let streams: Vec<&str> = streams
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect();
    whole(&streams.join("\n"))
}

/// A piece of a terminal's output (codex-acp).
pub(super) fn terminal_text<'v>(update: &'v Value) -> Option<&'v str> {
    update.at(&["_meta", "terminal_output_delta", "data"])?.as_str()
}

/// The exit code of a command.
pub(super) fn exit_code(raw: &Value, update: &Value) -> Option<i32> {
    let direct = [
        raw.get("exitCode"),
        raw.get("exit_code"),
        raw.at(&["metadata", "exit"]),
        raw.at(&["structuredContent", "exit_code"]),
        update.at(&["_meta", "terminal_exit", "exit_code"]),
    ];
    let direct = direct.into_iter().flatten().find_map(Value::as_i64);
    let listed = || {
        raw.list("contents")
            .iter()
            .find_map(|entry| entry.get("exitCode")?.as_i64())
    };
    direct.or_else(listed).and_then(|code| i32::try_from(code).ok())
}

/// The files that the call changed.
pub(super) fn changes(
    kind: ToolKind,
    content: &CallContent,
    raw: &Value,
    locations: &[String],
) -> Vec<FileChange> {
    let diffs = &content.diffs;
    if diffs.is_empty() {
        return undescribed(kind, raw, locations);
    }
    // The agent's own diff has the right line numbers; the texts may be only the replaced part of a file.
    let own = own_diff(raw).filter(|_| diffs.len() == 1);
    let mut steps_left = MAX_DIFF_STEPS;
    let changes = diffs.iter().map(|diff| change(diff, own, &mut steps_left));
    changes.take(LIST_ENTRIES).collect()
}

/// An edit without a description of it.
fn undescribed(kind: ToolKind, raw: &Value, locations: &[String]) -> Vec<FileChange> {
    let existed = raw.at(&["metadata", "exists"]).and_then(Value::as_bool);
    let kind = match kind {
        ToolKind::Edit if existed == Some(false) => ChangeKind::Added,
        ToolKind::Edit => ChangeKind::Modified,
        ToolKind::Delete => ChangeKind::Deleted,
        ToolKind::Move => ChangeKind::Moved,
        _ => return Vec::new(),
    };
    let change = |path: &String| FileChange::new(path, kind, None);
    locations.iter().map(change).collect()
}

fn own_diff<'v>(raw: &'v Value) -> Option<&'v str> {
    let places = [
        raw.at(&["metadata", "diff"]),
        raw.at(&["metadata", "filediff", "patch"]),
        raw.get("detailedContent"),
        raw.get("fileDiff"),
    ];
    let mut texts = places.into_iter().flatten().filter_map(Value::as_str);
    texts.find_map(hunks)
}

/// The hunks of a unified diff, without the lines that name the files.
fn hunks(diff: &str) -> Option<&str> {
    if diff.starts_with("@@ ") {
        return Some(diff);
    }
    let start = diff.find("\n@@ ")?;
    diff.get(start + 1..)
}

fn change(diff: &Diff, own: Option<&str>, steps_left: &mut usize) -> FileChange {
    let kind = match diff.word.as_deref() {
        Some("add") => ChangeKind::Added,
        Some("delete") => ChangeKind::Deleted,
        Some("move") => ChangeKind::Moved,
        Some(_) => ChangeKind::Modified,
        None if diff.is_new => ChangeKind::Added,
        None => ChangeKind::Modified,
    };
    let computed = || {
        let (old, new) = diff.texts.as_ref()?;
        compared(old, new, steps_left)
    };
    FileChange::new(&diff.path, kind, own.map(str::to_owned).or_else(computed))
}

/// The hunks of a unified diff. The search for the shortest one takes steps that grow with the square of what differs,
/// and all of a run waits for it.
fn compared(old: &str, new: &str, steps_left: &mut usize) -> Option<String> {
    let steps = differing_lines(old, new).saturating_pow(2);
    *steps_left = steps_left.checked_sub(steps)?;
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().missing_newline_hint(false).to_string();
    Some(text).filter(|text| !text.is_empty())
}

/// How many lines both texts have between the first and the last difference.
fn differing_lines(old: &str, new: &str) -> usize {
    let (mut old, mut new) = (old.lines(), new.lines());
    let is_same = |pair: (Option<&str>, Option<&str>)| pair.0.is_some() && pair.0 == pair.1;
    while is_same((old.clone().next(), new.clone().next())) {
        old.next();
        new.next();
    }
    while is_same((old.clone().next_back(), new.clone().next_back())) {
        old.next_back();
        new.next_back();
    }
    old.count() + new.count()
}

#[cfg(test)]
mod tests {
    use json_lines::Value;
    use serde_json::json;

    use super::{changes, exit_code, output};
    use crate::backends::acp::call_content::{CallContent, StreamedOutput};
    use crate::event::{ChangeKind, ToolKind};

    fn content(block: &serde_json::Value) -> CallContent {
        CallContent::of(&[Value::from(block)])
    }

    #[test]
    fn exit_codes_are_found_wherever_agents_keep_them() {
        for raw in [
            json!({"metadata": {"exit": 3}}),
            json!({"contents": [{"type": "text"}, {"type": "shell_exit", "exitCode": 3}]}),
            json!({"exitCode": 3}),
            json!({"stdout": "", "exit_code": 3}),
        ] {
            assert_eq!(exit_code(&Value::from(&raw), &Value::Null), Some(3), "{raw}");
        }
        let update = json!({"_meta": {"terminal_exit": {"exit_code": 3}}});
        assert_eq!(exit_code(&Value::Null, &Value::from(&update)), Some(3));
        let odd = json!({"exitCode": "3", "contents": 1});
        assert_eq!(exit_code(&Value::from(&odd), &Value::Null), None);
    }

    #[test]
    fn a_diff_of_whole_texts_is_computed_and_the_agents_own_is_preferred() {
        let block = json!({"type": "diff", "path": "a", "oldText": "x\ny\n", "newText": "x\nz\n"});
        let [change] = &changes(ToolKind::Edit, &content(&block), &Value::Null, &[])[..] else {
            panic!("one change");
        };
        assert_eq!(change.kind, ChangeKind::Modified);
        assert_eq!(change.diff.as_deref(), Some("@@ -1,2 +1,2 @@\n x\n-y\n+z\n"));
        assert_eq!(change.lines, Some((1, 1)));

        let part = json!({"type": "diff", "path": "a", "oldText": "y", "newText": "z"});
        let raw = json!({"metadata": {"diff": "Index: a\n--- a\n+++ a\n@@ -7 +7 @@\n-y\n+z\n"}});
        let changes = changes(ToolKind::Edit, &content(&part), &Value::from(&raw), &[]);
        assert_eq!(changes[0].diff.as_deref(), Some("@@ -7 +7 @@\n-y\n+z\n"));
    }

    #[test]
    fn a_small_change_in_a_long_text_is_compared_and_a_hopeless_comparison_is_left_out() {
        let lines = |range: std::ops::Range<u32>| range.map(|line| format!("{line}\n")).collect::<String>();
        let long = lines(0..20_000);
        let block = |new: &str| json!({"type": "diff", "path": "a", "oldText": long, "newText": new});
        let changed = |new: &str| changes(ToolKind::Edit, &content(&block(new)), &Value::Null, &[]);
        let small = changed(&long.replace("\n10000\n", "\nother\n"));
        assert_eq!(small[0].lines, Some((1, 1)));
        let hopeless = changed(&lines(20_000..40_000));
        assert_eq!((&*hopeless[0].path, &hopeless[0].diff), ("a", &None));
    }

    #[test]
    fn odd_content_is_no_output_and_no_change() {
        let odd = [
            json!(1),
            json!({"type": "content"}),
            json!({"type": "diff", "path": 3}),
            json!(null),
        ];
        let odd = CallContent::of(&odd.each_ref().map(Value::from));
        let raw = json!({"output": [1]});
        let nothing = output(&odd, &Value::from(&raw), &StreamedOutput::default());
        assert_eq!(nothing.text, "");
        assert!(changes(ToolKind::Edit, &odd, &Value::Null, &[]).is_empty());
        let image =
            json!({"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": "AAAA"}});
        assert_eq!(content(&image).attachments, ["image/png, 3 bytes"]);
    }
}
