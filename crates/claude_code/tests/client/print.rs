//! One prompt, events as they come.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::support::{
    LIMIT, MANY_LINES, builder, let_another_agent_write, name, names, next, next_event, play, rest,
    rest_of_events, soon, value,
};
use agent_process::{Exit, SpawnError, StdoutMode};
use claude_code::{
    Capabilities, Environment, Error, Kind, Limits, LineErrorCode, PartialMessages, PrintRequest, ProbeError,
    RunOptions, SystemPrompt, Version,
};
use test_support::recorded;
use test_support::script::{Script, Signal, flood_line};

fn request() -> PrintRequest {
    PrintRequest::new("Fix the test.")
}

#[tokio::test]
async fn events_arrive_while_the_process_still_runs() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("go");
    let session = Script::claude_session("done").steps;
    let mut script = Script::new();
    script.steps.extend_from_slice(&session[..2]);
    script = script.wait_for_file(&gate);
    script.steps.extend_from_slice(&session[2..]);
    let (client, _agent) = play(&script);

    let mut handle = client.print_stream_json(request()).await.unwrap();
    assert_eq!(name(&next_event(&mut handle.events).await), "system/init");
    assert_eq!(name(&next_event(&mut handle.events).await), "assistant");
    // The script goes on only now: what came before came live.
    std::fs::write(gate, "").unwrap();
    assert_eq!(names(&rest_of_events(&mut handle.events).await), ["result"]);
    assert!(soon(handle.completion).await.unwrap().exit.success());
}

#[tokio::test]
async fn the_prompt_comes_by_stdin_which_then_ends() {
    let (client, _agent) = play(
        &Script::new()
            .expect_argument("-p")
            .expect_argument("--verbose")
            .read_to_end(),
    );
    let mut handle = client
        .print_stream_json(PrintRequest::new("héllo\nworld"))
        .await
        .unwrap();
    let events = rest_of_events(&mut handle.events).await;
    assert_eq!(value(&events[0])["bytes"], "héllo\nworld".len());
    assert_eq!(soon(handle.completion).await.unwrap().exit, Exit::Code(0));
}

#[tokio::test]
async fn a_prompt_of_ten_mebibytes_is_written_while_output_is_read() {
    // The agent fills its output before it reads anything: whoever writes everything first hangs here.
    let (client, _agent) = play(&Script::new().flood(2_000, 4_096).read_to_end());
    let mut handle = client
        .print_stream_json(PrintRequest::new("x".repeat(10_485_760)))
        .await
        .unwrap();
    let events = rest_of_events(&mut handle.events).await;
    assert_eq!(value(events.last().unwrap())["bytes"], 10_485_760);
    assert!(soon(handle.completion).await.unwrap().exit.success());
}

#[tokio::test]
async fn the_child_sees_only_the_environment_it_is_given() {
    let script = Script::new()
        .expect_no_variable("CLAUDECODE")
        .expect_no_variable("IS_SANDBOX")
        .expect_no_variable("PATH")
        .expect_variable_value("COLOR", "request")
        .expect_variable_value("SIZE", "client");
    let agent = script.install().unwrap();
    let mut environment = Environment::clear()
        .set("CLAUDECODE", "1")
        .set("COLOR", "client")
        .set("SIZE", "client");
    for (name, value) in &agent.environment {
        environment = environment.set(name, value);
    }
    let client = builder(&agent).environment(environment).build();
    let options = RunOptions::new().environment(Environment::default().set("COLOR", "request"));
    let mut handle = client
        .print_stream_json(request().options(options))
        .await
        .unwrap();
    rest(&mut handle.events).await;
    let status = soon(handle.completion).await.unwrap();
    assert!(
        status.exit.success(),
        "{}",
        String::from_utf8_lossy(&status.stderr_tail)
    );
}

#[tokio::test]
async fn a_failing_process_is_a_status_and_not_an_error() {
    let (client, _agent) = play(&Script::new().stderr("Error: Invalid session ID.\n").exit(1));
    let mut handle = client.print_stream_json(request()).await.unwrap();
    assert_eq!(rest(&mut handle.events).await.len(), 0);
    let status = soon(handle.completion).await.unwrap();
    assert_eq!(status.exit, Exit::Code(1));
    assert_eq!(&status.stderr_tail[..], b"Error: Invalid session ID.\n");
}

