//! The API against its own description, by a program that knows nothing else about it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use crate::agent::Runner;
use crate::stage::{Stage, asked, wrote};

/// Ample: the program is told to be done in half of it.
const LIMIT: Duration = Duration::from_secs(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_is_one_that_the_description_promises() {
    let stage = Stage::new().await;
    let session = json!({"agent_kind": "demo", "type": "session_started", "data": {"session": "s-1"}});
    let run = stage
        .run(&[session, wrote(0, "some words to be found"), asked("r1")])
        .await;
    std::fs::create_dir_all(stage.workspace()).unwrap();
    std::fs::write(stage.workspace().join("a"), "a file").unwrap();
    std::fs::write(run.raw_log(1), "{}\n".repeat(100)).unwrap();
    let _runner = Runner::of(&run).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/schemathesis/run");
    let mut command = Command::new(script);
    command.arg(format!("http://{}", stage.address));
    command.args([
        "--phases",
        "examples,coverage,fuzzing",
        "--max-examples",
        "10",
        "--request-timeout",
        "10",
    ]);
    // Who guesses is slowed down, which it takes for an answer: doors are tried by other tests.
    command.args(["--exclude-checks", "ignored_auth"]);
    // Streams do not end, and nobody can guess what a login needs.
    command.args(["--exclude-path-regex", "/stream$|/events$|/login$"]);
    // Nothing of this machine but where programs and the cache are.
    command.env_clear().current_dir(stage.directory.path());
    for name in ["PATH", "HOME", "XDG_CACHE_HOME", "RALPH_CLI_CACHE"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command
        .env("RALPH_TOKEN", &stage.token)
        .env("RALPH_RUN", run.id());
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(LIMIT, command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
