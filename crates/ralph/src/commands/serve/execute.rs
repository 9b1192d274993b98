//! What `ralph serve` does.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use ralph_run::Home;
use ralph_run::machine::Signal;
use ralph_server::{Server, ServerError, ServerOptions};
use ralph_store::{RetentionRules, StoreError};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::index::open_index;
use super::launcher::Detached;
use super::login_page::{LOGIN_PAGE_KEPT, LoginPage, open_login};
use super::running::lead_to_running;
use crate::cli::ServeArgs;
use crate::commands::run;
use crate::commands::stop::{self, Stop, Target, Wait};
use crate::console::{Direct, write_stderr, write_stdout};
use crate::versions::VersionFile;

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
    if let Some(files) = agent_process::raise_open_files().filter(|files| *files < OPEN_FILES) {
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
    let kinds = vec![
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::HangUp),
    ];
    let mut signals = run::listen(kinds, |_| {})?;
    let served = serve(server, &mut signals, page).await;
    if !args.stop_runs_on_exit {
        served?;
        return Ok(0);
    }
    // Whatever became of the server: its runs were promised to end with it.
    let stop = Stop {
        target: Target::All,
        wait: Wait::UntilEnded,
    };
    let mut out = Direct::new(std::io::stdout());
    let stopped = tokio::select! {
        stopped = stop::execute(stop, home, &mut out) => stopped,
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
