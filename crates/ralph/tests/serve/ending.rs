//! Servers that end, and runs that do not.

use serde_json::json;
use test_support::wait_until;

use crate::stage::{Stage, is_done, says, works};

#[test]
fn a_run_outlives_a_killed_server_and_the_next_one_misses_nothing_of_it() {
    let mut stage = Stage::new();
    let gates = ["one", "two"].map(|name| stage.path(name));
    let script = works()
        .wait_for_file(&gates[0])
        .then(says("while no server was there"))
        .wait_for_file(&gates[1])
        .then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let server = stage.serve();
    let run = server.start(&workspace, &json!({}));
    let mut before = server.door.watch(&run, 0);
    before.until("text_block", "Working.");
    server.kill();
    std::fs::write(&gates[0], "").unwrap();
    let has_said = |text: &str| {
        let journal = stage.journal(&run);
        journal
            .iter()
            .any(|record| record["event"]["data"]["text"] == text)
    };
    wait_until("a record without a server", || {
        has_said("while no server was there")
    });
    let server = stage.serve();
    assert_eq!(
        server.door.get(&format!("/api/v1/runs/{run}"))["id"],
        run.as_str()
    );
    // The client goes on with the next server where it was with the last one.
    let mut after = server.door.watch(&run, before.seq);
    after.until("text_block", "while no server was there");
    std::fs::write(&gates[1], "").unwrap();
    after.until("run_ended", "completed");
    let journal = stage.journal(&run);
    let written: Vec<_> = journal
        .into_iter()
        .filter(|record| record["event"]["type"] != "delta")
        .collect();
    let seen: Vec<_> = before.records.into_iter().chain(after.records).collect();
    assert_eq!(seen, written);
    let numbers: Vec<u64> = written
        .iter()
        .map(|record| record["seq"].as_u64().unwrap())
        .collect();
    wait_until("the index", || server.door.indexed(&run) == numbers);
}

#[test]
fn a_server_that_is_asked_to_end_does_so_and_runs_go_on() {
    let mut stage = Stage::new();
    let gate = stage.path("gate");
    let script = works().wait_for_file(&gate).then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let server = stage.serve();
    let run = server.start(&workspace, &json!({}));
    let mut watching = server.door.watch(&run, 0);
    watching.until("text_block", "Working.");
    // Somebody who watches does not keep it.
    let status = server.terminate();
    assert_eq!(status.code(), Some(0));
    let file = stage.run_file(&run);
    let runner: ralph_run::Runner = serde_json::from_value(file["runner"].clone()).unwrap();
    assert!(runner.is_alive());
    std::fs::write(&gate, "").unwrap();
    wait_until("the end of the run", || {
        stage.run_file(&run)["status"]["state"] == "ended"
    });
    assert_eq!(stage.run_file(&run)["reason"], "completed");
}

#[test]
fn a_server_that_is_started_by_nohup_survives_the_end_of_the_session() {
    let stage = Stage::new();
    let mut command = stage.command("/bin/sh");
    command
        .args(["-c", "trap '' HUP; exec \"$0\" serve --port 0"])
        .arg(env!("CARGO_BIN_EXE_ralph"));
    let server = stage.serve_by(command);
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    let bit = 1 << (rustix::process::Signal::HUP.as_raw() - 1);
    assert_eq!(mask("SigIgn:") & bit, bit, "{status}");
    assert_eq!(mask("SigCgt:") & bit, 0, "{status}");
}
