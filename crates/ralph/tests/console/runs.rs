//! Whole runs, as text.

use agent_api::{
    Body, CloseReason, Part, PermissionRequested, RequestClosed, RequestId, Task, TaskState, ToolKind,
    ToolState, ToolStatus,
};
use ralph::console::{Mode, Options};
use ralph_run::control::SendMode;
use ralph_run::{CommandReceived, MessageSent, RunBody};

use crate::stage::{Stage, delta, text, tool, tool_finished};
use crate::story::play;

fn told(options: Options) -> String {
    let options = Options {
        files: Some("/state/ralph/runs/run-1".to_owned()),
        ..options
    };
    let mut stage = Stage::new(options);
    play(&mut stage);
    let (out, err) = stage.finish();
    let visible = |text: &str| text.replace('\u{1b}', "␛").replace('\r', "␍");
    format!("{}=== stderr ===\n{}", visible(&out), visible(&err))
}

#[test]
fn default_output_is_text_tools_and_trouble() {
    insta::assert_snapshot!(told(Options::piped(Mode::Default)));
}

#[test]
fn verbose_output_adds_results_thinking_and_usage() {
    insta::assert_snapshot!(told(Options::piped(Mode::Verbose)));
}

#[test]
fn colours_are_closed_on_the_line_they_begin() {
    let told = told(Options {
        has_colours: true,
        ..Options::piped(Mode::Verbose)
    });
    for line in told.lines() {
        let (begun, ended) = (line.matches("␛[").count(), line.matches("␛[0m").count());
        assert_eq!(begun, 2 * ended, "{line}");
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_terminal_gets_text_as_it_comes_and_a_status_line() {
    insta::assert_snapshot!(told(Options {
        is_terminal: true,
        width: 100,
        ..Options::piped(Mode::Default)
    }));
}

#[test]
fn errors_are_shown_once_where_both_streams_end_up() {
    let shared = told(Options {
        is_stderr_shared: true,
        ..Options::piped(Mode::Default)
    });
    let (out, err) = shared.split_once("=== stderr ===\n").unwrap();
    assert_eq!(err, "");
    assert_eq!(out.matches("[Error] 500 Internal").count(), 1);
    assert_eq!(out.matches("output could not be read; see").count(), 1);
}

#[test]
fn a_call_that_was_not_allowed_is_not_shown_as_one_that_ran() {
    let mut stage = Stage::new(Options::piped(Mode::Default));
    stage.begin(1);
    stage.begin_iteration(1);
    stage.begin_attempt(1);
    for (item, status) in [
        ("denied", ToolStatus::Denied),
        ("interrupted", ToolStatus::Cancelled),
        ("run", ToolStatus::Completed),
    ] {
        let Body::ToolStarted(mut started) = tool(item, "edit", ToolKind::Edit, &format!("{item}.txt"))
        else {
            unreachable!()
        };
        started.state = ToolState::Preparing;
        stage.agent(Body::ToolStarted(started));
        stage.agent(tool_finished(item, status, ""));
    }
    let (out, _) = stage.finish();
    assert!(out.contains("[Tool] edit: run.txt"), "{out}");
    assert!(
        !out.contains("denied.txt") && !out.contains("interrupted.txt"),
        "{out}"
    );
}

fn asks(stage: &mut Stage, request: &str, subject: &str) {
    let mut asked = PermissionRequested::new(RequestId::new(request), "Bash", ToolKind::Execute);
    asked.subject = Some(subject.to_owned());
    stage.agent(Body::PermissionRequested(Box::new(asked)));
}

#[test]
fn a_request_shows_the_whole_command_with_nothing_hidden() {
    let mut stage = Stage::new(Options {
        width: 60,
        ..Options::piped(Mode::Default)
    });
    stage.begin(1);
    stage.begin_iteration(1);
    stage.begin_attempt(1);
    let long = format!("find . {} | xargs rm -f", "-name x ".repeat(20));
    asks(&mut stage, "1", "ls \u{1b}]0;touch HIDDEN #\u{7}\nrm second");
    asks(&mut stage, "2", &long);
    let (out, _) = stage.finish();
    assert!(
        out.contains("[Permission] Bash: ls \\u{1b}]0;touch HIDDEN #\\u{7}\n  rm second\n"),
        "{out}"
    );
    assert!(out.contains(&long), "{out}");
}

fn answers(stage: &mut Stage, request: &str, by: Option<&str>) {
    stage.run(RunBody::CommandReceived(Box::new(CommandReceived {
        command: "answer".to_owned(),
        request: Some(RequestId::new(request)),
        by: by.map(str::to_owned),
        ..CommandReceived::default()
    })));
}

fn closes(stage: &mut Stage, request: &str, reason: CloseReason) {
    stage.agent(Body::RequestClosed(RequestClosed {
        request: RequestId::new(request),
        reason,
    }));
}

#[test]
fn an_answer_is_shown_with_its_request_and_who_gave_it() {
    let mut stage = Stage::new(Options::piped(Mode::Default));
    stage.begin(1);
    asks(&mut stage, "r1", "ls");
    answers(&mut stage, "r1", None);
    closes(&mut stage, "r1", CloseReason::Answered);
    asks(&mut stage, "r2", "rm x");
    asks(&mut stage, "r3", "rm y");
    answers(&mut stage, "r2", Some("the browser\u{1b}[2J"));
    closes(&mut stage, "r2", CloseReason::Denied);
    closes(&mut stage, "r3", CloseReason::Denied);
    asks(&mut stage, "r4", "cat");
    closes(&mut stage, "r4", CloseReason::Ended);
    let (out, _) = stage.finish();
    assert_eq!(
        out,
        "[Permission] Bash: ls\n  ralph answer run-1 --allow (or --deny REASON)\n[Permission] allowed: Bash: ls\n\
         [Permission] Bash: rm x\n  ralph answer run-1 --allow (or --deny REASON)\n\
         [Permission] Bash: rm y\n  ralph answer run-1 --request r3 --allow (or --deny REASON)\n\
         [Permission] denied by the browser: Bash: rm x\n[Permission] denied (no answer): Bash: rm y\n\
         [Permission] Bash: cat\n  ralph answer run-1 --allow (or --deny REASON)\n"
    );
}

#[test]
fn a_task_that_ends_twice_is_shown_once() {
    let mut stage = Stage::new(Options::piped(Mode::Verbose));
    stage.begin(1);
    for (task_id, state) in [
        ("t1", TaskState::Running),
        ("t1", TaskState::Completed),
        ("t1", TaskState::Completed),
        ("t2", TaskState::Failed),
    ] {
        stage.agent(Body::TaskUpdated(Box::new(Task::new(task_id, state))));
    }
    let (out, _) = stage.finish();
    assert_eq!(out, "[Task] completed: t1\n[Task] failed: t2\n");
}

#[test]
fn every_call_is_shown_with_its_outcome() {
    let mut stage = Stage::new(Options::piped(Mode::Default));
    stage.begin(1);
    stage.agent(tool("a", "Bash", ToolKind::Execute, "make"));
    stage.tick(40);
    let Body::ToolFinished(mut failed) =
        tool_finished("a", ToolStatus::Failed, "\nExit code 2\nmaking\n\nno rule\n")
    else {
        unreachable!()
    };
    failed.exit_code = Some(2);
    stage.agent(Body::ToolFinished(failed));
    // A call that takes longer is shown when that is known.
    stage.agent(tool("b", "Bash", ToolKind::Execute, "cargo test"));
    stage.tick(600);
    stage.tick(11_700);
    stage.agent(tool_finished("b", ToolStatus::Completed, "ok"));
    // Parallel calls are told apart by name.
    stage.agent(tool("c", "Bash", ToolKind::Execute, "sleep 1"));
    stage.agent(tool("d", "Read", ToolKind::Read, "/project/x"));
    stage.tick(1_000);
    stage.agent(tool_finished("c", ToolStatus::Completed, ""));
    stage.tick(250);
    stage.agent(tool_finished(
        "d",
        ToolStatus::Failed,
        "<tool_use_error>File does not exist.</tool_use_error>",
    ));
    stage.agent(tool("e", "Bash", ToolKind::Execute, "true"));
    stage.agent(text("t", "Meanwhile."));
    stage.agent(tool_finished("e", ToolStatus::Background, ""));
    let (out, _) = stage.finish();
    assert_eq!(
        out,
        "[Tool] Bash: make ✗ exit code 2, 40ms: no rule\n\
         [Tool] Bash: cargo test\n  ✓ 12.3s\n\
         [Tool] Bash: sleep 1\n[Tool] Read: x\n  Bash: sleep 1 ✓ 1s\n  Read: x ✗ 1.2s: File does not exist.\n\
         [Tool] Bash: true\nClaude: Meanwhile.\n  Bash: true ✓ continues in the background\n"
    );
}

#[test]
fn a_pipe_shows_every_minute_that_a_silent_run_is_alive() {
    for (mode, has_heartbeat) in [
        (Mode::Default, true),
        (Mode::Verbose, true),
        (Mode::Quiet, false),
        (Mode::Json, false),
    ] {
        let mut stage = Stage::new(Options::piped(mode));
        stage.begin(50);
        stage.tick(0);
        stage.agent(tool("a", "Bash", ToolKind::Execute, "cargo test"));
        stage.tick(30_000);
        let before = stage.out.text().len();
        for _ in 0..100 {
            stage.tick(1_000);
        }
        let told = stage.out.text()[before..].to_owned();
        let expected = "still running: iteration 1/50, 1m 30s, Bash 1m 30s: cargo test\n";
        assert_eq!(told, if has_heartbeat { expected } else { "" });
    }
}

#[test]
fn a_message_never_stands_in_a_text_and_shows_when_it_was_delivered_late() {
    let mut stage = Stage::new(Options::piped(Mode::Default));
    stage.begin(1);
    stage.agent(delta("1", Part::Text, "This text arrive"));
    stage.run(RunBody::CommandReceived(Box::new(CommandReceived {
        command_id: "c1".to_owned(),
        message_id: Some("m1".to_owned()),
        command: "send".to_owned(),
        text: Some("third\nline".to_owned()),
        ..CommandReceived::default()
    })));
    stage.agent(delta("1", Part::Text, "s slowly"));
    stage.agent(text("1", "This text arrives slowly"));
    stage.run(RunBody::MessageSent(MessageSent {
        message_id: "m1".to_owned(),
    }));
    // The first is sent at once, the second one when the turn is over.
    stage.run(RunBody::CommandReceived(Box::new(CommandReceived {
        command_id: "c2".to_owned(),
        message_id: Some("m2".to_owned()),
        command: "send".to_owned(),
        text: Some("long ".repeat(1_000)),
        mode: Some(SendMode::Queue),
        ..CommandReceived::default()
    })));
    stage.run(RunBody::MessageSent(MessageSent {
        message_id: "m2".to_owned(),
    }));
    let (out, _) = stage.finish();
    let rows: Vec<&str> = out.lines().collect();
    assert_eq!(
        rows[..2],
        ["Claude: This text arrives slowly", "[Message] third line"]
    );
    assert!(rows[2].starts_with("[Message queued] long long"), "{out}");
    assert!(rows[3].starts_with("[Message delivered] long long"), "{out}");
    assert!(rows.len() == 4 && rows.iter().all(|row| row.len() < 220), "{out}");
}
