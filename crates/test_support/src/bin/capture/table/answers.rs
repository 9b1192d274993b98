//! Text, thinking, ways to stop, partial messages, output formats.

use super::all::{OLDER, RECENT};
use crate::scenario::Scenario;

pub(super) fn scenarios() -> Vec<Scenario> {
    let plain = Scenario::plain;
    vec![
        plain("plain_text", "one text answer", "plain").also_in(&OLDER),
        plain("unicode_text", "multi-byte text, U+2028, escapes", "unicode").also_in(&OLDER),
        plain("two_texts", "two text blocks in one message", "multitext"),
        plain(
            "thinking",
            "thinking blocks with signature, then a tool, then thinking and text",
            "thinking",
        )
        .also_in(&OLDER),
        plain("redacted_thinking", "a redacted thinking block", "redacted"),
        plain(
            "empty_answer",
            "the model answers with no content blocks",
            "empty",
        ),
        plain("stop_max_tokens", "stop_reason max_tokens each time", "maxtokens").also_in(&OLDER),
        plain(
            "stop_max_tokens_once",
            "stop_reason max_tokens once, then the rest",
            "maxtokens:1",
        ),
        plain("stop_sequence", "stop_reason stop_sequence", "stopseq"),
        plain("stop_refusal", "stop_reason refusal", "refusal").also_in(&OLDER),
        plain(
            "stop_refusal_empty",
            "stop_reason refusal without content",
            "refusal_empty",
        ),
        plain("stop_pause_turn", "stop_reason pause_turn", "pause_turn"),
        plain(
            "stop_context_exceeded",
            "stop_reason model_context_window_exceeded",
            "ctxexceeded",
        ),
        plain("model_alias", "--model=haiku", "plain").flag("--model=haiku"),
        // `ui_invalidate` only comes where stdin is no pipe.
        Scenario::command(
            "bare_mode",
            "--bare",
            &[
                "-p",
                "SCENARIO:plain",
                "--output-format=stream-json",
                "--verbose",
                "--bare",
            ],
            "",
        )
        .without_input(),
        plain("name_flag", "--name", "plain").flag("--name=my session"),
        plain("effort_max", "--effort=max", "plain").flag("--effort=max"),
        Scenario::prompt(
            "at_mention",
            "a file mentioned in the prompt",
            "SCENARIO:plain look at @hello.txt",
        ),
        plain("partial_plain", "partial messages, text", "plain").partial(),
        plain("partial_tool_bash", "partial messages, a tool call", "bash")
            .partial()
            .also_in(&RECENT),
        plain("partial_thinking", "partial messages, thinking", "thinking").partial(),
        plain(
            "partial_parallel",
            "partial messages, three tools at once",
            "parallel",
        )
        .partial(),
        plain(
            "partial_subagent",
            "partial messages, none for subagents",
            "subagent",
        )
        .partial(),
        plain(
            "stream_hold",
            "deltas joined by CLAUDE_CODE_STREAM_EVENT_HOLD_MS",
            "slow:0.05",
        )
        .partial()
        .variable("CLAUDE_CODE_STREAM_EVENT_HOLD_MS", "300"),
        plain("session_state_events", "running and idle", "bash")
            .variable("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
        Scenario::command("format_text", "--output-format=text", &["-p"], "SCENARIO:plain"),
        Scenario::command(
            "format_text_error",
            "--output-format=text, HTTP 400",
            &["-p"],
            "SCENARIO:err400",
        ),
        Scenario::command(
            "format_json",
            "--output-format=json",
            &["-p", "--output-format=json"],
            "SCENARIO:plain",
        ),
        Scenario::command(
            "format_json_error",
            "--output-format=json, HTTP 400",
            &["-p", "--output-format=json"],
            "SCENARIO:err400",
        ),
        Scenario::command(
            "format_json_verbose",
            "--output-format=json --verbose: one array of all events",
            &["-p", "--output-format=json", "--verbose"],
            "SCENARIO:plain",
        ),
        Scenario::prompt(
            "slash_unknown",
            "an unknown slash command",
            "/nosuchcommand hello",
        ),
        Scenario::prompt("slash_clear", "/clear", "/clear"),
        Scenario::prompt(
            "slash_compact_empty",
            "/compact with nothing to compact",
            "/compact",
        ),
        plain(
            "compact_auto",
            "compaction because the window is nearly full",
            "compactload:990000",
        ),
        plain(
            "compact_auto_small",
            "compaction that fails, with --autocompact",
            "compactload:180000",
        )
        .flag("--autocompact=100k"),
    ]
}
