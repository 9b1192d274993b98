//! Shows a run live: text while it is written, tool calls, and how it ended.
//!
//! `cargo run -p agent_api --example stream` plays the demo agent. With Claude Code installed and logged in:
//! `cargo run -p agent_api --example stream -- claude_code "What does this project do?"`

use std::collections::HashSet;
use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use agent_api::backends::claude_code::ClaudeCode;
use agent_api::{
    AgentKind, AgentRegistry, Body, Completed, DeltaMode, Event, ItemId, Part, RunOptions, RunRequest,
    ToolState, ToolStatus,
};
use demo_agent::{Demo, SPEED_EXTENSION};

const LINE_CHARACTERS: usize = 200;

fn main() -> ExitCode {
    // First of all: this program may have been started as the demo agent.
    demo_agent::demo_main();
    // Then, before any thread: no agent outlives this process.
    agent_process::guard_main();
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // If that cannot be written either, the exit code still says it.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the run succeeded.
fn run() -> Result<bool, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let backend = arguments
        .next()
        .unwrap_or_else(|| AgentKind::DEMO.as_str().to_owned());
    let prompt = arguments
        .next()
        .unwrap_or_else(|| "Make the greeting script work".to_owned());

    let registry = AgentRegistry::new()
        .with(ClaudeCode::new())?
        .with(Demo::reexec())?;
    let mut options = RunOptions::new();
    // The demo agent works on files: in a folder that goes away with this value.
    let folder = tempfile::tempdir()?;
    if backend == AgentKind::DEMO.as_str() {
        options.cwd = Some(folder.path().to_owned());
        let speed = if io::stdout().is_terminal() { 1 } else { 0 };
        options
            .extensions
            .insert(SPEED_EXTENSION.to_owned(), speed.into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let request = RunRequest::new(prompt).options(options);
        let mut run = registry.run(&backend, request).await?;
        let mut screen = Screen::default();
        while let Some(event) = run.events.next().await {
            screen.show(&event)?;
        }
        // Not before the end of the events, and not before the process is gone.
        let completed = run.completion.await?;
        summary(&completed)?;
        Ok(completed.is_success())
    })
}

/// What is on the screen.
#[derive(Default)]
struct Screen {
    /// The block whose text is being written.
    open: Option<ItemId>,
    calls: HashSet<ItemId>,
}

impl Screen {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        // Subagents speak to the main agent, not to us.
        if event.parent.is_some() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match &event.body {
            Body::Delta(delta) if delta.part == Part::Text => {
                if self.open.as_ref() != Some(&delta.item) {
                    write!(out, "{}: ", event.agent_kind)?;
                    self.open = Some(delta.item.clone());
                } else if delta.mode == DeltaMode::Snapshot {
                    // What was written cannot be taken back from a plain terminal.
                    writeln!(out)?;
                }
                write!(out, "{}", readable(&delta.text))?;
            }
            // The block repeats what its deltas have said, if there were any.
            Body::TextBlock(block) if self.open.as_ref() == Some(&block.item) => {
                let is_complete = block.piece.is_last;
                if is_complete {
                    writeln!(out)?;
                    self.open = None;
                }
            }
            Body::TextBlock(block) => writeln!(out, "{}: {}", event.agent_kind, readable(&block.text))?,
            Body::ItemDiscarded(_) => writeln!(out, "\n(that did not count: it is written again)")?,
            // A call is told again when more is known about it.
            Body::ToolStarted(tool) if tool.state == ToolState::Running => {
                let is_new = self.calls.insert(tool.item.clone());
                if is_new {
                    let subject = tool.subject.as_deref().map(one_line);
                    let subject = subject.map(|subject| format!(": {subject}"));
                    writeln!(out, "[Tool] {}{}", tool.name, subject.unwrap_or_default())?;
                }
            }
            Body::ToolFinished(tool) if tool.status == ToolStatus::Failed => {
                writeln!(out, "[Failed] {}", one_line(&tool.output))?;
            }
            Body::Error(error) => writeln!(out, "[Error] {}: {}", error.code, one_line(&error.message))?,
            _ => {}
        }
        out.flush()
    }
}

fn summary(completed: &Completed) -> io::Result<()> {
    let finished = &completed.finished;
    let mut out = io::stdout().lock();
    writeln!(out, "--- {:?} ---", finished.outcome)?;
    if let Some(error) = &finished.error {
        writeln!(out, "{}: {}", error.code, readable(&error.message))?;
    }
    let cost = finished.usage.cost;
    let cost = cost.map_or_else(|| "unknown".to_owned(), |cost| cost.micro_usd.to_string());
    let duration = finished.duration_ms;
    let turns = finished.turns;
    writeln!(
        out,
        "Duration: {duration}ms | Tokens: {} | Cost: {cost} | Turns: {turns}",
        finished.usage.tokens.total()
    )
}

fn one_line(text: &str) -> String {
    let line = readable(text).replace('\n', " ");
    line.chars().take(LINE_CHARACTERS).collect()
}

/// Without the control characters that would steer the terminal.
fn readable(text: &str) -> String {
    let is_readable = |character: &char| matches!(character, '\n' | '\t') || !character.is_control();
    text.chars().filter(is_readable).collect()
}
