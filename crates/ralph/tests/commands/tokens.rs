//! `ralph token`: creating, listing, revoking and rotating tokens, without a server.

use serde_json::Value;

use crate::stage::Stage;

#[test]
fn a_token_is_shown_once_listed_and_revoked() {
    let stage = Stage::new();
    let created = stage.ralph(&["token", "create", "ci", "--scope", "read", "--expires", "30d"]);
    assert_eq!(created.code, Some(0), "{}", created.stderr);
    let secret = created.stdout.trim();
    assert!(secret.starts_with("ralph_") && secret.len() == 70, "{secret}");
    let confined = ["token", "create", "phone", "--scope", "steer", "--workspace", "/"];
    assert_eq!(stage.ralph(&confined).code, Some(0));

    let listed = stage.ralph(&["token", "list"]);
    assert!(!listed.stdout.contains(&secret[6..]), "{}", listed.stdout);
    for words in ["NAME", "ci", "read", "never", "phone", "steer", "all"] {
        assert!(listed.stdout.contains(words), "{words}: {}", listed.stdout);
    }
    let json: Value = serde_json::from_str(&stage.ralph(&["token", "list", "--json"]).stdout).unwrap();
    assert_eq!(json[0]["scope"], "read");
    assert_eq!(json[1]["workspaces"], serde_json::json!(["/"]));
    assert!(
        json[0]["expires_at"].is_string() && json[0]["last_used_at"].is_null(),
        "{json}"
    );

    let again = stage.ralph(&["token", "create", "ci", "--scope", "read"]);
    assert!(
        again.code != Some(0) && again.stderr.contains("ralph token revoke ci"),
        "{}",
        again.stderr
    );
    assert_eq!(stage.ralph(&["token", "revoke", "ci"]).code, Some(0));
    let gone = stage.ralph(&["token", "revoke", "ci"]);
    assert!(
        gone.code != Some(0) && gone.stderr.contains("no token named `ci`"),
        "{}",
        gone.stderr
    );
}

#[test]
fn a_token_needs_a_scope_a_time_that_lasts_and_a_person() {
    let stage = Stage::new();
    let refused = |args: &[&str]| {
        let ran = stage.ralph(args);
        assert!(
            ran.code != Some(0) && ran.stdout.is_empty(),
            "{args:?}: {}",
            ran.stdout
        );
        ran.stderr
    };
    refused(&["token", "create", "ci"]);
    refused(&["token", "create", "ci", "--scope", "root"]);
    assert!(refused(&["token", "create", "ci", "--scope", "read", "--expires", "0"]).contains("more than 0"));
    let missing = [
        "token",
        "create",
        "ci",
        "--scope",
        "read",
        "--workspace",
        "/nowhere",
    ];
    assert!(refused(&missing).contains("/nowhere"));
    for args in [
        &["token", "create", "ci", "--scope", "read"][..],
        &["token", "rotate"],
    ] {
        let ran = stage.command(args).env("RALPH_RUN_ID", "x").output().unwrap();
        assert_eq!(ran.status.code(), Some(78));
        assert!(String::from_utf8_lossy(&ran.stderr).contains("an agent cannot change tokens"));
    }
}

#[test]
fn rotating_replaces_the_server_token() {
    let stage = Stage::new();
    let rotate = || {
        let ran = stage.ralph(&["token", "rotate"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
        let path = ran.stderr.split('`').nth(1).unwrap().to_owned();
        std::fs::read_to_string(path).unwrap()
    };
    assert_ne!(rotate(), rotate());
}

#[test]
fn a_token_can_be_limited_in_what_it_starts() {
    let stage = Stage::new();
    let create = |name: &str, more: &[&str]| {
        let args = [&["token", "create", name, "--scope"][..], more].concat();
        stage.ralph(&args)
    };
    let limits = [
        "start",
        "--workspace",
        "/",
        "--workspace",
        "/tmp",
        "--permission-mode",
        "ask",
        "--permission-mode",
        "acceptEdits",
        "--max-live-runs",
        "3",
        "--max-run-cost",
        "$5",
        "--max-day-cost",
        "20.50",
    ];
    let created = create("bot", &limits);
    assert_eq!(created.code, Some(0), "{}", created.stderr);
    assert_eq!(create("free", &["start"]).code, Some(0));
    let listed = stage.ralph(&["token", "list", "--json"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["workspaces"], serde_json::json!(["/", "/tmp"]));
    assert_eq!(
        listed[0]["limits"],
        serde_json::json!({"permission_modes": ["ask", "accept_edits"], "max_live_runs": 3,
            "max_run_cost_micro_usd": 5_000_000, "max_day_cost_micro_usd": 20_500_000})
    );
    assert_eq!(listed[1]["limits"], serde_json::json!({}));
    let shown = stage.ralph(&["token", "list"]).stdout;
    assert!(
        shown.contains("ask or accept-edits, 3 live, $5.00 a run, $20.50 a day"),
        "{shown}"
    );
    for (more, said) in [
        (&["read", "--max-live-runs", "3"][..], "`--scope start`"),
        (
            &["start", "--max-run-cost", "0"],
            "`--max-run-cost` must be more than 0",
        ),
        (
            &["start", "--max-live-runs", "0"],
            "`--max-live-runs` must be more than 0",
        ),
        (&["start", "--permission-mode", "anything"], "--permission-mode"),
    ] {
        let refused = create("x", more);
        assert!(refused.code != Some(0) && refused.stdout.is_empty(), "{more:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}