#[tokio::test]
async fn a_timeout_counts_from_the_start_to_the_exit() {
    let timeout = Duration::from_millis(300);
    let (client, _agent) = play(
        &Script::claude_session("done")
            .stderr("still busy\n")
            .sleep_forever(),
    );
    let options = RunOptions::new().timeout(timeout);
    let start = Instant::now();
    let mut handle = client
        .print_stream_json(request().options(options))
        .await
        .unwrap();
    assert_eq!(
        rest_of_events(&mut handle.events).await.len(),
        3,
        "what was said before counts"
    );
    let error = soon(handle.completion).await.unwrap_err();
    assert!(start.elapsed() >= timeout);
    assert!(
        matches!(&error, Error::TimedOut { timeout: limit, stderr_tail } if *limit == timeout && stderr_tail == "still busy\n"),
        "{error}"
    );
}

#[tokio::test]
async fn a_cli_that_closes_its_output_and_stays_did_not_time_out() {
    let script = Script::claude_session("done")
        .stderr("still busy\n")
        .close_stdout()
        .sleep_forever();
    let (client, _agent) = play(&script);
    let options = RunOptions::new()
        .timeout(LIMIT)
        .limits(Limits::default().exit_after_end_of_output(Duration::from_millis(1)));
    let mut handle = client
        .print_stream_json(request().options(options))
        .await
        .unwrap();
    assert_eq!(rest_of_events(&mut handle.events).await.len(), 3);
    let error = soon(handle.completion).await.unwrap_err();
    assert!(
        matches!(&error, Error::Lingered { stderr_tail } if stderr_tail == "still busy\n"),
        "{error:?}"
    );
}

#[tokio::test]
async fn dropping_the_completion_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("go");
    let script = Script::new()
        .emit("{}")
        .wait_for_file(&gate)
        .then(Script::claude_session("done"));
    let (client, _agent) = play(&script);
    let mut handle = client.print_stream_json(request()).await.unwrap();
    next_event(&mut handle.events).await;
    drop(handle.completion);
    std::fs::write(gate, "").unwrap();
    assert_eq!(rest_of_events(&mut handle.events).await.len(), 3);
}

#[tokio::test]
async fn dropping_the_events_stops_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let script = Script::new()
        .record_process(directory.path(), "main")
        .emit("{}")
        .sleep_forever();
    let (client, _agent) = play(&script);
    let mut handle = client.print_stream_json(request()).await.unwrap();
    next_event(&mut handle.events).await;
    drop(handle.events);
    assert_eq!(soon(handle.completion).await.unwrap().exit, Exit::Cancelled);
    assert_eq!(recorded::alive(directory.path()).unwrap(), []);
}

#[tokio::test]
async fn stopping_lets_the_agent_say_its_last_words() {
    let (client, _agent) = play(&Script::new().ends_on_interrupt().emit("{}").sleep_forever());
    let mut handle = client.print_stream_json(request()).await.unwrap();
    next_event(&mut handle.events).await;
    handle.control.stop();
    let events = rest_of_events(&mut handle.events).await;
    assert_eq!(names(&events), ["result"]);
    let status = soon(handle.completion).await.unwrap();
    assert_eq!(status.exit, Exit::Cancelled);
    assert_eq!(status.stopped_by, Some(agent_process::StopStep::Interrupt));
}

