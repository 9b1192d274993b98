//! Codex: `codex exec --json`, the prompt by stdin.

use super::all::{MCP_SERVER, SESSION_BEFORE};
use crate::scenario::{Input, Run, Scenario, Step};
use serde_json::json;
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::Agent;
use test_support::script::Signal;

const BYPASS: &str = "--dangerously-bypass-approvals-and-sandbox";

pub(super) fn scenarios() -> Vec<Scenario> {
    [answers(), tools(), faults(), sessions(), ends()].concat()
}

fn exec(prompt: impl Into<String>) -> Run {
    Run::bare(
        &["exec", "--json", "--skip-git-repo-check"],
        Input::Text(prompt.into()),
    )
}

/// All permissions given; the prompt's place is last.
fn run(prompt: impl Into<String>) -> Run {
    exec(prompt).flags(&[BYPASS, "-"])
}

fn plain(name: &'static str, what: &'static str, scenario: &str) -> Scenario {
    Scenario::of(Agent::Codex, name, what, run(format!("SCENARIO:{scenario}")))
}

fn scripted(name: &'static str, what: &'static str, steps: &[Vec<Block>]) -> Scenario {
    Scenario::of(Agent::Codex, name, what, run(scripted_prompt(steps)))
}

fn shell(command: &str) -> Block {
    Block::tool("exec_command", json!({"cmd": command, "yield_time_ms": 30_000}))
}

fn patch(patch: &str) -> Block {
    Block::tool(
        "apply_patch",
        json!({"input": format!("*** Begin Patch\n{patch}*** End Patch\n")}),
    )
}

fn answers() -> Vec<Scenario> {
    vec![
        plain("text", "an answer", "plain"),
        plain("unicode", "an answer with all kinds of characters", "unicode"),
        scripted(
            "reasoning",
            "a summary of thoughts, then an answer",
            &[vec![
                Block::thinking("**Greeting** I should greet."),
                Block::text("Hello after some thought."),
            ]],
        ),
        plain("warning", "a warning that looks like an error", "plain").flags(&["-m", "scripted-model"]),
    ]
}

fn tools() -> Vec<Scenario> {
    let done = || vec![Block::text("Done.")];
    let plan = |second: &str, third: &str| {
        Block::tool(
            "update_plan",
            json!({"plan": [{"step": "Inspect", "status": "completed"}, {"step": "Fix", "status": second},
                {"step": "Test", "status": third}]}),
        )
    };
    let search = Block::ServerToolUse {
        id: "ws_1".to_owned(),
        name: "web_search".to_owned(),
        input: json!({"query": "rust async"}),
    };
    vec![
        scripted(
            "shell",
            "a command",
            &[
                vec![
                    Block::text("I run a command."),
                    shell("echo hello && echo err >&2"),
                ],
                done(),
            ],
        ),
        scripted(
            "shell_fail",
            "a command that fails",
            &[vec![shell("echo bad >&2; exit 3")], done()],
        ),
        scripted(
            "parallel",
            "two commands at once",
            &[vec![shell("echo one"), shell("echo two")], done()],
        ),
        scripted(
            "edit",
            "files added, changed and deleted",
            &[
                vec![patch("*** Add File: notes.txt\n+alpha\n+beta\n")],
                vec![patch("*** Update File: notes.txt\n@@\n alpha\n-beta\n+gamma\n")],
                vec![patch("*** Delete File: many.txt\n")],
                done(),
            ],
        ),
        scripted(
            "edit_fail",
            "a patch that does not fit",
            &[
                vec![patch("*** Update File: hello.txt\n@@\n-no such line\n+x\n")],
                done(),
            ],
        ),
        scripted(
            "todo",
            "a plan that moves on",
            &[
                vec![plan("in_progress", "pending")],
                vec![plan("completed", "completed")],
                done(),
            ],
        )
        .flags(&["-c", "tools.update_plan.enabled=true"]),
        scripted(
            "websearch",
            "a search by the API, with a key twice in one object",
            &[vec![search, Block::text("Found it.")]],
        ),
        mcp("mcp", "a tool of an MCP server", "echo", json!({"text": "hi"})),
        mcp(
            "mcp_fail",
            "a tool of an MCP server that fails",
            "fail",
            json!({}),
        ),
        plain("collab", "another agent is started and waited for", "collab").flags(&["-m", "scripted-model"]),
        scripted(
            "unknowntool",
            "a tool that does not exist: nothing is said about it",
            &[vec![Block::tool("no_such_tool", json!({"x": 1}))], done()],
        ),
        Scenario::of(
            Agent::Codex,
            "sandbox_readonly",
            "a patch in a sandbox that may not write: nothing is said about it",
            exec(scripted_prompt(&[
                vec![patch("*** Add File: notes.txt\n+alpha\n")],
                done(),
            ]))
            .flags(&["-s", "read-only", "-"]),
        ),
    ]
}

