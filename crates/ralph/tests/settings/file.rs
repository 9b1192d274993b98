//! `ralph.yml`: every key, and what is wrong with it.

use std::path::Path;

use ralph::settings::ViewArgs;
use ralph::settings::{
    ConfigFile, PromptSource, SETTINGS, SettingsError, Verbosity, load_settings, load_view,
};
use ralph::trust::{self, Choice, Policy};

use crate::Said;

const TRUSTED: Policy<'_> = Policy {
    home: None,
    choice: Choice::Trust,
};

/// Every key there is, as somebody would write it.
const FULL: &str = "
cli:
  backend: custom
  command: ./agent
  args: [--fast, 'a b']
  env: {A: 1, B: two, GONE: }
  prompt_mode: arg
  prompt_flag: -p
  output_format: stream-json
model: opus
mode: reviewer
modes:
  reviewer:
    tools: [Read, 'Bash(git:*)']
    allowed_tools: Read
    system_prompt_file: r.md
    append_system_prompt_file: a.md
    model: haiku
    permission_mode: acceptEdits
    session: keep
    once: true
permission_mode: plan
tools: Read,Edit
allowed_tools: [Read]
system_prompt: Be brief.
append_system_prompt: Be kind.
auth: login
accepts_input: true
transport: pipe
pty_mode: false
partials: false
allow_secrets: true
ask: true
ask_timeout: 5m
idle_timeout: 2h
verify_timeout: 20m
max_wait: 3h
denials: continue
event_loop:
  prompt: Do it
  completion_promise: DONE
  max_iterations: 5
  max_cost_usd: 2.50
  max_runtime_seconds: 600
  iteration_timeout_seconds: 60
  max_turns: 10
  max_tokens: 100000
  max_consecutive_failures: 2
  cooldown_delay_seconds: 1
verify:
  - cargo test
  - cargo clippy
memory: false
worktree:
  base: origin/main
  setup: npm ci
  setup_timeout: 5m
  copy: [.env]
