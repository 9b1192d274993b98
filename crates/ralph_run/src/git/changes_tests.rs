//! `changes_since()` against real repositories: what is found, and that nothing of a repository is run, written or left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_api::ChangeKind;
use tempfile::TempDir;

use super::{GitChanges, changes_since};

/// A repository with a commit, and a folder around it.
struct Repository {
    folder: TempDir,
    start: String,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut repository = Self {
            folder,
            start: String::new(),
        };
        fs::create_dir(repository.path("")).unwrap();
        repository.git(&["init", "--quiet"]);
        for (name, text) in files {
            repository.write(name, text);
        }
        repository.start = repository.commit();
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("repository").join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.path(""), arguments)
    }

    fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
        self.git(&["rev-parse", "HEAD"])
    }

    async fn changes(&self) -> GitChanges {
        changes_since(&self.path(""), &self.start, None).await.unwrap()
    }

    /// A file whose existence shows that a program was run.
    fn proof(&self) -> PathBuf {
        self.folder.path().join("proof")
    }
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.invalid"]);
    command.args(arguments).current_dir(folder);
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(name, "/dev/null");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A file with its kind and lines.
type Listed<'a> = (&'a str, ChangeKind, Option<(u32, u32)>);

fn listed(changes: &GitChanges) -> Vec<Listed<'_>> {
    let files = changes.files.iter();
    files
        .map(|file| (file.path.as_str(), file.kind, file.lines))
        .collect()
}

fn diff<'a>(changes: &'a GitChanges, path: &str) -> Option<&'a str> {
    let file = changes.files.iter().find(|file| file.path == path).unwrap();
    file.diff.as_deref()
}

#[tokio::test]
async fn everything_that_differs_from_the_start_is_found_whoever_changed_it() {
    let repository = Repository::new(&[
        ("a.txt", "one\ntwo\n"),
        ("gone.txt", "x\n"),
        ("same.txt", "x\n"),
        ("back.txt", "x\n"),
        (".gitignore", "/target\n"),
    ]);
    repository.write("a.txt", "one\n2\n");
    repository.write("back.txt", "y\n");
    repository.commit();
    repository.write("a.txt", "one\n2\n3\n");
    repository.write("back.txt", "x\n");
    fs::remove_file(repository.path("gone.txt")).unwrap();
    repository.write("staged.txt", "s\n");
    repository.git(&["add", "staged.txt"]);
    repository.write("src/new.txt", "n\nn\n");
    repository.write("empty.txt", "");
    repository.write("target/built", "b\n");
    let changes = repository.changes().await;
    assert!(changes.is_complete);
    assert_eq!(
        listed(&changes),
        [
            ("a.txt", ChangeKind::Modified, Some((2, 1))),
            ("empty.txt", ChangeKind::Added, Some((0, 0))),
            ("gone.txt", ChangeKind::Deleted, Some((0, 1))),
            ("src/new.txt", ChangeKind::Added, Some((2, 0))),
            ("staged.txt", ChangeKind::Added, Some((1, 0))),
        ]
    );
    assert_eq!(
        diff(&changes, "a.txt"),
        Some("@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n")
    );
    assert_eq!(diff(&changes, "src/new.txt"), Some("@@ -0,0 +1,2 @@\n+n\n+n\n"));
    assert_eq!(diff(&changes, "gone.txt"), Some("@@ -1 +0,0 @@\n-x\n"));
    assert_eq!(diff(&changes, "empty.txt"), None);
    let one = changes_since(&repository.path(""), &repository.start, Some("staged.txt")).await;
    assert_eq!(
        listed(&one.unwrap()),
        [("staged.txt", ChangeKind::Added, Some((1, 0)))]
    );
}

