//! `ralph serve`: a page and an API for all runs, with the index behind them.

mod backends;
mod index;
mod launcher;
mod login_page;
mod running;

pub(super) use self::launcher::Detached;
pub(super) use self::login_page::{LOGIN_PAGE_KEPT, try_open_login};
pub(super) use index::{DATABASE_VARIABLE, open_index, recreate_index, text_index_file};

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use clap::Args;
use ralph_run::Home;
use ralph_run::machine::Signal;
use ralph_server::{Server, ServerError, ServerOptions, ServerStartLimits, Tls, TlsFiles};
use ralph_store::{RetentionRules, StoreError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::sleep;

use self::login_page::{LoginPage, open_login};
use self::running::lead_to_running;
use crate::commands::run;
use crate::commands::start_limits::StartLimitArgs;
use crate::commands::stop::{self, StopArgs};
use crate::console::{write_stderr, write_stdout};
use crate::current_process;
use crate::failure::Failure;
use crate::settings::open_file;
use crate::trust::Policy;

/// Watch and control all runs in a browser, with an API for scripts
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph serve                  log in at the address it prints
  ralph serve --open           log in with the default browser
  ralph serve --port 8080 --stop-runs-on-exit
  ralph serve --tls-cert fullchain.pem --tls-key privkey.pem
  ralph serve --workspace ~/project --max-live-runs 8 --max-day-cost 50
  RALPH_SERVER_DATABASE=postgres://me@localhost/ralph ralph serve

Runs are separate processes: they continue without the server.
Scripts read the token from the file that the server names, and send it as
`Authorization: Bearer TOKEN`.")]
pub struct ServeArgs {
    /// Port to listen on; 0 picks a free one
    #[arg(long, default_value_t = DEFAULT_PORT)]
    pub port: u16,

    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,

    /// Accept connections from other machines; anyone with the token can run
    /// programs as you
    #[arg(long)]
    pub allow_remote: bool,

    /// Host name that browsers use for the server or a proxy in front of it;
    /// repeatable
    #[arg(long = "allow-host", value_name = "NAME")]
    pub names: Vec<String>,

    /// Certificate chain (PEM), to serve HTTPS; read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "TLS")]
    pub tls_cert: Option<PathBuf>,

    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "TLS")]
    pub tls_key: Option<PathBuf>,

    /// A proxy in front of the server does TLS: let `--allow-remote` listen
    /// without it
    #[arg(long, conflicts_with = "tls_cert", help_heading = "TLS")]
    pub behind_proxy: bool,

    #[command(flatten)]
    pub limits: StartLimitArgs,

    /// Directory of the index
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Remove runs that ended more than this many days ago
    #[arg(long, value_name = "DAYS", help_heading = "Retention")]
    pub keep_days: Option<u32>,

    /// Keep at most this many finished runs
    #[arg(long, value_name = "N", help_heading = "Retention")]
    pub keep_runs: Option<usize>,

    /// Remove the oldest finished runs when all runs take more space than this
    #[arg(long, value_name = "MB", help_heading = "Retention")]
    pub keep_megabytes: Option<u64>,

    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,

    /// Stop all runs when the server stops
    #[arg(long)]
    pub stop_runs_on_exit: bool,
}

pub(super) const DEFAULT_PORT: u16 = 7878;

/// Enough for 300 runs with a journal and a socket each, 1,024 connections, and the index with its readers.
const OPEN_FILES: u64 = 4096;

