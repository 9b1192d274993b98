//! `describe_tool()`: a tool call in one line.

use agent_api::{PlanStatus, PlanUpdated, ToolInput, ToolKind, ToolStarted};

/// `Read: src/main.rs`: the tool and its subject. Not sanitised, not cut.
pub fn describe_tool(tool: &ToolStarted, workspace: &str) -> String {
    let name = tool_name(tool);
    let subject = tool.subject.as_deref().unwrap_or_default();
    let subject = match tool.kind {
        ToolKind::Read => describe_range(tool, in_workspace(subject, workspace)),
        ToolKind::Search => describe_search(tool, subject, workspace),
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => in_workspace(subject, workspace).to_owned(),
        _ => describe_other(tool, subject),
    };
    if subject.is_empty() {
        name
    } else {
        format!("{name}: {subject}")
    }
}

/// `2 of 5 done, now: Fix the parser`.
pub fn describe_plan(plan: &PlanUpdated) -> String {
    let has = |status| plan.entries.iter().filter(move |entry| entry.status == status);
    let done = has(PlanStatus::Completed).count();
    let mut text = format!("{done} of {} done", plan.entries.len());
    if let Some(current) = has(PlanStatus::InProgress).next() {
        text.push_str(", now: ");
        text.push_str(&current.text);
    }
    text
}

/// A path as seen from the workspace.
pub fn in_workspace<'a>(path: &'a str, workspace: &str) -> &'a str {
    if workspace.is_empty() {
        return path;
    }
    match path.strip_prefix(workspace.trim_end_matches('/')) {
        Some("") => ".",
        Some(inside) => inside.strip_prefix('/').unwrap_or(path),
        None => path,
    }
}

/// `server/tool` instead of `mcp__server__tool`.
fn tool_name(tool: &ToolStarted) -> String {
    let Some(server) = &tool.mcp_server else {
        return tool.name.clone();
    };
    let bare = tool.name.strip_prefix("mcp__").unwrap_or(&tool.name);
    let bare = bare.strip_prefix(server.as_str()).unwrap_or(bare);
    format!("{server}/{}", bare.trim_start_matches('_'))
}

fn describe_range(tool: &ToolStarted, path: &str) -> String {
    match tool.typed_input() {
        ToolInput::Read {
            offset: Some(first),
            limit: Some(count),
            ..
        } if count > 0 => {
            format!("{path}:{first}-{}", first.saturating_add(count - 1))
        }
        ToolInput::Read {
            offset: Some(first), ..
        } => format!("{path}:{first}"),
        _ => path.to_owned(),
    }
}

fn describe_search(tool: &ToolStarted, subject: &str, workspace: &str) -> String {
    match tool.typed_input() {
        ToolInput::Search {
            pattern,
            path: Some(path),
        } if pattern != path => {
            format!("{subject} in {}", in_workspace(&path, workspace))
        }
        _ => in_workspace(subject, workspace).to_owned(),
    }
}

/// Without a subject, short arguments are shown as they are.
fn describe_other(tool: &ToolStarted, subject: &str) -> String {
    const SHORT: usize = 1_024;
    let is_open = matches!(tool.kind, ToolKind::Mcp | ToolKind::Other);
    match &tool.input {
        Some(input) if subject.is_empty() && is_open && (3..SHORT).contains(&input.as_str().len()) => {
            input.as_str().to_owned()
        }
        _ => subject.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{describe_tool, in_workspace};
    use agent_api::{ItemId, Json, ToolKind, ToolStarted};

    fn tool(name: &str, kind: ToolKind, subject: Option<&str>, input: &str) -> ToolStarted {
        let mut tool = ToolStarted::new(ItemId::new("1"), name, kind);
        tool.subject = subject.map(str::to_owned);
        tool.input = Json::from_text(input.to_owned()).ok();
        tool.mcp_server = (kind == ToolKind::Mcp).then(|| "files".to_owned());
        tool
    }

    #[test]
    fn a_tool_line_says_what_matters() {
        let rows = [
            (
                tool("Read", ToolKind::Read, Some("/w/src/main.rs"), "{}"),
                "Read: src/main.rs",
            ),
            (
                tool(
                    "Read",
                    ToolKind::Read,
                    Some("/w/a"),
                    r#"{"file_path":"/w/a","offset":10,"limit":5}"#,
                ),
                "Read: a:10-14",
            ),
            (
                tool(
                    "Read",
                    ToolKind::Read,
                    Some("/w/a"),
                    r#"{"file_path":"/w/a","offset":10}"#,
                ),
                "Read: a:10",
            ),
            (
                tool("Write", ToolKind::Edit, Some("/other/a"), "{}"),
                "Write: /other/a",
            ),
            (
                tool(
                    "Grep",
                    ToolKind::Search,
                    Some("fn main"),
                    r#"{"pattern":"fn main","path":"/w/src"}"#,
                ),
                "Grep: fn main in src",
            ),
            (
                tool("Glob", ToolKind::Search, Some("*.rs"), r#"{"pattern":"*.rs"}"#),
                "Glob: *.rs",
            ),
            (
                tool("LS", ToolKind::Search, Some("/w"), r#"{"path":"/w"}"#),
                "LS: .",
            ),
            (
                tool("Bash", ToolKind::Execute, Some("cargo test"), "{}"),
                "Bash: cargo test",
            ),
            (
                tool("WebFetch", ToolKind::Fetch, Some("https://a.b"), "{}"),
                "WebFetch: https://a.b",
            ),
            (
                tool("mcp__files__list", ToolKind::Mcp, None, r#"{"deep":true}"#),
                r#"files/list: {"deep":true}"#,
            ),
            (tool("Strange", ToolKind::Other, None, "{}"), "Strange"),
        ];
        for (tool, expected) in rows {
            assert_eq!(describe_tool(&tool, "/w"), expected);
        }
    }

    #[test]
    fn only_paths_in_the_workspace_are_shortened() {
        assert_eq!(in_workspace("/home/a", "/home/"), "a");
        assert_eq!(in_workspace("/homely/a", "/home"), "/homely/a");
        assert_eq!(in_workspace("/a", "/"), "a");
        assert_eq!(in_workspace("a", ""), "a");
    }
}
