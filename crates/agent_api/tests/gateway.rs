//! Choosing a backend, and requests that are refused before anything is started.
#![cfg(all(unix, feature = "custom"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::path::PathBuf;
use std::time::Duration;

use agent_api::backends::custom::{Custom, PromptBy, TextMapper};
use agent_api::{
    AgentKind, Backend, BackendConfig, Close, Environment, Error, ExitTrust, Found, Gateway, Input,
    InterruptBy, Launch, LaunchInput, PermissionMode, Profile, RunOptions, RunRequest, SessionChoice,
    capability,
};
use agent_process::{Limits, SpawnSpec, StdoutMode};
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
        Self {
            profile: Profile {
                kind: AgentKind::built_in("able"),
                display_name: "Able",
                program: "/bin/sh",
                version_args: &[],
                version_word: None,
                tested_versions: None,
                install_hint: "install a shell",
                login_hint: "",
                capabilities: &[
                    capability::SESSION_RESUME,
                    capability::SESSION_FORK,
                    capability::CONFIG_MODEL,
                    capability::NON_INTERACTIVE,
                    capability::ADD_DIRS,
                    capability::EXTERNAL_SANDBOX,
                    capability::SEND,
                    capability::ANSWER,
                    capability::USAGE,
                ],
                extension_keys: &["able.colour"],
                transport: StdoutMode::Pipe,
                interrupt_by: InterruptBy::Signal,
                limits: Limits::default,
                exit_after_idle: Duration::from_secs(5),
                inactivity_limit: None,
                exit_trust: ExitTrust::Decides,
                stderr_classes: &[],
                environment: &[
                    ("A", "profile"),
                    ("B", "profile"),
                    ("C", "profile"),
                    ("D", "profile"),
                ],
            },
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

    fn launch(&self, request: &RunRequest, found: &Found) -> Result<Launch, Error> {
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
            format!("asks={:?}", options.asks).into(),
            format!("mode={:?}", options.permission_mode).into(),
            format!("dirs={:?}", options.additional_directories).into(),
            format!("own={:?}", options.extensions).into(),
        ]);
        spec.env = options.environment.policy();
        Ok(Launch {
            spec,
            input: LaunchInput::Nothing,
            mapper: Box::<TextMapper>::default(),
            keep_alive: None,
            notes: Vec::new(),
        })
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
    let gateway = Gateway::new().with(Able::new().defaults(defaults)).unwrap();
    let run = gateway.run("able", RunRequest::new("Go.").options(options)).await;
    let handle = run.unwrap();
    drop(handle.events);
    let completed = handle.completion.await.unwrap();
    let text = completed.final_text.unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Why nothing was started.
async fn refused(request: RunRequest) -> Error {
    refused_by(Able::new(), request).await
}

async fn refused_by(backend: Able, request: RunRequest) -> Error {
    let marker = backend.marker.clone();
    let gateway = Gateway::new().with(backend).unwrap();
    let Err(error) = gateway.run("able", request).await else {
        panic!("it was started");
    };
    assert!(!marker.exists(), "something was started");
    error
}