#[tokio::test]
async fn lines_that_are_no_events_are_errors_in_their_place_and_stay_in_the_raw_log() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("raw.ndjson");
    let output = b"\xef\xbb\xbf{\"type\":\"a\"}\r\n\nWelcome!\n{\"type\":\"b\"}{\"type\":\"c\"}\n{\"type\":\"d\",\"secret\":\n{\"type\":\"e\"}";
    let (client, _agent) = play(&Script::new().emit_bytes(output.as_slice()));
    let options = RunOptions::new().raw_log(&log);
    let mut handle = client
        .print_stream_json(request().options(options))
        .await
        .unwrap();
    let items = rest(&mut handle.events).await;
    let seen: Vec<String> = items
        .iter()
        .map(|item| match item {
            Ok(event) => name(event),
            Err(error) => format!(
                "{:?} in line {} at {}",
                error.code, error.line_number, error.offset
            ),
        })
        .collect();
    let noise = format!("{:?} in line 3 at {}", LineErrorCode::Noise, 18);
    let torn = format!("{:?} in line 5 at {}", LineErrorCode::Truncated, 52);
    assert_eq!(seen, ["a", &noise, "b", "c", &torn, "e"]);
    for error in items.into_iter().filter_map(Result::err) {
        let said = format!("{error} {error:?}");
        assert!(
            !said.contains("Welcome") && !said.contains("secret"),
            "an error never quotes a line: {said}"
        );
    }
    soon(handle.completion).await.unwrap();
    assert_eq!(std::fs::read(&log).unwrap(), output);
    assert_eq!(
        std::fs::metadata(&log).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[tokio::test]
async fn a_consumer_that_does_not_read_makes_the_process_wait_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let written = directory.path().join("written");
    let (client, _agent) = play(&Script::new().flood(MANY_LINES, 4_096).create_file(&written));
    let mut handle = client.print_stream_json(request()).await.unwrap();
    for number in 1..=MANY_LINES {
        let event = next_event(&mut handle.events).await;
        assert_eq!(
            event.raw(),
            flood_line(number, 4_096).strip_suffix(b"\n").unwrap()
        );
        if number == 1 {
            let_another_agent_write().await;
            assert!(!written.exists(), "the output piles up in memory");
        }
    }
    assert!(next(&mut handle.events).await.is_none());
    assert!(soon(handle.completion).await.unwrap().exit.success());
    assert!(written.exists());
}

#[tokio::test]
async fn an_overlong_line_is_skipped_and_the_next_one_is_read() {
    let (client, _agent) = play(&Script::new().long_line(200_000).emit(r#"{"type":"after"}"#));
    let limits = Limits::default().max_line_bytes(100_000);
    let mut handle = client
        .print_stream_json(request().options(RunOptions::new().limits(limits)))
        .await
        .unwrap();
    let error = next(&mut handle.events).await.unwrap().unwrap_err();
    assert_eq!(
        (error.code, error.length_bytes),
        (LineErrorCode::Overlong, 199_999)
    );
    assert_eq!(names(&rest_of_events(&mut handle.events).await), ["after"]);
}

#[tokio::test]
async fn all_transports_give_the_same_events() {
    let agent = Script::demo(Duration::ZERO).install().unwrap();
    let client = builder(&agent).build();
    let directory = tempfile::tempdir().unwrap();
    let mut streams = Vec::new();
    for (transport, log) in [
        (StdoutMode::Pipe, "pipe"),
        (StdoutMode::Spool, "spool"),
        (
            StdoutMode::Pty {
                columns: 80,
                rows: 24,
            },
            "pty",
        ),
    ] {
        let options = RunOptions::new()
            .transport(transport)
            .raw_log(directory.path().join(log));
        let mut handle = client
            .print_stream_json(request().options(options))
            .await
            .unwrap();
        let lines: Vec<_> = rest_of_events(&mut handle.events)
            .await
            .iter()
            .map(|event| event.raw().clone())
            .collect();
        assert!(soon(handle.completion).await.unwrap().exit.success());
        streams.push(lines);
    }
    assert!(streams[0].len() > 20);
    assert_eq!(streams[0], streams[1], "spool");
    assert_eq!(streams[0], streams[2], "pty");
}

#[tokio::test]
async fn a_system_prompt_is_in_a_private_file_for_as_long_as_the_process_runs() {
    let (client, _agent) = play(&Script::new().report().wait_for_signal(Signal::Interrupt).exit(0));
    let options = RunOptions::new()
        .append_system_prompt(SystemPrompt::Text("Never say secret-word.".into()))
        .partial_messages(PartialMessages::Off);
    let mut handle = client
        .print_stream_json(request().options(options))
        .await
        .unwrap();
    let report = value(&next_event(&mut handle.events).await);
    let arguments = report["arguments"]
        .as_array()
        .expect("the report lists arguments")
        .clone();
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|argument| argument.as_str().unwrap())
        .collect();
    assert!(
        !arguments.concat().contains("secret-word"),
        "everybody can read a command line"
    );
    let path = arguments
        .last()
        .unwrap()
        .strip_prefix("--append-system-prompt-file=")
        .unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "Never say secret-word.");
    assert_eq!(
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600
    );

    handle.control.interrupt();
    rest(&mut handle.events).await;
    assert!(soon(&mut handle.completion).await.unwrap().exit.success());
    drop(handle);
    assert!(!std::path::Path::new(path).exists(), "nothing is left behind");
}

