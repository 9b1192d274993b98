//! `ralph serve`: all runs on one server, and the index behind it.

mod backends;
mod index;
mod launcher;
mod login_page;
mod running;

pub(super) use index::{open_index, open_index_anew, words_beside};

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use clap::Args;
use ralph_run::Home;
use ralph_run::machine::Signal;
use ralph_server::{Server, ServerError, ServerOptions};
use ralph_store::{RetentionRules, StoreError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::sleep;

use self::launcher::Detached;
use self::login_page::{LOGIN_PAGE_KEPT, LoginPage, open_login};
use self::running::lead_to_running;
use crate::commands::run;
use crate::commands::stop::{self, StopArgs};
use crate::console::{Direct, write_stderr, write_stdout};
use crate::current_process;
use crate::settings::open_file;
use crate::trust::Policy;
use crate::versions::VersionFile;

/// All runs in a browser: watch, answer, steer, search; and an API for scripts
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph serve                                      then log in at the address it prints, or use the token
  ralph serve --open
  ralph serve --port 8080 --stop-runs-on-exit
  RALPH_SERVER_DATABASE=postgres://me@localhost/ralph ralph serve

Runs are processes of their own: they go on when the server ends, and are there again when it is back.
Scripts read the token from the file that it names and send it as `Authorization: Bearer`.")]
pub struct ServeArgs {
    /// The port to listen on; 0 takes any
    #[arg(long, default_value_t = 7878)]
    pub port: u16,

    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,

    /// Let other machines in: whoever has the token runs programs as you
    #[arg(long)]
    pub allow_remote: bool,

    /// Another name the server is reached by, such as the one of a proxy; may be given several times
    #[arg(long = "allow-host", value_name = "NAME")]
    pub names: Vec<String>,

    /// Where the index is kept
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Remove runs that ended more days ago than this
    #[arg(long, value_name = "DAYS", help_heading = "Retention")]
    pub keep_days: Option<u32>,

    /// Keep no more finished runs than this, the newest
    #[arg(long, value_name = "N", help_heading = "Retention")]
    pub keep_runs: Option<usize>,

    /// Remove the oldest finished runs when all runs together are larger than this many megabytes
    #[arg(long, value_name = "MB", help_heading = "Retention")]
    pub keep_megabytes: Option<u64>,

    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,

    /// End all runs when the server ends
    #[arg(long)]
    pub stop_runs_on_exit: bool,
}

/// What 300 runs need: a journal and at times a socket each, 1,024 connections, the index and its readers.
const OPEN_FILES: u64 = 4096;

/// Serves until a signal. Gives what to exit with.
///
/// # Errors
/// When it could not start.
pub async fn execute(
    args: &ServeArgs,
    home: &Home,
    versions: Option<VersionFile>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<u8> {
    home.prepare()?;
    if let Some(files) = current_process::raise_open_file_limit().filter(|files| *files < OPEN_FILES) {
        write_stderr(&format!(
            "ralph: only {files} files can be open at once, which is too few for 300 runs and their clients: raise \
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
        launcher: Arc::new(Detached::new(home.clone(), versions)),
        bind: SocketAddr::new(args.bind, args.port),
        allow_remote: args.allow_remote,
        names: args.names.clone(),
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
        // Who says which index wants that one, and not the one that the other server has.
        Err(error @ ServerError::PortTaken(_)) if args.data.is_none() => {
            return lead_to_running(args, home, error.into()).await;
        }
        bound => bound?,
    };
    // Its directory decides which agents are found.
    if let Ok(cwd) = std::env::current_dir()
        && let Ok(opened) = open_file(None, &cwd, &Policy::as_stored(home))
        && let Some(notice) = opened.notice()
    {
        write_stderr(&format!("ralph: {notice}\n"));
    }
    let address = server.address();
    let url = server.login_url()?;
    write_stdout(&format!("listening on http://{address}\n"));
    write_stdout(&format!("log in once, within ten minutes: {url}\n"));
    let runs = if args.stop_runs_on_exit {
        "and all runs"
    } else {
        "runs go on"
    };
    write_stderr(&format!(
        "ralph: the token for scripts is in `{}`; Ctrl-C ends the server, {runs}\n",
        server.token_path().display()
    ));
    if !address.ip().is_loopback() {
        write_stderr(
            "ralph: other machines can reach this server, and nothing is encrypted: put TLS in front of it\n",
        );
    }
    let page = args.open.then(|| open_login(home, &url)).flatten();
    let mut signals = run::listen(run::ending())?;
    let served = serve(server, &mut signals, page).await;
    if !args.stop_runs_on_exit {
        served?;
        return Ok(0);
    }
    // Whatever became of the server: its runs were promised to end with it.
    let stop = StopArgs {
        all: true,
        ..StopArgs::default()
    };
    let mut out = Direct::new(std::io::stdout());
    let stopped = tokio::select! {
        stopped = stop::execute(&stop, home, &mut out) => stopped,
        Some(_) = signals.recv() => {
            write_stderr("ralph: runs may not have ended yet: see `ralph runs`\n");
            Ok(1)
        }
    };
    served?;
    stopped
}

/// Serves until a signal. Another one ends it without waiting for anybody.
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
                    write_stderr("ralph: the server ends at once\n");
                    return Ok(());
                }
            },
            () = &mut has_been_read, if page.is_some() => page = None,
        }
    }
}
