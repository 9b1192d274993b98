//! Settings that have to do with each other.

use agent_api::ToolNames;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{option, proptest};
use ralph::settings::{
    ModeTools, Output, PromptSource, SessionPolicy, SessionStart, Settings, Transport, Verbosity,
};
use ralph_run::control::PermissionChoice;

use crate::Said;

#[test]
fn verbose_by_flag_beats_quiet_elsewhere() {
    let said = Said::flags("-v")
        .and_variable("RALPH_QUIET", "1")
        .and_file("quiet: true\n");
    assert_eq!(said.settings().view.verbosity, Verbosity::Verbose);
}

#[test]
fn quiet_wins_over_verbose_in_one_place_and_the_nearer_place_wins_over_both() {
    let both = Said::variable("RALPH_QUIET", "1").and_variable("RALPH_VERBOSE", "1");
    assert_eq!(both.settings().view.verbosity, Verbosity::Quiet);
    assert_eq!(
        Said::file("quiet: true\nverbose: true\n")
            .settings()
            .view
            .verbosity,
        Verbosity::Quiet
    );
    let nearer = Said::variable("RALPH_VERBOSE", "1").and_file("quiet: true\n");
    assert_eq!(nearer.settings().view.verbosity, Verbosity::Verbose);
    let off = Said::variable("RALPH_QUIET", "0").and_file("quiet: true\nverbose: true\n");
    assert_eq!(off.settings().view.verbosity, Verbosity::Verbose);
}

fn flag() -> impl Strategy<Value = Option<bool>> {
    // `Some(true)` is quiet, `Some(false)` verbose: both at once are a usage error.
    option::of(any::<bool>())
}

fn switch() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![Just(None), Just(Some("1")), Just(Some("0"))]
}

proptest! {
    /// The rule as a person would say it: the first place in which anything is on decides, and there quiet wins; what a
    /// nearer place turns off stays off.
    #[test]
    fn verbosity_follows_its_rule_in_every_combination(
        flag in flag(),
        quiet in switch(),
        verbose in switch(),
        file_quiet in switch(),
        file_verbose in switch(),
    ) {
        let mut said = Said::default();
        if let Some(is_quiet) = flag {
            said = said.and_flags(if is_quiet { "-q" } else { "-v" });
        }
        for (name, key, variable, filed) in [
            ("RALPH_QUIET", "quiet", quiet, file_quiet),
            ("RALPH_VERBOSE", "verbose", verbose, file_verbose),
        ] {
            if let Some(value) = variable {
                said = said.and_variable(name, value);
            }
            if let Some(value) = filed {
                said = said.and_file(&format!("{key}: {value}\n"));
            }
        }
        let is_on = |value: Option<&str>| value == Some("1");
        let expected = match flag {
            Some(true) => Verbosity::Quiet,
            Some(false) => Verbosity::Verbose,
            None if is_on(quiet) => Verbosity::Quiet,
            None if is_on(verbose) => Verbosity::Verbose,
            None if quiet.is_none() && is_on(file_quiet) => Verbosity::Quiet,
            None if verbose.is_none() && is_on(file_verbose) => Verbosity::Verbose,
            None => Verbosity::Normal,
        };
        assert_eq!(said.settings().view.verbosity, expected, "{said:?}");
    }
}

#[test]
fn json_and_quiet_exclude_each_other_in_one_place_and_the_nearer_one_wins() {
    let (message, code) = Said::flags("-q --output json").error();
    assert_eq!(code, 64, "{message}");
    let (message, code) = Said::variable("RALPH_QUIET", "1")
        .and_variable("RALPH_OUTPUT", "json")
        .error();
    assert_eq!(code, 78, "{message}");
    let json = Said::flags("--output json")
        .and_variable("RALPH_QUIET", "1")
        .settings()
        .view;
    assert_eq!((json.output, json.verbosity), (Output::Json, Verbosity::Normal));
    let quiet = Said::flags("-q")
        .and_variable("RALPH_OUTPUT", "json")
        .settings()
        .view;
    assert_eq!((quiet.output, quiet.verbosity), (Output::Text, Verbosity::Quiet));
}

#[test]
fn the_nearest_place_with_a_prompt_decides() {
    let said = Said::flags("-p flag")
        .and_variable("RALPH_PROMPT_FILE", "x")
        .and_file("event_loop: {prompt: file}");
    assert_eq!(said.settings().prompt, PromptSource::Text("flag".to_owned()));
    let said = Said::variable("RALPH_PROMPT_FILE", "/x").and_file("event_loop: {prompt: file}");
    assert_eq!(said.settings().prompt, PromptSource::File("/x".into()));
    assert_eq!(
        Said::file("event_loop: {prompt: file}").settings().prompt,
        PromptSource::Text("file".to_owned())
    );
    assert_eq!(
        Said::flags("-")
            .and_variable("RALPH_PROMPT", "x")
            .settings()
            .prompt,
        PromptSource::Stdin
    );
    assert_eq!(Said::flags("-P -").settings().prompt, PromptSource::Stdin);
}

