//! Which CLI is installed, and what it can do.

use std::time::{Duration, Instant};

use crate::support::{rest, soon};
use agent_process::Exit;
use claude_code::{
    Client, Environment, Error, Feature, PrintRequest, ProbeError, RequestError, RunOptions, Version, probe,
};
use test_support::script::{Script, ScriptedAgent};

#[tokio::test]
async fn the_version_is_asked_for_and_tells_what_the_cli_can_do() {
    for (answer, version, has_tools) in [
        ("2.1.325 (Claude Code)", Version::new(2, 1, 325), true),
        (
            "warning: node 18.1.0 is old\n2.0.8 (Claude Code)",
            Version::new(2, 0, 8),
            false,
        ),
        ("other-claude v3.0.1-beta", Version::new(3, 0, 1), true),
    ] {
        let agent = Script::new().with_version(answer).install().unwrap();
        let program = agent.as_program().unwrap();
        let probe = soon(probe(&program, &Environment::clear())).await.unwrap();
        assert_eq!((probe.version, &probe.path), (version, &program));
        assert_eq!(probe.capabilities.has(Feature::Tools), has_tools, "{answer}");
    }
}

#[tokio::test]
async fn a_version_counts_however_the_program_ends() {
    let agent = Script::new()
        .without_version()
        .emit("2.1.9")
        .stderr("oh no\n")
        .exit(3)
        .install()
        .unwrap();
    let probe = soon(probe(agent.as_program().unwrap(), &Environment::clear()))
        .await
        .unwrap();
    assert_eq!(probe.version, Version::new(2, 1, 9));
}

#[tokio::test]
async fn what_does_not_say_its_version_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let clear = Environment::clear();
    let missing = probe(directory.path().join("claude"), &clear).await.unwrap_err();
    assert!(matches!(missing, ProbeError::NotFound { .. }), "{missing:?}");
    assert!(missing.to_string().contains("npm install"), "{missing}");

    let text = directory.path().join("text");
    std::fs::write(&text, "2.1.325").unwrap();
    let error = probe(&text, &clear).await.unwrap_err();
    assert!(matches!(error, ProbeError::NotExecutable { .. }), "{error:?}");

    let agent = Script::new()
        .without_version()
        .emit("usage: claude")
        .exit(2)
        .install()
        .unwrap();
    let error = soon(probe(agent.as_program().unwrap(), &clear))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            ProbeError::NoVersion {
                exit: Exit::Code(2),
                ..
            }
        ),
        "{error:?}"
    );

    let flood = Script::new()
        .without_version()
        .flood(10_000, 4_096)
        .install()
        .unwrap();
    let error = soon(probe(flood.as_program().unwrap(), &clear))
        .await
        .unwrap_err();
    assert!(matches!(error, ProbeError::NoVersion { .. }), "{error:?}");
}

#[tokio::test]
async fn a_program_that_does_not_answer_is_given_up_after_the_timeout() {
    let agent = Script::new().without_version().sleep_forever().install().unwrap();
    let start = Instant::now();
    let error = soon(probe(agent.as_program().unwrap(), &Environment::clear()))
        .await
        .unwrap_err();
    let ProbeError::TimedOut { timeout, .. } = error else {
        panic!("{error:?}")
    };
    let took = start.elapsed();
    assert!(
        took >= timeout && took < timeout + Duration::from_secs(5),
        "{took:?}"
    );
}

#[tokio::test]
async fn a_client_asks_once_per_file_and_refuses_what_the_installed_cli_cannot_do() {
    let agent = Script::claude_session("done")
        .with_version("2.0.8 (Claude Code)")
        .install()
        .unwrap();
    let program = agent.as_program().unwrap();
    let client = Client::builder()
        .binary(&program)
        .environment(Environment::clear())
        .build();
    let tools = PrintRequest::new("Hi").options(RunOptions::new().tools(["Read"]));
    let error = client.print_stream_json(tools).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Request(RequestError::Unsupported {
                feature: Feature::Tools,
                ..
            })
        ),
        "{error:?}"
    );
    // The file is the same, so it is not asked again, whatever it would answer.
    let newer = Script::claude_session("done")
        .with_version("2.1.325")
        .install_in(agent.script().parent().unwrap())
        .unwrap();
    let version = async || client.capabilities().await.unwrap().version();
    assert_eq!(version().await, Some(Version::new(2, 0, 8)));
    // An update puts another file in its place.
    newer.as_program().unwrap();
    assert_eq!(version().await, Some(Version::new(2, 1, 325)));
}

#[tokio::test]
async fn a_program_of_unknown_version_is_taken_for_the_current_one() {
    let agent = Script::claude_session("done")
        .without_version()
        .install()
        .unwrap();
    let client = Client::builder()
        .binary(agent.as_program().unwrap())
        .environment(Environment::clear())
        .build();
    let tools = PrintRequest::new("Hi").options(RunOptions::new().tools(["Read"]));
    let mut handle = client.print_stream_json(tools).await.unwrap();
    assert_eq!(rest(&mut handle.events).await.len(), 3);
}

#[tokio::test]
async fn what_no_version_takes_is_refused_before_anything_is_started() {
    let client = Client::builder().binary("/no/such/program").build();
    let error = client
        .print_stream_json(PrintRequest::new(" "))
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::Request(RequestError::EmptyPrompt)),
        "{error:?}"
    );
    let error = client
        .print_stream_json(PrintRequest::new("Hi"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::Probe(ProbeError::NotFound { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_program_that_is_run_is_the_one_that_is_asked() {
    let install = |version: &str| {
        let agent = Script::claude_session("done")
            .with_version(version)
            .install()
            .unwrap();
        agent.as_program().unwrap();
        agent
    };
    let (old, new) = (install("2.0.8 (Claude Code)"), install("2.1.325 (Claude Code)"));
    let folder = |agent: &ScriptedAgent| agent.script().parent().unwrap().to_path_buf();
    let tools = |options: RunOptions| PrintRequest::new("Hi").options(options.tools(["Read"]));
    let is_refused = |error: &Error| {
        matches!(
            error,
            Error::Request(RequestError::Unsupported {
                feature: Feature::Tools,
                ..
            })
        )
    };

    // By the request's `PATH`.
    let client = Client::builder()
        .binary("claude")
        .environment(Environment::clear().set("PATH", folder(&old)))
        .build();
    let path = |agent| Environment::default().set("PATH", folder(agent));
    let error = client
        .print_stream_json(tools(RunOptions::new()))
        .await
        .unwrap_err();
    assert!(is_refused(&error), "{error:?}");
    let newer = tools(RunOptions::new().environment(path(&new)));
    let mut handle = client.print_stream_json(newer).await.unwrap();
    assert_eq!(rest(&mut handle.events).await.len(), 3);
    let again = tools(RunOptions::new().environment(path(&old)));
    let error = client.print_stream_json(again).await.unwrap_err();
    assert!(is_refused(&error), "{error:?}");

    // By the request's working directory.
    let client = Client::builder()
        .binary("./claude")
        .environment(Environment::clear())
        .cwd(folder(&old))
        .build();
    assert_eq!(soon(client.probe()).await.unwrap().version, Version::new(2, 0, 8));
    let error = client
        .print_stream_json(tools(RunOptions::new()))
        .await
        .unwrap_err();
    assert!(is_refused(&error), "{error:?}");
    let mut handle = client
        .print_stream_json(tools(RunOptions::new().cwd(folder(&new))))
        .await
        .unwrap();
    assert_eq!(rest(&mut handle.events).await.len(), 3);
}
