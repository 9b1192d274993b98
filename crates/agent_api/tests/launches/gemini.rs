//! How Gemini CLI is started, and what its exit codes mean.

use agent_api::backends::gemini::Gemini;
use agent_api::{
    Close, Error, ErrorClass, Input, Limit, Outcome, PermissionMode, RunOptions, RunRequest, SessionChoice,
};
use test_support::script::Script;

use crate::support::{arguments, isolated, play, preview, stdin};

fn with(change: impl FnOnce(&mut RunOptions)) -> Vec<String> {
    let mut options = RunOptions::new();
    change(&mut options);
    let arguments = arguments(Gemini::new(), options);
    assert_eq!(arguments[..2], ["--output-format=stream-json", "--skip-trust"]);
    arguments[2..].to_vec()
}

#[test]
fn the_prompt_goes_in_on_standard_input() {
    let launch = preview(Gemini::new(), RunRequest::new("Say hello.")).unwrap();
    assert_eq!(stdin(&launch), b"Say hello.");
}

#[test]
fn every_option_has_its_argument() {
    let arguments = with(|options| {
        options.permission_mode = Some(PermissionMode::AcceptEdits);
        options.model = Some("gemini-2.5-pro".into());
        options.additional_directories = vec!["/data".into()];
        options.session = Some(SessionChoice::NewWithId(
            "00000000-0000-4000-8000-000000000001".into(),
        ));
        options.extra_args = vec!["--debug".into()];
    });
    assert_eq!(
        arguments,
        [
            "--approval-mode=auto_edit",
            "--model=gemini-2.5-pro",
            "--include-directories=/data",
            "--session-id=00000000-0000-4000-8000-000000000001",
            "--debug",
        ]
    );
    for (mode, word) in [
        (PermissionMode::Bypass, "yolo"),
        (PermissionMode::Plan, "plan"),
        (PermissionMode::Ask, "default"),
        (PermissionMode::Refuse, "default"),
    ] {
        let arguments = with(|options| options.permission_mode = Some(mode));
        assert_eq!(arguments, [format!("--approval-mode={word}")]);
    }
    for (session, argument) in [
        (SessionChoice::Resume("abc".into()), "--resume=abc"),
        (SessionChoice::Last, "--resume=latest"),
    ] {
        assert_eq!(with(|options| options.session = Some(session)), [argument]);
    }
}

#[test]
fn forking_is_refused_before_anything_starts() {
    let mut options = RunOptions::new();
    options.session = Some(SessionChoice::fork("abc"));
    assert!(preview(Gemini::new(), RunRequest::new("Go.").options(options)).is_err());
}

fn script() -> Script {
    Script::new().with_version("0.61.0")
}

#[tokio::test]
async fn the_process_that_works_gets_the_signals() {
    let script = script()
        .expect_variable_value("GEMINI_CLI_NO_RELAUNCH", "true")
        .emit_lines([
            r#"{"type":"init","timestamp":"2026-11-16T00:00:00Z","session_id":"s","model":"m"}"#,
            r#"{"type":"message","timestamp":"2026-11-16T00:00:00Z","role":"user","content":"Go."}"#,
            r#"{"type":"message","timestamp":"2026-11-16T00:00:00Z","role":"assistant","content":"Hello.","delta":true}"#,
            r#"{"type":"result","timestamp":"2026-11-16T00:00:00Z","status":"success","stats":{"total_tokens":1244,"input_tokens":1200,"output_tokens":34,"cached":1000,"input":200}}"#,
        ]);
    let (_, completed) = play(
        |program| Gemini::program(program),
        &script,
        RunRequest::new("Go.").options(isolated()),
    )
    .await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.final_text.as_deref(), Some("Hello."));
    let tokens = completed.finished.usage.tokens;
    assert_eq!(
        (tokens.input, tokens.cache_read, tokens.output, tokens.reasoning),
        (200, 1_000, 44, 10)
    );
}

