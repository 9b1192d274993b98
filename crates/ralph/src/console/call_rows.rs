//! The rows that show a tool call, its end and its output.

use agent_api::{ToolFinished, ToolStatus};
use run_view::{CallEnd, cut_line, one_line, sanitise, width};

use super::rows::Look;
use super::style::{Style, paint};

/// How many lines of an output or a diff are shown.
const MAX_LINES: usize = 20;
/// More of an output than is ever shown or looked at.
const MAX_OUTPUT_BYTES: usize = 16 * 1_024;
const OUTPUT_INDENT: &str = "    ";
const MIN_LABEL_COLUMNS: usize = 12;

fn end_style(end: &CallEnd) -> Style {
    if end.is_good { Style::Good } else { Style::Error }
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
    paint(rows, look.has_colours, end_style(end), end.mark());
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

#[cfg(test)]
mod tests {
    use agent_api::{ChangeKind, FileChange, ItemId, ToolFinished, ToolStatus};

    use super::{CallEnd, render_call, render_call_end, render_output};
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
