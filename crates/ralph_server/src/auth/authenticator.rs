//! `Auth`: decides who a request comes from. Holds the server's names, tokens, sessions and tickets.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::bucket::{Buckets, Throttle};
use super::clock::Clock;
use super::error::AuthError;
use super::hosts::Hosts;
use super::principal::{Credential, Principal};
use super::secret::sha256;
use super::sessions::{Issuer, NewSession, SessionEntry, SessionInfo, Sessions};
use super::start_limits::ServerStartLimits;
use super::tickets::Tickets;
use super::token_registry::{Refreshed, TokenRegistry};

/// How often a server that nobody asks looks whether tokens were revoked. Each request looks, too.
const REFRESH_INTERVAL: Duration = Duration::from_millis(500);
/// How many wrong secrets of one peer are looked at.
const FAILURES_AT_ONCE: u32 = 20;
const FAILURE_EVERY: Duration = Duration::from_secs(3);

/// What a server needs to know to tell who may ask.
#[derive(Debug, Clone)]
pub struct AuthOptions {
    /// Where the tokens are: the user's state directory, which nobody else can write to.
    pub state_directory: PathBuf,
    /// The port it listens on.
    pub port: u16,
    /// Further names under which it may be asked, such as that of a proxy in front of it.
    pub names: Vec<String>,
}

/// Decides who a request comes from.
#[derive(Debug)]
pub struct Auth {
    state_directory: PathBuf,
    hosts: Hosts,
    clock: Clock,
    start_limits: Arc<ServerStartLimits>,
    secrets: Mutex<Secrets>,
    /// Wrong secrets, by peer.
    failures: Mutex<Buckets<IpAddr>>,
    failure_log: Throttle,
}

#[derive(Debug)]
struct Secrets {
    tokens: TokenRegistry,
    sessions: Sessions,
    tickets: Tickets,
}

impl Secrets {
    /// Notices tokens that were made, revoked or replaced meanwhile.
    fn refresh(&mut self, now: Timestamp) {
        match self.tokens.refresh() {
            Refreshed::Removed => self.end_orphans(now),
            // Sessions end for good, so not because of a file that can be read again in a moment.
            Refreshed::Unchanged | Refreshed::Unreadable => {}
        }
    }

    /// Ends the sessions whose token is gone or allows something else now.
    fn end_orphans(&mut self, now: Timestamp) {
        let tokens = &self.tokens;
        self.sessions
            .keep_issued_by(|issuer| tokens.stands_behind(issuer), now);
    }
}

impl Auth {
    /// Reads the tokens; makes the server's own if there is none.
    ///
    /// # Errors
    /// If the server token cannot be read or made, others can read it, or a name is invalid.
    pub fn open(options: &AuthOptions) -> Result<Self, AuthError> {
        let clock = Clock::new();
        let tokens = TokenRegistry::open(&options.state_directory)?;
        let mut secrets = Secrets {
            tokens,
            sessions: Sessions::open(&options.state_directory),
            tickets: Tickets::default(),
        };
        if secrets.tokens.is_complete() {
            secrets.end_orphans(clock.now());
        }
        Ok(Self {
            state_directory: options.state_directory.clone(),
            hosts: Hosts::new(options.port, &options.names)?,
            clock,
            start_limits: Arc::default(),
            secrets: Mutex::new(secrets),
            failures: Mutex::new(Buckets::new(FAILURES_AT_ONCE, FAILURE_EVERY)),
            failure_log: Throttle::default(),
        })
    }

    /// The server listens on this address: it may be asked under it, unless it stands for all addresses.
    #[must_use]
    pub fn bound_to(mut self, address: SocketAddr) -> Self {
        self.hosts.add_bound(address);
        self
    }

    /// The server speaks TLS itself: its pages are `https`.
    #[must_use]
    pub fn with_tls(mut self) -> Self {
        self.hosts.set_tls();
        self
    }

    /// What runs may use, whoever starts them.
    #[must_use]
    pub fn with_start_limits(mut self, limits: ServerStartLimits) -> Self {
        self.start_limits = Arc::new(limits);
        self
    }

    /// Where a person finds the server.
    #[must_use]
    pub fn url(&self) -> String {
        self.hosts.url()
    }

    /// Where a person logs in, once, within ten minutes. The code is in the fragment, which browsers send to nobody.
    ///
    /// # Errors
    /// If the system gives no random numbers, or there is no server token.
    pub fn login_url(&self) -> Result<String, AuthError> {
        let code = self.new_login_code()?;
        Ok(format!("{}/login#code={code}", self.hosts.url()))
    }

    /// The file with the server token, for scripts.
    #[must_use]
    pub fn token_path(&self) -> PathBuf {
        lock(&self.secrets).tokens.server_path().to_owned()
    }

    /// A code that opens one browser's session within ten minutes.
    ///
    /// # Errors
    /// If the system gives no random numbers, or there is no server token.
    pub fn new_login_code(&self) -> Result<String, AuthError> {
        let now = self.clock.now();
        let secrets = &mut *self.secrets(now);
        let Some(server) = secrets.tokens.server_issuer() else {
            return Err(AuthError::NotAToken(secrets.tokens.server_path().to_owned()));
        };
        secrets.sessions.new_code(&server, now)
    }

