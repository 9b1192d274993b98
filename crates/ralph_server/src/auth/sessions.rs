//! Browsers that have shown a one-time code or the token, and the codes themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use ralph_run::{Durability, write_atomic};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::timeout;

use super::error::AuthError;
use super::secret::{Digest, hex, is_secret, new_secret, same, sha256};

pub(crate) const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const CODE_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// The oldest make room for new ones.
const MOST_SESSIONS: usize = 64;
const MOST_CODES: usize = 16;
const LOOK_AT_CLOCK: Duration = Duration::from_secs(30);

/// Something that opens the door until a time.
#[derive(Debug)]
struct Pass {
    digest: Digest,
    expires_at: Timestamp,
    /// Those who are inside notice when it is gone.
    inside: watch::Sender<()>,
}

impl Pass {
    fn new(digest: Digest, expires_at: Timestamp) -> Self {
        Self {
            digest,
            expires_at,
            inside: watch::Sender::new(()),
        }
    }
}

/// Somebody who was let in by a session, and stays for as long as that lasts.
#[derive(Debug, Clone)]
pub struct Visit {
    expires_at: Timestamp,
    pass: watch::Receiver<()>,
}

impl Visit {
    /// Whether the session has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.pass.has_changed().is_err() || self.expires_at <= Timestamp::now()
    }

    /// Resolves when the session has ended. Cancelling the wait loses nothing.
    pub(crate) async fn over(&mut self) {
        while !self.is_over() {
            let left = Timestamp::now().duration_until(self.expires_at);
            // The clock may be set meanwhile, so it is looked at now and then.
            let left = left.unsigned_abs().min(LOOK_AT_CLOCK);
            let _ = timeout(left, self.pass.changed()).await;
        }
    }
}

#[derive(Serialize, Deserialize)]
struct SavedPass {
    sha256: String,
    expires_at: Timestamp,
}

/// Sessions of browsers, kept over restarts as digests, and codes that open one once.
#[derive(Debug)]
pub(super) struct Sessions {
    path: PathBuf,
    sessions: Vec<Pass>,
    codes: Vec<Pass>,
}

impl Sessions {
    /// Reads what was kept. A file that cannot be read costs a login, nothing else.
    pub(super) fn open(directory: &Path, now: Timestamp) -> Self {
        let path = directory.join("server-sessions.json");
        let saved: Vec<SavedPass> = fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let passes = saved
            .into_iter()
            .filter_map(|pass| Some(Pass::new(digest_of(&pass.sha256)?, pass.expires_at)));
        let mut sessions: Vec<Pass> = passes.collect();
        retain_valid(&mut sessions, now);
        Self {
            path,
            sessions,
            codes: Vec::new(),
        }
    }

    /// A code that opens one session within ten minutes.
    pub(super) fn new_code(&mut self, now: Timestamp) -> Result<String, AuthError> {
        issue(&mut self.codes, now, CODE_LIFETIME, MOST_CODES)
    }

    /// Opens a session with a code, which is used up by that.
    pub(super) fn redeem(&mut self, code: &str, now: Timestamp) -> Result<Option<String>, AuthError> {
        retain_valid(&mut self.codes, now);
        let digest = sha256(code.as_bytes());
        let Some(place) = self.codes.iter().position(|pass| same(&pass.digest, &digest)) else {
            return Ok(None);
        };
        self.codes.remove(place);
        self.begin(now).map(Some)
    }

    /// Opens a session.
    pub(super) fn begin(&mut self, now: Timestamp) -> Result<String, AuthError> {
        let secret = issue(&mut self.sessions, now, SESSION_LIFETIME, MOST_SESSIONS)?;
        self.save();
        Ok(secret)
    }

    /// Lets somebody in who shows a session.
    pub(super) fn enter(&self, session: &str, now: Timestamp) -> Option<Visit> {
        let digest = sha256(session.as_bytes());
        // All of them are looked at, so that the time does not tell which one it was.
        let found = self.sessions.iter().fold(None, |found, pass| {
            let is_it = same(&pass.digest, &digest) && pass.expires_at > now;
            if is_it { Some(pass) } else { found }
        });
        found.map(|pass| Visit {
            expires_at: pass.expires_at,
            pass: pass.inside.subscribe(),
        })
    }