#[tokio::test]
async fn a_workspace_in_a_repository_or_a_linked_work_tree_shows_its_own_files() {
    let repository = Repository::new(&[("sub/a", "1\n"), ("other", "1\n")]);
    repository.write("sub/a", "2\n");
    repository.write("sub/b", "2\n");
    repository.write("other", "2\n");
    let changes = changes_since(&repository.path("sub"), &repository.start, None)
        .await
        .unwrap();
    let found: Vec<_> = listed(&changes).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(found, ["a", "b"]);
    let linked = repository.folder.path().join("linked");
    repository.git(&["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    fs::write(linked.join("other"), "3\n").unwrap();
    let changes = changes_since(&linked, &repository.start, None).await.unwrap();
    assert_eq!(listed(&changes), [("other", ChangeKind::Modified, Some((1, 1)))]);
}

#[tokio::test]
async fn without_a_repository_or_the_commit_there_is_no_answer() {
    let repository = Repository::new(&[("a", "1\n")]);
    let outside = tempfile::tempdir().unwrap();
    assert_eq!(changes_since(outside.path(), &repository.start, None).await, None);
    assert_eq!(
        changes_since(&repository.path("none"), &repository.start, None).await,
        None
    );
    let missing = "1".repeat(40);
    for start in [missing.as_str(), "HEAD", "--output=x"] {
        assert_eq!(
            changes_since(&repository.path(""), start, None).await,
            None,
            "{start}"
        );
    }
    for path in ["../a", "/etc/passwd", "", ".git/config"] {
        let changes = changes_since(&repository.path(""), &repository.start, Some(path)).await;
        assert_eq!(changes, None, "{path}");
    }
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    let repository = Repository::new(&[("a", "1\n"), (".gitattributes", "* filter=evil diff=evil\n")]);
    let touch = format!("touch '{}'; cat", repository.proof().display());
    for (name, value) in [
        ("core.fsmonitor", touch.as_str()),
        ("core.pager", &touch),
        ("core.sshCommand", &touch),
        ("core.alternateRefsCommand", &touch),
        ("diff.external", &touch),
        ("diff.evil.command", &touch),
        ("diff.evil.textconv", &touch),
        ("filter.evil.clean", &touch),
        ("filter.evil.smudge", &touch),
        ("filter.evil.required", "true"),
        ("core.worktree", "/"),
    ] {
        // Git itself must not run them here.
        let mut command = Command::new("git");
        command.args(["config", "--file", ".git/config", name, value]);
        assert!(
            command
                .current_dir(repository.path(""))
                .status()
                .unwrap()
                .success()
        );
    }
    let inner = repository.path("inner");
    fs::create_dir(&inner).unwrap();
    git_in(&inner, &["init", "--quiet"]);
    git_in(&inner, &["config", "core.fsmonitor", &touch]);
    for hook in ["post-index-change", "pre-commit", "fsmonitor-watchman"] {
        let hook = repository.path(".git/hooks").join(hook);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, format!("#!/bin/sh\n{touch}\n")).unwrap();
        let mut chmod = Command::new("chmod");
        assert!(chmod.arg("+x").arg(&hook).status().unwrap().success());
    }
    repository.write("a", "2\n");
    repository.write("b", "3\n");
    let before = files_in(&repository.path(".git"));
    let changes = repository.changes().await;
    assert!(!repository.proof().exists());
    assert_eq!(diff(&changes, "a"), Some("@@ -1 +1 @@\n-1\n+2\n"));
    assert_eq!(diff(&changes, "b"), Some("@@ -0,0 +1 @@\n+3\n"));
    // Nor is anything written to it.
    assert_eq!(files_in(&repository.path(".git")), before);
    let mut plain = Command::new("git");
    plain.args(["--work-tree=.", "diff", &repository.start]);
    let _ = plain.current_dir(repository.path("")).output().unwrap();
    assert!(repository.proof().exists(), "git itself runs one");
}

#[tokio::test]
async fn nothing_is_fetched_with_a_program_that_a_repository_names() {
    let repository = Repository::new(&[("a", "1\n")]);
    let config = format!(
        "[core]\nrepositoryformatversion = 1\nsshCommand = touch {}; false\n[extensions]\npartialClone = origin\n\
         [remote \"origin\"]\nurl = ssh://example.invalid/x\npromisor = true\n",
        repository.proof().display()
    );
    fs::write(repository.path(".git/config"), config).unwrap();
    let objects = files_in(&repository.path(".git/objects"));
    for (object, _) in objects {
        fs::remove_file(object).unwrap();
    }
    assert_eq!(
        changes_since(&repository.path(""), &repository.start, None).await,
        None
    );
    assert!(!repository.proof().exists());
}

/// Every file with its content.
fn files_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_in(&path)),
            false => found.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[cfg(unix)]
