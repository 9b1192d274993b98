//! What well-known tools do, by name, what they are used on, and the start of a call. Used by every mapper.

use crate::event::ToolKind;
#[cfg(any(feature = "acp", feature = "pi"))]
use crate::event::{ItemId, Json, ToolStarted, ToolState};
#[cfg(feature = "acp")]
use crate::event::{PlanEntry, PlanStatus};
#[cfg(any(feature = "acp", feature = "pi"))]
use json_lines::Value;

/// The kind of a tool. Names are those of Claude Code, Gemini CLI, Qwen Code, opencode and goose.
pub(crate) fn kind_of(name: &str) -> ToolKind {
    if name.starts_with("mcp__") {
        return ToolKind::Mcp;
    }
    match name {
        "Bash" | "PowerShell" | "BashOutput" | "KillShell" | "KillBash" | "TaskOutput" | "TaskStop"
        | "run_shell_command" | "bash" | "shell" => ToolKind::Execute,
        "Read" | "NotebookRead" | "read_file" | "read_many_files" | "read" => ToolKind::Read,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" | "write_file" | "replace" | "edit" | "write" => {
            ToolKind::Edit
        }
        "Glob"
        | "Grep"
        | "LS"
        | "ToolSearch"
        | "glob"
        | "grep"
        | "grep_search"
        | "search_file_content"
        | "list_directory" => ToolKind::Search,
        "WebFetch" | "web_fetch" | "webfetch" => ToolKind::Fetch,
        "WebSearch" | "web_search" | "google_web_search" => ToolKind::WebSearch,
        "Task" | "Agent" | "agent" | "task" => ToolKind::Agent,
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" | "write_todos" | "todo_write"
        | "todowrite" => ToolKind::Plan,
        "AskUserQuestion" | "ask_user" => ToolKind::Question,
        "ExitPlanMode" | "EnterPlanMode" | "exit_plan_mode" | "enter_plan_mode" => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

/// Server and tool in a name such as `mcp__server__tool`.
#[cfg(feature = "claude_code")]
pub(crate) fn mcp_parts(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

/// The arguments that say what a call does, best first.
pub(crate) fn subject_keys(kind: ToolKind) -> &'static [&'static str] {
    match kind {
        ToolKind::Execute => &["command", "cmd", "task_id", "bash_id", "shell_id", "description"],
        ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move => &[
            "file_path",
            "path",
            "absolute_path",
            "notebook_path",
            "filePath",
            "dir_path",
        ],
        ToolKind::Search => &["pattern", "query", "glob", "path", "dir_path", "absolute_path"],
        ToolKind::Fetch => &["url", "prompt"],
        ToolKind::WebSearch => &["query"],
        ToolKind::Agent => &["description", "subagent_type", "prompt"],
        ToolKind::Plan => &["subject", "title", "taskId"],
        ToolKind::Question => &["question", "title"],
        ToolKind::Mcp | ToolKind::SwitchMode | ToolKind::Other => &[
            "description",
            "title",
            "name",
            "skill",
            "path",
            "file_path",
            "query",
            "url",
            "command",
        ],
    }
}

/// The start of a call with these arguments.
#[cfg(any(feature = "acp", feature = "pi"))]
pub(crate) fn tool_started(
    item: ItemId,
    name: &str,
    kind: ToolKind,
    input: Option<&Value>,
    state: ToolState,
) -> ToolStarted {
    let subject = input.and_then(|input| subject_keys(kind).iter().find_map(|key| input.text(key)));
    ToolStarted {
        subject: subject.map(one_line).filter(|subject| !subject.is_empty()),
        input: input.map(Json::from),
        state,
        ..ToolStarted::new(item, name, kind)
    }
}

/// The entries of a to-do list in a call's arguments. Entries without a text are left out.
#[cfg(feature = "acp")]
pub(crate) fn plan_entries(list: &[Value]) -> Vec<PlanEntry> {
    let entry = |entry: &Value| {
        Some(PlanEntry {
            text: entry
                .text("content")
                .or_else(|| entry.text("description"))?
                .to_owned(),
            status: PlanStatus::named(entry.text("status")),
        })
    };
    list.iter().filter_map(entry).collect()
}

/// A subject in one line.
pub(crate) fn one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() {
        format!("{first} …")
    } else {
        first.to_owned()
    }
}
