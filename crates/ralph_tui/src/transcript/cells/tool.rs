//! A tool call: what it is used on, how it ended, and its output or the diff of what it changed.

use agent_api::{ToolInput, ToolKind, ToolStatus};
use jiff::Timestamp;
use run_view::{CallEnd, format_seconds};

use super::super::cell::{ToolCell, ToolEnd};
use super::super::diff::{DiffKind, DiffLine, compare, parse_diff, show_inline, show_side_by_side};
use super::super::fold_agent::milliseconds;
use super::super::layout::Setting;
use super::super::line::{Line, Look};
use super::super::sheet::Sheet;
use super::labeled::{INDENT, push_more};
use super::output::{FOLDED_LINES, LIVE_LINES, Part, push_output};
use crate::theme::Role;

pub(in crate::transcript) fn build(tool: &ToolCell, sheet: &mut Sheet, setting: &Setting, now: Timestamp) {
    push_head(tool, sheet, now);
    push_command(tool, sheet, setting);
    let files = changes_of(tool);
    for (path, lines) in &files {
        push_diff(path, lines, files.len() > 1, sheet, setting);
    }
    let is_failed = tool.end.as_ref().is_some_and(|end| !end.call.is_good);
    if files.is_empty() || is_failed {
        push_end(tool, is_failed, sheet, setting);
    }
}

/// `✓ Bash: cargo test  1.2s`.
fn push_head(tool: &ToolCell, sheet: &mut Sheet, now: Timestamp) {
    let mut line = Line {
        rest_lead: INDENT.to_owned(),
        ..Line::default()
    };
    let (mark, role) = match &tool.end {
        None => ("… ", Role::Faint),
        Some(end) if end.call.is_good => ("✓ ", Role::Good),
        Some(_) => ("✗ ", Role::Bad),
    };
    mark.clone_into(&mut line.first_lead);
    line.lead_look = Look::of(role);
    let (name, subject) = tool.label.split_once(": ").unwrap_or((&tool.label, ""));
    line.push(name, Look::of(Role::Tool));
    if !subject.is_empty() {
        line.push(": ", Look::of(Role::Tool));
        // A long one is below in full.
        line.push(&run_view::one_line(subject, 400), Look::PLAIN);
    }
    match &tool.end {
        None => {
            let seconds = milliseconds(tool.started_at, now) / 1_000;
            line.push(&format!("  {}", format_seconds(seconds)), Look::of(Role::Faint));
        }
        Some(end) => push_facts(&end.call, &mut line),
    }
    sheet.push(line);
}

fn push_facts(end: &CallEnd, line: &mut Line) {
    let role = if end.is_good { Role::Faint } else { Role::Bad };
    line.push(&format!("  {}", end.facts), Look::of(role));
}

/// A command of several lines.
fn push_command(tool: &ToolCell, sheet: &mut Sheet, setting: &Setting) {
    if tool.kind != ToolKind::Execute {
        return;
    }
    if let ToolInput::Command { command, .. } = tool.typed_input()
        && command.trim().contains('\n')
    {
        let command = run_view::escape_hidden(command.trim());
        let part = if setting.is_folded {
            Part::Head(FOLDED_LINES)
        } else {
            Part::All
        };
        push_output(&command, part, sheet);
    }
}

fn push_end(tool: &ToolCell, is_failed: bool, sheet: &mut Sheet, setting: &Setting) {
    let finished = tool.end.as_ref().and_then(|end| end.finished.as_deref());
    let output = finished.map_or("", |finished| finished.output.as_str());
    let output = if output.is_empty() {
        tool.live_output.as_str()
    } else {
        output
    };
    let part = match setting.is_folded {
        false if tool.end.is_none() => Part::Tail(LIVE_LINES),
        false => Part::All,
        true if tool.end.is_none() || is_failed => Part::Tail(FOLDED_LINES),
        true if has_noise(tool.kind) => return push_reason(tool.end.as_ref(), sheet),
        true => Part::Head(FOLDED_LINES),
    };
    push_output(output, part, sheet);
    for attachment in finished.map_or(&[][..], |finished| &finished.attachments) {
        let line = Line::of(attachment, Look::of(Role::Faint));
        sheet.push(line.led_by(INDENT, Look::PLAIN));
    }
}

/// Tools whose output is what they were asked to find, not news.
fn has_noise(kind: ToolKind) -> bool {
    matches!(
        kind,
        ToolKind::Read
            | ToolKind::Search
            | ToolKind::Fetch
            | ToolKind::WebSearch
            | ToolKind::Edit
            | ToolKind::Plan
            | ToolKind::Question
            | ToolKind::SwitchMode
    )
}

fn push_reason(end: Option<&ToolEnd>, sheet: &mut Sheet) {
    if let Some(reason) = end.and_then(|end| end.call.reason.as_deref()) {
        sheet.push(Line::of(reason, Look::PLAIN).led_by(INDENT, Look::PLAIN));
    }
}

/// The files that a call changes, or would change, and how.
pub(in crate::transcript) fn changes_of(tool: &ToolCell) -> Vec<(String, Vec<DiffLine>)> {
    let finished = tool.end.as_ref().and_then(|end| end.finished.as_deref());
    let reported: Vec<_> = finished
        .filter(|finished| finished.status == ToolStatus::Completed)
        .map_or(&[][..], |finished| &finished.changes)
        .iter()
        .filter_map(|change| Some((change.path.clone(), parse_diff(change.diff.as_deref()?))))
        .collect();
    if !reported.is_empty() || tool.kind != ToolKind::Edit {
        return reported;
    }
    match tool.typed_input() {
        ToolInput::Edit { path, edits } => {
            let mut lines = Vec::new();
            for edit in &edits {
                if !lines.is_empty() {
                    lines.push(DiffLine::new(DiffKind::Remark, None, "…"));
                }
                lines.extend(compare(&edit.old, &edit.new));
            }
            vec![(path, lines)]
        }
        ToolInput::Write { path, content } => vec![(path, compare("", &content))],
        _ => Vec::new(),
    }
}

fn push_diff(path: &str, lines: &[DiffLine], has_title: bool, sheet: &mut Sheet, setting: &Setting) {
    if has_title {
        let line = Line::of(path, Look::of(Role::Code));
        sheet.push(line.led_by(INDENT, Look::PLAIN));
    }
    let shown = match setting.is_folded {
        true => lines.get(..FOLDED_LINES).unwrap_or(lines),
        false => lines,
    };
    // A new file has nothing to be compared with.
    let has_removed = lines.iter().any(|line| line.kind == DiffKind::Removed);
    if setting.is_side_by_side() && has_removed {
        show_side_by_side(shown, path, INDENT, sheet);
    } else {
        show_inline(shown, path, INDENT, sheet);
    }
    if shown.len() < lines.len() {
        push_more(sheet, lines.len() - shown.len(), "more");
    }
}
