//! Decides in Rust which tools may run.
//!
//! `cargo run -p claude_code --example permission -- claude "Delete the build folder."`
#![expect(clippy::print_stdout, reason = "showing is what this program does")]

use std::error::Error;

use claude_code::host::Host;
use claude_code::input::PermissionAnswer;
use claude_code::{Client, Request};

fn main() -> Result<(), Box<dyn Error>> {
    agent_process::guard_main(); // before any thread: no agent outlives this process
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().unwrap_or_else(|| "claude".to_owned());
    let prompt = arguments
        .next()
        .unwrap_or_else(|| "List the files here.".to_owned());
    let host = Host::new().on_permission(|asked| async move {
        println!("{}: {}", asked.tool_name, asked.input);
        match asked.tool_name.as_str() {
            "Bash" => PermissionAnswer::deny("no shell commands here"),
            _ => asked.allow(),
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let client = Client::builder().binary(program).build();
    let response = runtime.block_on(client.run(Request::new(prompt).host(host)))?;
    println!("{}", response.final_text);
    Ok(())
}
