//! What `ralph serve` does.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ralph_run::Home;
use ralph_run::machine::Signal;
use ralph_server::{Server, ServerError, ServerOptions};
use ralph_store::RetentionRules;
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::index::open_index;
use super::launcher::Detached;
use crate::cli::ServeArgs;
use crate::commands::run;
use crate::commands::stop::{self, Stop, Target, Wait};
use crate::console::{Direct, write_stderr, write_stdout};
use crate::versions::VersionFile;

/// What 300 runs need: a journal and at times a socket each, 1,024 connections, the index and its readers.
const OPEN_FILES: u64 = 4096;

/// How long a browser has to read the page that leads it to the login.
const LOGIN_PAGE_KEPT: Duration = Duration::from_secs(30);

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

/// Opens the page, if there is something to open it with.
fn open_login(home: &Home, url: &str) -> Option<LoginPage> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let page = match LoginPage::write(home.state_directory(), url) {
        Ok(page) => page,
        Err(error) => {
            write_stderr(&format!(
                "ralph: no page can be written ({error}): open the address yourself\n"
            ));
            return None;
        }
    };
    let opened = std::process::Command::new(opener)
        .arg(&page.path)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    if opened.is_err() {
        write_stderr(&format!(
            "ralph: there is no `{opener}` here: open the address yourself\n"
        ));
        return None;
    }
    Some(page)
}

/// A page of ours alone that leads to the login, for as long as it is kept. The arguments of programs can be seen by
/// everybody on this machine, so the code must not be one.
#[derive(Debug)]
struct LoginPage {
    path: PathBuf,
}

impl LoginPage {
    fn write(directory: &Path, url: &str) -> io::Result<Self> {
        let path = directory.join(format!("login-{}.html", std::process::id()));
        // One of a process that had our number before.
        let _ = fs::remove_file(&path);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let page = Self { path };
        let text = format!(
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>ralph</title>\n"
        );
        file.write_all(text.as_bytes())?;
        Ok(page)
    }
}

impl Drop for LoginPage {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::LoginPage;

    #[test]
    fn the_page_that_leads_to_the_login_is_for_its_user_and_goes_away() {
        let directory = tempfile::tempdir().unwrap();
        let url = "http://127.0.0.1:7878/login?code=abc";
        let page = LoginPage::write(directory.path(), url).unwrap();
        let path = page.path.clone();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .contains(&format!("url={url}\""))
        );
        assert!(!path.to_string_lossy().contains("abc"));
        drop(page);
        assert!(!path.exists());
        // One that was left behind, or is a link to somewhere else, is replaced.
        let elsewhere = directory.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        let page = LoginPage::write(directory.path(), url).unwrap();
        assert!(fs::symlink_metadata(&page.path).unwrap().is_file() && !elsewhere.exists());
    }
}
