//! Removing worktrees: what is refused, and where the work is afterwards.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use worktrees::{Error, RemoveMode, RetentionPolicy};

use crate::stage::{Stage, named, write};

fn is_work(error: &Error, word: &str) -> bool {
    matches!(error, Error::HasWork { work, .. } if work.contains(word))
}

#[tokio::test]
async fn work_that_is_not_merged_is_refused_and_untracked_files_count() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("new"), "x");
    let refused = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap_err();
    assert!(is_work(&refused, "1 untracked file"), "{refused}");
    write(&worktree.path.join("a.txt"), "x");
    let refused = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap_err();
    assert!(is_work(&refused, "1 uncommitted file"), "{refused}");
    stage.commit_in(&worktree.path, "Work");
    let refused = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap_err();
    assert!(
        is_work(&refused, "1 commit that `main` does not have"),
        "{refused}"
    );
    assert!(worktree.path.join("new").exists());
    assert_eq!(stage.rescued(), [""; 0]);
}

#[tokio::test]
async fn what_is_removed_with_work_is_kept_under_a_rescue_ref_and_in_quarantine() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("committed"), "c\n");
    let commit = stage.commit_in(&worktree.path, "Work");
    write(&worktree.path.join("a.txt"), "uncommitted\r\n");
    write(&worktree.path.join("b.txt"), "staged\n");
    stage.git_in(&worktree.path, &["add", "b.txt"]);
    write(&worktree.path.join("b.txt"), "and changed again\n");
    write(&worktree.path.join("new/file"), "untracked\n");
    write(&worktree.path.join(".env"), "ignored\n");
    let removed = repository
        .remove(&worktree.name, RemoveMode::Rescue)
        .await
        .unwrap();
    let rescue = removed.rescue.unwrap();
    assert_eq!(stage.rescued(), std::slice::from_ref(&rescue));
    let show = |what: &str| {
        let output = stage.git_output(
            &stage.checkout(),
            &["cat-file", "blob", &format!("{rescue}{what}")],
        );
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(show(":a.txt"), "uncommitted\r\n");
    assert_eq!(show(":b.txt"), "and changed again\n");
    assert_eq!(show(":new/file"), "untracked\n");
    assert_eq!(show("^2:b.txt"), "staged\n");
    assert_eq!(stage.tip(&format!("{rescue}^1")), Some(commit));
    let files = removed.quarantined.unwrap();
    assert_eq!(fs::read_to_string(files.join(".env")).unwrap(), "ignored\n");
    assert!(removed.is_branch_deleted && stage.tip("ralph/fix").is_none());
    assert!(!worktree.path.exists() && repository.worktrees().is_empty());
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    // The name is free again.
    stage.create("fix").await;
}

#[tokio::test]
async fn commits_that_an_agent_abandoned_are_rescued_as_well() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("lost"), "lost\n");
    let abandoned = stage.commit_in(&worktree.path, "Lost");
    stage.git_in(&worktree.path, &["reset", "--quiet", "--hard", "main"]);
    let removed = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap();
    let rescue = removed.rescue.unwrap();
    let is_kept = stage.git_output(
        &stage.checkout(),
        &["merge-base", "--is-ancestor", &abandoned, &rescue],
    );
    assert!(is_kept.status.success());
}

#[tokio::test]
async fn filters_of_the_repository_do_not_change_what_is_rescued() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    stage.git(&["config", "filter.shout.clean", "tr a-z A-Z"]);
    stage.git(&["config", "core.autocrlf", "input"]);
    let worktree = stage.create("fix").await.worktree;
    write(
        &worktree.path.join(".gitattributes"),
        "*.txt filter=shout\n* text=auto\n",
    );
    write(&worktree.path.join("x.txt"), "one\r\ntwo\r\n");
    let removed = repository
        .remove(&worktree.name, RemoveMode::Rescue)
        .await
        .unwrap();
    let what = format!("{}:x.txt", removed.rescue.unwrap());
    let kept = stage.git_output(&stage.checkout(), &["cat-file", "blob", &what]);
    assert_eq!(kept.stdout, b"one\r\ntwo\r\n");
}

