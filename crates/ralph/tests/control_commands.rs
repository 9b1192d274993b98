//! `attach`, `send`, `queue`, `answer`, `interrupt` and `stop` against a run's directory with a scripted runner.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::future::pending;
use std::time::Duration;

use jiff::Timestamp;
use ralph::commands::answer::{Answer, ListFormat};
use ralph::commands::attach::Attach;
use ralph::commands::queue::{Queue, QueueAction};
use ralph::commands::send::Send;
use ralph::commands::stop::{Stop, Target, Wait};
use ralph::commands::{answer, attach, interrupt, queue, send, stop};
use ralph::console::Port;
use ralph_run::control::{
    AnswerChoice, ControlCommand, ControlServer, Greeting, Receipt, Refusal, RefusalCode, SendMode,
};
use ralph_run::{Durability, Home, JournalWriter, Record, RunDirectory, RunFile, Runner, Sink};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// For whatever has to happen: reached only when it does not.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Text(String);

impl Port for Text {
    fn send(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn is_closed(&self) -> bool {
        false
    }
}

/// A terminal that somebody looks at.
struct Shown(mpsc::UnboundedSender<String>);

impl Port for Shown {
    fn send(&mut self, text: &str) {
        let _ = self.0.send(text.to_owned());
    }

    fn is_closed(&self) -> bool {
        false
    }
}

/// What a sink was told, and when it says that nobody reads it.
#[derive(Default)]
struct Seen {
    records: Vec<u64>,
    live: usize,
    told: Option<mpsc::UnboundedSender<u64>>,
    closes_after: Option<usize>,
}

impl Sink for Seen {
    fn live(&mut self, _: &agent_api::Event) {
        self.live += 1;
    }

    fn record(&mut self, record: &Record) {
        self.records.push(record.seq);
        if let Some(told) = &self.told {
            told.send(record.seq).unwrap();
        }
    }

    fn is_closed(&self) -> bool {
        self.closes_after.is_some_and(|limit| self.records.len() >= limit)
    }
}

struct Place {
    home: Home,
    _folder: TempDir,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(folder.path().join("ralph"), None);
    home.prepare().unwrap();
    Place {
        home,
        _folder: folder,
    }
}

fn run_file(run: &RunDirectory, changes: Value) -> RunFile {
    let mut file = json!({
        "version": 1, "run_id": run.id(), "workspace": "/somewhere", "backend": "claude_code",
        "display_name": "Claude", "started_at": "2026-01-01T00:00:00Z", "status": {"state": "running"},
        "runner": Runner::current(), "ralph_version": "0.1.0",
    });
    let changes: serde_json::Map<String, Value> = serde_json::from_value(changes).unwrap();
    file.as_object_mut().unwrap().extend(changes);
    serde_json::from_value(file).unwrap()
}

fn save(run: &RunDirectory, changes: Value) {
    run_file(run, changes)
        .save(&run.run_file(), Durability::Synced)
        .unwrap();
}

fn ended(reason: &str, at: &str) -> Value {
    let mut changes = nobody();
    let over = json!({"status": {"state": "ended"}, "reason": reason, "ended_at": at, "exit_code": 1});
    changes
        .as_object_mut()
        .unwrap()
        .extend(over.as_object().unwrap().clone());
    changes
}

/// A process that is not there.
fn nobody() -> Value {
    let mut runner = Runner::current();
    runner.start_time += 1;
    json!({"runner": runner})
}

fn record(seq: u64, event: Value) -> Record {
    let record =
        json!({"seq": seq, "at": "2026-01-01T00:00:00Z", "iteration": 1, "attempt": 1, "event": event});
    serde_json::from_str(&record.to_string()).unwrap()
}

fn agent(name: &str, data: Value) -> Value {
    json!({"agent_kind": "claude_code", "type": name, "data": data})
}

fn run_started(run: &RunDirectory) -> Record {
    let data = json!({"format_version": 1, "run_id": run.id(), "ralph_version": "0.1.0", "workspace": "/somewhere",
        "backend": "claude_code", "display_name": "Claude", "max_iterations": 1});
    record(1, json!({"type": "run_started", "data": data}))
}

fn run_ended(seq: u64, exit_code: u8) -> Record {
    let data = json!({"reason": "stopped", "exit_code": exit_code, "iterations": 1, "totals": {}});
    record(seq, json!({"type": "run_ended", "data": data}))
}

fn permission(seq: u64, id: &str, command: &str) -> Record {
    let data = json!({"request": id, "tool": "Bash", "kind": "execute", "subject": command,
        "suggestions": [{"rule": "Bash(ls:*)"}]});
    record(seq, agent("permission_requested", data))
}

fn question(seq: u64, id: &str) -> Record {
    let questions =
        json!([{"text": "Which \u{1b}[31mcolour?", "options": [{"label": "red"}, {"label": "blue"}]}]);
    record(
        seq,
        agent("question_asked", json!({"request": id, "questions": questions})),
    )
}

fn journal(run: &RunDirectory, records: &[Record]) -> JournalWriter {
    let mut writer = JournalWriter::create(&run.journal()).unwrap();
    writer.append(&run_started(run)).unwrap();
    for record in records {
        writer.append(record).unwrap();
    }
    writer
}

fn new_run(home: &Home) -> RunDirectory {
    let run = home.create_run(Timestamp::now()).unwrap();
    save(&run, json!({}));
    run
}

/// A runner that takes everything but what it is told to refuse, and tells what it took.
async fn runner(run: &RunDirectory, refused: Option<Refusal>) -> mpsc::UnboundedReceiver<ControlCommand> {
    let greeting = Greeting::new(run.id(), "running");
    let mut server = ControlServer::bind(run.prepare_socket().unwrap(), greeting)
        .await
        .unwrap();
    let (told, taken) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let incoming = server.next().await;
            told.send(incoming.command).unwrap();
            incoming
                .reply
                .send(refused.clone().map_or_else(|| Ok(Receipt::default()), Err));
        }
    });
    taken
}

