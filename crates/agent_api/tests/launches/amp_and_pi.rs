//! How Amp and pi are started, and how their runs end.

use agent_api::backends::amp::Amp;
use agent_api::backends::pi::Pi;
use agent_api::{Backend as _, ErrorClass, Outcome, PermissionMode, RunOptions, RunRequest, SessionChoice};
use test_support::script::Script;

use crate::support::{arguments, isolated, play, preview, stdin};

fn options(change: impl FnOnce(&mut RunOptions)) -> RunOptions {
    let mut options = RunOptions::new();
    change(&mut options);
    options
}

#[test]
fn prompts_go_in_on_standard_input() {
    let request = || RunRequest::new("Say hello.");
    assert_eq!(stdin(&preview(Pi::new(), request()).unwrap()), b"Say hello.");
    assert_eq!(stdin(&preview(Amp::new(), request()).unwrap()), b"Say hello.");
}

#[test]
fn pi_takes_a_model_with_its_provider_and_sessions() {
    let model = options(|options| options.model = Some("openai/gpt-5.5".into()));
    assert_eq!(
        arguments(Pi::new(), model),
        [
            "--mode",
            "json",
            "-p",
            "--provider",
            "openai",
            "--model",
            "gpt-5.5"
        ]
    );
    for (session, expected) in [
        (SessionChoice::Resume("abc".into()), &["--session", "abc"][..]),
        (SessionChoice::fork("abc"), &["--fork", "abc"]),
        (SessionChoice::NewWithId("abc".into()), &["--session-id", "abc"]),
        (SessionChoice::Last, &["-c"]),
    ] {
        let options = options(|options| options.session = Some(session));
        assert_eq!(arguments(Pi::new(), options)[3..], *expected);
    }
}

#[test]
fn amp_continues_a_thread_by_its_id() {
    let options = options(|options| {
        options.session = Some(SessionChoice::Resume("T-1".into()));
        options.permission_mode = Some(PermissionMode::Bypass);
    });
    assert_eq!(
        arguments(Amp::new(), options),
        [
            "threads",
            "continue",
            "T-1",
            "--execute",
            "--stream-json",
            "--dangerously-allow-all"
        ]
    );
    let last = self::options(|options| options.session = Some(SessionChoice::Last));
    assert!(preview(Amp::new(), RunRequest::new("Go.").options(last)).is_err());
}

#[tokio::test]
async fn an_error_of_pi_that_exits_with_zero_is_a_failure() {
    let script = Script::new().with_version("0.87.1").emit_lines([
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-16T00:00:00Z","cwd":"/w"}"#,
        r#"{"type":"agent_start"}"#,
        r#"{"type":"message_start","message":{"role":"assistant","content":[]}}"#,
        r#"{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"401 invalid api key"}}"#,
        r#"{"type":"agent_end","messages":[],"willRetry":false}"#,
    ]);
    let request = RunRequest::new("Go.").options(isolated());
    let (_, completed) = play(|program| Pi::program(program), &script, request).await;
    assert_eq!(completed.finished.outcome, Outcome::Failed);
    assert_eq!(completed.finished.error.unwrap().class, ErrorClass::Auth);
}

#[tokio::test]
async fn amp_speaks_claudes_dialect_and_is_recognised_by_its_thread() {
    let init = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"T-5928a90d","tools":["Bash"],"mcp_servers":[]}"#;
    let lines: [&[u8]; 1] = [init.as_bytes()];
    assert!(Amp::new().recognises(&lines));
    let script = Script::new().with_version("0.0.1790142911-g7618fb").emit_lines([
        init,
        r#"{"type":"assistant","session_id":"T-5928a90d","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{"input_tokens":200,"cache_read_input_tokens":1000,"output_tokens":34}}}"#,
        r#"{"type":"result","subtype":"success","session_id":"T-5928a90d","is_error":false,"duration_ms":5,"num_turns":1,"result":"Done.","usage":{"input_tokens":200,"cache_read_input_tokens":1000,"output_tokens":34}}"#,
    ]);
    let request = RunRequest::new("Go.").options(isolated());
    let (_, completed) = play(|program| Amp::program(program), &script, request).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.final_text.as_deref(), Some("Done."));
    assert_eq!(completed.session_id.as_deref(), Some("T-5928a90d"));
}
