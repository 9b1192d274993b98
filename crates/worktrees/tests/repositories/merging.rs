//! Merging: what arrives in the base, and that nothing else changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use worktrees::{Error, HookError, MergeHooks, MergeOutcome, MergeRequest, Merged, Verification};

use crate::stage::{Stage, named, write};

pub(crate) struct Unchecked;

#[async_trait]
impl MergeHooks for Unchecked {
    async fn verify(&mut self, _: &Path, _: &str) -> Result<Verification, HookError> {
        Ok(Verification::Unverified)
    }
}

pub(crate) fn unverified() -> MergeRequest {
    MergeRequest {
        allows_unverified: true,
        ..MergeRequest::default()
    }
}

/// Hooks that edit a file, note what was verified, and do something in the middle.
#[derive(Default)]
struct Hooks {
    edit: Option<(&'static str, &'static str)>,
    fails: bool,
    seen: Vec<(String, BTreeMap<PathBuf, String>)>,
    meanwhile: Option<Box<dyn FnMut() + Send>>,
}

#[async_trait]
impl MergeHooks for Hooks {
    async fn edit(&mut self, folder: &Path) -> Result<Option<String>, HookError> {
        let Some((name, text)) = self.edit else {
            return Ok(None);
        };
        write(&folder.join(name), text);
        Ok(Some(format!("Edit {name}")))
    }

    async fn verify(&mut self, folder: &Path, commit: &str) -> Result<Verification, HookError> {
        self.seen.push((commit.to_owned(), files(folder)));
        // A check may leave anything behind.
        write(&folder.join("leftover"), "x");
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile();
        }
        Ok(match self.fails {
            true => Verification::Failed {
                summary: "2 tests failed".to_owned(),
            },
            false => Verification::Passed,
        })
    }
}

/// The files below a folder with their content, without git's.
pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), text);
            }
        }
    }
    found
}

pub(crate) fn merged(outcome: Result<MergeOutcome, Error>) -> Merged {
    match outcome {
        Ok(MergeOutcome::Merged(merged)) => merged,
        other => unreachable!("{other:?}"),
    }
}

pub(crate) async fn with_commit(stage: &Stage, name: &str, file: &str, text: &str) -> PathBuf {
    let worktree = stage.create(name).await.worktree;
    write(&worktree.path.join(file), text);
    stage.commit_in(&worktree.path, name);
    worktree.path
}

#[tokio::test]
async fn the_base_becomes_exactly_the_commit_that_was_verified_with_the_edit_in_it() {
    let stage = Stage::new();
    with_commit(&stage, "fix", "new.txt", "new\n").await;
    stage.write("base.txt", "moved on\n");
    stage.commit("Base moved on");
    let repository = stage.repository().await;
    let mut hooks = Hooks {
        edit: Some(("done.txt", "done\n")),
        ..Hooks::default()
    };
    let outcome = repository
        .merge(&named("fix"), &MergeRequest::default(), &mut hooks)
        .await;
    let merged = merged(outcome);
    assert_eq!(hooks.seen.len(), 1);
    let (commit, seen) = &hooks.seen[0];
    assert_eq!(Some(commit), stage.tip("main").as_ref());
    assert_eq!(&merged.commit, commit);
    assert_eq!((merged.commits, merged.is_verified), (2, true));
    for (name, text) in [
        ("new.txt", "new\n"),
        ("base.txt", "moved on\n"),
        ("done.txt", "done\n"),
    ] {
        assert_eq!(seen.get(Path::new(name)).map(String::as_str), Some(text));
        assert_eq!(stage.read(name), text);
    }
    assert_eq!(merged.advanced, Some(stage.checkout()));
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    assert!(!stage.checkout().join("leftover").exists());
    assert_eq!(
        stage.git(&["worktree", "list"]).lines().count(),
        2,
        "the folder of the merge is gone"
    );
    let record = repository.worktree(&named("fix")).unwrap().merged.unwrap();
    assert_eq!((record.into.as_str(), &record.commit), ("main", commit));
    let again = repository
        .merge(&named("fix"), &MergeRequest::default(), &mut hooks)
        .await
        .unwrap();
    assert_eq!(
        again,
        MergeOutcome::AlreadyMerged {
            into: "main".to_owned()
        }
    );
}

