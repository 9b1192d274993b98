//! Qwen Code: `qwen -o stream-json`, the prompt by stdin.

use crate::scenario::{Input, Run, Scenario, Step, turn_ends, user};
use serde_json::json;
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::Agent;
use test_support::script::Signal;

const SESSION: &str = "00000000-0000-4000-8000-0000000e0001";
const WITH_TODOS: &str = r#"{"tools": {"todoWrite": {"enabled": true}}}"#;
const SETTINGS: &str = r#"{"mcpServers": {"fixture": {"command": "/opt/fake_mcp"}}}"#;

pub(super) fn scenarios() -> Vec<Scenario> {
    [answers_and_tools(), faults(), sessions_and_ends()].concat()
}

fn run(prompt: impl Into<String>) -> Run {
    Run::bare(&["-o", "stream-json", "-y"], Input::Text(prompt.into()))
}

fn plain(name: &'static str, what: &'static str, scenario: &str) -> Scenario {
    Scenario::of(Agent::Qwen, name, what, run(format!("SCENARIO:{scenario}")))
}

fn scripted(name: &'static str, what: &'static str, steps: &[Vec<Block>]) -> Scenario {
    Scenario::of(Agent::Qwen, name, what, run(scripted_prompt(steps)))
}

fn shell(command: &str) -> Block {
    Block::tool(
        "run_shell_command",
        json!({"command": command, "description": "A command", "is_background": false}),
    )
}

fn with_command() -> [Vec<Block>; 2] {
    [
        vec![
            Block::thinking("A command will do."),
            Block::text("I run a command."),
            shell("echo hello && echo err >&2"),
        ],
        vec![Block::text("Done.")],
    ]
}

fn answers_and_tools() -> Vec<Scenario> {
    let done = || vec![Block::text("Done.")];
    vec![
        plain("text", "an answer", "plain"),
        plain("unicode", "an answer with all kinds of characters", "unicode"),
        scripted("shell", "thoughts, text and a command", &with_command()),
        scripted(
            "shellfail",
            "a command that fails",
            &[vec![shell("echo bad >&2; exit 3")], done()],
        ),
        scripted(
            "edit",
            "a file written and changed",
            &[
                vec![Block::tool(
                    "write_file",
                    json!({"file_path": "{cwd}/notes.txt", "content": "alpha\nbeta\n"}),
                )],
                vec![Block::tool(
                    "edit",
                    json!({"file_path": "{cwd}/notes.txt", "old_string": "beta", "new_string": "gamma"}),
                )],
                done(),
            ],
        ),
        scripted(
            "para",
            "two commands at once",
            &[vec![shell("echo one"), shell("echo two")], done()],
        ),
        scripted(
            "mcp",
            "a tool of an MCP server",
            &[
                vec![Block::tool("mcp__fixture__echo", json!({"text": "hi"}))],
                done(),
            ],
        )
        .file(".qwen/settings.json", SETTINGS),
        scripted(
            "todo",
            "a list of tasks",
            &[
                vec![Block::tool(
                    "todo_write",
                    json!({"todos": [{"id": "1", "content": "Inspect", "status": "completed"},
                    {"id": "2", "content": "Fix", "status": "in_progress"}]}),
                )],
                done(),
            ],
        )
        .file(".qwen/settings.json", WITH_TODOS),
        scripted("partials", "the same with partial messages", &with_command()).partial(),
    ]
}

fn faults() -> Vec<Scenario> {
    vec![
        plain("err400", "HTTP 400", "err400"),
        plain("err401", "HTTP 401", "err401"),
        plain(
            "early_end",
            "the stream ends after some text, always",
            "alwaysendsearly",
        ),
        plain(
            "err429",
            "HTTP 429, to be retried in a minute, then ended by SIGKILL",
            "err429",
        )
        .step([
            Step::Await(json!({"type": "system", "subtype": "retry"})),
            Step::SignalGroup(Signal::Kill),
        ]),
        plain("err500", "HTTP 500, retried, then ended by SIGKILL", "err500")
            .step([Step::AwaitRequests(2), Step::SignalGroup(Signal::Kill)]),
        plain(
            "midcut",
            "the connection is cut after some text, always",
            "alwayscut",
        ),
        plain(
            "midcut_once",
            "the connection is cut after some text, then success",
            "midstreamcut",
        ),
        plain("bad_flag", "an option that does not exist", "plain").flag("--nope"),
        scripted("max_turns", "a limit of turns: no result", &with_command())
            .flags(&["--max-session-turns", "1"]),
    ]
}

fn sessions_and_ends() -> Vec<Scenario> {
    let scenario = |name, what, run| Scenario::of(Agent::Qwen, name, what, run);
    let in_command = |last: Step| {
        run(scripted_prompt(&[
            vec![
                Block::text("This takes a while."),
                shell("touch started; sleep 10"),
            ],
            vec![Block::text("Done.")],
        ]))
        .step([Step::AwaitFile("started"), last])
    };
    let dialogue = Run::bare(
        &["-o", "stream-json", "-y", "--input-format", "stream-json"],
        Input::Steps,
    );
    vec![
        scenario(
            "resume",
            "resumed: the usage goes on counting",
            run("SCENARIO:plain again"),
        )
        .flags(&["--resume", SESSION])
        .after(run("SCENARIO:plain").flags(&["--session-id", SESSION])),
        scenario(
            "input_stream_json",
            "two messages by stdin",
            dialogue.step([
                user("SCENARIO:plain"),
                turn_ends(),
                user("SCENARIO:unicode"),
                turn_ends(),
            ]),
        ),
        scenario(
            "kill_int_group",
            "SIGINT to both processes while a command runs",
            in_command(Step::SignalGroup(Signal::Interrupt)),
        ),
        scenario(
            "kill_term_group",
            "SIGTERM to both processes while a command runs",
            in_command(Step::SignalGroup(Signal::Terminate)),
        ),
    ]
}
