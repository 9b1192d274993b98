//! Answers what an agent asks while it works: permissions by a rule, questions and plans by a person.
//!
//! `cargo run -p agent_api --example permissions`: the demo agent asks a question, and this program plays the person.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use agent_api::{
    AgentRegistry, Answer, Body, Close, Event, Input, QuestionAsked, RequestId, RunOptions, RunRequest,
    ToolKind,
};
use demo_agent::{Demo, SPEED_EXTENSION};

fn main() -> ExitCode {
    demo_agent::demo_main();
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
    let folder = tempfile::tempdir()?;
    let mut options = RunOptions::new();
    options.cwd = Some(folder.path().to_owned());
    options
        .extensions
        .insert(SPEED_EXTENSION.to_owned(), "max".into());
    // Without it, agents decide by themselves or refuse: nobody could answer.
    options.permission_host = Some(agent_api::PermissionHost::Caller);
    let request = RunRequest::new("Make the greeting script work")
        .input(Input::Messages(Close::WhenIdle))
        .options(options);

    let registry = AgentRegistry::new().with(Demo::reexec())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut run = registry.run("demo", request).await?;
        while let Some(event) = run.events.next().await {
            if let Some((request, answer)) = decide(&event)? {
                // Returns at once. `request_closed` is the receipt; of several answers the first counts.
                run.control.answer(&request, answer)?;
            }
            show(&event)?;
        }
        Ok(run.completion.await?.is_success())
    })
}

/// The answer to a request, if the event is one.
fn decide(event: &Event) -> io::Result<Option<(RequestId, Answer)>> {
    Ok(match &event.body {
        Body::PermissionRequested(asked) => {
            let answer = match asked.kind {
                ToolKind::Read | ToolKind::Search => Answer::Allow,
                _ => Answer::Deny {
                    reason: "only reading is allowed here".to_owned(),
                },
            };
            Some((asked.request.clone(), answer))
        }
        Body::QuestionAsked(asked) => Some((asked.request.clone(), choose(asked)?)),
        Body::PlanProposed(proposed) => {
            let reason = "nobody is here to read the plan".to_owned();
            Some((proposed.request.clone(), Answer::Deny { reason }))
        }
        _ => None,
    })
}

/// The last answer of each question. A real program would let a person choose, or type something else.
fn choose(asked: &QuestionAsked) -> io::Result<Answer> {
    let mut out = io::stdout().lock();
    let mut answers = Vec::new();
    for question in &asked.questions {
        writeln!(out, "{}", question.text)?;
        for option in &question.options {
            writeln!(out, "  - {}", option.label)?;
        }
        if let Some(chosen) = question.options.last() {
            answers.push((question.text.clone(), chosen.label.clone()));
        }
    }
    Ok(Answer::Answers(answers))
}

fn show(event: &Event) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match &event.body {
        Body::RequestClosed(closed) => writeln!(out, "Request {}: {:?}", closed.request, closed.reason),
        Body::TextBlock(block) => writeln!(out, "{}: {}", event.agent_kind, block.text),
        Body::Finished(finished) => writeln!(out, "--- {:?} ---", finished.outcome),
        _ => Ok(()),
    }
}
