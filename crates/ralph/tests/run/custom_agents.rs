//! `ralph run` with commands of the user's own: what is known about their costs, and when.

use serde_json::json;
use test_support::script::Script;

use crate::stage::{Ran, Stage, result, success};

const NOTHING_REPORTED: &str = "the agent reports neither costs nor tokens";

/// A command that writes Claude Code's format, with further settings.
fn stream_json(end: &str, settings: &str) -> Stage {
    let script = Script::new().read_to_end().emit(end.to_owned());
    Stage::configured(&script, |agent| {
        let arguments: Vec<&str> = agent
            .arguments
            .iter()
            .map(|text| text.to_str().unwrap())
            .collect();
        let cli = json!({
            "backend": "custom", "command": agent.program, "args": arguments, "output_format": "stream-json",
        });
        format!("cli: {cli}\n{settings}\n")
    })
}

fn without_figures() -> String {
    result(&json!({
        "subtype": "success", "is_error": false, "result": "More to do.",
        "total_cost_usd": null, "usage": null, "modelUsage": null, "model_usage_since_last_result": null,
    }))
}

fn shown(ran: &Ran) -> String {
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn a_custom_agent_that_reports_costs_is_held_to_its_limit_without_a_warning() {
    let stage = stream_json(&success("More to do."), "");
    let ran = stage.run(&["--max-cost", "0.015", "--max-iterations", "5"]);
    assert_eq!(
        (ran.code, &stage.run_file()["reason"]),
        (Some(2), &json!({"limit": "cost"})),
        "{ran:?}"
    );
    assert_eq!(stage.run_file()["status"]["iteration"], 2);
    assert!(!shown(&ran).contains("neither costs nor tokens"), "{ran:?}");
}

#[test]
fn a_custom_agent_that_reports_nothing_is_a_warning_once_if_a_cost_limit_was_set() {
    for settings in ["event_loop: {max_cost_usd: 1}", ""] {
        let stage = stream_json(&without_figures(), settings);
        let ran = stage.run(&["--max-iterations", "3"]);
        assert_eq!(
            (ran.code, &stage.run_file()["reason"]),
            (Some(2), &json!({"limit": "iterations"})),
            "{ran:?}"
        );
        let is_set = !settings.is_empty();
        let warnings = ran.stdout.matches(NOTHING_REPORTED).count();
        assert_eq!(warnings, usize::from(is_set), "{ran:?}");
    }
    let stage = stream_json(&without_figures(), "");
    let ran = stage.run(&["--once", "--max-cost", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stdout.matches(NOTHING_REPORTED).count(), 1, "{ran:?}");
}

#[test]
fn a_command_that_writes_plain_text_is_only_warned_about_a_limit_that_was_set() {
    let stage = Stage::empty();
    for (settings, warnings) in [("", 0), ("event_loop: {max_cost_usd: 1}\n", 1)] {
        stage.configure(&format!("cli: {{backend: custom, command: cat}}\n{settings}"));
        let ran = stage.run(&["--once"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(
            shown(&ran).matches("neither costs nor tokens").count(),
            warnings,
            "{ran:?}"
        );
    }
}