fn message(run: &str, text: &str) -> Send {
    Send {
        run: run.to_owned(),
        text: text.to_owned(),
        mode: SendMode::Steer,
    }
}

#[tokio::test]
async fn a_message_reaches_the_run_that_is_meant() {
    let place = place();
    let run = new_run(&place.home);
    let mut taken = runner(&run, None).await;
    for asked in [run.id(), &run.id()[..12], "last", "latest"] {
        let mut out = Text::default();
        let exit = send::execute(message(asked, "look at tests/"), &place.home, &b""[..], &mut out).await;
        assert_eq!(exit.unwrap(), 0);
        assert_eq!(out.0, format!("sent to run {}\n", run.id()));
        let (text, mode) = ("look at tests/".to_owned(), SendMode::Steer);
        assert_eq!(taken.recv().await, Some(ControlCommand::Send { text, mode }));
    }
}

#[tokio::test]
async fn a_message_can_come_from_stdin_and_wait_its_turn() {
    let place = place();
    let run = new_run(&place.home);
    let mut taken = runner(&run, None).await;
    let queued = Send {
        mode: SendMode::Queue,
        ..message("last", "-")
    };
    let mut out = Text::default();
    send::execute(queued, &place.home, &b"from a pipe\n"[..], &mut out)
        .await
        .unwrap();
    assert_eq!(out.0, format!("queued to run {}\n", run.id()));
    let (text, mode) = ("from a pipe\n".to_owned(), SendMode::Queue);
    assert_eq!(taken.recv().await, Some(ControlCommand::Send { text, mode }));

    let empty = send::execute(message("last", "-"), &place.home, &b" \n"[..], &mut out).await;
    assert_eq!(empty.unwrap_err().to_string(), "an empty message: say something");
    let endless = send::execute(message("last", "-"), &place.home, std::io::repeat(b'x'), &mut out).await;
    assert!(endless.unwrap_err().to_string().contains("too long"));
}

