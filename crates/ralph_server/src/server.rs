//! `Server`: binds, starts every service, and ends them in order.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ralph_run::{Home, reconcile};
use ralph_store::{RetentionRules, Store, StoreError, catch_up_runs};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::{App, AppParts};
use crate::auth::{Auth, AuthError, AuthOptions};
use crate::http::{self, ServeOptions};
use crate::launch::Launcher;
use crate::live::{Hub, restarted};
use crate::retention::retire;
use crate::running::Sign;

/// How often the runs on disk are compared with the index.
const CATCH_UP: Duration = Duration::from_secs(60);
/// How often old runs are removed, and how soon after the start.
const RETIRE: Duration = Duration::from_secs(3600);
const FIRST_RETIRE: Duration = Duration::from_secs(10);
/// How often runs whose runner died are looked for.
const LOOK_FOR_LOST: Duration = Duration::from_secs(2);

/// What a server needs.
pub struct ServerOptions {
    /// Where the runs are.
    pub home: Home,
    /// The index.
    pub store: Arc<dyn Store>,
    /// Starts runs.
    pub launcher: Arc<dyn Launcher>,
    /// Where it listens.
    pub bind: SocketAddr,
    /// Whether others than this machine may reach it.
    pub allow_remote: bool,
    /// Further names it is known by.
    pub names: Vec<String>,
    /// How long runs are kept.
    pub retention: RetentionRules,
}

/// A server that listens.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    ending: watch::Sender<bool>,
    address: SocketAddr,
    sign: Option<Sign>,
    retention: RetentionRules,
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Others could reach it, and nobody asked for that.
    #[error(
        "{0} can be reached from other machines, and whoever gets in runs programs as you: \
         say `--allow-remote` if you mean it, and put TLS in front of it"
    )]
    Remote(SocketAddr),
    /// Somebody else listens there.
    #[error("port {} is taken: another `ralph serve` may run; choose another with `--port`", .0.port())]
    PortTaken(SocketAddr),
    /// It cannot listen there.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Its token cannot be kept.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// The index.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Server {
    /// Listens. Nobody is answered before [`Self::run`].
    ///
    /// # Errors
    /// When it cannot, or must not.
    pub async fn bind(options: ServerOptions) -> Result<Self, ServerError> {
        let wanted = options.bind;
        if !wanted.ip().is_loopback() && !options.allow_remote {
            return Err(ServerError::Remote(wanted));
        }
        let listener = TcpListener::bind(wanted)
            .await
            .map_err(|source| match source.kind() {
                io::ErrorKind::AddrInUse => ServerError::PortTaken(wanted),
                _ => ServerError::Listen {
                    address: wanted,
                    source,
                },
            })?;
        let address = listener.local_addr().map_err(|source| ServerError::Listen {
            address: wanted,
            source,
        })?;
        let sign = Sign::put_up(options.home.state_directory(), address);
        let auth = Auth::open(&AuthOptions {
            state_directory: options.home.state_directory().to_owned(),
            port: address.port(),
            names: options.names,
        })?
        .bound_to(address);
        let (ending, is_ending) = watch::channel(false);
        let live = Hub::new(options.home.clone(), options.store.clone());
        let app = Arc::new(App::new(AppParts {
            store: options.store,
            home: options.home,
            launcher: options.launcher,
            auth,
            live,
            ending: is_ending,
        }));
        Ok(Self {
            app,
            listener,
            ending,
            address,
            sign,
            retention: options.retention,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where a person logs in, once, within ten minutes.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn login_url(&self) -> Result<String, ServerError> {
        Ok(self.app.auth.login_url()?)
    }

    /// The file with the token for scripts.
    #[must_use]
    pub fn token_path(&self) -> PathBuf {
        self.app.auth.token_path().to_owned()
    }

    /// Serves until `shutdown`. Runs go on without it.
    ///
    /// # Errors
    /// When the index could not be closed in good order.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ServerError> {
        let mut tasks = JoinSet::new();
        let app = self.app.clone();
        tasks.spawn(restarted("following runs", move || app.live.clone().work()));
        let app = self.app.clone();
        tasks.spawn(restarted("looking for lost runs", move || {
            look_for_lost(app.clone())
        }));
        let app = self.app.clone();
        tasks.spawn(restarted("catching up", move || keep_up(app.clone())));
        if self.retention != RetentionRules::default() {
            let (app, rules) = (self.app.clone(), self.retention);
            tasks.spawn(restarted("removing old runs", move || {
                keep_within(app.clone(), rules)
            }));
        }
        let (ending, sign) = (self.ending, self.sign);
        let told = async {
            shutdown.await;
            // Before the port is free for another one, which puts up its own.
            drop(sign);
            let _ = ending.send(true);
        };
        let router = http::router(self.app.clone());
        http::serve(self.listener, router, told, ServeOptions::default()).await;
        tasks.shutdown().await;
        self.app.store.close().await?;
        Ok(())
    }
}

/// Ends runs whose runner died, for ever.
async fn look_for_lost(app: Arc<App>) {
    loop {
        let home = app.home.clone();
        let reconciled = tokio::task::spawn_blocking(move || reconcile(&home, jiff::Timestamp::now())).await;
        match reconciled {
            Ok(Ok(found)) => {
                for lost in &found.lost {
                    tracing::warn!(run = lost.id, evidence = lost.evidence, "a run was lost");
                }
            }
            Ok(Err(error)) => tracing::warn!(%error, "runs whose runner died cannot be looked for"),
            Err(error) => tracing::error!(%error, "looking for lost runs has failed"),
        }
        tokio::time::sleep(LOOK_FOR_LOST).await;
    }
}

/// Takes in what happened while no server was there, and what nobody followed, for ever.
async fn keep_up(app: Arc<App>) {
    loop {
        let runs = app.home.runs_directory();
        // The records of runs that are followed reach the index by themselves.
        let live = app.live.clone();
        let is_wanted = move |run: &str| !live.is_followed(run);
        match catch_up_runs(app.store.as_ref(), &runs, is_wanted, |_| {}).await {
            Ok(caught_up) => {
                if caught_up.records > 0 {
                    app.live.compare_texts();
                }
                app.live.set_caught_up();
                tokio::time::sleep(CATCH_UP).await;
            }
            Err(error) => {
                tracing::warn!(%error, "the index cannot be brought up to date; it is tried again");
                tokio::time::sleep(LOOK_FOR_LOST).await;
            }
        }
    }
}

/// Removes old runs, for ever.
async fn keep_within(app: Arc<App>, rules: RetentionRules) {
    tokio::time::sleep(FIRST_RETIRE).await;
    loop {
        // What is not in the index yet is looked at the next time.
        match retire(&app.home, &app.store, rules).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "old runs were removed"),
            Err(error) => tracing::warn!(%error, "old runs cannot be removed"),
        }
        tokio::time::sleep(RETIRE).await;
    }
}