#[test]
fn a_list_of_tools_restricts_and_permits_and_a_pattern_only_permits() {
    let agent = Said::flags("--tools Read,Bash(git:*),Bash(ls)").settings().agent;
    assert_eq!(agent.tools.unwrap(), ["Read", "Bash"]);
    assert_eq!(agent.allowed_tools.unwrap(), ["Read", "Bash(git:*)", "Bash(ls)"]);
    let agent = Said::flags("--tools Read,Bash --allowed-tools Bash(git:*)")
        .settings()
        .agent;
    assert_eq!(agent.tools.unwrap(), ["Read", "Bash"]);
    assert_eq!(agent.allowed_tools.unwrap(), ["Bash(git:*)"]);
    let agent = Said::flags("--allowed-tools Read").settings().agent;
    assert_eq!(
        (agent.tools, agent.allowed_tools),
        (None, Some(vec!["Read".to_owned()]))
    );
    let none = Said::flags("--tools=").settings().agent;
    assert_eq!((none.tools, none.allowed_tools), (Some(vec![]), Some(vec![])));
}

#[test]
fn the_planner_reads_once_and_keeps_its_session_and_the_coder_does_all() {
    const TOOLS: ToolNames = ToolNames {
        planner: &["look", "run"],
        coder: &["look", "run", "change"],
        search: Some("search"),
    };
    let tools = |settings: &Settings, names: &ToolNames| {
        let mut agent = settings.agent.clone();
        agent.resolve_mode_tools(names);
        (agent.tools, agent.allowed_tools)
    };
    let list = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let planner = Said::flags("--mode planner").settings();
    assert_eq!(
        tools(&planner, &TOOLS),
        (list(&["look", "run"]), list(&["look", "run"]))
    );
    assert_eq!(tools(&planner, &ToolNames::default()), (None, None));
    assert!(planner.once);
    assert_eq!(planner.session_policy, SessionPolicy::Keep);
    let searching = Said::flags("--mode planner --allowed-tools look,search,change").settings();
    assert_eq!(tools(&searching, &TOOLS).0, list(&["look", "run", "search"]));
    let coder = Said::flags("--mode coder").settings();
    assert_eq!(tools(&coder, &TOOLS).0, list(&["look", "run", "change"]));
    let other = Said::flags("--mode coder --tools Read").settings();
    assert_eq!(tools(&other, &TOOLS).0, list(&["Read"]));
    assert!(!coder.once);
    assert_eq!(coder.session_policy, SessionPolicy::Fresh);
    assert_eq!(
        tools(&Said::default().settings(), &TOOLS).0,
        None,
        "a list applies when its mode is asked for"
    );
}

#[test]
fn a_mode_counts_more_than_the_file_around_it_and_less_than_a_variable() {
    let file = "model: outer\npermission_mode: ask\nmodes: {mine: {model: inner, permission_mode: plan, system_prompt_file: s.md}}\n";
    let said = Said::flags("--mode mine").and_file(file);
    let agent = said.settings().agent;
    assert_eq!(agent.model.as_deref(), Some("inner"));
    assert_eq!(agent.permission_mode, PermissionChoice::Plan);
    assert_eq!(agent.system_prompt_file, Some("/repo/s.md".into()));
    let agent = said
        .clone()
        .and_variable("RALPH_MODEL", "variable")
        .settings()
        .agent;
    assert_eq!(agent.model.as_deref(), Some("variable"));
    assert_eq!(
        said.and_flags("--model flag").settings().agent.model.as_deref(),
        Some("flag")
    );
    assert_eq!(Said::file(file).settings().agent.model.as_deref(), Some("outer"));
}

#[test]
fn a_built_in_mode_keeps_what_the_file_does_not_change() {
    let said = Said::flags("--mode planner").and_file("modes: {planner: {model: opus, once: false}}");
    let settings = said.settings();
    assert_eq!(settings.agent.mode_tools, Some(ModeTools::Planner));
    assert_eq!(settings.agent.model.as_deref(), Some("opus"));
    assert!(!settings.once);
    assert_eq!(settings.session_policy, SessionPolicy::Keep);
}

#[test]
fn whoever_lets_the_agent_ask_is_asked() {
    assert_eq!(
        Said::flags("--ask").settings().agent.permission_mode,
        PermissionChoice::Ask
    );
    let said = Said::flags("--ask --permission-mode bypassPermissions");
    assert_eq!(said.settings().agent.permission_mode, PermissionChoice::Bypass);
}

#[test]
fn pty_mode_is_a_transport_and_transport_counts_more_in_the_same_place() {
    assert_eq!(
        Said::file("pty_mode: true\n").settings().agent.transport,
        Transport::Pty
    );
    assert_eq!(
        Said::file("pty_mode: true\ntransport: pipe\n")
            .settings()
            .agent
            .transport,
        Transport::Pipe
    );
    let nearer = Said::variable("RALPH_PTY_MODE", "1").and_file("transport: pipe\n");
    assert_eq!(nearer.settings().agent.transport, Transport::Pty);
    assert_eq!(
        Said::flags("--transport spool")
            .and_file("pty_mode: true\n")
            .settings()
            .agent
            .transport,
        Transport::Spool
    );
}

