//! Conversations over the Agent Client Protocol, the same for every agent that speaks it.

use super::all::SESSION_BEFORE;
use crate::scenario::{Input, Run, Scenario, Step};
use serde_json::{Value, json};
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::Agent;

/// Stands for the agent's working directory in a line that is sent.
pub(crate) const DIRECTORY: &str = "{cwd}";

const INITIALIZE: u64 = 1;
const SESSION: u64 = 2;
const PROMPT: u64 = 3;
const NEXT_PROMPT: u64 = 4;

/// How to start an agent as a server of the protocol.
pub(super) struct Acp {
    pub(super) agent: Agent,
    /// Tools run without being asked for.
    pub(super) allowed: &'static [&'static str],
    /// Tools are asked for.
    pub(super) asking: &'static [&'static str],
    /// The settings that make it ask, as a file in the workspace.
    pub(super) asking_settings: Option<(&'static str, &'static str)>,
    /// What a failed prompt is answered with: an error, or (Copilot) a result like any other.
    pub(super) failed_prompt: &'static str,
}

impl Acp {
    pub(super) fn scenarios(&self) -> Vec<Scenario> {
        [self.answers_and_tools(), self.permissions(), self.ends()].concat()
    }

    fn scenario(&self, name: &'static str, what: &'static str, steps: Vec<Step>) -> Scenario {
        Scenario::of(self.agent, name, what, self.run(steps))
    }

    fn run(&self, steps: Vec<Step>) -> Run {
        Run::bare(self.allowed, Input::Steps).step(steps)
    }

    /// One prompt.
    fn prompt(&self, name: &'static str, what: &'static str, prompt: &str) -> Scenario {
        self.scenario(name, what, [new_session(), ask(PROMPT, prompt)].concat())
    }

    fn scripted(&self, name: &'static str, what: &'static str, steps: &[Vec<Block>]) -> Scenario {
        self.prompt(name, what, &scripted_prompt(steps))
    }

    fn answers_and_tools(&self) -> Vec<Scenario> {
        let done = || vec![Block::text("Done.")];
        let two_prompts = [
            new_session(),
            ask(PROMPT, "SCENARIO:plain"),
            ask(NEXT_PROMPT, "SCENARIO:plain again"),
        ];
        vec![
            self.prompt("acp_text", "an answer", "SCENARIO:plain"),
            self.prompt(
                "acp_unicode",
                "an answer with all kinds of characters",
                "SCENARIO:unicode",
            ),
            self.scripted(
                "acp_shell",
                "thoughts, text and a command",
                &[
                    vec![
                        Block::thinking("A command will do."),
                        Block::text("I run a command."),
                        Block::shell("echo hello && echo err >&2"),
                    ],
                    done(),
                ],
            ),
            self.scripted(
                "acp_shell_fail",
                "a command that fails",
                &[vec![Block::shell("echo bad >&2; exit 3")], done()],
            ),
            self.scripted(
                "acp_edit",
                "a file written and changed",
                &[
                    vec![Block::write("notes.txt", "alpha\nbeta\n")],
                    vec![Block::edit("notes.txt", "beta", "gamma")],
                    done(),
                ],
            ),
            self.scripted(
                "acp_parallel",
                "two commands at once",
                &[vec![Block::shell("echo one"), Block::shell("echo two")], done()],
            ),
            self.scripted(
                "acp_unknown_tool",
                "a tool that does not exist",
                &[vec![Block::tool("no_such_tool", json!({"x": 1}))], done()],
            ),
            self.scenario(
                "acp_two_prompts",
                "two prompts in one session",
                two_prompts.concat(),
            ),
        ]
    }

    /// A command that is asked for; `answer` is the kind of the option that is chosen.
    fn permission(&self, name: &'static str, what: &'static str, answer: &'static str) -> Scenario {
        let prompt = scripted_prompt(&[
            vec![Block::shell("echo asked > asked.txt")],
            vec![Block::text("Done.")],
        ]);
        let steps = [
            new_session(),
            vec![
                say_prompt(PROMPT, &prompt),
                Step::Await(json!({"method": "session/request_permission"})),
                Step::Choose(answer),
                Step::Await(json!({"id": PROMPT, "result": {}})),
            ],
        ];
        let run = Run::bare(self.asking, Input::Steps).step(steps.concat());
        let scenario = Scenario::of(self.agent, name, what, run);
        match self.asking_settings {
            Some((path, settings)) => scenario.file(path, settings),
            None => scenario,
        }
    }

