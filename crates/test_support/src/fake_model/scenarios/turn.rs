use crate::fake_model::message::Block;
use serde_json::Value;

/// What a scenario may look at.
pub(in crate::fake_model) struct Turn<'a> {
    /// The model's messages since the tag.
    pub(in crate::fake_model) step: usize,
    /// After the second colon of the tag.
    pub(in crate::fake_model) argument: Option<&'a str>,
    /// From 1, for the same step of the same session.
    pub(in crate::fake_model) attempt: u32,
    pub(in crate::fake_model) directory: &'a str,
    pub(in crate::fake_model) request: &'a Value,
    pub(in crate::fake_model) base_url: &'a str,
}

impl<'a> Turn<'a> {
    pub(super) fn argument_or(&self, default: &'a str) -> &'a str {
        self.argument.unwrap_or(default)
    }

    pub(super) fn number_or(&self, default: usize) -> usize {
        self.argument
            .and_then(|argument| argument.parse().ok())
            .unwrap_or(default)
    }

    pub(super) fn seconds_or(&self, default: f64) -> std::time::Duration {
        let seconds = self
            .argument
            .and_then(|argument| argument.parse().ok())
            .unwrap_or(default);
        std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }

    /// A file in the CLI's directory.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    pub(super) fn model(&self) -> &'a str {
        self.request["model"].as_str().unwrap_or_default()
    }

    pub(super) fn offers(&self, tool: &str) -> bool {
        self.request["tools"]
            .as_array()
            .is_some_and(|tools| tools.iter().any(|offered| offered["name"] == tool))
    }

    /// The subagent tool's name in this version.
    pub(super) fn agent_tool(&self) -> &'static str {
        if self.offers("Agent") { "Agent" } else { "Task" }
    }
}

pub(super) fn bash(command: impl Into<String>, description: &str) -> Block {
    let command = command.into();
    Block::tool(
        "Bash",
        serde_json::json!({"command": command, "description": description}),
    )
}
