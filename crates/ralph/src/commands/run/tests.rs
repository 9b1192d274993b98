//! A test that every documented key changes a run: one that nothing reads fails here.

use std::path::Path;

use agent_api::{InstalledAgent, SessionChoice};
use jiff::Timestamp;
use ralph_run::{Home, WorkspaceFiles};

use super::prepare::{self, FirstPrompt, Prepared};
use super::{RunArgs, console_options};
use crate::settings::{
    ConfigFile, Context, Origin, PromptSource, SETTINGS, Settings, SettingsLayer, load_prompt, mode_keys,
    resolve,
};

/// A key, what else the file must have for it to count, and a line that sets it to something else than its default.
const KEYS: &[(&str, &str, &str)] = &[
    ("cli.backend", "", "backend: codex"),
    ("cli.command", "", "cli: {backend: claude, command: ./agent}"),
    ("cli.args", "", "cli: {args: [--fast]}"),
    ("cli.env", "", "cli: {env: {A: b}}"),
    ("cli.prompt_mode", CUSTOM, "  prompt_mode: arg"),
    ("cli.prompt_flag", CUSTOM_ARGUMENT, "  prompt_flag: -p"),
    ("cli.output_format", CUSTOM, "  output_format: stream-json"),
    ("acp.command", ACP, "  command: ./other"),
    ("acp.args", ACP_COMMAND, "  args: [serve]"),
    ("acp.env", ACP_COMMAND, "  env: {A: b}"),
    ("model", "", "model: opus"),
    ("worktree.base", "", "worktree: {base: main}"),
    ("worktree.setup", "", "worktree: {setup: npm ci}"),
    ("worktree.setup_timeout", "", "worktree: {setup_timeout: 5m}"),
    ("worktree.copy", "", "worktree: {copy: [.env]}"),
    ("mode", "", "mode: coder"),
    ("modes", "mode: coder", "modes: {coder: {model: opus}}"),
    ("permission_mode", "", "permission_mode: plan"),
    ("tools", "", "tools: [Read]"),
    ("allowed_tools", "", "allowed_tools: [Read]"),
    ("system_prompt", "", "system_prompt: Be brief."),
    ("append_system_prompt", "", "append_system_prompt: Be brief."),
    ("system_prompt_file", "", "system_prompt_file: one.md"),
    (
        "append_system_prompt_file",
        "",
        "append_system_prompt_file: one.md",
    ),
    ("auth", "", "auth: login"),
    ("accepts_input", "", "accepts_input: false"),
    ("transport", "", "transport: pipe"),
    ("pty_mode", "", "pty_mode: true"),
    ("partials", "", "partials: false"),
    ("ask", "permission_mode: bypass", "ask: true"),
    ("ask_timeout", "", "ask_timeout: 0"),
    ("denials", "", "denials: continue"),
    ("event_loop.prompt", "", "event_loop: {prompt: Another}"),
    ("event_loop.prompt_file", "", "event_loop: {prompt_file: one.md}"),
    (
        "event_loop.completion_promise",
        "",
        "event_loop: {completion_promise: READY}",
    ),
    ("verify", "", "verify: [make]"),
    ("event_loop.max_iterations", "", "event_loop: {max_iterations: 7}"),
    ("event_loop.max_cost_usd", "", "event_loop: {max_cost_usd: 7}"),
    (
        "event_loop.max_runtime_seconds",
        "",
        "event_loop: {max_runtime_seconds: 7}",
    ),
    (
        "event_loop.iteration_timeout_seconds",
        "",
        "event_loop: {iteration_timeout_seconds: 7}",
    ),
    ("event_loop.max_turns", "", "event_loop: {max_turns: 7}"),
    ("event_loop.max_tokens", "", "event_loop: {max_tokens: 7}"),
    (
        "event_loop.max_consecutive_failures",
        "",
        "event_loop: {max_consecutive_failures: 7}",
    ),
    (
        "event_loop.cooldown_delay_seconds",
        "",
        "event_loop: {cooldown_delay_seconds: 7}",
    ),
    ("verify_timeout", "verify: [make]", "verify_timeout: 7"),
    ("max_wait", "", "max_wait: 7"),
    ("idle_timeout", INTERACTIVE, "idle_timeout: 7"),
    ("memory", "", "memory: false"),
    ("redact", "", "redact: ['k-[0-9]+']"),
    ("allow_secrets", "", "allow_secrets: true"),
    ("watch", "", "watch: false"),
    ("watch.scope", "", "watch: {scope: [one.md]}"),
    ("watch.silence", "", "watch: {silence: {after: 7m}}"),
    ("watch.repeated_call", "", "watch: {repeated_call: stop}"),
    ("watch.repeated_failure", "", "watch: {repeated_failure: off}"),
    (
        "watch.repeated_answer",
        "",
        "watch: {repeated_answer: {times: 7}}",
    ),
    ("watch.flipped_file", "", "watch: {flipped_file: interrupt}"),
    ("watch.burn_rate", "", "watch: {burn_rate: {factor: 7}}"),
    ("watch.out_of_scope", "", "watch: {out_of_scope: stop}"),
    ("watch.context", "", "watch: {context: {percent: 70%}}"),
    ("watch.unknown_events", "", "watch: {unknown_events: off}"),
    ("notify", "", "notify: false"),
    ("notify.on", "", "notify: {on: [ended]}"),
    ("notify.bell", "", "notify: {bell: true}"),
    ("notify.desktop", "", "notify: {desktop: true}"),
    ("notify.command", "", "notify: {command: make tell}"),
    ("notify.webhook", "", "notify: {webhook: 'http://127.0.0.1/'}"),
    (
        "notify.webhook_secret_env",
        "notify:\n  webhook: http://127.0.0.1/",
        "  webhook_secret_env: PATH",
    ),
    ("verbose", "", "verbose: true"),
    ("quiet", "", "quiet: true"),
    ("tui", "", "tui: true"),
    ("theme", "", "theme: light"),
    ("modes.*.tools", MODE, "    tools: [Read]"),
    ("modes.*.allowed_tools", MODE, "    allowed_tools: [Read]"),
    (
        "modes.*.system_prompt_file",
        MODE,
        "    system_prompt_file: one.md",
    ),
    (
        "modes.*.append_system_prompt_file",
        MODE,
        "    append_system_prompt_file: one.md",
    ),
    ("modes.*.model", MODE, "    model: opus"),
    ("modes.*.permission_mode", MODE, "    permission_mode: plan"),
    ("modes.*.session", MODE, "    session: keep"),
    ("modes.*.once", MODE, "    once: true"),
    ("modes.*.prompt", MODE, "    prompt: Be brief."),
    ("modes.*.prompt_file", MODE, "    prompt_file: one.md"),
    ("modes.*.next", MODE, "    next: coder"),
    ("backend", "", "backend: codex"),
    ("output_format", SHORT_CUSTOM, "output_format: stream-json"),
    (
        "modes.planner.session",
        "mode: planner",
        "modes: {planner: {session: fresh}}",
    ),
];

