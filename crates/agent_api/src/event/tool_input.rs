//! `ToolInput`: the arguments of common tools, whatever the vendor calls them.

use serde_json::Value;

use super::ask::PermissionRequested;
use super::payload::Json;
use super::tool::{ToolKind, ToolStarted};

/// The arguments of a common tool, whatever the vendor calls them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolInput {
    /// Run a command.
    Command {
        /// The command line.
        command: String,
        /// What it is for.
        description: Option<String>,
    },
    /// Read a file.
    Read {
        /// The file.
        path: String,
        /// The first line.
        offset: Option<u64>,
        /// How many lines.
        limit: Option<u64>,
    },
    /// Replace parts of a file.
    Edit {
        /// The file.
        path: String,
        /// The replacements in order.
        edits: Vec<TextEdit>,
    },
    /// Write a whole file.
    Write {
        /// The file.
        path: String,
        /// The new content.
        content: String,
    },
    /// Search files, by content or by name.
    Search {
        /// What to search for.
        pattern: String,
        /// The file or directory to search.
        path: Option<String>,
    },
    /// Fetch a page.
    Fetch {
        /// Its address.
        url: String,
    },
    /// Search the web.
    WebSearch {
        /// What to search for.
        query: String,
    },
    /// Start a subagent.
    Agent {
        /// What it is for.
        description: Option<String>,
        /// Its prompt.
        prompt: String,
    },
    /// Any other tool: see [`ToolStarted::input`].
    Other,
}

/// One replacement in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextEdit {
    /// The text to replace.
    pub old: String,
    /// The text that replaces it.
    pub new: String,
}

const PATH: [&str; 6] = [
    "file_path",
    "path",
    "absolute_path",
    "notebook_path",
    "filePath",
    "dir_path",
];

impl ToolStarted {
    /// The typed arguments. They are parsed at every call.
    #[must_use]
    pub fn typed_input(&self) -> ToolInput {
        parse(self.kind, self.input.as_ref())
    }
}

impl PermissionRequested {
    /// The typed arguments of the call. They are parsed at every call.
    #[must_use]
    pub fn typed_input(&self) -> ToolInput {
        parse(self.kind, self.input.as_ref())
    }
}

fn parse(kind: ToolKind, input: Option<&Json>) -> ToolInput {
    let input = input.and_then(|input| input.read::<Value>().ok());
    let typed = input.and_then(|input| typed(kind, &input));
    typed.unwrap_or(ToolInput::Other)
}

fn typed(kind: ToolKind, input: &Value) -> Option<ToolInput> {
    Some(match kind {
        ToolKind::Execute => ToolInput::Command {
            command: text(input, &["command", "cmd"])?,
            description: text(input, &["description"]),
        },
        ToolKind::Read => ToolInput::Read {
            path: text(input, &PATH)?,
            offset: input.get("offset").and_then(Value::as_u64),
            limit: input.get("limit").and_then(Value::as_u64),
        },
        ToolKind::Edit => edit(input)?,
        ToolKind::Search => ToolInput::Search {
            pattern: text(input, &["pattern", "query", "glob"])?,
            path: text(input, &PATH),
        },
        ToolKind::Fetch => ToolInput::Fetch {
            url: text(input, &["url", "prompt"])?,
        },
        ToolKind::WebSearch => ToolInput::WebSearch {
            query: text(input, &["query"])?,
        },
        ToolKind::Agent => ToolInput::Agent {
            description: text(input, &["description", "subagent_type"]),
            prompt: text(input, &["prompt"])?,
        },
        ToolKind::Delete
        | ToolKind::Move
        | ToolKind::Plan
        | ToolKind::Mcp
        | ToolKind::Question
        | ToolKind::SwitchMode
        | ToolKind::Other => return None,
    })
}

fn edit(input: &Value) -> Option<ToolInput> {
    let path = text(input, &PATH)?;
    if let Some(content) = text(input, &["content"]) {
        return Some(ToolInput::Write { path, content });
    }
    let replacement = |edit: &Value| {
        Some(TextEdit {
            old: text(edit, &["old_string"])?,
            new: text(edit, &["new_string", "new_source"])?,
        })
    };
    let edits = match input.get("edits").and_then(Value::as_array) {
        // All or none: a part of them would hide the others.
        Some(edits) => edits.iter().map(replacement).collect::<Option<_>>()?,
        None => vec![replacement(input)?],
    };
    Some(ToolInput::Edit { path, edits })
}

fn text(object: &Value, keys: &[&str]) -> Option<String> {
    keys.iter()
        .find_map(|key| object.get(key)?.as_str())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{TextEdit, ToolInput};
    use crate::event::{ItemId, Json, ToolKind, ToolStarted};

    fn typed(kind: ToolKind, input: &Value) -> ToolInput {
        let mut tool = ToolStarted::new(ItemId::new("call"), "tool", kind);
        tool.input = Some(Json::from(input));
        tool.typed_input()
    }

    #[test]
    fn arguments_are_read_whatever_the_vendor_calls_them() {
        for input in [
            json!({"file_path": "a"}),
            json!({"absolute_path": "a"}),
            json!({"path": "a"}),
        ] {
            let read = ToolInput::Read {
                path: "a".into(),
                offset: None,
                limit: None,
            };
            assert_eq!(typed(ToolKind::Read, &input), read);
        }
    }

    #[test]
    fn an_edit_is_a_list_of_replacements_or_the_whole_file() {
        let edit = |old: &str, new: &str| TextEdit {
            old: old.into(),
            new: new.into(),
        };
        let one = json!({"file_path": "a", "old_string": "x", "new_string": "y"});
        let many = json!({"file_path": "a", "edits": [
            {"old_string": "x", "new_string": "y"}, {"old_string": "p", "new_string": "q"},
        ]});
        for (input, edits) in [
            (one, vec![edit("x", "y")]),
            (many, vec![edit("x", "y"), edit("p", "q")]),
        ] {
            let path = "a".into();
            assert_eq!(typed(ToolKind::Edit, &input), ToolInput::Edit { path, edits });
        }
        assert_eq!(
            typed(ToolKind::Edit, &json!({"file_path": "a", "content": "all"})),
            ToolInput::Write {
                path: "a".into(),
                content: "all".into()
            }
        );
    }

    #[test]
    fn edits_of_which_one_is_not_understood_are_left_as_they_are() {
        let edits = json!({"file_path": "a", "edits": [
            {"old_string": "x", "new_string": "y"}, {"old_string": "p", "insert": "q"}]});
        assert_eq!(typed(ToolKind::Edit, &edits), ToolInput::Other);
    }

    #[test]
    fn arguments_of_another_shape_are_left_as_they_are() {
        for input in [
            json!({"command": 3}),
            json!({}),
            json!([1]),
            json!("ls"),
            json!(null),
        ] {
            assert_eq!(typed(ToolKind::Execute, &input), ToolInput::Other);
        }
        assert_eq!(typed(ToolKind::Mcp, &json!({"command": "ls"})), ToolInput::Other);
    }
}
