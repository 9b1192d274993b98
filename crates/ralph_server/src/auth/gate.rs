//! Everything about who may ask, in one place.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::bucket::Failures;
use super::error::AuthError;
use super::hosts::Hosts;
use super::secret::{same, sha256};
use super::sessions::{Sessions, Visit};
use super::token::Token;

/// What a server needs to know to tell who may ask.
#[derive(Debug, Clone)]
pub struct AuthOptions {
    /// Where the token is kept: the user's state directory, which nobody else can write to.
    pub state_directory: PathBuf,
    /// The port it listens on.
    pub port: u16,
    /// Further names under which it may be asked, such as that of a proxy in front of it.
    pub names: Vec<String>,
}

/// Tells who may ask.
#[derive(Debug)]
pub struct Auth {
    hosts: Hosts,
    token: Token,
    sessions: Mutex<Sessions>,
    failures: Mutex<Failures>,
}

impl Auth {
    /// Reads the token, or makes one.
    ///
    /// # Errors
    /// When the token cannot be read or made, others can read it, or a name is none.
    pub fn open(options: &AuthOptions) -> Result<Self, AuthError> {
        Ok(Self {
            hosts: Hosts::new(options.port, &options.names)?,
            token: Token::open(&options.state_directory)?,
            sessions: Mutex::new(Sessions::open(&options.state_directory, Timestamp::now())),
            failures: Mutex::default(),
        })
    }

    /// The server listens on this address: it may be asked under it, unless it stands for all addresses.
    #[must_use]
    pub fn bound_to(mut self, address: SocketAddr) -> Self {
        self.hosts.add_bound(address);
        self
    }

    /// Where a person logs in, once, within ten minutes.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn login_url(&self) -> Result<String, AuthError> {
        let code = self.new_login_code()?;
        Ok(format!("http://{}/login?code={code}", self.hosts.shown()))
    }

    /// The file with the token, for scripts.
    #[must_use]
    pub fn token_path(&self) -> &Path {
        &self.token.path
    }

    /// A code that opens one browser's session within ten minutes: `/login?code=…`.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn new_login_code(&self) -> Result<String, AuthError> {
        self.sessions().new_code(Timestamp::now())
    }

    pub(crate) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    pub(crate) fn is_token(&self, token: &str) -> bool {
        same(&sha256(token.as_bytes()), &self.token.digest)
    }

    pub(crate) fn enter(&self, session: &str) -> Option<Visit> {
        self.sessions().enter(session, Timestamp::now())
    }

    pub(crate) fn redeem_code(&self, code: &str) -> Result<Option<String>, AuthError> {
        self.sessions().redeem(code, Timestamp::now())
    }

    pub(crate) fn begin_session(&self) -> Result<String, AuthError> {
        self.sessions().begin(Timestamp::now())
    }

    pub(crate) fn end_session(&self, session: &str) {
        self.sessions().end(session);
    }

    /// Counts a wrong secret; after too many it says how long to wait. A right one is always let in, so that nobody
    /// can lock the user out.
    pub(crate) fn count_failure(&self, peer: IpAddr) -> Result<(), Duration> {
        lock(&self.failures).count(peer, Instant::now())
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        lock(&self.sessions)
    }
}

/// What these hold is right after every step, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
