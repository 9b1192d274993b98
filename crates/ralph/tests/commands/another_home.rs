//! Two state directories and one index: the second one is refused, and nothing of the first one is lost.

use crate::stage::{Ran, Stage};

/// Runs a command with another state directory, and the same index.
fn elsewhere(stage: &Stage, words: &[&str]) -> Ran {
    let mut command = stage.command(words);
    let output = command
        .env("XDG_STATE_HOME", stage.path("elsewhere"))
        .output()
        .unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_second_state_directory_is_refused_until_it_takes_the_index_over() {
    let stage = Stage::new();
    let words = [
        "run",
        "-b",
        "demo",
        "-p",
        "needle",
        "--once",
        "--",
        "--demo-speed=max",
    ];
    stage.ralph(&words);
    assert_eq!(stage.ids().len(), 1);
    let reindexed = stage.ralph(&["reindex"]);
    assert!(reindexed.stdout.starts_with("1 runs"), "{reindexed:?}");

    for words in [&["search", "needle"][..], &["reindex"], &["serve", "--port", "0"]] {
        let refused = elsewhere(&stage, words);
        assert_ne!(refused.code, Some(0), "{words:?}");
        assert!(
            refused.stderr.contains("another state directory") && refused.stderr.contains("--take-over"),
            "{words:?}: {refused:?}"
        );
    }
    let found = stage.ralph(&["search", "needle"]);
    assert!(found.stdout.contains("needle"), "{found:?}");

    let taken = elsewhere(&stage, &["reindex", "--take-over"]);
    assert_eq!(taken.code, Some(0), "{taken:?}");
    assert!(taken.stdout.starts_with("0 runs"), "{taken:?}");
    assert_ne!(stage.ralph(&["search", "needle"]).code, Some(0));
}
