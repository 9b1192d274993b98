//! Merging where the checkout, the repository or the commands are out of the ordinary.

use std::fs;
use std::path::Path;

use async_trait::async_trait;
use worktrees::{Error, HookError, MergeHooks, MergeOutcome, MergeRequest, Verification};

use crate::merging::{Unchecked, files, merged, unverified, with_commit};
use crate::stage::{Stage, named, write};

#[tokio::test]
async fn a_move_that_fails_halfway_leaves_the_checkout_as_it_was() {
    let stage = Stage::new();
    // It fails in the main checkout only.
    let filter = "case \"$PWD\" in */repository) exit 1;; esac; cat";
    stage.git(&["config", "filter.x.smudge", filter]);
    stage.git(&["config", "filter.x.clean", "cat"]);
    stage.git(&["config", "filter.x.required", "true"]);
    stage.write(".gitattributes", "z.txt filter=x\n");
    stage.commit("Attributes");
    let path = with_commit(&stage, "fix", "a.txt", "theirs\n").await;
    write(&path.join("new.txt"), "new\n");
    write(&path.join("z.txt"), "z\n");
    stage.commit_in(&path, "More");
    let (tip, before) = (stage.tip("main"), files(&stage.checkout()));
    let repository = stage.repository().await;
    let failed = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await;
    assert!(matches!(failed, Err(Error::Git { .. })), "{failed:?}");
    assert_eq!(stage.tip("main"), tip);
    assert_eq!(files(&stage.checkout()), before);
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_file_becomes_a_folder_unless_its_user_has_changed_it() {
    let stage = Stage::new();
    let path = with_commit(&stage, "fix", "c.txt", "c\n").await;
    fs::remove_file(path.join("b.txt")).unwrap();
    write(&path.join("b.txt/inner"), "inner\n");
    stage.commit_in(&path, "Folder");
    let repository = stage.repository().await;
    stage.write("b.txt", "mine\n");
    let refused = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::CheckoutChanged { .. }), "{refused}");
    stage.write("b.txt", "b\n");
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(stage.read("b.txt/inner"), "inner\n");
}

#[tokio::test]
async fn a_broken_worktree_does_not_stop_merges_of_others() {
    let stage = Stage::new();
    with_commit(&stage, "fix", "c.txt", "c\n").await;
    let broken = with_commit(&stage, "broken", "d.txt", "d\n").await;
    fs::remove_file(broken.join(".git")).unwrap();
    let repository = stage.repository().await;
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(stage.read("c.txt"), "c\n");
}

#[tokio::test]
async fn files_merge_as_their_attributes_say() {
    let stage = Stage::new();
    stage.write(".gitattributes", "log.txt merge=union\n");
    stage.write("log.txt", "begin\n");
    stage.commit("Log");
    with_commit(&stage, "fix", "log.txt", "begin\ntheirs\n").await;
    stage.write("log.txt", "begin\nours\n");
    stage.commit("Ours");
    let repository = stage.repository().await;
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    let log = stage.read("log.txt");
    assert!(log.contains("theirs") && log.contains("ours\n"), "{log}");
}

/// Passes, but changes a file of the commit.
struct Formatter;

#[async_trait]
impl MergeHooks for Formatter {
    async fn verify(&mut self, folder: &Path, _: &str) -> Result<Verification, HookError> {
        write(&folder.join("c.txt"), "formatted\n");
        Ok(Verification::Passed)
    }
}

#[tokio::test]
async fn a_check_that_changes_the_commit_does_not_verify_it() {
    let stage = Stage::new();
    with_commit(&stage, "fix", "c.txt", "c\n").await;
    let tip = stage.tip("main");
    let repository = stage.repository().await;
    let outcome = repository
        .merge(&named("fix"), &MergeRequest::default(), &mut Formatter)
        .await
        .unwrap();
    let MergeOutcome::VerifyFailed { summary, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert!(summary.contains("`c.txt`"), "{summary}");
    assert_eq!(stage.tip("main"), tip);
}

#[tokio::test]
async fn a_merge_into_a_submodule_spares_the_ignored_files_of_its_checkout() {
    let stage = Stage::new();
    let (outer, inner) = (stage.path("outer"), stage.path("outer/sub"));
    fs::create_dir_all(&outer).unwrap();
    stage.git_in(&outer, &["init", "--quiet"]);
    let source = stage.checkout().display().to_string();
    let file = "protocol.file.allow=always";
    stage.git_in(
        &outer,
        &["-c", file, "submodule", "--quiet", "add", &source, "sub"],
    );
    let repository = stage.find(&inner).await.unwrap();
    assert_eq!(repository.checkout(), inner);
    let new = worktrees::NewWorktree::default();
    let worktree = repository.create(&named("fix"), &new).await.unwrap().worktree;
    write(&worktree.path.join(".env"), "agent\n");
    stage.git_in(&worktree.path, &["add", "--force", ".env"]);
    stage.commit_in(&worktree.path, "Secrets");
    write(&inner.join(".env"), "precious\n");
    let refused = repository
        .merge(&named("fix"), &unverified(), &mut Unchecked)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::CheckoutChanged { .. }), "{refused}");
    assert_eq!(fs::read_to_string(inner.join(".env")).unwrap(), "precious\n");
    fs::remove_file(inner.join(".env")).unwrap();
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(fs::read_to_string(inner.join(".env")).unwrap(), "agent\n");
    assert_eq!(stage.git_in(&inner, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_separate_git_directory_works_from_its_main_checkout_only() {
    let stage = Stage::new();
    let separate = stage.path("separate.git").display().to_string();
    stage.git(&["init", "--quiet", "--separate-git-dir", &separate]);
    let repository = stage.repository().await;
    assert_eq!(repository.checkout(), stage.checkout());
    let path = with_commit(&stage, "fix", "c.txt", "c\n").await;
    merged(
        repository
            .merge(&named("fix"), &unverified(), &mut Unchecked)
            .await,
    );
    assert_eq!(stage.read("c.txt"), "c\n");
    let refused = stage.find(&path).await.unwrap_err();
    assert!(matches!(refused, Error::SeparateGitDirectory(_)), "{refused}");
}
