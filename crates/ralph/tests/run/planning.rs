//! `ralph plan` with a scripted planner.

use std::fs;

use serde_json::Value;

use crate::stage::{Ran, Stage, says};
use crate::terminal::Terminal;

const PLAN: &str = r#"I read the repository.

```json
{"tasks": [
  {"key": "dates", "title": "Dates", "body": "A group."},
  {"key": "iso", "title": "Parse ISO dates", "body": "Done when tests pass.", "parent": "dates", "touches": ["src/date/**"]},
  {"key": "zones", "title": "Time zones", "parent": "dates", "depends_on": ["iso"], "priority": 1}
]}
```"#;

fn plan(stage: &Stage, args: &[&str]) -> Ran {
    let mut all = vec!["plan"];
    all.extend(args);
    Ran::of(&stage.ralph(&all).output().unwrap())
}

fn files(stage: &Stage) -> Vec<String> {
    let Ok(entries) = fs::read_dir(stage.workspace().join("ralph/tasks")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_by_key(|name| name.split_once('-').map(|(_, slug)| slug.to_owned()));
    names
}

#[test]
fn a_plan_that_fits_is_shown_and_written() {
    let stage = Stage::new(&says(PLAN));
    let planned = plan(&stage, &["-p", "Support dates.", "--yes"]);
    assert_eq!(planned.code, Some(0), "{planned:?}");
    let (_, tree) = planned.stdout.split_once("Proposed: 3 tasks\n\n").unwrap();
    let files = files(&stage);
    let masked = ["dates", "parse", "zones"]
        .iter()
        .zip(&files)
        .fold(tree.to_owned(), |tree, (name, file)| {
            tree.replace(&file[..5], name)
        });
    insta::assert_snapshot!(masked, @r"
    dates  Dates
           | A group.
      zones  Time zones
             waits for parse
             priority 1
      parse  Parse ISO dates
             touches src/date/**
             | Done when tests pass.
    ");
    let slugs: Vec<&str> = files.iter().map(|name| &name[5..]).collect();
    assert_eq!(slugs, ["-dates.md", "-parse-iso-dates.md", "-time-zones.md"]);
    let text = fs::read_to_string(stage.workspace().join("ralph/tasks").join(&files[1])).unwrap();
    assert!(
        text.contains("touches: [src/date/**]\n---\n\nDone when tests pass.\n"),
        "{text}"
    );
    let checked = Ran::of(&stage.ralph(&["tasks", "check"]).output().unwrap());
    assert_eq!(checked.stdout, "3 tasks, no problems\n");
    // The run is one like any other.
    let file = stage.run_file();
    assert_eq!(
        (file["mode"].as_str(), file["status"]["state"].as_str()),
        (Some("planner"), Some("ended"))
    );
}

#[test]
fn a_plan_that_does_not_fit_is_explained_and_nothing_is_written() {
    let answer = r#"{"tasks": [{"key": "a", "title": "A", "depends_on": ["b"], "verify": ["make"]}]}"#;
    let stage = Stage::new(&says(answer));
    fs::write(stage.path("work.md"), "Do it.").unwrap();
    let file = stage.path("work.md");
    let refused = plan(&stage, &[file.to_str().unwrap(), "--yes", "-q"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("so no tasks were written"), "{refused:?}");
    assert!(
        refused.stderr.contains("`verify` can only be set by a person"),
        "{refused:?}"
    );
    assert!(
        refused
            .stderr
            .contains("neither a key of this plan nor an existing task"),
        "{refused:?}"
    );
    assert_eq!(files(&stage), Vec::<String>::new());
}

#[test]
fn a_red_base_can_be_planned_for() {
    let stage = Stage::new(&says(PLAN));
    let settings = stage.workspace().join("ralph.yml");
    let before = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("{before}verify: [\"false\"]\n")).unwrap();
    let planned = plan(&stage, &["-p", "Repair the build.", "--yes", "--trust"]);
    assert_eq!(planned.code, Some(0), "{planned:?}");
    assert_eq!(files(&stage).len(), 3);
}

#[test]
fn without_a_terminal_a_plan_needs_yes_before_anything_runs() {
    let stage = Stage::new(&says(PLAN));
    let refused = plan(&stage, &["-p", "Support dates."]);
    assert_eq!(refused.code, Some(64), "{refused:?}");
    assert!(refused.stderr.contains("add `--yes`"), "{refused:?}");
    let missing = plan(&stage, &["no-such-file.md", "--yes"]);
    assert!(missing.stderr.contains("cannot read `"), "{missing:?}");
    assert!(stage.runs().is_empty());
}

#[test]
fn in_a_terminal_a_plan_is_written_only_when_it_is_accepted() {
    let stage = Stage::new(&says(PLAN));
    for (answer, code, count) in [("n\r", 1, 0), ("\r", 1, 0), ("y\r", 0, 3)] {
        let mut terminal = Terminal::ralph(&stage, &["plan", "-p", "Support dates."]);
        terminal.wait_for("Write 3 tasks? [y/N]");
        assert_eq!(files(&stage).len(), 0, "nothing is written before the answer");
        terminal.press(answer);
        assert_eq!(terminal.wait().code(), Some(code));
        assert_eq!(files(&stage).len(), count, "{answer:?}");
    }
}

#[test]
fn programs_get_the_plan_as_the_last_line_of_json() {
    let stage = Stage::new(&says(PLAN));
    let planned = plan(&stage, &["-p", "Support dates.", "--yes", "--output", "json"]);
    assert_eq!(planned.code, Some(0), "{planned:?}");
    let last: Value = serde_json::from_str(planned.stdout.lines().last().unwrap()).unwrap();
    let proposed = last["proposed"].as_array().unwrap();
    assert_eq!(proposed[1]["title"], "Parse ISO dates");
    assert_eq!(proposed[1]["parent"], proposed[0]["id"]);
    assert!(
        stage
            .workspace()
            .join(proposed[1]["file"].as_str().unwrap())
            .is_file()
    );
}
