//! `Sessions`: browsers that have shown a one-time code or a token, and the codes themselves.

use std::fs;
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

const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const CODE_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// The oldest make room for new ones.
const MAX_SESSIONS: usize = 64;
const MAX_CODES: usize = 16;
const MAX_USER_AGENT_BYTES: usize = 256;
/// When a session was last used is written down this often.
const SAVE_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// A session of a browser. It ends with the token that opened it.
#[derive(Debug)]
pub(crate) struct SessionEntry {
    pub(crate) id: String,
    digest: Digest,
    issuer: Digest,
    pub(crate) scope: Scope,
    workspaces: Option<Arc<[PathBuf]>>,
    pub(crate) user_agent: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) last_used_at: Timestamp,
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
    issuer: Digest,
    expires_at: Timestamp,
}

/// What a session gets from the token that opens it.
#[derive(Debug, Clone)]
pub(super) struct Issuer {
    pub(super) digest: Digest,
    pub(super) scope: Scope,
    pub(super) workspaces: Option<Arc<[PathBuf]>>,
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
    pub(super) fn new_code(&mut self, issuer: &Digest, now: Timestamp) -> Result<String, AuthError> {
        self.codes.retain(|code| code.expires_at > now);
        if self.codes.len() >= MAX_CODES {
            self.codes.remove(0);
        }
        let secret = new_secret()?;
        self.codes.push(LoginCode {
            digest: sha256(secret.as_bytes()),
            issuer: *issuer,
            expires_at: now.saturating_add(CODE_LIFETIME).unwrap_or(now),
        });
        Ok(secret)
    }

    /// Uses up a code. Returns the digest of the token that it was made for.
    pub(super) fn redeem(&mut self, code: &str, now: Timestamp) -> Option<Digest> {
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
        // One that has expired goes first: the clock may have been wrong, so none goes before it must.
        if self.sessions.len() >= MAX_SESSIONS {
            let expired = self
                .sessions
                .iter()
                .position(|session| !session.lifetime.is_valid(now));
            self.sessions.remove(expired.unwrap_or(0));
        }
        let key = new_secret()?;
        let expires_at = now.saturating_add(SESSION_LIFETIME).unwrap_or(now);
        let expires_at = issuer.expires_at.map_or(expires_at, |at| at.min(expires_at));
        let session = SessionEntry {
            id: new_secret()?[..8].to_owned(),
            digest: sha256(key.as_bytes()),
            issuer: issuer.digest,
            scope: issuer.scope,
            workspaces: issuer.workspaces.clone(),
            user_agent: user_agent.map(cut_user_agent),
            created_at: now,
            last_used_at: now,
            lifetime: Lifetime::until(Some(expires_at)),
        };
        let info = session.info();
        self.sessions.push(session);
        self.save(now);
        Ok(NewSession { key, info })
    }

    /// Whoever shows the key of a session.
    pub(super) fn enter(&mut self, digest: &Digest, clock: Clock, now: Timestamp) -> Option<Principal> {
        // All of them are compared, so that the time does not tell which one it was.
        let found = self.sessions.iter_mut().fold(None, |found, session| {
            let is_it = same(&session.digest, digest) && session.lifetime.is_valid(now);
            if is_it { Some(session) } else { found }
        })?;
        found.last_used_at = now;
        let principal = Principal {
            credential: Credential::Session(found.id.clone()),
            scope: found.scope,
            workspaces: found.workspaces.clone(),
            guard: found.lifetime.guard(clock),
            issuer: found.issuer,
            is_by_ticket: false,
        };
        if now.duration_since(self.saved_at).abs() >= SAVE_INTERVAL {
            self.save(now);
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
            .filter(|session| issuer.is_none_or(|issuer| same(issuer, &session.issuer)))
            .map(SessionEntry::info)
            .collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last_used_at));
        sessions
    }

    /// Ends the sessions that are chosen. Returns how many.
    pub(super) fn end(&mut self, is_chosen: impl Fn(&SessionEntry) -> bool, now: Timestamp) -> usize {
        let before = self.sessions.len();
        self.sessions.retain(|session| !is_chosen(session));
        let ended = before - self.sessions.len();
        if ended > 0 {
            self.save(now);
        }
        ended
    }

    /// Ends everything that was opened with a token that is not valid any more.
    pub(super) fn keep_issued_by(&mut self, is_valid: impl Fn(&Digest) -> bool, now: Timestamp) {
        self.codes.retain(|code| is_valid(&code.issuer));
        self.end(|session| !is_valid(&session.issuer), now);
    }

    fn save(&mut self, now: Timestamp) {
        self.saved_at = now;
        let saved: Vec<SavedSession> = self.sessions.iter().map(SavedSession::of).collect();
        let bytes = serde_json::to_vec(&saved).unwrap_or_default();
        if let Err(error) = write_atomic(&self.path, &bytes, Durability::Cached) {
            tracing::warn!(%error, "cannot save login sessions; a restart ends them");
        }
    }
}

