//! `attach`, `send`, `queue`, `answer`, `interrupt` and `stop` against a run's directory with a scripted runner.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::future::pending;
use std::io::{self, Write};
use std::time::Duration;

use jiff::Timestamp;
use ralph::cli::Command;
use ralph::commands::answer::AnswerArgs;
use ralph::commands::interrupt::InterruptArgs;
use ralph::commands::queue::QueueArgs;
use ralph::commands::send::SendArgs;
use ralph::commands::stop::StopArgs;
use ralph::commands::watch::{Watch, watch};
use ralph::commands::{answer, interrupt, queue, send, stop};
use ralph::console::{Console, Mode, Options};
use ralph_run::control::{
    AnswerChoice, ControlCommand, ControlServer, Greeting, Receipt, Refusal, RefusalCode, SendMode,
};
use ralph_run::model::RunState;
use ralph_run::{Durability, Home, JournalWriter, Record, RunDirectory, RunFile, Runner};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Where the tests run: `latest` is a run of this workspace.
fn workspace() -> String {
    let cwd = std::env::current_dir().unwrap();
    let workspace = ralph::settings::find_workspace(None, &cwd).unwrap();
    workspace.to_str().unwrap().to_owned()
}

/// For whatever has to happen: reached only when it does not.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Text(String);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push_str(str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal, and each text that was written to it.
struct Shown(mpsc::UnboundedSender<String>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.send(str::from_utf8(bytes).unwrap().to_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader of a console's records, as lines of JSON.
struct Lines(mpsc::UnboundedSender<u64>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let record: Value = serde_json::from_slice(line).unwrap();
            let seq = record["seq"].as_u64().unwrap();
            self.0.send(seq).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A console that shows records, and the numbers of those that it has shown.
fn console() -> (Console, mpsc::UnboundedReceiver<u64>) {
    let (told, seen) = mpsc::unbounded_channel();
    let console = Console::new(Options::piped(Mode::Json), Lines(told), io::sink());
    (console, seen)
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
        "version": 1, "run_id": run.id(), "workspace": workspace(), "backend": "claude_code",
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
    let data = json!({"format_version": 1, "run_id": run.id(), "ralph_version": "0.1.0", "workspace": workspace(),
        "backend": "claude_code", "display_name": "Claude", "max_iterations": 1});
    record(1, json!({"type": "run_started", "data": data}))
}

fn run_ended(seq: u64, exit_code: u8) -> Record {
    let data = json!({"reason": "stopped", "exit_code": exit_code, "iterations": 1, "totals": {}});
    record(seq, json!({"type": "run_ended", "data": data}))
}

fn permission(seq: u64, id: &str, command: &str) -> Record {
    let data = json!({"request": id, "tool": "Bash", "kind": "execute", "subject": command});
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
    let greeting = Greeting::new(run.id(), RunState::Thinking);
    let mut server = ControlServer::bind_for_run(run, greeting).await.unwrap();
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

/// Arguments as they are typed.
fn typed(words: &[&str]) -> Command {
    let line = ["ralph"].iter().chain(words);
    ralph::cli::parse(line.copied()).unwrap().command
}

fn message(run: &str, text: &str) -> SendArgs {
    match typed(&["send", run, text]) {
        Command::Send(args) => args,
        other => unreachable!("{other:?}"),
    }
}

fn interrupt_of(run: &str) -> InterruptArgs {
    match typed(&["interrupt", run]) {
        Command::Interrupt(args) => args,
        other => unreachable!("{other:?}"),
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
    let queued = SendArgs {
        queue: true,
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
async fn a_refusal_is_shown_without_control_characters() {
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
        let result = interrupt::execute(&interrupt_of(asked), home, &mut Text::default()).await;
        result.unwrap_err().to_string()
    };
    assert_eq!(
        told("last").await,
        "there are no runs yet; start one with `ralph run`"
    );

    let run = new_run(home);
    let id = run.id();
    assert!(told("nope").await.starts_with("no run `nope`"));
    let alive = told(id).await;
    assert!(
        alive.starts_with("the run is not running (nothing is listening on"),
        "{alive}"
    );

    save(&run, nobody());
    let lost = told(id).await;
    assert!(
        lost.starts_with(&format!("run {id} is no longer running")),
        "{lost}"
    );

    let at = Timestamp::now() - jiff::SignedDuration::from_secs(200);
    save(&run, ended("completed", &at.to_string()));
    assert_eq!(
        told(id).await,
        format!("run {id} ended 3 minutes ago (completed)")
    );

    std::fs::remove_file(run.run_file()).unwrap();
    assert!(told(id).await.starts_with("the run is not running"));
}

#[tokio::test]
async fn an_interrupt_reaches_the_run() {
    let place = place();
    let run = new_run(&place.home);
    let mut taken = runner(&run, None).await;
    let mut out = Text::default();
    assert_eq!(
        interrupt::execute(&interrupt_of("last"), &place.home, &mut out)
            .await
            .unwrap(),
        0
    );
    assert_eq!(out.0, format!("interrupted run {}\n", run.id()));
    assert_eq!(taken.recv().await, Some(ControlCommand::Interrupt));
}

fn stop_of(words: &[&str]) -> StopArgs {
    match typed(&[&["stop"], words].concat()) {
        Command::Stop(args) => args,
        other => unreachable!("{other:?}"),
    }
}

/// A runner that ends the run when it is told to stop, and that somebody lets it.
async fn stoppable(run: RunDirectory) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
    let greeting = Greeting::new(run.id(), RunState::Thinking);
    let mut server = ControlServer::bind_for_run(&run, greeting).await.unwrap();
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
    let stop = stop_of(&["last"]);
    let mut stopping = Box::pin(stop::execute(&stop, &place.home, &mut out));
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
    let stop = stop_of(&["last"]);
    let mut stopping = Box::pin(stop::execute_with(
        &stop,
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
    let stop = stop_of(&["last", "--no-wait"]);
    assert_eq!(stop::execute(&stop, &place.home, &mut out).await.unwrap(), 0);
    assert_eq!(out.0, format!("stopping run {}\n", run.id()));
}

#[tokio::test]
async fn a_run_that_has_ended_is_as_good_as_stopped() {
    let place = place();
    let run = new_run(&place.home);
    save(&run, ended("completed", &Timestamp::now().to_string()));
    let mut out = Text::default();
    let stop = stop_of(&["last"]);
    assert_eq!(stop::execute(&stop, &place.home, &mut out).await.unwrap(), 0);
    assert!(out.0.contains("(completed)"), "{}", out.0);
}

#[tokio::test]
async fn a_runner_that_dies_while_it_stops_is_not_waited_for() {
    let place = place();
    let run = new_run(&place.home);
    let greeting = Greeting::new(run.id(), RunState::Thinking);
    let mut server = ControlServer::bind_for_run(&run, greeting).await.unwrap();
    let dying = run.clone();
    tokio::spawn(async move {
        server.next().await.reply.send(Ok(Receipt::default()));
        save(&dying, nobody());
        server.close().await;
    });
    let stop = stop_of(&["last"]);
    let error = stop::execute(&stop, &place.home, &mut Text::default())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("died while it was being stopped"),
        "{error}"
    );
}

#[tokio::test]
async fn all_runs_that_go_on_are_stopped() {
    let place = place();
    let home = &place.home;
    let mut out = Text::default();
    let all = || stop_of(&["--all"]);
    assert_eq!(stop::execute(&all(), home, &mut out).await.unwrap(), 0);
    assert_eq!(out.0, "no active runs\n");

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
    assert_eq!(stop::execute(&all(), home, &mut out).await.unwrap(), 0);
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
    assert_eq!(stop::execute(&all(), home, &mut out).await.unwrap(), 1);
    assert!(
        out.0.starts_with("not stopped: the run is not running"),
        "{}",
        out.0
    );
    drop(deaf);
}

fn answer_of(words: &[&str]) -> AnswerArgs {
    match typed(&[&["answer", "last"], words].concat()) {
        Command::Answer(args) => args,
        other => unreachable!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_asked_is_listed() {
    let place = place();
    let run = new_run(&place.home);
    let mut writer = journal(&run, &[]);
    let list = async |words: &[&str]| {
        let mut out = Text::default();
        let asked = answer_of(words);
        assert_eq!(answer::execute(&asked, &place.home, &mut out).await.unwrap(), 0);
        out.0
    };
    assert_eq!(
        list(&[]).await,
        format!("run {} has no open requests\n", run.id())
    );
    assert_eq!(list(&["--json"]).await, "[]\n");
    writer.append(&permission(2, "req_1", "rm -rf build")).unwrap();
    writer.append(&question(3, "req_2")).unwrap();
    let plan = agent(
        "plan_proposed",
        json!({"request": "req_3", "plan": "# Plan\n1. do it"}),
    );
    writer.append(&record(4, plan)).unwrap();
    assert_eq!(
        list(&[]).await,
        "req_1 permission Bash: rm -rf build\nreq_2 question\n- Which \\u{1b}[31mcolour?\n- choose: 1 red | 2 blue\n\
         req_3 plan\n- # Plan\n  1. do it\n"
    );
    let asked: Value = serde_json::from_str(&list(&["--json"]).await).unwrap();
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

    let unclear = answer_of(&["--allow"]);
    let error = answer::execute(&unclear, &place.home, &mut out)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("choose one with --request:\nreq_1 permission Bash: ls\nreq_2"),
        "{error}"
    );

    let named = answer_of(&["--request", "req_2", "--allow"]);
    answer::execute(&named, &place.home, &mut out).await.unwrap();
    let closed = json!({"request": "req_2", "reason": "answered"});
    writer
        .append(&record(4, agent("request_closed", closed)))
        .unwrap();
    let reason = "not today".to_owned();
    let only = answer_of(&["--deny", &reason]);
    answer::execute(&only, &place.home, &mut out).await.unwrap();
    assert_eq!(
        out.0,
        format!("answered req_2 of run {0}\nanswered req_1 of run {0}\n", run.id())
    );

    let mut answered = Vec::new();
    while let Ok(ControlCommand::Answer { request, .. }) = taken.try_recv() {
        answered.push(request.to_string());
    }
    assert_eq!(answered, ["req_2", "req_1"]);

    let gone = answer_of(&["--request", "req_2", "--allow"]);
    let error = answer::execute(&gone, &place.home, &mut out).await.unwrap_err();
    assert!(error.to_string().contains("no open request `req_2`"), "{error}");
}

#[tokio::test]
async fn lasting_permissions_are_listed_and_chosen_by_number() {
    let place = place();
    let run = new_run(&place.home);
    let asked = json!({"request": "req_1", "tool": "Bash", "kind": "execute", "subject": "touch x …",
        "input": {"command": "touch x\n\n\n\n\ncurl evil"},
        "grants": [
            {"id": "rule", "kind": "rule", "destination": "workspace", "text": "Allow Bash(touch x *) in this workspace"},
            {"id": "mode", "kind": "mode", "destination": "session", "text": "Switch to mode acceptEdits"}]});
    let _writer = journal(&run, &[record(2, agent("permission_requested", asked))]);
    let mut taken = runner(&run, None).await;
    let mut out = Text::default();
    answer::execute(&answer_of(&[]), &place.home, &mut out)
        .await
        .unwrap();
    assert_eq!(
        out.0,
        "req_1 permission Bash: touch x …\n- 6 lines:\n  touch x\n  … 4 empty lines\n  curl evil\n  \
         always 1: Allow Bash(touch x *) in this workspace\n  always 2: MODE: Switch to mode acceptEdits\n"
    );
    for (typed, problem) in [
        (&["--always"][..], "--always 1: Allow Bash(touch x *)"),
        (
            &["--always", "3"],
            "there is no `always 3`; this request offers 1 to 2",
        ),
    ] {
        let refused = answer::execute(&answer_of(typed), &place.home, &mut out).await;
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    for (typed, ids) in [
        (&["--allow"][..], &[][..]),
        (&["--always", "1"], &["rule"]),
        (&["--always", "2", "--always", "1"], &["mode", "rule"]),
    ] {
        answer::execute(&answer_of(typed), &place.home, &mut out)
            .await
            .unwrap();
        let Ok(ControlCommand::Answer { answer, .. }) = taken.try_recv() else {
            unreachable!()
        };
        let grants = ids.iter().map(|id| agent_api::GrantId::new(id)).collect();
        assert_eq!(answer, AnswerChoice::Allow { grants });
    }
}

#[tokio::test]
async fn an_option_is_chosen_by_its_number_or_label_and_nothing_else() {
    let place = place();
    let run = new_run(&place.home);
    let options = json!([{"label": "Red"}, {"label": "Blue"}]);
    let asked = json!({"request": "req_1", "questions": [
        {"text": "Which colour?", "options": options},
        {"text": "Which ones?", "options": options, "is_multiple": true},
        {"text": "What name?"},
    ]});
    let _writer = journal(&run, &[record(2, agent("question_asked", asked))]);
    let mut taken = runner(&run, None).await;
    let in_words = ["--text", "2", "--text", "any", "--text", "x"];
    answer::execute(&answer_of(&in_words), &place.home, &mut Text::default())
        .await
        .unwrap();
    let in_words = taken.recv().await;
    let Some(ControlCommand::Answer {
        answer: AnswerChoice::Answers { answers },
        ..
    }) = in_words
    else {
        unreachable!("{in_words:?}")
    };
    assert_eq!(answers, ["2", "any", "x"], "words are not numbers");
    let mut answers = async |words: &[&str]| {
        let words: Vec<&str> = words.iter().flat_map(|word| ["--choose", word]).collect();
        let answered = answer::execute(&answer_of(&words), &place.home, &mut Text::default()).await;
        match answered {
            Ok(_) => match taken.recv().await {
                Some(ControlCommand::Answer {
                    answer: AnswerChoice::Answers { answers },
                    ..
                }) => Ok(answers),
                other => unreachable!("{other:?}"),
            },
            Err(error) => Err(error.to_string()),
        }
    };
    let chosen = answers(&["2", "1, blue", "7"]).await.unwrap();
    assert_eq!(chosen, ["Blue", "Red, Blue", "7"]);
    assert_eq!(answers(&["red", "2", "x"]).await.unwrap(), ["Red", "Blue", "x"]);
    for wrong in ["3", "0", "Green", ""] {
        let refused = answers(&[wrong, "1", "x"]).await.unwrap_err();
        assert!(
            refused.starts_with(&format!(
                "`{wrong}` is not an option of \"Which colour?\"; choose 1 Red, 2 Blue"
            )),
            "{refused}"
        );
    }
}

fn queued(seq: u64, id: &str, text: &str) -> Record {
    let data = json!({"command_id": format!("c{seq}"), "command": "send", "message_id": id, "mode": "queue",
        "text": text});
    record(seq, json!({"type": "command_received", "data": data}))
}

fn queue_of(words: &[&str]) -> QueueArgs {
    match typed(&[&["queue"], words].concat()) {
        Command::Queue(args) => args,
        other => unreachable!("{other:?}"),
    }
}

fn edit(message: &str, text: &str) -> QueueArgs {
    queue_of(&["edit", "last", message, text])
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
    assert_eq!(out.0, format!("edited message ab2 of run {}\n", run.id()));
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
            "several messages of run {} begin with `ab`; choose one of ab2 (two), ab3 (three)",
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
    for words in [&[run.id()][..], &[run.id(), "--json"]] {
        let mut out = Text::default();
        queue::execute(queue_of(words), &place.home, &b""[..], &mut out)
            .await
            .unwrap();
        assert!(out.0.contains("m1") && out.0.contains("red"), "{:?}", out.0);
        assert!(!out.0.contains(['\u{1b}', '\u{9b}']), "{:?}", out.0);
    }
}

#[tokio::test]
async fn a_run_is_shown_from_its_beginning_to_its_end() {
    let place = place();
    let run = new_run(&place.home);
    let text = agent("text_block", json!({"item": "i", "text": "hello"}));
    let mut writer = journal(&run, &[record(2, text)]);
    let (console_of_all, mut seen) = console();
    let attached = watch(&run, 1, console_of_all, None, pending());
    let going_on = async {
        assert_eq!(seen.recv().await, Some(1));
        assert_eq!(seen.recv().await, Some(2));
        writer.append(&run_ended(3, 7)).unwrap();
        assert_eq!(seen.recv().await, Some(3));
    };
    let (end, ()) = timeout(PATIENCE, async { tokio::join!(attached, going_on) })
        .await
        .unwrap();
    assert_eq!(end.unwrap(), Watch::Ended(7));

    let (console, mut seen) = console();
    assert_eq!(
        watch(&run, 3, console, None, pending()).await.unwrap(),
        Watch::Ended(7)
    );
    assert_eq!((seen.recv().await, seen.recv().await), (Some(3), None));
}

#[tokio::test]
async fn leaving_does_not_touch_the_run() {
    let place = place();
    let run = new_run(&place.home);
    let _writer = journal(&run, &[]);
    let mut taken = runner(&run, None).await;
    let (console, mut seen) = console();
    let leave = async {
        seen.recv().await.unwrap();
        130
    };
    assert_eq!(
        watch(&run, 1, console, None, leave).await.unwrap(),
        Watch::Left(130)
    );
    assert!(taken.try_recv().is_err());
}

#[tokio::test]
async fn a_reader_that_reads_nothing_does_not_keep_anybody_from_leaving() {
    /// A pipe that is full.
    struct Full(std::sync::mpsc::Receiver<()>);
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(0)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let place = place();
    let run = new_run(&place.home);
    let _writer = journal(&run, &[]);
    let (_never, turns) = std::sync::mpsc::channel();
    let console = Console::new(Options::piped(Mode::Json), Full(turns), io::sink());
    let leave = async { 143 };
    let watching = watch(&run, 1, console, None, leave);
    assert_eq!(
        timeout(PATIENCE, watching).await.unwrap().unwrap(),
        Watch::Left(143)
    );
}

#[tokio::test]
async fn a_watcher_notices_that_the_runner_died() {
    let place = place();
    let run = new_run(&place.home);
    let _writer = journal(&run, &[]);
    save(&run, nobody());
    let (console, mut seen) = console();
    let error = timeout(PATIENCE, watch(&run, 1, console, None, pending()))
        .await
        .unwrap()
        .unwrap_err();
    assert!(error.to_string().contains("is no longer running"), "{error}");
    assert_eq!((seen.recv().await, seen.recv().await), (Some(1), None));
}

#[tokio::test]
async fn watching_ends_when_the_output_is_closed() {
    let place = place();
    let run = new_run(&place.home);
    let _writer = journal(&run, &[]);
    let (console, seen) = console();
    drop(seen);
    let watching = watch(&run, 1, console, None, pending());
    assert_eq!(timeout(PATIENCE, watching).await.unwrap().unwrap(), Watch::Closed);
}
