//! Choosing a backend, and requests that are refused before anything is started.
#![cfg(all(unix, feature = "custom"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::path::PathBuf;

use agent_api::backends::custom::{Custom, PromptBy, TextMapper};
use agent_api::{
    AgentKind, AgentRegistry, Backend, BackendConfig, Close, Environment, Error, Input, InstalledAgent,
    Launch, LaunchInput, PermissionHost, PermissionMode, Profile, RunOptions, RunRequest, SessionChoice,
    capability,
};
use agent_process::SpawnSpec;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Able to do everything; writes what it was asked for.
struct Able {
    profile: Profile,
    config: BackendConfig,
    /// Exists once the program has run.
    marker: PathBuf,
    _folder: TempDir,
}

impl Able {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut profile = Profile::new(AgentKind::built_in("able"), "/bin/sh");
        profile.install_hint = "install a shell";
        profile.capabilities = &[
            capability::SESSION_RESUME,
            capability::SESSION_FORK,
            capability::CONFIG_MODEL,
            capability::ADD_DIRS,
            capability::SEND,
            capability::ANSWER,
            capability::USAGE,
        ];
        profile.extension_keys = &["able.colour"];
        profile.environment = &[
            ("A", "profile"),
            ("B", "profile"),
            ("C", "profile"),
            ("D", "profile"),
        ];
        Self {
            profile,
            config: BackendConfig::default(),
            marker: folder.path().join("marker"),
            _folder: folder,
        }
    }

    fn defaults(mut self, defaults: RunOptions) -> Self {
        self.config.defaults = defaults;
        self
    }
}

impl Backend for Able {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn check_extensions(&self, options: &RunOptions) -> Result<(), Error> {
        match options.extensions.get("able.colour") {
            None | Some(Value::String(_)) => Ok(()),
            Some(_) => Err(Error::invalid("`able.colour` must be a string")),
        }
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        let options = &request.options;
        let mut spec = SpawnSpec::new(&found.program);
        let script = format!(
            ": >'{}'; echo \"$A $B $C ${{D-none}}\"; printf '%s\\n' \"$@\"",
            self.marker.display()
        );
        spec.args = vec!["-c".into(), script.into(), "sh".into()];
        spec.args.extend([
            format!("model={:?}", options.model).into(),
            format!("session={:?}", options.session).into(),
            format!("host={:?}", options.permission_host).into(),
            format!("mode={:?}", options.permission_mode).into(),
            format!("dirs={:?}", options.additional_directories).into(),
            format!("own={:?}", options.extensions).into(),
        ]);
        spec.env = options.environment.policy();
        Ok(Launch::new(
            spec,
            LaunchInput::Nothing,
            Box::<TextMapper>::default(),
        ))
    }
}

fn with(change: impl FnOnce(&mut RunOptions)) -> RunOptions {
    let mut options = RunOptions::new();
    options.environment = Environment::clear();
    change(&mut options);
    options
}

fn extension(key: &str, value: Value) -> RunOptions {
    with(|options| {
        options.extensions.insert(key.to_owned(), value);
    })
}

