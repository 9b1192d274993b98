//! Looks at every shell command before it runs, and blocks some.
//!
//! `cargo run -p claude_code --example hook -- claude "Clean up."`
#![expect(clippy::print_stdout, reason = "showing is what this program does")]

use std::error::Error;
use std::time::Duration;

use claude_code::host::{Hook, HookEvent, HookOutput, Host};
use claude_code::{Client, Request};

fn main() -> Result<(), Box<dyn Error>> {
    agent_process::guard_main(); // before any thread: no agent outlives this process
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().unwrap_or_else(|| "claude".to_owned());
    let prompt = arguments.next().unwrap_or_else(|| "Clean up.".to_owned());
    let check = Hook::new(HookEvent::PreToolUse, |input| async move {
        let command = input.tool_input["command"].as_str().unwrap_or_default();
        if command.contains("rm -rf") {
            println!("blocked: {command}");
            return HookOutput::deny("deleting folders is not allowed");
        }
        HookOutput::proceed()
    });
    let host = Host::new().hook(check.matcher("Bash").timeout(Duration::from_secs(10)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let client = Client::builder().binary(program).build();
    let response = runtime.block_on(client.run(Request::new(prompt).host(host)))?;
    println!("{}", response.final_text);
    Ok(())
}
