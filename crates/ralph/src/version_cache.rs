//! `VersionCache`: the versions of agents, kept between runs because some agents take two seconds to print theirs.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use agent_api::{ProgramFile, Version, VersionMemory};
use ralph_run::{Durability, Home, write_atomic};
use serde::{Deserialize, Serialize};

/// A wrapper script can start another version tomorrow without having changed itself.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_PROGRAMS: usize = 32;

/// `versions.json` in the state directory. If it cannot be read or written, the agents are asked each time.
#[derive(Debug)]
pub struct VersionCache {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    program: ProgramFile,
    version: String,
    asked_at: SystemTime,
}

impl VersionCache {
    pub fn new(home: &Home) -> Self {
        Self {
            path: home.state_directory().join("versions.json"),
        }
    }

    fn load(&self) -> Vec<Entry> {
        let text = std::fs::read(&self.path).unwrap_or_default();
        let mut entries: Vec<Entry> = serde_json::from_slice(&text).unwrap_or_default();
        // A time in the future says nothing about the age.
        entries.retain(|entry| entry.asked_at.elapsed().is_ok_and(|age| age < MAX_AGE));
        entries
    }
}

impl VersionMemory for VersionCache {
    fn recall(&self, program: &ProgramFile) -> Option<Version> {
        let entry = self.load().into_iter().find(|entry| entry.program == *program)?;
        entry.version.parse().ok()
    }

    /// If two processes write at once, one entry may be lost; that program is asked again.
    fn remember(&self, program: &ProgramFile, version: Version) {
        let mut entries = self.load();
        entries.retain(|entry| entry.program.path != program.path);
        let surplus = (entries.len() + 1).saturating_sub(MAX_PROGRAMS);
        entries.drain(..surplus);
        entries.push(Entry {
            program: program.clone(),
            version: version.to_string(),
            asked_at: SystemTime::now(),
        });
        if let Ok(text) = serde_json::to_vec(&entries) {
            let _ = write_atomic(&self.path, &text, Durability::Cached);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use agent_api::{ProgramFile, Version, VersionMemory as _};

    use super::{Entry, MAX_AGE, MAX_PROGRAMS, VersionCache};

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

    fn cache() -> (VersionCache, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("versions.json");
        (VersionCache { path }, folder)
    }

    #[test]
    fn a_version_is_found_again_for_exactly_the_same_file() {
        let (cache, _folder) = cache();
        assert_eq!(cache.recall(&program("/bin/agent")), None);
        cache.remember(&program("/bin/agent"), VERSION);
        cache.remember(&program("/bin/other"), Version::new(1, 0, 0));
        assert_eq!(cache.recall(&program("/bin/agent")), Some(VERSION));
        let mut changed = program("/bin/agent");
        changed.inode = 9;
        assert_eq!(cache.recall(&changed), None);
        cache.remember(&changed, Version::new(2, 2, 0));
        assert_eq!(cache.recall(&program("/bin/agent")), None);
        assert_eq!(cache.recall(&program("/bin/other")), Some(Version::new(1, 0, 0)));
    }

    #[test]
    fn a_damaged_file_says_nothing_and_is_replaced() {
        let (cache, _folder) = cache();
        for damage in ["", "{", "[1]", r#"[{"version":"x"}]"#, "\0\u{1}"] {
            fs::write(&cache.path, damage).unwrap();
            assert_eq!(cache.recall(&program("/bin/agent")), None, "{damage}");
            cache.remember(&program("/bin/agent"), VERSION);
            assert_eq!(cache.recall(&program("/bin/agent")), Some(VERSION), "{damage}");
        }
    }

    #[test]
    fn an_old_version_and_one_from_the_future_are_ignored() {
        let (cache, _folder) = cache();
        let now = SystemTime::now();
        for (asked_at, expected) in [
            (now - MAX_AGE + Duration::from_secs(60), Some(VERSION)),
            (now - MAX_AGE - Duration::from_secs(60), None),
            (now + Duration::from_secs(3600), None),
        ] {
            let entry = Entry {
                program: program("/bin/agent"),
                version: VERSION.to_string(),
                asked_at,
            };
            fs::write(&cache.path, serde_json::to_vec(&[entry]).unwrap()).unwrap();
            assert_eq!(cache.recall(&program("/bin/agent")), expected);
        }
    }

    #[test]
    fn the_file_does_not_grow_without_limit() {
        let (cache, _folder) = cache();
        for number in 0..MAX_PROGRAMS + 10 {
            cache.remember(&program(&format!("/bin/agent-{number}")), VERSION);
        }
        assert_eq!(cache.load().len(), MAX_PROGRAMS);
        assert_eq!(cache.recall(&program("/bin/agent-0")), None);
    }
}
