//! Whole runs, as text.

use agent_api::{Body, ToolKind, ToolState, ToolStatus};
use ralph::console::{Mode, Options};

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
