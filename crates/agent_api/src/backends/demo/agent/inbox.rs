//! What arrives from outside while the show goes on.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::arguments::InputFormat;

/// The real CLI's limits: a prompt by stdin, and more than any message of a conversation needs.
const MAX_PROMPT_BYTES: u64 = 10 * 1024 * 1024;
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// Something that arrived.
pub(super) enum Input {
    /// Somebody said something.
    Message(Message),
    /// The host asks for something: id and request.
    Control(String, Value),
    /// The host answers: id and response.
    Answer(String, Value),
    /// There is no more input.
    End,
    /// A line that no CLI can go on after.
    Unreadable(String),
    /// SIGINT.
    Interrupted,
    /// All that a command wrote, with the command's number.
    Output(u64, Vec<u8>),
}

/// Somebody said something.
pub(super) struct Message {
    /// What receipts refer to.
    pub(super) id: Option<String>,
    pub(super) content: Value,
}

pub(super) struct Inbox {
    inputs: Receiver<Input>,
    /// Also keeps the inbox open when stdin has ended.
    sender: Sender<Input>,
}

impl Inbox {
    /// Listens to stdin and to SIGINT from now on.
    pub(super) fn open(format: InputFormat) -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel();
        listen_for_interrupts(sender.clone())?;
        let reader = sender.clone();
        thread::spawn(move || match format {
            InputFormat::Text => read_prompt(&reader),
            InputFormat::Messages => read_messages(&reader),
        });
        Ok(Self { inputs, sender })
    }

    /// For those who have something to add.
    pub(super) fn sender(&self) -> Sender<Input> {
        self.sender.clone()
    }

    /// The next input, if it arrives in time. What is there already is always given.
    pub(super) fn next_until(&self, deadline: Instant) -> Option<Input> {
        if let Ok(input) = self.inputs.try_recv() {
            return Some(input);
        }
        let remaining = deadline.saturating_duration_since(Instant::now());
        self.inputs.recv_timeout(remaining).ok()
    }

    /// The next input, whenever it arrives.
    pub(super) fn next(&self) -> Input {
        // It cannot be disconnected: we hold a sender.
        self.inputs.recv().unwrap_or(Input::End)
    }
}

/// The first thing the program does: what comes earlier ends it, as it ends any program.
fn listen_for_interrupts(sender: Sender<Input>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let entered = runtime.enter();
    #[cfg(unix)]
    let mut interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
    #[cfg(windows)]
    let mut interrupts = tokio::signal::windows::ctrl_c()?;
    drop(entered);
    thread::spawn(move || {
        runtime.block_on(async move {
            while interrupts.recv().await.is_some() && sender.send(Input::Interrupted).is_ok() {}
        });
    });
    Ok(())
}

fn read_prompt(sender: &Sender<Input>) {
    let mut prompt = Vec::new();
    let read = io::stdin()
        .lock()
        .take(MAX_PROMPT_BYTES + 1)
        .read_to_end(&mut prompt);
    let input = match read {
        Err(error) => Input::Unreadable(format!("cannot read stdin: {}", error.kind())),
        Ok(length) if length as u64 > MAX_PROMPT_BYTES => Input::Unreadable(
            "piped stdin input exceeds 10MB. Pass large content as a file path in your prompt instead."
                .to_owned(),
        ),
        Ok(_) if prompt.trim_ascii().is_empty() => Input::Unreadable(
            "Input must be provided either through stdin or as a prompt argument when using --print"
                .to_owned(),
        ),
        Ok(_) => Input::Message(Message {
            id: None,
            content: String::from_utf8_lossy(&prompt).into(),
        }),
    };
    // When the show is over, nobody listens.
    let _ = sender.send(input);
    let _ = sender.send(Input::End);
}

fn read_messages(sender: &Sender<Input>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match stdin.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        // When the show is over, nobody listens.
        if let Some(input) = understand(&line)
            && sender.send(input).is_err()
        {
            return;
        }
    }
    let _ = sender.send(Input::End);
}

/// What a line says; nothing if it is of a kind that means nothing to us.
fn understand(line: &[u8]) -> Option<Input> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(_) => {
            let length = String::from_utf8_lossy(line).trim_end().chars().count();
            return Some(Input::Unreadable(format!(
                "parsing streaming input line (type=unknown, {length} chars): SyntaxError"
            )));
        }
    };
    match value["type"].as_str()? {
        "user" if value["message"]["role"] == "user" => Some(Input::Message(Message {
            id: text(&value["uuid"]),
            content: value["message"]["content"].take(),
        })),
        "user" => Some(Input::Unreadable(format!(
            "Expected message role 'user', got '{}'",
            value["message"]["role"].as_str().unwrap_or("undefined")
        ))),
        "control_request" => Some(Input::Control(
            text(&value["request_id"])?,
            value["request"].take(),
        )),
        "control_response" => {
            let mut response = value["response"].take();
            Some(Input::Answer(text(&response["request_id"])?, response.take()))
        }
        _ => None,
    }
}