    /// Closes what was opened with tokens that were revoked since, for ever.
    pub async fn watch_tokens(&self) {
        loop {
            drop(self.secrets(self.clock.now()));
            tokio::time::sleep(REFRESH_INTERVAL).await;
        }
    }

    pub(crate) fn state_directory(&self) -> &Path {
        &self.state_directory
    }

    pub(crate) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Whoever shows a token or the key of a session.
    pub(crate) fn authenticate(&self, secret: &str) -> Option<Principal> {
        let (now, digest) = (self.clock.now(), sha256(secret.as_bytes()));
        let Secrets { tokens, sessions, .. } = &mut *self.secrets(now);
        let by_token = tokens.enter(&digest, self.clock, now);
        let principal = by_token.or_else(|| {
            let is_accepted = |issuer: &Issuer| tokens.stands_behind(issuer);
            sessions.enter(&digest, is_accepted, self.clock, now)
        })?;
        Some(Principal {
            server_limits: Arc::clone(&self.start_limits),
            ..principal
        })
    }

    /// Why a secret is not accepted, and what to do. It names times only to those who have the secret of a token.
    pub(crate) fn why_refused(&self, secret: &str) -> String {
        let now = self.clock.now();
        let expired_at = self
            .secrets(now)
            .tokens
            .expired_at(&sha256(secret.as_bytes()), now);
        match expired_at {
            Some(at) => format!(
                "this token expired at {at:.0}, and the clock of this server says {now:.0}: make a new one with `ralph \
                 token create`, or set the clock if it is wrong"
            ),
            None => "this is no token or session of this server: it was revoked, has ended, or belongs to another \
                     server; `ralph token list` on the machine of the server shows its tokens"
                .to_owned(),
        }
    }

    /// Whoever the ticket was issued to. It is used up by that.
    pub(crate) fn redeem_ticket(&self, ticket: &str) -> Option<Principal> {
        let now = self.clock.now();
        self.secrets(now).tickets.redeem(ticket, now)
    }

    pub(crate) fn new_ticket(&self, principal: &Principal) -> Result<(String, Timestamp), AuthError> {
        let now = self.clock.now();
        self.secrets(now).tickets.issue(principal, now)
    }

    /// Opens a session with a code; none if the code is not valid any more.
    pub(crate) fn login_by_code(
        &self,
        code: &str,
        user_agent: Option<&str>,
    ) -> Result<Option<NewSession>, AuthError> {
        let now = self.clock.now();
        let secrets = &mut *self.secrets(now);
        let issuer = secrets.sessions.redeem(code, now);
        match issuer.and_then(|issuer| secrets.tokens.issuer(&issuer.digest, now)) {
            Some(issuer) => secrets.sessions.begin(&issuer, user_agent, now).map(Some),
            None => Ok(None),
        }
    }

    /// Opens a session with a token; none if it is not one.
    pub(crate) fn login_by_token(
        &self,
        token: &str,
        user_agent: Option<&str>,
    ) -> Result<Option<NewSession>, AuthError> {
        let (now, digest) = (self.clock.now(), sha256(token.as_bytes()));
        let secrets = &mut *self.secrets(now);
        match secrets.tokens.issuer(&digest, now) {
            Some(issuer) => secrets.sessions.begin(&issuer, user_agent, now).map(Some),
            None => Ok(None),
        }
    }

    /// The sessions that somebody may see: all of them if it may do everything, otherwise those
    /// that the same token opened.
    pub(crate) fn sessions_for(&self, principal: &Principal) -> Vec<SessionInfo> {
        let now = self.clock.now();
        let issuer = (!principal.is_unlimited()).then_some(&principal.issuer);
        self.secrets(now).sessions.list(issuer, now)
    }

    /// Ends the sessions that are chosen, of those that somebody may see. Returns how many.
    pub(crate) fn end_sessions(
        &self,
        principal: &Principal,
        is_chosen: impl Fn(&SessionEntry) -> bool,
    ) -> usize {
        let now = self.clock.now();
        let may_end_all = principal.is_unlimited();
        let may_end = |session: &SessionEntry| may_end_all || session.is_issued_by(&principal.issuer);
        self.secrets(now)
            .sessions
            .end(|session| may_end(session) && is_chosen(session), now)
    }

    /// Ends the session that a request was made with.
    pub(crate) fn log_out(&self, principal: &Principal) {
        if let Credential::Session(id) = &principal.credential {
            self.end_sessions(principal, |session| session.id == *id);
        }
    }

    /// Counts a wrong secret; after too many it says how long to wait. A right one is always let in, so that nobody
    /// can lock the user out.
    pub(crate) fn count_failure(&self, peer: IpAddr) -> Result<(), Duration> {
        let now = Instant::now();
        let counted = lock(&self.failures).take(peer, now);
        if counted.is_err() && self.failure_log.is_due(now) {
            tracing::warn!(%peer, "too many wrong secrets");
        }
        counted
    }

    fn secrets(&self, now: Timestamp) -> MutexGuard<'_, Secrets> {
        let mut secrets = lock(&self.secrets);
        secrets.refresh(now);
        secrets
    }
}

/// What these hold is right after every step, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