#[tokio::test]
async fn a_conflict_or_a_failing_check_leaves_everything_as_it_was() {
    let stage = Stage::new();
    with_commit(&stage, "fix", "a.txt", "theirs\n").await;
    with_commit(&stage, "other", "c.txt", "c\n").await;
    stage.write("a.txt", "ours\n");
    stage.commit("Ours");
    stage.write("draft", "draft\n");
    let repository = stage.repository().await;
    let before = (
        stage.git(&["for-each-ref"]),
        files(&stage.checkout()),
        stage.git(&["status", "--porcelain"]),
    );
    let outcome = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await
        .unwrap();
    let conflict = MergeOutcome::Conflict {
        into: "main".to_owned(),
        files: vec!["a.txt".into()],
    };
    assert_eq!(outcome, conflict);
    let mut failing = Hooks {
        fails: true,
        edit: Some(("done.txt", "done\n")),
        ..Hooks::default()
    };
    let outcome = repository
        .merge(&named("other"), &MergeRequest::default(), &mut failing)
        .await
        .unwrap();
    assert!(matches!(outcome, MergeOutcome::VerifyFailed { summary, .. } if summary == "2 tests failed"));
    let after = (
        stage.git(&["for-each-ref"]),
        files(&stage.checkout()),
        stage.git(&["status", "--porcelain"]),
    );
    assert_eq!(before, after);
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 3);
}

#[tokio::test]
async fn a_merge_that_nothing_checks_needs_to_be_asked_for() {
    let stage = Stage::new();
    with_commit(&stage, "fix", "c.txt", "c\n").await;
    let repository = stage.repository().await;
    let tip = stage.tip("main");
    let refused = repository
        .merge(&named("fix"), &MergeRequest::default(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Unverified), "{refused}");
    assert_eq!(stage.tip("main"), tip);
    assert!(
        !merged(
            repository
                .merge(&named("fix"), &unverified(), &mut Unchecked)
                .await
        )
        .is_verified
    );
}

#[tokio::test]
async fn changes_of_the_user_are_kept_to_the_byte_over_many_merges() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    stage.write("b.txt", "staged by the user\n");
    stage.git(&["add", "b.txt"]);
    stage.write("b.txt", "and changed again\r\n");
    stage.write("draft/x", "untracked\n");
    stage.write(".env", "ignored\n");
    stage.write("gone", "staged, then removed\n");
    stage.git(&["add", "gone"]);
    fs::remove_file(stage.checkout().join("gone")).unwrap();
    let user = |stage: &Stage| {
        let mut files = files(&stage.checkout());
        files.retain(|path, _| !path.starts_with("made"));
        let status = stage.git(&["status", "--porcelain", "--untracked-files=all"]);
        let staged = stage.git(&["diff", "--cached"]);
        (files, status, staged)
    };
    let before = user(&stage);
    for number in 0..30 {
        let name = format!("task-{number}");
        with_commit(&stage, &name, &format!("made/{number}"), "made\n").await;
        let merged = merged(
            repository
                .merge(&named(&name), &unverified(), &mut Unchecked)
                .await,
        );
        assert_eq!(merged.advanced, Some(stage.checkout()));
        repository
            .remove(&named(&name), worktrees::RemoveMode::KeepWork)
            .await
            .unwrap();
    }
    assert_eq!(user(&stage), before);
    assert_eq!(files(&stage.checkout().join("made")).len(), 30);
    assert_eq!(stage.git(&["rev-list", "--count", "main"]), "31");
}

#[tokio::test]
async fn a_checkout_of_another_branch_is_not_touched_at_all() {
    let stage = Stage::new();
    with_commit(&stage, "fix", "a.txt", "fixed\n").await;
    stage.git(&["switch", "--quiet", "--create", "mine"]);
    stage.write("a.txt", "dirty\n");
    let repository = stage.repository().await;
    let index = || fs::read(stage.checkout().join(".git/index")).unwrap();
    let before = (files(&stage.checkout()), index());
    let merged = merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(merged.advanced, None);
    assert_eq!((files(&stage.checkout()), index()), before);
    assert_eq!(stage.tip("main"), Some(merged.commit));
    assert_eq!(stage.git(&["branch", "--show-current"]), "mine");
}

