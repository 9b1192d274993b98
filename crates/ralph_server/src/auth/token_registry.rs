//! `TokenRegistry`: the tokens that a running server accepts. It reads their files again whenever they change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::clock::Clock;
use super::error::AuthError;
use super::lifetime::Lifetime;
use super::principal::{Credential, Principal, Scope};
use super::secret::{Digest, same, sha256};
use super::server_token::{self, ServerToken};
use super::sessions::Issuer;
use super::start_limits::StartLimits;
use super::token_file::{TokenEntry, TokenFile};
use crate::file_stamp::FileStamp;

/// When tokens were last used is written down this often.
const SAVE_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// The tokens that are accepted.
#[derive(Debug)]
pub(super) struct TokenRegistry {
    server_path: PathBuf,
    file: TokenFile,
    tokens: Vec<Accepted>,
    /// The files as they were last read in full.
    seen: Stamps,
    /// The files that could not be read, so that each change of them is logged once.
    refused: Option<Stamps>,
    uses: BTreeMap<String, Timestamp>,
    saved_at: Timestamp,
}

type Stamps = [Option<FileStamp>; 2];

/// What became of the tokens when their files were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refreshed {
    /// They are as they were, or only more.
    Unchanged,
    /// Some were removed or changed, perhaps while a file could not be read.
    Removed,
    /// Some are not accepted for now, because a file cannot be read.
    Unreadable,
}

/// One token.
#[derive(Debug)]
struct Accepted {
    credential: Credential,
    digest: Digest,
    scope: Scope,
    workspaces: Option<Arc<[PathBuf]>>,
    limits: Arc<StartLimits>,
    lifetime: Lifetime,
}

impl TokenRegistry {
    /// Reads the server's token, or makes one, and the tokens that were made for others.
    pub(super) fn open(directory: &Path) -> Result<Self, AuthError> {
        let server = ServerToken::open(directory)?;
        let file = TokenFile::in_directory(directory);
        let mut registry = Self {
            tokens: vec![Accepted::server(server.digest)],
            server_path: server.path,
            seen: [None, None],
            refused: None,
            uses: file.last_uses(),
            saved_at: Timestamp::UNIX_EPOCH,
            file,
        };
        registry.refresh();
        Ok(registry)
    }

    pub(super) fn server_path(&self) -> &Path {
        &self.server_path
    }

    /// Reads the files again if they have changed, or could not be read before.
    pub(super) fn refresh(&mut self) -> Refreshed {
        let stamps = [FileStamp::of(&self.server_path), FileStamp::of(self.file.path())];
        if stamps == self.seen {
            return Refreshed::Unchanged;
        }
        let is_known = self.refused.as_ref() == Some(&stamps);
        let mut wanted = Vec::new();
        let mut is_complete = true;
        match server_token::read(&self.server_path) {
            Ok(token) => wanted.push(Accepted::server(sha256(token.as_bytes()))),
            Err(error) => {
                is_complete = false;
                if !is_known {
                    tracing::warn!(%error, "the server token is refused until its file can be read");
                }
            }
        }
        match self.file.load() {
            Ok(entries) => wanted.extend(entries.into_iter().filter_map(Accepted::named)),
            Err(error) => {
                is_complete = false;
                if !is_known {
                    tracing::warn!(%error, "all other tokens are refused until their file can be read");
                }
            }
        }
        let was_refused = self.refused.is_some();
        match is_complete {
            true => (self.seen, self.refused) = (stamps, None),
            false => self.refused = Some(stamps),
        }
        let before = self.tokens.len();
        // Those that stay keep their connections.
        self.tokens
            .retain(|token| wanted.iter().any(|wanted| wanted.is_same(token)));
        let has_removed = self.tokens.len() < before;
        wanted.retain(|wanted| !self.tokens.iter().any(|token| wanted.is_same(token)));
        self.tokens.append(&mut wanted);
        match (is_complete, has_removed || was_refused) {
            (false, _) => Refreshed::Unreadable,
            (true, true) => Refreshed::Removed,
            (true, false) => Refreshed::Unchanged,
        }
    }

