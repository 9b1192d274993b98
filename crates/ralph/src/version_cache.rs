//! The agents' versions, kept between runs: some agents take two seconds to say theirs.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agent_api::{Body, Event, ProgramFile, Version, VersionMemory};
use ralph_run::{Durability, Record, RunEvent, Sink, write_atomic};
use serde::{Deserialize, Serialize};

/// A launcher can stand for another version tomorrow without having changed itself.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// More programs than anybody has.
const MOST_PROGRAMS: usize = 32;
const MOST_BYTES: u64 = 64 * 1024;

/// `versions.json` in the user's directory for what can be found out again. Whatever is wrong with it: then it says
/// nothing, and the agents are asked.
#[derive(Debug, Clone)]
pub struct VersionFile {
    path: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    programs: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    program: ProgramFile,
    version: String,
    asked_at: SystemTime,
}

impl VersionFile {
    /// This file. Neither it nor its directory has to be there.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// It is asked anew at the next start.
    pub fn forget(&self, program: &Path) {
        self.change(|programs| programs.retain(|entry| entry.program.path != program));
    }

    fn load(&self) -> Vec<Entry> {
        let mut text = Vec::new();
        let read = ralph_run::open_regular_file(&self.path)
            .and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
        if read.is_err() {
            return Vec::new();
        }
        let content: Content = serde_json::from_slice(&text).unwrap_or_default();
        let mut programs = content.programs;
        // One of the future is as old as nobody knows.
        programs.retain(|entry| entry.asked_at.elapsed().is_ok_and(|age| age < LONGEST));
        programs
    }

    /// Two at once may lose one's change; then a program is asked once more.
    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) {
        let mut programs = self.load();
        change(&mut programs);
        let surplus = programs.len().saturating_sub(MOST_PROGRAMS);
        programs.drain(..surplus);
        let Ok(text) = serde_json::to_vec(&Content { programs }) else {
            return;
        };
        if let Some(directory) = self.path.parent() {
            let mut builder = std::fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            let _ = builder.create(directory);
        }
        // On a full or read-only disk the agents are asked each time.
        let _ = write_atomic(&self.path, &text, Durability::Cached);
    }
}

impl VersionMemory for VersionFile {
    fn recall(&self, program: &ProgramFile) -> Option<Version> {
        let programs = self.load();
        let entry = programs.iter().find(|entry| entry.program == *program)?;
        entry.version.parse().ok()
    }

    fn remember(&self, program: &ProgramFile, version: Version) {
        self.change(|programs| {
            programs.retain(|entry| entry.program.path != program.path);
            programs.push(Entry {
                program: program.clone(),
                version: version.to_string(),
                asked_at: SystemTime::now(),
            });
        });
    }
}

/// Compares what is kept of an agent with what it says of itself when it runs.
#[derive(Debug)]
pub struct VersionCheck {
    /// Where it is kept.
    pub file: VersionFile,
    /// The agent.
    pub program: PathBuf,
    /// What was taken for its version.
    pub version: Version,
}

