//! Files: the agent changes its own folder and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use claude_code::event::ResultSubtype;
use claude_code::{Event, Kind};
use demo_agent::{PROJECT_FOLDER, VERIFY_COMMAND};
use tempfile::tempdir;

use super::agent_process::{answer, print};

fn verify(directory: &Path) -> bool {
    let status = Command::new("sh")
        .args(["-c", VERIFY_COMMAND])
        .current_dir(directory)
        .env_clear()
        .stdout(Stdio::null())
        .status();
    status.unwrap().success()
}

/// Everything below a folder, with its contents; links are not followed.
fn contents(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.extend(contents(&entry.path()));
        } else if kind.is_symlink() {
            all.insert(
                entry.path(),
                format!("link to {}", fs::read_link(entry.path()).unwrap().display()),
            );
        } else {
            all.insert(entry.path(), fs::read_to_string(entry.path()).unwrap());
        }
    }
    all
}

/// Runs the agent, which must refuse to touch anything. Returns the errors of its result.
fn assert_refused(directory: &Path) -> String {
    let before = contents(directory);
    let (events, status) = print(directory, &[]);
    assert_eq!(contents(directory), before, "something was changed");
    assert_eq!(status.code(), Some(1));
    let Some(Kind::Result(result)) = events.last().map(Event::kind) else {
        panic!("no result: {events:?}");
    };
    assert_eq!(result.subtype, Some(ResultSubtype::ErrorDuringExecution));
    let errors = result.errors.to_vec();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn the_verification_fails_after_the_first_run_and_passes_after_the_second() {
    let directory = tempdir().unwrap();
    for is_verified in [false, true, true] {
        let (events, status) = print(directory.path(), &[]);
        assert!(status.success());
        assert_eq!(
            answer(&events).lines().last(),
            Some("LOOP_COMPLETE"),
            "it always believes itself"
        );
        assert_eq!(verify(directory.path()), is_verified);
    }
}

#[test]
fn nothing_outside_its_folder_is_touched() {
    let directory = tempdir().unwrap();
    fs::create_dir(directory.path().join("mine")).unwrap();
    fs::write(directory.path().join("mine/greet.sh"), "mine").unwrap();
    fs::write(directory.path().join("check.sh"), "mine too").unwrap();
    let before = contents(directory.path());
    print(directory.path(), &[]);
    print(directory.path(), &[]);
    let mut after = contents(directory.path());
    let folder = directory.path().join(PROJECT_FOLDER);
    after.retain(|path, _| !path.starts_with(&folder));
    assert_eq!(after, before);
    let mut left: Vec<String> = contents(&folder)
        .into_keys()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["check.sh", "greet.sh"]);
}

#[test]
fn a_link_in_place_of_its_folder_is_refused() {
    let directory = tempdir().unwrap();
    let elsewhere = tempdir().unwrap();
    symlink(elsewhere.path(), directory.path().join(PROJECT_FOLDER)).unwrap();
    let reason = assert_refused(directory.path());
    assert!(reason.contains("symbolic link"), "{reason}");
    assert!(elsewhere.path().read_dir().unwrap().next().is_none());
}

#[test]
fn a_link_in_place_of_a_file_is_refused() {
    let directory = tempdir().unwrap();
    print(directory.path(), &[]);
    let script = directory.path().join(PROJECT_FOLDER).join("greet.sh");
    let elsewhere = directory.path().join("elsewhere.sh");
    fs::rename(&script, &elsewhere).unwrap();
    symlink(&elsewhere, &script).unwrap();
    assert_refused(directory.path());
}

#[test]
fn files_that_are_not_its_own_are_neither_changed_nor_run() {
    for name in ["greet.sh", "check.sh"] {
        let directory = tempdir().unwrap();
        print(directory.path(), &[]);
        fs::write(directory.path().join(PROJECT_FOLDER).join(name), "touch ../ran\n").unwrap();
        let reason = assert_refused(directory.path());
        assert!(reason.contains("Remove the folder"), "{reason}");
    }
}

#[test]
fn a_file_in_place_of_its_folder_is_refused() {
    let directory = tempdir().unwrap();
    fs::write(directory.path().join(PROJECT_FOLDER), "mine").unwrap();
    assert_refused(directory.path());
}
