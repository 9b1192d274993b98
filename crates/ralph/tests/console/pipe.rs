//! Readers that go away, and readers that wait.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use agent_api::Part;
use ralph::console::{Gap, Hurry, Mode, Options, Port, Queue};
use ralph_run::Sink;

use crate::stage::{Paper, Stage, delta, text};
use crate::story::play;

/// A pipe whose reader leaves after so many bytes.
struct Head {
    left: usize,
    taken: Paper,
}

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        self.taken.write(&bytes[..taken])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_leaves_is_noticed_wherever_it_does() {
    let mut whole = Stage::new(Options::piped(Mode::Verbose));
    play(&mut whole);
    let (out, _) = whole.finish();
    for left in 0..=out.len() {
        let taken = Paper::default();
        let head = Head {
            left,
            taken: taken.clone(),
        };
        let mut stage = Stage::on(Options::piped(Mode::Verbose), head, Paper::default());
        assert!(!stage.console.is_closed());
        play(&mut stage);
        assert_eq!(stage.console.is_closed(), left < out.len(), "{left}");
        stage.console.finish();
        assert_eq!(taken.bytes(), &out.as_bytes()[..left]);
    }
}

/// A reader that takes a write only when it is told to.
struct Pager {
    turns: Receiver<()>,
    taken: Paper,
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.turns.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.taken.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn pager(gap: Gap) -> (Queue<Pager>, Sender<()>, Paper) {
    let (turn, turns) = channel();
    let taken = Paper::default();
    let queue = Queue::new(
        Pager {
            turns,
            taken: taken.clone(),
        },
        gap,
    );
    (queue.with_patience(Duration::from_millis(20)), turn, taken)
}

#[test]
fn a_reader_that_reads_nothing_does_not_stop_the_run_and_is_told_what_it_missed() {
    let (mut queue, turn, taken) = pager(Gap::Told);
    let block = "x".repeat(256 * 1024);
    // More than may wait: the rest is left out instead of waiting forever.
    for _ in 0..8 {
        queue.send(&block);
    }
    assert!(queue.is_behind() && !queue.is_closed());
    for _ in 0..1_000 {
        turn.send(()).unwrap();
    }
    while queue.is_behind() {
        std::thread::yield_now();
    }
    queue.send("after\n");
    queue.finish();
    let text = taken.text();
    let kept = text.matches('x').count();
    let missing = 8 * block.len() - kept;
    assert!(missing > 0);
    let end = format!("\n({missing} bytes are not shown, because nobody read them in time)\nafter\n");
    assert!(text.ends_with(&end), "{}", &text[text.len() - 100..]);
}

#[test]
fn programs_get_no_note_about_a_gap() {
    let (mut queue, turn, taken) = pager(Gap::Silent);
    for _ in 0..8 {
        queue.send(&format!("{}\n", "x".repeat(512 * 1024)));
    }
    for _ in 0..1_000 {
        turn.send(()).unwrap();
    }
    while queue.is_behind() {
        std::thread::yield_now();
    }
    queue.send("{}\n");
    queue.finish();
    assert!(taken.text().ends_with("x\n{}\n"));
}

#[test]
fn a_slow_reader_gets_everything() {
    let (queue, turn, taken) = pager(Gap::Told);
    let mut queue = queue.with_patience(Duration::from_secs(60));
    let reader = std::thread::spawn(move || while turn.send(()).is_ok() {});
    let block = "x".repeat(100_000);
    for _ in 0..50 {
        queue.send(&block);
    }
    queue.finish();
    assert_eq!(taken.bytes().len(), 5_000_000);
    drop(queue);
    reader.join().unwrap();
}

#[test]
fn a_patient_queue_waits_for_its_reader_however_long_it_takes() {
    let (queue, turn, taken) = pager(Gap::Told);
    // Without patience everything beyond the first megabyte would be left out at once.
    let mut queue = queue
        .with_patience(Duration::ZERO)
        .patient_until(Hurry::default());
    let reader = std::thread::spawn(move || while turn.send(()).is_ok() {});
    let block = "x".repeat(100_000);
    for _ in 0..50 {
        queue.send(&block);
    }
    queue.finish();
    assert_eq!(taken.bytes().len(), 5_000_000);
    drop(queue);
    reader.join().unwrap();
}

#[test]
fn a_reader_that_reads_nothing_does_not_keep_a_process_that_is_asked_to_end() {
    let (queue, turn, taken) = pager(Gap::Told);
    let hurry = Hurry::default();
    let mut queue = queue.patient_until(hurry.clone());
    let asking = std::thread::spawn(move || hurry.set());
    let block = "x".repeat(1 << 20);
    for _ in 0..4 {
        queue.send(&block);
    }
    queue.finish();
    asking.join().unwrap();
    assert!(queue.is_behind() && taken.text().is_empty());
    drop(turn);
}

#[test]
fn a_reader_that_left_is_noticed_behind_a_queue() {
    let taken = Paper::default();
    let mut queue = Queue::new(
        Head {
            left: 3,
            taken: taken.clone(),
        },
        Gap::Told,
    );
    queue.send("hello");
    queue.finish();
    assert!(queue.is_closed());
    queue.send("more");
    assert_eq!(taken.text(), "hel");
}

#[test]
fn a_queue_that_is_not_used_starts_nothing() {
    let (mut queue, turn, taken) = pager(Gap::Told);
    queue.send("");
    queue.finish();
    assert!(!queue.is_closed() && taken.text().is_empty());
    drop(turn);
}

#[test]
fn a_line_of_a_text_is_shown_as_soon_as_it_ends_and_only_once() {
    let mut stage = Stage::new(Options::piped(Mode::Default));
    stage.begin(1);
    let before = stage.out.text().len();
    for (piece, shown) in [
        ("one", ""),
        (" two\n", "Claude: one two\n"),
        ("\n", "Claude: one two\n"),
        ("three", "Claude: one two\n\n"),
        ("\n  \n", "Claude: one two\n\nthree\n"),
    ] {
        stage
            .console
            .live(&crate::stage::event(delta("1", Part::Text, piece)));
        assert_eq!(&stage.out.text()[before..], shown, "after {piece:?}");
    }
    stage.agent(text("1", "one two\n\nthree\n  \n"));
    stage.agent(text("2", "four\n"));
    assert_eq!(
        &stage.out.text()[before..],
        "Claude: one two\n\nthree\nClaude: four\n"
    );
}
