//! `runs`, `show` and `clean`.

use serde_json::Value;

use crate::stage::{Stage, signal};

/// A table without its column of workspaces, whose width is the machine's.
fn cells(table: &str) -> String {
    let mut text = String::new();
    for line in table.lines() {
        let mut cells: Vec<&str> = line.split("  ").filter(|cell| !cell.is_empty()).collect();
        cells.remove(6);
        let cells: Vec<&str> = cells.into_iter().map(str::trim).collect();
        text.push_str(&format!("{}\n", cells.join(" | ")));
    }
    text
}

#[test]
fn runs_and_show_say_what_happened_and_why() {
    let stage = Stage::new();
    assert_eq!(stage.show(&["--max-iterations", "1"]).code, Some(1));
    assert_eq!(stage.show(&["--task", "greeting"]).code, Some(0));
    let runs = stage.ralph(&["runs"]);
    assert_eq!((runs.code, runs.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("runs", stage.masked(&cells(&runs.stdout)));
    let newest = stage.ralph(&["show"]);
    insta::assert_snapshot!("show_completed", stage.masked(&newest.stdout));
    let oldest = stage.ralph(&["show", &stage.ids()[0]]);
    insta::assert_snapshot!("show_failed", stage.masked(&oldest.stdout));
}

#[test]
fn programs_get_the_same_as_json() {
    let stage = Stage::new();
    assert_eq!(stage.show(&[]).code, Some(0));
    let ids = stage.ids();
    let runs: Value = serde_json::from_str(&stage.ralph(&["runs", "--json"]).stdout).unwrap();
    assert_eq!(runs[0], stage.run_file(&ids[0]));
    let shown: Value = serde_json::from_str(&stage.ralph(&["show", "--json"]).stdout).unwrap();
    assert_eq!(shown["run"], stage.run_file(&ids[0]));
    assert_eq!(shown["iterations"].as_array().unwrap().len(), 2);
    assert_eq!(shown["iterations"][0]["outcome"], "verify_failed");
    assert_eq!(shown["verify"][0]["is_ok"], true);
    assert_eq!(shown["ended"]["reason"], "completed");
    assert!(shown["last_text"].as_str().unwrap().ends_with("LOOP_COMPLETE"));
}

#[test]
fn nothing_yet_is_no_error_in_a_list_but_one_for_a_single_run() {
    let stage = Stage::new();
    let runs = stage.ralph(&["runs"]);
    assert_eq!(
        (runs.code, runs.stdout.as_str()),
        (Some(0), "there are no runs yet; start one with `ralph run`\n")
    );
    assert_eq!(stage.ralph(&["runs", "--json"]).stdout, "[]\n");
    assert_eq!(stage.ralph(&["clean"]).stdout, "nothing to remove\n");
    let show = stage.ralph(&["show"]);
    assert_eq!(show.code, Some(1));
    assert_eq!(
        show.stderr,
        "ralph: there are no runs yet; start one with `ralph run`\n"
    );
}

#[test]
fn a_list_shows_the_newest_runs_and_active_ones_and_how_many_it_leaves_out() {
    let stage = Stage::new();
    let active = stage.background();
    stage.show(&["-C", &stage.path("tmp").display().to_string()]);
    let runs = stage.path("state/ralph/runs");
    let ended = stage.ids().into_iter().find(|id| *id != active).unwrap();
    let file = std::fs::read_to_string(runs.join(&ended).join("run.json")).unwrap();
    for number in 0..30 {
        // Later than all others, as ids begin with the time.
        let id = format!("29990101-0000{number:02}-aaaaaa{number:02}");
        std::fs::create_dir(runs.join(&id)).unwrap();
        std::fs::write(runs.join(&id).join("run.json"), file.replace(&ended, &id)).unwrap();
    }
    let lines = |args: &[&str]| {
        let listed = stage.ralph(args);
        assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""), "{args:?}");
        listed.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let listed = lines(&["runs"]);
    assert_eq!(listed.len(), 1 + 20 + 1 + 1, "{listed:#?}");
    assert!(listed[1].starts_with("aaaaaa29 "), "{listed:#?}");
    assert!(
        listed[21].starts_with(ralph_run::short_run_id(&active)),
        "{listed:#?}"
    );
    assert_eq!(
        listed[22],
        "11 older runs not shown; use `--all` or `-n N` to see more"
    );
    assert_eq!(lines(&["runs", "--all"]).len(), 1 + 32);
    assert_eq!(lines(&["runs", "-n", "2"]).len(), 1 + 2 + 1);
    assert_eq!(lines(&["runs", "--active"]).len(), 1 + 1);
    let all: Value = serde_json::from_str(&stage.ralph(&["runs", "--json"]).stdout).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 32);
}

