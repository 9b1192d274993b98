//! Which agents are installed, and in which version.
#![cfg(all(unix, feature = "custom"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use agent_api::backends::custom::Custom;
use agent_api::{
    AgentKind, AgentRegistry, BackendConfig, DetectError, Detector, Environment, Error, InstalledAgent,
    Profile, ProgramFile, RunOptions, Version, VersionMemory,
};
use agent_process::SpawnError;
use tempfile::TempDir;

fn profile() -> Profile {
    let mut profile = Profile::new(AgentKind::built_in("some"), "some-agent");
    profile.version_args = &["--version"];
    profile.install_hint = "install it";
    profile
}

/// A folder with a program that counts how often it was asked.
struct Installed {
    folder: TempDir,
    program: PathBuf,
}

impl Installed {
    fn new(script: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let program = folder.path().join("some-agent");
        let installed = Self { folder, program };
        installed.write(script);
        installed
    }

    /// Renamed into place: a file that is open for writing somewhere cannot be executed.
    fn write(&self, script: &str) {
        let draft = self.folder.path().join("draft");
        let count = self.folder.path().join("count");
        let text = format!("#!/bin/sh\necho asked >>'{}'\n{script}\n", count.display());
        fs::write(&draft, text).unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o700)).unwrap();
        fs::rename(&draft, &self.program).unwrap();
    }

    fn asked(&self) -> usize {
        let count = fs::read_to_string(self.folder.path().join("count"));
        count.unwrap_or_default().lines().count()
    }
}

fn options() -> RunOptions {
    let mut options = RunOptions::new();
    options.environment = Environment::clear().set("PATH", "/usr/bin:/bin");
    options
}

async fn find(detector: &Detector, program: &Path) -> Result<InstalledAgent, Error> {
    let config = BackendConfig {
        program: Some(program.to_owned()),
        ..BackendConfig::default()
    };
    detector.find(&profile(), &config, &options()).await
}

async fn version(script: &str) -> Option<Version> {
    let installed = Installed::new(script);
    find(&Detector::new(), &installed.program).await.unwrap().version
}

#[tokio::test]
async fn a_version_is_found_whatever_stands_around_it() {
    let expected = Some(Version::new(2, 1, 325));
    for answer in [
        "2.1.325",
        "   2.1.325",
        "2.1.325 (Some Agent)",
        "some-agent v2.1.325-beta.3+build",
        "Welcome!\\nUpdate available.\\n\\nsome-agent/2.1.325 linux-x64 node-v24.1.0",
    ] {
        assert_eq!(version(&format!("printf '{answer}'")).await, expected, "{answer}");
    }
}

#[tokio::test]
async fn a_line_with_the_agents_own_word_counts_first() {
    let installed = Installed::new("echo 'node 24.1.0'; echo 'some 1.2.3'");
    let mut profile = profile();
    profile.version_word = Some("some");
    let config = BackendConfig {
        program: Some(installed.program.clone()),
        ..BackendConfig::default()
    };
    let found = Detector::new().find(&profile, &config, &options()).await.unwrap();
    assert_eq!(found.version, Some(Version::new(1, 2, 3)));
}

#[tokio::test]
async fn an_agent_without_a_version_is_there_all_the_same() {
    assert_eq!(version("echo unknown").await, None);
    assert_eq!(version("echo 1.2.3; exit 1").await, Some(Version::new(1, 2, 3)));
}

#[tokio::test]
async fn a_program_that_only_fails_is_broken_until_it_works() {
    let installed = Installed::new("echo no such module >&2; exit 3");
    let detector = Detector::new();
    let error = find(&detector, &installed.program).await.unwrap_err();
    let program = installed.program.display();
    assert_eq!(
        error.to_string(),
        format!(
            "`{program}` does not work (exited with code 3): run `{program} --version` by hand to see why"
        )
    );
    find(&detector, &installed.program).await.unwrap_err();
    assert_eq!(installed.asked(), 2, "that is not remembered");
}