impl SessionEntry {
    pub(super) fn is_issued_by(&self, issuer: &Digest) -> bool {
        same(issuer, &self.issuer)
    }

    fn info(&self) -> SessionInfo {
        SessionInfo {
            id: self.id.clone(),
            scope: self.scope,
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
            issuer: hex(&session.issuer),
            scope: session.scope,
            workspaces: session.workspaces.as_deref().map(<[PathBuf]>::to_vec),
            user_agent: session.user_agent.clone(),
            created_at: session.created_at,
            last_used_at: session.last_used_at,
            expires_at: session.lifetime.expires_at.unwrap_or(session.created_at),
        }
    }

    fn load(self) -> Option<SessionEntry> {
        Some(SessionEntry {
            digest: digest_from_hex(&self.sha256)?,
            issuer: digest_from_hex(&self.issuer)?,
            id: self.id,
            scope: self.scope,
            workspaces: self.workspaces.map(Into::into),
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
    use super::{Issuer, MAX_SESSIONS, Sessions};
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
            expires_at: None,
        }
    }

    fn begin(sessions: &mut Sessions, now: Timestamp) -> String {
        sessions.begin(&issuer(), Some("Firefox"), now).unwrap().key
    }

    fn enter(sessions: &mut Sessions, key: &str, now: Timestamp) -> Option<Principal> {
        sessions.enter(&sha256(key.as_bytes()), Clock::new(), now)
    }

    #[test]
    fn a_code_works_once_and_for_ten_minutes() {
        let directory = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(directory.path());
        let code = sessions.new_code(&SERVER, time(0)).unwrap();
        assert!(sessions.redeem("0", time(1)).is_none());
        assert_eq!(sessions.redeem(&code, time(9)), Some(SERVER));
        assert!(sessions.redeem(&code, time(9)).is_none());
        let late = sessions.new_code(&SERVER, time(20)).unwrap();
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
            sessions.new_code(&SERVER, time(0)).unwrap(),
        );
        assert!(enter(&mut sessions, &short, time(4)).is_some());
        assert!(enter(&mut sessions, &short, time(5)).is_none());
        sessions.keep_issued_by(|issuer| *issuer != SERVER, time(1));
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
    fn the_oldest_session_makes_room_but_an_expired_one_goes_first() {
        let directory = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(directory.path());
        let first = begin(&mut sessions, time(0));
        let expiring = Issuer {
            expires_at: Some(time(1)),
            ..issuer()
        };
        sessions.begin(&expiring, None, time(0)).unwrap();
        for _ in 2..MAX_SESSIONS {
            begin(&mut sessions, time(0));
        }
        begin(&mut sessions, time(2));
        assert!(enter(&mut sessions, &first, time(2)).is_some());
        begin(&mut sessions, time(2));
        assert!(enter(&mut sessions, &first, time(2)).is_none());
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