/// What [`Able`] was started with, by lines.
async fn started(defaults: RunOptions, options: RunOptions) -> Vec<String> {
    let registry = AgentRegistry::new().with(Able::new().defaults(defaults)).unwrap();
    let run = registry
        .run("able", RunRequest::new("Go.").options(options))
        .await;
    let handle = run.unwrap();
    let completed = handle.wait().await.unwrap();
    let text = completed.final_text.unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Why nothing was started.
async fn refused(request: RunRequest) -> Error {
    refused_by(Able::new(), request).await
}

async fn refused_by(backend: Able, request: RunRequest) -> Error {
    let marker = backend.marker.clone();
    let registry = AgentRegistry::new().with(backend).unwrap();
    let Err(error) = registry.run("able", request).await else {
        panic!("it was started");
    };
    assert!(!marker.exists(), "something was started");
    error
}

#[tokio::test]
async fn an_unknown_extension_is_refused_before_anything_is_started() {
    // The last one is a capability of the backend, but takes no value.
    for key in ["able.size", "agent_api.control.set.v1", capability::CONFIG_MODEL] {
        let error = refused(RunRequest::new("Go.").options(extension(key, json!(true)))).await;
        assert!(
            matches!(&error, Error::UnsupportedCapability { agent_kind, capability }
                if agent_kind.as_str() == "able" && capability == key),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn an_extension_with_a_bad_value_is_refused_before_anything_is_started() {
    let error = refused(RunRequest::new("Go.").options(extension("able.colour", json!(3)))).await;
    assert!(
        matches!(&error, Error::InvalidRequest { what } if what.contains("able.colour")),
        "{error:?}"
    );
}

#[tokio::test]
async fn options_and_extensions_reach_the_backend() {
    let options = with(|options| {
        options.model = Some("large".into());
        options.session = Some(SessionChoice::fork("x"));
        options.permission_mode = Some(PermissionMode::Bypass);
        options.additional_directories = vec!["/one".into(), "/two".into()];
        options.extensions.insert("able.colour".into(), json!("red"));
    });
    assert_eq!(
        started(RunOptions::new(), options).await[1..],
        [
            r#"model=Some("large")"#,
            r#"session=Some(Fork { id: "x", new_id: None })"#,
            "host=None",
            "mode=Some(Bypass)",
            r#"dirs=["/one", "/two"]"#,
            r#"own={"able.colour": String("red")}"#,
        ]
    );
}

#[tokio::test]
async fn a_request_overrides_the_configuration() {
    let model = |model: &str| with(|options| options.model = Some(model.to_owned()));
    let own = |colour: &str| extension("able.colour", json!(colour));
    let lines = started(model("config"), model("request")).await;
    assert_eq!(lines[1], r#"model=Some("request")"#);
    let lines = started(model("config"), with(|_| {})).await;
    assert_eq!(lines[1], r#"model=Some("config")"#);
    let lines = started(own("config"), own("request")).await;
    assert_eq!(lines[6], r#"own={"able.colour": String("request")}"#);
}

#[tokio::test]
async fn a_bad_extension_of_the_configuration_is_refused_too() {
    let backend = Able::new().defaults(extension("able.colour", json!(3)));
    let error = refused_by(backend, RunRequest::new("Go.").options(with(|_| {}))).await;
    assert!(matches!(error, Error::InvalidRequest { .. }), "{error:?}");
}

#[tokio::test]
async fn the_request_overrides_the_configuration_and_that_the_profile_for_each_variable() {
    let defaults = with(|options| {
        options.environment = Environment::clear().set("B", "config").set("C", "config");
    });
    let options = with(|options| {
        options.environment = Environment::default().set("C", "request").remove("D");
    });
    assert_eq!(started(defaults, options).await[0], "profile config request none");
}

#[tokio::test]
async fn what_a_backend_cannot_do_is_refused_before_anything_is_started() {
    let folder = TempDir::new().unwrap();
    let marker = folder.path().join("marker");
    let script = format!(": >'{}'", marker.display());
    let registry = AgentRegistry::new()
        .with(Custom::new("/bin/sh", ["-c", script.as_str()]))
        .unwrap();
    let request = |options| RunRequest::new("Go.").options(options);
    let session = |choice| request(with(|options| options.session = Some(choice)));
    for (request, wanted) in [
        (
            session(SessionChoice::Resume("x".into())),
            capability::SESSION_RESUME,
        ),
        (session(SessionChoice::Last), capability::SESSION_RESUME),
        (session(SessionChoice::fork("x")), capability::SESSION_FORK),
        (session(SessionChoice::fork_last()), capability::SESSION_FORK),
        (
            request(with(|options| options.model = Some("m".into()))),
            capability::CONFIG_MODEL,
        ),
        (
            session(SessionChoice::NewWithId("x".into())),
            capability::SESSION_PRESET_ID,
        ),
        (
            request(with(|options| {
                options.permission_mode = Some(PermissionMode::Plan)
            })),
            capability::CONFIG_PERMISSIONS,
        ),
        (
            request(with(|options| options.tools = Some(Vec::new()))),
            capability::CONFIG_TOOLS,
        ),
        (
            request(with(|options| options.disallowed_tools = Some(vec!["x".into()]))),
            capability::CONFIG_TOOLS,
        ),
        (
            request(with(|options| options.max_turns = Some(1))),
            capability::CONFIG_LIMITS,
        ),
        (
            request(with(|options| options.append_system_prompt = Some("x".into()))),
            capability::CONFIG_SYSTEM_PROMPT,
        ),
        (
            request(with(|options| {
                options.mcp_config = Some(serde_json::json!({}).into());
            })),
            capability::CONFIG_MCP,
        ),
        (
            request(with(|options| options.agents = Some(serde_json::json!({})))),
            capability::CONFIG_SETTINGS,
        ),
        (
            request(with(|options| options.effort = Some("high".into()))),
            capability::CONFIG_EFFORT,
        ),
        (
            request(with(|options| options.max_thinking_tokens = Some(0))),
            capability::CONFIG_THINKING,
        ),
        (
            request(with(|options| options.fallback_model = Some("small".into()))),
            capability::CONFIG_FALLBACK_MODEL,
        ),
        (
            request(with(|options| {
                options.output_schema = Some(serde_json::json!({}))
            })),
            capability::STRUCTURED_OUTPUT,
        ),
        (
            request(with(|options| options.additional_directories.push("/".into()))),
            capability::ADD_DIRS,
        ),
        (
            request(with(|options| {
                options.permission_host = Some(PermissionHost::Caller)
            })),
            capability::ANSWER,
        ),
        (
            request(with(|_| {})).input(Input::Messages(Close::WhenIdle)),
            capability::SEND,
        ),
        (
            request(with(|_| {})).on_permission(|_| async { agent_api::Answer::Allow }),
            capability::ANSWER,
        ),
        (
            request(with(|_| {})).attach(agent_api::Attachment::image("image/png", [0])),
            capability::IMAGES,
        ),
    ] {
        let error = registry.run("custom", request).await.unwrap_err();
        assert!(
            matches!(&error, Error::UnsupportedCapability { capability, .. } if capability == wanted),
            "{wanted}: {error:?}"
        );
        assert!(!marker.exists());
    }
}

#[tokio::test]
async fn requests_that_make_no_sense_are_refused() {
    for request in [
        RunRequest::new(" \n").options(with(|_| {})),
        RunRequest::new("Go.").options(with(|options| {
            options.permission_host = Some(PermissionHost::Caller)
        })),
    ] {
        let error = refused(request).await;
        assert!(matches!(error, Error::InvalidRequest { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_unknown_backend_is_an_error_that_lists_the_known_ones() {
    let registry = AgentRegistry::new()
        .with(Custom::new("true", [""; 0]))
        .unwrap()
        .with(Able::new())
        .unwrap();
    let error = registry.run("claude", RunRequest::new("Go.")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown backend `claude`; available: custom, able"
    );
    assert!(registry.backend("able").is_ok());
}

#[tokio::test]
async fn a_name_is_registered_once() {
    let registry = AgentRegistry::new().with(Able::new()).unwrap();
    let Err(error) = registry.with(Able::new()) else {
        panic!("registered twice");
    };
    assert!(matches!(error, Error::DuplicateBackend { name } if name.as_str() == "able"));
}

#[test]
fn an_alias_cannot_be_the_name_of_another_backend() {
    let mut other = Able::new();
    other.profile.kind = AgentKind::built_in("other");
    other.profile.aliases = &["able"];
    let error = AgentRegistry::new()
        .with(Able::new())
        .unwrap()
        .with(other)
        .map(|_| ());
    assert!(matches!(error, Err(Error::DuplicateBackend { .. })), "{error:?}");
}

#[test]
fn a_copy_is_given_an_id_only_where_the_backend_takes_one() {
    let found = InstalledAgent {
        program: "/bin/sh".into(),
        version: None,
    };
    let registry = AgentRegistry::new().with(Able::new()).unwrap();
    let new_id = || Some("y".to_owned());
    for session in [
        SessionChoice::Fork {
            id: "x".into(),
            new_id: new_id(),
        },
        SessionChoice::ForkLast { new_id: new_id() },
    ] {
        let request = RunRequest::new("Go.").options(with(|options| options.session = Some(session)));
        let refused = registry.preview("able", request, &found).map(|_| ());
        assert!(
            matches!(&refused, Err(Error::UnsupportedCapability { capability, .. })
                if capability == capability::SESSION_FORK_ID),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn several_custom_commands_fit_into_one_gateway() {
    let command = |word: &str| Custom::new("/bin/sh", ["-c", "echo \"$0\"", word]).named(word);
    let registry = AgentRegistry::new()
        .with(command("one"))
        .unwrap()
        .with(command("two"))
        .unwrap();
    for name in ["one", "two"] {
        let request = RunRequest::new("Go.").options(with(|_| {}));
        let mut handle = registry.run(name, request).await.unwrap();
        assert_eq!(handle.events.next().await.unwrap().agent_kind.as_str(), name);
        let completed = handle.wait().await.unwrap();
        assert_eq!(completed.final_text, Some(format!("{name}\n")));
    }
}

#[tokio::test]
async fn the_final_text_of_a_command_is_all_that_it_wrote() {
    // Two blocks, then more than a completion carries, then more than twice as much.
    for (count, is_cut) in [(10_000, false), (150_000, true), (400_000, true)] {
        let script = format!("i=0; while [ $i -lt {count} ]; do echo 12345678; i=$((i+1)); done; echo DONE");
        let registry = AgentRegistry::new()
            .with(Custom::new("/bin/sh", ["-c", script.as_str()]))
            .unwrap();
        let handle = registry
            .run("custom", RunRequest::new("Go.").options(with(|_| {})))
            .await
            .unwrap();
        let text = handle.wait().await.unwrap().final_text.unwrap();
        // A promise stands in the last line.
        assert!(text.ends_with("12345678\nDONE\n"));
        assert_eq!(text.starts_with("(truncated)…"), is_cut);
        if is_cut {
            assert_eq!(text.len(), agent_api::bounds::FINAL_TEXT_BYTES);
        } else {
            assert_eq!(text.len(), 9 * count + 5);
        }
    }
}

#[tokio::test]
async fn the_first_backend_that_is_installed_is_chosen() {
    let missing = || Custom::new("/no/such/program", [""; 0]);
    let options = with(|_| {});
    let registry = AgentRegistry::new()
        .with(missing())
        .unwrap()
        .with(Able::new())
        .unwrap();
    assert_eq!(registry.choose(&options).await.unwrap().as_str(), "able");
    let registry = AgentRegistry::new()
        .with(Custom::new("/bin/sh", [""; 0]))
        .unwrap()
        .with(Able::new())
        .unwrap();
    assert_eq!(registry.choose(&options).await.unwrap().as_str(), "custom");
    let kinds: Vec<&str> = registry.kinds().map(AgentKind::as_str).collect();
    assert_eq!(kinds, ["custom", "able"]);
}

#[tokio::test]
async fn when_nothing_is_installed_the_error_says_what_is_needed() {
    let mut able = Able::new();
    able.profile.program = "no-such-program";
    let registry = AgentRegistry::new()
        .with(Custom::new("/no/such/program", [""; 0]))
        .unwrap()
        .with(able)
        .unwrap();
    let options = with(|_| {});
    let error = registry.choose(&options).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no agent found: `/no/such/program` is not installed: check the command: the name or the path of a program, \
         without arguments; `no-such-program` is not installed: install a shell"
    );
    let error = registry
        .run("able", RunRequest::new("Go.").options(options))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NotInstalled { .. }));
}

#[tokio::test]
async fn a_custom_command_gets_its_prompt_as_it_wants_it() {
    let shell = |script: &str| Custom::new("/bin/sh", ["-c", script, "sh"]);
    for (backend, expected) in [
        (shell("cat"), "the prompt"),
        (
            shell("printf %s \"$*\"; cat").prompt_by(PromptBy::Argument {
                option: Some("-p".into()),
            }),
            "-p the prompt",
        ),
    ] {
        let registry = AgentRegistry::new().with(backend).unwrap();
        let request = RunRequest::new("the prompt").options(with(|options| {
            options.environment = Environment::clear().set("PATH", "/usr/bin:/bin");
        }));
        let handle = registry.run("custom", request).await.unwrap();
        let completed = handle.wait().await.unwrap();
        assert_eq!(completed.final_text.as_deref(), Some(expected));
    }
}

#[test]
fn a_backend_answers_to_its_kind_its_short_name_and_its_aliases() {
    let registry = AgentRegistry::builtin();
    for name in ["claude", "claude_code", "claude-code", "Claude"] {
        assert_eq!(
            registry.backend(name).unwrap().profile().name(),
            "claude",
            "{name}"
        );
    }
}

#[test]
fn an_unknown_backend_is_an_error_with_all_names_and_the_nearest_one() {
    let registry = AgentRegistry::builtin();
    let message = |name: &str| registry.backend(name).err().unwrap().to_string();
    let cluade = message("cluade");
    assert!(
        cluade.starts_with("unknown backend `cluade` (did you mean `claude`?); available: claude"),
        "{cluade}"
    );
    assert!(!message("something").contains("did you mean"));
}

#[test]
fn a_second_backend_cannot_take_the_short_name_of_another() {
    use agent_api::backends::custom::Custom;
    let mut registry = AgentRegistry::builtin();
    let error = registry.register(Custom::new("cat", [""; 0]).named("claude"));
    assert!(matches!(error, Err(Error::DuplicateBackend { .. })), "{error:?}");
}

#[tokio::test]
async fn the_automatic_choice_skips_backends_that_must_be_asked_for() {
    let mut hidden = Able::new();
    hidden.profile.is_chosen_automatically = false;
    let mut second = Able::new();
    second.profile.kind = AgentKind::built_in("second");
    let registry = AgentRegistry::new().with(hidden).unwrap().with(second).unwrap();
    let chosen = registry.choose(&RunOptions::new()).await.unwrap();
    assert_eq!(chosen.as_str(), "second");
}

#[test]
fn claude_recordings_are_recognised_and_those_of_other_agents_are_not() {
    let registry = AgentRegistry::builtin();
    let claude = registry.backend("claude").unwrap();
    for (agent, expected) in [
        ("claude", true),
        ("codex", false),
        ("gemini", false),
        ("qwen", false),
    ] {
        for fixture in test_support::fixtures::of(agent).unwrap() {
            let lines: Vec<&[u8]> = fixture.lines().take(20).collect();
            let is_json = fixture.path.exists();
            if is_json && !lines.is_empty() {
                assert_eq!(
                    claude.recognises(&lines),
                    expected,
                    "{agent} {}",
                    fixture.path.display()
                );
            }
        }
    }
}
