//! Tools, background work, subagents, hooks, MCP.

use super::all::{MCP_SERVER, OLDER};
use crate::scenario::{Run, Scenario, bash};
use serde_json::json;
use test_support::fake_model::{Block, scripted_prompt};

pub(super) fn scenarios() -> Vec<Scenario> {
    [
        built_in(),
        background_and_lists(),
        subagents(),
        hooks(),
        servers(),
    ]
    .concat()
}

fn built_in() -> Vec<Scenario> {
    let plain = Scenario::plain;
    let steps: Vec<Vec<Block>> = (0..12)
        .map(|step| {
            vec![
                Block::text(format!("Step {step}.")),
                bash(&format!("echo step {step}")),
            ]
        })
        .collect();
    vec![
        plain("tool_bash", "Bash", "bash").also_in(&OLDER),
        plain("tool_bash_fail", "Bash exits with 3", "bashfail").also_in(&OLDER),
        plain("tool_read", "Read", "read"),
        plain("tool_read_missing", "Read of a missing file", "readmissing"),
        plain("tool_read_image", "Read of an image", "readimage"),
        plain("tool_write", "Write of a new file", "write"),
        plain("tool_write_overwrite", "Read, then Write over it", "overwrite"),
        plain("tool_edit", "Read, then Edit", "edit").also_in(&OLDER),
        plain("tool_edit_all", "Edit with replace_all", "multiedit"),
        plain("tool_edit_fail", "Edit of a file that was not read", "editfail"),
        plain("tool_notebook_edit", "NotebookEdit", "notebook"),
        plain("tool_glob_grep", "Glob and Grep", "globgrep").also_in(&OLDER),
        plain("tool_parallel", "three tools at once, one fails", "parallel").also_in(&OLDER),
        plain("tool_unknown", "a tool that does not exist", "unknowntool"),
        plain(
            "tool_bad_input",
            "a tool call without what the tool needs",
            "badinput",
        ),
        plain("tool_bad_json", "a tool call whose JSON is cut off", "badjson"),
        plain("tool_big_bash", "Bash prints 2 MB", "big"),
        plain("tool_big_read", "Read of 2 MB", "bigread"),
        // Without the setting the CLI first asks its vendor whether the page is harmless.
        plain(
            "tool_web_fetch",
            "WebFetch of a loopback page, which fails: the CLI insists on TLS",
            "webfetch",
        )
        .flag(r#"--settings={"skipWebFetchPreflight":true}"#),
        plain("tool_web_search", "WebSearch", "websearch"),
        plain(
            "tool_search",
            "ToolSearch for deferred tools",
            "toolsearch:select:Monitor,CronList",
        ),
        plain("tool_use_summaries", "summaries of tool calls", "bash")
            .variable("CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES", "1"),
        Scenario::scripted(
            "tool_progress",
            "the heartbeat of a command that takes 32 s",
            &[vec![bash("echo begin; sleep 32; echo end")]],
        ),
        Scenario::scripted("many_turns", "twelve tool calls", &steps),
        Scenario::scripted(
            "tool_skill",
            "a skill of the project",
            &[vec![Block::tool("Skill", json!({"skill": "demo"}))]],
        )
        .file(
            ".claude/skills/demo/SKILL.md",
            "---\nname: demo\ndescription: A demo\n---\nSay demo.\n",
        ),
        plain("ask_headless", "AskUserQuestion without anybody to ask", "ask").also_in(&["2.1.83"]),
        plain(
            "exit_plan_headless",
            "ExitPlanMode without anybody to ask",
            "exitplan",
        ),
    ]
}

fn background_and_lists() -> Vec<Scenario> {
    let plain = Scenario::plain;
    vec![
        plain(
            "tool_bash_timeout",
            "Bash over its timeout goes on in the background: two results",
            "bashtimeout",
        ),
        plain(
            "tool_bash_background",
            "Bash in the background: two results",
            "bashbg",
        ),
        plain(
            "tool_bash_stopped",
            "Bash in the background, stopped by the model",
            "killshell",
        ),
        plain("todo_headless", "lists of tasks are not offered", "todo"),
        plain("todo_write", "TodoWrite", "todotool")
            .variable("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")
            .variable("CLAUDE_CODE_ENABLE_TASKS", "0")
            .also_in(&OLDER),
        plain("task_list", "TaskCreate, TaskUpdate, TaskList", "todo")
            .variable("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")
            .variable("CLAUDE_CODE_ENABLE_TASKS", "1"),
    ]
}

fn subagents() -> Vec<Scenario> {
    let plain = Scenario::plain;
    let review = json!({"description": "Custom", "prompt": "SCENARIO:subbash custom", "subagent_type": "reviewer", "run_in_background": false});
    vec![
        plain("subagent", "a subagent", "subagent").also_in(&OLDER),
        plain("subagent_forward_text", "--forward-subagent-text", "subagent").flag("--forward-subagent-text"),
        plain("subagent_parallel", "two subagents at once", "subagent2"),
        plain(
            "subagent_background",
            "a subagent in the background",
            "subagent:bg",
        ),
        plain("subagent_error", "a subagent that gets HTTP 400", "suberr"),
        plain(
            "subagent_unknown",
            "a subagent of a type that does not exist",
            "subbad",
        ),
        Scenario::scripted("agents_flag", "--agents", &[vec![Block::tool("Agent", review)]])
            .flag(r#"--agents={"reviewer":{"description":"Reviews","prompt":"You review."}}"#),
    ]
}

fn hooks() -> Vec<Scenario> {
    let four = r#"--settings={"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo started"}]}],"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo before"}]}],"PostToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo after >&2"}]}],"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}"#;
    let before = |command: &str| {
        let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}});
        format!("--settings={hooks}")
    };
    let decide = |decision: &str| {
        let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "by hook"}});
        format!("if [ -f go ]; then exit 0; fi; echo '{output}'")
    };
    let stop_once = r#"--settings={"hooks":{"Stop":[{"hooks":[{"type":"command","command":"if [ -f once ]; then exit 0; fi; touch once; echo go on >&2; exit 2"}]}]}}"#;
    let no_prompt = r#"--settings={"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo not allowed >&2; exit 2"}]}]}}"#;
    let call = [
        vec![Block::text("I will run it."), bash("touch made.txt")],
        vec![Block::text("Made it.")],
    ];
    let session = "00000000-0000-4000-8000-0000000d0001";
    let deferring = Run::prompt(scripted_prompt(&call))
        .flag(before(&decide("defer")))
        .flag(format!("--session-id={session}"));
    let go = Run::prompt("SCENARIO:bash:touch${IFS}go");
    let resumed = Scenario::command(
        "hook_deferred_resume",
        "--resume without a prompt runs the tool that was deferred",
        &[
            "-p",
            "--output-format=stream-json",
            "--verbose",
            "--dangerously-skip-permissions",
        ],
        "",
    )
    .after(deferring)
    .after(go)
    .flag(before(&decide("defer")))
    .flag(format!("--resume={session}"));
    vec![
        Scenario::plain("hooks_default", "hooks; only SessionStart shows", "bash").flag(four),
        Scenario::plain("hooks_events", "hooks, --include-hook-events", "bash")
            .flag(four)
            .flag("--include-hook-events"),
        Scenario::plain("hook_block", "PreToolUse exits with 2", "bash")
            .flag(before("echo blocked by policy >&2; exit 2"))
            .flag("--include-hook-events"),
        Scenario::scripted("hook_deny", "PreToolUse answers deny", &call).flag(before(&decide("deny"))),
        Scenario::scripted("hook_deferred", "PreToolUse answers defer", &call).flag(before(&decide("defer"))),
        resumed,
        Scenario::plain(
            "hook_stop_block",
            "Stop exits with 2 once: the model goes on",
            "plain",
        )
        .flag(stop_once),
        Scenario::plain("hook_prompt_block", "UserPromptSubmit exits with 2", "plain").flag(no_prompt),
    ]
}