#[tokio::test]
async fn a_merge_that_would_change_what_the_user_changed_is_refused_with_what_to_do() {
    for (file, how) in [
        ("a.txt", "changed"),
        ("new.txt", "untracked"),
        (".env", "ignored"),
        ("dir/x", "a file"),
    ] {
        let stage = Stage::new();
        with_commit(&stage, "fix", file, "theirs\n").await;
        let worktree = stage.repository().await.worktree(&named("fix")).unwrap();
        stage.git_in(&worktree.path, &["add", "--force", file]);
        stage.git_in(
            &worktree.path,
            &["commit", "--quiet", "--allow-empty", "-m", "Add"],
        );
        let mine = if file == "dir/x" { "dir" } else { file };
        stage.write(mine, "mine\n");
        let tip = stage.tip("main");
        let repository = stage.repository().await;
        let refused = repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await
            .unwrap_err();
        assert!(
            matches!(&refused, Error::CheckoutChanged { .. }),
            "{how}: {refused}"
        );
        assert!(
            refused.to_string().contains(mine) && refused.to_string().contains("stash push"),
            "{refused}"
        );
        assert_eq!(stage.read(mine), "mine\n");
        assert_eq!(stage.tip("main"), tip);
    }
    let stage = Stage::new();
    with_commit(&stage, "fix", "a.txt", "theirs\n").await;
    stage.git(&["update-index", "--assume-unchanged", "a.txt"]);
    stage.write("a.txt", "hidden\n");
    let repository = stage.repository().await;
    let refused = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(matches!(&refused, Error::CheckoutChanged { .. }), "{refused}");
    assert_eq!(stage.read("a.txt"), "hidden\n");
}

#[tokio::test]
async fn a_base_that_moves_meanwhile_is_merged_with_and_verified_again() {
    let stage = Stage::new();
    with_commit(&stage, "fix", "new.txt", "new\n").await;
    stage.git(&["switch", "--quiet", "--detach"]);
    let (folder, variables) = (stage.checkout(), stage.variables());
    let mut moves = 0;
    let meanwhile = move || {
        if moves == 1 {
            return;
        }
        moves += 1;
        let tree = "main^{tree}";
        let git = |arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.args(arguments)
                .current_dir(&folder)
                .env_clear()
                .envs(variables.clone());
            String::from_utf8(git.output().unwrap().stdout)
                .unwrap()
                .trim()
                .to_owned()
        };
        let commit = git(&["commit-tree", "-p", "main", "-m", "Meanwhile", tree]);
        git(&["update-ref", "refs/heads/main", &commit]);
    };
    let mut hooks = Hooks {
        meanwhile: Some(Box::new(meanwhile)),
        ..Hooks::default()
    };
    let repository = stage.repository().await;
    let merged = merged(
        repository
            .merge(&named("fix"), &MergeRequest::default(), &mut hooks)
            .await,
    );
    assert_eq!(hooks.seen.len(), 2);
    assert_eq!(hooks.seen[1].0, merged.commit);
    assert_eq!(
        stage.git(&["log", "--format=%s", "main"]),
        "fix\nMeanwhile\nBegin"
    );
}

#[tokio::test]
async fn merges_into_one_branch_wait_for_each_other() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let names: Vec<String> = (0..8).map(|number| format!("task-{number}")).collect();
    for name in &names {
        with_commit(&stage, name, name, "x\n").await;
    }
    let merging: Vec<_> = names
        .iter()
        .map(|name| {
            let (repository, name) = (repository.clone(), named(name));
            tokio::spawn(async move {
                repository
                    .merge(&name, &MergeRequest::default(), &mut Hooks::default())
                    .await
            })
        })
        .collect();
    for outcome in merging {
        merged(outcome.await.unwrap());
    }
    assert!(names.iter().all(|name| stage.checkout().join(name).exists()));
    assert_eq!(stage.git(&["rev-list", "--count", "main"]), "9");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_base_that_is_gone_or_was_never_a_branch_is_refused_and_another_can_be_named() {
    let stage = Stage::new();
    stage.git(&["switch", "--quiet", "--create", "topic"]);
    with_commit(&stage, "fix", "c.txt", "c\n").await;
    stage.git(&["switch", "--quiet", "main"]);
    stage.git(&["branch", "-D", "--quiet", "topic"]);
    let repository = stage.repository().await;
    let refused = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::BaseGone(_)), "{refused}");
    let into = MergeRequest {
        into: Some("main".to_owned()),
        ..unverified()
    };
    assert_eq!(
        merged(repository.merge(&named("fix"), &into, &mut Unchecked).await).into,
        "main"
    );
    stage.git(&["switch", "--quiet", "--detach"]);
    with_commit(&stage, "detached", "d.txt", "d\n").await;
    let refused = repository
        .merge(&named("detached"), &unverified(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::NoBaseBranch(_)), "{refused}");
}

