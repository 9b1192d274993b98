//! Whole runs, as text.

use agent_api::{
    Body, CloseReason, PermissionRequested, RequestClosed, RequestId, Task, TaskState, ToolKind, ToolState,
    ToolStatus,
};
use ralph::console::{Mode, Options};
use ralph_run::{CommandReceived, RunBody};

use crate::stage::{Stage, tool, tool_finished};
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
    assert_eq!(out.matches("could not be read").count(), 1);
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
        "[Permission] Bash: ls\n  ralph answer run-1 --allow (or --always, --deny)\n[Permission] allowed: Bash: ls\n\
         [Permission] Bash: rm x\n  ralph answer run-1 --allow (or --always, --deny)\n\
         [Permission] Bash: rm y\n  ralph answer run-1 --request r3 --allow (or --always, --deny)\n\
         [Permission] denied by the browser: Bash: rm x\n[Permission] denied (no answer): Bash: rm y\n\
         [Permission] Bash: cat\n  ralph answer run-1 --allow (or --always, --deny)\n"
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
fn a_call_that_failed_is_shown_with_the_first_and_last_line_of_its_output() {
    let mut stage = Stage::new(Options::piped(Mode::Default));
    stage.begin(1);
    stage.agent(tool("a", "Bash", ToolKind::Execute, "make"));
    stage.agent(tool_finished(
        "a",
        ToolStatus::Failed,
        "\nExit code 2\nmaking\n\nno rule\n",
    ));
    stage.agent(tool("b", "Bash", ToolKind::Execute, "true"));
    stage.agent(tool("c", "Read", ToolKind::Read, "/project/x"));
    stage.agent(tool_finished("b", ToolStatus::Completed, ""));
    stage.agent(tool("d", "Bash", ToolKind::Execute, "true"));
    stage.agent(tool_finished("c", ToolStatus::Failed, ""));
    let (out, _) = stage.finish();
    assert_eq!(
        out,
        "[Tool] Bash: make\n[Failed] Exit code 2 … no rule\n[Tool] Bash: true\n[Tool] Read: x\n[Tool] Bash: true\n\
         [Failed] Read\n"
    );
}
