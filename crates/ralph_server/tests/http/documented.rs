//! `docs/api.md`: its lines are run as they are.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::stage::Stage;

const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lines_of_the_documentation_work() {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let text = std::fs::read_to_string(text).unwrap();
    let mut blocks = text
        .split("```sh\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap());
    let (setup, lines) = (blocks.next().unwrap(), blocks.next().unwrap());
    assert_eq!(lines.lines().count(), 10, "ten lines");
    let function = setup.lines().find(|line| line.starts_with("api()")).unwrap();
    let stage = Stage::new().await;
    *stage.launcher.runners.lock().unwrap() = Some(Vec::new());
    let working = tokio::spawn(stage.app.live.clone().work());
    // An answer starts with the id of a run; `jq` need not be installed.
    let jq = r#"jq() { sed -E 's/^\{"id":"([^"]*)".*/\1/'; }"#;
    let mut script = format!("set -u\n{jq}\n{function}\n");
    for line in lines.lines() {
        // Watching goes on until the time is up, which is curl's exit code 28.
        let line = line.replace("--max-time 5", "--max-time 1");
        script.push_str(&line);
        let number = line.split('#').next_back().unwrap().trim();
        script.push_str(&format!(
            "\ncode=$?; [ $code -eq 0 ] || [ $code -eq 28 ] || {{ echo \"failed ($code): {number}\" >&2; exit 1; }}\n"
        ));
    }
    let mut command = Command::new("bash");
    command.arg("-c").arg(&script).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("server", format!("http://{}/api/v1", stage.address));
    command.env("token", &stage.token).env("request", "request-1");
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(LIMIT, command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("run_started"), "nothing was watched: {shown}");
    let runners = stage.launcher.runners.lock().unwrap().take().unwrap();
    assert_eq!(runners[0].heard().len(), 4, "message, answer, interrupt and stop");
    working.abort();
}