#[tokio::test]
async fn changes_that_git_was_told_to_overlook_are_work() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    stage.git_in(&worktree.path, &["update-index", "--assume-unchanged", "a.txt"]);
    stage.git_in(&worktree.path, &["update-index", "--skip-worktree", "b.txt"]);
    write(&worktree.path.join("a.txt"), "hidden\n");
    write(&worktree.path.join("b.txt"), "hidden too\n");
    let refused = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::HasWork { .. }), "{refused}");
    let removed = repository
        .remove(&worktree.name, RemoveMode::Rescue)
        .await
        .unwrap();
    let rescue = removed.rescue.unwrap();
    assert_eq!(
        stage.git(&["cat-file", "blob", &format!("{rescue}:a.txt")]),
        "hidden"
    );
    assert_eq!(
        stage.git(&["cat-file", "blob", &format!("{rescue}:b.txt")]),
        "hidden too"
    );
}

#[tokio::test]
async fn a_repository_within_is_never_removed() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    let inner = worktree.path.join("inner");
    fs::create_dir(&inner).unwrap();
    stage.git_in(&inner, &["init", "--quiet"]);
    write(&inner.join("x"), "x");
    stage.commit_in(&inner, "Inner");
    for mode in [RemoveMode::KeepWork, RemoveMode::Rescue] {
        let refused = repository.remove(&worktree.name, mode).await.unwrap_err();
        assert!(matches!(refused, Error::NestedRepository { .. }), "{refused}");
    }
    assert!(inner.join("x").exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_worktree_in_which_a_process_lives_is_not_removed() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("sub/x"), "x");
    let mut command = Command::new("sleep");
    command
        .arg("600")
        .current_dir(worktree.path.join("sub"))
        .stdin(Stdio::null());
    let mut child = command.spawn().unwrap();
    let refused = repository
        .remove(&worktree.name, RemoveMode::Rescue)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, Error::Occupied { occupant, .. } if occupant.pid == child.id()),
        "{refused}"
    );
    assert!(worktree.path.join("sub/x").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    repository
        .remove(&worktree.name, RemoveMode::Rescue)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_squashed_or_rebased_branch_counts_as_merged_also_after_later_changes() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    for line in ["first\n", "second\n"] {
        write(&worktree.path.join("new.txt"), line);
        stage.commit_in(&worktree.path, line);
    }
    stage.git(&["merge", "--squash", "ralph/fix"]);
    stage.commit("Squashed");
    assert!(repository.status(&worktree.name).await.unwrap().is_merged);
    // The same lines change again, so that a merge would conflict.
    stage.write("new.txt", "third\n");
    stage.commit("Later");
    assert!(repository.status(&worktree.name).await.unwrap().is_merged);
    let removed = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap();
    assert!(removed.rescue.is_some(), "the original commits are nowhere else");
}

#[tokio::test]
async fn a_change_that_was_squashed_and_reverted_is_rescued_with_its_branch() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("new.txt"), "x\n");
    let work = stage.commit_in(&worktree.path, "Work");
    let status = repository.status(&worktree.name).await.unwrap();
    assert!(!status.is_merged);
    assert_eq!((status.ahead, status.behind), (1, 0));
    stage.git(&["merge", "--quiet", "--squash", "ralph/fix"]);
    stage.commit("Squashed");
    stage.git(&["revert", "--no-edit", "HEAD"]);
    assert!(!stage.checkout().join("new.txt").exists());
    let removed = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap();
    // No branch contains the commit itself.
    assert_eq!(stage.tip(&removed.rescue.unwrap()), Some(work));
}

/// A worktree whose folder is gone, with a commit that is on no branch.
async fn lost(stage: &Stage) -> (worktrees::Worktree, String) {
    let worktree = stage.create("fix").await.worktree;
    stage.git_in(&worktree.path, &["switch", "--quiet", "--detach"]);
    write(&worktree.path.join("new.txt"), "x\n");
    let work = stage.commit_in(&worktree.path, "Work");
    stage.git_in(&worktree.path, &["reset", "--quiet", "--hard", "HEAD~1"]);
    std::fs::remove_dir_all(&worktree.path).unwrap();
    (worktree, work)
}

