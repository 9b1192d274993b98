//! `CallEnd`: how a tool call ended, and the rows that show a call.

use agent_api::{FileChange, ToolFinished, ToolStatus};

use super::figures::format_duration;
use super::one_line::{cut_line, one_line, width};
use super::rows::Look;
use super::sanitise::sanitise;
use super::style::{Style, paint};

/// How many lines of an output or a diff are shown.
const MAX_LINES: usize = 20;
/// More of an output than is ever shown or looked at.
const MAX_OUTPUT_BYTES: usize = 16 * 1_024;
const OUTPUT_INDENT: &str = "    ";
const MIN_LABEL_COLUMNS: usize = 12;

/// How a call ended: `✓ 1.2s`, or `✗ exit code 101, 4.2s` and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallEnd {
    is_good: bool,
    /// What is known besides, such as `+3 −1, 40ms`.
    facts: String,
    reason: Option<String>,
}

impl CallEnd {
    pub(super) fn new(finished: &ToolFinished, took_ms: u64) -> Self {
        let mut facts = Vec::new();
        let took = format_duration(took_ms);
        let is_good = match finished.status {
            ToolStatus::Completed => {
                facts.extend(describe_changes(&finished.changes));
                facts.extend(describe_code(finished));
                facts.push(took);
                true
            }
            ToolStatus::Failed => {
                facts.extend(describe_code(finished));
                facts.push(took);
                false
            }
            ToolStatus::Denied => {
                facts.push("denied".to_owned());
                false
            }
            ToolStatus::Cancelled => {
                facts.push(format!("cancelled after {took}"));
                false
            }
            ToolStatus::Background => {
                facts.push("continues in the background".to_owned());
                true
            }
        };
        Self {
            is_good,
            facts: facts.join(", "),
            reason: (finished.status == ToolStatus::Failed)
                .then(|| failure_line(&finished.output))
                .flatten(),
        }
    }

    /// For a row that has the whole output below it.
    pub(super) fn without_reason(mut self) -> Self {
        self.reason = None;
        self
    }

    fn mark(&self) -> &'static str {
        if self.is_good { "✓" } else { "✗" }
    }

    fn style(&self) -> Style {
        if self.is_good { Style::Good } else { Style::Error }
    }
}

/// `[Tool] Bash: cargo test`, with ` ✓ 1.2s` if it has ended.
pub(super) fn render_call(look: Look, label: &str, end: Option<&CallEnd>) -> String {
    match end {
        None => look.row(Style::Tool, "Tool", label),
        Some(end) => {
            let mut rows = String::new();
            paint(&mut rows, look.has_colours, Style::Tool, "[Tool]");
            rows.push(' ');
            push_ended(&mut rows, look, "[Tool] ".len(), label, end);
            rows
        }
    }
}

/// `  ✓ 1.2s` below the row of its call, or `  Bash: cargo test ✓ 1.2s` anywhere else.
pub(super) fn render_call_end(look: Look, label: Option<&str>, end: &CallEnd) -> String {
    let mut rows = "  ".to_owned();
    push_ended(&mut rows, look, 2, label.unwrap_or_default(), end);
    rows
}

fn push_ended(rows: &mut String, look: Look, indent: usize, label: &str, end: &CallEnd) {
    let end_columns = 2 + width(&end.facts);
    let room = look.columns.saturating_sub(indent + end_columns + 1);
    let label = one_line(label, room.max(MIN_LABEL_COLUMNS));
    let mut used = indent + end_columns;
    if !label.is_empty() {
        used += width(&label) + 1;
        rows.push_str(&label);
        rows.push(' ');
    }
    paint(rows, look.has_colours, end.style(), end.mark());
    rows.push(' ');
    rows.push_str(&end.facts);
    if let Some(reason) = &end.reason {
        let reason = one_line(reason, look.columns.saturating_sub(OUTPUT_INDENT.len()));
        if used + 2 + width(&reason) <= look.columns {
            rows.push_str(": ");
        } else {
            rows.push('\n');
            rows.push_str(OUTPUT_INDENT);
        }
        rows.push_str(&reason);
    }
    rows.push('\n');
}

