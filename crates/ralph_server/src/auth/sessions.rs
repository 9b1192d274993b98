//! `Sessions`: browsers that have shown a one-time code or a token, and the codes themselves.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ralph_run::{Durability, write_atomic};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::error::AuthError;
use super::lifetime::Lifetime;
use super::principal::{Credential, Principal, Scope};
use super::secret::{Digest, digest_from_hex, hex, new_secret, same, sha256};
use super::start_limits::StartLimits;

const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const CODE_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// Sessions of one token. Whoever has a token can only end sessions that it opened.
const MAX_SESSIONS_OF_ONE: usize = 16;
const MAX_CODES: usize = 16;
const MAX_USER_AGENT_BYTES: usize = 256;
/// When a session was last used is written down this often.
const SAVE_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// A session of a browser. It ends with the token that opened it.
#[derive(Debug)]
pub(crate) struct SessionEntry {
    pub(crate) id: String,
    digest: Digest,
    issuer: Issuer,
    user_agent: Option<String>,
    created_at: Timestamp,
    last_used_at: Timestamp,
    lifetime: Lifetime,
}

/// A session as a person sees it in a list.
#[derive(Debug, Clone)]
pub(crate) struct SessionInfo {
    pub(crate) id: String,
    pub(crate) scope: Scope,
    pub(crate) user_agent: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) last_used_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
struct SavedSession {
    id: String,
    sha256: String,
    issuer: String,
    scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspaces: Option<Vec<PathBuf>>,
    #[serde(default, skip_serializing_if = "StartLimits::is_unlimited")]
    limits: StartLimits,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
}

/// A code that opens one session.
#[derive(Debug)]
struct LoginCode {
    digest: Digest,
    issuer: Issuer,
    expires_at: Timestamp,
}

/// What a session has from the token that opened it. Its end is that of the session.
#[derive(Debug, Clone)]
pub(super) struct Issuer {
    pub(super) digest: Digest,
    pub(super) scope: Scope,
    pub(super) workspaces: Option<Arc<[PathBuf]>>,
    pub(super) limits: Arc<StartLimits>,
    pub(super) expires_at: Option<Timestamp>,
}

/// A new session: the key is shown once, only its digest is kept.
#[derive(Debug, Clone)]
pub(crate) struct NewSession {
    pub(crate) key: String,
    pub(crate) info: SessionInfo,
}

/// Sessions of browsers, kept over restarts as digests, and codes that open one once.
#[derive(Debug)]
pub(super) struct Sessions {
    path: PathBuf,
    sessions: Vec<SessionEntry>,
    codes: Vec<LoginCode>,
    saved_at: Timestamp,
}

impl Sessions {
    /// Reads what was kept. A file that cannot be read, or that is of a version with cookies, costs a login.
    pub(super) fn open(directory: &Path) -> Self {
        let path = directory.join("server-sessions.json");
        let saved: Vec<SavedSession> = fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        Self {
            path,
            sessions: saved.into_iter().filter_map(SavedSession::load).collect(),
            codes: Vec::new(),
            saved_at: Timestamp::UNIX_EPOCH,
        }
    }

    /// A code that opens one session within ten minutes.
    pub(super) fn new_code(&mut self, issuer: &Issuer, now: Timestamp) -> Result<String, AuthError> {
        self.codes.retain(|code| code.expires_at > now);
        if self.codes.len() >= MAX_CODES {
            self.codes.remove(0);
        }
        let secret = new_secret()?;
        self.codes.push(LoginCode {
            digest: sha256(secret.as_bytes()),
            issuer: issuer.clone(),
            expires_at: now.saturating_add(CODE_LIFETIME).unwrap_or(now),
        });
        Ok(secret)
    }

    /// Uses up a code. Returns the token that it was made for.
    pub(super) fn redeem(&mut self, code: &str, now: Timestamp) -> Option<Issuer> {
        let digest = sha256(code.as_bytes());
        let found = self.codes.iter().position(|code| same(&code.digest, &digest))?;
        let code = self.codes.remove(found);
        (code.expires_at > now).then_some(code.issuer)
    }