#[tokio::test]
async fn commits_of_a_lost_worktree_are_kept_when_it_is_removed_or_made_again() {
    let stage = Stage::new();
    let (worktree, work) = lost(&stage).await;
    let repository = stage.repository().await;
    let removed = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap();
    let rescue = removed.rescue.unwrap();
    stage.git(&["merge-base", "--is-ancestor", &work, &rescue]);

    let stage = Stage::new();
    let (worktree, work) = lost(&stage).await;
    let repository = stage.repository().await;
    let new = worktrees::NewWorktree::default();
    let created = repository.recreate(&worktree.name, &new).await.unwrap();
    let [rescue] = &stage.rescued()[..] else {
        panic!("{created:?}")
    };
    stage.git(&["merge-base", "--is-ancestor", &work, rescue]);
    let note = worktrees::Note::Rescued(rescue.clone());
    assert!(created.notes.contains(&note), "{created:?}");
}

#[tokio::test]
async fn a_worktree_stays_while_its_git_directory_has_commits_of_submodules() {
    let stage = Stage::new();
    let worktree = stage.create("fix").await.worktree;
    let directory = stage.git_in(&worktree.path, &["rev-parse", "--absolute-git-dir"]);
    let modules = Path::new(&directory).join("modules");
    write(&modules.join("sub/HEAD"), "ref: refs/heads/main\n");
    let repository = stage.repository().await;
    let refused = repository.remove(&worktree.name, RemoveMode::Rescue).await;
    assert!(matches!(refused, Err(Error::Submodules { .. })), "{refused:?}");
    std::fs::remove_dir_all(&worktree.path).unwrap();
    let refused = repository.remove(&worktree.name, RemoveMode::Rescue).await;
    assert!(matches!(refused, Err(Error::Submodules { .. })), "{refused:?}");
    assert!(modules.exists());
}

#[tokio::test]
async fn nothing_is_run_in_a_worktree_whose_git_directory_was_replaced() {
    let stage = Stage::new();
    let worktree = stage.create("fix").await.worktree;
    std::fs::remove_file(worktree.path.join(".git")).unwrap();
    stage.git_in(&worktree.path, &["init", "--quiet"]);
    let mark = stage.path("mark");
    let filter = format!("touch '{}'; cat", mark.display());
    stage.git_in(&worktree.path, &["config", "filter.x.clean", &filter]);
    write(&worktree.path.join(".gitattributes"), "* filter=x\n");
    let repository = stage.repository().await;
    let name = &worktree.name;
    let refused = [
        repository.commit_leftovers(name, "Leftovers").await.err(),
        repository.status(name).await.err(),
        repository.remove(name, RemoveMode::Rescue).await.err(),
        repository
            .merge(
                name,
                &crate::merging::unverified(),
                &mut crate::merging::Unchecked,
            )
            .await
            .err(),
    ];
    for error in refused {
        assert!(matches!(error, Some(Error::ForeignGit(_))), "{error:?}");
    }
    assert!(!mark.exists());
}

#[tokio::test]
async fn a_branch_that_is_checked_out_elsewhere_stays() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    stage.git_in(&worktree.path, &["switch", "--quiet", "--detach"]);
    stage.git(&["switch", "--quiet", "ralph/fix"]);
    let removed = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap();
    assert!(!removed.is_branch_deleted);
    assert!(stage.tip("ralph/fix").is_some());
}

#[tokio::test]
async fn a_record_that_names_another_folder_removes_nothing() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    stage.create("fix").await;
    let record = repository.worktrees_folder().join("fix.json");
    let text = fs::read_to_string(&record).unwrap();
    let own = repository.worktrees_folder().join("fix");
    let changed = text.replace(own.to_str().unwrap(), stage.checkout().to_str().unwrap());
    fs::write(&record, changed).unwrap();
    let refused = repository
        .remove(&named("fix"), RemoveMode::Rescue)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::OutsideOfState(_)), "{refused}");
    assert!(stage.checkout().join("a.txt").exists() && own.join("a.txt").exists());
}