/// The output of a call, or the diff of what it changed, in its first lines.
pub(super) fn render_output(look: Look, finished: &ToolFinished) -> String {
    let mut rows = String::new();
    let diffs: Vec<&str> = finished
        .changes
        .iter()
        .filter_map(|change| change.diff.as_deref())
        .collect();
    if !diffs.is_empty() && finished.status == ToolStatus::Completed {
        push_lines(&mut rows, look, &diffs.join("\n"), |line| {
            match line.as_bytes().first() {
                Some(b'+') => Some(Style::Good),
                Some(b'-') => Some(Style::Removed),
                Some(b'@') => Some(Style::Faint),
                _ => None,
            }
        });
    } else if finished.output.trim().is_empty() {
        push_lines(&mut rows, look, &finished.attachments.join("\n"), |_| None);
    } else {
        push_lines(&mut rows, look, &finished.output, |_| None);
    }
    rows
}

fn push_lines(rows: &mut String, look: Look, text: &str, style: impl Fn(&str) -> Option<Style>) {
    let shown = &text[..text.floor_char_boundary(MAX_OUTPUT_BYTES)];
    let shown = sanitise(shown);
    let shown = shown.trim_end().trim_start_matches(['\n', '\r']);
    let count = text.trim().lines().count();
    for line in shown.lines().take(MAX_LINES) {
        let cut = cut_line(line, look.columns.saturating_sub(OUTPUT_INDENT.len()));
        match style(line).filter(|_| !cut.is_empty()) {
            _ if cut.is_empty() => {}
            None => rows.push_str(&format!("{OUTPUT_INDENT}{cut}")),
            Some(style) => {
                rows.push_str(OUTPUT_INDENT);
                paint(rows, look.has_colours, style, &cut);
            }
        }
        rows.push('\n');
    }
    let more = count.saturating_sub(MAX_LINES);
    if more > 0 {
        let lines = if more == 1 { "line" } else { "lines" };
        paint(
            rows,
            look.has_colours,
            Style::Faint,
            &format!("{OUTPUT_INDENT}… {more} more {lines}"),
        );
        rows.push('\n');
    }
}

/// `+3 −1`, and how many files if there are several.
fn describe_changes(changes: &[FileChange]) -> Option<String> {
    let lines = changes.iter().filter_map(|change| change.lines);
    let (added, removed) =
        lines.reduce(|sum, lines| (sum.0.saturating_add(lines.0), sum.1.saturating_add(lines.1)))?;
    let lines = format!("+{added} −{removed}");
    Some(match changes.len() {
        1 => lines,
        files => format!("{files} files {lines}"),
    })
}

fn describe_code(finished: &ToolFinished) -> Option<String> {
    let code = finished.exit_code.filter(|code| *code != 0)?;
    Some(format!("exit code {code}"))
}

/// The line of an output that says best what failed: the first one that names an error, or else the last one.
fn failure_line(output: &str) -> Option<String> {
    const WORDS: [&str; 8] = [
        "error",
        "failed",
        "failure",
        "panicked",
        "fatal",
        "not found",
        "no such",
        "denied",
    ];
    let start = &output[..output.floor_char_boundary(MAX_OUTPUT_BYTES)];
    let lines = || {
        start
            .lines()
            .map(|line| line.trim().trim_start_matches("<tool_use_error>"))
            .map(|line| line.trim_end_matches("</tool_use_error>"))
            .filter(|line| !line.is_empty() && !is_exit_code(line))
    };
    let names_error = |line: &&str| {
        let line = line.to_lowercase();
        // A line such as `0 failed` names none.
        WORDS.iter().any(|word| line.contains(word))
            && !line.contains("0 failed")
            && !line.contains("0 errors")
    };
    let last = output
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty() && !is_exit_code(line));
    lines()
        .find(names_error)
        .or_else(|| match lines().count() {
            1 => lines().next(),
            _ => last,
        })
        .map(str::to_owned)
}

/// `Exit code 2`, which is shown already.
fn is_exit_code(line: &str) -> bool {
    let code = line.to_lowercase();
    code.strip_prefix("exit code")
        .is_some_and(|code| code.trim_matches([':', ' ']).parse::<i32>().is_ok())
}