#[tokio::test]
async fn odd_names_are_names() {
    let names = [
        "-x",
        "a\nb",
        "a\tb",
        "\"q\"",
        "*",
        ":(glob)*",
        "é",
        "a b",
        "\\n",
        "diff --git a",
    ];
    let repository = Repository::new(&names.map(|name| (name, "1\n")));
    for name in names {
        repository.write(name, "1\n2\n");
    }
    repository.write("new\nfile", "x\n");
    let changes = repository.changes().await;
    assert_eq!(changes.files.len(), names.len() + 1);
    for name in names {
        assert_eq!(diff(&changes, name), Some("@@ -1 +1,2 @@\n 1\n+2\n"), "{name:?}");
    }
    assert_eq!(diff(&changes, "new\nfile"), Some("@@ -0,0 +1 @@\n+x\n"));
    let star = changes_since(&repository.path(""), &repository.start, Some("*"))
        .await
        .unwrap();
    assert_eq!(star.files.len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn an_index_cannot_lead_to_files_outside_of_the_work_tree() {
    let repository = Repository::new(&[("aa/secret", "1\n")]);
    fs::write(repository.folder.path().join("secret"), "outside\n").unwrap();
    let index = repository.path(".git/index");
    let mut bytes = fs::read(&index).unwrap();
    let place = bytes.windows(9).position(|bytes| bytes == b"aa/secret").unwrap();
    bytes[place..place + 2].copy_from_slice(b"..");
    fs::write(&index, bytes).unwrap();
    repository.write("aa/secret", "2\n");
    let changes = repository.changes().await;
    assert_eq!(
        listed(&changes),
        [("aa/secret", ChangeKind::Modified, Some((1, 1)))]
    );
    // A link to a folder outside is a link.
    fs::remove_dir_all(repository.path("aa")).unwrap();
    std::os::unix::fs::symlink("..", repository.path("aa")).unwrap();
    let changes = repository.changes().await;
    assert!(
        changes
            .files
            .iter()
            .all(|file| !file.diff.as_deref().unwrap_or_default().contains("outside"))
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_named_pipe_in_the_place_of_a_file_does_not_block() {
    let repository = Repository::new(&[("a", "1\n"), ("b", "1\n")]);
    fs::remove_file(repository.path("a")).unwrap();
    for pipe in ["a", "pipe"] {
        assert!(
            Command::new("mkfifo")
                .arg(repository.path(pipe))
                .status()
                .unwrap()
                .success()
        );
    }
    repository.write("b", "2\n");
    let began = std::time::Instant::now();
    let changes = changes_since(&repository.path(""), &repository.start, None).await;
    assert!(began.elapsed() < super::MAX_DURATION / 2);
    let changes = changes.unwrap();
    assert!(diff(&changes, "b").is_some());
    fs::remove_file(repository.path(".git/index")).unwrap();
    let pipe = Command::new("mkfifo").arg(repository.path(".git/index")).status();
    assert!(pipe.unwrap().success());
    assert!(diff(&repository.changes().await, "b").is_some());
}

#[tokio::test]
async fn what_is_too_much_is_left_out_and_said() {
    let repository = Repository::new(&[("binary", "a"), ("big", "a\n")]);
    repository.write("binary", b"a\0b");
    repository.write("big", "line\n".repeat(300_000));
    repository.write("long", "line\n".repeat(30_000));
    repository.write("short", "line\n");
    let changes = repository.changes().await;
    assert!(changes.is_complete);
    assert_eq!(
        listed(&changes),
        [
            ("big", ChangeKind::Modified, None),
            ("binary", ChangeKind::Modified, None),
            ("long", ChangeKind::Added, Some((30_000, 0))),
            ("short", ChangeKind::Added, Some((1, 0))),
        ]
    );
    assert!(diff(&changes, "long").is_none() && diff(&changes, "short").is_some());
    let long = changes_since(&repository.path(""), &repository.start, Some("long"))
        .await
        .unwrap();
    assert_eq!(diff(&long, "long").unwrap().lines().count(), 30_001);
    for number in 0..1_100 {
        repository.write(&format!("many/{number}"), "x\n");
    }
    let changes = repository.changes().await;
    assert!(!changes.is_complete);
    assert_eq!(changes.files.len(), 1_000);
}