    /// Whoever shows a token.
    pub(super) fn enter(&mut self, digest: &Digest, clock: Clock, now: Timestamp) -> Option<Principal> {
        let principal = self.find(digest, now)?.principal(clock);
        if let Credential::Token(name) = &principal.credential {
            self.note_use(name.clone(), now);
        }
        Some(principal)
    }

    /// When a token that is not valid any more has expired.
    pub(super) fn expired_at(&self, digest: &Digest, now: Timestamp) -> Option<Timestamp> {
        let mut tokens = self.tokens.iter();
        let token = tokens.find(|token| same(&token.digest, digest) && !token.lifetime.is_valid(now))?;
        token.lifetime.expires_at
    }

    /// What a session that this token opens may do.
    pub(super) fn issuer(&self, digest: &Digest, now: Timestamp) -> Option<Issuer> {
        self.find(digest, now).map(Accepted::issuer)
    }

    /// What a session that the server's own token opens may do.
    pub(super) fn server_issuer(&self) -> Option<Issuer> {
        let mut tokens = self.tokens.iter();
        tokens
            .find(|token| token.credential == Credential::ServerToken)
            .map(Accepted::issuer)
    }

    /// Whether all files could be read.
    pub(super) fn is_complete(&self) -> bool {
        self.refused.is_none()
    }

    /// Whether a token is accepted and allows what a session was opened with.
    pub(super) fn stands_behind(&self, opened: &Issuer) -> bool {
        self.tokens.iter().any(|token| {
            let is_as_long = match (token.lifetime.expires_at, opened.expires_at) {
                (None, _) => true,
                (Some(token), Some(session)) => session <= token,
                (Some(_), None) => false,
            };
            same(&token.digest, &opened.digest)
                && token.scope == opened.scope
                && token.workspaces == opened.workspaces
                && token.limits == opened.limits
                && is_as_long
        })
    }

    fn find(&self, digest: &Digest, now: Timestamp) -> Option<&Accepted> {
        // All of them are compared, so that the time does not tell which one it was.
        self.tokens.iter().fold(None, |found, token| {
            let is_it = same(&token.digest, digest) && token.lifetime.is_valid(now);
            if is_it { Some(token) } else { found }
        })
    }

    fn note_use(&mut self, name: String, now: Timestamp) {
        let is_first = self.uses.insert(name, now).is_none();
        if is_first || now.duration_since(self.saved_at).abs() >= SAVE_INTERVAL {
            self.saved_at = now;
            let tokens = &self.tokens;
            self.uses.retain(|name, _| {
                let named = Credential::Token(name.clone());
                tokens.iter().any(|token| token.credential == named)
            });
            self.file.save_uses(&self.uses);
        }
    }
}

impl Accepted {
    fn server(digest: Digest) -> Self {
        Self {
            credential: Credential::ServerToken,
            digest,
            scope: Scope::Admin,
            workspaces: None,
            limits: Arc::default(),
            lifetime: Lifetime::until(None),
        }
    }

    fn named(entry: TokenEntry) -> Option<Self> {
        Some(Self {
            digest: entry.digest()?,
            credential: Credential::Token(entry.name),
            scope: entry.scope,
            workspaces: (!entry.workspaces.is_empty()).then(|| entry.workspaces.into()),
            limits: Arc::new(entry.limits),
            lifetime: Lifetime::until(entry.expires_at),
        })
    }

