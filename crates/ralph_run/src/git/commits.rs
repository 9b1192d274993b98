//! `start_commit()` and `commits_since()`: what git says about a workspace. `ralph run` records the first, its console and
//! `ralph show` ask for the second.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::command::{GitCommand, is_commit_id};

/// A repository on a slow disk must not delay a run. Shorter than the time after which a console that shows nothing is
/// given up, or the end of its output is lost.
const GIT_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_COMMITS: usize = 100;

/// Commits that were made during a run, newest first, at most 100.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Commits(pub Vec<Commit>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// Abbreviated, as git does it.
    pub id: String,
    pub subject: String,
}

/// The commit that is checked out. `None` outside a repository, without a commit, and if git does not answer in time.
pub async fn start_commit(workspace: &Path) -> Option<String> {
    let output = ask(workspace, &["rev-parse", "--verify", "--quiet", "HEAD"]).await?;
    let id = output.trim();
    is_commit_id(id).then(|| id.to_owned())
}

/// Whether git answers at all, with or without a commit in the repository.
pub async fn is_readable(workspace: &Path) -> bool {
    ask(workspace, &["rev-parse", "--git-dir"]).await.is_some()
}

/// The commits on top of `start`, up to `until`. `None` if git cannot say.
pub async fn commits_since(workspace: &Path, start: &str, until: Timestamp) -> Option<Commits> {
    // It comes from a journal, and must not be read as an option.
    if !is_commit_id(start) {
        return None;
    }
    let range = format!("{start}..HEAD");
    let count = format!("--max-count={MAX_COMMITS}");
    // Git counts in seconds.
    let until = format!("--until={}", until.as_second());
    let arguments = [
        "rev-list",
        "--pretty=tformat:%h%x09%s",
        &count,
        &until,
        &range,
        "--",
    ];
    let output = ask(workspace, &arguments).await?;
    Some(parse_commits(&output))
}

/// Each commit is a line `commit …` and one of ours.
fn parse_commits(output: &str) -> Commits {
    let commit = |line: &str| {
        let (id, subject) = line.split_once('\t')?;
        Some(Commit {
            id: id.to_owned(),
            subject: subject.to_owned(),
        })
    };
    Commits(output.lines().filter_map(commit).collect())
}

/// The output of git, if it succeeds.
async fn ask(workspace: &Path, arguments: &[&str]) -> Option<String> {
    let output = GitCommand::new(workspace, arguments).output(GIT_TIMEOUT).await?;
    Some(String::from_utf8_lossy(&output.bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use jiff::Timestamp;

    use super::{Commit, Commits, commits_since, parse_commits, start_commit};

    #[test]
    fn commits_are_read_from_what_git_lists() {
        let output = "commit 1111\n1111aaa\tFix the parser\ncommit 2222\n2222bbb\tAdd a test\twith a tab\n";
        let commit = |id: &str, subject: &str| Commit {
            id: id.to_owned(),
            subject: subject.to_owned(),
        };
        assert_eq!(
            parse_commits(output),
            Commits(vec![
                commit("1111aaa", "Fix the parser"),
                commit("2222bbb", "Add a test\twith a tab")
            ])
        );
    }

    #[tokio::test]
    async fn a_repository_cannot_make_git_fetch_what_is_missing_with_a_program_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().join("repository");
        let proof = folder.path().join("proof");
        let init = Command::new("git")
            .args(["init", "--quiet"])
            .arg(&repository)
            .status();
        assert!(init.unwrap().success());
        let config = format!(
            "[core]\nrepositoryformatversion = 1\nsshCommand = touch {}; false\n[extensions]\npartialClone = origin\n\
             [remote \"origin\"]\nurl = ssh://example.invalid/x\npromisor = true\n",
            proof.display()
        );
        fs::write(repository.join(".git/config"), config).unwrap();
        let missing = "1".repeat(40);
        fs::write(repository.join(".git/HEAD"), &missing).unwrap();
        let mut plain = Command::new("git");
        plain.args(["rev-list", "HEAD", "--"]).current_dir(&repository);
        assert!(!plain.output().unwrap().status.success());
        assert!(proof.exists(), "git itself runs the program");
        fs::remove_file(&proof).unwrap();
        assert_eq!(start_commit(&repository).await, Some(missing));
        let start = "2".repeat(40);
        assert_eq!(commits_since(&repository, &start, Timestamp::now()).await, None);
        assert!(!proof.exists());
    }
}
