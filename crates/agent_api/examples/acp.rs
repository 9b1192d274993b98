//! Runs any agent that speaks the Agent Client Protocol and prints what it does:
//!
//!     cargo run --example acp -- "Say hello" opencode acp
//!
//! Permission requests are answered with yes, so run it in a directory where nothing can be lost.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use agent_api::backends::acp::Acp;
use agent_api::{AgentRegistry, Body, Part, PermissionMode, RunOptions, RunRequest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    agent_process::guard_main();
    let mut arguments = std::env::args().skip(1);
    let (Some(prompt), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("usage: acp PROMPT COMMAND [ARGUMENT]...".into());
    };
    let mut options = RunOptions::new();
    options.permission_mode = Some(PermissionMode::Bypass);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let registry = AgentRegistry::new().with(Acp::custom(program, arguments))?;
        let mut run = registry
            .run("acp", RunRequest::new(prompt).options(options))
            .await?;
        while let Some(event) = run.events.next().await {
            match &event.body {
                Body::Delta(delta) if delta.part == Part::Text => print!("{}", delta.text),
                Body::ToolStarted(tool) => {
                    println!("\n[{}] {}", tool.name, tool.subject.as_deref().unwrap_or(""))
                }
                Body::ToolFinished(tool) => println!("  {:?}, exit code {:?}", tool.status, tool.exit_code),
                Body::TurnFinished(turn) => println!("\n{:?}: {:?}", turn.outcome, turn.error),
                _ => {}
            }
        }
        let completed = run.completion.await?;
        println!("{:?}, {:?}", completed.finished.outcome, completed.finished.usage);
        Ok(())
    })
}
