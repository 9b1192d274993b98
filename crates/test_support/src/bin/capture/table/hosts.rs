//! Conversations with a host that is asked: permissions, questions, plans, hooks, tools.

use super::all::RECENT;
use crate::scenario::{Scenario, Step, answer, answered, asked, bash, control, turn_ends, user};
use serde_json::json;
use test_support::fake_model::{Block, scripted_prompt};

pub(super) fn scenarios() -> Vec<Scenario> {
    [permissions(), questions(), callbacks()].concat()
}

fn permissions() -> Vec<Scenario> {
    let touch = || {
        user(&scripted_prompt(&[
            vec![bash("touch x")],
            vec![Block::text("Understood.")],
        ]))
    };
    let twice = user(&scripted_prompt(&[
        vec![bash("mkdir a")],
        vec![bash("mkdir b")],
        vec![Block::text("Done.")],
    ]));
    let permission = || asked("can_use_tool");
    let rule = r#"{"behavior":"allow","updatedInput":${/request/input},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"mkdir:*"}],"behavior":"allow","destination":"session"}]}"#;
    let error = r#"{"type":"control_response","response":{"subtype":"error","request_id":"${/request_id}","error":"the host failed"}}"#;
    let allow = r#"{"behavior":"allow","updatedInput":${/request/input}}"#;
    vec![
        Scenario::hosted(
            "io_permission_allow",
            "allowed",
            [touch(), permission(), answer(allow), turn_ends()],
        )
        .also_in(&RECENT),
        Scenario::hosted(
            "io_permission_change",
            "allowed with another input",
            [
                touch(),
                permission(),
                answer(
                    r#"{"behavior":"allow","updatedInput":{"command":"echo changed","description":"Changed"}}"#,
                ),
                turn_ends(),
            ],
        ),
        Scenario::hosted(
            "io_permission_rule",
            "allowed with a rule: the second command is not asked for",
            [twice, permission(), answer(rule), turn_ends()],
        ),
        Scenario::hosted(
            "io_permission_deny",
            "denied",
            [
                touch(),
                permission(),
                answer(r#"{"behavior":"deny","message":"Not now."}"#),
                turn_ends(),
            ],
        )
        .also_in(&RECENT),
        Scenario::hosted(
            "io_permission_deny_interrupt",
            "denied and interrupted",
            [
                touch(),
                permission(),
                answer(r#"{"behavior":"deny","message":"Stop.","interrupt":true}"#),
                turn_ends(),
            ],
        ),
        Scenario::hosted(
            "io_permission_error",
            "answered with an error",
            [touch(), permission(), Step::Answer(error.to_owned()), turn_ends()],
        ),
        Scenario::hosted(
            "io_permission_unanswered",
            "stdin ends instead of an answer",
            [touch(), permission(), Step::Close],
        ),
        Scenario::hosted(
            "io_permission_interrupt",
            "interrupted instead of an answer",
            [
                touch(),
                permission(),
                control("i1", json!({"subtype": "interrupt"})),
                turn_ends(),
            ],
        ),
    ]
}

fn questions() -> Vec<Scenario> {
    let question = || asked("can_use_tool");
    let blue = r#"{"behavior":"allow","updatedInput":{"questions":${/request/input/questions},"answers":{"Which color should the button be?":"Blue"}}}"#;
    vec![
        Scenario::hosted(
            "io_question",
            "AskUserQuestion answered",
            [user("SCENARIO:ask"), question(), answer(blue), turn_ends()],
        ),
        Scenario::dialogue(
            "io_question_bypass",
            "AskUserQuestion is asked even where everything is allowed",
            [user("SCENARIO:ask"), question(), answer(blue), turn_ends()],
        )
        .flag("--permission-prompt-tool=stdio"),
        Scenario::hosted(
            "io_question_deny",
            "AskUserQuestion denied",
            [
                user("SCENARIO:ask"),
                question(),
                answer(r#"{"behavior":"deny","message":"Nobody is available, decide yourself."}"#),
                turn_ends(),
            ],
        ),
        Scenario::hosted(
            "io_plan",
            "ExitPlanMode approved",
            [
                user("SCENARIO:exitplan"),
                question(),
                answer(r#"{"behavior":"allow","updatedInput":${/request/input}}"#),
                turn_ends(),
            ],
        )
        .flag("--permission-mode=plan"),
        Scenario::hosted(
            "io_tasks",
            "lists of tasks, which a host gets",
            [user("SCENARIO:todo"), turn_ends()],
        ),
    ]
}

fn callbacks() -> Vec<Scenario> {
    let hooks = json!({"subtype": "initialize", "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["before"]}],
        "PostToolUse": [{"matcher": null, "hookCallbackIds": ["after"]}],
        "Stop": [{"matcher": null, "hookCallbackIds": ["stop"]}],
        "UserPromptSubmit": [{"matcher": null, "hookCallbackIds": ["prompt"]}],
    }});
    let go_on = || answer(r#"{"continue":true}"#);
    let allow = answer(
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"by the host"}}"#,
    );
    let hook = || asked("hook_callback");
    let call = |id: u32, result: &str| {
        answer(&format!(
            r#"{{"mcp_response":{{"jsonrpc":"2.0","id":{id},"result":{result}}}}}"#
        ))
    };
    let message = |method: &str| {
        Step::Await(
            json!({"type": "control_request", "request": {"subtype": "mcp_message", "message": {"method": method}}}),
        )
    };
    let hello = scripted_prompt(&[
        vec![Block::tool("mcp__host__hello", json!({"name": "ralph"}))],
        vec![Block::text("Done.")],
    ]);
    vec![
        Scenario::dialogue(
            "io_hooks",
            "hooks that the host answers",
            [
                control("i0", hooks),
                answered("i0"),
                user("SCENARIO:bash"),
                hook(),
                go_on(),
                hook(),
                allow,
                hook(),
                go_on(),
                hook(),
                go_on(),
                turn_ends(),
            ],
        ),
        Scenario::dialogue(
            "io_host_tools",
            "an MCP server inside the host",
            [
                control("i0", json!({"subtype": "initialize", "sdkMcpServers": ["host"]})),
                user(&hello),
                message("initialize"),
                call(
                    0,
                    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"host","version":"1"}}"#,
                ),
                message("notifications/initialized"),
                call(0, "{}"),
                message("tools/list"),
                call(
                    1,
                    r#"{"tools":[{"name":"hello","description":"Say hello","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}}]}"#,
                ),
                message("tools/call"),
                call(2, r#"{"content":[{"type":"text","text":"hello ralph"}]}"#),
                turn_ends(),
            ],
        ),
    ]
}
