//! Shows a run live: what the model writes, while it writes it, and the tools it calls.
//!
//! `cargo run -p claude_code --example print_stream -- claude "What does this project do?"`
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "showing is what this program does"
)]

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use claude_code::event::{Block, Delta, StreamBody, ToolUse, TurnResult};
use claude_code::{Client, Event, Kind, PrintRequest};

const TOOL_LINE_CHARACTERS: usize = 200;

fn main() -> ExitCode {
    // First of all, before any thread: no agent outlives this process.
    agent_process::guard_main();
    let mut arguments = std::env::args().skip(1);
    let (Some(binary), Some(prompt)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: stream PROGRAM PROMPT");
        return ExitCode::from(64);
    };
    match run(&binary, &prompt) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the run succeeded.
fn run(binary: &str, prompt: &str) -> Result<bool, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let client = Client::builder().binary(binary).build();
        let mut handle = client.print_stream_json(PrintRequest::new(prompt)).await?;
        let mut screen = Screen::default();
        while let Some(item) = handle.events.next().await {
            match item {
                Ok(event) => screen.show(&event)?,
                Err(error) => eprintln!("{error}"),
            }
        }
        let status = handle.completion.await?;
        if !screen.has_result {
            eprint!("{}", readable(&String::from_utf8_lossy(&status.stderr_tail)));
            eprintln!("no result: {}", status.exit);
        }
        Ok(screen.has_succeeded)
    })
}

#[derive(Default)]
struct Screen {
    /// Text was shown while it came, so its whole block need not be shown again.
    is_streaming: bool,
    has_result: bool,
    has_succeeded: bool,
}

impl Screen {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        // Subagents speak to the main agent, not to us.
        let is_main = event.parent_tool_use_id().is_none();
        match event.kind() {
            Kind::StreamEvent(stream) if is_main => match &stream.body {
                StreamBody::ContentBlockDelta {
                    delta: Delta::Text(text),
                    ..
                } => self.piece(text)?,
                StreamBody::ContentBlockStop { .. } => self.is_streaming = false,
                _ => {}
            },
            Kind::Assistant(said) => {
                let blocks = said
                    .message
                    .as_ref()
                    .map(|message| message.content.blocks())
                    .unwrap_or_default();
                for block in blocks {
                    match block {
                        Block::Text(_) if is_main && self.is_streaming => println!(),
                        Block::Text(text) if is_main => println!("Claude: {}", readable(text)),
                        Block::ToolUse(tool) => println!("{}", tool_line(tool)),
                        _ => {}
                    }
                }
            }
            Kind::Result(result) => self.end(result),
            _ => {}
        }
        io::stdout().flush()
    }

    fn piece(&mut self, text: &str) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_streaming, true) {
            print!("Claude: ");
        }
        print!("{}", readable(text));
        io::stdout().flush()
    }

    fn end(&mut self, result: &TurnResult) {
        self.has_result = true;
        self.has_succeeded = result.is_success();
        let cost = result
            .total_cost
            .map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
        println!(
            "--- {} ---\nDuration: {}ms | Cost: {cost} | Turns: {}",
            if self.has_succeeded {
                "Session Complete"
            } else {
                "Session Failed"
            },
            result.duration_ms.unwrap_or_default(),
            result.num_turns.unwrap_or_default(),
        );
    }
}

/// The tool and the argument that tells a person what is happening.
fn tool_line(tool: &ToolUse) -> String {
    let argument = [
        "file_path",
        "path",
        "command",
        "pattern",
        "url",
        "query",
        "description",
    ]
    .into_iter()
    .find_map(|key| tool.input.get(key)?.text());
    let line = match argument {
        Some(argument) => format!("[Tool] {}: {argument}", tool.name),
        None => format!("[Tool] {}", tool.name),
    };
    readable(&line)
        .replace('\n', " ")
        .chars()
        .take(TOOL_LINE_CHARACTERS)
        .collect()
}

/// Without the control characters that would steer the terminal.
fn readable(text: &str) -> String {
    text.chars()
        .filter(|character| matches!(character, '\n' | '\t') || !character.is_control())
        .collect()
}