    fn issuer(&self) -> Issuer {
        Issuer {
            digest: self.digest,
            scope: self.scope,
            workspaces: self.workspaces.clone(),
            limits: Arc::clone(&self.limits),
            expires_at: self.lifetime.expires_at,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.credential == other.credential
            && same(&self.digest, &other.digest)
            && self.scope == other.scope
            && self.workspaces == other.workspaces
            && self.limits == other.limits
            && self.lifetime.expires_at == other.lifetime.expires_at
    }

    fn principal(&self, clock: Clock) -> Principal {
        Principal {
            credential: self.credential.clone(),
            scope: self.scope,
            workspaces: self.workspaces.clone(),
            limits: Arc::clone(&self.limits),
            server_limits: Arc::default(),
            guard: self.lifetime.guard(clock),
            issuer: self.digest,
            is_by_ticket: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Refreshed, TokenRegistry};
    use crate::auth::clock::Clock;
    use crate::auth::secret::sha256;
    use crate::auth::server_token::{read_token, rotate_server_token};
    use crate::auth::{NewToken, Scope, StartLimits, TokenFile};
    use jiff::{SignedDuration, Timestamp};

    fn create(file: &TokenFile, name: &str, expires_at: Option<Timestamp>) -> String {
        let new = NewToken {
            name: name.to_owned(),
            scope: Scope::Steer,
            workspaces: Vec::new(),
            limits: StartLimits::default(),
            expires_at,
        };
        file.create(new, Timestamp::now()).unwrap()
    }

    #[test]
    fn a_token_works_from_its_creation_to_its_revocation_without_a_restart() {
        let directory = tempfile::tempdir().unwrap();
        let mut registry = TokenRegistry::open(directory.path()).unwrap();
        let (file, now) = (TokenFile::in_directory(directory.path()), Timestamp::now());
        let (kept, gone) = (create(&file, "kept", None), create(&file, "gone", None));
        let enter = |registry: &mut TokenRegistry, secret: &str| {
            registry.refresh();
            registry.enter(&sha256(secret.as_bytes()), Clock::new(), now)
        };
        let (kept_one, gone_one) = (
            enter(&mut registry, &kept).unwrap(),
            enter(&mut registry, &gone).unwrap(),
        );
        assert!(kept_one.scope == Scope::Steer && kept_one.actor() == "token kept");
        assert!(file.last_uses().contains_key("kept"));
        file.revoke("gone").unwrap();
        assert!(enter(&mut registry, &gone).is_none() && gone_one.guard.is_over());
        assert!(enter(&mut registry, &kept).is_some() && !kept_one.guard.is_over());
        // A file that cannot be read lets nobody in but the owner.
        std::fs::write(file.path(), "{").unwrap();
        assert!(enter(&mut registry, &kept).is_none() && kept_one.guard.is_over());
        let server = read_token(directory.path()).unwrap();
        assert!(enter(&mut registry, &server).is_some());
    }

    #[test]
    fn an_expired_token_is_refused_and_a_rotated_one_ends_what_it_opened() {
        let directory = tempfile::tempdir().unwrap();
        let mut registry = TokenRegistry::open(directory.path()).unwrap();
        let (file, now) = (TokenFile::in_directory(directory.path()), Timestamp::now());
        let secret = create(&file, "short", Some(now + SignedDuration::from_mins(1)));
        registry.refresh();
        let digest = sha256(secret.as_bytes());
        assert!(registry.enter(&digest, Clock::new(), now).is_some());
        assert!(
            registry
                .enter(&digest, Clock::new(), now + SignedDuration::from_mins(1))
                .is_none()
        );
        let old = read_token(directory.path()).unwrap();
        let inside = registry
            .enter(&sha256(old.as_bytes()), Clock::new(), now)
            .unwrap();
        rotate_server_token(directory.path()).unwrap();
        assert!(registry.refresh() == Refreshed::Removed && inside.guard.is_over());
        assert!(
            registry
                .enter(&sha256(old.as_bytes()), Clock::new(), now)
                .is_none()
        );
        let new = read_token(directory.path()).unwrap();
        assert!(
            new != old
                && registry
                    .enter(&sha256(new.as_bytes()), Clock::new(), now)
                    .is_some()
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_could_not_be_read_is_read_once_it_can_be() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let mut registry = TokenRegistry::open(directory.path()).unwrap();
        let server = sha256(read_token(directory.path()).unwrap().as_bytes());
        let path = registry.server_path().to_owned();
        let now = Timestamp::now();
        set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        // The clock of the file system moves in steps of some milliseconds.
        while registry.refresh() != Refreshed::Unreadable {
            set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        }
        assert!(registry.enter(&server, Clock::new(), now).is_none());
        set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(registry.refresh(), Refreshed::Removed);
        assert!(registry.enter(&server, Clock::new(), now).is_some());
        assert_eq!(registry.refresh(), Refreshed::Unchanged);
    }
}