    pub(super) fn end(&mut self, session: &str) {
        let digest = sha256(session.as_bytes());
        self.sessions.retain(|pass| !same(&pass.digest, &digest));
        self.save();
    }

    fn save(&self) {
        let saved: Vec<SavedPass> = self
            .sessions
            .iter()
            .map(|pass| SavedPass {
                sha256: hex(&pass.digest),
                expires_at: pass.expires_at,
            })
            .collect();
        let bytes = serde_json::to_vec(&saved).unwrap_or_default();
        if let Err(error) = write_atomic(&self.path, &bytes, Durability::Cached) {
            tracing::warn!(%error, "cannot keep the sessions of browsers over a restart");
        }
    }
}

fn issue(
    passes: &mut Vec<Pass>,
    now: Timestamp,
    lifetime: Duration,
    most: usize,
) -> Result<String, AuthError> {
    retain_valid(passes, now);
    if passes.len() >= most {
        passes.remove(0);
    }
    let secret = new_secret()?;
    let expires_at = now.saturating_add(lifetime).unwrap_or(now);
    passes.push(Pass::new(sha256(secret.as_bytes()), expires_at));
    Ok(secret)
}

fn retain_valid(passes: &mut Vec<Pass>, now: Timestamp) {
    passes.retain(|pass| pass.expires_at > now);
}

fn digest_of(text: &str) -> Option<Digest> {
    if !is_secret(text) {
        return None;
    }
    let mut digest = [0; 32];
    for (byte, digits) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::Sessions;
    use jiff::{SignedDuration, Timestamp};

    fn time(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    #[test]
    fn a_code_works_once_and_for_ten_minutes() {
        let directory = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(directory.path(), time(0));
        let code = sessions.new_code(time(0)).unwrap();
        assert!(sessions.redeem("0", time(1)).unwrap().is_none());
        let session = sessions.redeem(&code, time(9)).unwrap().unwrap();
        assert!(sessions.enter(&session, time(9)).is_some() && session != code);
        assert!(sessions.redeem(&code, time(9)).unwrap().is_none());
        let late = sessions.new_code(time(20)).unwrap();
        assert!(sessions.redeem(&late, time(30)).unwrap().is_none());
    }

    #[test]
    fn a_session_survives_a_restart_and_ends_after_thirty_days_or_a_logout() {
        let directory = tempfile::tempdir().unwrap();
        let session = Sessions::open(directory.path(), time(0)).begin(time(0)).unwrap();
        let mut again = Sessions::open(directory.path(), time(1));
        assert!(again.enter(&session, time(30 * 24 * 60 - 1)).is_some());
        assert!(again.enter(&session, time(30 * 24 * 60)).is_none());
        again.end(&session);
        let third = Sessions::open(directory.path(), time(1));
        assert!(third.enter(&session, time(1)).is_none());
    }

    #[test]
    fn nothing_on_disk_opens_a_session() {
        let directory = tempfile::tempdir().unwrap();
        let session = Sessions::open(directory.path(), time(0)).begin(time(0)).unwrap();
        let saved = std::fs::read_to_string(directory.path().join("server-sessions.json")).unwrap();
        assert!(!saved.contains(&session));
    }

    #[tokio::test]
    async fn who_is_inside_leaves_when_the_session_ends() {
        let directory = tempfile::tempdir().unwrap();
        let now = Timestamp::now();
        let mut sessions = Sessions::open(directory.path(), now);
        let (one, other) = (sessions.begin(now).unwrap(), sessions.begin(now).unwrap());
        let mut visit = sessions.enter(&one, now).unwrap();
        let stays = sessions.enter(&other, now).unwrap();
        assert!(!visit.is_over());
        sessions.end(&one);
        visit.over().await;
        assert!(visit.is_over() && !stays.is_over());
        // One that expires while it is used.
        let past = now - SignedDuration::from_hours(30 * 24) + SignedDuration::from_millis(50);
        let session = sessions.begin(past).unwrap();
        let mut visit = sessions.enter(&session, past).unwrap();
        visit.over().await;
        assert!(visit.is_over());
    }
}
