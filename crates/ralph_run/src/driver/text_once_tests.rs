//! Text is journaled once, and every reader sees what was recorded.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use agent_api::{
    AgentKind, Body, Delta, DeltaMode, DiscardReason, Event, ItemDiscarded, ItemId, Outcome, Part, Piece,
    TextBlock, ThinkingBlock, TurnFinished,
};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::prop_assert_eq;

use super::record_keeper::RecordKeeper;
use crate::journal::{DamageKind, JournalFollower, JournalWriter, read_journal, restore_text};
use crate::record::Record;
use crate::redact::{Redactor, Secret};
use crate::sink::Sink;

const SECRET: &str = "zq9secretvalue77";

static REDACTOR: LazyLock<Arc<Redactor>> =
    LazyLock::new(|| Arc::new(Redactor::new(Secret::new("A_KEY", SECRET), [""; 0]).unwrap()));

#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<Vec<Record>>>);

impl Sink for Recorded {
    fn delta(&mut self, _: &Event) {}

    fn record(&mut self, record: &Arc<Record>, _: usize) {
        self.0.lock().unwrap().push((**record).clone());
    }
}

/// What happens in a run.
#[derive(Debug, Clone)]
enum Step {
    /// More of an item's text.
    Delta(usize, DeltaMode, String),
    /// The rest of the text, and the block with all of it, or with something else.
    Block(usize, bool),
    Discard(usize),
    /// Waiting pieces are recorded.
    Flush,
    TurnEnd,
    NextAttempt,
}

fn event(body: Body) -> Event {
    Event::new(AgentKind::DEMO, body)
}