const CUSTOM: &str = "cli:\n  backend: custom\n  command: ./agent";
const SHORT_CUSTOM: &str = "cli: {backend: custom, command: ./agent}";
const CUSTOM_ARGUMENT: &str = "cli:\n  backend: custom\n  command: ./agent\n  prompt_mode: arg";
const ACP: &str = "backend: acp\nacp:";
const ACP_COMMAND: &str = "backend: acp\nacp:\n  command: ./agent";
const MODE: &str = "mode: mine\nmodes:\n  mine:";
/// A comment: the run is a conversation.
const INTERACTIVE: &str = "# interactive";

/// Everything that a file leads to: the process, the rules of the loop, what is recorded and what is shown.
fn effect(workspace: &Path, home: &Home, text: &str) -> String {
    let context = Context {
        cwd: workspace.to_owned(),
        workspace: workspace.to_owned(),
    };
    let args = RunArgs {
        interactive: text.contains(INTERACTIVE),
        settings: SettingsLayer::default(),
        ..RunArgs::default()
    };
    let file = ConfigFile::parse(&workspace.join("ralph.yml"), text).unwrap();
    assert_eq!(file.warnings(), [], "{text}");
    let (mut settings, _) = match resolve(&args, &|_| None, Some(&file), &context) {
        Ok(resolved) => resolved,
        Err(error) => return error.to_string(),
    };
    // The tests may run as root.
    settings
        .agent
        .env
        .insert("IS_SANDBOX".to_owned(), Some("1".to_owned()));
    let found = InstalledAgent {
        program: settings
            .agent
            .program
            .clone()
            .unwrap_or_else(|| "/bin/agent".into()),
        version: None,
    };
    let registry = super::agent::registry(&settings).unwrap();
    let name = if settings.agent.backend.is_auto() {
        "claude"
    } else {
        settings.agent.backend.as_str()
    };
    let kind = registry.backend(name).unwrap().profile().kind.clone();
    let selected = prepare::select(&settings, registry, kind, found).unwrap();
    let launch = selected.preview(&settings, "x", SessionChoice::New).unwrap();
    let environment = format!("{:?}", selected.own.options.environment.changes);
    let transport = selected.own.options.transport;
    let exit_trust = selected.profile().unwrap().exit_trust;
    let prompt = match &settings.prompt {
        PromptSource::Nothing => None,
        source => load_prompt(source, std::io::empty()).unwrap(),
    };
    // Built here, so that no file of ours looks like it has a key.
    let secret = format!("use gh{}_{}", "p", "0123456789abcdefghijABCDEFGHIJ012345");
    let takes_secrets = super::check_prompt(&settings, Some(&secret)).is_ok();
    let run = prepare::new_directory(home).unwrap();
    let id = run.id().to_owned();
    let first = FirstPrompt {
        prompt,
        resumed_from: None,
        by: None,
    };
    let prepared = prepare::prepare(home, run, &settings, first, selected).unwrap();
    let Prepared {
        spec, locks, notify, ..
    } = prepared;
    drop(locks);
    let words: Vec<_> = launch.spec.args.iter().collect();
    format!(
        "{:?} {words:?} {environment} {transport:?} {exit_trust:?} {takes_secrets} {:?} {:?} {:?} {notify:?} {} {:?} {} {:?} {:?} {:?}",
        launch.spec.program,
        spec.plan,
        spec.watch,
        spec.started,
        spec.task.text(),
        spec.own.instructions,
        spec.redactor.redact("the key is k-1234"),
        console_options(&settings.view),
        (settings.view.tui, crate::commands::tui::scheme(&settings.view, false)),
        settings.worktree,
    )
    .replace(&id, "ID")
}