#[tokio::test]
async fn a_version_is_asked_for_once_as_long_as_the_program_stays_the_same() {
    let installed = Installed::new("echo 1.0.0");
    let detector = Detector::new();
    for _ in 0..3 {
        let found = find(&detector, &installed.program).await.unwrap();
        assert_eq!(found.version, Some(Version::new(1, 0, 0)));
    }
    assert_eq!(installed.asked(), 1);
    // The same length: only the time of the change tells.
    installed.write("echo 2.0.0");
    let file = fs::File::open(&installed.program).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(10))
        .unwrap();
    drop(file);
    let found = find(&detector, &installed.program).await.unwrap();
    assert_eq!(found.version, Some(Version::new(2, 0, 0)));
    assert_eq!(installed.asked(), 2);
}

#[tokio::test]
async fn a_launcher_behind_several_links_is_asked_for_each() {
    let launcher = Installed::new("case $0 in *claude) echo 1.0.0;; *) echo 2.0.0;; esac");
    let detector = Detector::new();
    for (name, version) in [
        ("claude", Version::new(1, 0, 0)),
        ("codex", Version::new(2, 0, 0)),
    ] {
        let link = launcher.folder.path().join(name);
        symlink(&launcher.program, &link).unwrap();
        for _ in 0..2 {
            let found = find(&detector, &link).await.unwrap();
            assert_eq!(found.version, Some(version), "{name}");
        }
    }
    assert_eq!(launcher.asked(), 2, "once for each name");
}

#[tokio::test]
async fn a_link_that_points_to_another_file_is_another_program() {
    let installed = Installed::new("echo 1.0.0");
    let other = Installed::new("echo 2.0.0");
    let link = installed.folder.path().join("link");
    symlink(&installed.program, &link).unwrap();
    let detector = Detector::new();
    let found = find(&detector, &link).await.unwrap();
    assert_eq!(found.version, Some(Version::new(1, 0, 0)));
    fs::remove_file(&link).unwrap();
    symlink(&other.program, &link).unwrap();
    let found = find(&detector, &link).await.unwrap();
    assert_eq!(found.version, Some(Version::new(2, 0, 0)));
}

