//! Whoever reads stops reading or leaves, and whoever waits wants to leave.

use std::fs;
use std::io::{PipeReader, PipeWriter, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use test_support::wait_until;

use crate::stage::{Held, Stage, signal};

/// More than the pipe and everything on the way to it take.
const MANY: u64 = 12_000;

/// A run that is over and has said a lot.
fn talkative(stage: &Stage) {
    stage.show(&[]);
    let journal = stage.directory(&stage.ids()[0]).join("journal.ndjson");
    let text = fs::read_to_string(&journal).unwrap();
    let mut records: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let said = records
        .iter()
        .position(|record| record["event"]["type"] == "text_block")
        .unwrap();
    let mut again = records[said].clone();
    again["event"]["data"]["text"] = Value::from("word ".repeat(30));
    let copies = (0..MANY).map(|number| {
        let mut copy = again.clone();
        copy["event"]["data"]["item"] = Value::from(format!("copy-{number}"));
        copy
    });
    records.splice(said..said, copies);
    let lines = records.iter_mut().zip(1_u64..).map(|(record, seq)| {
        record.as_object_mut().unwrap().remove("seq");
        // A journal is known by how its lines begin.
        record.to_string().replacen('{', &format!("{{\"seq\":{seq},"), 1) + "\n"
    });
    fs::write(&journal, lines.collect::<String>()).unwrap();
    // The agent's own output, as much of it.
    let raw = stage.directory(&stage.ids()[0]).join("raw/1.ndjson");
    fs::write(raw, "{\"type\":\"x\"}\n".repeat(100_000)).unwrap();
}

/// Somebody who holds the pipe and reads nothing.
struct Stuck {
    child: Held,
    reader: PipeReader,
}

impl Stuck {
    fn start(stage: &Stage, args: &[&str]) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        let child = stage
            .command(args)
            .stdout(writer.try_clone().unwrap())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stuck = Self {
            child: Held(child),
            reader,
        };
        stuck.wait_until_full(&writer);
        stuck
    }

    fn wait_until_full(&self, writer: &PipeWriter) {
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        wait_until("a full pipe", || {
            let mut descriptors = [PollFd::new(writer, PollFlags::OUT)];
            poll(&mut descriptors, Some(&at_once)).unwrap() == 0
        });
    }

    fn child(&mut self) -> &mut Child {
        &mut self.child.0
    }

    fn stderr(&mut self) -> String {
        let mut text = String::new();
        self.child()
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    }
}

/// As a shell tells it.
fn code(status: ExitStatus) -> i32 {
    status
        .code()
        .or_else(|| status.signal().map(|number| 128 + number))
        .unwrap()
}

const VIEWERS: [&[&str]; 6] = [
    &["replay", "latest"],
    &["replay", "latest", "--output", "json"],
    &["logs"],
    &["logs", "-f"],
    &["logs", "--raw"],
    &["logs", "--raw", "-f"],
];

#[test]
fn a_signal_ends_a_viewer_whose_reader_reads_nothing() {
    let stage = Stage::new();
    talkative(&stage);
    for args in VIEWERS {
        for (name, expected) in [("INT", 130), ("TERM", 143)] {
            let mut stuck = Stuck::start(&stage, args);
            signal(name, stuck.child().id());
            let status = stuck.child().wait().unwrap();
            // To leave a log that is followed is no failure: the run is not touched.
            let expected = if args == ["logs", "-f"] && name == "INT" {
                0
            } else {
                expected
            };
            assert_eq!(code(status), expected, "{args:?} {name}");
        }
    }
}

#[test]
fn a_reader_that_leaves_in_the_middle_ends_a_viewer_quietly() {
    let stage = Stage::new();
    talkative(&stage);
    for args in VIEWERS {
        let mut stuck = Stuck::start(&stage, args);
        let (reader, _) = std::io::pipe().unwrap();
        drop(std::mem::replace(&mut stuck.reader, reader));
        assert_eq!(code(stuck.child().wait().unwrap()), 141, "{args:?}");
        assert_eq!(stuck.stderr(), "", "{args:?}");
    }
}

#[test]
fn a_reader_that_leaves_a_silent_run_is_missed_at_once() {
    let stage = Stage::new();
    let id = stage.background();
    for args in [&["logs", "-f"][..], &["logs", "--raw", "-f"], &["attach"]] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut child = Held(stage.command(args).stdout(writer).spawn().unwrap());
        reader.read_exact(&mut [0]).unwrap();
        // From now on the agent says nothing: whoever follows must notice it without a word of it.
        let agent = stage.run_file(&id)["runner"]["pid"].as_u64().unwrap();
        signal("STOP", u32::try_from(agent).unwrap());
        drop(reader);
        let status = child.0.wait().unwrap();
        signal("CONT", u32::try_from(agent).unwrap());
        assert_eq!(status.code(), Some(141), "{args:?}");
    }
    assert_eq!(stage.ralph(&["stop", &id]).code, Some(0));
}