#[tokio::test]
async fn documented_exit_codes_are_explained() {
    for (code, outcome, class, word) in [
        (41, Outcome::Failed, ErrorClass::Auth, "not_logged_in"),
        (42, Outcome::Failed, ErrorClass::InvalidRequest, "invalid_input"),
        (52, Outcome::Failed, ErrorClass::Config, "config"),
        (
            53,
            Outcome::LimitReached(Limit::Turns),
            ErrorClass::Quota,
            "max_turns",
        ),
        (54, Outcome::Failed, ErrorClass::Tool, "tool_failed"),
        (55, Outcome::Failed, ErrorClass::Trust, "not_trusted"),
        (130, Outcome::Interrupted, ErrorClass::Process, "interrupted"),
    ] {
        let script = script().stderr("a line on stderr\n").exit(code);
        let request = RunRequest::new("Go.").options(isolated());
        let (_, completed) = play(|program| Gemini::program(program), &script, request).await;
        let error = completed.finished.error.unwrap();
        assert_eq!(completed.finished.outcome, outcome, "{code}");
        assert_eq!((error.class, error.code.as_str()), (class, word), "{code}");
        assert!(error.message.contains("a line on stderr"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_session_that_was_not_kept_is_told_from_a_bad_option() {
    let script = script()
        .stderr("Error resuming session: No previous sessions found for this project.\n")
        .exit(42);
    let request = RunRequest::new("Go.").options(isolated());
    let (_, completed) = play(|program| Gemini::program(program), &script, request).await;
    let error = completed.finished.error.unwrap();
    assert_eq!(
        (error.class, error.code.as_str()),
        (ErrorClass::InvalidRequest, "unknown_session")
    );
}

#[tokio::test]
async fn a_result_counts_more_than_the_exit_code() {
    for code in [0, 53, 144] {
        let script = script()
            .emit_lines([
                r#"{"type":"init","timestamp":"2026-11-16T00:00:00Z","session_id":"s","model":"m"}"#,
                r#"{"type":"message","timestamp":"2026-11-16T00:00:00Z","role":"user","content":"Go."}"#,
                r#"{"type":"result","timestamp":"2026-11-16T00:00:00Z","status":"error","error":{"type":"Error","message":"[API Error: 400 bad request]"},"stats":{}}"#,
            ])
            .exit(code);
        let request = RunRequest::new("Go.").options(isolated());
        let (_, completed) = play(|program| Gemini::program(program), &script, request).await;
        assert_eq!(completed.finished.outcome, Outcome::Failed, "{code}");
        let error = completed.finished.error.unwrap();
        assert_eq!(error.class, ErrorClass::InvalidRequest, "{code}");
    }
}

#[test]
fn a_run_that_takes_messages_goes_through_acp() {
    let launch = |input| {
        let mut options = RunOptions::new();
        options.cwd = Some("/".into());
        let request = RunRequest::new("Go.").input(input).options(options);
        let launch = preview(Gemini::new(), request).unwrap();
        launch.spec.args.iter().any(|argument| argument == "--acp")
    };
    assert!(launch(Input::Messages(Close::WhenIdle)));
    assert!(launch(Input::Messages(Close::ByCaller)));
    assert!(!launch(Input::PromptOnly));
}

#[test]
fn what_the_acp_form_lacks_is_refused_also_where_a_closure_makes_it_necessary() {
    let mut options = RunOptions::new();
    options.session = Some(SessionChoice::NewWithId(agent_api::new_session_id()));
    let request = RunRequest::new("Go.").options(options);
    assert!(preview(Gemini::new(), request.clone()).is_ok());
    let asking = request.on_permission(|_| async { agent_api::Answer::Allow });
    let error = preview(Gemini::new(), asking).err().unwrap();
    assert!(matches!(error, Error::UnsupportedCapability { .. }), "{error:?}");
}
