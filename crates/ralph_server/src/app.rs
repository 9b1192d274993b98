//! What everything in the server holds on to.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ralph_run::Home;
use ralph_run::ports::Journals;
use ralph_store::{RunSummary, Store};
use tokio::sync::watch;
use tokio::time::{sleep, timeout_at};

use crate::auth::{Auth, Buckets, Principal};
use crate::directory_probe::DirectoryProbe;
use crate::http::{AccessLog, HiddenCursors, StartKeys};
use crate::launch::Launcher;
use crate::live::Hub;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::runners::Runners;
use crate::starts::StartLedger;
use crate::stream::StreamContext;

/// How many runs may be started at once, and how often after that.
const STARTS_AT_ONCE: u32 = 60;
const START_EVERY: Duration = Duration::from_secs(1);

/// How long a request waits for a run that was just started, and how often it looks.
const APPEARANCE_TIMEOUT: Duration = Duration::from_secs(2);
const APPEARANCE_INTERVAL: Duration = Duration::from_millis(10);

/// What everything in the server holds on to.
pub struct App {
    /// The index of runs.
    pub store: Arc<dyn Store>,
    /// The runs and their records.
    pub journals: Arc<dyn Journals>,
    /// Takes commands to runs.
    pub runners: Arc<dyn Runners>,
    /// Starts runs.
    pub launcher: Arc<dyn Launcher>,
    /// Tells who may ask.
    pub auth: Auth,
    /// What happens now.
    pub live: Arc<Hub>,
    /// Becomes true when the server ends.
    pub ending: watch::Receiver<bool>,
    /// Which runs were started under which idempotency key.
    pub(crate) start_keys: StartKeys,
    /// Which runs were started with which token.
    pub(crate) starts: StartLedger,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// The server's version.
    pub version: &'static str,
    /// By token: who starts too many keeps nobody else from it.
    start_rates: Mutex<Buckets<String>>,
    keys: Mutex<HashSet<String>>,
    pub(crate) directory_probe: DirectoryProbe,
    pub(crate) access_log: Arc<AccessLog>,
    pub(crate) hidden_cursors: HiddenCursors,
}

/// What a server is made of.
pub struct AppParts {
    /// The index of runs.
    pub store: Arc<dyn Store>,
    /// The runs and their records.
    pub journals: Arc<dyn Journals>,
    /// Takes commands to runs.
    pub runners: Arc<dyn Runners>,
    /// Starts runs.
    pub launcher: Arc<dyn Launcher>,
    /// Tells who may ask.
    pub auth: Auth,
    /// What happens now.
    pub live: Arc<Hub>,
    /// Becomes true when the server ends.
    pub ending: watch::Receiver<bool>,
    /// Where the server keeps small files of its own.
    pub state_directory: PathBuf,
}

impl App {
    /// A server's parts.
    #[must_use]
    pub fn new(parts: AppParts) -> Self {
        let labels = parts.live.board().labels();
        labels.open(Home::new(&parts.state_directory, None));
        Self {
            access_log: Arc::new(AccessLog::open(parts.auth.state_directory())),
            store: parts.store,
            journals: parts.journals,
            runners: parts.runners,
            launcher: parts.launcher,
            auth: parts.auth,
            metrics: Arc::clone(parts.live.metrics()),
            live: parts.live,
            ending: parts.ending,
            start_keys: StartKeys::in_state_directory(&parts.state_directory),
            starts: StartLedger::in_state_directory(&parts.state_directory),
            version: env!("CARGO_PKG_VERSION"),
            start_rates: Mutex::new(Buckets::new(STARTS_AT_ONCE, START_EVERY)),
            keys: Mutex::default(),
            directory_probe: DirectoryProbe::default(),
            hidden_cursors: HiddenCursors::default(),
        }
    }

    /// A run by its whole name.
    pub(crate) async fn run(&self, id: &str) -> Result<RunSummary, Problem> {
        if self.journals.presence(id).await.is_none() {
            return Err(Problem::no_run(id));
        }
        // The index comes a little later than what is followed live.
        let mut summary = match self.known_summary(id).await? {
            Some(summary) => summary,
            // The run, or the server, has only just been started.
            None => {
                self.wait_for_run(id).await;
                let summary = self.known_summary(id).await?;
                summary.ok_or_else(|| Problem::no_run(id))?
            }
        };
        self.live.board().labels().apply(&mut summary);
        Ok(summary)
    }

    /// Waits until a run that was just started, or that the server has not looked at yet, can be asked about.
    pub(crate) async fn wait_for_run(&self, id: &str) {
        let deadline = tokio::time::Instant::now() + APPEARANCE_TIMEOUT;
        self.live.wait_for(id).await;
        while self.live.board().get(id).is_none() && tokio::time::Instant::now() < deadline {
            let Some(presence) = self.journals.presence(id).await else {
                return;
            };
            // A run that ended at once is in the index only. An index that is away is not waited for any longer.
            if !presence.is_active && !matches!(timeout_at(deadline, self.store.run(id)).await, Ok(Ok(None)))
            {
                return;
            }
            sleep(APPEARANCE_INTERVAL).await;
            self.live.notice();
        }
    }

    async fn known_summary(&self, id: &str) -> Result<Option<RunSummary>, Problem> {
        match self.live.board().get(id) {
            Some(summary) => Ok(Some(summary.as_ref().clone())),
            None => Ok(self.store.run(id).await?),
        }
    }

    /// What those who watch a run need.
    pub(crate) fn stream_context(&self, principal: Principal) -> StreamContext {
        StreamContext {
            live: Arc::clone(&self.live),
            runners: Arc::clone(&self.runners),
            version: self.version,
            ending: self.ending.clone(),
            principal: Some(principal),
            process: None,
            log: None,
        }
    }

    /// Takes one of the starts of a token and its sessions, or says how long to wait.
    pub(crate) fn take_start(&self, principal: &Principal) -> Result<(), Duration> {
        lock(&self.start_rates).take(principal.issuer_hex(), Instant::now())
    }

    /// Takes a key for as long as its request is being done; none if somebody has it.
    pub(crate) fn take_key(self: &Arc<Self>, key: &str) -> Option<HeldKey> {
        lock(&self.keys).insert(key.to_owned()).then(|| HeldKey {
            app: Arc::clone(self),
            key: key.to_owned(),
        })
    }
}

/// A key whose request is being done.
pub(crate) struct HeldKey {
    app: Arc<App>,
    key: String,
}

impl Drop for HeldKey {
    fn drop(&mut self) {
        lock(&self.app.keys).remove(&self.key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