#[tokio::test]
async fn a_refusal_is_told_without_what_a_terminal_would_obey() {
    let place = place();
    let run = new_run(&place.home);
    let refusal = Refusal::new(RefusalCode::Unsupported, "this agent \u{1b}[2Jtakes no messages");
    let _taken = runner(&run, Some(refusal)).await;
    let error = send::execute(message("last", "x"), &place.home, &b""[..], &mut Text::default())
        .await
        .unwrap_err();
    let told = error.to_string();
    assert!(
        told.contains("takes no messages") && !told.contains('\u{1b}'),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_run_that_cannot_be_reached_is_explained() {
    let place = place();
    let home = &place.home;
    let told = async |asked: &str| {
        let result = interrupt::execute(asked, home, &mut Text::default()).await;
        result.unwrap_err().to_string()
    };
    assert_eq!(
        told("last").await,
        "there are no runs yet; `ralph run` starts one"
    );

    let run = new_run(home);
    let id = run.id();
    assert!(told("nope").await.starts_with("no run `nope`"));
    let alive = told(id).await;
    assert!(
        alive.starts_with("no runner answers: nobody listens on"),
        "{alive}"
    );

    save(&run, nobody());
    let lost = told(id).await;
    assert!(lost.contains(&format!("of run {id} is gone")), "{lost}");

    let at = Timestamp::now() - jiff::SignedDuration::from_secs(200);
    save(&run, ended("completed", &at.to_string()));
    assert_eq!(
        told(id).await,
        format!("run {id} has ended (completed) 3 minutes ago")
    );

    std::fs::remove_file(run.run_file()).unwrap();
    assert!(told(id).await.starts_with("no runner answers"));
}

#[tokio::test]
async fn an_interrupt_reaches_the_run() {
    let place = place();
    let run = new_run(&place.home);
    let mut taken = runner(&run, None).await;
    let mut out = Text::default();
    assert_eq!(
        interrupt::execute("last", &place.home, &mut out).await.unwrap(),
        0
    );
    assert_eq!(out.0, format!("interrupted run {}\n", run.id()));
    assert_eq!(taken.recv().await, Some(ControlCommand::Interrupt));
}

fn stop_of(target: Target, wait: Wait) -> Stop {
    Stop { target, wait }
}

/// A runner that ends the run when it is told to stop, and that somebody lets it.
async fn stoppable(run: RunDirectory) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
    let greeting = Greeting::new(run.id(), "running");
    let mut server = ControlServer::bind(run.prepare_socket().unwrap(), greeting)
        .await
        .unwrap();
    let (told, is_told) = oneshot::channel();
    let (let_go, go) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let incoming = server.next().await;
        assert_eq!(incoming.command, ControlCommand::Stop);
        incoming.reply.send(Ok(Receipt::default()));
        told.send(()).unwrap();
        go.await.unwrap();
        drop(server);
        // Some runners hang up before they have written down how it ended.
        save(&run, ended("stopped", &Timestamp::now().to_string()));
    });
    (is_told, let_go)
}

#[tokio::test]
async fn stopping_waits_until_the_run_is_over() {
    let place = place();
    let run = new_run(&place.home);
    let (is_told, let_go) = stoppable(run.clone()).await;
    let mut out = Text::default();
    let stop = stop_of(Target::Run("last".into()), Wait::UntilEnded);
    let mut stopping = Box::pin(stop::execute(stop, &place.home, &mut out));
    tokio::select! {
        _ = &mut stopping => unreachable!("the run has not ended"),
        told = is_told => told.unwrap(),
    }
    let_go.send(()).unwrap();
    let exit = timeout(PATIENCE, stopping).await.unwrap();
    assert_eq!(exit.unwrap(), 0);
    assert_eq!(out.0, format!("run {} has ended: stopped\n", run.id()));
}