#[tokio::test]
async fn a_system_prompt_file_is_read_for_a_cli_that_cannot() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("more.md"), "Be brief.").unwrap();
    let agent = Script::new()
        .expect_argument("--append-system-prompt=Be brief.")
        .install()
        .unwrap();
    let client = builder(&agent)
        .capabilities(Capabilities::for_version(Version::new(2, 0, 8)))
        .build();
    let options = || RunOptions::new().cwd(directory.path());
    let prompt = |name: &str| SystemPrompt::File(name.into());

    let asked = request().options(options().append_system_prompt(prompt("more.md")));
    let mut handle = client.print_stream_json(asked).await.unwrap();
    rest(&mut handle.events).await;
    let status = soon(handle.completion).await.unwrap();
    assert!(
        status.exit.success(),
        "{}",
        String::from_utf8_lossy(&status.stderr_tail)
    );

    std::fs::write(directory.path().join("long.md"), "x".repeat(200_000)).unwrap();
    // Whichever byte a limit falls on, it cuts one of these in two.
    std::fs::write(directory.path().join("wide.md"), "é".repeat(100_000)).unwrap();
    std::fs::write(
        directory.path().join("wide2.md"),
        format!("x{}", "é".repeat(100_000)),
    )
    .unwrap();
    std::fs::write(directory.path().join("latin.md"), b"caf\xe9").unwrap();
    for (name, reason) in [
        ("missing.md", "cannot read the system prompt"),
        ("latin.md", "cannot read the system prompt"),
        ("long.md", "too long"),
        ("wide.md", "too long"),
        ("wide2.md", "too long"),
    ] {
        let asked = request().options(options().append_system_prompt(prompt(name)));
        let error = client.print_stream_json(asked).await.unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn what_cannot_be_started_says_why_and_what_to_do() {
    let agent = Script::new().install().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let taken = directory.path().join("taken");
    std::fs::write(&taken, "old").unwrap();

    let client = builder(&agent).binary(directory.path().join("no-claude")).build();
    let error = client.print_stream_json(request()).await.unwrap_err();
    assert!(
        matches!(error, Error::Probe(ProbeError::NotFound { .. })),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .contains("npm install -g @anthropic-ai/claude-code"),
        "{error}"
    );

    let client = builder(&agent).binary(&taken).build();
    let error = client.print_stream_json(request()).await.unwrap_err();
    assert!(
        matches!(error, Error::Spawn(SpawnError::NotExecutable { .. })),
        "{error:?}"
    );

    let client = builder(&agent).build();
    let failing = |options: RunOptions| client.print_stream_json(request().options(options));
    let error = failing(RunOptions::new().cwd("/no/such/directory"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::Spawn(SpawnError::BadWorkingDirectory { .. })),
        "{error:?}"
    );
    let error = failing(RunOptions::new().raw_log(&taken)).await.unwrap_err();
    assert!(matches!(error, Error::Spawn(SpawnError::Log { .. })), "{error:?}");
    assert_eq!(
        std::fs::read_to_string(&taken).unwrap(),
        "old",
        "a log that is there is left alone"
    );
    let many = (0..40).map(|number| format!("--{number}={}", "x".repeat(100_000)));
    let error = failing(RunOptions::new().extra_args(many)).await.unwrap_err();
    assert!(
        matches!(error, Error::Spawn(SpawnError::ArgumentsTooLong)),
        "{error:?}"
    );
    let error = client
        .print_stream_json(PrintRequest::new(" "))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Request(_)), "{error:?}");
}

#[tokio::test]
async fn a_stream_that_is_dropped_in_the_middle_of_a_flood_does_not_hang() {
    let (client, _agent) = play(&Script::new().flood(1_000_000, 4_096));
    let mut handle = client.print_stream_json(request()).await.unwrap();
    assert!(matches!(
        next_event(&mut handle.events).await.kind(),
        Kind::Unknown { .. }
    ));
    drop(handle.events);
    let report = tokio::time::timeout(LIMIT, handle.completion)
        .await
        .expect("the process hangs")
        .unwrap();
    assert_eq!(report.exit, Exit::Cancelled);
}
