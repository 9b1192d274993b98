//! Gemini CLI: `gemini -o stream-json`, the prompt by stdin.

use crate::scenario::{Input, Run, Scenario, Step};
use serde_json::json;
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::Agent;
use test_support::script::Signal;

const SESSION: &str = "00000000-0000-4000-8000-0000000d0001";
const SETTINGS: &str = r#"{"mcpServers": {"fixture": {"command": "/opt/fake_mcp"}}}"#;

pub(super) fn scenarios() -> Vec<Scenario> {
    [answers_and_tools(), faults(), sessions_and_ends()].concat()
}

fn run(prompt: impl Into<String>) -> Run {
    Run::bare(
        &[
            "-o",
            "stream-json",
            "-m",
            "gemini-2.5-pro",
            "--approval-mode",
            "yolo",
        ],
        Input::Text(prompt.into()),
    )
}

fn plain(name: &'static str, what: &'static str, scenario: &str) -> Scenario {
    Scenario::of(Agent::Gemini, name, what, run(format!("SCENARIO:{scenario}")))
}

fn scripted(name: &'static str, what: &'static str, steps: &[Vec<Block>]) -> Scenario {
    Scenario::of(Agent::Gemini, name, what, run(scripted_prompt(steps)))
}

fn shell(command: &str) -> Block {
    Block::tool(
        "run_shell_command",
        json!({"command": command, "description": "A command"}),
    )
}

fn answers_and_tools() -> Vec<Scenario> {
    let done = || vec![Block::text("Done.")];
    let todos = |second: &str, third: &str| {
        Block::tool(
            "write_todos",
            json!({"todos": [{"description": "Inspect", "status": "completed"},
                {"description": "Fix", "status": second}, {"description": "Test", "status": third}]}),
        )
    };
    vec![
        plain("text", "an answer", "plain"),
        plain("unicode", "an answer with all kinds of characters", "unicode"),
        scripted(
            "thinking",
            "thoughts, which are not shown, then an answer",
            &[vec![
                Block::thinking("**Greeting** I should greet."),
                Block::text("Hello after some thought."),
            ]],
        ),
        scripted(
            "shell",
            "a command",
            &[vec![shell("echo hello && echo err >&2")], done()],
        ),
        scripted(
            "shellfail",
            "a command that fails: a success",
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
                    "replace",
                    json!({"file_path": "{cwd}/notes.txt", "instruction": "change", "old_string": "beta", "new_string": "gamma"}),
                )],
                done(),
            ],
        ),
        scripted(
            "edit_fail",
            "a change that does not fit",
            &[
                vec![Block::tool(
                    "replace",
                    json!({"file_path": "{cwd}/hello.txt", "instruction": "change", "old_string": "no such line", "new_string": "x"}),
                )],
                done(),
            ],
        ),
        scripted(
            "multi",
            "text and tools by turns",
            &[
                vec![Block::text("First I look around."), shell("ls hello.txt")],
                vec![
                    Block::text("Then I read."),
                    Block::tool("read_file", json!({"file_path": "{cwd}/hello.txt"})),
                ],
                vec![Block::text("All done.")],
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
                vec![Block::tool("mcp_fixture_echo", json!({"text": "hi"}))],
                done(),
            ],
        )
        .file(".gemini/settings.json", SETTINGS),
        scripted(
            "todo",
            "a list that moves on",
            &[
                vec![todos("in_progress", "pending")],
                vec![todos("completed", "completed")],
                done(),
            ],
        ),
        scripted(
            "unknowntool",
            "a tool that does not exist",
            &[vec![Block::tool("no_such_tool", json!({"x": 1}))], done()],
        ),
    ]
}

fn faults() -> Vec<Scenario> {
    vec![
        plain("err400", "HTTP 400", "err400"),
        plain("err401", "HTTP 401", "err401"),
        plain(
            "err429",
            "HTTP 429, retried in silence, then ended by SIGKILL",
            "err429",
        )
        .step([Step::AwaitRequests(2), Step::SignalGroup(Signal::Kill)]),
        plain(
            "err500",
            "HTTP 500, retried in silence, then ended by SIGKILL",
            "err500",
        )
        .step([Step::AwaitRequests(2), Step::SignalGroup(Signal::Kill)]),
        plain(
            "midcut",
            "the stream ends after some text, always: the text is repeated",
            "alwaysendsearly",
        ),
        plain(
            "midcut_once",
            "the stream ends after some text, then success: the text stays",
            "endsearly",
        ),
        plain(
            "drop",
            "the connection is cut after some text: not tried again",
            "alwayscut",
        ),
        plain("untrusted", "a folder that is not trusted", "plain")
            .variable("GEMINI_CLI_TRUST_WORKSPACE", "false"),
        plain("no_key", "no key", "plain").without_variable("GEMINI_API_KEY"),
        plain("bad_flag", "an option that does not exist", "plain").flag("--nope"),
    ]
}

fn sessions_and_ends() -> Vec<Scenario> {
    let scenario = |name, what, run| Scenario::of(Agent::Gemini, name, what, run);
    let in_command = |steps: [Step; 2]| {
        run(scripted_prompt(&[
            vec![
                Block::text("This takes a while."),
                shell("touch started; sleep 10"),
            ],
            vec![Block::text("Done.")],
        ]))
        .step(steps)
    };
    let interrupt = || [Step::AwaitFile("started"), Step::Signal(Signal::Interrupt)];
    vec![
        scenario(
            "session",
            "a session with an id of our own",
            run("SCENARIO:plain"),
        )
        .flags(&["--session-id", SESSION]),
        scenario(
            "resume",
            "resumed: the usage is of this run",
            run("SCENARIO:plain again"),
        )
        .flags(&["-r", SESSION])
        .after(run("SCENARIO:plain").flags(&["--session-id", SESSION])),
        scenario("kill_int", "SIGINT while a command runs", in_command(interrupt()))
            .variable("GEMINI_CLI_NO_RELAUNCH", "true"),
        scenario(
            "kill_int_wrapped",
            "SIGINT to the first of two processes: nothing ends",
            in_command(interrupt()),
        ),
        scenario(
            "kill_term_group",
            "SIGTERM to both processes while a command runs",
            in_command([Step::AwaitFile("started"), Step::SignalGroup(Signal::Terminate)]),
        ),
    ]
}