/// Forgets a version that turns out to be wrong.
impl Sink for VersionCheck {
    fn record(&mut self, record: &Arc<Record>, _line_bytes: usize) {
        if let RunEvent::Agent(Event {
            body: Body::SessionStarted(session),
            ..
        }) = &record.event
            && let Some(said) = session.agent_version.as_deref().and_then(Version::find)
            && said != self.version
        {
            self.file.forget(&self.program);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use agent_api::{AgentKind, Body, Event, ProgramFile, SessionStarted, Version, VersionMemory as _};
    use jiff::Timestamp;
    use ralph_run::{Record, RunEvent, Sink as _};

    use super::{Content, Entry, LONGEST, VersionCheck, VersionFile};

    const VERSION: Version = Version::new(2, 1, 325);

    fn program(path: &str) -> ProgramFile {
        ProgramFile {
            path: path.into(),
            target: "/opt/agent/2.1.325".into(),
            modified: Some(SystemTime::UNIX_EPOCH),
            size: 7,
            inode: 8,
        }
    }

    #[test]
    fn a_version_is_found_again_for_exactly_the_same_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cache/ralph/versions.json");
        let file = VersionFile::new(&path);
        assert_eq!(file.recall(&program("/bin/agent")), None);
        file.remember(&program("/bin/agent"), VERSION);
        file.remember(&program("/bin/other"), Version::new(1, 0, 0));
        assert_eq!(file.recall(&program("/bin/agent")), Some(VERSION));
        let mut changed = program("/bin/agent");
        changed.inode = 9;
        assert_eq!(file.recall(&changed), None);
        file.remember(&changed, Version::new(2, 2, 0));
        assert_eq!(file.recall(&program("/bin/agent")), None);
        assert_eq!(file.recall(&program("/bin/other")), Some(Version::new(1, 0, 0)));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_damaged_file_says_nothing_and_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("versions.json");
        let file = VersionFile::new(&path);
        for damage in [
            "",
            "{",
            "[]",
            r#"{"programs": 1}"#,
            r#"{"programs":[{"version":"x"}]}"#,
            "\0\u{1}",
        ] {
            fs::write(&path, damage).unwrap();
            assert_eq!(file.recall(&program("/bin/agent")), None, "{damage}");
            file.remember(&program("/bin/agent"), VERSION);
            assert_eq!(file.recall(&program("/bin/agent")), Some(VERSION), "{damage}");
        }
    }

    #[test]
    fn an_old_answer_and_one_of_the_future_do_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("versions.json");
        let now = SystemTime::now();
        for (asked_at, expected) in [
            (now - LONGEST + Duration::from_secs(60), Some(VERSION)),
            (now - LONGEST - Duration::from_secs(60), None),
            (now + Duration::from_secs(3600), None),
        ] {
            let entry = Entry {
                program: program("/bin/agent"),
                version: VERSION.to_string(),
                asked_at,
            };
            let content = Content {
                programs: vec![entry],
            };
            fs::write(&path, serde_json::to_vec(&content).unwrap()).unwrap();
            assert_eq!(VersionFile::new(&path).recall(&program("/bin/agent")), expected);
        }
    }

    #[test]
    fn the_file_does_not_grow_without_end() {
        let directory = tempfile::tempdir().unwrap();
        let file = VersionFile::new(directory.path().join("versions.json"));
        for number in 0..50 {
            file.remember(&program(&format!("/bin/agent-{number}")), VERSION);
        }
        assert_eq!(file.recall(&program("/bin/agent-0")), None);
        assert_eq!(file.recall(&program("/bin/agent-49")), Some(VERSION));
    }

    #[test]
    fn an_agent_that_says_another_version_when_it_runs_is_asked_again() {
        let directory = tempfile::tempdir().unwrap();
        let file = VersionFile::new(directory.path().join("versions.json"));
        file.remember(&program("/bin/agent"), VERSION);
        let mut check = VersionCheck {
            file: file.clone(),
            program: Path::new("/bin/agent").to_owned(),
            version: VERSION,
        };
        for (said, expected) in [
            (None, Some(VERSION)),
            (Some("2.1.325"), Some(VERSION)),
            (Some("2.1.326"), None),
        ] {
            let record = Record {
                seq: 1,
                at: Timestamp::UNIX_EPOCH,
                iteration: 1,
                attempt: 1,
                event: RunEvent::Agent(Event::new(
                    AgentKind::CLAUDE_CODE,
                    Body::SessionStarted(Box::new(SessionStarted {
                        agent_version: said.map(str::to_owned),
                        ..SessionStarted::default()
                    })),
                )),
            };
            check.record(&Arc::new(record), 0);
            assert_eq!(file.recall(&program("/bin/agent")), expected, "{said:?}");
        }
    }
}
