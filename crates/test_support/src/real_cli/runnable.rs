//! Whether an installed CLI runs with the Node of this machine.

use super::agent::Agent;
use super::environment;
use super::npm;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The folder in an installation for files that a CLI makes once, such as Copilot's unpacked program.
pub(super) const CACHE: &str = "cache";

/// A Node program may take seconds to load on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A CLI that is installed and does not run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{agent} {version} cannot run here: {said} (Node is {node}, the package asks for {needed})")]
pub struct CannotRun {
    agent: &'static str,
    version: String,
    said: String,
    node: String,
    needed: String,
}

/// Asks the CLI for its version. The version of Node that a package asks for does not decide: Qwen Code 0.24.4 asks for
/// 22 and runs with 20.
pub(super) fn check(agent: Agent, version: &str, directory: &Path, program: &Path) -> Result<(), CannotRun> {
    let said = match ask(program, &directory.join(CACHE)) {
        Ok(said) if said.contains(version) => return Ok(()),
        Ok(said) | Err(said) => said,
    };
    let first = said.lines().find(|line| !line.trim().is_empty());
    Err(CannotRun {
        agent: agent.name(),
        version: version.to_owned(),
        said: first.unwrap_or("it says nothing").trim().to_owned(),
        node: ask(Path::new("node"), directory)
            .map_or_else(|_| "not installed".to_owned(), |node| node.trim().to_owned()),
        needed: needed_node(agent, directory).unwrap_or_else(|| "no certain version".to_owned()),
    })
}

/// The version of Node that the package asks for.
pub(super) fn needed_node(agent: Agent, directory: &Path) -> Option<String> {
    let manifest = directory
        .join("node_modules")
        .join(agent.package())
        .join("package.json");
    let manifest: Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    Some(manifest["engines"]["node"].as_str()?.to_owned())
}

/// What a program prints as its version, or the reason why it prints none.
fn ask(program: &Path, cache: &Path) -> Result<String, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .arg("--version")
        .env_clear()
        .envs(environment::with_base(
            home.path(),
            &[("COPILOT_OFFLINE", "true")],
        ))
        .env("XDG_CACHE_HOME", cache)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let (stdout, stderr) = (npm::read(child.stdout.take()), npm::read(child.stderr.take()));
    match npm::wait(&mut child, LIMIT) {
        Ok(Some(status)) if status.success() => Ok(stdout.join().unwrap_or_default()),
        Ok(Some(_)) => Err(stderr.join().unwrap_or_default()),
        Ok(None) => Err(format!("`--version` takes longer than {} s", LIMIT.as_secs())),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]
mod tests {
    use super::{Agent, check};
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn program(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let package = directory.path().join("node_modules/@qwen-code/qwen-code");
        fs::create_dir_all(&package).unwrap();
        fs::write(
            package.join("package.json"),
            r#"{"engines": {"node": ">=99.0.0"}}"#,
        )
        .unwrap();
        let program = directory.path().join("qwen");
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (directory, program)
    }

    #[test]
    fn a_cli_that_tells_its_version_can_run_whatever_its_package_asks_for() {
        let (directory, program) = program("echo 0.24.4");
        check(Agent::Qwen, "0.24.4", directory.path(), &program).unwrap();
    }

    #[test]
    fn a_cli_that_fails_is_reported_with_its_reason_and_the_version_of_node_it_needs() {
        let (directory, program) = program("echo 'SyntaxError: Unexpected token' >&2; exit 1");
        let error = check(Agent::Qwen, "0.24.4", directory.path(), &program).unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("qwen 0.24.4 cannot run here: SyntaxError: Unexpected token (Node is "),
            "{message}"
        );
        assert!(message.ends_with("the package asks for >=99.0.0)"), "{message}");
    }

    #[test]
    fn a_cli_of_another_version_is_not_the_one_that_was_asked_for() {
        let (directory, program) = program("echo 0.1.0");
        let error = check(Agent::Qwen, "0.24.4", directory.path(), &program).unwrap_err();
        assert!(error.to_string().contains("0.1.0"), "{error}");
    }
}
