//! Lines as Claude Code 2.1.325 writes them, cut down to what a reader of the stream may rely on.
//!
//! For the real thing, with every field, use the captured fixtures.

use serde_json::Value;

/// One session's lines. Ids are counted, so that the same calls give the same lines.
#[derive(Clone, Debug)]
pub struct Session {
    id: String,
    model: String,
    events: u64,
    messages: u64,
    turns: u64,
}

impl Session {
    /// A session with this id.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            model: "claude-opus-5-5".to_owned(),
            events: 0,
            messages: 0,
            turns: 0,
        }
    }

    /// The first line of a turn.
    pub fn init(&mut self, cwd: &str) -> String {
        let (cwd, model, tail) = (quote(cwd), quote(&self.model), self.tail());
        format!(
            r#"{{"type":"system","subtype":"init","cwd":{cwd},"tools":["Task","Bash","Edit","Read","Write"],"mcp_servers":[],"model":{model},"permissionMode":"bypassPermissions","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.1.325","output_style":"default","agents":[],{tail}}}"#
        )
    }

    /// A new message of the model begins; blocks given from here on share its id.
    pub fn begin_message(&mut self) {
        self.messages += 1;
        self.turns += 1;
    }

    /// A text block.
    pub fn text(&mut self, text: &str) -> String {
        let text = quote(text);
        self.assistant(&format!(r#"{{"type":"text","text":{text}}}"#))
    }

    /// A thinking block.
    pub fn thinking(&mut self, thinking: &str) -> String {
        let thinking = quote(thinking);
        self.assistant(&format!(
            r#"{{"type":"thinking","thinking":{thinking},"signature":"c2lnbmF0dXJl"}}"#
        ))
    }

    /// A tool call.
    pub fn tool_use(&mut self, tool_use_id: &str, name: &str, input: &Value) -> String {
        let (id, name) = (quote(tool_use_id), quote(name));
        self.assistant(&format!(
            r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#
        ))
    }

    /// The result of a tool call, with the structured twin that `tool_use_result` carries.
    pub fn tool_result(
        &mut self,
        tool_use_id: &str,
        content: &str,
        outcome: ToolOutcome,
        twin: &Value,
    ) -> String {
        let is_error = matches!(outcome, ToolOutcome::Failed);
        let (id, content, tail) = (quote(tool_use_id), quote(content), self.tail());
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","content":{content},"is_error":{is_error},"tool_use_id":{id}}}]}},"parent_tool_use_id":null,{tail},"tool_use_result":{twin}}}"#
        )
    }

    /// The stream of a message with one text block, before the block's own line: start, deltas.
    pub fn partial_text(&mut self, deltas: &[&str]) -> Vec<String> {
        let (id, model) = (self.message_id(), quote(&self.model));
        let mut lines = vec![
            self.stream_event(&format!(
                r#"{{"type":"message_start","message":{{"id":"{id}","type":"message","role":"assistant","model":{model},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{USAGE}}}}}"#
            )),
            self.stream_event(
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            ),
        ];
        for delta in deltas {
            let delta = quote(delta);
            lines.push(self.stream_event(&format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{delta}}}}}"#
            )));
        }
        lines
    }

    /// What follows the block's own line: the end of the block and of the message.
    pub fn partial_end(&mut self, stop_reason: &str) -> Vec<String> {
        let stop_reason = quote(stop_reason);
        vec![
            self.stream_event(r#"{"type":"content_block_stop","index":0}"#),
            self.stream_event(&format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":{stop_reason},"stop_sequence":null}},"usage":{{"output_tokens":20}}}}"#
            )),
            self.stream_event(r#"{"type":"message_stop"}"#),
        ]
    }

    /// The last line of a turn that went well.
    pub fn result(&mut self, text: &str) -> String {
        self.end(
            "success",
            "completed",
            ResultFlag::Fine,
            &format!(r#""result":{}"#, quote(text)),
        )
    }

    /// The last line of a turn that did not, as after SIGINT (`error_during_execution`) or a limit.
    pub fn error_result(&mut self, subtype: &str, terminal_reason: &str, errors: &[&str]) -> String {
        let errors = Value::from(errors.to_vec());
        self.end(
            subtype,
            terminal_reason,
            ResultFlag::Error,
            &format!(r#""errors":{errors}"#),
        )
    }

    fn end(&mut self, subtype: &str, terminal_reason: &str, flag: ResultFlag, last: &str) -> String {
        let is_error = matches!(flag, ResultFlag::Error);
        let (subtype, reason, turns) = (quote(subtype), quote(terminal_reason), self.turns);
        let cost = 0.01 * f64::from(u32::try_from(turns).unwrap_or(u32::MAX));
        let model = quote(&self.model);
        let model_usage = format!(
            r#"{{{model}:{{"inputTokens":12,"outputTokens":20,"cacheReadInputTokens":1024,"cacheCreationInputTokens":2048,"webSearchRequests":0,"costUSD":{cost},"contextWindow":1000000}}}}"#
        );
        let tail = self.tail();
        // `type` is not the first key: it is not in the real one either.
        format!(
            r#"{{"duration_api_ms":57,"stop_reason":"end_turn","total_cost_usd":{cost},"usage":{USAGE},"modelUsage":{model_usage},"permission_denials":[],"terminal_reason":{reason},"is_error":{is_error},"num_turns":{turns},"subtype":{subtype},"type":"result","duration_ms":316,{tail},{last}}}"#
        )
    }

    fn assistant(&mut self, block: &str) -> String {
        let (id, model, tail) = (self.message_id(), quote(&self.model), self.tail());
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","type":"message","role":"assistant","model":{model},"content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{USAGE}}},"parent_tool_use_id":null,{tail}}}"#
        )
    }

    fn stream_event(&mut self, event: &str) -> String {
        let tail = self.tail();
        format!(r#"{{"type":"stream_event","event":{event},"parent_tool_use_id":null,{tail}}}"#)
    }

    fn message_id(&self) -> String {
        format!("msg_01{:022x}", self.messages)
    }

    fn tail(&mut self) -> String {
        self.events += 1;
        let id = quote(&self.id);
        format!(
            r#""session_id":{id},"uuid":"00000000-0000-4000-8000-{:012x}""#,
            self.events
        )
    }
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolOutcome {
    /// It worked.
    Succeeded,
    /// It did not.
    Failed,
}

enum ResultFlag {
    Fine,
    Error,
}

const USAGE: &str = r#"{"input_tokens":12,"cache_creation_input_tokens":2048,"cache_read_input_tokens":1024,"output_tokens":1,"service_tier":"standard"}"#;

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}
