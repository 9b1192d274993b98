//! Tool calls that a scenario makes without knowing the agent: they become calls of the tools that the agent offers.

use super::message::Block;
use serde_json::{Value, json};

/// Names of calls that are still to be translated; no agent has tools with such names.
pub(super) const SHELL: &str = "@shell";
pub(super) const WRITE: &str = "@write";
pub(super) const EDIT: &str = "@edit";

/// Replaces the calls made with [`Block::shell`], [`Block::write`] and [`Block::edit`] by calls of the tools on offer.
pub(super) fn translate(blocks: &mut [Block], offered: &[&str], directory: &str) {
    for block in blocks {
        if let Block::ToolUse { name, input, .. } = block {
            let call = match name.as_str() {
                SHELL => shell(input, offered),
                WRITE => write(input, offered, directory),
                EDIT => edit(input, offered, directory),
                _ => continue,
            };
            (*name, *input) = (call.0.to_owned(), call.1);
        }
    }
}

fn shell(input: &Value, offered: &[&str]) -> (&'static str, Value) {
    let command = &input["command"];
    match first(offered, &["exec_command", "run_shell_command", "bash"]) {
        Some("exec_command") => ("exec_command", json!({"cmd": command, "yield_time_ms": 30_000})),
        Some("run_shell_command") => (
            "run_shell_command",
            json!({"command": command, "description": "A command", "is_background": false}),
        ),
        Some("bash") => ("bash", json!({"command": command, "description": "A command"})),
        _ => ("Bash", json!({"command": command, "description": "A command"})),
    }
}

fn write(input: &Value, offered: &[&str], directory: &str) -> (&'static str, Value) {
    let (path, content) = (absolute(input, directory), &input["content"]);
    match first(offered, &["apply_patch", "write_file", "write", "create"]) {
        Some("apply_patch") => {
            let lines = prefixed(content, '+');
            patch(&format!("*** Add File: {}\n{lines}", text(&input["path"])))
        }
        Some("write_file") => ("write_file", json!({"file_path": path, "content": content})),
        Some("write") => ("write", json!({"filePath": path, "content": content})),
        Some("create") => ("create", json!({"path": path, "file_text": content})),
        _ => ("Write", json!({"file_path": path, "content": content})),
    }
}

fn edit(input: &Value, offered: &[&str], directory: &str) -> (&'static str, Value) {
    let (path, old, new) = (absolute(input, directory), &input["old"], &input["new"]);
    let snake_case = json!({"file_path": path, "old_string": old, "new_string": new});
    match first(
        offered,
        &["apply_patch", "replace", "write_file", "write", "create"],
    ) {
        Some("apply_patch") => {
            let change = format!("{}{}", prefixed(old, '-'), prefixed(new, '+'));
            patch(&format!(
                "*** Update File: {}\n@@\n{change}",
                text(&input["path"])
            ))
        }
        Some("replace") => {
            let mut input = snake_case;
            input["instruction"] = "Change the line.".into();
            ("replace", input)
        }
        // Three agents have a tool called `edit`, each with its own names for the arguments.
        Some("write_file") => ("edit", snake_case),
        Some("write") => (
            "edit",
            json!({"filePath": path, "oldString": old, "newString": new}),
        ),
        Some("create") => ("edit", json!({"path": path, "old_str": old, "new_str": new})),
        _ => ("Edit", snake_case),
    }
}

fn first<'a>(offered: &[&str], names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| offered.contains(name))
}

fn patch(change: &str) -> (&'static str, Value) {
    (
        "apply_patch",
        json!({"input": format!("*** Begin Patch\n{change}*** End Patch\n")}),
    )
}

fn absolute(input: &Value, directory: &str) -> String {
    format!("{directory}/{}", text(&input["path"]))
}

fn prefixed(lines: &Value, prefix: char) -> String {
    text(lines)
        .lines()
        .map(|line| format!("{prefix}{line}\n"))
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
