//! Flag, then variable, then file, then default: each setting in each place.

use std::time::Duration;

use agent_api::MicroUsd;
use ralph::settings::{
    AgentOutput, Auth, ColorChoice, Denials, Origin, Output, PromptMode, PromptSource, SETTINGS,
    SessionPolicy, Settings, Transport, Verbosity, render_settings,
};
use ralph_run::control::PermissionChoice;

use crate::Said;

#[test]
fn defaults_apply_where_no_layer_has_a_value() {
    let settings = Said::default().settings();
    assert_eq!(settings.workspace, std::path::Path::new("/repo"));
    assert_eq!(settings.agent.backend.as_str(), "auto");
    assert_eq!(settings.agent.permission_mode, PermissionChoice::Bypass);
    assert_eq!(settings.agent.auth, Auth::Inherit);
    assert_eq!(settings.agent.transport, Transport::Auto);
    assert_eq!(settings.agent.prompt_mode, PromptMode::Stdin);
    assert_eq!(settings.agent.output_format, AgentOutput::Text);
    assert!(settings.agent.partials && !settings.ask && !settings.once);
    assert_eq!(settings.limits.iterations, Some(50));
    assert_eq!(settings.limits.cost, Some(MicroUsd::new(10_000_000)));
    assert_eq!(settings.limits.runtime, Some(Duration::from_secs(4 * 3600)));
    assert_eq!(settings.limits.iteration_timeout, None);
    assert_eq!((settings.limits.turns, settings.limits.tokens), (None, None));
    assert_eq!(settings.limits.consecutive_failures, Some(3));
    assert_eq!(settings.cooldown, Duration::ZERO);
    assert_eq!(settings.ask_timeout, Some(Duration::from_secs(15 * 60)));
    assert_eq!(settings.idle_timeout, Some(Duration::from_secs(30 * 60)));
    assert_eq!(settings.denials, Denials::Fail);
    assert_eq!(settings.completion_promise, "LOOP_COMPLETE");
    assert_eq!(settings.prompt, PromptSource::File("/repo/PROMPT.md".into()));
    assert_eq!(settings.session_policy, SessionPolicy::Fresh);
    assert_eq!(settings.view.verbosity, Verbosity::Normal);
    assert_eq!(
        (settings.view.output, settings.view.color),
        (Output::Text, ColorChoice::Auto)
    );
    assert!(settings.origins.values().all(|origin| *origin == Origin::Default));
}

