//! What `ralph serve` does.

use std::net::SocketAddr;
use std::sync::Arc;

use ralph_run::Home;
use ralph_run::machine::Signal;
use ralph_server::{Server, ServerOptions};
use ralph_store::RetentionRules;
use tokio::signal::unix::SignalKind;

use super::index::open_index;
use super::launcher::Detached;
use crate::cli::ServeArgs;
use crate::commands::run;
use crate::commands::stop::{self, Stop, Target, Wait};
use crate::console::{Direct, write_stderr, write_stdout};
use crate::versions::VersionFile;

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
    let store = open_index(home, args.data.as_deref(), variables).await?;
    let server = Server::bind(ServerOptions {
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
    .await?;
    let address = server.address();
    let url = server.login_url()?;
    write_stdout(&format!("listening on http://{address}\n"));
    write_stdout(&format!("log in once, within ten minutes: {url}\n"));
    write_stderr(&format!(
        "ralph: the token for scripts is in `{}`; Ctrl-C ends the server, runs go on\n",
        server.token_path().display()
    ));
    if !address.ip().is_loopback() {
        write_stderr(
            "ralph: other machines can reach this server, and nothing is encrypted: put TLS in front of it\n",
        );
    }
    if args.open {
        open_browser(&url);
    }
    let kinds = vec![
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::HangUp),
    ];
    let mut signals = run::listen(kinds, |_| {})?;
    server
        .run(async move {
            signals.recv().await;
        })
        .await?;
    if args.stop_runs_on_exit {
        let stop = Stop {
            target: Target::All,
            wait: Wait::UntilEnded,
        };
        return stop::execute(stop, home, &mut Direct::new(std::io::stdout())).await;
    }
    Ok(0)
}

/// Opens the page, if there is something to open it with.
fn open_browser(url: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    // The code in the address is good for one use, and the browser is told by nothing else.
    let opened = std::process::Command::new(opener)
        .arg(url)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    if opened.is_err() {
        write_stderr(&format!(
            "ralph: there is no `{opener}` here: open the address yourself\n"
        ));
    }
}