fn mcp(name: &'static str, what: &'static str, tool: &str, input: serde_json::Value) -> Scenario {
    scripted(
        name,
        what,
        &[vec![Block::tool(tool, input)], vec![Block::text("Done.")]],
    )
    // Known models must search for such tools first.
    .flags(&["-m", "scripted-model"])
    .flags(&["-c", &format!("mcp_servers.fixture.command=\"{MCP_SERVER}\"")])
}

fn faults() -> Vec<Scenario> {
    vec![
        plain("err400", "HTTP 400", "err400"),
        plain("err401", "HTTP 401", "err401"),
        plain("err429", "HTTP 429, retried", "err429"),
        plain("err500", "HTTP 500, retried", "err500"),
        plain("err500_once", "HTTP 500 three times, then success", "flaky:500x3"),
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
        plain(
            "early_end",
            "the stream ends after some text, always",
            "alwaysendsearly",
        ),
        plain("no_key", "no key", "plain").without_variable("OPENAI_API_KEY"),
        Scenario::of(Agent::Codex, "no_prompt", "nothing to do", run("")),
        Scenario::of(
            Agent::Codex,
            "no_git",
            "not in a Git repository",
            Run::bare(&["exec", "--json", "-"], Input::Text("SCENARIO:plain".to_owned())),
        ),
        Scenario::of(
            Agent::Codex,
            "bad_flag",
            "an option that does not exist",
            run("x").flags(&["--nope"]),
        ),
    ]
}

fn sessions() -> Vec<Scenario> {
    let again = |verb: &str, id: &str| {
        Run::bare(
            &["exec", verb, "--json", "--skip-git-repo-check", BYPASS, id, "-"],
            Input::Text("SCENARIO:plain again".to_owned()),
        )
    };
    let first = || {
        run(scripted_prompt(&[
            vec![shell("echo first")],
            vec![Block::text("First.")],
        ]))
    };
    let scenario = |name, what, run| Scenario::of(Agent::Codex, name, what, run);
    vec![
        scenario(
            "resume",
            "resumed: the usage goes on counting",
            again("resume", SESSION_BEFORE),
        )
        .after(first()),
        scenario("resume_twice", "resumed twice", again("resume", SESSION_BEFORE))
            .after(first())
            .after(again("resume", SESSION_BEFORE)),
        scenario(
            "fork",
            "forked: the usage goes on counting",
            again("fork", SESSION_BEFORE),
        )
        .after(first()),
        scenario(
            "resume_after_term",
            "resumed after SIGTERM in a command",
            again("resume", SESSION_BEFORE),
        )
        .after(in_command(Signal::Terminate)),
        scenario(
            "resume_unknown",
            "a session that does not exist",
            again("resume", "00000000-0000-4000-8000-0000000c0001"),
        ),
    ]
}

fn in_command(signal: Signal) -> Run {
    run(scripted_prompt(&[
        vec![
            Block::text("This takes a while."),
            shell("touch started; sleep 10"),
        ],
        vec![Block::text("Done.")],
    ]))
    .step([
        Step::Await(json!({"type": "item.started"})),
        Step::AwaitFile("started"),
        Step::Signal(signal),
    ])
}

fn ends() -> Vec<Scenario> {
    let scenario = |name, what, run| Scenario::of(Agent::Codex, name, what, run);
    vec![
        scenario(
            "kill_int",
            "SIGINT while a command runs",
            in_command(Signal::Interrupt),
        ),
        scenario(
            "kill_term",
            "SIGTERM while a command runs",
            in_command(Signal::Terminate),
        ),
        scenario(
            "kill_int_text",
            "SIGINT while the answer streams",
            run("SCENARIO:gate:end").step([Step::AwaitGate("end"), Step::Signal(Signal::Interrupt)]),
        ),
    ]
}
