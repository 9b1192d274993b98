//! `Server`: binds, starts every service, and ends them in order.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use ralph_run::Home;
use ralph_run::ports::{Journals, LocalJournals};
use ralph_store::{RetentionRules, Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::{App, AppParts};
use crate::auth::{Auth, AuthError, AuthOptions, ServerStartLimits};
use crate::http::{self, ServeOptions};
use crate::launch::Launcher;
use crate::live::{Hub, restarted};
use crate::runners::SocketRunners;
use crate::server_lock::ServerLock;
use crate::tls::Tls;
use crate::upkeep::Upkeep;

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
    /// Whether others than this machine may reach it. That needs TLS, its own or a proxy's.
    pub allow_remote: bool,
    /// The certificate, if the server speaks TLS itself.
    pub tls: Option<Arc<Tls>>,
    /// Whether a proxy in front of it speaks TLS.
    pub behind_proxy: bool,
    /// Further names it is known by.
    pub names: Vec<String>,
    /// What runs may use that are started through it.
    pub start_limits: ServerStartLimits,
    /// How long runs are kept.
    pub retention: RetentionRules,
}

/// A server that listens.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    ending: watch::Sender<bool>,
    address: SocketAddr,
    lock: Option<ServerLock>,
    upkeep: Upkeep,
    tls: Option<Arc<Tls>>,
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Others could reach it, and nobody asked for that.
    #[error(
        "refusing to listen on {0}: other machines could connect and run programs as you. To allow this, add \
         `--allow-remote --tls-cert FILE --tls-key FILE`"
    )]
    Remote(SocketAddr),
    /// Others could read what is said to it.
    #[error(
        "`--allow-remote` on {0} without TLS would send the token, prompts and code unencrypted: add \
         `--tls-cert FILE --tls-key FILE`, or `--behind-proxy` if a proxy in front of the server does TLS"
    )]
    Unencrypted(SocketAddr),
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
        if !wanted.ip().is_loopback() && options.tls.is_none() && !options.behind_proxy {
            return Err(ServerError::Unencrypted(wanted));
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
        let lock = ServerLock::acquire(options.home.state_directory(), address, options.tls.is_some());
        let auth = Auth::open(&AuthOptions {
            state_directory: options.home.state_directory().to_owned(),
            port: address.port(),
            names: options.names,
        })?
        .bound_to(address)
        .with_start_limits(options.start_limits);
        let auth = match options.tls {
            Some(_) => auth.with_tls(),
            None => auth,
        };
        let (ending, is_ending) = watch::channel(false);
        let journals: Arc<dyn Journals> = Arc::new(LocalJournals::new(options.home.clone()));
        let live = Hub::new(journals.clone(), options.store.clone());
        let app = Arc::new(App::new(AppParts {
            store: options.store,
            journals,
            runners: Arc::new(SocketRunners::new(options.home.clone())),
            launcher: options.launcher,
            auth,
            live,
            ending: is_ending,
            state_directory: options.home.state_directory().to_owned(),
        }));
        let upkeep = Upkeep {
            home: options.home,
            store: app.store.clone(),
            live: app.live.clone(),
            retention: options.retention,
        };
        Ok(Self {
            app,
            listener,
            ending,
            address,
            lock,
            upkeep,
            tls: options.tls,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where a program on this machine finds it: the scheme and the address it listens on.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
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
        self.app.auth.token_path()
    }

    /// Serves until `shutdown`. Runs go on without it.
    ///
    /// # Errors
    /// When the index could not be closed in good order.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ServerError> {
        let mut tasks = JoinSet::new();
        let app = self.app.clone();
        tasks.spawn(restarted("following runs", move || app.live.clone().work()));
        self.upkeep.spawn(&mut tasks);
        let app = self.app.clone();
        tasks.spawn(restarted("watching tokens", move || {
            let app = app.clone();
            async move { app.auth.watch_tokens().await }
        }));
        let (ending, lock) = (self.ending, self.lock);
        let told = async {
            shutdown.await;
            // Before the port is free for another one, which takes its own.
            drop(lock);
            let _ = ending.send(true);
        };
        let router = http::router(self.app.clone());
        let options = ServeOptions {
            tls: self.tls,
            ..ServeOptions::default()
        };
        http::serve(self.listener, router, told, options).await;
        tasks.shutdown().await;
        self.app.store.close().await?;
        Ok(())
    }
}
