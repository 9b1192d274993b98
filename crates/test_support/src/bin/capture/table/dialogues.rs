//! Conversations over stdin, all permissions given.

use super::all::RECENT;
use crate::scenario::{Scenario, Step, answered, bash, control, turn_ends, user, user_with_id};
use serde_json::json;
use test_support::fake_model::{Block, scripted_prompt};

const FIRST: &str = "00000000-0000-4000-8000-0000000c0001";
const SECOND: &str = "00000000-0000-4000-8000-0000000c0002";
const THIRD: &str = "00000000-0000-4000-8000-0000000c0003";

pub(super) fn scenarios() -> Vec<Scenario> {
    [messages(), endings(), controls()].concat()
}

fn messages() -> Vec<Scenario> {
    let slow_tool = scripted_prompt(&[vec![bash("touch started; while [ ! -f go ]; do sleep 0.1; done")]]);
    let picture = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "text", "text": "SCENARIO:plain what is this?"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="}},
    ]}});
    vec![
        Scenario::dialogue(
            "io_turns",
            "three turns in one process",
            [
                user("SCENARIO:chat first"),
                turn_ends(),
                user("SCENARIO:chat second"),
                turn_ends(),
                user("SCENARIO:bash"),
                turn_ends(),
            ],
        )
        .also_in(&RECENT),
        Scenario::dialogue(
            "io_replay",
            "messages with ids, replayed, with partial messages",
            [
                user_with_id("SCENARIO:chat first", FIRST),
                turn_ends(),
                user_with_id("SCENARIO:chat second", SECOND),
                turn_ends(),
            ],
        )
        .flag("--replay-user-messages")
        .partial(),
        Scenario::dialogue(
            "io_queued",
            "two messages sent during a turn become one turn",
            [
                user_with_id("SCENARIO:gate:queue", FIRST),
                Step::AwaitGate("queue"),
                user_with_id("SCENARIO:chat second", SECOND),
                user_with_id("SCENARIO:chat third", THIRD),
                Step::Await(json!({"type": "command_lifecycle", "command_uuid": THIRD, "state": "queued"})),
                Step::OpenGate("queue"),
                turn_ends(),
                turn_ends(),
            ],
        )
        .flag("--replay-user-messages"),
        Scenario::dialogue(
            "io_message_in_tool",
            "a message sent while a tool runs belongs to that turn",
            [
                user_with_id(&slow_tool, FIRST),
                Step::AwaitFile("started"),
                user_with_id("please also note this", SECOND),
                Step::Await(json!({"type": "command_lifecycle", "command_uuid": SECOND, "state": "queued"})),
                Step::Touch("go"),
                turn_ends(),
            ],
        )
        .flag("--replay-user-messages"),
        Scenario::dialogue(
            "io_picture",
            "a message with an image",
            [Step::Send(picture), turn_ends()],
        ),
        Scenario::dialogue(
            "io_unknown_type",
            "a line of an unknown type is ignored",
            [
                Step::Send(json!({"type": "no_such_type", "x": 1})),
                user("SCENARIO:plain"),
                turn_ends(),
            ],
        ),
        Scenario::dialogue(
            "io_prompt_is_data",
            "client_composed: a leading slash is not a command",
            [
                Step::Send(
                    json!({"type": "user", "client_composed": true, "message": {"role": "user", "content": "/clear SCENARIO:chat"}}),
                ),
                turn_ends(),
            ],
        ),
        Scenario::dialogue(
            "io_compact",
            "/compact as a message",
            [
                user("SCENARIO:chat first"),
                turn_ends(),
                user("/compact"),
                turn_ends(),
                user("SCENARIO:chat"),
                turn_ends(),
            ],
        ),
    ]
}