    /// Opens a session that lasts 30 days, but not longer than the token.
    pub(super) fn begin(
        &mut self,
        issuer: &Issuer,
        user_agent: Option<&str>,
        now: Timestamp,
    ) -> Result<NewSession, AuthError> {
        self.make_room(&issuer.digest, now);
        let key = new_secret()?;
        let expires_at = now.saturating_add(SESSION_LIFETIME).unwrap_or(now);
        let expires_at = issuer.expires_at.map_or(expires_at, |at| at.min(expires_at));
        let session = SessionEntry {
            id: new_secret()?[..8].to_owned(),
            digest: sha256(key.as_bytes()),
            issuer: Issuer {
                expires_at: Some(expires_at),
                ..issuer.clone()
            },
            user_agent: user_agent.map(cut_user_agent),
            created_at: now,
            last_used_at: now,
            lifetime: Lifetime::until(Some(expires_at)),
        };
        let info = session.info();
        self.sessions.push(session);
        self.save(now, Durability::Cached);
        Ok(NewSession { key, info })
    }

    /// Removes a session of a token that has as many as it may: one that has expired, otherwise the one that was not
    /// used for the longest time. None goes before it must, as the clock may have been wrong.
    fn make_room(&mut self, issuer: &Digest, now: Timestamp) {
        let own = self.sessions.iter().enumerate();
        let own = own.filter(|(_, session)| session.is_issued_by(issuer));
        if own.clone().count() < MAX_SESSIONS_OF_ONE {
            return;
        }
        let oldest = own.min_by_key(|(_, session)| (session.lifetime.is_valid(now), session.last_used_at));
        if let Some((index, _)) = oldest {
            self.sessions.remove(index);
        }
    }

    /// Whoever shows the key of a session, as long as the token that opened it is accepted.
    pub(super) fn enter(
        &mut self,
        digest: &Digest,
        is_accepted: impl Fn(&Issuer) -> bool,
        clock: Clock,
        now: Timestamp,
    ) -> Option<Principal> {
        // All of them are compared, so that the time does not tell which one it was.
        let found = self.sessions.iter_mut().fold(None, |found, session| {
            let is_it = same(&session.digest, digest) && session.lifetime.is_valid(now);
            if is_it { Some(session) } else { found }
        })?;
        if !is_accepted(&found.issuer) {
            return None;
        }
        found.last_used_at = now;
        let principal = Principal {
            credential: Credential::Session(found.id.clone()),
            scope: found.issuer.scope,
            workspaces: found.issuer.workspaces.clone(),
            limits: Arc::clone(&found.issuer.limits),
            server_limits: Arc::default(),
            guard: found.lifetime.guard(clock),
            issuer: found.issuer.digest,
            is_by_ticket: false,
        };
        if now.duration_since(self.saved_at).abs() >= SAVE_INTERVAL {
            self.save(now, Durability::Cached);
        }
        Some(principal)
    }

    /// The valid sessions, newest use first; only those of one token if it is given.
    pub(super) fn list(&self, issuer: Option<&Digest>, now: Timestamp) -> Vec<SessionInfo> {
        let valid = self
            .sessions
            .iter()
            .filter(|session| session.lifetime.is_valid(now));
        let mut sessions: Vec<SessionInfo> = valid
            .filter(|session| issuer.is_none_or(|issuer| session.is_issued_by(issuer)))
            .map(SessionEntry::info)
            .collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last_used_at));
        sessions
    }

    /// Ends the sessions that are chosen, for good: also if their end cannot be saved. Returns how many.
    pub(super) fn end(&mut self, is_chosen: impl Fn(&SessionEntry) -> bool, now: Timestamp) -> usize {
        let before = self.sessions.len();
        self.sessions.retain(|session| !is_chosen(session));
        let ended = before - self.sessions.len();
        if ended > 0 && !self.save(now, Durability::Synced) {
            // What the file has would come back with the next start. A full disk takes no new file, but loses an old one.
            match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::error!(%error, "cannot save that login sessions have ended; a restart revives them");
                }
                Ok(()) | Err(_) => {}
            }
        }
        ended
    }

    /// Ends everything that was opened with a token that is not valid any more, or allows something else now.
    pub(super) fn keep_issued_by(&mut self, is_accepted: impl Fn(&Issuer) -> bool, now: Timestamp) {
        self.codes.retain(|code| is_accepted(&code.issuer));
        self.end(|session| !is_accepted(&session.issuer), now);
    }

    /// Returns whether the sessions are saved.
    fn save(&mut self, now: Timestamp, durability: Durability) -> bool {
        self.saved_at = now;
        let saved: Vec<SavedSession> = self.sessions.iter().map(SavedSession::of).collect();
        let bytes = serde_json::to_vec(&saved).unwrap_or_default();
        let written = write_atomic(&self.path, &bytes, durability);
        if let Err(error) = &written {
            tracing::warn!(%error, "cannot save login sessions; a restart ends those that are not saved");
        }
        written.is_ok()
    }
}