#[test]
fn sessions_are_new_continued_resumed_or_copied() {
    let session = |line: &str| Said::flags(line).settings().session;
    assert_eq!(session(""), SessionStart::Fresh);
    assert_eq!(session("--continue"), SessionStart::Continue { fork: false });
    assert_eq!(
        session("--continue --fork"),
        SessionStart::Continue { fork: true }
    );
    let id = "0198c3f0".to_owned();
    assert_eq!(
        session("--resume 0198c3f0"),
        SessionStart::Resume {
            id: id.clone(),
            fork: false
        }
    );
    assert_eq!(
        session("--fork --resume 0198c3f0"),
        SessionStart::Resume { id, fork: true }
    );
}

#[test]
fn arguments_of_the_command_line_come_behind_those_of_the_file() {
    let said = Said::flags("-- --c d").and_file("cli: {args: [--a, b]}");
    assert_eq!(said.settings().agent.args, ["--a", "b", "--c", "d"]);
}

#[test]
fn the_program_of_the_file_is_for_the_backend_of_the_file() {
    for (file, flags, is_used) in [
        (
            "cli: {backend: claude, command: x, args: [--a]}",
            "-b claude",
            true,
        ),
        ("cli: {backend: claude, command: x, args: [--a]}", "-b auto", true),
        ("cli: {backend: custom, command: x, args: [--a]}", "", true),
        ("cli: {command: x, args: [--a]}", "", true),
        ("cli: {command: x, args: [--a]}", "-b claude", true),
        ("cli: {command: x, args: [--a]}", "-b custom", true),
        ("cli: {command: x, args: [--a]}", "-b demo", false),
        (
            "cli: {backend: claude, command: x, args: [--a]}",
            "-b demo",
            false,
        ),
        (
            "cli: {backend: custom, command: x, args: [--a]}",
            "-b claude",
            false,
        ),
    ] {
        let agent = Said::flags(flags)
            .and_flags("-- --b")
            .and_file(file)
            .settings()
            .agent;
        assert_eq!(agent.program.is_some(), is_used, "{file} {flags}");
        let args: &[&str] = if is_used { &["--a", "--b"] } else { &["--b"] };
        assert_eq!(agent.args, args, "{file} {flags}");
    }
    let said = Said::flags("-b claude")
        .and_variable("RALPH_COMMAND", "y")
        .and_file("cli: {backend: custom, command: x}");
    assert_eq!(said.settings().agent.program, Some("y".into()));
}

#[test]
fn verify_commands_of_the_command_line_replace_those_of_the_file() {
    let said = Said::file("verify: [a, b]\n");
    assert_eq!(said.settings().verify, ["a", "b"]);
    assert_eq!(said.and_flags("--verify c").settings().verify, ["c"]);
    assert_eq!(
        Said::file("verify: cargo test, or so\n").settings().verify,
        ["cargo test, or so"]
    );
}

#[test]
fn the_short_keys_mean_the_same() {
    let settings = Said::file("backend: custom\noutput_format: stream-json\ncli: {command: x}\n").settings();
    assert_eq!(settings.agent.backend.as_str(), "custom");
    assert_eq!(
        settings.agent.output_format,
        ralph::settings::AgentOutput::StreamJson
    );
}

#[test]
fn a_system_prompt_is_a_text_or_a_file_and_the_nearer_one_counts() {
    let file = Said::file("system_prompt: Be brief.\nappend_system_prompt_file: a.md\n");
    let agent = file.settings().agent;
    assert_eq!(agent.system_prompt.as_deref(), Some("Be brief."));
    assert_eq!(agent.append_system_prompt_file, Some("/repo/a.md".into()));
    let mut nearer = file.and_variable("RALPH_APPEND_SYSTEM_PROMPT", "Be kind.");
    nearer.flags = vec!["--system-prompt-file".to_owned(), "/s.md".to_owned()];
    let agent = nearer.settings().agent;
    assert_eq!(
        (agent.system_prompt, agent.system_prompt_file),
        (None, Some("/s.md".into()))
    );
    assert_eq!(agent.append_system_prompt.as_deref(), Some("Be kind."));
    assert_eq!(agent.append_system_prompt_file, None);
    let both = Said::file("system_prompt: x\nsystem_prompt_file: s.md\n")
        .resolve()
        .unwrap_err();
    assert!(both.to_string().contains("not both"), "{both}");
}

#[test]
fn an_agent_that_takes_no_input_can_neither_ask_nor_talk() {
    let file = Said::file("accepts_input: false\n");
    assert_eq!(file.settings().accepts_input, Some(false));
    for flag in ["--ask", "--interactive"] {
        let mut asks = Said::file("accepts_input: false\n");
        asks.flags = vec![flag.to_owned()];
        let error = asks.resolve().unwrap_err().to_string();
        assert!(error.contains("`accepts_input` is false"), "{error}");
    }
}