/// A key, two values that differ from the default and from each other, and how the dry run shows them.
const VALUES: &[(&str, [&str; 2], [&str; 2])] = &[
    ("cli.backend", ["claude", "demo"], ["claude", "demo"]),
    ("cli.command", ["/bin/a", "b"], ["/bin/a", "b"]),
    ("model", ["opus", "sonnet"], ["opus", "sonnet"]),
    ("mode", ["planner", "coder"], ["planner", "coder"]),
    (
        "permission_mode",
        ["plan", "acceptEdits"],
        ["plan", "accept-edits"],
    ),
    ("tools", ["Read", "Read,Bash(git:*)"], ["Read", "Read,Bash"]),
    (
        "allowed_tools",
        ["Read", "Read,Bash(git:*)"],
        ["Read", "Read,Bash(git:*)"],
    ),
    ("system_prompt", ["be brief", "be kind"], ["be brief", "be kind"]),
    (
        "append_system_prompt",
        ["be brief", "be kind"],
        ["be brief", "be kind"],
    ),
    ("system_prompt_file", ["/a", "/b"], ["/a", "/b"]),
    ("append_system_prompt_file", ["/a", "/b"], ["/a", "/b"]),
    ("auth", ["login", "api_key"], ["login", "api_key"]),
    ("accepts_input", ["true", "no"], ["true", "false"]),
    ("transport", ["spool", "pty"], ["spool", "pty"]),
    ("partials", ["false", "off"], ["false", "false"]),
    ("ask", ["true", "yes"], ["true", "true"]),
    ("allow_secrets", ["true", "yes"], ["true", "true"]),
    ("ask_timeout", ["90s", "0"], ["1m 30s", "none"]),
    ("idle_timeout", ["90s", "0"], ["1m 30s", "none"]),
    ("verify_timeout", ["90s", "0"], ["1m 30s", "none"]),
    ("max_wait", ["90s", "0"], ["1m 30s", "none"]),
    ("denials", ["continue", "continue"], ["continue", "continue"]),
    ("event_loop.prompt", ["do a", "do b"], ["(below)", "(below)"]),
    ("event_loop.prompt_file", ["/a.md", "/b.md"], ["/a.md", "/b.md"]),
    (
        "event_loop.completion_promise",
        ["DONE", "READY"],
        ["DONE", "READY"],
    ),
    ("event_loop.max_iterations", ["7", "0"], ["7", "none"]),
    ("event_loop.max_cost_usd", ["2.50", "0"], ["$2.50", "none"]),
    ("event_loop.max_runtime_seconds", ["600", "0"], ["10m", "none"]),
    ("event_loop.iteration_timeout_seconds", ["60", "2h"], ["1m", "2h"]),
    ("event_loop.max_turns", ["3", "4"], ["3", "4"]),
    ("event_loop.max_tokens", ["1_000_000", "5"], ["1000000", "5"]),
    ("event_loop.max_consecutive_failures", ["1", "0"], ["1", "none"]),
    (
        "event_loop.cooldown_delay_seconds",
        ["5", "1.5"],
        ["5s", "1s 500ms"],
    ),
    ("memory", ["false", "no"], ["false", "false"]),
    ("verbose", ["true", "1"], ["true", "true"]),
    ("tui", ["true", "1"], ["true", "true"]),
    ("theme", ["dark", "light"], ["dark", "light"]),
    ("quiet", ["true", "on"], ["true", "true"]),
    ("--output", ["json", "json"], ["json", "json"]),
    ("--color", ["always", "never"], ["always", "never"]),
    ("verify", ["cargo test", "make"], ["cargo test", "make"]),
    ("worktree.base", ["main", "origin/main"], ["main", "origin/main"]),
    ("worktree.setup", ["npm ci", "make deps"], ["npm ci", "make deps"]),
    ("worktree.setup_timeout", ["90s", "0"], ["1m 30s", "none"]),
    ("worktree.copy", [".env", "/target"], [".env", "/target"]),
    ("redact", ["k-[0-9]+", "x"], ["k-[0-9]+", "x"]),
    ("watch", ["false", "0"], ["false", "false"]),
    ("watch.scope", ["src", "docs/**"], ["src", "docs/**"]),
    (
        "watch.silence",
        ["stop", "after 9m"],
        [
            "stop, after 6m, during_call 30m",
            "notify, after 9m, during_call 30m",
        ],
    ),
    (
        "watch.repeated_call",
        ["stop", "off"],
        ["stop, times 3", "off, times 3"],
    ),
    (
        "watch.repeated_failure",
        ["interrupt", "times 5"],
        ["interrupt, times 3", "notify, times 5"],
    ),
    (
        "watch.repeated_answer",
        ["stop", "false"],
        ["stop, times 2", "off, times 2"],
    ),
    (
        "watch.flipped_file",
        ["stop", "off"],
        ["stop, times 2", "off, times 2"],
    ),
    (
        "watch.burn_rate",
        ["stop", "factor 5, at_least $2"],
        [
            "stop, factor 3, at_least $1.00, window 5m",
            "notify, factor 5, at_least $2.00, window 5m",
        ],
    ),
    ("watch.out_of_scope", ["stop", "interrupt"], ["stop", "interrupt"]),
    (
        "watch.context",
        ["stop", "percent 80%"],
        ["stop, percent 90%", "notify, percent 80%"],
    ),
    ("watch.unknown_events", ["stop", "off"], ["stop", "off"]),
    ("notify", ["false", "off"], ["false", "false"]),
    (
        "notify.on",
        ["ended", "waiting,ended"],
        ["ended", "waiting,ended"],
    ),
    ("notify.bell", ["true", "1"], ["true", "true"]),
    ("notify.desktop", ["true", "on"], ["true", "true"]),
    ("notify.command", ["make tell", "b"], ["make tell", "b"]),
    (
        "notify.webhook",
        ["https://user:key@a.example/secret?key=1", "http://b.example"],
        ["https://a.example/…", "http://b.example/…"],
    ),
];

/// These only show for a custom command, or in another line.
const SHOWN_ELSEWHERE: [&str; 11] = [
    "acp.command",
    "acp.args",
    "acp.env",
    "cli.args",
    "cli.env",
    "cli.prompt_mode",
    "cli.prompt_flag",
    "cli.output_format",
    "pty_mode",
    "modes",
    // It needs an address.
    "notify.webhook_secret_env",
];

fn yaml(key: &str, value: &str) -> String {
    match key.split_once('.') {
        Some((section, leaf)) => format!("{section}:\n  {leaf}: '{value}'\n"),
        None => format!("{key}: '{value}'\n"),
    }
}

/// The line of the dry run: `value  (origin)`.
#[track_caller]
fn shown(settings: &Settings, name: &str) -> String {
    let text = render_settings(settings);
    let start = format!("{}: ", name.trim_start_matches('-'));
    let line = text.lines().find_map(|line| line.strip_prefix(&start));
    line.unwrap_or_else(|| unreachable!("{name} is not in\n{text}"))
        .to_owned()
}

