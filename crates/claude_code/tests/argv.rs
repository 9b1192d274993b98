//! Requests become command lines.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use agent_process::StdoutMode;
use claude_code::argv::{self, Input, MAX_ARGUMENT_BYTES, MAX_PROMPT_BYTES, Note};
use claude_code::{
    Capabilities, Expansion, Feature, JsonSource, MicroUsd, PartialMessages, PermissionHost, PermissionMode,
    Persistence, PrintRequest, Replay, RequestError, RunOptions, SessionChoice, SessionRequest, SystemPrompt,
    Version,
};
use insta::assert_snapshot;

const ID: &str = "10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55";
const OTHER_ID: &str = "80650f64-4884-4890-b40e-a32903c34296";

fn version(major: u32, minor: u32, patch: u32) -> Capabilities {
    Capabilities::for_version(Version::new(major, minor, patch))
}

fn print(options: RunOptions) -> PrintRequest {
    PrintRequest::new("Fix the test.").options(options)
}

fn build(options: RunOptions) -> String {
    argv::build(&print(options), &Capabilities::current())
        .unwrap()
        .to_string()
}

fn refusal(options: RunOptions, capabilities: Capabilities) -> RequestError {
    argv::build(&print(options), &capabilities).unwrap_err()
}

#[test]
fn a_plain_request_asks_for_a_stream_and_keeps_the_prompt_to_stdin() {
    let argv = argv::build(&print(RunOptions::new()), &Capabilities::current()).unwrap();
    assert_snapshot!(argv, @r"
    -p
    --output-format=stream-json
    --verbose
    --include-partial-messages
    ");
    assert_eq!(argv.input, Input::Prompt("Fix the test.".into()));
    assert_eq!(argv.notes, []);
}

#[test]
fn every_option_carries_its_value_in_the_same_argument() {
    let options = RunOptions::new()
        .model("-opus")
        .system_prompt(SystemPrompt::File("/prompts/main.md".into()))
        .append_system_prompt(SystemPrompt::Text("Answer in German.".into()))
        .tools(["Read", "Edit", "Bash"])
        .allowed_tools(["Read", "Bash(git:*)"])
        .disallowed_tools(["WebFetch"])
        .permission_mode(PermissionMode::Bypass)
        .session(SessionChoice::NewWithId(ID.into()))
        .partial_messages(PartialMessages::Off)
        .persistence(Persistence::Off)
        .max_turns(7)
        .max_budget(MicroUsd::new(2_500_000))
        .extra_args(["--bare"])
        .additional_directories(["/a", "/b"]);
    assert_snapshot!(build(options), @r"
    -p
    --output-format=stream-json
    --verbose
    --no-session-persistence
    --session-id=10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55
    --model=-opus
    --system-prompt-file=/prompts/main.md
    --append-system-prompt-file=<file with 17 bytes>
    --tools=Read,Edit,Bash
    --allowedTools=Read,Bash(git:*)
    --disallowedTools=WebFetch
    --permission-mode=bypassPermissions
    --max-turns=7
    --max-budget-usd=2.50
    --add-dir=/a
    --add-dir=/b
    --bare
    ");
}

#[test]
fn an_empty_tool_list_takes_all_tools_away_and_empty_rules_say_nothing() {
    let none = Vec::<String>::new();
    let options = RunOptions::new()
        .tools(none.clone())
        .allowed_tools(none.clone())
        .disallowed_tools(none);
    assert_snapshot!(build(options.partial_messages(PartialMessages::Off)), @r"
    -p
    --output-format=stream-json
    --verbose
    --tools=
    ");
}

#[test]
fn sessions_are_continued_resumed_and_forked() {
    let session = |choice| {
        let options = RunOptions::new()
            .session(choice)
            .partial_messages(PartialMessages::Off);
        build(options)
            .lines()
            .skip(3)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(session(SessionChoice::New), "");
    assert_snapshot!(session(SessionChoice::Last), @"--continue");
    assert_snapshot!(
        session(SessionChoice::fork_last()),
        @"--continue --fork-session"
    );
    assert_snapshot!(
        session(SessionChoice::Resume(ID.into())),
        @"--resume=10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55"
    );
    assert_snapshot!(
        session(SessionChoice::Fork { id: ID.into(), new_id: Some(OTHER_ID.into()) }),
        @"--resume=10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55 --fork-session --session-id=80650f64-4884-4890-b40e-a32903c34296"
    );
}

#[test]
fn a_conversation_speaks_both_ways() {
    let request = SessionRequest::new().options(RunOptions::new().permission_host(PermissionHost::Caller));
    let argv = argv::build(&request, &Capabilities::current()).unwrap();
    assert_snapshot!(argv, @r"
    -p
    --output-format=stream-json
    --verbose
    --input-format=stream-json
    --permission-prompt-tool=stdio
    --replay-user-messages
    --include-partial-messages
    ");
    assert_eq!(argv.input, Input::Messages);

    let quiet = SessionRequest::new().replay(Replay::Off);
    assert_snapshot!(argv::build(&quiet, &Capabilities::current()).unwrap(), @r"
    -p
    --output-format=stream-json
    --verbose
    --input-format=stream-json
    --include-partial-messages
    ");
}

#[test]
fn an_old_cli_gets_only_what_it_knows() {
    let options = RunOptions::new()
        .append_system_prompt(SystemPrompt::Text("Be brief.".into()))
        .session(SessionChoice::Resume(ID.into()));
    let argv = argv::build(&print(options), &version(1, 0, 108)).unwrap();
    assert_snapshot!(argv, @r"
    -p
    --output-format=stream-json
    --verbose
    --resume=10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55
    --append-system-prompt=Be brief.
    ");
    assert_eq!(
        argv.notes,
        [
            Note::NoPartialMessages,
            Note::NewSessionId,
            Note::SystemPromptInArguments
        ]
    );

    let from_file = RunOptions::new().append_system_prompt(SystemPrompt::File("/prompts/more.md".into()));
    let argv = argv::build(&print(from_file), &version(2, 0, 8)).unwrap();
    assert_snapshot!(argv.arguments.last().unwrap(), @"--append-system-prompt=<text of /prompts/more.md>");
}

#[test]
fn what_an_old_cli_cannot_do_is_refused_with_the_version_that_can() {
    assert_snapshot!(
        refusal(RunOptions::new().tools(["Read"]), version(2, 0, 8)),
        @"`--tools` needs Claude Code 2.0.31 or newer: run `claude update`; installed is 2.0.8"
    );
    let forked = SessionChoice::Fork {
        id: ID.into(),
        new_id: Some(OTHER_ID.into()),
    };
    for (options, capabilities, missing) in [
        (
            RunOptions::new().max_budget(MicroUsd::new(1)),
            version(2, 0, 8),
            Feature::MaxBudget,
        ),
        (
            RunOptions::new().persistence(Persistence::Off),
            version(2, 0, 8),
            Feature::NoSessionPersistence,
        ),
        (
            RunOptions::new().permission_mode(PermissionMode::Refuse),
            version(2, 0, 8),
            Feature::DontAskMode,
        ),
        (
            RunOptions::new().permission_mode(PermissionMode::Auto),
            version(2, 1, 83),
            Feature::AutoMode,
        ),
        (
            RunOptions::new().session(forked.clone()),
            version(2, 0, 8),
            Feature::ForkWithSessionId,
        ),
        (
            RunOptions::new().session(forked),
            version(1, 0, 108),
            Feature::ForkSession,
        ),
    ] {
        assert!(
            matches!(refusal(options, capabilities), RequestError::Unsupported { feature, .. } if feature == missing),
            "{missing}"
        );
    }
}

#[test]
fn a_prompt_is_data_wherever_the_cli_can_be_told_so() {
    let input = |prompt: &str, expansion, capabilities: Capabilities| {
        let request = PrintRequest::new(prompt).options(RunOptions::new().expansion(expansion));
        let argv = argv::build(&request, &capabilities).unwrap();
        let Input::Prompt(bytes) = argv.input.clone() else {
            panic!("one prompt is one input")
        };
        let by_message = argv.to_string().contains("--input-format=stream-json");
        (String::from_utf8(bytes.to_vec()).unwrap(), by_message, argv.notes)
    };
    let message = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"/cost of @file\"},\"client_composed\":true}\n";
    let (current, old) = (Capabilities::current(), version(2, 1, 247));
    assert_eq!(
        input("/cost of @file", Expansion::Literal, current),
        (message.into(), true, vec![])
    );
    assert_eq!(
        input("/cost of @file", Expansion::Literal, old),
        (
            " /cost of @file".into(),
            false,
            vec![Note::MentionsExpanded, Note::SpaceBeforeSlash]
        )
    );
    assert_eq!(
        input("/cost", Expansion::Commands, current),
        ("/cost".into(), false, vec![])
    );
    assert_eq!(
        input("what does a/b cost?", Expansion::Literal, current),
        ("what does a/b cost?".into(), false, vec![])
    );
}

#[test]
fn prompts_that_the_cli_would_refuse_are_refused_first() {
    let prompt =
        |prompt: String| argv::build(&PrintRequest::new(prompt), &Capabilities::current()).map(|_| ());
    for blank in ["", " ", "\n\t \u{a0}\n"] {
        assert!(
            matches!(prompt(blank.into()), Err(RequestError::EmptyPrompt)),
            "{blank:?}"
        );
    }
    assert!(prompt("x".repeat(MAX_PROMPT_BYTES)).is_ok());
    assert_snapshot!(
        prompt("x".repeat(MAX_PROMPT_BYTES + 1)).unwrap_err(),
        @"the prompt is too long: put its bulk into a file and name the file in the prompt: 10485761 of 10485760 bytes"
    );
    assert!(
        prompt("-p --dangerously-skip-permissions".into()).is_ok(),
        "a prompt is no option"
    );
    assert!(prompt("a\0b".into()).is_ok(), "stdin takes any byte");
}

#[test]
fn values_that_no_program_can_be_given_are_refused() {
    let current = Capabilities::current;
    for options in [
        RunOptions::new().model("opus\0"),
        RunOptions::new().tools(["Read\0"]),
        RunOptions::new().extra_args(["--add-dir=\0"]),
        RunOptions::new().system_prompt(SystemPrompt::File("a\0b".into())),
    ] {
        let refused = refusal(options.clone(), current());
        assert!(
            matches!(refused, RequestError::NulByte { .. }),
            "{options:?}: {refused}"
        );
    }
    for options in [
        RunOptions::new().model(" "),
        RunOptions::new().tools(["Read", ""]),
        RunOptions::new().allowed_tools([" "]),
        RunOptions::new().system_prompt(SystemPrompt::Text("\n".into())),
    ] {
        let refused = refusal(options.clone(), current());
        assert!(
            matches!(refused, RequestError::BlankValue { .. }),
            "{options:?}: {refused}"
        );
    }
    assert_snapshot!(
        refusal(RunOptions::new().extra_args(["--output-format=text"]), current()),
        @"an extra argument that this library sets itself: leave it out, or set it in the options: `--output-format`"
    );
    let spool = refusal(RunOptions::new().transport(StdoutMode::Spool), current());
    assert!(matches!(spool, RequestError::SpoolWithoutLog));
}

#[test]
fn extra_arguments_change_neither_the_prompt_nor_the_session() {
    for argument in [
        "--",
        "-p",
        "-c",
        "-r",
        "-r10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55",
        "--print",
        "--resume",
        "--resume=x",
        "--continue",
        "--session-id",
        "--session-id=x",
        "--fork-session",
    ] {
        let refused = refusal(
            RunOptions::new().extra_args(["--add-dir=/a", argument]),
            Capabilities::current(),
        );
        assert!(
            matches!(refused, RequestError::ReservedArgument { .. }),
            "{argument}: {refused}"
        );
    }
    for argument in ["Do something else.", "/a", "-", ""] {
        let refused = refusal(
            RunOptions::new().extra_args(["--add-dir=/a", argument]),
            Capabilities::current(),
        );
        assert!(
            matches!(refused, RequestError::BareArgument { position: 2 }),
            "{argument}: {refused}"
        );
    }
    assert_snapshot!(
        refusal(RunOptions::new().extra_args(["/a"]), Capabilities::current()),
        @"an extra argument is not an option: write `--option=value` as one argument: argument 1"
    );
}

#[test]
fn an_argument_may_be_as_long_as_the_system_takes_and_no_longer() {
    let prompt = |bytes: usize| {
        let text = "x".repeat(bytes - "--append-system-prompt=".len());
        let options = RunOptions::new().append_system_prompt(SystemPrompt::Text(text));
        argv::build(&print(options), &version(2, 0, 8)).map(|_| ())
    };
    assert!(prompt(MAX_ARGUMENT_BYTES).is_ok());
    assert_snapshot!(
        prompt(MAX_ARGUMENT_BYTES + 1).unwrap_err(),
        @"a value is too long for the command line: shorten it or update Claude Code (`claude update`): `--append-system-prompt`, 131072 of 131071 bytes"
    );
    let by_file = RunOptions::new().append_system_prompt(SystemPrompt::Text("x".repeat(1_000_000)));
    assert!(
        argv::build(&print(by_file), &Capabilities::current()).is_ok(),
        "a file has no such limit"
    );
}

#[test]
fn a_session_id_must_be_a_uuid() {
    for id in [
        "",
        "10f6d3c293ab4a4e9c0e2f6f1d0a7b55",
        "{10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55}",
        "10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b5g",
        "--dangerously-skip-permissions------",
    ] {
        let session = SessionChoice::Resume(id.into());
        let refused = refusal(RunOptions::new().session(session), Capabilities::current());
        assert!(
            matches!(refused, RequestError::InvalidSessionId),
            "{id}: {refused}"
        );
    }
    for session in [
        SessionChoice::NewWithId("mine".into()),
        SessionChoice::Resume("-x".into()),
        SessionChoice::fork("mine"),
        SessionChoice::ForkLast {
            new_id: Some("mine".into()),
        },
    ] {
        let refused = refusal(RunOptions::new().session(session), Capabilities::current());
        assert!(matches!(refused, RequestError::InvalidSessionId), "{refused}");
    }
}

#[test]
fn an_extension_is_refused() {
    let options = RunOptions::new().extension("demo.speed", 2);
    assert_snapshot!(
        refusal(options, Capabilities::current()),
        @"unknown extension `demo.speed`: Claude Code has none, set the option instead"
    );
}

#[test]
fn configuration_with_keys_goes_by_file_and_the_rest_by_argument() {
    let options = RunOptions::new()
        .mcp_config(serde_json::json!({"mcpServers": {"a": {"env": {"KEY": "secret"}}}}))
        .settings(JsonSource::File("/etc/settings.json".into()))
        .fallback_model("haiku")
        .effort("high")
        .max_thinking_tokens(4_096)
        .agents(serde_json::json!({"reviewer": {"prompt": "Review."}}))
        .output_schema(serde_json::json!({"type": "object"}));
    assert!(!format!("{options:?}").contains("secret"), "{options:?}");
    let line = build(options);
    assert!(!line.contains("secret"), "{line}");
    assert_snapshot!(line, @r#"
    -p
    --output-format=stream-json
    --verbose
    --include-partial-messages
    --mcp-config=<file with 45 bytes>
    --settings=/etc/settings.json
    --fallback-model=haiku
    --effort=high
    --max-thinking-tokens=4096
    --agents={"reviewer":{"prompt":"Review."}}
    --json-schema={"type":"object"}
    "#);
}

#[test]
fn a_version_without_an_option_refuses_it_before_anything_starts() {
    let old = version(1, 0, 108);
    for (options, feature) in [
        (RunOptions::new().effort("high"), Feature::Effort),
        (
            RunOptions::new().max_thinking_tokens(0),
            Feature::MaxThinkingTokens,
        ),
        (RunOptions::new().agents(serde_json::json!({})), Feature::Agents),
        (
            RunOptions::new().output_schema(serde_json::json!({})),
            Feature::JsonSchema,
        ),
    ] {
        let error = refusal(options, old);
        assert!(
            matches!(error, RequestError::Unsupported { feature: missing, .. } if missing == feature),
            "{error:?}"
        );
    }
}

#[test]
fn debug_shows_options_and_neither_values_nor_prompts() {
    let options = RunOptions::new()
        .append_system_prompt(SystemPrompt::Text("secret".into()))
        .settings(JsonSource::Value(serde_json::json!({"env": {"KEY": "secret"}})))
        .extra_args(["--betas=secret"]);
    let request = PrintRequest::new("secret").options(options);
    let argv = argv::build(&request, &Capabilities::current()).unwrap();
    let shown = format!("{argv:?}");
    assert!(!shown.contains("secret"), "{shown}");
    assert!(
        shown.contains("--betas") && shown.contains("--settings"),
        "{shown}"
    );
}