    fn permissions(&self) -> Vec<Scenario> {
        vec![
            self.permission(
                "acp_allow",
                "a command that is asked for and allowed",
                "allow_once",
            ),
            self.permission(
                "acp_deny",
                "a command that is asked for and denied",
                "reject_once",
            ),
        ]
    }

    fn ends(&self) -> Vec<Scenario> {
        let failed = |name, what, scenario: &str| {
            let steps = vec![
                say_prompt(PROMPT, &format!("SCENARIO:{scenario}")),
                Step::Await(json!({"id": PROMPT, self.failed_prompt: {}})),
            ];
            self.scenario(name, what, [new_session(), steps].concat())
        };
        let in_command = scripted_prompt(&[vec![
            Block::text("This takes a while."),
            Block::shell("touch started; while :; do sleep 1; done"),
        ]]);
        let cancelled = |prompt: &str, reached: Step| {
            let steps = vec![
                say_prompt(PROMPT, prompt),
                reached,
                Step::Answer(in_session(
                    None,
                    "session/cancel",
                    r#"{"sessionId":"${/result/sessionId}"}"#,
                )),
                Step::Await(json!({"id": PROMPT, "result": {}})),
            ];
            [new_session(), steps].concat()
        };
        let load = |session: &str| {
            let parameters = json!({"sessionId": session, "cwd": DIRECTORY, "mcpServers": []});
            vec![
                initialize(),
                answered(INITIALIZE),
                request(SESSION, "session/load", &parameters),
            ]
        };
        let loaded = [
            load(SESSION_BEFORE),
            vec![
                answered(SESSION),
                request(
                    PROMPT,
                    "session/prompt",
                    &json!({"sessionId": SESSION_BEFORE, "prompt": [{"type": "text", "text": "SCENARIO:plain again"}]}),
                ),
                answered(PROMPT),
            ],
        ];
        let first = self.run([new_session(), ask(PROMPT, "SCENARIO:plain")].concat());
        vec![
            failed("acp_err400", "HTTP 400", "err400"),
            failed("acp_err401", "HTTP 401", "err401"),
            self.scenario(
                "acp_cancel_tool",
                "cancelled while a command runs",
                cancelled(&in_command, Step::AwaitFile("started")),
            ),
            self.scenario(
                "acp_cancel_text",
                "cancelled while the answer streams",
                cancelled("SCENARIO:gate:end", Step::AwaitGate("end")),
            ),
            self.scenario(
                "acp_load",
                "a session that is loaded and continued",
                loaded.concat(),
            )
            .after(first),
            self.scenario(
                "acp_load_unknown",
                "a session that does not exist",
                [
                    load("00000000-0000-4000-8000-0000000f0001"),
                    vec![Step::Await(json!({"id": SESSION, "error": {}}))],
                ]
                .concat(),
            ),
        ]
    }
}

fn new_session() -> Vec<Step> {
    vec![
        initialize(),
        answered(INITIALIZE),
        request(
            SESSION,
            "session/new",
            &json!({"cwd": DIRECTORY, "mcpServers": []}),
        ),
        answered(SESSION),
        // Prompts name the session of this answer.
        Step::Keep,
    ]
}

fn initialize() -> Step {
    request(
        INITIALIZE,
        "initialize",
        &json!({"protocolVersion": 1,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
            "clientInfo": {"name": "ralph", "title": "ralph", "version": "0.0.0"}}),
    )
}

fn request(id: u64, method: &str, parameters: &Value) -> Step {
    Step::Send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))
}

fn answered(id: u64) -> Step {
    Step::Await(json!({"id": id, "result": {}}))
}

fn ask(id: u64, prompt: &str) -> Vec<Step> {
    vec![say_prompt(id, prompt), answered(id)]
}

fn say_prompt(id: u64, prompt: &str) -> Step {
    let parameters = format!(
        r#"{{"sessionId":"${{/result/sessionId}}","prompt":[{{"type":"text","text":{}}}]}}"#,
        Value::from(prompt)
    );
    Step::Answer(in_session(Some(id), "session/prompt", &parameters))
}

/// A template for a request, or a notification where there is no id.
fn in_session(id: Option<u64>, method: &str, parameters: &str) -> String {
    let id = id.map_or_else(String::new, |id| format!(r#""id":{id},"#));
    format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{parameters}}}"#)
}
