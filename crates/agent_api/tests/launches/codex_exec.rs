//! How `codex exec` is started for one prompt, and how its runs end.

use agent_api::backends::codex::Codex;
use agent_api::{Body, ErrorClass, Outcome, PermissionMode, RunOptions, RunRequest, SessionChoice, ToolKind};
use test_support::script::Script;

use crate::support::{arguments, isolated, play, preview, stdin};

const EXEC: [&str; 3] = ["exec", "--json", "--skip-git-repo-check"];

fn with(change: impl FnOnce(&mut RunOptions)) -> Vec<String> {
    let mut options = RunOptions::new();
    change(&mut options);
    let arguments = arguments(Codex::new(), options);
    assert_eq!(arguments[..3], EXEC);
    assert_eq!(arguments.last().unwrap(), "-");
    arguments[3..arguments.len() - 1].to_vec()
}

#[test]
fn the_prompt_goes_in_on_standard_input_only() {
    let prompt = "x".repeat(400_000);
    let launch = preview(Codex::new(), RunRequest::new(&prompt)).unwrap();
    assert_eq!(stdin(&launch), prompt.as_bytes());
    assert_eq!(launch.spec.args, ["exec", "--json", "--skip-git-repo-check", "-"]);
}

#[test]
fn permission_modes_choose_the_sandbox() {
    for (mode, argument) in [
        (
            PermissionMode::Bypass,
            "--dangerously-bypass-approvals-and-sandbox",
        ),
        (PermissionMode::AcceptEdits, "--sandbox=workspace-write"),
        (PermissionMode::Ask, "--sandbox=read-only"),
        (PermissionMode::Plan, "--sandbox=read-only"),
        (PermissionMode::Refuse, "--sandbox=read-only"),
    ] {
        assert_eq!(
            with(|options| options.permission_mode = Some(mode)),
            [argument],
            "{mode:?}"
        );
    }
}

#[test]
fn options_come_before_the_session() {
    let arguments = with(|options| {
        options.model = Some("gpt-5.5".into());
        options.permission_mode = Some(PermissionMode::AcceptEdits);
        options.additional_directories = vec!["/data".into()];
        options.persistence = Some(agent_client::Persistence::Off);
        options.effort = Some("high".into());
        options.extra_args = vec!["--config=model_verbosity=low".into()];
        options.session = Some(SessionChoice::Resume(
            "01a1e070-9358-7270-9156-06a00fd8b119".into(),
        ));
    });
    assert_eq!(
        arguments,
        [
            "--sandbox=workspace-write",
            "--model=gpt-5.5",
            "--config=model_reasoning_effort=high",
            "--add-dir=/data",
            "--ephemeral",
            "--config=model_verbosity=low",
            "resume",
            "01a1e070-9358-7270-9156-06a00fd8b119",
        ]
    );
}

#[test]
fn sessions_are_resumed_and_forked() {
    for (session, expected) in [
        (SessionChoice::New, &[][..]),
        (SessionChoice::Last, &["resume", "--last"]),
        (SessionChoice::fork("abc"), &["fork", "abc"]),
    ] {
        assert_eq!(with(|options| options.session = Some(session.clone())), expected);
    }
}

#[test]
fn a_session_id_is_never_taken_for_an_option() {
    for id in ["--last", "", "a b", "-"] {
        let mut options = RunOptions::new();
        options.session = Some(SessionChoice::Resume(id.into()));
        let request = RunRequest::new("Go.").options(options);
        assert!(preview(Codex::new(), request).is_err(), "{id:?}");
    }
}

fn codex_stream() -> Script {
    Script::new().with_version("codex-cli 0.166.0").emit_lines([
        r#"{"type":"thread.started","thread_id":"01a1e070-9358-7270-9156-06a00fd8b119"}"#,
        r#"{"type":"turn.started"}"#,
        r#"{"type":"item.completed","item":{"id":"item_0","type":"web_search","id":"ws_1","query":"rust","action":null}}"#,
        r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Done."}}"#,
        r#"{"type":"turn.completed","usage":{"input_tokens":2400,"cached_input_tokens":2000,"cache_write_input_tokens":0,"output_tokens":68,"reasoning_output_tokens":20}}"#,
    ])
}

#[tokio::test]
async fn a_run_has_its_text_and_its_tokens_and_a_key_that_comes_twice_is_no_error() {
    let script = Script::new().read_to_end().then(codex_stream());
    let (events, completed) = play(
        |program| Codex::program(program),
        &script,
        RunRequest::new("Go.").options(isolated()),
    )
    .await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.final_text.as_deref(), Some("Done."));
    assert_eq!(
        completed.session_id.as_deref(),
        Some("01a1e070-9358-7270-9156-06a00fd8b119")
    );
    let tokens = completed.finished.usage.tokens;
    assert_eq!((tokens.input, tokens.cache_read), (400, 2_000));
    assert_eq!((tokens.output, tokens.reasoning), (68, 20));
    assert_eq!(completed.finished.line_errors, 0);
    let is_search = |body: &Body| matches!(body, Body::ToolStarted(tool) if tool.kind == ToolKind::WebSearch);
    assert!(events.iter().any(|event| is_search(&event.body)));
}

#[tokio::test]
async fn the_usage_of_a_resumed_session_is_marked_as_including_earlier_runs() {
    let mut options = isolated();
    options.session = Some(SessionChoice::Last);
    let (_, completed) = play(
        |program| Codex::program(program),
        &codex_stream(),
        RunRequest::new("Go.").options(options),
    )
    .await;
    assert!(completed.finished.usage.may_include_earlier_runs);
}

#[tokio::test]
async fn a_failure_before_the_session_is_explained_by_stderr() {
    for (stderr, class, code) in [
        (
            "Error: thread/resume: thread/resume failed: no rollout found for thread id 00000000 (code -32600)\n",
            ErrorClass::InvalidRequest,
            "unknown_session",
        ),
        (
            "Not inside a trusted directory and --skip-git-repo-check was not specified.\n",
            ErrorClass::Trust,
            "not_trusted",
        ),
        (
            "Not logged in. Run codex login.\n",
            ErrorClass::Auth,
            "not_logged_in",
        ),
    ] {
        let script = Script::new()
            .with_version("codex-cli 0.166.0")
            .stderr(stderr)
            .exit(1);
        let request = RunRequest::new("Go.").options(isolated());
        let (_, completed) = play(|program| Codex::program(program), &script, request).await;
        assert_eq!(completed.finished.outcome, Outcome::Failed);
        let error = completed.finished.error.unwrap();
        assert_eq!((error.class, error.code.as_str()), (class, code), "{stderr}");
    }
}

#[tokio::test]
async fn an_end_without_a_terminal_event_is_no_success() {
    let script = Script::new().with_version("codex-cli 0.166.0").emit_lines([
        "Reading additional input from stdin...",
        r#"{"type":"thread.started","thread_id":"t"}"#,
        r#"{"type":"turn.started"}"#,
    ]);
    let request = RunRequest::new("Go.").options(isolated());
    let (_, completed) = play(|program| Codex::program(program), &script, request).await;
    assert_eq!(completed.finished.outcome, Outcome::NoResult);
    assert_eq!(completed.finished.line_errors, 1);
}
