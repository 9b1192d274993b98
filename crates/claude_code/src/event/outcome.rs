//! How a turn ended.

use crate::event::field::wire_struct;
use crate::event::list::{Models, TextList};
use crate::event::message::StopReason;
use crate::event::open::open_enum;
use crate::event::tokens::Usage;
use crate::json::RawJson;
use crate::money::MicroUsd;
use crate::text::Text;

wire_struct! {
    /// The end of a turn (`result`). A process can write several; the run ends with the process.
    pub struct TurnResult {
        @usual { duration_api_ms "duration_api_ms", stop_reason "stop_reason", rest "session_id", total_cost "total_cost_usd", usage "usage", model_usage "modelUsage", permission_denials "permission_denials", terminal_reason "terminal_reason", rest "fast_mode_state", rest "fast_mode_disabled_reason", subagent_stats "subagent_stats", rest "safety_stops", is_error "is_error", num_turns "num_turns", subtype "subtype", api_error_status "api_error_status", result "result", ttft_ms "ttft_ms", rest "type", duration_ms "duration_ms", rest "uuid", rest "ttft_stream_ms", rest "time_to_request_ms", rest "first_content_frame_ms", queued_turn_count "queued_turn_count", result_index "result_index", model_usage_since_last_result "model_usage_since_last_result" }
        /// How it ended. API errors come as `success` with `is_error`.
        subtype: Option<ResultSubtype> = b"subtype",
        /// Whether it failed. CLIs up to 2.1.87 said `false` for `error_max_turns`: see [`TurnResult::is_success`].
        is_error: Option<bool> = b"is_error",
        /// The last text block of the turn only; may be empty although text was streamed.
        result: Option<Text> = b"result",
        /// What went wrong.
        errors: TextList = b"errors",
        /// What went wrong, as Qwen Code says it.
        error: Option<ResultError> = b"error",
        /// Why the turn stopped.
        terminal_reason: Option<TerminalReason> = b"terminal_reason",
        /// Why the model stopped.
        stop_reason: Option<StopReason> = b"stop_reason",
        /// HTTP status of an API error.
        api_error_status: Option<u64> = b"api_error_status",
        /// The API's own name of the error.
        api_error_type: Option<Text> = b"api_error_type",
        /// The CLI's name of the error.
        api_error: Option<Text> = b"api_error",
        /// Cumulative in a process and, since 2.1.277, over a resumed session. [`crate::CostAccount`] knows.
        total_cost: Option<MicroUsd> = b"total_cost_usd",
        /// The main conversation's tokens, without subagents.
        usage: Option<Usage> = b"usage",
        /// Tokens and cost per model, subagents included; cumulative like `total_cost`.
        model_usage: Models = b"modelUsage",
        /// The part of `model_usage` that is new since the last result (2.1.309 and later).
        model_usage_since_last_result: Models = b"model_usage_since_last_result",
        /// For display: versions count differently.
        num_turns: Option<u64> = b"num_turns",
        /// Counts the results of a process from 0.
        result_index: Option<u64> = b"result_index",
        /// Messages that still wait for their turn.
        queued_turn_count: Option<u64> = b"queued_turn_count",
        /// Wall time in milliseconds.
        duration_ms: Option<u64> = b"duration_ms",
        /// Time in the API in milliseconds.
        duration_api_ms: Option<u64> = b"duration_api_ms",
        /// Time to the first token in milliseconds.
        ttft_ms: Option<u64> = b"ttft_ms",
        /// What was not allowed; at most 65,536 calls, all of them are in [`crate::Event::field`].
        permission_denials: Vec<PermissionDenial> = b"permission_denials",
        /// The answer in the shape of the requested schema.
        structured_output: Option<RawJson> = b"structured_output",
        /// A tool that a hook put off; resuming the session runs it.
        deferred_tool_use: Option<DeferredToolUse> = b"deferred_tool_use",
        /// The slash command that this ends.
        local_command: Option<Text> = b"local_command",
        /// What started the turn, if not a message: for example a background task that ended.
        origin: Option<RawJson> = b"origin",
        /// Why the CLI could not start.
        startup_failure_reason: Option<Text> = b"startup_failure_reason",
        /// What subagents did.
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
        /// Ended by itself; still an error if `is_error` says so.
        Success = "success",
        /// Reached the limit of turns.
        ErrorMaxTurns = "error_max_turns",
        /// Reached the limit of money.
        ErrorMaxBudget = "error_max_budget_usd",
        /// Interrupted, or broken.
        ErrorDuringExecution = "error_during_execution",
        /// Never gave an answer in the requested schema.
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }
}

open_enum! {
    /// Why a turn stopped.
    pub enum TerminalReason {
        /// The model was done.
        Completed = "completed",
        /// The API failed.
        ApiError = "api_error",
        /// Interrupted while the model was writing.
        AbortedStreaming = "aborted_streaming",
        /// Interrupted while tools were running.
        AbortedTools = "aborted_tools",
        /// The money was spent.
        BudgetExhausted = "budget_exhausted",
        /// The limit of turns was reached.
        MaxTurns = "max_turns",
        /// The prompt does not fit.
        PromptTooLong = "prompt_too_long",
        /// The API did not take a picture.
        ImageError = "image_error",
        /// No answer in the requested schema.
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        /// A hook put a tool off.
        ToolDeferred = "tool_deferred",
    }
}

wire_struct! {
    /// What went wrong in a turn of Qwen Code.
    pub struct ResultError {
        /// In words.
        message: Option<Text> = b"message",
    }
}

wire_struct! {
    /// A tool call that was not allowed.
    pub struct PermissionDenial {
        /// The tool.
        tool_name: Option<Text> = b"tool_name",
        /// The call.
        tool_use_id: Option<Text> = b"tool_use_id",
        /// Its arguments.
        tool_input: Option<RawJson> = b"tool_input",
    }
}

wire_struct! {
    /// A tool call that a hook put off.
    pub struct DeferredToolUse {
        /// The call.
        id: Option<Text> = b"id",
        /// The tool.
        name: Option<Text> = b"name",
        /// Its arguments.
        input: Option<RawJson> = b"input",
    }
}
