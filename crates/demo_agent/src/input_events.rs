//! `InputQueue`: stdin and SIGINT as one queue of events, which the session reads at every pause.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::cli::InputFormat;

/// Claude Code refuses longer prompts on stdin.
const MAX_PROMPT_BYTES: u64 = 10 * 1024 * 1024;
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) enum InputEvent {
    UserMessage(UserMessage),
    ControlRequest {
        id: String,
        request: Value,
    },
    ControlResponse {
        request_id: String,
        response: Value,
    },
    EndOfInput,
    /// The process cannot continue after this input.
    Invalid(String),
    /// SIGINT.
    Signal,
}

pub(crate) struct UserMessage {
    /// Receipts name the message by it.
    pub(crate) id: Option<String>,
    pub(crate) content: Value,
}

pub(crate) struct InputQueue {
    events: Receiver<InputEvent>,
}

impl InputQueue {
    /// Starts to read stdin and to handle SIGINT.
    pub(crate) fn open(format: InputFormat) -> io::Result<Self> {
        let (sender, events) = mpsc::channel();
        forward_signals(sender.clone())?;
        thread::spawn(move || {
            // Sending fails when the session has ended.
            let _ = match format {
                InputFormat::Text => sender.send(read_prompt()),
                InputFormat::StreamJson => read_messages(&sender),
            };
            let _ = sender.send(InputEvent::EndOfInput);
        });
        Ok(Self { events })
    }

    /// The next event before the deadline. An event that is already queued is returned even after it.
    pub(crate) fn next_until(&self, deadline: Instant) -> Option<InputEvent> {
        let remaining = deadline.saturating_duration_since(Instant::now());
        self.events
            .try_recv()
            .ok()
            .or_else(|| self.events.recv_timeout(remaining).ok())
    }

    /// Waits for the next event.
    pub(crate) fn next(&self) -> InputEvent {
        self.events.recv().unwrap_or(InputEvent::EndOfInput)
    }
}

fn forward_signals(sender: Sender<InputEvent>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let entered = runtime.enter();
    #[cfg(unix)]
    let mut signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
    #[cfg(windows)]
    let mut signals = tokio::signal::windows::ctrl_c()?;
    drop(entered);
    thread::spawn(move || {
        runtime.block_on(async move {
            while signals.recv().await.is_some() && sender.send(InputEvent::Signal).is_ok() {}
        });
    });
    Ok(())
}

fn read_prompt() -> InputEvent {
    let mut prompt = Vec::new();
    let read = io::stdin()
        .lock()
        .take(MAX_PROMPT_BYTES + 1)
        .read_to_end(&mut prompt);
    let problem = match read {
        Err(error) => format!("cannot read stdin: {}", error.kind()),
        Ok(length) if length as u64 > MAX_PROMPT_BYTES => {
            "piped stdin input exceeds 10MB. Pass large content as a file path in your prompt instead."
                .to_owned()
        }
        Ok(_) if prompt.trim_ascii().is_empty() => {
            "Input must be provided either through stdin or as a prompt argument when using --print"
                .to_owned()
        }
        Ok(_) => {
            return InputEvent::UserMessage(UserMessage {
                id: None,
                content: String::from_utf8_lossy(&prompt).into(),
            });
        }
    };
    InputEvent::Invalid(problem)
}

fn read_messages(sender: &Sender<InputEvent>) -> Result<(), mpsc::SendError<InputEvent>> {
    let mut stdin = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match stdin.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Ok(()),
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => {
                if let Some(event) = parse_message(&line) {
                    sender.send(event)?;
                }
            }
        }
    }
}

/// `None` for messages of unknown types.
fn parse_message(line: &[u8]) -> Option<InputEvent> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let Ok(mut value) = serde_json::from_slice::<Value>(line) else {
        let length = String::from_utf8_lossy(line).trim_end().chars().count();
        return Some(InputEvent::Invalid(format!(
            "parsing streaming input line (type=unknown, {length} chars): SyntaxError"
        )));
    };
    match value["type"].as_str()? {
        "user" if value["message"]["role"] == "user" => Some(InputEvent::UserMessage(UserMessage {
            id: text(&value["uuid"]),
            content: value["message"]["content"].take(),
        })),
        "user" => Some(InputEvent::Invalid(format!(
            "Expected message role 'user', got '{}'",
            value["message"]["role"].as_str().unwrap_or("undefined")
        ))),
        "control_request" => Some(InputEvent::ControlRequest {
            id: text(&value["request_id"])?,
            request: value["request"].take(),
        }),
        "control_response" => {
            let response = value["response"].take();
            Some(InputEvent::ControlResponse {
                request_id: text(&response["request_id"])?,
                response,
            })
        }
        _ => None,
    }
}
