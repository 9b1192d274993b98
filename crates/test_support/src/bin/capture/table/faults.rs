//! Errors of the API, retries, rate limits, and CLIs that do not even start.

use super::all::OLDER;
use crate::scenario::{Run, Scenario};

const STREAM: [&str; 3] = ["-p", "--output-format=stream-json", "--verbose"];

pub(super) fn scenarios() -> Vec<Scenario> {
    [of_the_api(), of_the_stream(), of_the_account(), at_the_start()].concat()
}

fn of_the_api() -> Vec<Scenario> {
    let failing = |name, what, scenario| Scenario::plain(name, what, scenario).with_two_retries();
    vec![
        failing("api_400", "HTTP 400", "err400").also_in(&OLDER),
        failing("api_400_long", "HTTP 400, prompt too long", "err400long"),
        failing("api_400_credit", "HTTP 400, no credit", "err400credit"),
        failing("api_401", "HTTP 401", "err401"),
        failing("api_403", "HTTP 403", "err403"),
        failing("api_404", "HTTP 404", "err404"),
        failing("api_413", "HTTP 413", "err413"),
        failing("api_429", "HTTP 429, retry-after 1", "err429"),
        failing("api_500", "HTTP 500", "err500"),
        failing("api_502_html", "HTTP 502 with a page", "errhtml"),
        failing("api_529", "HTTP 529", "err529"),
        failing("api_529_once", "HTTP 529 once, then success", "flaky:529x1").also_in(&OLDER),
        failing("api_529_twice", "HTTP 529 twice, then success", "flaky:529x2"),
        failing("api_429_once", "HTTP 429 once, then success", "flaky:429x1"),
        failing("api_down", "nothing listens", "plain").variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:1"),
    ]
}

fn of_the_stream() -> Vec<Scenario> {
    let plain = Scenario::plain;
    vec![
        plain(
            "stream_error",
            "an error event in the middle, then success",
            "midstreamerr",
        ),
        plain(
            "stream_error_partial",
            "the same with partial messages",
            "midstreamerr",
        )
        .partial(),
        plain(
            "stream_drop",
            "the connection is cut at once, then success",
            "midstreamdrop",
        ),
        plain(
            "stream_drop_partial",
            "the same with partial messages",
            "midstreamdrop",
        )
        .partial(),
        plain(
            "stream_cut_partial",
            "the connection is cut after some text was shown",
            "midstreamcut",
        )
        .partial(),
    ]
}

fn of_the_account() -> Vec<Scenario> {
    let subscribed = |name, what, scenario| {
        Scenario::plain(name, what, scenario)
            .with_two_retries()
            .without_variable("ANTHROPIC_API_KEY")
            .variable("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-made-up")
    };
    vec![
        subscribed(
            "limit_allowed",
            "a subscription's rate limits",
            "ratelimit_unified:allowed",
        ),
        subscribed(
            "limit_warning",
            "a subscription's rate limit is near",
            "ratelimit_unified",
        ),
        subscribed(
            "limit_rejected",
            "a subscription's rate limit is reached",
            "ratelimit_rejected",
        ),
        Scenario::plain("not_logged_in", "no key", "plain").without_variable("ANTHROPIC_API_KEY"),
    ]
}

fn at_the_start() -> Vec<Scenario> {
    let command = Scenario::command;
    let taken = "00000000-0000-4000-8000-0000000a0001";
    let unknown = "00000000-0000-4000-8000-0000000a0002";
    let failing = |name, what, flag: &str| command(name, what, &STREAM, "SCENARIO:chat").flag(flag);
    vec![
        command(
            "start_not_verbose",
            "stream-json without --verbose",
            &["-p", "--output-format=stream-json"],
            "hello",
        ),
        command("start_no_prompt", "no prompt", &STREAM, ""),
        failing(
            "start_bad_flag",
            "an option that does not exist",
            "--no-such-option",
        ),
        failing(
            "start_session_not_uuid",
            "--session-id that is no UUID",
            "--session-id=worker-1",
        ),
        failing(
            "start_session_taken",
            "--session-id of a session that exists",
            &format!("--session-id={taken}"),
        )
        .after(Run::prompt("SCENARIO:chat").flag(format!("--session-id={taken}"))),
        failing(
            "start_resume_unknown",
            "--resume of no session",
            &format!("--resume={unknown}"),
        ),
        failing(
            "start_resume_not_uuid",
            "--resume of something that is no UUID",
            "--resume=worker-1",
        ),
        failing(
            "start_bad_settings",
            "--settings that are not there",
            "--settings=/nonexistent.json",
        ),
        Scenario::plain(
            "start_root",
            "permissions skipped by root (captured as root)",
            "plain",
        )
        .without_variable("IS_SANDBOX"),
        Scenario::plain(
            "start_root_result",
            "the same with CLAUDE_CODE_STARTUP_FAILURE_RESULTS=1",
            "plain",
        )
        .without_variable("IS_SANDBOX")
        .variable("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1"),
    ]
}
