//! `PermissionRequest`: one tool call that needs a decision.

use serde_json::Value;

use crate::event::CanUseTool;
use crate::input::PermissionAnswer;
use json_lines::RawJson;

/// A tool call that needs a decision, a question to the user, or a plan to approve.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The tool: `Bash`, `AskUserQuestion`, `ExitPlanMode`, …
    pub tool_name: String,
    /// The arguments, `Null` if there are none. A call with arguments that cannot be read is denied without asking.
    pub input: Value,
    /// The reason the CLI gives for asking.
    pub reason: Option<String>,
    /// Rules in the CLI's own format that would make further requests of this kind unnecessary.
    pub suggestions: Vec<Value>,
    /// Only a person can decide: questions and plans.
    pub requires_person: bool,
    raw_input: Option<RawJson>,
}

impl PermissionRequest {
    /// `None` if the arguments cannot be read: then no decision is possible.
    pub(super) fn new(request: &CanUseTool) -> Option<Self> {
        let suggestions = request.permission_suggestions.as_ref();
        let input = request.input.as_ref();
        Some(Self {
            tool_name: request.tool_name.as_deref().unwrap_or_default().to_owned(),
            input: input.map_or(Ok(Value::Null), RawJson::deserialize).ok()?,
            reason: request.decision_reason.as_ref().map(ToString::to_string),
            suggestions: suggestions
                .and_then(|suggestions| suggestions.deserialize().ok())
                .unwrap_or_default(),
            requires_person: request.requires_user_interaction,
            raw_input: request.input.clone(),
        })
    }

    /// Allows the call exactly as requested. Denies it if its arguments cannot be sent back unchanged.
    #[must_use]
    pub fn allow(&self) -> PermissionAnswer {
        let allowed = self.raw_input.as_ref().map(PermissionAnswer::allow);
        match allowed {
            Some(Ok(answer)) => answer,
            Some(Err(_)) | None => PermissionAnswer::deny("the arguments of this call cannot be sent back"),
        }
    }

    /// Answers the questions of `AskUserQuestion`: pairs of the question's text and the chosen label.
    #[must_use]
    pub fn answer<'a>(&self, answers: impl IntoIterator<Item = (&'a str, &'a str)>) -> PermissionAnswer {
        let answered = self
            .raw_input
            .as_ref()
            .map(|input| PermissionAnswer::answers(input, answers));
        match answered {
            Some(Ok(answer)) => answer,
            Some(Err(_)) | None => PermissionAnswer::deny("this request has no questions to answer"),
        }
    }
}