#[tokio::test]
async fn a_worktree_that_is_gone_leaves_its_branch_under_a_rescue_ref() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("new"), "x");
    let commit = stage.commit_in(&worktree.path, "Work");
    fs::remove_dir_all(&worktree.path).unwrap();
    let refused = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap_err();
    assert!(is_work(&refused, "1 commit"), "{refused}");
    let removed = repository
        .remove(&worktree.name, RemoveMode::Rescue)
        .await
        .unwrap();
    assert_eq!(removed.quarantined, None);
    assert_eq!(stage.tip(&removed.rescue.unwrap()), Some(commit));
    assert!(stage.tip("ralph/fix").is_none());
}

fn policy(keep_for: u64, max_bytes: u64) -> RetentionPolicy {
    RetentionPolicy {
        keep_for: Duration::from_secs(keep_for),
        max_bytes,
        is_dry_run: false,
    }
}

#[tokio::test]
async fn cleaning_up_takes_only_what_is_merged_or_rescued() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let free = |_: &Path| false;
    let now = jiff::Timestamp::now();
    for name in ["merged", "busy", "unmerged", "fresh", "discarded"] {
        let worktree = stage.create(name).await.worktree;
        if name != "fresh" {
            write(&worktree.path.join(name), "x");
            stage.commit_in(&worktree.path, name);
        }
        if ["merged", "busy"].contains(&name) {
            let outcome = repository
                .merge(
                    &worktree.name,
                    &crate::merging::unverified(),
                    &mut crate::merging::Unchecked,
                )
                .await;
            assert!(
                matches!(outcome, Ok(worktrees::MergeOutcome::Merged(_))),
                "{outcome:?}"
            );
        }
    }
    repository
        .remove(&named("discarded"), RemoveMode::Rescue)
        .await
        .unwrap();
    let young = repository
        .clean_up(policy(3_600, u64::MAX), now, &free)
        .await
        .unwrap();
    assert!(young.removed.is_empty() && young.deleted.is_empty() && young.failed.is_empty());
    let later = now + jiff::SignedDuration::from_hours(2);
    let busy = repository.worktree(&named("busy")).unwrap().path;
    let in_use = move |path: &Path| path == busy;
    let mut dry = policy(3_600, u64::MAX);
    dry.is_dry_run = true;
    let listed = repository.clean_up(dry, later, &in_use).await.unwrap();
    assert_eq!((listed.removed.len(), listed.deleted.len()), (1, 1));
    let old = repository
        .clean_up(policy(3_600, u64::MAX), later, &in_use)
        .await
        .unwrap();
    assert_eq!(old.removed, [named("merged")]);
    assert_eq!(old.deleted.len(), 1);
    assert_eq!(stage.rescued().len(), 1);
    assert!(old.freed_bytes > 0);
    // A size budget does not touch work either.
    let small = repository.clean_up(policy(3_600, 0), now, &free).await.unwrap();
    assert_eq!(small.removed, [named("busy")]);
    assert!(small.remaining_bytes > 0 && small.deleted.is_empty());
    assert_eq!(repository.quarantine().len(), 2);
    let tomorrow = now + jiff::SignedDuration::from_hours(25);
    let week = policy(7 * 86_400, 0);
    let small = repository.clean_up(week, tomorrow, &free).await.unwrap();
    assert_eq!(small.deleted.len(), 2);
    assert!(repository.quarantine().is_empty());
    let left: Vec<String> = repository
        .worktrees()
        .into_iter()
        .map(|worktree| worktree.unwrap().name.to_string())
        .collect();
    assert_eq!(left, ["fresh", "unmerged"]);
}

#[tokio::test]
async fn the_last_copy_in_quarantine_is_not_deleted() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("new"), "x");
    let removed = repository
        .remove(&worktree.name, RemoveMode::Rescue)
        .await
        .unwrap();
    stage.git(&["update-ref", "-d", &removed.rescue.unwrap()]);
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    let cleaned = repository
        .clean_up(policy(0, 0), later, &|_| false)
        .await
        .unwrap();
    assert_eq!((cleaned.deleted.len(), cleaned.failed.len()), (0, 1));
    assert!(removed.quarantined.unwrap().join("new").exists());
}
