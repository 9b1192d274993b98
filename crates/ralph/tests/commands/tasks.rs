//! `ralph tasks` in a repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::stage::{Ran, Stage};

struct Repository {
    stage: Stage,
}

impl Repository {
    fn new() -> Self {
        let repository = Self { stage: Stage::new() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["commit", "--quiet", "--allow-empty", "--message=start"]);
        repository
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(arguments)
            .current_dir(self.stage.path("workspace"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.stage.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message=tasks"]);
    }

    fn ralph(&self, args: &[&str]) -> Ran {
        self.stage.ralph(args)
    }

    /// Adds a task, and gives its id.
    fn add(&self, title: &str, args: &[&str]) -> String {
        let mut all = vec!["tasks", "add", title];
        all.extend(args);
        let ran = self.ralph(&all);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout.trim().to_owned()
    }

    fn list(&self) -> Vec<Value> {
        let ran = self.ralph(&["tasks", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        serde_json::from_str(&ran.stdout).unwrap()
    }

    fn column(&self, id: &str) -> String {
        let found = self.list().into_iter().find(|task| task["id"] == id);
        found.unwrap()["column"].as_str().unwrap().to_owned()
    }

    fn file(&self, id: &str) -> std::path::PathBuf {
        let entries = fs::read_dir(self.stage.path("workspace/ralph/tasks")).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths
            .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(id))
            .unwrap()
    }
}

/// Ids differ from run to run.
fn masked(text: &str, ids: &[(&str, &str)]) -> String {
    ids.iter()
        .fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
}

#[test]
fn tasks_are_added_listed_as_a_tree_and_explained() {
    let repository = Repository::new();
    let empty = repository.ralph(&["tasks"]);
    assert_eq!(
        empty.stdout,
        "There are no tasks yet; `ralph tasks add TITLE` writes one, `ralph plan` several.\n"
    );
    let dates = repository.add("Dates", &["--body", "All about dates."]);
    let parse = repository.add("Parse dates", &["--parent", &dates, "--touches", "src/date/**"]);
    let zones = repository.add(
        "Time zones",
        &["--parent", &dates, "--depends-on", &parse, "--priority", "4"],
    );
    let docs = repository.add("Write docs: part 1", &["--priority", "0"]);
    let names = [
        (dates.as_str(), "dates"),
        (parse.as_str(), "parse"),
        (zones.as_str(), "zones"),
        (docs.as_str(), "docs."),
    ];
    let uncommitted = repository.ralph(&["tasks", "--ready"]);
    assert_eq!(
        uncommitted.stdout,
        "No task can start; `ralph tasks --why` says why.\n"
    );
    repository.commit();
    let tree = repository.ralph(&["tasks", "--why"]);
    insta::assert_snapshot!(masked(&tree.stdout, &names), @r"
    docs.  ready    Write docs: part 1
    dates  todo     Dates
                    done when its 2 open subtasks are
    parse  ready      Parse dates
    zones  todo       Time zones
                      waits for parse

    1 todo, 2 ready
    ");
    let ready = repository.ralph(&["tasks", "--ready"]);
    insta::assert_snapshot!(masked(&ready.stdout, &names), @r"
    docs.  ready    Write docs: part 1
    parse  ready    Parse dates
    ");
    let shown = repository.ralph(&["tasks", "show", &zones]);
    insta::assert_snapshot!(masked(&shown.stdout, &names), @r"
    zones  Time zones
      state       todo
      why         waits for parse
      file        ralph/tasks/zones-time-zones.md
      priority    4
      parent      dates
      depends on  parse
    ");
}

#[test]
fn done_counts_for_others_once_it_is_committed() {
    let repository = Repository::new();
    let first = repository.add("First", &[]);
    let second = repository.add("Second", &["--depends-on", &first]);
    repository.commit();
    let done = repository.ralph(&["tasks", "done", &first]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(repository.column(&second), "todo");
    let why = repository.ralph(&["tasks", "--why"]).stdout;
    assert!(
        why.contains(&format!("waits for {first} (done, but not committed)")),
        "{why}"
    );
    repository.commit();
    assert_eq!(repository.column(&second), "ready");
    let all = repository.ralph(&["tasks", "--all"]).stdout;
    assert!(all.contains(&format!("{first}  done     First")), "{all}");
}

#[test]
fn a_task_is_blocked_with_a_reason_and_unblocked() {
    let repository = Repository::new();
    let id = repository.add("First", &[]);
    let text = fs::read_to_string(repository.file(&id)).unwrap();
    let commented = text.replace("status: todo", "status: todo  # for now");
    fs::write(repository.file(&id), &commented).unwrap();
    repository.commit();
    let blocked = repository.ralph(&["tasks", "block", &id, "--why", "no answer: ask again"]);
    assert_eq!(blocked.code, Some(0), "{blocked:?}");
    let tree = repository.ralph(&["tasks"]).stdout;
    assert!(
        tree.contains("blocked  First\n                no answer: ask again\n"),
        "{tree}"
    );
    assert!(
        fs::read_to_string(repository.file(&id))
            .unwrap()
            .contains("status: blocked  # for now\n")
    );
    repository.ralph(&["tasks", "unblock", &id]);
    assert_eq!(fs::read_to_string(repository.file(&id)).unwrap(), commented);
    assert_eq!(repository.column(&id), "ready");
}

#[test]
fn a_worktree_and_a_folder_use_the_tasks_of_the_main_checkout() {
    let repository = Repository::new();
    let id = repository.add("First", &[]);
    repository.commit();
    repository.git(&["worktree", "add", "--quiet", "../other"]);
    fs::create_dir_all(repository.stage.path("workspace/src/deep")).unwrap();
    for (number, folder) in ["other", "workspace/src/deep"].into_iter().enumerate() {
        let mut command = repository
            .stage
            .command(&["tasks", "add", &format!("From {number}")]);
        let added = command
            .current_dir(repository.stage.path(folder))
            .output()
            .unwrap();
        assert!(added.status.success(), "{added:?}");
    }
    assert_eq!(repository.list().len(), 3);
    let other = repository.stage.path("other/ralph/tasks");
    assert_eq!(
        fs::read_dir(&other).unwrap().count(),
        1,
        "the worktree has only {id}"
    );
}

#[test]
fn check_prints_file_and_line_and_fails() {
    let repository = Repository::new();
    let id = repository.add("First", &[]);
    let fine = repository.ralph(&["tasks", "check"]);
    assert_eq!(
        (fine.code, fine.stdout.as_str()),
        (Some(0), "1 task, no problems\n")
    );
    let write = |name: &str, text: &str| {
        fs::write(repository.stage.path("workspace/ralph/tasks").join(name), text).unwrap();
    };
    write("bbbbb-warned.md", "---\nid: bbbbb\ntitle: T\nstatsu: done\n---\n");
    let warned = repository.ralph(&["tasks", "check"]);
    assert_eq!(warned.code, Some(0), "{warned:?}");
    write(
        "ccccc-conflict.md",
        "---\nid: ccccc\n<<<<<<< HEAD\ntitle: \u{1b}[2J\n---\n",
    );
    write(
        "ddddd-unknown.md",
        &format!("---\nid: ddddd\ntitle: T\ndepends_on: [{id}, zzzzz]\n---\n"),
    );
    let broken = repository.ralph(&["tasks", "check"]);
    assert_eq!(broken.code, Some(1), "{broken:?}");
    insta::assert_snapshot!(broken.stdout.replace(&id, "aaaaa"), @r"
    ralph/tasks/bbbbb-warned.md:4:1: warning: unknown field `statsu`, did you mean `status`?
    ralph/tasks/ccccc-conflict.md:3:1: unresolved merge conflict: keep one side and remove the markers
    ralph/tasks/ddddd-unknown.md:4:21: `depends_on` names `zzzzz`, but there is no such task
    ");
    let listed = repository.ralph(&["tasks"]);
    assert_eq!(
        listed.stderr,
        "warning: task files have 2 errors; `ralph tasks check` shows them\n"
    );
}

#[test]
fn a_change_that_breaks_the_backlog_is_refused() {
    let repository = Repository::new();
    let first = repository.add("First", &[]);
    let second = repository.add("Second", &["--depends-on", &first]);
    let before = fs::read_to_string(repository.file(&first)).unwrap();
    let cycle = repository.ralph(&["tasks", "edit", &first, "--depends-on", &second]);
    assert_eq!(cycle.code, Some(64), "{cycle:?}");
    assert!(
        cycle
            .stderr
            .contains("nothing was written: these tasks wait for each other"),
        "{cycle:?}"
    );
    let outside = repository.ralph(&["tasks", "add", "Third", "--touches", "/etc/*"]);
    assert_eq!(outside.code, Some(64), "{outside:?}");
    let unknown = repository.ralph(&["tasks", "add", "Third", "--parent", "zzzzz"]);
    assert_eq!(
        unknown.stderr,
        "ralph: there is no task `zzzzz`; `ralph tasks` lists them\n"
    );
    let parent = repository.add("Part", &["--parent", &first]);
    let done = repository.ralph(&["tasks", "done", &first]);
    assert!(done.stderr.contains("has subtasks"), "{done:?}");
    assert_eq!(fs::read_to_string(repository.file(&first)).unwrap(), before);
    let moved = repository.ralph(&[
        "tasks", "edit", &parent, "--parent", "", "--title", "Own", "--body", "New.",
    ]);
    assert_eq!(moved.code, Some(0), "{moved:?}");
    let text = fs::read_to_string(repository.file(&parent)).unwrap();
    assert_eq!(
        text,
        format!("---\nid: {parent}\ntitle: Own\nstatus: todo\n---\n\nNew.\n")
    );
}

#[test]
fn an_editor_changes_the_file_and_what_is_wrong_then_is_said() {
    let repository = Repository::new();
    let id = repository.add("First", &[]);
    let edit = |editor: &str| {
        let mut command = repository.stage.command(&["tasks", "edit", &id]);
        let output = command.env("EDITOR", editor).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(edit("/bin/sed -i s/First/Changed/"), (Some(0), String::new()));
    assert_eq!(repository.list()[0]["title"], "Changed");
    let (code, said) = edit("/bin/sed -i s/todo/later/");
    assert_eq!(code, Some(0));
    assert!(
        said.contains(":4:9: `status` must be one of todo, blocked, done, not `later`"),
        "{said}"
    );
    assert_eq!(
        edit("/bin/sed -i s/later/todo/").0,
        Some(0),
        "a broken file can be repaired"
    );
    assert_eq!(repository.list().len(), 1);
    assert_eq!(edit("/bin/false").0, Some(1));
}

#[test]
fn an_agent_can_read_the_tasks_and_not_change_them() {
    let repository = Repository::new();
    let id = repository.add("First", &[]);
    let in_run = |args: &[&str]| {
        let mut command = repository.stage.command(args);
        command
            .env("RALPH_RUN_ID", "20261115-235959-g4k7m2xq")
            .output()
            .unwrap()
    };
    assert!(in_run(&["tasks", "show", &id]).status.success());
    for args in [
        &["tasks", "done", &id][..],
        &["tasks", "add", "More"],
        &["plan", "-p", "More", "--yes"],
    ] {
        let refused = in_run(args);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(78), "{said}");
        assert!(said.contains("an agent cannot change tasks"), "{said}");
    }
    assert_eq!(repository.list().len(), 1);
}

#[test]
fn a_verify_command_counts_only_as_it_was_committed() {
    let repository = Repository::new();
    let id = repository.add("First", &["--verify", "make test"]);
    let show = || repository.ralph(&["tasks", "show", &id]).stdout;
    let uncommitted = "  uncommitted verify: make test (does not count until it is committed)\n";
    assert!(show().contains(uncommitted), "{}", show());
    repository.commit();
    assert!(
        show().contains("  verify      make test\n") && !show().contains("uncommitted"),
        "{}",
        show()
    );
    repository.ralph(&["tasks", "edit", &id, "--verify", "true"]);
    let shown = show();
    assert!(
        shown.contains("  verify      make test\n  uncommitted verify: true"),
        "{shown}"
    );
    repository.ralph(&["tasks", "edit", &id, "--verify", ""]);
    assert!(
        show().contains("  uncommitted none of these (does not"),
        "{}",
        show()
    );
}

#[test]
fn a_claim_is_shown_and_protects_the_task() {
    let repository = Repository::new();
    let id = repository.add("First", &["--verify", "make test"]);
    repository.commit();
    let claims = repository.stage.path("state/ralph/tasks");
    assert!(!claims.exists(), "reading writes nothing");
    let folder = claims.join(repository_id(&repository.stage.path("workspace/.git")));
    fs::create_dir_all(&folder).unwrap();
    let claim = |state: &str, failures: &str| {
        let text = format!(
            r#"{{"version": 1, "task": "{id}", "state": "{state}", "attempt": 2, "run": "20261115-235959-g4k7m2xq",
                "agent": "worker", "failures": [{failures}], "since": "2026-11-15T23:59:59Z"}}"#
        );
        fs::write(folder.join(format!("{id}.json")), text).unwrap();
    };
    claim("doing", "");
    assert_eq!(repository.column(&id), "doing");
    let shown = repository.ralph(&["tasks", "show", &id]).stdout;
    assert!(
        shown.contains("  verify      make test\n  run         g4k7m2xq by worker, attempt 2\n"),
        "{shown}"
    );
    let done = repository.ralph(&["tasks", "done", &id]);
    assert_eq!(done.code, Some(64), "{done:?}");
    assert!(done.stderr.contains("`ralph stop g4k7m2xq` ends it"), "{done:?}");
    let file = repository.file(&id);
    let text = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let without_file = repository.ralph(&["tasks"]);
    assert_eq!(
        without_file.stderr,
        format!("warning: run g4k7m2xq has task {id}, whose file is missing or has errors\n")
    );
    fs::write(&file, text).unwrap();
    claim("review", "");
    let done = repository.ralph(&["tasks", "done", &id]);
    assert!(done.stderr.contains("waits to be merged"), "{done:?}");
    let failure =
        r#"{"run": "r", "attempt": 1, "at": "2026-11-15T23:59:59Z", "evidence": "error: it broke"}"#;
    claim("released", &format!("{failure}, {failure}"));
    let tree = repository.ralph(&["tasks"]).stdout;
    assert!(
        tree.contains("failed 2 times, last with: error: it broke"),
        "{tree}"
    );
    let unblocked = repository.ralph(&["tasks", "unblock", &id]);
    assert_eq!(unblocked.stderr, format!("ralph: {id} can be tried again\n"));
    assert_eq!(repository.column(&id), "ready");
}

/// As ADR 18 has it: a digest of the path of the common git directory.
fn repository_id(git: &Path) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(git.as_os_str().as_encoded_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
