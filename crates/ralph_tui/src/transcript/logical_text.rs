//! The logical text of cells: what is copied, exported and searched. Without wrapping, gutters and folds.

use std::borrow::Cow;

use agent_api::{PlanStatus, PlanUpdated};
use run_view::{describe_iteration, describe_plan, describe_verify, message_label, sanitise};

use super::cell::{Ask, Cell, CellKind, RequestCell, RequestState, ToolCell, Wait};
use super::cells::tool::changes_of;
use super::diff::{DiffKind, DiffLine};
use super::fold::Transcript;

/// The text of a cell as it is copied: safe for a terminal, as it was written otherwise.
pub(super) fn logical_text(cell: &Cell) -> String {
    match &cell.kind {
        CellKind::Text(text) | CellKind::Thinking(text) => sanitise(text.body.as_str()).into_owned(),
        CellKind::Tool(tool) => tool_text(tool),
        CellKind::Message(message) => sanitise(&message.text).into_owned(),
        CellKind::Todo(todo) => todo_text(&todo.plan),
        CellKind::Request(_)
        | CellKind::Iteration(_)
        | CellKind::Verify(_)
        | CellKind::Warning(_)
        | CellKind::Wait(_)
        | CellKind::Notice(_)
        | CellKind::End(_)
        | CellKind::Gone => {
            let mut parts = Vec::new();
            for_each_text(cell, |text| parts.push(text.to_owned()));
            parts.join("\n")
        }
    }
}

/// As a task list of Markdown.
fn todo_text(plan: &PlanUpdated) -> String {
    let mut text = describe_plan(plan);
    for (number, entry) in plan.entries.iter().enumerate() {
        // A list begins after an empty line.
        text.push_str(if number == 0 { "\n\n" } else { "\n" });
        let (mark, remark) = match entry.status {
            PlanStatus::Completed => ('x', ""),
            PlanStatus::InProgress => (' ', " (in progress)"),
            PlanStatus::Pending => (' ', ""),
            PlanStatus::Cancelled => (' ', " (cancelled)"),
        };
        text.push_str(&format!("- [{mark}] {}{remark}", entry.text));
    }
    sanitise(&text).into_owned()
}

/// The command and its output, or the diff.
fn tool_text(tool: &ToolCell) -> String {
    let mut text = String::new();
    let changes = changes_of(tool);
    let command = match tool.typed_input() {
        agent_api::ToolInput::Command { command, .. } => Some(command),
        _ => None,
    };
    text.push_str(&sanitise(command.as_deref().unwrap_or(&tool.label)));
    for (path, lines) in &changes {
        text.push_str(&format!("\n--- {}\n{}", sanitise(path), diff_text(lines)));
    }
    let output = sanitise(output_of(tool));
    if changes.is_empty() && !output.trim().is_empty() {
        text.push('\n');
        text.push_str(output.trim_end());
    }
    text
}

fn diff_text(lines: &[DiffLine]) -> String {
    let row = |line: &DiffLine| {
        let sign = match line.kind {
            DiffKind::Same => " ",
            DiffKind::Added => "+",
            DiffKind::Removed => "-",
            DiffKind::Remark => "",
        };
        format!("{sign}{}", sanitise(&line.text))
    };
    lines.iter().map(row).collect::<Vec<_>>().join("\n")
}

fn output_of(tool: &ToolCell) -> &str {
    let finished = tool.end.as_ref().and_then(|end| end.finished.as_deref());
    match finished {
        Some(finished) if !finished.output.is_empty() => &finished.output,
        _ => tool.live_output.as_str(),
    }
}

