//! Callbacks of ours that the real CLI calls: a tool, a hook, a decision.

use std::sync::{Arc, Mutex};

use claude_code::host::{Hook, HookEvent, HookOutput, Host, Tool, ToolOutput, ToolServer};
use claude_code::input::PermissionAnswer;
use claude_code::{Kind, PermissionMode, PrintRequest, Request};
use libtest_mimic::Trial;
use serde_json::json;
use test_support::fake_model::{Block, scripted_prompt};

use super::stage::{gists, last_result, rest, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("the_cli_calls_a_tool_of_this_process", |stage| async move {
            let greet = Tool::new(
                "greet",
                "Greets somebody",
                json!({"type": "object", "properties": {"name": {"type": "string"}}}),
                |arguments| async move {
                    let name = arguments["name"].as_str().unwrap_or("nobody").to_owned();
                    Ok(ToolOutput::text(format!("hello {name}, from Rust")))
                },
            );
            let host = Host::new().tools(ToolServer::new("host").tool(greet));
            let call = Block::tool("mcp__host__greet", json!({"name": "Ada"}));
            let prompt = scripted_prompt(&[vec![call], vec![Block::text("Done.")]]);
            let request = PrintRequest::new(prompt).options(stage.options()).host(host);
            let mut handle = stage.client.print_stream_json(request).await.unwrap();
            let events = rest(&mut handle.events).await;
            assert!(last_result(&events).is_success());
            let all = gists(&events).join("\n");
            assert!(all.contains("hello Ada, from Rust"), "{all}");
            assert!(handle.completion.await.unwrap().exit.success());
        }),
        trial("a_hook_blocks_a_command_of_the_cli", |stage| async move {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let noted = Arc::clone(&seen);
            let hook = Hook::new(HookEvent::PreToolUse, move |input| {
                let command = input.tool_input["command"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                noted.lock().unwrap().push(command);
                async { HookOutput::deny("this host allows no commands") }
            });
            let blocked = Block::tool(
                "Bash",
                json!({"command": "touch blocked.txt", "description": "Touch"}),
            );
            let prompt = scripted_prompt(&[vec![blocked], vec![Block::text("Done.")]]);
            let host = Host::new().hook(hook.matcher("Bash"));
            let request = PrintRequest::new(prompt).options(stage.options()).host(host);
            let mut handle = stage.client.print_stream_json(request).await.unwrap();
            let events = rest(&mut handle.events).await;
            assert_eq!(*seen.lock().unwrap(), ["touch blocked.txt"]);
            let all = gists(&events).join("\n");
            assert!(all.contains("this host allows no commands"), "{all}");
            assert!(!stage.workspace.path().join("blocked.txt").exists());
        }),
        trial("a_hook_without_an_answer_blocks_too", |stage| async move {
            let hook = Hook::new(HookEvent::PreToolUse, |_| async { unreachable!("on purpose") });
            let call = Block::tool(
                "Bash",
                json!({"command": "touch blocked.txt", "description": "Touch"}),
            );
            let prompt = scripted_prompt(&[vec![call], vec![Block::text("Done.")]]);
            let request = Request::new(prompt)
                .options(stage.options())
                .host(Host::new().hook(hook));
            let response = stage.client.run(request).await.unwrap();
            assert!(response.is_success());
            assert!(!stage.workspace.path().join("blocked.txt").exists());
        }),
        trial(
            "a_closure_denies_a_tool_and_the_turn_goes_on",
            |stage| async move {
                let host = Host::new().on_permission(|asked| async move {
                    PermissionAnswer::deny(format!("no {} here", asked.tool_name))
                });
                let request = PrintRequest::new("SCENARIO:write")
                    .options(stage.options_with(PermissionMode::Ask))
                    .host(host);
                let mut handle = stage.client.print_stream_json(request).await.unwrap();
                let events = rest(&mut handle.events).await;
                assert!(last_result(&events).is_success());
                assert!(
                    events
                        .iter()
                        .any(|event| matches!(event.kind(), Kind::ControlRequest(_)))
                );
                let all = gists(&events).join("\n");
                assert!(all.contains("no Write here"), "{all}");
                assert!(!stage.workspace.path().join("new_file.txt").exists());
            },
        ),
    ]
}
