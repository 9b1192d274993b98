//! Random states of a worktree: whatever is removed, every byte of work can be found afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::{Strategy as _, any};
use proptest::test_runner::{Config, TestRunner};
use worktrees::{MergeOutcome, RemoveMode};

use crate::merging::{Unchecked, unverified};
use crate::stage::{Stage, named, write};

const CASES: u32 = 24;
const FILES: [&str; 5] = ["a.txt", "b.txt", "new.txt", "dir/deep.txt", "dir2/ü ñ.txt"];

/// What happens in a worktree before it is removed.
#[derive(Debug, Clone, Copy)]
enum Step {
    Write(usize),
    Stage(usize),
    Delete(usize),
    Commit,
    Amend,
    ResetHard,
    Detach,
    OtherBranch,
    SquashElsewhere,
    Merge,
    Overlook(usize),
    BaseMoves,
}

fn step(number: (u8, usize)) -> Step {
    let file = number.1 % FILES.len();
    match number.0 % 15 {
        0..=3 => Step::Write(file),
        4 => Step::Stage(file),
        5 => Step::Delete(file),
        6 | 7 => Step::Commit,
        8 => Step::Amend,
        9 => Step::ResetHard,
        10 => Step::Detach,
        11 => Step::OtherBranch,
        12 => Step::SquashElsewhere,
        13 => Step::Merge,
        _ if file.is_multiple_of(2) => Step::Overlook(file),
        _ => Step::BaseMoves,
    }
}

struct Story<'a> {
    stage: &'a Stage,
    /// Texts that were committed or are in a file: each is unique.
    work: BTreeSet<String>,
    texts: usize,
}

impl Story<'_> {
    async fn play(&mut self, path: &Path, step: Step) {
        let stage = self.stage;
        match step {
            Step::Write(file) => {
                self.texts += 1;
                write(
                    &path.join(FILES[file]),
                    &format!("work number {} {:?}\n", self.texts, path),
                );
            }
            Step::Stage(file) => drop(stage.git_output(path, &["add", "--", FILES[file]])),
            Step::Delete(file) => drop(fs::remove_file(path.join(FILES[file]))),
            Step::Commit => {
                stage.commit_in(path, "Work");
                self.note_committed(path);
            }
            Step::Amend => {
                stage.git_in(path, &["add", "--all"]);
                stage.git_in(
                    path,
                    &["commit", "--quiet", "--amend", "--allow-empty", "-m", "Amended"],
                );
                self.note_committed(path);
            }
            Step::ResetHard => drop(stage.git_in(path, &["reset", "--quiet", "--hard", "main"])),
            Step::Detach => drop(stage.git_in(path, &["checkout", "--quiet", "--detach"])),
            Step::OtherBranch => drop(stage.git_output(path, &["checkout", "--quiet", "-B", "other"])),
            Step::SquashElsewhere => {
                let squash = stage.git_output(&stage.checkout(), &["merge", "--squash", "ralph/fix"]);
                if squash.status.success() {
                    stage.commit("Squashed");
                } else {
                    stage.git(&["reset", "--quiet", "--hard"]);
                }
            }
            Step::Merge => {
                let repository = stage.repository().await;
                let _ = repository
                    .merge(&named("fix"), &unverified(), &mut Unchecked)
                    .await;
            }
            Step::Overlook(file) => {
                drop(stage.git_output(path, &["update-index", "--assume-unchanged", "--", FILES[file]]));
            }
            Step::BaseMoves => {
                self.texts += 1;
                stage.write("base.txt", &format!("base {}\n", self.texts));
                stage.commit("Base");
            }
        }
    }

    fn note_committed(&mut self, path: &Path) {
        for file in FILES {
            let what = format!("HEAD:{file}");
            let shown = self.stage.git_output(path, &["cat-file", "blob", &what]);
            if shown.status.success() {
                self.work.insert(String::from_utf8(shown.stdout).unwrap());
            }
        }
    }

    fn note_files(&mut self, path: &Path) {
        for file in FILES {
            if let Ok(text) = fs::read_to_string(path.join(file)) {
                self.work.insert(text);
            }
            let staged = self
                .stage
                .git_output(path, &["cat-file", "blob", &format!(":{file}")]);
            if staged.status.success() {
                self.work.insert(String::from_utf8(staged.stdout).unwrap());
            }
        }
    }

    /// Every text that some ref keeps.
    fn kept(&self) -> BTreeSet<String> {
        let stage = self.stage;
        let objects = stage.git(&["rev-list", "--objects", "--all", "--filter=object:type=blob"]);
        let ids = objects.lines().filter_map(|line| line.split(' ').next());
        ids.filter_map(|id| {
            let shown = stage.git_output(&stage.checkout(), &["cat-file", "blob", id]);
            shown
                .status
                .success()
                .then(|| String::from_utf8_lossy(&shown.stdout).into_owned())
        })
        .collect()
    }
}

#[test]
fn no_byte_of_work_is_lost_whatever_state_is_removed() {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    let config = Config {
        cases: cases.unwrap_or(CASES),
        failure_persistence: None,
        max_shrink_iters: 40,
        ..Config::default()
    };
    let steps = proptest::collection::vec((any::<u8>(), any::<usize>()).prop_map(step), 1..9);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(config);
    let ran = runner.run(&(steps, any::<bool>()), |(steps, is_first_polite)| {
        runtime.block_on(async {
            let stage = Stage::new();
            let worktree = stage.create("fix").await.worktree;
            let mut story = Story {
                stage: &stage,
                work: BTreeSet::new(),
                texts: 0,
            };
            for step in steps {
                story.play(&worktree.path, step).await;
            }
            story.note_files(&worktree.path);
            let repository = stage.repository().await;
            if is_first_polite {
                let _ = repository.remove(&worktree.name, RemoveMode::KeepWork).await;
            }
            if worktree.path.exists() {
                repository
                    .remove(&worktree.name, RemoveMode::Rescue)
                    .await
                    .unwrap();
            }
            assert!(!worktree.path.exists());
            // Not even when the quarantine is deleted and git cleans up.
            for entry in repository.quarantine() {
                fs::remove_dir_all(&entry.folder).unwrap();
            }
            stage.git(&["reflog", "expire", "--expire=now", "--all"]);
            stage.git(&["gc", "--quiet", "--prune=now"]);
            let kept = story.kept();
            let lost: Vec<&String> = story.work.difference(&kept).collect();
            assert!(lost.is_empty(), "lost: {lost:?}");
        });
        Ok(())
    });
    ran.unwrap();
}

#[tokio::test]
async fn a_worktree_that_was_merged_goes_without_a_word() {
    let stage = Stage::new();
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("new.txt"), "new\n");
    stage.commit_in(&worktree.path, "Work");
    let repository = stage.repository().await;
    let outcome = repository
        .merge(&worktree.name, &unverified(), &mut Unchecked)
        .await;
    assert!(matches!(outcome, Ok(MergeOutcome::Merged(_))));
    let removed = repository
        .remove(&worktree.name, RemoveMode::KeepWork)
        .await
        .unwrap();
    assert_eq!(removed.rescue, None);
}
