//! Gives the agent a tool that is a Rust closure.
//!
//! `cargo run -p claude_code --example tool -- claude "What is 19 + 23? Use the tool."`
#![expect(clippy::print_stdout, reason = "showing is what this program does")]

use std::error::Error;

use claude_code::host::{Host, Tool, ToolError, ToolOutput, ToolServer};
use claude_code::{Client, Request, RunOptions};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    agent_process::guard_main(); // before any thread: no agent outlives this process
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().unwrap_or_else(|| "claude".to_owned());
    let prompt = arguments
        .next()
        .unwrap_or_else(|| "What is 19 + 23? Use the tool.".to_owned());
    let number = json!({"type": "number"});
    let schema = json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
    let add = Tool::new("add", "Adds two numbers", schema, |arguments| async move {
        match (arguments["a"].as_f64(), arguments["b"].as_f64()) {
            (Some(a), Some(b)) => Ok(ToolOutput::text((a + b).to_string())),
            _ => Err(ToolError::new("`a` and `b` must be numbers")),
        }
    });
    let host = Host::new().tools(ToolServer::new("calculator").tool(add));
    // Without this the CLI asks for permission, which nobody here would give.
    let options = RunOptions::new().allowed_tools(["mcp__calculator__add"]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let client = Client::builder().binary(program).build();
    let response = runtime.block_on(client.run(Request::new(prompt).options(options).host(host)))?;
    println!("{}", response.final_text);
    Ok(())
}
