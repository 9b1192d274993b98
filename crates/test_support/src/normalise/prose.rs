//! Cutting the vendor's texts, and nothing that is ours or that a reader of the stream needs.

use super::raw::{self, Raw};
use serde_json::Value;
use std::collections::HashSet;

/// A string that is not ours is prose from here on.
const PROSE: usize = 160;
/// What is left of it.
const KEPT: usize = 60;
/// Ours is cut, too, where it only takes space.
const TOO_LONG: usize = 4_000;
/// Elements that are left of a built-in list.
const LISTED: usize = 3;

/// Lists of `system/init` that only name what the CLI comes with.
const BUILT_IN: [&str; 6] = [
    "slash_commands",
    "terminal_slash_commands",
    "agents",
    "skills",
    "plugins",
    "capabilities",
];

/// The list of commands that agents of the Agent Client Protocol send again and again.
const ACP_COMMANDS: &str = "availableCommands";

/// What the surroundings of a value say about it.
#[derive(Clone, Copy)]
struct Position<'a> {
    key: &'a str,
    kind: Kind,
    depth: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The scripted model's words and tool calls.
    Model,
    Init,
    /// Answers to control requests: lists of commands, models, agents, each with its description.
    Response,
    Other,
}

/// The line without prose; `None` if it is not JSON.
pub(super) fn trim(line: &str, said: &mut HashSet<String>) -> Option<String> {
    let kind = kind_of(line);
    if kind == Kind::Model {
        remember(&serde_json::from_str(line).ok()?, said);
    }
    rewrite(
        line,
        Position {
            key: "",
            kind,
            depth: 0,
        },
        said,
    )
}

fn kind_of(line: &str) -> Kind {
    let Ok(event) = serde_json::from_str::<Value>(line) else {
        return Kind::Other;
    };
    match event["type"].as_str() {
        // What the CLI itself says in the model's place is marked so.
        Some("assistant") if event["message"]["model"] != "<synthetic>" => Kind::Model,
        Some("stream_event") => Kind::Model,
        Some("system") if event["subtype"] == "init" => Kind::Init,
        Some("control_response") => Kind::Response,
        _ => Kind::Other,
    }
}

fn remember(value: &Value, said: &mut HashSet<String>) {
    match value {
        Value::String(text) if text.len() >= PROSE => drop(said.insert(text.clone())),
        Value::Array(elements) => elements.iter().for_each(|element| remember(element, said)),
        Value::Object(members) => members.values().for_each(|member| remember(member, said)),
        _ => {}
    }
}

fn rewrite(json: &str, position: Position<'_>, said: &HashSet<String>) -> Option<String> {
    let deeper = |key| Position {
        key,
        depth: position.depth + 1,
        ..position
    };
    match raw::open(json)? {
        Raw::Object(members) => {
            let members: Option<Vec<String>> = members
                .iter()
                .map(|(key, value)| {
                    Some(format!(
                        "{}:{}",
                        Value::from(key.as_str()),
                        rewrite(value, deeper(key), said)?
                    ))
                })
                .collect();
            Some(format!("{{{}}}", members?.join(",")))
        }
        Raw::Array(elements) => {
            let elements: Option<Vec<String>> = listed(&elements, position)
                .into_iter()
                .map(|element| rewrite(element, deeper(position.key), said))
                .collect();
            Some(format!("[{}]", elements?.join(",")))
        }
        Raw::String(text) => Some(cut(&text, position, said).unwrap_or_else(|| json.to_owned())),
        Raw::Scalar => Some(json.to_owned()),
    }
}

/// The elements worth keeping: of built-in lists the first few, of the tools also those that do not come with the CLI.
fn listed<'a>(elements: &[&'a str], position: Position<'_>) -> Vec<&'a str> {
    let is_built_in = match position.kind {
        Kind::Init => position.depth == 1 && (BUILT_IN.contains(&position.key) || position.key == "tools"),
        Kind::Response => true,
        Kind::Model => false,
        Kind::Other => position.key == ACP_COMMANDS,
    };
    let keep = |(index, element): &(usize, &&str)| {
        let limit = if position.key == "tools" { 5 } else { LISTED };
        !is_built_in || *index < limit || element.contains("mcp__")
    };
    elements
        .iter()
        .enumerate()
        .filter(keep)
        .map(|(_, element)| *element)
        .collect()
}

/// What is left of a string, as JSON; `None`: all of it.
fn cut(text: &str, position: Position<'_>, said: &HashSet<String>) -> Option<String> {
    if position.kind == Kind::Response && ["description", "argumentHint"].contains(&position.key) {
        return Some(
            if text.is_empty() {
                "\"\""
            } else {
                "\"(a description)\""
            }
            .to_owned(),
        );
    }
    let is_ours = position.kind == Kind::Model
        || said.contains(text)
        || text.starts_with("SCENARIO:")
        || position.key == "signature";
    let length = text.chars().count();
    if length <= if is_ours { TOO_LONG } else { PROSE } {
        return None;
    }
    let start: String = text.chars().take(KEPT).collect();
    Some(Value::from(format!("{start}… ({} characters cut)", length - KEPT)).to_string())
}
