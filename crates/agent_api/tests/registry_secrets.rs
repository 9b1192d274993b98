//! Errors quote neither prompts nor variables nor lines of output.
#![cfg(all(unix, feature = "custom"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use agent_api::backends::custom::{Custom, PromptBy};
use agent_api::{AgentRegistry, Body, Environment, Error, RunOptions, RunRequest, SessionChoice, capability};
use agent_process::Limits;
use serde_json::json;

const SECRET: &str = "hunter2";

fn options() -> RunOptions {
    let mut options = RunOptions::new();
    options.environment = Environment::clear().set("TOKEN", SECRET);
    options
}

async fn error_of(backend: Custom, prompt: &str, options: RunOptions) -> Error {
    let registry = AgentRegistry::new().with(backend).unwrap();
    let request = RunRequest::new(prompt).options(options);
    registry.run("custom", request).await.unwrap_err()
}

fn quotes_nothing(error: &Error) {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        let told = format!("{error} {error:?}");
        assert!(!told.contains(SECRET), "{told}");
        source = error.source();
    }
}

fn by_argument() -> Custom {
    Custom::new("/bin/sh", ["-c", "true"]).prompt_by(PromptBy::Argument { option: None })
}

#[tokio::test]
async fn no_error_quotes_the_prompt() {
    let too_long = SECRET.repeat(40_000);
    for prompt in [format!("{SECRET}\0"), too_long] {
        quotes_nothing(&error_of(by_argument(), &prompt, options()).await);
    }
    let missing = Custom::new("/no/such/program", [SECRET]);
    quotes_nothing(&error_of(missing, SECRET, options()).await);
}

#[tokio::test]
async fn no_error_quotes_a_variable() {
    let mut with_nul = options();
    with_nul.environment = with_nul.environment.set("KEY", format!("{SECRET}\0"));
    quotes_nothing(&error_of(by_argument(), "Go.", with_nul).await);
    let mut too_much = options();
    too_much.environment = too_much.environment.set("KEY", SECRET.repeat(1 << 20));
    quotes_nothing(&error_of(by_argument(), "Go.", too_much).await);
}

#[tokio::test]
async fn no_error_quotes_a_value_of_the_request() {
    let mut with_model = options();
    with_model.model = Some(SECRET.into());
    let mut with_session = options();
    with_session.session = Some(SessionChoice::Resume(SECRET.into()));
    let mut with_extension = options();
    with_extension
        .extensions
        .insert(capability::CONFIG_MODEL.into(), json!(SECRET));
    let mut with_system_prompt = options();
    with_system_prompt.system_prompt = Some(SECRET.into());
    for options in [with_model, with_session, with_extension, with_system_prompt] {
        quotes_nothing(&error_of(by_argument(), "Go.", options).await);
    }
}

#[tokio::test]
async fn no_error_event_quotes_a_line_of_output_or_the_prompt() {
    let mut options = options();
    options.limits = Some(Limits::default().max_line_bytes(20));
    let script = format!("printf '{SECRET}-%s\\n' 0123456789abcdef; echo {SECRET}; exit 1");
    let registry = AgentRegistry::new()
        .with(Custom::new("/bin/sh", ["-c", script.as_str()]))
        .unwrap();
    let request = RunRequest::new(SECRET).options(options);
    let mut handle = registry.run("custom", request).await.unwrap();
    let mut errors = 0;
    while let Some(event) = handle.events.next().await {
        if matches!(event.body, Body::Error(_) | Body::Finished(_) | Body::Notice(_)) {
            let told = format!("{event:?}");
            assert!(!told.contains(SECRET), "{told}");
            errors += 1;
        }
    }
    assert_eq!(errors, 2, "the long line and the end");
    let completed = handle.completion.await.unwrap();
    assert!(!format!("{:?}", completed.finished).contains(SECRET));
}

#[test]
fn what_is_printed_of_a_request_quotes_nothing_but_names() {
    let mut options = options();
    options.system_prompt = Some(SECRET.into());
    options.append_system_prompt = Some(SECRET.into());
    options.extra_args.push(SECRET.into());
    options.extensions.insert("some.key".into(), json!(SECRET));
    let told = format!("{:?}", RunRequest::new(SECRET).options(options));
    assert!(!told.contains(SECRET), "{told}");
    assert!(
        told.contains("TOKEN") && told.contains("some.key") && told.contains("prompt_bytes: 7"),
        "{told}"
    );
}

#[tokio::test]
async fn what_is_printed_of_a_running_run_quotes_nothing() {
    let registry = AgentRegistry::new().with(by_argument()).unwrap();
    let handle = registry
        .run("custom", RunRequest::new(SECRET).options(options()))
        .await
        .unwrap();
    assert!(!format!("{handle:?}").contains(SECRET));
    handle.wait().await.unwrap();
}