#[tokio::test]
async fn whoever_waits_for_the_end_sees_that_it_takes_a_while() {
    let place = place();
    let run = new_run(&place.home);
    let (_is_told, let_go) = stoppable(run.clone()).await;
    let (sender, mut shown) = mpsc::unbounded_channel();
    let mut out = Text::default();
    let mut terminal = Shown(sender);
    let stop = stop_of(Target::Run("last".into()), Wait::UntilEnded);
    let mut stopping = Box::pin(stop::execute_with(
        stop,
        &place.home,
        &mut out,
        Some(&mut terminal),
    ));
    let first = tokio::select! {
        _ = &mut stopping => unreachable!("the run has not ended"),
        first = shown.recv() => first.unwrap(),
    };
    assert_eq!(
        first,
        format!("\r\u{1b}[Kwaiting for run {} to end (1s)", run.id())
    );
    let_go.send(()).unwrap();
    assert_eq!(timeout(PATIENCE, stopping).await.unwrap().unwrap(), 0);
    let mut last = String::new();
    while let Ok(text) = shown.try_recv() {
        last = text;
    }
    assert_eq!(last, "\r\u{1b}[K", "the line is taken away");
    assert_eq!(out.0, format!("run {} has ended: stopped\n", run.id()));
}

#[tokio::test]
async fn stopping_without_waiting_returns_at_once() {
    let place = place();
    let run = new_run(&place.home);
    let (_is_told, _let_go) = stoppable(run.clone()).await;
    let mut out = Text::default();
    let stop = stop_of(Target::Run("last".into()), Wait::No);
    assert_eq!(stop::execute(stop, &place.home, &mut out).await.unwrap(), 0);
    assert_eq!(out.0, format!("stopping run {}\n", run.id()));
}

#[tokio::test]
async fn a_run_that_has_ended_is_as_good_as_stopped() {
    let place = place();
    let run = new_run(&place.home);
    save(&run, ended("completed", &Timestamp::now().to_string()));
    let mut out = Text::default();
    let stop = stop_of(Target::Run("last".into()), Wait::UntilEnded);
    assert_eq!(stop::execute(stop, &place.home, &mut out).await.unwrap(), 0);
    assert!(out.0.contains("has ended (completed)"), "{}", out.0);
}

#[tokio::test]
async fn a_runner_that_dies_while_it_stops_is_not_waited_for() {
    let place = place();
    let run = new_run(&place.home);
    let greeting = Greeting::new(run.id(), "running");
    let mut server = ControlServer::bind(run.prepare_socket().unwrap(), greeting)
        .await
        .unwrap();
    let dying = run.clone();
    tokio::spawn(async move {
        server.next().await.reply.send(Ok(Receipt::default()));
        save(&dying, nobody());
        server.close().await;
    });
    let stop = stop_of(Target::Run("last".into()), Wait::UntilEnded);
    let error = stop::execute(stop, &place.home, &mut Text::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("died while it was stopped"), "{error}");
}

#[tokio::test]
async fn all_runs_that_go_on_are_stopped() {
    let place = place();
    let home = &place.home;
    let mut out = Text::default();
    let all = || stop_of(Target::All, Wait::UntilEnded);
    assert_eq!(stop::execute(all(), home, &mut out).await.unwrap(), 0);
    assert_eq!(out.0, "no run is going on\n");

    let finished = new_run(home);
    save(&finished, ended("completed", "2026-01-01T00:00:00Z"));
    let lost = new_run(home);
    save(&lost, nobody());
    let mut live = Vec::new();
    for _ in 0..3 {
        let run = new_run(home);
        let (is_told, let_go) = stoppable(run.clone()).await;
        let_go.send(()).unwrap();
        live.push((run, is_told));
    }
    let mut out = Text::default();
    assert_eq!(stop::execute(all(), home, &mut out).await.unwrap(), 0);
    let mut told: Vec<&str> = out.0.lines().collect();
    told.sort_unstable();
    let mut expected: Vec<String> = live
        .iter()
        .map(|(run, _)| format!("run {} has ended: stopped", run.id()))
        .collect();
    expected.sort_unstable();
    assert_eq!(told, expected);

    // One that does not answer is told, and the exit code says so.
    let deaf = new_run(home);
    let mut out = Text::default();
    assert_eq!(stop::execute(all(), home, &mut out).await.unwrap(), 1);
    assert!(out.0.starts_with("not stopped: no runner answers"), "{}", out.0);
    drop(deaf);
}