#[cfg(test)]
mod tests {
    use agent_api::{ChangeKind, FileChange, ItemId, ToolFinished, ToolStatus};

    use super::{CallEnd, failure_line, render_call, render_call_end, render_output};
    use crate::console::rows::Look;

    const LOOK: Look = Look {
        has_colours: false,
        columns: 60,
        wraps: true,
    };

    fn finished(status: ToolStatus, output: &str) -> ToolFinished {
        let mut finished = ToolFinished::new(ItemId::new("1"), status);
        finished.output = output.to_owned();
        finished
    }

    #[test]
    fn a_failure_is_explained_by_its_most_useful_line() {
        for (output, line) in [
            (
                "Exit code 101\n   Compiling a v1\nerror[E0308]: mismatched types\n  --> a.rs\n",
                Some("error[E0308]: mismatched types"),
            ),
            (
                "Exit code 1\nrunning 2 tests\ntest a ... ok\nassertion did not hold\n",
                Some("assertion did not hold"),
            ),
            (
                "<tool_use_error>Blocked: standalone sleep 321.</tool_use_error>",
                Some("Blocked: standalone sleep 321."),
            ),
            (
                "bash: nope: command not found\n",
                Some("bash: nope: command not found"),
            ),
            ("\n  Exit code 2\n\n", None),
            ("", None),
        ] {
            assert_eq!(failure_line(output).as_deref(), line, "{output}");
        }
    }

    #[test]
    fn a_row_keeps_its_outcome_however_long_its_call_is() {
        let mut failed = finished(
            ToolStatus::Failed,
            "error[E0308]: mismatched types in this very long line of text",
        );
        failed.exit_code = Some(101);
        let end = CallEnd::new(&failed, 4_200);
        assert_eq!(
            render_call(LOOK, &format!("Bash: cargo test {}", "x".repeat(80)), Some(&end)),
            "[Tool] Bash: cargo test xxxxxxxxxxxxx… ✗ exit code 101, 4.2s\n    \
             error[E0308]: mismatched types in this very long line o…\n"
        );
        let end = CallEnd::new(&finished(ToolStatus::Failed, "no such file"), 40);
        assert_eq!(
            render_call(LOOK, "Read: x", Some(&end)),
            "[Tool] Read: x ✗ 40ms: no such file\n"
        );
        assert_eq!(render_call_end(LOOK, None, &end), "  ✗ 40ms: no such file\n");
        assert_eq!(
            render_call_end(LOOK, Some("Read: x"), &end),
            "  Read: x ✗ 40ms: no such file\n"
        );
    }

    #[test]
    fn edits_show_how_many_lines_they_changed_and_the_diff() {
        let mut edit = finished(ToolStatus::Completed, "The file was updated.");
        let diff = "@@ -1,2 +1,2 @@\n fn main() {\n-    a\n+    b\n";
        edit.changes = vec![FileChange::new("a", ChangeKind::Modified, Some(diff.to_owned()))];
        let end = CallEnd::new(&edit, 12);
        assert_eq!(
            render_call(LOOK, "Edit: a", Some(&end)),
            "[Tool] Edit: a ✓ +1 −1, 12ms\n"
        );
        assert_eq!(
            render_output(LOOK, &edit),
            "    @@ -1,2 +1,2 @@\n     fn main() {\n    -    a\n    +    b\n"
        );
        edit.changes.push(FileChange::new(
            "b",
            ChangeKind::Added,
            Some("@@ -0,0 +1 @@\n+x\n".to_owned()),
        ));
        let end = CallEnd::new(&edit, 12);
        assert_eq!(render_call_end(LOOK, None, &end), "  ✓ 2 files +2 −1, 12ms\n");
    }

    #[test]
    fn a_long_output_keeps_its_lines_and_says_how_many_are_missing() {
        let output: String = (1..=55).map(|number| format!("line {number}\n")).collect();
        let rows = render_output(LOOK, &finished(ToolStatus::Completed, &output));
        assert!(rows.starts_with("    line 1\n    line 2\n"), "{rows}");
        assert!(rows.ends_with("    line 20\n    … 35 more lines\n"), "{rows}");
    }
}
