//! From a journal's lines to rows.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use ralph_run::model::{RunState, WaitingFor};
use ralph_run::{EndReason, JournalReader};
use ralph_store::{
    ApprovalRow, ApprovalState, Batch, Folded, MessageRow, MessageState, Progress, RunFold, UsageRow,
};

/// A journal that is being written.
#[derive(Default)]
struct Journal {
    lines: Vec<String>,
    position: (u32, u32),
}

impl Journal {
    fn begin() -> Self {
        let mut journal = Self::default();
        journal.run(
            "run_started",
            r#"{"format_version":1,"run_id":"r","ralph_version":"0","workspace":"/w","backend":"claude_code","display_name":"Claude","max_iterations":5,"max_cost":10000000}"#,
        );
        journal.position = (1, 1);
        journal.run(
            "iteration_started",
            r#"{"number":1,"prompt":"Fix it.\n\n## Loop\n"}"#,
        );
        journal.run(
            "attempt_started",
            r#"{"number":1,"pid":1,"raw_log":"raw/1.ndjson","program":"x"}"#,
        );
        journal
    }

    fn run(&mut self, kind: &str, data: &str) -> &mut Self {
        self.push("", kind, data)
    }

    fn agent(&mut self, kind: &str, data: &str) -> &mut Self {
        self.push(r#""agent_kind":"claude_code","#, kind, data)
    }

    fn push(&mut self, head: &str, kind: &str, data: &str) -> &mut Self {
        let seq = self.lines.len() + 1;
        let (iteration, attempt) = self.position;
        self.lines.push(format!(
            r#"{{"seq":{seq},"at":"2026-11-16T00:00:{:02}.5Z","iteration":{iteration},"attempt":{attempt},"event":{{{head}"type":"{kind}","data":{data}}}}}"#,
            seq % 60
        ));
        self
    }

    fn step(&mut self, parent: Option<&str>, model: Option<&str>, input: u64, output: u64) -> &mut Self {
        let parent = parent.map_or_else(String::new, |parent| format!(r#""parent":"{parent}","#));
        let model = model.map_or_else(String::new, |model| format!(r#""model":"{model}","#));
        let data = format!(
            r#"{{"scope":"step","tokens":{{}},{model}"run":{{"tokens":{{"input":{input},"output":{output}}},"is_partial":true}}}}"#
        );
        self.push(&format!(r#""agent_kind":"claude_code",{parent}"#), "usage", &data)
    }

    fn turn(&mut self, input: u64, output: u64, cost: u64) -> &mut Self {
        let data = format!(
            r#"{{"scope":"turn","tokens":{{}},"run":{{"tokens":{{"input":{input},"output":{output}}},"cost":{{"micro_usd":{cost},"source":"reported"}}}}}}"#
        );
        self.agent("usage", &data)
    }

    fn end(&mut self, totals: &str) -> &mut Self {
        let data = format!(r#"{{"outcome":"succeeded","exit":{{}},"totals":{totals}}}"#);
        self.run("attempt_ended", &data);
        let data = format!(r#"{{"reason":"completed","exit_code":0,"iterations":1,"totals":{totals}}}"#);
        self.run("run_ended", &data)
    }

    fn fold(&self) -> RunFold {
        let mut fold = RunFold::new();
        for line in &self.lines {
            fold.push(line.as_bytes());
        }
        fold
    }
}

/// What an index keeps, so far as a fold has to be given it back.
#[derive(Default)]
struct Kept {
    usage: Vec<UsageRow>,
    approvals: Vec<ApprovalRow>,
    messages: Vec<MessageRow>,
    last: Option<Batch>,
}

impl Kept {
    fn ingest(&mut self, batch: Batch) {
        fn put<T: Clone>(rows: &mut Vec<T>, new: &[T], seq: impl Fn(&T) -> u64) {
            for row in new {
                rows.retain(|known| seq(known) != seq(row));
                rows.push(row.clone());
            }
            rows.sort_by_key(&seq);
        }
        put(&mut self.usage, &batch.usage, |row| row.seq);
        put(&mut self.approvals, &batch.approvals, |row| row.seq);
        put(&mut self.messages, &batch.messages, |row| row.seq);
        self.last = Some(batch);
    }

    fn progress(&self) -> Progress {
        let last = self.last.clone().unwrap();
        let from = last.state.unsettled_from();
        Progress {
            offset: last.offset,
            summary: last.summary,
            approvals: self
                .approvals
                .iter()
                .filter(|row| row.state == ApprovalState::Pending)
                .cloned()
                .collect(),
            usage: self
                .usage
                .iter()
                .filter(|row| from.is_some_and(|from| row.seq >= from))
                .cloned()
                .collect(),
            // Through JSON, as an engine keeps it.
            state: serde_json::from_str(&serde_json::to_string(&last.state).unwrap()).unwrap(),
        }
    }
}

fn long_story() -> Journal {
    let mut journal = Journal::begin();
    journal
        .agent(
            "session_started",
            r#"{"session_id":"s1","model":"claude-opus-4-5","tools":["Bash"]}"#,
        )
        .step(None, Some("claude-opus-4-5"), 1000, 1)
        .agent("delta", r#"{"item":"a","part":"text","text":"x"}"#)
        .step(None, None, 1000, 60)
        .agent("text_block", r#"{"item":"a","text":"x"}"#)
        .agent(
            "permission_requested",
            r#"{"request":"p1","tool":"Bash","kind":"execute"}"#,
        )
        .agent("question_asked", r#"{"request":"q1","questions":[]}"#)
        .agent("request_closed", r#"{"request":"p1","reason":"denied"}"#)
        .run(
            "command_received",
            r#"{"command_id":"c1","command":"send","text":"hi","mode":"queue","message_id":"m1"}"#,
        )
        .run(
            "command_received",
            r#"{"command_id":"c2","command":"send","text":"ho","mode":"steer","message_id":"m2"}"#,
        )
        .run(
            "command_received",
            r#"{"command_id":"c3","command":"edit_message","message_id":"m1","text":"hello"}"#,
        )
        .run(
            "command_received",
            r#"{"command_id":"c4","command":"send","text":"no","message_id":"m9","refused":"no"}"#,
        )
        .run("message_sent", r#"{"message_id":"m2"}"#)
        .agent("request_closed", r#"{"request":"q1","reason":"answered"}"#)
        .step(Some("t1"), Some("claude-haiku-4-5"), 1500, 80)
        .step(None, Some("claude-opus-4-5"), 2500, 81)
        .step(Some("t1"), None, 2500, 100)
        .agent("message_updated", r#"{"message_id":"m2","state":"started"}"#)
        .agent("turn_finished", r#"{"number":1,"outcome":"succeeded"}"#)
        .turn(2500, 110, 9_001)
        .run("message_sent", r#"{"message_id":"m1"}"#)
        .agent("error", r#"{"class":"vendor","code":"x","message":"y"}"#)
        .step(None, Some("claude-opus-4-5"), 4000, 111)
        .agent("plan_proposed", r#"{"request":"l1","plan":"do"}"#)
        .end(r#"{"tokens":{"input":4000,"output":150},"cost":12345,"turns":1,"duration_ms":700}"#);
    journal
}

#[test]
fn a_run_at_a_glance_is_what_its_journal_says() {
    let mut fold = long_story().fold();
    let batch = fold.take().unwrap();
    let summary = &batch.summary;
    assert_eq!((summary.id.as_str(), summary.title.as_str()), ("r", "Fix it."));
    assert_eq!(summary.reason, Some(EndReason::Completed.into()));
    assert_eq!(
        summary.activity,
        RunState::Ended {
            reason: EndReason::Completed.into()
        }
    );
    assert_eq!(
        (
            summary.iteration,
            summary.attempt,
            summary.errors,
            summary.pending
        ),
        (1, 1, 1, 0)
    );
    assert_eq!(summary.session_ids, ["s1"]);
    assert_eq!(summary.model.as_deref(), Some("claude-opus-4-5"));
    assert_eq!(summary.max_cost_micro_usd, Some(10_000_000));
    assert_eq!((summary.totals.turns, summary.totals.duration_ms), (1, 700));
    assert_eq!(summary.head_seq, 29);
    assert_eq!(batch.records.len(), 28, "all but the delta");
    assert!(fold.take().is_none());
}

#[test]
fn rows_say_where_the_lines_stand() {
    let journal = long_story();
    let text = journal.lines.join("\n") + "\n";
    let batch = journal.fold().take().unwrap();
    assert_eq!((batch.start, batch.offset), (0, text.len() as u64));
    for row in &batch.records {
        let from = usize::try_from(row.offset).unwrap();
        let line = text[from..].lines().next().unwrap();
        assert!(line.starts_with(&format!(r#"{{"seq":{},"#, row.seq)), "{line}");
        assert!(
            line.contains(&format!(r#""type":"{}""#, row.kind)) && line.ends_with('}'),
            "{line}"
        );
    }
}

#[test]
fn what_messages_used_adds_up_to_what_the_run_used() {
    let batch = long_story().fold().take().unwrap();
    let sum = |field: fn(&UsageRow) -> i64| batch.usage.iter().map(field).sum::<i64>();
    assert_eq!(
        (sum(|row| row.tokens.input), sum(|row| row.tokens.output)),
        (4000, 150)
    );
    assert_eq!(sum(|row| row.cost_micro_usd.unwrap()), 12_345);
    let models: Vec<_> = batch
        .usage
        .iter()
        .map(|row| row.model.as_deref().unwrap())
        .collect();
    assert_eq!(
        models,
        [
            "claude-opus-4-5",
            "claude-haiku-4-5",
            "claude-opus-4-5",
            "claude-opus-4-5"
        ]
    );
    assert!(batch.usage.iter().all(|row| !row.is_estimate));
}

#[test]
fn an_agent_that_only_tells_totals_has_one_row_a_turn() {
    let mut journal = Journal::begin();
    journal.turn(100, 10, 500).turn(300, 20, 900);
    let batch = journal.fold().take().unwrap();
    let rows: Vec<_> = batch
        .usage
        .iter()
        .map(|row| (row.tokens.input, row.cost_micro_usd.unwrap()))
        .collect();
    assert_eq!(rows, [(100, 500), (200, 400)]);
}

#[test]
fn a_run_waits_until_all_its_questions_are_closed() {
    let mut journal = Journal::begin();
    journal
        .agent(
            "permission_requested",
            r#"{"request":"p1","tool":"Bash","kind":"execute"}"#,
        )
        .agent("question_asked", r#"{"request":"q1","questions":[]}"#)
        .agent("text_block", r#"{"item":"a","text":"x"}"#);
    let waiting = |what| RunState::Waiting { what };
    let activity = |journal: &Journal| journal.fold().summary().unwrap().activity.clone();
    assert_eq!(activity(&journal), waiting(WaitingFor::Permission));
    journal.agent("request_closed", r#"{"request":"p1","reason":"answered"}"#);
    assert_eq!(activity(&journal), waiting(WaitingFor::Question));
    journal.agent("request_closed", r#"{"request":"q1","reason":"withdrawn"}"#);
    assert_eq!(activity(&journal), RunState::Thinking);
    let states: Vec<_> = journal
        .fold()
        .take()
        .unwrap()
        .approvals
        .iter()
        .map(|row| row.state)
        .collect();
    assert_eq!(states, [ApprovalState::Answered, ApprovalState::Withdrawn]);
}

#[test]
fn what_nobody_answered_is_withdrawn_with_the_process() {
    let batch = long_story().fold().take().unwrap();
    let last = batch.approvals.iter().find(|row| row.request == "l1").unwrap();
    assert_eq!(last.state, ApprovalState::Withdrawn);
    assert_eq!(last.data.get(), r#"{"request":"l1","plan":"do"}"#);
}

#[test]
fn messages_are_followed_to_the_agent() {
    let mut kept = Kept::default();
    kept.ingest(long_story().fold().take().unwrap());
    let states: Vec<_> = kept
        .messages
        .iter()
        .map(|row| (row.id.as_str(), row.text.as_str(), row.state))
        .collect();
    // The agent was given the first one and its process ended before it said that it has it.
    assert_eq!(
        states,
        [
            ("m1", "hello", MessageState::Lost),
            ("m2", "ho", MessageState::Delivered)
        ]
    );
}

#[test]
fn a_run_that_is_stopped_stays_so_until_it_has_ended() {
    let mut journal = Journal::begin();
    journal
        .run("command_received", r#"{"command_id":"c","command":"stop"}"#)
        .agent("text_block", r#"{"item":"a","text":"x"}"#);
    assert_eq!(journal.fold().summary().unwrap().activity, RunState::Stopping);
}

#[test]
fn damage_is_counted_and_the_next_line_is_read() {
    let journal = long_story();
    let whole = journal.fold().take().unwrap();
    let mut fold = RunFold::new();
    for line in &journal.lines {
        fold.push(line.as_bytes());
        assert_eq!(fold.push(b"\xff{"), Folded::Damaged);
        assert_eq!(
            fold.push(line.as_bytes()),
            Folded::Damaged,
            "a number that was there before"
        );
    }
    let batch = fold.take().unwrap();
    assert_eq!(batch.summary, whole.summary);
    assert_eq!(batch.records.len(), whole.records.len());
    assert_eq!(fold.damaged(), 2 * journal.lines.len() as u64);
}

#[test]
fn a_journal_of_a_newer_version_is_a_run_nonetheless() {
    let mut journal = Journal::begin();
    journal
        .run("a_thing_of_tomorrow", r#"{"x":[1,2]}"#)
        .agent("usage", r#""not what we know""#)
        .run("run_ended", r#"{"reason":{"eaten":"by a dog"},"exit_code":7}"#);
    let batch = journal.fold().take().unwrap();
    assert_eq!(batch.records.len(), 6);
    let reason = serde_json::to_string(&batch.summary.reason).unwrap();
    assert_eq!(reason, r#"{"eaten":"by a dog"}"#);
    assert_eq!(batch.summary.exit_code, Some(7));
}

#[test]
fn what_begins_without_its_first_record_is_no_run() {
    let journal = long_story();
    let mut fold = RunFold::new();
    for line in journal.lines.iter().skip(1) {
        assert_eq!(fold.push(line.as_bytes()), Folded::Damaged);
    }
    assert!(fold.take().is_none());
}

#[test]
fn going_on_anywhere_gives_the_same_rows_as_reading_at_once() {
    let journal = long_story();
    let mut whole = Kept::default();
    whole.ingest(journal.fold().take().unwrap());
    for cut in 1..journal.lines.len() {
        let mut kept = Kept::default();
        let mut fold = RunFold::new();
        for line in &journal.lines[..cut] {
            fold.push(line.as_bytes());
        }
        kept.ingest(fold.take().unwrap());
        let mut fold = RunFold::resume(kept.progress());
        for line in &journal.lines[cut..] {
            fold.push(line.as_bytes());
        }
        kept.ingest(fold.take().unwrap());
        assert_eq!(kept.usage, whole.usage, "cut after line {cut}");
        assert_eq!(kept.messages, whole.messages, "cut after line {cut}");
        assert_eq!(
            format!("{:?}", kept.approvals),
            format!("{:?}", whole.approvals),
            "cut after line {cut}"
        );
        let (one, other) = (kept.last.unwrap(), whole.last.clone().unwrap());
        assert_eq!(
            (one.summary, one.state, one.offset),
            (other.summary, other.state, other.offset)
        );
    }
}

/// The journal as [`RunFold::push_item`] reads it, with and without lines.
fn fold_of_file(text: &str, keeps_lines: bool) -> Batch {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut fold = RunFold::new().keeping_lines(keeps_lines);
    let (mut journal, mut buffer) = (JournalReader::open(file.path()).unwrap(), Vec::new());
    while journal
        .read(&mut buffer, |item| {
            assert_ne!(fold.push_item(&item), Folded::Damaged);
        })
        .unwrap()
    {}
    fold.take().unwrap()
}

#[test]
fn lines_with_all_of_their_text_give_the_same_rows() {
    let mut journal = Journal::begin();
    journal.agent("session_started", r#"{"session_id":"s1"}"#);
    let offset = journal.lines.join("\n").len() + 1;
    let text = "all of it ".repeat(40);
    let from = |text: &str, item: &str| {
        let checksum = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        let bytes = text.len();
        format!(r#""text_from":{{"offset":{offset},"bytes":{bytes},"checksum":{checksum}{item}}}"#)
    };
    journal.agent(
        "delta",
        &format!(r#"{{"item":"m/1","part":"text","text":"{text}"}}"#),
    );
    journal.agent(
        "text_block_rest",
        &format!(r#"{{"item":"m/1","text":"end",{}}}"#, from(&text, "")),
    );
    journal.step(None, Some("m"), 10, 2);
    let whole = format!("{text}end");
    let turn = from(&whole, r#","item":"m/1""#);
    let turn = format!(r#"{{"number":1,"outcome":"succeeded",{turn}}}"#);
    journal.agent("turn_finished", &turn);
    journal.turn(10, 2, 7).end(r#"{"turns":1}"#);
    let written = journal.lines.join("\n") + "\n";
    let (with, without) = (fold_of_file(&written, true), fold_of_file(&written, false));
    let line = |kind: &str| {
        let record = with.records.iter().find(|record| record.kind == kind).unwrap();
        record.line.as_deref().unwrap().to_owned()
    };
    assert!(line("text_block").contains(&whole));
    assert!(line("turn_finished").contains(&whole));
    assert!(without.records.iter().all(|record| record.line.is_none()));
    let rows = |batch: &Batch| {
        let places: Vec<_> = batch
            .records
            .iter()
            .map(|record| (record.seq, record.offset, record.kind.clone()))
            .collect();
        format!(
            "{places:?} {:?} {} {:?} {:?} {:?} {:?}",
            batch.summary, batch.offset, batch.state, batch.usage, batch.approvals, batch.messages
        )
    };
    assert_eq!(rows(&with), rows(&without));
}

#[test]
fn a_cost_limit_that_was_raised_is_the_limit_of_the_run() {
    let mut journal = Journal::begin();
    journal.run("limit_raised", r#"{"limit":"iterations","to":7}"#);
    let limit = |journal: &Journal| journal.fold().take().unwrap().summary.max_cost_micro_usd;
    assert_eq!(limit(&journal), Some(10_000_000));
    journal.run("limit_raised", r#"{"limit":"cost","to":15000000}"#);
    assert_eq!(limit(&journal), Some(15_000_000));
}
