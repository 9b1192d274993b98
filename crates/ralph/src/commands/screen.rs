//! Showing a run that somebody else runs, or has run.

use ralph_run::machine::Signal;
use ralph_run::{EndReason, Home, RunDirectory, Sink as _};
use tokio::signal::unix::SignalKind;

use super::attach::{self, Attach};
use super::reach;
use super::run::{console_options, listen};
use crate::cli::AttachArgs;
use crate::console::{Console, Direct, Hurry, Options, terminal_width};
use crate::settings::View;

/// What the process exits with when somebody pressed Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

/// How a run is shown that has its files in `run`.
pub(super) fn options(view: &View, run: Option<&RunDirectory>) -> Options {
    let mut options = console_options(view);
    options.files = run.map(|run| run.path().display().to_string());
    options
}

/// A console that waits for its reader and never leaves anything out: nobody else waits for it.
pub(super) fn patient(options: Options) -> Console {
    Console::new(
        options,
        Direct::new(std::io::stdout()),
        Direct::new(std::io::stderr()),
    )
    .with_width(terminal_width)
}

/// `ralph attach`: watches a run in this terminal until it is over or Ctrl-C is pressed.
///
/// # Errors
/// When there is no such run, or its runner died.
pub async fn attach(args: &AttachArgs, home: &Home, view: &View) -> anyhow::Result<u8> {
    let run = reach::find(home, &args.run)?;
    let hurry = Hurry::default();
    let mut interrupts = listen(vec![(SignalKind::interrupt(), Signal::Interrupt)], {
        let hurry = hurry.clone();
        move |_| hurry.set()
    })?;
    let leave = async {
        interrupts.recv().await;
    };
    let mut console = Console::on_stdio(options(view, Some(&run)), hurry);
    let mut notes = Direct::new(std::io::stderr());
    let attach = Attach {
        run: run.id().to_owned(),
        ..Attach::from(args)
    };
    let code = attach::execute(attach, home, &mut console, leave, &mut notes).await?;
    console.finish();
    Ok(if console.is_closed() {
        EndReason::OutputClosed.exit_code()
    } else {
        code
    })
}

/// Resolves when Ctrl-C is pressed.
pub(super) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Nobody will tell: then nobody leaves this way.
        std::future::pending::<()>().await;
    }
}