#[test]
fn runs_can_be_chosen_by_state_workspace_and_number() {
    let stage = Stage::new();
    stage.show(&[]);
    stage.show(&[]);
    let count = |args: &[&str]| {
        let mut all = vec!["runs", "--json"];
        all.extend(args);
        let runs: Value = serde_json::from_str(&stage.ralph(&all).stdout).unwrap();
        runs.as_array().unwrap().len()
    };
    assert_eq!(count(&[]), 2);
    assert_eq!(count(&["-n", "1"]), 1);
    assert_eq!(count(&["--active"]), 0);
    assert_eq!(count(&["-C", "."]), 2);
    assert_eq!(count(&["-C", ".."]), 0);
    assert_eq!(stage.ralph(&["runs", "--active"]).stdout, "no active runs\n");
}

#[test]
fn hostile_words_reach_no_terminal() {
    let stage = Stage::new();
    let hostile = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d";
    let ran = stage.ralph(&[
        "run",
        "-b",
        "demo",
        "--once",
        "-p",
        hostile,
        "--",
        "--demo-speed=max",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for args in [
        &["runs"][..],
        &["runs", "--json"],
        &["show"],
        &["show", "--json"],
        &["logs", "-v"],
        &["logs", "--output", "json"],
        &["replay", "latest"],
    ] {
        let ran = stage.ralph(args);
        assert_eq!(ran.code, Some(0), "{args:?}");
        let is_hostile = |character: char| matches!(character, '\u{1b}' | '\u{9b}' | '\u{202e}');
        assert!(!ran.stdout.contains(is_hostile), "{args:?}: {}", ran.stdout);
    }
    let runs: Value = serde_json::from_str(&stage.ralph(&["runs", "--json"]).stdout).unwrap();
    assert_eq!(runs[0]["prompt"], hostile);
}

#[test]
fn clean_removes_finished_runs_and_only_those() {
    let stage = Stage::new();
    stage.show(&[]);
    let finished = stage.ids()[0].clone();
    let going_on = stage.background();
    let dry = stage.ralph(&["clean", "--dry-run", "--all"]);
    assert!(
        dry.stdout
            .starts_with(&format!("would remove {finished}\nwould remove 1 run, ")),
        "{dry:?}"
    );
    assert_eq!(stage.ids().len(), 2);
    assert_eq!(
        stage.ralph(&["clean", "--older-than", "1d"]).stdout,
        "nothing to remove\n"
    );
    assert_eq!(
        stage.ralph(&["clean"]).stdout,
        "nothing to remove\n",
        "new runs are kept unless somebody wants all to go"
    );
    assert_eq!(stage.ids().len(), 2);
    let cleaned: Value = serde_json::from_str(&stage.ralph(&["clean", "--all", "--json"]).stdout).unwrap();
    assert_eq!(cleaned["removed"][0], finished.as_str());
    assert_eq!(stage.ids(), [going_on.as_str()]);
    let stopped = stage.ralph(&["stop", &going_on]);
    assert_eq!(stopped.stdout, format!("run {going_on} has ended: stopped\n"));
    // As long as the runner is about to leave, its run is kept.
    while !stage.ids().is_empty() {
        assert_eq!(stage.ralph(&["clean", "--all"]).code, Some(0));
    }
}

#[test]
fn a_run_whose_runner_was_killed_is_noted_once() {
    let stage = Stage::new();
    let id = stage.background();
    let pid = stage.run_file(&id)["runner"]["pid"].as_u64().unwrap();
    signal("KILL", u32::try_from(pid).unwrap());
    // Until the kernel has buried it, the run still counts as running.
    let lost = loop {
        let runs = stage.ralph(&["runs"]);
        if !runs.stderr.is_empty() {
            break runs;
        }
    };
    assert!(
        lost.stderr.starts_with(&format!(
            "ralph: run {id} was lost: the runner died (process {pid} is"
        )),
        "{lost:?}"
    );
    assert!(lost.stdout.contains("lost"), "{lost:?}");
    let again = stage.ralph(&["show"]);
    assert_eq!(again.stderr, "");
    assert!(
        again
            .stdout
            .contains("State        lost (exit code 1)\nReason       the runner died: "),
        "{again:?}"
    );
}