#[tokio::test]
async fn a_bare_name_is_looked_up_in_the_agents_own_path() {
    let installed = Installed::new("echo 1.0.0");
    let mut options = options();
    let path = format!("{}:/usr/bin:/bin", installed.folder.path().display());
    options.environment = options.environment.set("PATH", path);
    let found = Detector::new()
        .find(&profile(), &BackendConfig::default(), &options)
        .await
        .unwrap();
    assert_eq!(found.program, installed.program);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_not_installed() {
    let error = find(&Detector::new(), Path::new("/no/such/program"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`/no/such/program` is not installed: install it"
    );
}

#[tokio::test]
async fn a_program_that_cannot_be_executed_is_an_error_of_its_own() {
    let installed = Installed::new("echo 1.0.0");
    fs::set_permissions(&installed.program, fs::Permissions::from_mode(0o600)).unwrap();
    let error = find(&Detector::new(), &installed.program).await.unwrap_err();
    assert!(
        matches!(&error, Error::Spawn(SpawnError::NotExecutable { .. })),
        "{error:?}"
    );
    assert_eq!(installed.asked(), 0);
}

#[tokio::test]
async fn a_program_that_does_not_answer_is_given_up_after_a_while() {
    let installed = Installed::new("read _ <\"${0%/*}/pipe\"; echo 1.0.0");
    let pipe = installed.folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let detector = Detector::new();
    let started = std::time::Instant::now();
    let error = find(&detector, &installed.program).await.unwrap_err();
    let took = started.elapsed();
    assert!(
        matches!(&error, Error::Detect(DetectError::VersionTimeout { timeout, .. }) if *timeout == Duration::from_secs(20)),
        "{error:?}"
    );
    assert!((20..40).contains(&took.as_secs()), "{took:?}");
    // That is not remembered: the machine may have been busy.
    fs::remove_file(&pipe).unwrap();
    let found = find(&detector, &installed.program).await.unwrap();
    assert_eq!(found.version, Some(Version::new(1, 0, 0)));
}

#[tokio::test]
async fn a_custom_command_is_not_asked() {
    let installed = Installed::new("echo 1.0.0");
    let registry = AgentRegistry::new()
        .with(Custom::new(&installed.program, [""; 0]))
        .unwrap();
    let report = registry.detect(&options()).await;
    let found = report.first().unwrap().found.as_ref().unwrap();
    assert_eq!((found.version, &found.program), (None, &installed.program));
    assert_eq!(installed.asked(), 0);
}

#[tokio::test]
async fn a_report_says_what_is_there_and_what_would_be_needed() {
    let registry = AgentRegistry::new()
        .with(Custom::new("/no/such/program", [""; 0]))
        .unwrap();
    let report = registry.detect(&options()).await;
    assert!(report.first().is_none());
    assert_eq!(
        report.to_string(),
        "custom: `/no/such/program` is not installed: check the command: the name or the path of a program, without arguments\n"
    );
    let registry = AgentRegistry::new()
        .with(Custom::new("/bin/sh", [""; 0]))
        .unwrap();
    let report = registry.detect(&options()).await;
    assert!(report.to_string().starts_with("custom: /"), "{report}");
    assert_eq!(report.needed(), "");
}

/// Each program prints its version only after the other one has been started.
#[cfg(all(feature = "codex", feature = "pi"))]
#[tokio::test]
async fn agents_are_asked_at_the_same_time() {
    use agent_api::backends::{codex::Codex, pi::Pi};

    let meeting = TempDir::new().unwrap();
    let [here, there] = ["here", "there"].map(|name| meeting.path().join(name));
    for pipe in [&here, &there] {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let (to, from) = (here.display(), there.display());
    let codex = Installed::new(&format!("echo >'{to}'; read _ <'{from}'; echo codex-cli 1.2.3"));
    let pi = Installed::new(&format!("read _ <'{to}'; echo >'{from}'; echo 4.5.6"));
    let registry = AgentRegistry::new()
        .with(Codex::program(&codex.program))
        .unwrap()
        .with(Pi::program(&pi.program))
        .unwrap();
    let report = registry.detect(&options()).await;
    let versions: Vec<_> = report
        .entries
        .iter()
        .map(|entry| entry.found.as_ref().unwrap().version)
        .collect();
    assert_eq!(
        versions,
        [Some(Version::new(1, 2, 3)), Some(Version::new(4, 5, 6))]
    );
}

/// What is kept for later processes.
#[derive(Debug, Default)]
struct Kept(Mutex<HashMap<ProgramFile, Version>>);

impl VersionMemory for Kept {
    fn recall(&self, program: &ProgramFile) -> Option<Version> {
        self.0.lock().unwrap().get(program).copied()
    }

    fn remember(&self, program: &ProgramFile, version: Version) {
        self.0.lock().unwrap().insert(program.clone(), version);
    }
}

/// As a new process would.
async fn find_anew(kept: &Arc<Kept>, program: &Path) -> Result<InstalledAgent, Error> {
    let mut detector = Detector::new();
    detector.remember_in(kept.clone());
    find(&detector, program).await
}

#[tokio::test]
async fn what_an_earlier_process_was_told_is_not_asked_again_until_the_program_changes() {
    let installed = Installed::new("echo 1.0.0");
    let kept = Arc::new(Kept::default());
    for _ in 0..3 {
        let found = find_anew(&kept, &installed.program).await.unwrap();
        assert_eq!(found.version, Some(Version::new(1, 0, 0)));
    }
    assert_eq!(installed.asked(), 1);
    installed.write("echo 1.0.10");
    let found = find_anew(&kept, &installed.program).await.unwrap();
    assert_eq!(found.version, Some(Version::new(1, 0, 10)));
    assert_eq!(installed.asked(), 2);
}

#[tokio::test]
async fn only_versions_are_kept_for_later_processes() {
    let kept = Arc::new(Kept::default());
    let broken = Installed::new("exit 3");
    find_anew(&kept, &broken.program).await.unwrap_err();
    let strange = Installed::new("echo hello");
    assert_eq!(find_anew(&kept, &strange.program).await.unwrap().version, None);
    assert!(kept.0.lock().unwrap().is_empty());
}