/// Calls `take` with every sanitised text of a cell, in the order in which it shows them when unfolded.
pub(super) fn for_each_text(cell: &Cell, mut take: impl FnMut(&str)) {
    let mut text = |text: &str| match sanitise(text) {
        Cow::Borrowed(clean) => take(clean),
        Cow::Owned(clean) => take(&clean),
    };
    match &cell.kind {
        CellKind::Text(body) | CellKind::Thinking(body) => text(body.body.as_str()),
        CellKind::Tool(tool) => {
            text(&tool.label);
            for (_, lines) in changes_of(tool) {
                lines.iter().for_each(|line| text(&line.text));
            }
            if tool.kind != agent_api::ToolKind::Edit {
                text(output_of(tool));
            }
        }
        CellKind::Todo(todo) => {
            text(&describe_plan(&todo.plan));
            todo.plan.entries.iter().for_each(|entry| text(&entry.text));
        }
        CellKind::Request(request) => request_texts(request, &mut text),
        CellKind::Message(message) => text(&message.text),
        CellKind::Iteration(iteration) => {
            text(&describe_iteration(
                iteration.number,
                iteration.most,
                iteration.role.as_deref(),
            ));
            text(&iteration.prompt);
        }
        CellKind::Verify(verify) => match &verify.end {
            Some(end) => {
                text(&describe_verify(end));
                text(&end.output);
            }
            None => text(&verify.command),
        },
        CellKind::Warning(warned) => {
            text(&warned.message);
            warned.evidence.iter().for_each(|evidence| text(&evidence.text));
        }
        CellKind::Wait(wait) => match &wait.what {
            Wait::Budget(awaited) => text(&awaited.message),
            Wait::Retry { text: retry, .. } => text(retry),
            Wait::Cooldown(cooldown) => {
                text(&run_view::describe_cooldown(cooldown, cooldown.until).unwrap_or_default());
            }
        },
        CellKind::Notice(notice) => text(&notice.text),
        CellKind::End(end) => {
            text(&end.heading);
            text(end.ended.message.as_deref().unwrap_or_default());
        }
        CellKind::Gone => {}
    }
}

fn request_texts(request: &RequestCell, text: &mut impl FnMut(&str)) {
    match &request.ask {
        Ask::Permission(asked) => {
            text(&run_view::describe_permission(asked));
            text(asked.description.as_deref().unwrap_or_default());
            run_view::request_detail(asked)
                .rows
                .iter()
                .for_each(|row| text(&row.text));
        }
        Ask::Question(questions) => {
            for question in questions {
                text(&question.text);
                question.options.iter().for_each(|option| text(&option.label));
            }
        }
        Ask::Plan(plan) => text(plan),
    }
    if let RequestState::Closed { text: answer, .. } = &request.state {
        text(answer);
    }
}

impl Transcript {
    /// The whole transcript as Markdown.
    pub(crate) fn to_markdown(&self) -> String {
        let mut out = String::new();
        for cell in self.cells() {
            let text = logical_text(cell);
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            let block = match &cell.kind {
                CellKind::Text(_) => text.to_owned(),
                CellKind::Thinking(_) => quoted("Thinking", text),
                CellKind::Message(message) => quoted(message_label(message.state), text),
                CellKind::Tool(tool) => {
                    let end = tool
                        .end
                        .as_ref()
                        .map(|end| format!(" {} {}", end.call.mark(), end.call.facts));
                    let head = run_view::one_line(&tool.label, 120).replace('`', "'");
                    format!("`{head}`{}\n\n{}", end.unwrap_or_default(), fenced(text))
                }
                CellKind::Iteration(iteration) => {
                    let role = iteration.role.as_deref().map(|role| run_view::one_line(role, 40));
                    let head = describe_iteration(iteration.number, iteration.most, role.as_deref());
                    let end = iteration
                        .end
                        .as_ref()
                        .map(|end| format!(" ({})", end.outcome.describe()));
                    let prompt = quoted("Prompt", &sanitise(&iteration.prompt));
                    format!("## {head}{}\n\n{prompt}", end.unwrap_or_default())
                }
                CellKind::Verify(_) => format!("Verify:\n\n{}", fenced(text)),
                CellKind::End(_) => format!("## {text}"),
                CellKind::Notice(notice) if notice.label.is_empty() => text.to_owned(),
                CellKind::Notice(notice) => format!("**{}**: {text}", notice.label),
                CellKind::Warning(_) => format!("**Warning**: {text}"),
                CellKind::Request(request) => quoted(request.kind().label(), text),
                CellKind::Todo(_) => format!("**Plan**: {text}"),
                CellKind::Wait(_) => format!("**Waiting**: {text}"),
                CellKind::Gone => continue,
            };
            out.push_str(&block);
            out.push_str("\n\n");
        }
        out
    }
}

fn quoted(label: &str, text: &str) -> String {
    let lines: Vec<String> = text.trim().lines().map(|line| format!("> {line}")).collect();
    format!("> **{label}**\n>\n{}", lines.join("\n"))
}

/// In a block of code whose fence is longer than any in the text.
fn fenced(text: &str) -> String {
    let (mut longest, mut length) = (2, 0);
    for byte in text.bytes() {
        length = if byte == b'`' { length + 1 } else { 0 };
        longest = longest.max(length);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}\n{text}\n{fence}")
}
