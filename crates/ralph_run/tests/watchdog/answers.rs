//! The same answer in several iterations.

use agent_api::ToolStatus;
use ralph_run::watchdog::{WatchAction, WatchRules};
use ralph_run::{IterationOutcome, WarningKind};

use crate::stage::{Stage, WORKSPACE};

use IterationOutcome::{Completed, Continues, VerifyFailed};

#[test]
fn two_iterations_with_the_same_answer_and_no_change_are_found() {
    let mut stage = Stage::new(WatchRules::default());
    stage.end_iteration("All done.\nLOOP_COMPLETE", VerifyFailed);
    stage.begin_iteration();
    stage.command("sleep 321", ToolStatus::Failed, "blocked");
    stage.end_iteration("All done.  LOOP_COMPLETE\n", VerifyFailed);
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(finding.kind, WarningKind::RepeatedAnswer);
    assert_eq!(
        finding.message,
        "2 iterations in a row ended with the same answer and changed no file"
    );
    assert_eq!(finding.evidence.len(), 2);
    assert_eq!(finding.evidence[1].text, "iteration 2: All done. LOOP_COMPLETE");
    // Once, however long it lasts.
    for _ in 0..5 {
        stage.begin_iteration();
        stage.end_iteration("All done. LOOP_COMPLETE", VerifyFailed);
    }
    assert_eq!(stage.kinds(), []);
}

#[test]
fn a_changed_file_another_answer_or_an_end_is_normal() {
    let mut stage = Stage::new(WatchRules::default());
    for number in 0..4 {
        stage.edit("src/lib.rs", &format!("{number}"), &format!("{}", number + 1));
        stage.end_iteration("One step done.", Continues);
        stage.begin_iteration();
    }
    for number in 0..4 {
        stage.end_iteration(&format!("Step {number}."), Continues);
        stage.begin_iteration();
    }
    stage.end_iteration("Done.", Continues);
    stage.begin_iteration();
    stage.end_iteration("Done.", Completed);
    assert_eq!(stage.kinds(), []);
}

#[test]
fn commands_may_change_something_so_one_more_answer_is_needed() {
    let mut stage = Stage::new(WatchRules::default());
    for number in 1..=3 {
        assert_eq!(stage.take(), [], "{number}");
        stage.command("./migrate --next", ToolStatus::Completed, "ok");
        stage.end_iteration("Done.", Continues);
        stage.begin_iteration();
    }
    assert_eq!(stage.kinds(), [WarningKind::RepeatedAnswer]);
}

#[test]
fn an_answer_is_found_although_only_some_iterations_ran_commands() {
    for commands in [[false, true, false], [true, false, false], [true, true, false]] {
        let mut stage = Stage::new(WatchRules::default());
        for has_command in commands {
            assert_eq!(stage.take(), [], "{commands:?}");
            if has_command {
                stage.command("./migrate --next", ToolStatus::Completed, "ok");
            }
            stage.end_iteration("Done.", Continues);
            stage.begin_iteration();
        }
        assert_eq!(stage.kinds(), [WarningKind::RepeatedAnswer], "{commands:?}");
        // Once, whatever follows.
        for has_command in [true, false, true] {
            if has_command {
                stage.command("./migrate --next", ToolStatus::Completed, "ok");
            }
            stage.end_iteration("Done.", Continues);
            stage.begin_iteration();
        }
        assert_eq!(stage.kinds(), [], "{commands:?}");
    }
}

#[test]
fn an_iteration_that_changed_a_file_is_not_one_of_those_that_did_not() {
    let mut stage = Stage::new(WatchRules::default());
    stage.edit("src/lib.rs", "0", "1");
    stage.end_iteration("Done.", Continues);
    stage.begin_iteration();
    stage.end_iteration("Done.", Continues);
    assert_eq!(stage.kinds(), []);
    stage.begin_iteration();
    stage.end_iteration("Done.", Continues);
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(finding.evidence[0].text, "iteration 2: Done.");
}

#[test]
fn each_role_has_its_own_answers_and_a_change_of_one_counts_for_all() {
    let mut stage = Stage::new(WatchRules::default());
    let play = |stage: &mut Stage, role: &str, changes: bool| {
        stage.begin_iteration_of(Some(role));
        if changes {
            stage.edit("src/lib.rs", "0", "1");
        }
        stage.end_iteration(&format!("Nothing left for the {role}."), Continues);
    };
    for changes in [true, true, false] {
        play(&mut stage, "planner", false);
        play(&mut stage, "builder", changes);
        assert_eq!(stage.kinds(), []);
    }
    play(&mut stage, "planner", false);
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(
        finding.message,
        "2 iterations of `planner` in a row ended with the same answer and changed no file"
    );
}

#[test]
fn notes_in_our_own_folder_are_not_a_change() {
    for path in [
        ".ralph/scratchpad.md".to_owned(),
        format!("{WORKSPACE}/.ralph/scratchpad.md"),
    ] {
        let mut stage = Stage::new(WatchRules::default());
        for number in 0..2 {
            stage.write(&path, &format!("Iteration {number}: nothing left to do."));
            stage.end_iteration("Done.", Continues);
            stage.begin_iteration();
        }
        assert_eq!(stage.kinds(), [WarningKind::RepeatedAnswer], "{path}");
    }
}

#[test]
fn a_path_that_only_looks_like_our_folder_is_a_change() {
    for path in [
        "src/.ralph/notes.md",
        ".ralph/../src/lib.rs",
        "my.ralph/notes.md",
        "/elsewhere/.ralph/notes.md",
    ] {
        let mut rules = WatchRules::default();
        rules.out_of_scope.action = WatchAction::Off;
        let mut stage = Stage::new(rules);
        for number in 0..2 {
            stage.write(path, &format!("{number}"));
            stage.end_iteration("Done.", Continues);
            stage.begin_iteration();
        }
        assert_eq!(stage.kinds(), [], "{path}");
    }
}
