//! `ralph serve` while a server of the same user is running.

use ralph_run::Home;
use ralph_run::machine::Signal;
use ralph_server::Running;
use tokio::signal::unix::SignalKind;
use tokio::time::sleep;

use super::ServeArgs;
use super::login_page::{LOGIN_PAGE_KEPT, open_login};
use crate::commands::run;
use crate::console::{write_stderr, write_stdout};

/// Prints a login link of the server that has the port. Fails with `otherwise` if it is not a server of this user.
pub(super) async fn lead_to_running(
    args: &ServeArgs,
    home: &Home,
    otherwise: anyhow::Error,
) -> anyhow::Result<u8> {
    let Some(running) = Running::find(home.state_directory(), args.port) else {
        return Err(otherwise);
    };
    let url = running
        .login_url()
        .await
        .map_err(|error| otherwise.context(error.to_string()))?;
    write_stdout(&format!("a server is already listening on {}\n", running.url()));
    write_stdout(&format!("log in once, within ten minutes: {url}\n"));
    write_stderr("ralph: it keeps its current options; stop it first to change them\n");
    if !args.open {
        return Ok(0);
    }
    if let Some(_page) = open_login(home, &url) {
        let kinds = [
            (SignalKind::interrupt(), Signal::Interrupt),
            (SignalKind::terminate(), Signal::Terminate),
        ];
        let mut signals = run::listen(kinds)?;
        write_stderr("ralph: waiting 30 s for the browser to read the link\n");
        tokio::select! {
            () = sleep(LOGIN_PAGE_KEPT) => {}
            Some(_) = signals.recv() => {}
        }
    }
    Ok(0)
}