/// Serves until a signal. Gives the exit code.
pub async fn execute(
    args: &ServeArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<u8> {
    let tls = load_tls(args)?;
    let start_limits = ServerStartLimits {
        workspaces: args
            .limits
            .resolved_workspaces(&std::env::current_dir().unwrap_or_default())?,
        limits: args.limits.limits()?,
    };
    home.prepare()?;
    if let Some(files) = current_process::raise_open_file_limit().filter(|files| *files < OPEN_FILES) {
        write_stderr(&format!(
            "ralph: only {files} files can be open at once, too few for 300 runs and their clients; raise \
             the limit to {OPEN_FILES} (`ulimit -Hn`, or LimitNOFILE= of the service)\n"
        ));
    }
    let store = match open_index(home, args.data.as_deref(), variables).await {
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::InUse { .. })) => {
            return lead_to_running(args, home, error).await;
        }
        opened => opened?,
    };
    let bound = Server::bind(ServerOptions {
        home: home.clone(),
        store,
        launcher: Arc::new(Detached { home: home.clone() }),
        bind: SocketAddr::new(args.bind, args.port),
        allow_remote: args.allow_remote,
        tls,
        behind_proxy: args.behind_proxy,
        names: args.names.clone(),
        start_limits,
        retention: RetentionRules {
            keep_days: args.keep_days,
            keep_runs: args.keep_runs,
            max_bytes: args
                .keep_megabytes
                .map(|megabytes| megabytes.saturating_mul(1_000_000)),
        },
    })
    .await;
    let server = match bound {
        // With `--data` the user wants that index, not the one of the other server.
        Err(error @ ServerError::PortTaken(_)) if args.data.is_none() => {
            return lead_to_running(args, home, error.into()).await;
        }
        Err(error @ (ServerError::Remote(_) | ServerError::Unencrypted(_))) => {
            return Err(Failure::config(error.to_string()).into());
        }
        bound => bound?,
    };
    // The server's own directory decides which agents it finds.
    if let Ok(cwd) = std::env::current_dir()
        && let Ok(opened) = open_file(None, &cwd, &Policy::as_stored(home))
        && let Some(notice) = opened.notice()
    {
        write_stderr(&format!("ralph: {notice}\n"));
    }
    let address = server.address();
    let url = server.login_url()?;
    write_stdout(&format!("listening on {}\n", server.url()));
    write_stdout(&format!("log in once, within ten minutes: {url}\n"));
    let runs = if args.stop_runs_on_exit {
        "and stops all runs"
    } else {
        "runs keep running"
    };
    write_stderr(&format!(
        "ralph: the token for scripts is in `{}`; Ctrl-C stops the server, {runs}\n",
        server.token_path().display()
    ));
    if !address.ip().is_loopback() && args.behind_proxy {
        write_stderr("ralph: this server does not encrypt; let only the proxy reach its port\n");
    }
    let page = args.open.then(|| open_login(home, &url)).flatten();
    let mut signals = run::listen(run::ending())?;
    let served = serve(server, &mut signals, page).await;
    if !args.stop_runs_on_exit {
        served?;
        return Ok(0);
    }
    // However the server ended, its runs must end with it.
    let stop = StopArgs {
        all: true,
        ..StopArgs::default()
    };
    let mut out = std::io::stdout();
    let stopped = tokio::select! {
        stopped = stop::execute(&stop, home, &mut out) => stopped,
        Some(_) = signals.recv() => {
            write_stderr("ralph: some runs may still be stopping; see `ralph runs`\n");
            Ok(1)
        }
    };
    served?;
    stopped
}

fn load_tls(args: &ServeArgs) -> Result<Option<Arc<Tls>>, Failure> {
    let (Some(certificate), Some(key)) = (args.tls_cert.clone(), args.tls_key.clone()) else {
        return Ok(None);
    };
    match Tls::load(TlsFiles { certificate, key }) {
        Ok(tls) => Ok(Some(Arc::new(tls))),
        Err(error) => Err(Failure::config(error.to_string())),
    }
}

/// Serves until a signal. A second one ends it without waiting for clients.
async fn serve(
    server: Server,
    signals: &mut UnboundedReceiver<Signal>,
    mut page: Option<LoginPage>,
) -> Result<(), ServerError> {
    let (end, ended) = oneshot::channel();
    let mut end = Some(end);
    let mut serving = pin!(server.run(async { drop(ended.await) }));
    let mut has_been_read = pin!(sleep(LOGIN_PAGE_KEPT));
    loop {
        tokio::select! {
            served = &mut serving => return served,
            Some(_) = signals.recv() => match end.take() {
                Some(end) => drop(end.send(())),
                None => {
                    write_stderr("ralph: stopping immediately\n");
                    return Ok(());
                }
            },
            () = &mut has_been_read, if page.is_some() => page = None,
        }
    }
}
