//! What an agent leaves in its worktree, and in the main checkout.

use std::fs;

use worktrees::{Error, Progress};

use crate::stage::{Stage, write};

#[tokio::test]
async fn a_hook_or_setting_that_was_written_meanwhile_is_noticed() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let before = repository.snapshot_checkout().await.unwrap();
    write(&stage.checkout().join(".git/hooks/pre-commit"), "exit 0\n");
    stage.git(&["config", "alias.st", "status"]);
    let after = repository.snapshot_checkout().await.unwrap();
    let changes = before.changes_to(&after).unwrap();
    let directory = stage.checkout().join(".git");
    assert_eq!(
        changes.files,
        [directory.join("config"), directory.join("hooks/pre-commit")]
    );
}

#[tokio::test]
async fn everything_that_an_agent_left_is_committed_and_no_change_is_a_verdict() {
    let stage = Stage::new();
    let worktree = stage.create("fix").await.worktree;
    let repository = stage.repository().await;
    let left = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap();
    assert_eq!((left.commit, left.progress), (None, Progress::NoChange));
    fs::remove_file(worktree.path.join("b.txt")).unwrap();
    write(&worktree.path.join("a.txt"), "changed\n");
    write(&worktree.path.join("new/file.txt"), "new\n");
    write(&worktree.path.join("target/built"), "ignored\n");
    let left = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap();
    assert_eq!(left.commit, stage.tip("ralph/fix"));
    assert_eq!(left.files, 3);
    assert_eq!(left.progress, Progress::Changed { commits: 1, files: 3 });
    assert_eq!(stage.git_in(&worktree.path, &["status", "--porcelain"]), "");
    let again = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap();
    assert_eq!(again.commit, None);
    assert_eq!(again.progress, left.progress);
}

#[tokio::test]
async fn the_first_files_of_an_empty_repository_are_committed() {
    let stage = Stage::empty();
    stage.git(&["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    let worktree = stage.create("fix").await.worktree;
    let repository = stage.repository().await;
    write(&worktree.path.join("first.txt"), "new\n");
    let left = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap();
    assert_eq!(left.progress, Progress::Changed { commits: 1, files: 1 });
}

#[tokio::test]
async fn an_agent_that_made_a_branch_of_its_own_is_followed_if_it_continues_ours() {
    let stage = Stage::new();
    let worktree = stage.create("fix").await.worktree;
    let repository = stage.repository().await;
    stage.git_in(&worktree.path, &["switch", "--quiet", "--create", "feature"]);
    write(&worktree.path.join("work"), "x");
    let commit = stage.commit_in(&worktree.path, "Work");
    write(&worktree.path.join("more"), "x");
    let left = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap();
    assert_eq!(left.progress, Progress::Changed { commits: 2, files: 2 });
    assert_eq!(
        stage.git_in(&worktree.path, &["branch", "--show-current"]),
        "ralph/fix"
    );
    assert_eq!(stage.tip("feature"), Some(commit));

    stage.git_in(&worktree.path, &["switch", "--quiet", "--detach", "main"]);
    write(&worktree.path.join("elsewhere"), "x");
    let refused = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::OtherBranch { .. }), "{refused}");
    assert!(worktree.path.join("elsewhere").exists());
}

#[tokio::test]
async fn conflict_markers_and_repositories_within_are_not_committed() {
    let stage = Stage::new();
    let worktree = stage.create("fix").await.worktree;
    let repository = stage.repository().await;
    let inner = worktree.path.join("inner");
    fs::create_dir(&inner).unwrap();
    stage.git_in(&inner, &["init", "--quiet"]);
    write(&inner.join("x"), "x");
    stage.commit_in(&inner, "Inner");
    let left = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap();
    assert_eq!((left.commit, left.nested.len()), (None, 1));

    write(&worktree.path.join("a.txt"), "theirs\n");
    stage.git_in(&worktree.path, &["commit", "--quiet", "-am", "Theirs"]);
    stage.write("a.txt", "ours\n");
    stage.commit("Ours");
    let merge = stage.git_output(&worktree.path, &["merge", "main"]);
    assert!(!merge.status.success());
    let refused = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap_err();
    assert!(
        matches!(
            refused,
            Error::InProgress {
                operation: "merge",
                ..
            }
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn without_an_identity_the_commit_is_made_as_ralph() {
    let stage = Stage::new();
    let worktree = stage.create("fix").await.worktree;
    let variables = stage.variables().into_iter();
    let nameless = variables.filter(|(name, _)| {
        !name.to_string_lossy().contains("_NAME") && !name.to_string_lossy().contains("_EMAIL")
    });
    let environment = worktrees::GitEnvironment::of(nameless);
    let (checkout, state) = (stage.checkout(), stage.path("state"));
    let repository = worktrees::Repository::find(&checkout, &state, environment)
        .await
        .unwrap();
    write(&worktree.path.join("new"), "x");
    repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap();
    let author = stage.git(&["log", "-1", "--format=%an <%ae>", "ralph/fix"]);
    assert_eq!(author, "ralph <ralph@localhost>");
}

#[tokio::test]
async fn a_write_to_the_main_checkout_is_noticed_and_what_was_there_is_not() {
    let stage = Stage::new();
    stage.write("a.txt", "mine\n");
    stage.write("draft.txt", "draft\n");
    let repository = stage.repository().await;
    let before = repository.snapshot_checkout().await.unwrap();
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("new"), "x");
    let after = repository.snapshot_checkout().await.unwrap();
    assert_eq!(before.changes_to(&after), None);
    stage.write("b.txt", "agent\n");
    stage.write("draft.txt", "longer draft\n");
    let after = repository.snapshot_checkout().await.unwrap();
    let changes = before.changes_to(&after).unwrap();
    assert_eq!(
        changes.files,
        ["b.txt", "draft.txt"].map(std::path::PathBuf::from)
    );
    assert!(!changes.is_moved);
    stage.commit("By the agent");
    let after = repository.snapshot_checkout().await.unwrap();
    let changes = before.changes_to(&after).unwrap();
    assert!(changes.is_moved && changes.to_string().contains("another commit is checked out"));
}
