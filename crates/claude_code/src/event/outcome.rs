//! `TurnResult`: the end of a turn (`result`).

use crate::event::message::StopReason;
use crate::event::tokens::{Models, Usage};
use agent_client::MicroUsd;
use json_lines::{RawJson, Text, TextList, open_enum, wire_struct};

wire_struct! {
    /// The end of a turn (`result`). A process can write several; the run ends with the process.
    pub struct TurnResult {
        @usual { duration_api_ms "duration_api_ms", stop_reason "stop_reason", unknown "session_id", total_cost "total_cost_usd", usage "usage", model_usage "modelUsage", permission_denials "permission_denials", terminal_reason "terminal_reason", unknown "fast_mode_state", unknown "fast_mode_disabled_reason", subagent_stats "subagent_stats", unknown "safety_stops", is_error "is_error", num_turns "num_turns", subtype "subtype", api_error_status "api_error_status", result "result", ttft_ms "ttft_ms", unknown "type", duration_ms "duration_ms", unknown "uuid", unknown "ttft_stream_ms", unknown "time_to_request_ms", unknown "first_content_frame_ms", queued_turn_count "queued_turn_count", result_index "result_index", model_usage_since_last_result "model_usage_since_last_result" }
        /// How it ended. API errors come as `success` with `is_error`.
        subtype: Option<ResultSubtype> = b"subtype",
        /// Whether it failed. CLIs up to 2.1.87 said `false` for `error_max_turns`: see [`TurnResult::is_success`].
        is_error: Option<bool> = b"is_error",
        /// The last text block of the turn only; may be empty although text was streamed.
        result: Option<Text> = b"result",
        errors: TextList = b"errors",
        terminal_reason: Option<TerminalReason> = b"terminal_reason",
        stop_reason: Option<StopReason> = b"stop_reason",
        api_error_status: Option<u64> = b"api_error_status",
        /// The API's own name of the error.
        api_error_type: Option<Text> = b"api_error_type",
        /// The CLI's name of the error.
        api_error: Option<Text> = b"api_error",
        /// Cumulative in a process and, since 2.1.277, in a resumed session: use [`crate::CostAccount`].
        total_cost: Option<MicroUsd> = b"total_cost_usd",
        /// The main conversation's tokens, without subagents.
        usage: Option<Usage> = b"usage",
        /// Tokens and cost per model, subagents included; cumulative like `total_cost`.
        model_usage: Models = b"modelUsage",
        /// What `model_usage` gained since the last result (2.1.309 and later).
        model_usage_since_last_result: Models = b"model_usage_since_last_result",
        /// For display: versions count differently.
        num_turns: Option<u64> = b"num_turns",
        /// Counts the results of a process from 0.
        result_index: Option<u64> = b"result_index",
        /// Messages that wait for their turn.
        queued_turn_count: Option<u64> = b"queued_turn_count",
        duration_ms: Option<u64> = b"duration_ms",
        duration_api_ms: Option<u64> = b"duration_api_ms",
        /// Time to the first token in milliseconds.
        ttft_ms: Option<u64> = b"ttft_ms",
        /// At most 65,536; [`crate::Event::field`] has all of them.
        permission_denials: Vec<PermissionDenial> = b"permission_denials",
        structured_output: Option<RawJson> = b"structured_output",
        /// A tool that a hook deferred; resuming the session runs it.
        deferred_tool_use: Option<DeferredToolUse> = b"deferred_tool_use",
        /// The slash command that ended.
        local_command: Option<Text> = b"local_command",
        /// What started the turn, if not a message: for example a background task that ended.
        origin: Option<RawJson> = b"origin",
        /// Why the CLI could not start.
        startup_failure_reason: Option<Text> = b"startup_failure_reason",
        subagent_stats: Option<RawJson> = b"subagent_stats",
        /// The user messages that this answers.
        user_message_uuids: TextList = b"user_message_uuids",
    }
}

impl TurnResult {
    /// Whether the turn succeeded: the subtype says so and no error is flagged.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.subtype == Some(ResultSubtype::Success) && self.is_error != Some(true)
    }
}

open_enum! {
    /// How a turn ended.
    pub enum ResultSubtype {
        /// The turn ended by itself. It is still an error if `is_error` is set.
        Success = "success",
        ErrorMaxTurns = "error_max_turns",
        /// The budget is spent.
        ErrorMaxBudget = "error_max_budget_usd",
        /// The turn was interrupted or broke off.
        ErrorDuringExecution = "error_during_execution",
        /// The model never answered in the requested schema.
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }

    /// Why a turn stopped.
    pub enum TerminalReason {
        /// The model was done.
        Completed = "completed",
        ApiError = "api_error",
        /// Interrupted while the model was writing.
        AbortedStreaming = "aborted_streaming",
        /// Interrupted while tools were running.
        AbortedTools = "aborted_tools",
        /// The budget is spent.
        BudgetExhausted = "budget_exhausted",
        MaxTurns = "max_turns",
        /// The prompt does not fit into the context.
        PromptTooLong = "prompt_too_long",
        /// The API refused an image.
        ImageError = "image_error",
        /// The model never answered in the requested schema.
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        /// A hook deferred a tool.
        ToolDeferred = "tool_deferred",
    }
}

wire_struct! {
    /// A tool call that was not allowed.
    pub struct PermissionDenial {
        tool_name: Option<Text> = b"tool_name",
        tool_use_id: Option<Text> = b"tool_use_id",
        tool_input: Option<RawJson> = b"tool_input",
    }

    /// A tool call that a hook deferred.
    pub struct DeferredToolUse {
        id: Option<Text> = b"id",
        name: Option<Text> = b"name",
        input: Option<RawJson> = b"input",
    }
}
