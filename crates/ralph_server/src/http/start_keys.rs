//! `StartKeys`: which run an idempotency key has started, as small files in the state directory. A start under a key
//! therefore works while the index is away, and is not repeated by a server after one that was killed half way.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use ralph_run::{Durability, write_atomic};
use serde::{Deserialize, Serialize};

use crate::auth::digest_hex;

/// How long a key keeps its meaning.
pub(super) const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The keys of one state directory.
#[derive(Debug, Clone)]
pub(crate) struct StartKeys {
    directory: PathBuf,
}

/// What a key was used for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StartKey {
    /// A digest of the request: another request under the same key is refused.
    pub(super) digest: String,
    /// The name of the run.
    pub(super) run: String,
    /// When the key was first used.
    at: Timestamp,
    /// Whether the run has started. A start that was refused leaves no key.
    pub(super) has_started: bool,
}

impl StartKeys {
    pub(crate) fn in_state_directory(state: &Path) -> Self {
        Self {
            directory: state.join("start-keys"),
        }
    }

    /// What the key was used for. A new one is stored first, for a run of this name.
    pub(super) fn claim(&self, key: &str, digest: &str, run: String) -> io::Result<StartKey> {
        if let Some(known) = self.read(key)? {
            return Ok(known);
        }
        self.remove_old();
        let claimed = StartKey {
            digest: digest.to_owned(),
            run,
            at: Timestamp::now(),
            has_started: false,
        };
        self.write(key, &claimed)?;
        Ok(claimed)
    }

    /// The run of a key has started.
    pub(super) fn set_started(&self, key: &str, claimed: &StartKey) -> io::Result<()> {
        let started = StartKey {
            has_started: true,
            ..claimed.clone()
        };
        self.write(key, &started)
    }

    pub(super) fn release(&self, key: &str) -> io::Result<()> {
        match fs::remove_file(self.path(key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn read(&self, key: &str) -> io::Result<Option<StartKey>> {
        let bytes = match fs::read(self.path(key)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let known: Option<StartKey> = serde_json::from_slice(&bytes).ok();
        Ok(known.filter(|known| Timestamp::now().duration_since(known.at).unsigned_abs() < KEPT))
    }

    fn write(&self, key: &str, value: &StartKey) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        write_atomic(&self.path(key), &serde_json::to_vec(value)?, Durability::Synced)
    }

    /// The client chose the key: its digest is the name of the file.
    fn path(&self, key: &str) -> PathBuf {
        self.directory.join(digest_hex(&[key.as_bytes()]))
    }

    fn remove_old(&self) {
        let now = SystemTime::now();
        let is_old = |entry: &fs::DirEntry| {
            let written = entry.metadata().and_then(|file| file.modified());
            written.is_ok_and(|written| now.duration_since(written).is_ok_and(|age| age > KEPT))
        };
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            if is_old(&entry) {
                // The next start tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StartKeys;

    #[test]
    fn a_key_names_one_run_until_it_is_released() {
        let state = tempfile::tempdir().unwrap();
        let keys = StartKeys::in_state_directory(state.path());
        let first = keys.claim("../k", "d", "run-1".into()).unwrap();
        assert_eq!(keys.claim("../k", "other", "run-2".into()).unwrap(), first);
        keys.set_started("../k", &first).unwrap();
        assert!(keys.claim("../k", "d", "run-3".into()).unwrap().has_started);
        keys.release("../k").unwrap();
        keys.release("../k").unwrap();
        assert_eq!(keys.claim("../k", "d", "run-4".into()).unwrap().run, "run-4");
    }

    #[test]
    fn a_damaged_or_old_key_is_a_new_one() {
        let state = tempfile::tempdir().unwrap();
        let keys = StartKeys::in_state_directory(state.path());
        keys.claim("k", "d", "run-1".into()).unwrap();
        std::fs::write(keys.path("k"), "{").unwrap();
        assert_eq!(keys.claim("k", "d", "run-2".into()).unwrap().run, "run-2");
        let old = r#"{"digest":"d","run":"run-3","at":"2020-01-01T00:00:00Z","has_started":true}"#;
        std::fs::write(keys.path("k"), old).unwrap();
        assert_eq!(keys.claim("k", "d", "run-4".into()).unwrap().run, "run-4");
    }
}