redact: ['key-[a-z]+']
watch:
  scope: [src/**, docs]
  silence: {after: 10m, action: stop}
  repeated_call: interrupt
  repeated_failure: {times: 5}
  repeated_answer: off
  flipped_file: notify
  burn_rate: {factor: 4, at_least: $2.50, window: 10m}
  out_of_scope: stop
  context: {percent: 80%}
  unknown_events: false
notify:
  on: [waiting, ended]
  bell: true
  desktop: true
  command: [./tell, me]
  webhook: https://example.com/hook
  webhook_secret_env: HOOK_KEY
verbose: true
quiet: false
tui: true
theme: light
";

#[test]
fn a_file_with_every_key_is_read_without_a_warning() {
    let (settings, warnings) = Said::file(FULL).resolve().unwrap();
    assert_eq!(warnings, []);
    insta::assert_debug_snapshot!(settings);
}

#[test]
fn that_file_has_every_key() {
    for setting in SETTINGS
        .iter()
        .filter(|setting| !["", "event_loop.prompt_file"].contains(&setting.key))
    {
        let leaf = setting.key.rsplit('.').next().unwrap();
        assert!(FULL.contains(&format!("{leaf}:")), "{}", setting.key);
    }
}

#[test]
fn unknown_keys_are_warnings_with_what_was_probably_meant() {
    let file = "modell: x\ncli:\n  bakcend: claude\nmax_iterations: 3\nmodes:\n  mine:\n    tool: Read\nhats: {a: [1, {b: c}]}\nsandbox: none\n";
    let (settings, warnings) = Said::file(file).resolve().unwrap();
    assert_eq!(settings.limits.iterations, Some(50));
    let lines: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    /repo/ralph.yml:1:1: unknown key `modell`, did you mean `model`?
    /repo/ralph.yml:3:3: unknown key `cli.bakcend`, did you mean `cli.backend`?
    /repo/ralph.yml:4:1: unknown key `max_iterations`, did you mean `event_loop.max_iterations`?
    /repo/ralph.yml:7:5: unknown key `modes.mine.tool`, did you mean `modes.mine.tools`?
    /repo/ralph.yml:8:1: unknown key `hats`
    /repo/ralph.yml:9:1: unknown key `sandbox`
    ");
}

#[test]
fn a_setting_under_both_of_its_keys_is_a_warning() {
    let (settings, warnings) = Said::file("backend: demo\ncli: {backend: claude}\n")
        .resolve()
        .unwrap();
    assert_eq!(settings.agent.backend.as_str(), "claude");
    assert_eq!(
        warnings[0].to_string(),
        "/repo/ralph.yml:1:10: `backend` is ignored, as there is `cli.backend`"
    );
}

#[test]
fn values_of_the_wrong_kind_are_errors_with_line_and_column() {
    let files = [
        "event_loop:\n  max_iterations: many\n",
        "event_loop:\n  max_cost_usd: [1]\n",
        "event_loop:\n  prompt: [a]\n",
        "event_loop:\n  max_runtime_seconds: soon\n",
        "event_loop:\n  max_turns: -1\n",
        "event_loop: 5\n",
        "verbose: maybe\n",
        "verbose: {a: b}\n",
        "backend: clade\n",
        "cli:\n  args: {a: b}\n",
        "cli:\n  args: [[a]]\n",
        "cli:\n  env: [A]\n",
        "cli:\n  env: {A: [1]}\n",
        "cli:\n  env: {'A=B': c}\n",
        "modes: [a]\n",
        "modes: {mine: 5}\n",
        "modes:\n  mine:\n    session: sometimes\n",
        "verify: ['', x]\n",
        "model: ''\n",
        "tools: 'Bash('\n",
        "[a, b]\n",
        "just text\n",
        "a: 1\na: 2\n",
        "a: [1\n",
    ];
    let messages = files.map(|file| {
        let (message, code) = Said::file(file).error();
        assert_eq!(code, 78, "{file}");
        format!("{}\n  {message}", file.trim_end())
    });
    insta::assert_snapshot!(messages.join("\n\n"));
}

#[test]
fn a_value_of_the_wrong_kind_is_an_error_even_if_a_flag_says_otherwise() {
    let said = Said::flags("--max-iterations 3").and_file("event_loop: {max_iterations: many}");
    assert_eq!(said.error().1, 78);
}

#[test]
fn keys_without_a_value_decide_nothing() {
    let file = "model:\nverify:\ncli:\nmodes:\n  mine:\nevent_loop:\n  max_iterations: ~\n  prompt: null\n";
    let (mut settings, warnings) = Said::file(file).resolve().unwrap();
    assert_eq!(warnings, []);
    let mut plain = Said::default().settings();
    plain.origins.clear();
    settings.origins.clear();
    assert_eq!(settings, plain);
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let file = "\"\\e]0;title\\a\": 1\nbackend: \"\\e[31m\"\n";
    let message = Said::file(file).error().0;
    assert!(!message.contains('\u{1b}'), "{message:?}");
    let (_, warnings) = Said::file("\"\\e]0;title\\a\": 1\nmodes: {\"\\e[1m\": {\"\\e[2m\": 3}}\n")
        .resolve()
        .unwrap();
    assert!(
        warnings
            .iter()
            .all(|warning| !warning.to_string().contains('\u{1b}')),
        "{warnings:?}"
    );
}

#[test]
fn a_file_is_read_from_the_workspace_if_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    assert!(trust::load(folder.path(), &TRUSTED).unwrap().is_none());
    std::fs::write(folder.path().join("ralph.yml"), "hat: 1\n").unwrap();
    let loaded = trust::load(folder.path(), &TRUSTED).unwrap().unwrap();
    assert_eq!(loaded.file.warnings().len(), 1);
}

#[test]
fn settings_are_loaded_from_the_top_of_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let below = top.join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::create_dir(top.join(".git")).unwrap();
    std::fs::write(top.join("ralph.yml"), "model: opus\nquiet: true\n").unwrap();
    let (settings, _) = load_settings(&Said::default().args(), &|_| None, &below, &TRUSTED).unwrap();
    assert_eq!(settings.workspace, top);
    assert_eq!(settings.agent.model.as_deref(), Some("opus"));
    assert_eq!(settings.prompt, PromptSource::File(top.join("PROMPT.md")));
    let (other, _) = load_settings(&Said::flags("-C .").args(), &|_| None, &below, &TRUSTED).unwrap();
    assert_eq!((other.workspace, other.agent.model), (below.clone(), None));
    let view = load_view(&ViewArgs::default(), &|_| None, &below, &TRUSTED).unwrap();
    assert_eq!(view.verbosity, Verbosity::Quiet);
    std::fs::write(top.join("ralph.yml"), "quiet: [").unwrap();
    load_view(&ViewArgs::default(), &|_| None, &below, &TRUSTED)
        .expect("to look at a run, no file is needed");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_not_the_defaults() {
    for content in [vec![0xff, 0xfe], vec![b'#'; (1 << 20) + 1]] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ralph.yml"), content).unwrap();
        let error = trust::load(folder.path(), &TRUSTED).unwrap_err();
        assert!(matches!(error, SettingsError::Unreadable { .. }), "{error}");
        assert_eq!(error.exit_code(), 78);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("ralph.yml")).unwrap();
    assert!(trust::load(folder.path(), &TRUSTED).is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(?s).{0,80}", lines in proptest::collection::vec("[a-z_.: \\-\\[\\]{}'\"#&*!|>~0-9]{0,12}", 0..12)) {
        let _ = ConfigFile::parse(Path::new("ralph.yml"), &text);
        let _ = ConfigFile::parse(Path::new("ralph.yml"), &lines.join("\n"));
    }
}