#[test]
fn every_documented_key_changes_the_run() {
    let place = tempfile::tempdir().unwrap();
    let workspace = place.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    for (name, text) in [("PROMPT.md", "Do it."), ("one.md", "one")] {
        std::fs::write(workspace.join(name), text).unwrap();
    }
    let home = Home::new(place.path().join("state"), None);
    home.prepare().unwrap();
    let files = WorkspaceFiles::prepare(&home, &workspace).unwrap();
    for mode in ["mine", "planner"] {
        let session = "00000000-0000-4000-8000-000000000001";
        files
            .update_session_state("claude", Timestamp::now(), |state| {
                state.set_session_id(Some(mode), session);
            })
            .unwrap();
    }
    let mut dead = Vec::new();
    for (key, base, line) in KEYS {
        let plain = effect(&workspace, &home, base);
        if plain == effect(&workspace, &home, &format!("{base}\n{line}\n")) {
            dead.push(*key);
        }
    }
    assert_eq!(dead, [""; 0], "nothing reads these keys");
    let documented = SETTINGS.iter().map(|setting| setting.key.to_owned());
    for key in documented.chain(mode_keys().map(|key| format!("modes.*.{key}"))) {
        let is_tried = key.is_empty() || KEYS.iter().any(|(tried, ..)| *tried == key);
        assert!(is_tried, "add `{key}` to the keys above");
    }
}