#[tokio::test]
async fn an_unknown_extension_is_refused_before_anything_is_started() {
    // The last one is a capability of the backend, but takes no value.
    for key in ["able.size", "agent_api.control.set.v1", capability::USAGE] {
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
    for (key, value) in [
        (capability::CONFIG_MODEL, json!(3)),
        (capability::CONFIG_MODEL, json!("  ")),
        (capability::SESSION_RESUME, json!("last")),
        (capability::SESSION_RESUME, json!({"selector": "newest"})),
        (capability::SESSION_RESUME, json!({"selector": "id"})),
        (capability::SESSION_RESUME, json!({"selector": "id", "id": ""})),
        (capability::SESSION_FORK, json!({"selector": "last", "id": "x"})),
        (
            capability::SESSION_FORK,
            json!({"selector": "id", "id": "x", "more": 1}),
        ),
        (capability::NON_INTERACTIVE, json!("true")),
        (capability::EXTERNAL_SANDBOX, json!(1)),
        (capability::ADD_DIRS, json!("/tmp")),
        (capability::ADD_DIRS, json!(["/tmp", 3])),
        (capability::ADD_DIRS, json!([""])),
        ("able.colour", json!(3)),
    ] {
        let error = refused(RunRequest::new("Go.").options(extension(key, value.clone()))).await;
        assert!(
            matches!(&error, Error::InvalidRequest { what } if what.contains(key)),
            "{key} {value}: {error:?}"
        );
    }
}

#[tokio::test]
async fn an_extension_that_contradicts_an_option_is_refused() {
    let contradictions = [
        (
            capability::CONFIG_MODEL,
            json!("a"),
            with(|options| options.model = Some("b".into())),
        ),
        (
            capability::SESSION_RESUME,
            json!({"selector": "last"}),
            with(|options| options.session = Some(SessionChoice::Resume("x".into()))),
        ),
        (
            capability::NON_INTERACTIVE,
            json!(true),
            with(|options| options.asks = Some(true)),
        ),
        (
            capability::EXTERNAL_SANDBOX,
            json!(true),
            with(|options| options.permission_mode = Some(PermissionMode::Plan)),
        ),
    ];
    for (key, value, mut options) in contradictions {
        options.extensions.insert(key.to_owned(), value);
        let request = RunRequest::new("Go.")
            .input(Input::Messages(Close::WhenIdle))
            .options(options);
        let error = refused(request).await;
        assert!(
            matches!(&error, Error::InvalidRequest { what } if what.contains(key)),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn extensions_become_options() {
    let options = with(|options| {
        options.extensions = [
            (capability::CONFIG_MODEL, json!("large")),
            (capability::SESSION_FORK, json!({"selector": "id", "id": "x"})),
            (capability::NON_INTERACTIVE, json!(true)),
            (capability::EXTERNAL_SANDBOX, json!(true)),
            (capability::ADD_DIRS, json!(["/one", "/two"])),
            ("able.colour", json!("red")),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into();
    });
    assert_eq!(
        started(RunOptions::new(), options).await[1..],
        [
            r#"model=Some("large")"#,
            r#"session=Some(Fork("x"))"#,
            "asks=Some(false)",
            "mode=Some(Bypass)",
            r#"dirs=["/one", "/two"]"#,
            r#"own={"able.colour": String("red")}"#,
        ]
    );
}

#[tokio::test]
async fn a_request_overrides_the_configuration_whichever_form_each_uses() {
    let by_option = |model: &str| with(|options| options.model = Some(model.to_owned()));
    let by_extension = |model: &str| extension(capability::CONFIG_MODEL, json!(model));
    for (defaults, options) in [
        (by_option("config"), by_option("request")),
        (by_extension("config"), by_extension("request")),
        (by_option("config"), by_extension("request")),
        (by_extension("config"), by_option("request")),
    ] {
        assert_eq!(started(defaults, options).await[1], r#"model=Some("request")"#);
    }
    for defaults in [by_option("config"), by_extension("config")] {
        assert_eq!(
            started(defaults, with(|_| {})).await[1],
            r#"model=Some("config")"#
        );
    }
}

#[tokio::test]
async fn a_request_switches_off_what_the_configuration_switches_on() {
    let switches = |is_on: bool| {
        with(|options| {
            for key in [capability::NON_INTERACTIVE, capability::EXTERNAL_SANDBOX] {
                options.extensions.insert(key.to_owned(), json!(is_on));
            }
        })
    };
    for (request, asks, mode) in [(true, "Some(false)", "Some(Bypass)"), (false, "None", "None")] {
        let lines = started(switches(true), switches(request)).await;
        assert_eq!(lines[3..5], [format!("asks={asks}"), format!("mode={mode}")]);
    }
}

#[tokio::test]
async fn a_bad_extension_of_the_configuration_is_refused_too() {
    let backend = Able::new().defaults(extension(capability::CONFIG_MODEL, json!(3)));
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
    let gateway = Gateway::new()
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
        (session(SessionChoice::Fork("x".into())), capability::SESSION_FORK),
        (session(SessionChoice::ForkLast), capability::SESSION_FORK),
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
            request(with(|options| options.additional_directories.push("/".into()))),
            capability::ADD_DIRS,
        ),
        (
            request(with(|options| options.asks = Some(true))),
            capability::ANSWER,
        ),
        (
            request(with(|_| {})).input(Input::Messages(Close::WhenIdle)),
            capability::SEND,
        ),
    ] {
        let error = gateway.run("custom", request).await.unwrap_err();
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
        RunRequest::new("Go.").options(with(|options| options.asks = Some(true))),
    ] {
        let error = refused(request).await;
        assert!(matches!(error, Error::InvalidRequest { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_unknown_backend_is_an_error_that_lists_the_known_ones() {
    let gateway = Gateway::new()
        .with(Custom::new("true", [""; 0]))
        .unwrap()
        .with(Able::new())
        .unwrap();
    let error = gateway.run("claude", RunRequest::new("Go.")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown backend `claude`: choose one of custom, able"
    );
    assert!(gateway.backend("able").is_ok());
}

#[tokio::test]
async fn a_name_is_registered_once() {
    let gateway = Gateway::new().with(Able::new()).unwrap();
    let Err(error) = gateway.with(Able::new()) else {
        panic!("registered twice");
    };
    assert!(matches!(error, Error::DuplicateBackend { name } if name.as_str() == "able"));
}

#[tokio::test]
async fn several_custom_commands_fit_into_one_gateway() {
    let command = |word: &str| Custom::new("/bin/sh", ["-c", "echo \"$0\"", word]).named(word);
    let gateway = Gateway::new()
        .with(command("one"))
        .unwrap()
        .with(command("two"))
        .unwrap();
    for name in ["one", "two"] {
        let request = RunRequest::new("Go.").options(with(|_| {}));
        let mut handle = gateway.run(name, request).await.unwrap();
        assert_eq!(handle.events.next().await.unwrap().agent_kind.as_str(), name);
        drop(handle.events);
        let completed = handle.completion.await.unwrap();
        assert_eq!(completed.final_text, Some(format!("{name}\n")));
    }
}

#[tokio::test]
async fn the_final_text_of_a_command_is_all_that_it_wrote() {
    // Two blocks, then more than a completion carries, then more than twice as much.
    for (count, is_cut) in [(10_000, false), (150_000, true), (400_000, true)] {
        let script = format!("i=0; while [ $i -lt {count} ]; do echo 12345678; i=$((i+1)); done; echo DONE");
        let gateway = Gateway::new()
            .with(Custom::new("/bin/sh", ["-c", script.as_str()]))
            .unwrap();
        let handle = gateway
            .run("custom", RunRequest::new("Go.").options(with(|_| {})))
            .await
            .unwrap();
        drop(handle.events);
        let text = handle.completion.await.unwrap().final_text.unwrap();
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
    let gateway = Gateway::new().with(missing()).unwrap().with(Able::new()).unwrap();
    assert_eq!(gateway.choose(&options).await.unwrap().as_str(), "able");
    let gateway = Gateway::new()
        .with(Custom::new("/bin/sh", [""; 0]))
        .unwrap()
        .with(Able::new())
        .unwrap();
    assert_eq!(gateway.choose(&options).await.unwrap().as_str(), "custom");
    let kinds: Vec<&str> = gateway.kinds().map(AgentKind::as_str).collect();
    assert_eq!(kinds, ["custom", "able"]);
}

#[tokio::test]
async fn when_nothing_is_installed_the_error_says_what_is_needed() {
    let mut able = Able::new();
    able.profile.program = "no-such-program";
    let gateway = Gateway::new()
        .with(Custom::new("/no/such/program", [""; 0]))
        .unwrap()
        .with(able)
        .unwrap();
    let options = with(|_| {});
    let error = gateway.choose(&options).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no agent found: `custom` is not installed: give the full path of the command (looked for \
         `/no/such/program`); `able` is not installed: install a shell (looked for `no-such-program`)"
    );
    let error = gateway
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
        let gateway = Gateway::new().with(backend).unwrap();
        let request = RunRequest::new("the prompt").options(with(|options| {
            options.environment = Environment::clear().set("PATH", "/usr/bin:/bin");
        }));
        let handle = gateway.run("custom", request).await.unwrap();
        drop(handle.events);
        let completed = handle.completion.await.unwrap();
        assert_eq!(completed.final_text.as_deref(), Some(expected));
    }
}