fn servers() -> Vec<Scenario> {
    let config = |servers: serde_json::Value| format!("--mcp-config={}", json!({"mcpServers": servers}));
    let fixture = || json!({"command": MCP_SERVER});
    let write = Block::tool("Write", json!({"file_path": "{cwd}/a.txt", "content": "x\n"}));
    vec![
        Scenario::plain("mcp_tool", "a tool of an MCP server", "mcp")
            .flag(config(json!({"fixture": fixture()}))),
        Scenario::scripted(
            "mcp_tool_fail",
            "a tool of an MCP server that fails",
            &[vec![Block::tool("mcp__fixture__fail", json!({}))]],
        )
        .flag(config(json!({"fixture": fixture()}))),
        Scenario::plain("mcp_big", "a tool of an MCP server returns 2 MB", "bigmcp")
            .flag(config(json!({"fixture": fixture()}))),
        Scenario::plain(
            "mcp_server_broken",
            "an MCP server that cannot be started",
            "plain",
        )
        .flag(config(
            json!({"broken": {"command": "/nonexistent/mcp"}, "fixture": fixture()}),
        )),
        Scenario::scripted(
            "mcp_permission_tool",
            "permissions granted by an MCP tool",
            &[vec![write]],
        )
        .asking()
        .flag(config(json!({"fixture": fixture()})))
        .flag("--permission-prompt-tool=mcp__fixture__approve"),
    ]
}