fn answer_of(request: Option<&str>, choice: Option<AnswerChoice>) -> Answer {
    Answer {
        run: "last".to_owned(),
        request: request.map(str::to_owned),
        choice,
        format: ListFormat::Text,
    }
}

#[tokio::test]
async fn what_is_asked_is_listed() {
    let place = place();
    let run = new_run(&place.home);
    let mut writer = journal(&run, &[]);
    let list = async |format| {
        let mut out = Text::default();
        let asked = Answer {
            format,
            ..answer_of(None, None)
        };
        assert_eq!(answer::execute(asked, &place.home, &mut out).await.unwrap(), 0);
        out.0
    };
    assert_eq!(
        list(ListFormat::Text).await,
        format!("run {} asks for nothing\n", run.id())
    );
    assert_eq!(list(ListFormat::Json).await, "[]\n");
    writer.append(&permission(2, "req_1", "rm -rf build")).unwrap();
    writer.append(&question(3, "req_2")).unwrap();
    let plan = agent(
        "plan_proposed",
        json!({"request": "req_3", "plan": "# Plan\n1. do it"}),
    );
    writer.append(&record(4, plan)).unwrap();
    assert_eq!(
        list(ListFormat::Text).await,
        "req_1 permission Bash: rm -rf build\nreq_2 question\n- Which colour?\n- choose: red | blue\n\
         req_3 plan\n- # Plan 1. do it\n"
    );
    let asked: Value = serde_json::from_str(&list(ListFormat::Json).await).unwrap();
    assert_eq!(asked[0]["kind"], "permission");
    assert_eq!(asked[1]["data"]["request"], "req_2");
    assert_eq!(asked.as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_only_request_need_not_be_named() {
    let place = place();
    let run = new_run(&place.home);
    let mut writer = journal(
        &run,
        &[permission(2, "req_1", "ls"), permission(3, "req_2", "make")],
    );
    let mut taken = runner(&run, None).await;
    let mut out = Text::default();

    let unclear = answer_of(None, Some(AnswerChoice::Allow));
    let error = answer::execute(unclear, &place.home, &mut out)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("say which:\nreq_1 permission Bash: ls\nreq_2"),
        "{error}"
    );

    let named = answer_of(Some("req_2"), Some(AnswerChoice::AllowAlways));
    answer::execute(named, &place.home, &mut out).await.unwrap();
    let closed = json!({"request": "req_2", "reason": "answered"});
    writer
        .append(&record(4, agent("request_closed", closed)))
        .unwrap();
    let reason = "not today".to_owned();
    let only = answer_of(None, Some(AnswerChoice::Deny { reason }));
    answer::execute(only, &place.home, &mut out).await.unwrap();
    assert_eq!(
        out.0,
        format!("answered req_2 of run {0}\nanswered req_1 of run {0}\n", run.id())
    );

    let mut answered = Vec::new();
    while let Ok(ControlCommand::Answer { request, .. }) = taken.try_recv() {
        answered.push(request.to_string());
    }
    assert_eq!(answered, ["req_2", "req_1"]);

    let gone = answer_of(Some("req_2"), Some(AnswerChoice::Allow));
    let error = answer::execute(gone, &place.home, &mut out).await.unwrap_err();
    assert!(error.to_string().contains("no open request `req_2`"), "{error}");
}

fn queued(seq: u64, id: &str, text: &str) -> Record {
    let data = json!({"command_id": format!("c{seq}"), "command": "send", "message_id": id, "mode": "queue",
        "text": text});
    record(seq, json!({"type": "command_received", "data": data}))
}

fn edit(message: &str, text: &str) -> Queue {
    Queue {
        run: "last".to_owned(),
        action: QueueAction::Edit {
            message: message.to_owned(),
            text: text.to_owned(),
        },
    }
}

#[tokio::test]
async fn the_start_of_an_id_means_the_one_message_that_waits() {
    let place = place();
    let run = new_run(&place.home);
    let sent = record(4, json!({"type": "message_sent", "data": {"message_id": "ab1"}}));
    let mut writer = journal(&run, &[queued(2, "ab1", "one"), queued(3, "ab2", "two"), sent]);
    let mut taken = runner(&run, None).await;
    let mut out = Text::default();
    let changed = queue::execute(edit("ab", "-"), &place.home, &b"from a pipe\n"[..], &mut out);
    assert_eq!(changed.await.unwrap(), 0);
    assert_eq!(out.0, format!("changed message ab2 of run {}\n", run.id()));
    let (message_id, text) = ("ab2".to_owned(), "from a pipe\n".to_owned());
    assert_eq!(
        taken.recv().await,
        Some(ControlCommand::EditMessage { message_id, text })
    );

    writer.append(&queued(5, "ab3", "three")).unwrap();
    let unclear = queue::execute(edit("ab", "x"), &place.home, &b""[..], &mut out).await;
    assert_eq!(
        unclear.unwrap_err().to_string(),
        format!(
            "several messages of run {} begin with `ab`, say which: ab2 (two), ab3 (three)",
            run.id()
        )
    );
    let unnamed = queue::execute(edit("", "x"), &place.home, &b""[..], &mut out).await;
    assert!(unnamed.unwrap_err().to_string().contains("has no message ``"));
    assert!(taken.try_recv().is_err(), "nothing was changed");
}

#[tokio::test]
async fn listed_messages_hold_nothing_that_a_terminal_would_obey() {
    let place = place();
    let run = new_run(&place.home);
    let _writer = journal(&run, &[queued(2, "m1", "a \u{1b}[2Jred\u{9b}31m text")]);
    for format in [ListFormat::Text, ListFormat::Json] {
        let mut out = Text::default();
        let list = Queue {
            run: run.id().to_owned(),
            action: QueueAction::List(format),
        };
        queue::execute(list, &place.home, &b""[..], &mut out)
            .await
            .unwrap();
        assert!(out.0.contains("m1") && out.0.contains("red"), "{:?}", out.0);
        assert!(!out.0.contains(['\u{1b}', '\u{9b}']), "{:?}", out.0);
    }
}

fn attach_to(from: u64) -> Attach {
    Attach {
        run: "last".to_owned(),
        from,
    }
}

#[tokio::test]
async fn a_run_is_shown_from_its_beginning_to_its_end() {
    let place = place();
    let run = new_run(&place.home);
    let text = agent("text_block", json!({"item": "i", "text": "hello"}));
    let mut writer = journal(&run, &[record(2, text)]);
    let (told, mut seen) = mpsc::unbounded_channel();
    let (mut sink, mut notes) = (Seen::default(), Text::default());
    sink.told = Some(told);
    let attached = attach::execute(attach_to(1), &place.home, &mut sink, pending(), &mut notes);
    let going_on = async {
        assert_eq!(seen.recv().await, Some(1));
        assert_eq!(seen.recv().await, Some(2));
        writer.append(&run_ended(3, 7)).unwrap();
    };
    let (exit, ()) = timeout(PATIENCE, async { tokio::join!(attached, going_on) })
        .await
        .unwrap();
    assert_eq!((exit.unwrap(), sink.records, sink.live), (7, vec![1, 2, 3], 1));
    assert_eq!(notes.0, "");

    let mut sink = Seen::default();
    let exit = attach::execute(
        attach_to(3),
        &place.home,
        &mut sink,
        pending(),
        &mut Text::default(),
    )
    .await;
    assert_eq!((exit.unwrap(), sink.records), (7, vec![3]));
}

#[tokio::test]
async fn leaving_does_not_touch_the_run() {
    let place = place();
    let run = new_run(&place.home);
    let _writer = journal(&run, &[]);
    let mut taken = runner(&run, None).await;
    let (told, mut seen) = mpsc::unbounded_channel();
    let mut sink = Seen {
        told: Some(told),
        ..Seen::default()
    };
    let leave = async {
        seen.recv().await.unwrap();
    };
    let mut notes = Text::default();
    let exit = attach::execute(attach_to(1), &place.home, &mut sink, leave, &mut notes).await;
    assert_eq!(exit.unwrap(), 0);
    let id = run.id();
    assert_eq!(
        notes.0,
        format!("left run {id}, which goes on; `ralph stop {id}` ends it\n")
    );
    assert!(taken.try_recv().is_err());
}

#[tokio::test]
async fn a_long_journal_does_not_keep_anybody_from_leaving() {
    let place = place();
    let run = new_run(&place.home);
    let mut writer = journal(&run, &[]);
    let event = json!({"type": "iteration_started", "data": {"number": 1, "prompt": "x"}});
    let mut next = record(2, event);
    while next.seq < 5_000 {
        writer.queue(&next).unwrap();
        next.seq += 1;
    }
    writer.flush().unwrap();
    let (told, mut seen) = mpsc::unbounded_channel();
    let mut sink = Seen {
        told: Some(told),
        ..Seen::default()
    };
    // Another task has to run before anybody can leave, as for a signal.
    let leave = async {
        seen.recv().await.unwrap();
        tokio::spawn(async {}).await.unwrap();
    };
    let exit = attach::execute(attach_to(1), &place.home, &mut sink, leave, &mut Text::default()).await;
    assert_eq!(exit.unwrap(), 0);
    assert!(
        sink.records.len() < 2_500,
        "{} records were shown first",
        sink.records.len()
    );
}

#[tokio::test]
async fn a_watcher_notices_that_the_runner_died() {
    let place = place();
    let run = new_run(&place.home);
    let _writer = journal(&run, &[]);
    save(&run, nobody());
    let mut sink = Seen::default();
    let mut notes = Text::default();
    let watching = attach::execute(attach_to(1), &place.home, &mut sink, pending(), &mut notes);
    let error = timeout(PATIENCE, watching).await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains("is gone, and the run with it"),
        "{error}"
    );
    assert_eq!(sink.records, [1]);
}