/// Plays the steps of three items, the last of which is thinking. Returns the records as views are given them.
fn play(path: &Path, steps: &[Step]) -> Vec<Record> {
    let journal = JournalWriter::create(path).unwrap();
    let recorded = Recorded::default();
    let mut keeper = RecordKeeper::new(journal, Arc::clone(&REDACTOR), vec![Box::new(recorded.clone())]);
    let mut texts = [const { String::new() }; 3];
    let mut last_text = String::new();
    let mut attempt = 1;
    for step in steps {
        match step {
            Step::Delta(number, mode, text) => {
                if *mode == DeltaMode::Snapshot {
                    texts[*number].clear();
                }
                texts[*number].push_str(text);
                keeper.event(event(Body::Delta(Delta {
                    item: ItemId::new(&format!("item {number}")),
                    part: if *number == 2 { Part::Thinking } else { Part::Text },
                    mode: *mode,
                    text: text.clone(),
                })));
            }
            Step::Block(number, is_other) => {
                let mut text = std::mem::take(&mut texts[*number]);
                if *is_other {
                    text.insert(text.floor_char_boundary(text.len() / 2), '!');
                }
                let (item, piece) = (ItemId::new(&format!("item {number}")), Piece::WHOLE);
                keeper.event(event(if *number == 2 {
                    Body::ThinkingBlock(ThinkingBlock {
                        item,
                        text,
                        piece,
                        is_redacted: false,
                    })
                } else {
                    last_text.clone_from(&text);
                    Body::TextBlock(TextBlock {
                        item,
                        text,
                        piece,
                        is_aborted: *is_other,
                    })
                }));
            }
            Step::Discard(number) => {
                texts[*number].clear();
                let (item, reason) = (ItemId::new(&format!("item {number}")), DiscardReason::Retry);
                keeper.event(event(Body::ItemDiscarded(ItemDiscarded { item, reason })));
            }
            Step::Flush => keeper.flush_deltas(),
            Step::TurnEnd => {
                let mut turn = TurnFinished::new(1, Outcome::Succeeded);
                turn.text = Some(last_text.clone());
                keeper.event(event(Body::TurnFinished(Box::new(turn))));
            }
            Step::NextAttempt => {
                attempt += 1;
                keeper.set_position((1, attempt));
            }
        }
    }
    keeper.set_position((2, 1));
    keeper.flush();
    drop(keeper);
    recorded.0.lock().unwrap().clone()
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop_oneof![
        3 => (0..9_usize).prop_map(|count| "a \"quoted\" \\ é\n line of words. ".repeat(count)),
        1 => Just(format!("key {SECRET} ")),
        1 => Just("zq9secr".to_owned()),
        1 => Just("long ".repeat(4_000)),
    ];
    let mode = prop_oneof![9 => Just(DeltaMode::Append), 1 => Just(DeltaMode::Snapshot)];
    prop_oneof![
        8 => (0..3_usize, mode, words).prop_map(|(item, mode, text)| Step::Delta(item, mode, text)),
        4 => Just(Step::Flush),
        3 => (0..3_usize, any::<bool>()).prop_map(|(item, is_other)| Step::Block(item, is_other)),
        1 => (0..3_usize).prop_map(Step::Discard),
        2 => Just(Step::TurnEnd),
        1 => Just(Step::NextAttempt),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_reader_sees_what_was_recorded(steps in proptest::collection::vec(step(), 1..60)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let recorded = play(&path, &steps);
        let read: Vec<Record> = read_journal(&path).unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(&read, &recorded);
        // From the middle: what comes before is not read, unless a text is there.
        let from_seq = recorded.len() as u64 / 2;
        let late: Vec<Record> = read_journal(&path).unwrap().from_seq(from_seq).map(Result::unwrap).collect();
        prop_assert_eq!(&late, &recorded[from_seq.saturating_sub(1) as usize..]);
        // Single lines, in any order.
        let bytes = fs::read(&path).unwrap();
        let mut offset = bytes.len();
        for (line, record) in bytes.split_inclusive(|byte| *byte == b'\n').rev().zip(recorded.iter().rev()) {
            offset -= line.len();
            let restored = restore_text(line, offset as u64, &mut Cursor::new(&bytes)).unwrap();
            prop_assert_eq!(&serde_json::from_slice::<Record>(&restored).unwrap(), record);
        }
    }
}

fn long_answer() -> Vec<Step> {
    let delta = |number: usize, text: &str| Step::Delta(number, DeltaMode::Append, text.repeat(50));
    vec![
        delta(0, "The answer. "),
        Step::Flush,
        delta(1, "Another one. "),
        Step::Flush,
        delta(0, "More of it. "),
        Step::Flush,
        delta(0, "And its end."),
        Step::Block(0, false),
        Step::Block(1, false),
        Step::TurnEnd,
    ]
}

#[test]
fn an_answer_that_was_streamed_is_in_the_journal_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    play(&path, &long_answer());
    let journal = fs::read_to_string(&path).unwrap();
    for (words, count) in [
        ("The answer.", 50),
        ("More of it.", 50),
        ("And its end.", 50),
        ("Another one.", 50),
    ] {
        assert_eq!(journal.matches(words).count(), count, "{words}");
    }
    assert_eq!(journal.matches("\"type\":\"text_block_rest\"").count(), 2);
    assert_eq!(journal.matches("\"text_from\":").count(), 3);
}

#[tokio::test]
async fn a_follower_sees_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let recorded = play(&path, &long_answer());
    for from_seq in 1..=recorded.len() {
        let mut follower = JournalFollower::open(&path, from_seq as u64).unwrap();
        follower.stop_at_end();
        for record in &recorded[from_seq - 1..] {
            assert_eq!(&follower.next().await.unwrap().unwrap(), record);
        }
        assert!(follower.next().await.is_none());
    }
}

#[test]
fn text_whose_deltas_are_damaged_is_reported_and_not_made_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let recorded = play(&path, &long_answer());
    let whole = fs::read_to_string(&path).unwrap();
    // Other words, and no line at all.
    for (from, to) in [("More of it", "Less of it"), ("\"seq\":3", "\"se")] {
        fs::write(&path, whole.replacen(from, to, 1)).unwrap();
        let (mut lost, mut records) = (Vec::new(), Vec::new());
        for item in read_journal(&path).unwrap() {
            match item {
                Ok(record) => records.push(record),
                Err(damage) if matches!(damage.kind, DamageKind::TextLost(_)) => lost.push(damage.line),
                Err(_) => {}
            }
        }
        assert_eq!(lost, [4]);
        // What is left is there as it was written.
        assert!(
            records
                .iter()
                .any(|record| record.seq == 4 && *record != recorded[3])
        );
        assert_eq!(records.last(), recorded.last());
    }
}