#[tokio::test]
async fn what_a_force_push_dropped_from_the_base_does_not_come_back() {
    let stage = Stage::new();
    stage.write("dropped.txt", "dropped\n");
    stage.commit("To be dropped");
    with_commit(&stage, "fix", "new.txt", "new\n").await;
    stage.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    stage.write("instead.txt", "instead\n");
    stage.commit("Instead");
    let repository = stage.repository().await;
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(stage.git(&["log", "--format=%s", "main"]), "fix\nInstead\nBegin");
    assert!(!stage.checkout().join("dropped.txt").exists());
}

#[tokio::test]
async fn what_a_reset_dropped_from_the_base_does_not_come_back() {
    let stage = Stage::new();
    stage.write("dropped.txt", "dropped\n");
    stage.commit("To be dropped");
    with_commit(&stage, "fix", "new.txt", "new\n").await;
    stage.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let repository = stage.repository().await;
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(stage.git(&["log", "--format=%s", "main"]), "fix\nBegin");
    assert!(!stage.checkout().join("dropped.txt").exists());
}

#[tokio::test]
async fn a_branch_with_merges_is_refused_if_it_would_bring_dropped_commits_back() {
    let stage = Stage::new();
    stage.write("dropped.txt", "dropped\n");
    stage.commit("To be dropped");
    let path = with_commit(&stage, "fix", "new.txt", "new\n").await;
    stage.git_in(&path, &["switch", "--quiet", "--create", "side", "HEAD~1"]);
    stage.commit_in(&path, "Side");
    stage.git_in(&path, &["switch", "--quiet", "ralph/fix"]);
    stage.git_in(&path, &["merge", "--quiet", "--no-edit", "side"]);
    stage.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let tip = stage.tip("main");
    let repository = stage.repository().await;
    let refused = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::BaseRewritten { .. }), "{refused}");
    assert_eq!(stage.tip("main"), tip);
}

#[tokio::test]
async fn a_branch_with_merges_of_its_own_keeps_how_they_were_resolved() {
    let stage = Stage::new();
    let path = with_commit(&stage, "fix", "a.txt", "theirs\n").await;
    stage.write("a.txt", "ours\n");
    stage.commit("Ours");
    assert!(!stage.git_output(&path, &["merge", "main"]).status.success());
    write(&path.join("a.txt"), "both\n");
    stage.commit_in(&path, "Resolved");
    stage.write("later.txt", "later\n");
    stage.commit("Later");
    let repository = stage.repository().await;
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(stage.read("a.txt"), "both\n");
    assert_eq!(stage.read("later.txt"), "later\n");
}

#[tokio::test]
async fn a_change_that_the_base_had_and_reverted_is_merged_again() {
    let stage = Stage::new();
    with_commit(&stage, "fix", "new.txt", "new\n").await;
    stage.commit("Other");
    stage.git(&["cherry-pick", "ralph/fix"]);
    stage.git(&["revert", "--no-edit", "HEAD"]);
    let repository = stage.repository().await;
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(stage.read("new.txt"), "new\n");
}

#[tokio::test]
async fn uncommitted_work_and_an_unfinished_rebase_are_refused() {
    let stage = Stage::new();
    let path = with_commit(&stage, "fix", "c.txt", "c\n").await;
    write(&path.join("more"), "x");
    let repository = stage.repository().await;
    let refused = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Uncommitted { .. }), "{refused}");
    fs::remove_file(path.join("more")).unwrap();
    stage.write("a.txt", "x\n");
    stage.commit("Ours");
    stage.git(&["switch", "--quiet", "--create", "side", "HEAD~1"]);
    stage.write("a.txt", "y\n");
    stage.commit("Side");
    stage.git(&["switch", "--quiet", "main"]);
    assert!(
        !stage
            .git_output(&stage.checkout(), &["rebase", "side"])
            .status
            .success()
    );
    let refused = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(
        matches!(
            refused,
            Error::InProgress {
                operation: "rebase",
                ..
            }
        ),
        "{refused}"
    );
    stage.git(&["rebase", "--abort"]);
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
}
