//! `DemoProcess`: a running `demo_agent` with an empty environment.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use claude_code::event::{Delta, StreamBody};
use claude_code::{Event, Kind, parse_line};

pub(crate) const SESSION: &str = "0193a1e1-9fbc-7c76-a880-f7c3a4b1d2e3";
pub(crate) const PRINT: &[&str] = &[
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--demo-speed=max",
];
pub(crate) const TALK: &[&str] = &[
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    "--demo-speed=max",
];

/// A running demo agent.
pub(crate) struct DemoProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl DemoProcess {
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_demo_agent"))
            .args(arguments)
            .env_clear()
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// Writes a line.
    pub(crate) fn tell(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.tell(&format!(
            r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#
        ));
    }

    pub(crate) fn control(&mut self, id: &str, request: &str) {
        self.tell(&format!(
            r#"{{"type":"control_request","request_id":"{id}","request":{request}}}"#
        ));
    }

    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn next(&mut self) -> Option<Event> {
        let mut line = Vec::new();
        let length = self.stdout.read_until(b'\n', &mut line).unwrap();
        (length > 0).then(|| parse_line(&line).unwrap())
    }

    /// Up to the first event of which this is true, itself included.
    pub(crate) fn until(&mut self, is_last: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next().expect("the output has ended");
            let is_over = is_last(&event);
            events.push(event);
            if is_over {
                return events;
            }
        }
    }

    pub(crate) fn rest(mut self) -> (Vec<Event>, ExitStatus) {
        self.close();
        let events = std::iter::from_fn(|| self.next()).collect();
        (events, self.child.wait().unwrap())
    }
}

/// One prompt, to the end.
pub(crate) fn print(directory: &Path, further: &[&str]) -> (Vec<Event>, ExitStatus) {
    let mut agent = DemoProcess::start(directory, &[PRINT, further].concat());
    agent.tell("Make the greeting work.");
    agent.rest()
}

pub(crate) fn is_result(event: &Event) -> bool {
    matches!(event.kind(), Kind::Result(_))
}

pub(crate) fn is_thought(event: &Event) -> bool {
    matches!(event.kind(), Kind::StreamEvent(stream) if matches!(
        stream.body,
        StreamBody::ContentBlockDelta { delta: Delta::Thinking(_), .. }
    ))
}

/// The last text of a turn that went well.
pub(crate) fn answer(events: &[Event]) -> String {
    let last = events.iter().rev().find(|event| is_result(event));
    let Some(Kind::Result(result)) = last.map(Event::kind) else {
        panic!("no result: {events:?}");
    };
    assert!(result.is_success(), "{result:?}");
    result.result.as_deref().unwrap_or_default().to_owned()
}