#[tokio::test]
async fn nobody_reads_what_is_shown_and_the_watcher_ends() {
    let place = place();
    let run = new_run(&place.home);
    let _writer = journal(&run, &[]);
    let mut sink = Seen {
        closes_after: Some(1),
        ..Seen::default()
    };
    let mut notes = Text::default();
    let watching = attach::execute(attach_to(1), &place.home, &mut sink, pending(), &mut notes);
    assert_eq!(timeout(PATIENCE, watching).await.unwrap().unwrap(), 141);
}

#[test]
fn what_is_typed_becomes_what_is_done() {
    fn typed(words: &str) -> ralph::cli::Command {
        ralph::cli::parse(words.split(' ')).unwrap().command
    }
    use ralph::cli::Command;
    let Command::Send(args) = typed("ralph send r hello --queue") else {
        unreachable!()
    };
    assert_eq!(
        Send::from(args),
        Send {
            mode: SendMode::Queue,
            ..message("r", "hello")
        }
    );
    for (words, action) in [
        ("ralph queue last", QueueAction::List(ListFormat::Text)),
        ("ralph queue last --json", QueueAction::List(ListFormat::Json)),
        ("ralph queue edit last m1 -", edit("m1", "-").action),
        (
            "ralph queue withdraw last m1",
            QueueAction::Withdraw {
                message: "m1".to_owned(),
            },
        ),
    ] {
        let Command::Queue(args) = typed(words) else {
            unreachable!()
        };
        let run = "last".to_owned();
        assert_eq!(Queue::from(args), Queue { run, action }, "{words}");
    }
    let Command::Stop(args) = typed("ralph stop --all") else {
        unreachable!()
    };
    assert_eq!(Stop::from(args), stop_of(Target::All, Wait::UntilEnded));
    for (words, choice) in [
        ("ralph answer last --allow", Some(AnswerChoice::Allow)),
        (
            "ralph answer last --deny no",
            Some(AnswerChoice::Deny { reason: "no".into() }),
        ),
        (
            "ralph answer last --choose red --choose big",
            Some(AnswerChoice::Answers {
                answers: vec!["red".into(), "big".into()],
            }),
        ),
        ("ralph answer last", None),
    ] {
        let Command::Answer(args) = typed(words) else {
            unreachable!()
        };
        assert_eq!(Answer::from(args), answer_of(None, choice), "{words}");
    }
}
