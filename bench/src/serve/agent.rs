//! The agent that is watched: writes Claude's dialect, by a clock, with the time in each text.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::dialect::{Session, ToolOutcome};

use crate::process::explain;

/// In front of the time a text was written at, on a clock that all processes share.
pub const MARK: &str = "tick=";
/// When this file is there, agents begin.
pub const GO: &str = "go";
/// When this file is there, agents end.
pub const END: &str = "end";
/// An answer as long as answers get, in as many pieces as models make of it.
pub const ANSWER_BYTES: usize = 64 << 10;
const ANSWER_PIECES: usize = 2700;
const BULK_BYTES: usize = 16 << 10;
/// The longest text of the form `large`.
pub const LARGE_BYTES: usize = 256 << 10;
const DELTAS_OF_A_MESSAGE: u64 = 500;
const PLACE: &str = "PLACE_OF_THE_TEXT";

pub fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// `bench __agent FORM RATE SECONDS FOLDER`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let given: Vec<String> = given.collect();
    let [form, rate, seconds, folder] = given.as_slice() else {
        return Err("an agent needs a form, a rate, a time and a folder".to_owned());
    };
    let number = |text: &str| text.parse::<u64>().map_err(explain);
    let mut agent = Agent {
        session: Session::new("00000000-0000-4000-8000-000000000001"),
        clock: Clock {
            next: Instant::now(),
            interval: Duration::from_secs(1) / u32::try_from(number(rate)?.max(1)).map_err(explain)?,
            last: Instant::now(),
            folder: PathBuf::from(folder),
            slots: 0,
        },
        text: String::new(),
        calls: 0,
        piece: None,
    };
    let init = agent.session.init("/");
    write(&init)?;
    while !Path::new(folder).join(GO).exists() {
        std::thread::sleep(Duration::from_millis(50));
    }
    agent.clock.next = Instant::now();
    agent.clock.last = agent.clock.next + Duration::from_secs(number(seconds)?);
    match form.as_str() {
        "mixed" => agent.mixed()?,
        "deltas" => agent.deltas()?,
        "bulk" => agent.bulk()?,
        "large" => agent.large()?,
        "answer" => agent.answer()?,
        _ => return Err(format!("there is no form `{form}`")),
    }
    write(&agent.session.result("LOOP_COMPLETE"))
}

fn write(line: &str) -> Result<(), String> {
    std::io::stdout()
        .lock()
        .write_all(format!("{line}\n").as_bytes())
        .map_err(explain)
}

struct Clock {
    next: Instant,
    interval: Duration,
    last: Instant,
    folder: PathBuf,
    slots: u64,
}

impl Clock {
    /// Waits for the next moment to write in. Says whether there is one.
    fn slot(&mut self) -> bool {
        std::thread::sleep(self.next.saturating_duration_since(Instant::now()));
        self.next += self.interval;
        self.slots += 1;
        let is_asked_to_end = self.slots.is_multiple_of(20) && self.folder.join(END).exists();
        self.next < self.last && !is_asked_to_end
    }
}

struct Agent {
    session: Session,
    clock: Clock,
    text: String,
    calls: u64,
    /// A line of the open message with a piece, before and behind its text: hundreds of agents must cost little.
    piece: Option<(String, String)>,
}

impl Agent {
    /// Half of what it writes are pieces of text, the rest blocks, calls and their results.
    fn mixed(&mut self) -> Result<(), String> {
        loop {
            self.begin()?;
            for _ in 0..10 {
                self.piece(&tick())?;
                if !self.clock.slot() {
                    return self.end();
                }
            }
            self.end()?;
            for _ in 0..4 {
                self.clock.slot();
                let call = self.call(&tick())?;
                self.clock.slot();
                self.result(&call, &tick())?;
            }
            self.clock.slot();
            self.session.begin_message();
            write(&self.session.text(&tick()))?;
            if !self.clock.slot() {
                return Ok(());
            }
        }
    }

    /// Pieces of text only.
    fn deltas(&mut self) -> Result<(), String> {
        loop {
            self.begin()?;
            for _ in 0..DELTAS_OF_A_MESSAGE {
                self.piece(&tick())?;
                if !self.clock.slot() {
                    return self.end();
                }
            }
            self.end()?;
        }
    }

    /// Long results of calls.
    fn bulk(&mut self) -> Result<(), String> {
        let filling = "some words of a long output\n".repeat(BULK_BYTES / 28);
        self.session.begin_message();
        while self.clock.slot() {
            let call = self.call("cat")?;
            self.result(&call, &format!("{}{filling}", tick()))?;
        }
        Ok(())
    }

    /// Texts of every length, up to the longest.
    fn large(&mut self) -> Result<(), String> {
        let filling = "some words of a long answer ".repeat(LARGE_BYTES / 28 + 1);
        let mut random = 1_u64;
        while self.clock.slot() {
            // Knuth's generator: the same lengths in every run.
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let length = usize::try_from(random >> 33).map_err(explain)? % LARGE_BYTES;
            self.session.begin_message();
            write(&self.session.text(&format!("{}{}", tick(), &filling[..length])))?;
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<(), String> {
        let words = "an answer of many words and more ".repeat(ANSWER_BYTES / 33 + 1);
        self.begin()?;
        for piece in 0..ANSWER_PIECES {
            let [from, to] = [piece, piece + 1].map(|piece| piece * ANSWER_BYTES / ANSWER_PIECES);
            self.piece(&words[from..to])?;
            self.clock.slot();
        }
        self.end()
    }

    fn begin(&mut self) -> Result<(), String> {
        self.text.clear();
        self.piece = None;
        self.session.begin_message();
        self.session
            .partial_text(&[])
            .iter()
            .try_for_each(|line| write(line))
    }

    fn piece(&mut self, text: &str) -> Result<(), String> {
        self.text.push_str(text);
        if self.piece.is_none() {
            let lines = self.session.partial_text(&[PLACE]);
            let line = lines.last().ok_or("no line for a piece")?;
            let (before, after) = line.split_once(PLACE).ok_or("no text in a piece")?;
            self.piece = Some((before.to_owned(), after.to_owned()));
        }
        let Some((before, after)) = &self.piece else {
            return Ok(());
        };
        // The texts here need no other escapes.
        let text = text.replace('\n', "\\n");
        write(&format!("{before}{text}{after}"))
    }

    fn end(&mut self) -> Result<(), String> {
        let block = self.session.text(&self.text);
        write(&block)?;
        self.session
            .partial_end("end_turn")
            .iter()
            .try_for_each(|line| write(line))
    }

    fn call(&mut self, command: &str) -> Result<String, String> {
        self.calls += 1;
        let call = format!("toolu_{}", self.calls);
        write(&self.session.tool_use(&call, "Bash", &json!({"command": command})))?;
        Ok(call)
    }

    fn result(&mut self, call: &str, text: &str) -> Result<(), String> {
        write(
            &self
                .session
                .tool_result(call, text, ToolOutcome::Succeeded, &Value::Null),
        )
    }
}

/// It ends with a newline: nobody waits for the rest of a word.
fn tick() -> String {
    format!("{MARK}{}\n", now())
}