fn endings() -> Vec<Scenario> {
    let background = Block::tool(
        "Bash",
        json!({"command": "sleep 2; echo done", "description": "Background", "run_in_background": true}),
    );
    let prompt = scripted_prompt(&[vec![background], vec![Block::text("Started.")]]);
    vec![
        Scenario::dialogue("io_end_at_once", "stdin ends without a message", [Step::Close]),
        Scenario::dialogue(
            "io_end_in_turn",
            "stdin ends during a turn",
            [user("SCENARIO:bash"), Step::Close],
        ),
        Scenario::dialogue(
            "io_garbage",
            "a line that is not JSON",
            [Step::SendText("this is not JSON"), Step::AwaitEnd],
        ),
        Scenario::dialogue(
            "io_no_role",
            "a message without a role",
            [
                Step::Send(json!({"type": "user", "message": {"content": "hello"}})),
                Step::AwaitEnd,
            ],
        ),
        Scenario::dialogue(
            "io_end_in_background",
            "stdin ends while a command runs in the background",
            [user(&prompt), turn_ends()],
        ),
        Scenario::dialogue(
            "io_end_session",
            "the request end_session",
            [
                user("SCENARIO:plain"),
                turn_ends(),
                control("e1", json!({"subtype": "end_session"})),
                Step::AwaitEnd,
            ],
        ),
    ]
}

fn controls() -> Vec<Scenario> {
    let requests = [
        json!({"subtype": "set_model", "model": "haiku"}),
        json!({"subtype": "set_permission_mode", "mode": "plan"}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 2000}),
        json!({"subtype": "mcp_status"}),
        json!({"subtype": "get_context_usage"}),
        json!({"subtype": "get_session_cost"}),
        json!({"subtype": "list_models"}),
        json!({"subtype": "get_binary_version"}),
        json!({"subtype": "get_settings"}),
        json!({"subtype": "get_usage"}),
        json!({"subtype": "list_permission_rules"}),
        json!({"subtype": "rename_session", "title": "New title"}),
        json!({"subtype": "no_such_request"}),
        json!({"subtype": "set_permission_mode", "mode": "no_such_mode"}),
        json!({"subtype": "interrupt"}),
    ];
    let mut all = vec![user("SCENARIO:plain"), turn_ends()];
    for (number, request) in requests.into_iter().enumerate() {
        let id = format!("c{number}");
        all.extend([control(&id, request), answered(&id)]);
    }
    all.extend([user("SCENARIO:plain again"), turn_ends()]);
    let interrupt = || control("i1", json!({"subtype": "interrupt"}));
    let in_tool = scripted_prompt(&[vec![bash("touch started; sleep 10")]]);
    let stop =
        json!({"command": "touch started; sleep 60", "description": "Background", "run_in_background": true});
    let stoppable = scripted_prompt(&[vec![Block::tool("Bash", stop)], vec![Block::text("Started.")]]);
    vec![
        Scenario::dialogue(
            "io_initialize",
            "the request initialize",
            [control("i0", json!({"subtype": "initialize"})), answered("i0"), user("SCENARIO:plain"), turn_ends()],
        )
        .also_in(&RECENT),
        Scenario::dialogue("io_controls", "many requests, two of them wrong", all),
        Scenario::dialogue(
            "io_interrupt_streaming",
            "interrupt while the answer streams, then another turn",
            [
                user("SCENARIO:gate:interrupt"),
                Step::AwaitGate("interrupt"),
                Step::Await(json!({"event": {"delta": {"text": "s slowly"}}})),
                interrupt(),
                turn_ends(),
                user("SCENARIO:plain"),
                turn_ends(),
            ],
        )
        .partial(),
        Scenario::dialogue(
            "io_interrupt_tool",
            "interrupt while a command runs, then another turn",
            [user(&in_tool), Step::AwaitFile("started"), interrupt(), turn_ends(), user("SCENARIO:plain"), turn_ends()],
        ),
        Scenario::dialogue(
            "io_stop_task",
            "the request stop_task for a background command",
            [
                user(&stoppable),
                Step::Await(json!({"type": "system", "subtype": "task_started"})),
                Step::Keep,
                turn_ends(),
                Step::Answer(
                    r#"{"type":"control_request","request_id":"s1","request":{"subtype":"stop_task","task_id":"${/task_id}"}}"#
                        .to_owned(),
                ),
                Step::Await(json!({"type": "system", "subtype": "task_notification"})),answered("s1"),
            ],
        ),
    ]
}
