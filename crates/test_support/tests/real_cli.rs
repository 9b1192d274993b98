//! The real CLI runs against the scripted model, and sees nothing else.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

use serde_json::Value;
use std::process::{Command, Stdio};
use std::thread;
use tempfile::TempDir;
use test_support::fake_model::FakeModel;
use test_support::real_cli::{FAKE_KEY, RealClaude, VERSIONS, Workspace};

fn claude(version: &str, workspace: &Workspace, base_url: &str) -> Command {
    let mut command = Command::new(RealClaude::install(version).unwrap().path());
    command
        .env_clear()
        .envs(workspace.environment(base_url))
        .current_dir(workspace.path())
        .stdin(Stdio::null());
    command
}

#[tokio::test]
async fn every_version_answers_through_the_scripted_model() {
    for version in VERSIONS {
        let model = FakeModel::start().await.unwrap();
        let workspace = Workspace::create().unwrap();
        let output = claude(version, &workspace, model.base_url())
            .args([
                "-p",
                "SCENARIO:plain",
                "--output-format",
                "stream-json",
                "--verbose",
            ])
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> = stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["type"], "system", "{version}");
        let result = lines.last().unwrap();
        assert_eq!(
            result["result"], "Hello from the fake model. This is a plain answer.",
            "{version}"
        );
        let request = model
            .requests()
            .into_iter()
            .find(|request| request.label == "plain[0]#1")
            .unwrap();
        assert_eq!(request.header("x-api-key"), Some(FAKE_KEY));
    }
}

#[test]
fn parallel_installations_install_once() {
    let cache = TempDir::new().unwrap();
    let version = VERSIONS.last().unwrap();
    let install = || RealClaude::install_in(cache.path(), version).unwrap();
    let installed = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(install)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(installed.iter().all(|claude| claude.path().exists()));
    let mut left: Vec<_> = std::fs::read_dir(cache.path().join("ralph-cli/claude-code"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(
        left,
        [(*version).to_owned(), format!("{version}.lock")],
        "no half installation is left"
    );
}

#[test]
fn a_version_that_does_not_exist_says_so() {
    let cache = TempDir::new().unwrap();
    let message = RealClaude::install_in(cache.path(), "0.0.0-none")
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("claude-code@0.0.0-none` failed") && message.contains("ETARGET"),
        "{message}"
    );
}