impl SessionEntry {
    pub(super) fn is_issued_by(&self, issuer: &Digest) -> bool {
        same(issuer, &self.issuer.digest)
    }

    fn info(&self) -> SessionInfo {
        SessionInfo {
            id: self.id.clone(),
            scope: self.issuer.scope,
            user_agent: self.user_agent.clone(),
            created_at: self.created_at,
            last_used_at: self.last_used_at,
            expires_at: self.lifetime.expires_at,
        }
    }
}

impl SavedSession {
    fn of(session: &SessionEntry) -> Self {
        Self {
            id: session.id.clone(),
            sha256: hex(&session.digest),
            issuer: hex(&session.issuer.digest),
            scope: session.issuer.scope,
            workspaces: session.issuer.workspaces.as_deref().map(<[PathBuf]>::to_vec),
            limits: session.issuer.limits.as_ref().clone(),
            user_agent: session.user_agent.clone(),
            created_at: session.created_at,
            last_used_at: session.last_used_at,
            expires_at: session.lifetime.expires_at.unwrap_or(session.created_at),
        }
    }

    fn load(self) -> Option<SessionEntry> {
        Some(SessionEntry {
            digest: digest_from_hex(&self.sha256)?,
            issuer: Issuer {
                digest: digest_from_hex(&self.issuer)?,
                scope: self.scope,
                workspaces: self.workspaces.map(Into::into),
                limits: Arc::new(self.limits),
                expires_at: Some(self.expires_at),
            },
            id: self.id,
            user_agent: self.user_agent,
            created_at: self.created_at,
            last_used_at: self.last_used_at,
            lifetime: Lifetime::until(Some(self.expires_at)),
        })
    }
}

