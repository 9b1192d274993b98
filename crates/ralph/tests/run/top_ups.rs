//! Limits that are reached while a person can raise them.

use serde_json::{Value, json};
use test_support::wait_for;

use crate::stage::{Ran, Stage, says};

impl Stage {
    fn top_up(&self, amounts: &[&str]) -> Ran {
        let mut all = vec!["top-up", "latest"];
        all.extend(amounts);
        Ran::of(&self.ralph(&all).output().unwrap())
    }

    /// Waits until the run waits for a higher limit, for this often.
    fn wait_for_limit(&self, times: usize) -> Value {
        wait_for("a limit", || {
            let awaited = self.data("budget_awaited");
            let is_waiting = self.run_file()["status"]["for"] == "budget";
            (is_waiting && awaited.len() == times)
                .then(|| awaited.last().cloned())
                .flatten()
        })
    }

    pub(crate) fn data(&self, kind: &str) -> Vec<Value> {
        let records = self.records();
        let records = records.iter().filter(|record| record["event"]["type"] == kind);
        records.map(|record| record["event"]["data"].clone()).collect()
    }
}

#[test]
fn a_run_that_can_ask_waits_at_its_limits_and_continues_when_they_are_raised() {
    let stage = Stage::new(&says("More to do."));
    let args = [
        "run",
        "-p",
        "Do it.",
        "--detach",
        "--ask",
        "--permission-mode",
        "bypass",
        "--max-cost",
        "0.015",
        "--max-iterations",
        "3",
    ];
    assert!(stage.ralph(&args).output().unwrap().status.success());
    let awaited = stage.wait_for_limit(1);
    assert_eq!(awaited["limit"], "cost");
    assert!(
        awaited["message"]
            .as_str()
            .unwrap()
            .starts_with("cost limit reached: $0.02 of "),
        "{awaited}"
    );
    let listed = Ran::of(&stage.ralph(&["runs", "--all"]).output().unwrap());
    assert!(listed.stdout.contains("higher limit"), "{listed:?}");
    for (amounts, why) in [
        (["--cost", "0"], "above 0"),
        (["--tokens", "100k"], "no token limit"),
    ] {
        let refused = stage.top_up(&amounts);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(why), "{refused:?}");
    }
    let raised = stage.top_up(&["--cost", "1"]);
    assert_eq!(raised.code, Some(0), "{raised:?}");
    assert!(raised.stdout.ends_with(": cost limit $1.015\n"), "{raised:?}");
    let awaited = stage.wait_for_limit(2);
    assert_eq!(awaited["limit"], "iterations");
    assert_eq!(
        stage.data("limit_raised")[0],
        json!({"limit": "cost", "to": 1_015_000})
    );
    let raised = stage.top_up(&["--iterations", "1", "--time", "1h"]);
    assert_eq!(raised.code, Some(0), "{raised:?}");
    assert!(
        raised.stdout.contains(": iteration limit 4, time limit "),
        "{raised:?}"
    );
    stage.wait_for_limit(3);
    assert_eq!(stage.data("iteration_started").len(), 4);
    assert_eq!(stage.ralph(&["stop", "latest"]).status().unwrap().code(), Some(0));
    let late = stage.top_up(&["--cost", "1"]);
    assert_eq!(late.code, Some(1));
    assert!(late.stderr.contains("ended"), "{late:?}");
}

#[test]
fn a_limit_that_is_not_raised_in_time_ends_the_run() {
    let stage = Stage::new(&says("More to do."));
    let settings = std::fs::read_to_string(stage.workspace().join("ralph.yml")).unwrap();
    stage.configure(&format!("{settings}ask_timeout: 1s\npermission_mode: bypass\n"));
    let ran = stage.run(&["--ask", "--max-iterations", "2"]);
    assert_eq!(
        (ran.code, &stage.run_file()["reason"]),
        (Some(2), &json!({"limit": "iterations"}))
    );
    assert!(ran.stdout.contains("ralph top-up"), "{}", ran.stdout);
    assert!(ran.stdout.contains("--iterations 2"), "{}", ran.stdout);
}

#[test]
fn a_file_that_asks_does_not_make_a_run_wait_that_nobody_watches() {
    let stage = Stage::new(&says("More to do."));
    let settings = std::fs::read_to_string(stage.workspace().join("ralph.yml")).unwrap();
    stage.configure(&format!(
        "{settings}ask: true\nask_timeout: 0\npermission_mode: bypass\n"
    ));
    let ran = stage.run(&["--max-iterations", "2"]);
    assert_eq!(
        (ran.code, &stage.run_file()["reason"]),
        (Some(2), &json!({"limit": "iterations"}))
    );
    assert_eq!(stage.data("budget_awaited"), [json!(null); 0]);
}

#[test]
fn an_amount_has_to_be_given() {
    let stage = Stage::empty();
    let ran = stage.top_up(&[]);
    assert_eq!(ran.code, Some(64), "{ran:?}");
}