#[test]
fn every_setting_is_in_this_matrix() {
    for setting in SETTINGS.iter() {
        let name = setting.name();
        assert!(
            VALUES.iter().any(|(key, ..)| *key == name) != SHOWN_ELSEWHERE.contains(&name),
            "{name} is not tested, or twice"
        );
    }
}

#[test]
fn flag_beats_variable_beats_file_beats_default_for_every_setting() {
    for (key, values, shows) in VALUES {
        let setting = SETTINGS.iter().find(|setting| setting.name() == *key).expect(key);
        let mut said = Said::default();
        let default = shown(
            &said.settings(),
            if *key == "event_loop.prompt" {
                "event_loop.prompt_file"
            } else {
                key
            },
        );
        assert!(default.ends_with("(default)"), "{key}: {default}");
        if !setting.key.is_empty() {
            said = said.and_file(&yaml(setting.key, values[0]));
            assert_eq!(
                shown(&said.settings(), key),
                format!("{}  (ralph.yml)", shows[0]),
                "{key} in the file"
            );
        }
        if !setting.variable.is_empty() {
            said = said.and_variable(setting.variable, values[1]);
            assert_eq!(
                shown(&said.settings(), key),
                format!("{}  (environment)", shows[1]),
                "{key} as variable"
            );
        }
        if !setting.flag.is_empty() {
            let is_switch = ["--ask", "--allow-secrets", "--verbose", "--quiet"].contains(&setting.flag);
            said.flags.push(setting.flag.to_owned());
            said.flags.extend((!is_switch).then(|| values[0].to_owned()));
            assert_eq!(
                shown(&said.settings(), key),
                format!("{}  (flag)", shows[0]),
                "{key} as flag"
            );
        }
    }
}

#[test]
fn empty_0_and_false_turn_a_switch_off_that_the_file_turns_on() {
    let file = Said::file("verbose: true\nask: true\n");
    assert_eq!(file.settings().view.verbosity, Verbosity::Verbose);
    for off in ["", "0", "false", "no", "off"] {
        let settings = file
            .clone()
            .and_variable("RALPH_VERBOSE", off)
            .and_variable("RALPH_ASK", off)
            .settings();
        assert_eq!(settings.view.verbosity, Verbosity::Normal, "{off:?}");
        assert!(!settings.ask, "{off:?}");
    }
}

#[test]
fn an_empty_variable_of_another_kind_decides_nothing() {
    let said = Said::file("model: opus\n")
        .and_variable("RALPH_MODEL", " ")
        .and_variable("RALPH_MAX_COST", "");
    let settings = said.settings();
    assert_eq!(settings.agent.model.as_deref(), Some("opus"));
    assert_eq!(settings.limits.cost, Some(MicroUsd::new(10_000_000)));
}

#[test]
fn paths_start_where_they_are_written() {
    let flag = Said::flags("-P a.md --system-prompt-file s.md").settings();
    assert_eq!(flag.prompt, PromptSource::File("/repo/below/a.md".into()));
    assert_eq!(flag.agent.system_prompt_file, Some("/repo/below/s.md".into()));
    let variable = Said::variable("RALPH_PROMPT_FILE", "a.md")
        .and_variable("RALPH_COMMAND", "./agent")
        .settings();
    assert_eq!(variable.prompt, PromptSource::File("/repo/below/a.md".into()));
    assert_eq!(variable.agent.program, Some("/repo/below/agent".into()));
    let file =
        Said::file("cli: {command: bin/agent}\nevent_loop: {prompt_file: a.md}\nsystem_prompt_file: s.md")
            .settings();
    assert_eq!(file.prompt, PromptSource::File("/repo/a.md".into()));
    assert_eq!(file.agent.system_prompt_file, Some("/repo/s.md".into()));
    assert_eq!(file.agent.program, Some("/repo/bin/agent".into()));
    let bare = Said::file("cli: {command: agent}").settings();
    assert_eq!(
        bare.agent.program,
        Some("agent".into()),
        "a bare name is looked up on PATH"
    );
}

#[test]
fn settings_survive_the_way_to_a_detached_runner() {
    let said = Said::flags("--mode planner --resume abc --fork --max-cost 1.5 -- -x")
        .and_file("cli: {env: {A: b, C: }}");
    let settings = said.settings();
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
}

#[test]
fn the_dry_run_shows_what_holds_and_why_but_no_values_of_variables() {
    let said = Said::flags("--once --task t-1 --continue --fork -v")
        .and_variable("RALPH_MAX_ITERATIONS", "5")
        .and_file("cli: {backend: custom, command: ./agent, args: [--x, '1'], env: {TOKEN: secret-value}}\nverify: [a, b]\n");
    let text = render_settings(&said.settings());
    assert!(!text.contains("secret-value"));
    insta::assert_snapshot!(text);
}