fn cut_user_agent(text: &str) -> String {
    let printable = text.chars().filter(|character| !character.is_control());
    let mut cut = String::new();
    for character in printable {
        if cut.len() + character.len_utf8() > MAX_USER_AGENT_BYTES {
            break;
        }
        cut.push(character);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::{Issuer, MAX_SESSIONS_OF_ONE, Sessions};
    use crate::auth::clock::Clock;
    use crate::auth::principal::{Principal, Scope};
    use crate::auth::secret::{Digest, sha256};
    use jiff::{SignedDuration, Timestamp};

    const SERVER: Digest = [1; 32];

    fn time(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    fn issuer() -> Issuer {
        Issuer {
            digest: SERVER,
            scope: Scope::Admin,
            workspaces: None,
            limits: std::sync::Arc::default(),
            expires_at: None,
        }
    }

    fn begin(sessions: &mut Sessions, now: Timestamp) -> String {
        sessions.begin(&issuer(), Some("Firefox"), now).unwrap().key
    }

    fn enter(sessions: &mut Sessions, key: &str, now: Timestamp) -> Option<Principal> {
        sessions.enter(&sha256(key.as_bytes()), |_| true, Clock::new(), now)
    }

    #[test]
    fn a_code_works_once_and_for_ten_minutes() {
        let directory = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(directory.path());
        let code = sessions.new_code(&issuer(), time(0)).unwrap();
        assert!(sessions.redeem("0", time(1)).is_none());
        assert_eq!(sessions.redeem(&code, time(9)).unwrap().digest, SERVER);
        assert!(sessions.redeem(&code, time(9)).is_none());
        let late = sessions.new_code(&issuer(), time(20)).unwrap();
        assert!(sessions.redeem(&late, time(30)).is_none());
    }

    #[test]
    fn a_session_survives_a_restart_and_ends_after_thirty_days_or_a_logout() {
        let directory = tempfile::tempdir().unwrap();
        let key = begin(&mut Sessions::open(directory.path()), time(0));
        let mut again = Sessions::open(directory.path());
        assert!(enter(&mut again, &key, time(30 * 24 * 60 - 1)).is_some());
        assert!(enter(&mut again, &key, time(30 * 24 * 60)).is_none());
        assert_eq!(again.end(|_| true, time(1)), 1);
        assert!(enter(&mut Sessions::open(directory.path()), &key, time(1)).is_none());
    }

    #[test]
    fn a_session_ends_with_its_token_and_lasts_no_longer() {
        let directory = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(directory.path());
        let short = Issuer {
            digest: [2; 32],
            expires_at: Some(time(5)),
            ..issuer()
        };
        let short = sessions.begin(&short, None, time(0)).unwrap().key;
        let (long, code) = (
            begin(&mut sessions, time(0)),
            sessions.new_code(&issuer(), time(0)).unwrap(),
        );
        assert!(enter(&mut sessions, &short, time(4)).is_some());
        assert!(enter(&mut sessions, &short, time(5)).is_none());
        sessions.keep_issued_by(|issuer| issuer.digest != SERVER, time(1));
        assert!(enter(&mut sessions, &long, time(1)).is_none() && sessions.redeem(&code, time(1)).is_none());
        assert!(enter(&mut sessions, &short, time(1)).is_some());
    }

    #[test]
    fn neither_what_is_on_disk_nor_a_file_with_cookies_opens_a_session() {
        let directory = tempfile::tempdir().unwrap();
        let key = begin(&mut Sessions::open(directory.path()), time(0));
        let path = directory.path().join("server-sessions.json");
        assert!(!std::fs::read_to_string(&path).unwrap().contains(&key));
        let digest = "0".repeat(64);
        let old = format!(r#"[{{"sha256":"{digest}","expires_at":"2030-01-01T00:00:00Z"}}]"#);
        std::fs::write(&path, old).unwrap();
        assert!(Sessions::open(directory.path()).list(None, time(0)).is_empty());
    }

    #[test]
    fn the_session_that_was_not_used_for_longest_makes_room_but_an_expired_one_goes_first() {
        let directory = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(directory.path());
        let first = begin(&mut sessions, time(0));
        let expiring = Issuer {
            expires_at: Some(time(1)),
            ..issuer()
        };
        sessions.begin(&expiring, None, time(0)).unwrap();
        let second = begin(&mut sessions, time(1));
        for _ in 3..MAX_SESSIONS_OF_ONE {
            begin(&mut sessions, time(2));
        }
        begin(&mut sessions, time(3));
        assert!(enter(&mut sessions, &first, time(4)).is_some());
        begin(&mut sessions, time(4));
        assert!(enter(&mut sessions, &second, time(4)).is_none());
        assert!(enter(&mut sessions, &first, time(4)).is_some());
    }

    #[test]
    fn a_token_cannot_push_out_the_sessions_of_another_one() {
        let directory = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(directory.path());
        let own = begin(&mut sessions, time(0));
        let other = Issuer {
            digest: [2; 32],
            scope: Scope::Read,
            ..issuer()
        };
        for _ in 0..200 {
            sessions.begin(&other, None, time(1)).unwrap();
        }
        assert!(enter(&mut sessions, &own, time(2)).is_some());
        assert_eq!(sessions.list(None, time(2)).len(), MAX_SESSIONS_OF_ONE + 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_session_that_has_ended_stays_ended_when_that_cannot_be_saved() {
        let directory = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(directory.path());
        let (one, other) = (begin(&mut sessions, time(0)), begin(&mut sessions, time(0)));
        let id = enter(&mut sessions, &one, time(0)).unwrap();
        let id = id.session_id().unwrap().to_owned();
        // A file whose draft cannot be made, as on a full disk.
        let full = directory.path().join("full");
        std::fs::create_dir(&full).unwrap();
        let kept = std::mem::replace(&mut sessions.path, full.join("x".repeat(250)));
        std::fs::copy(&kept, &sessions.path).unwrap();
        assert_eq!(sessions.end(|session| session.id == id, time(1)), 1);
        assert!(!sessions.path.exists(), "a restart would revive the session");
        assert!(enter(&mut sessions, &other, time(1)).is_some());
    }

    #[tokio::test]
    async fn whoever_is_inside_leaves_when_the_session_ends() {
        let directory = tempfile::tempdir().unwrap();
        let now = Timestamp::now();
        let mut sessions = Sessions::open(directory.path());
        let (one, other) = (begin(&mut sessions, now), begin(&mut sessions, now));
        let mut leaves = enter(&mut sessions, &one, now).unwrap();
        let stays = enter(&mut sessions, &other, now).unwrap();
        assert!(!leaves.guard.is_over());
        let id = leaves.session_id().unwrap().to_owned();
        sessions.end(|session| session.id == id, now);
        leaves.guard.over().await;
        assert!(leaves.guard.is_over() && !stays.guard.is_over());
        // One that expires while it is used.
        let past = now - SignedDuration::from_hours(30 * 24) + SignedDuration::from_millis(50);
        let key = begin(&mut sessions, past);
        let mut expires = enter(&mut sessions, &key, past).unwrap();
        expires.guard.over().await;
        assert!(expires.guard.is_over());
    }
}