/// Of every agent, also of those that speak a protocol: the list is in what starts it, or the user is told.
#[test]
fn a_tool_list_reaches_every_agent_that_has_them_and_is_reported_by_the_others() {
    let workspace = tempfile::tempdir().unwrap();
    let context = Context {
        cwd: workspace.path().to_owned(),
        workspace: workspace.path().to_owned(),
    };
    let names: Vec<String> = agent_api::AgentRegistry::builtin()
        .backends()
        .map(|backend| backend.profile().name().to_owned())
        .collect();
    for name in names {
        let text = format!("backend: {name}\ntools: [SomeTool]\ncli: {{env: {{IS_SANDBOX: 1}}}}\n");
        let file = ConfigFile::parse(&workspace.path().join("ralph.yml"), &text).unwrap();
        let (mut settings, _) = resolve(&RunArgs::default(), &|_| None, Some(&file), &context).unwrap();
        let select = |settings: &Settings| {
            let registry = super::agent::registry(settings).unwrap();
            let kind = registry.backend(&name).unwrap().profile().kind.clone();
            let found = InstalledAgent {
                program: "/bin/agent".into(),
                version: None,
            };
            prepare::select(settings, registry, kind, found)
        };
        let selected = select(&settings).unwrap();
        let has_lists = selected
            .profile()
            .unwrap()
            .has(agent_api::capability::CONFIG_TOOLS);
        let launch = selected.preview(&settings, "x", SessionChoice::New).unwrap();
        let is_given = format!("{:?}", (&launch.spec.args, &launch.spec.env)).contains("SomeTool");
        assert_eq!(is_given, has_lists, "{name}: {:?}", launch.spec.args);
        let warning = format!("the backend `{name}` does not support tool lists: ignored");
        assert_eq!(selected.warnings.contains(&warning), !has_lists, "{name}");
        // On the command line it is meant for this run.
        settings.origins.insert("tools".to_owned(), Origin::Flag);
        assert_eq!(select(&settings).is_ok(), has_lists, "{name}");
    }
}

#[test]
fn the_rule_of_silence_decides_when_a_silent_agent_is_stopped() {
    let workspace = tempfile::tempdir().unwrap();
    let context = Context {
        cwd: workspace.path().to_owned(),
        workspace: workspace.path().to_owned(),
    };
    let limits = |text: &str| {
        let text = format!("backend: claude\ncli: {{env: {{IS_SANDBOX: 1}}}}\nmode: coder\n{text}\n");
        let file = ConfigFile::parse(&workspace.path().join("ralph.yml"), &text).unwrap();
        let (settings, _) = resolve(&RunArgs::default(), &|_| None, Some(&file), &context).unwrap();
        let registry = super::agent::registry(&settings).unwrap();
        let kind = registry.backend("claude").unwrap().profile().kind.clone();
        let found = InstalledAgent {
            program: "/bin/agent".into(),
            version: None,
        };
        let selected = prepare::select(&settings, registry, kind, found).unwrap();
        let options = &selected.role(&settings).options;
        [options.inactivity_limit, options.tool_inactivity_limit]
            .map(|limit| limit.map(|it| it.as_secs() / 60))
    };
    assert_eq!(limits(""), [Some(10), Some(34)]);
    assert_eq!(
        limits("watch: {silence: {after: 20m, during_call: 2h}}"),
        [Some(24), Some(124)]
    );
    assert_eq!(limits("watch: {silence: off}"), [None, None]);
    assert_eq!(limits("watch: false"), [None, None]);
}
