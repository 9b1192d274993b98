//! `listen()`: the signals of this process, as a channel.

use std::io;

use ralph_run::machine::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::console::ConsoleHandle;
use terminal_input::TerminalControl;

/// The signals that end a run or a server.
pub(in crate::commands) fn ending() -> [(SignalKind, Signal); 3] {
    [
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::HangUp),
    ]
}

/// The signals of a run in a terminal: those that end it, and Ctrl-Z.
pub(super) fn in_terminal() -> Vec<(SignalKind, Signal)> {
    let stop = (stop_kind(), Signal::Suspend);
    ending().into_iter().chain([stop]).collect()
}

fn stop_kind() -> SignalKind {
    SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw())
}

/// Restores the terminal around everything that would leave it in the keyboard's mode: Ctrl-\ ends this process at once,
/// and after a suspension the mode is set again.
pub(in crate::commands) fn guard_terminal(
    terminal: TerminalControl,
    console: ConsoleHandle,
    ctrl_z: CtrlZ,
) -> io::Result<()> {
    let is_handled = |kind: SignalKind| !agent_process::is_signal_ignored(kind.as_raw_value());
    let (stop, quit) = (stop_kind(), SignalKind::quit());
    let is_stopped_here = ctrl_z == CtrlZ::StopsThisProcess && is_handled(stop);
    if is_handled(quit) {
        let mut quit = signal(quit)?;
        let terminal = terminal.clone();
        tokio::spawn(async move {
            if quit.recv().await.is_some() {
                terminal.suspend();
                std::process::exit(QUIT_EXIT_CODE);
            }
        });
    }
    if is_stopped_here {
        let mut stop = signal(stop)?;
        let (terminal, console) = (terminal.clone(), console.clone());
        tokio::spawn(async move {
            while stop.recv().await.is_some() {
                suspend_view(&terminal, &console).await;
                let suspension = agent_process::Suspension::begin().await;
                suspension.stop_this_process();
                let _ = suspension.end();
                terminal.resume();
                console.resume();
            }
        });
    }
    // No process sees a SIGSTOP, after which a shell may change the mode of the terminal as well.
    let mut continued = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
    tokio::spawn(async move {
        while continued.recv().await.is_some() {
            terminal.resume();
            console.resume();
        }
    });
    Ok(())
}

/// What Ctrl-Z stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum CtrlZ {
    /// The run with its agent, by the driver.
    StopsTheRun,
    /// Only this process, which shows a run.
    StopsThisProcess,
}

/// As the shell gives for a process that SIGQUIT ended.
const QUIT_EXIT_CODE: i32 = 131;

/// Takes the status line away and gives the terminal back, before this process is stopped.
pub(super) async fn suspend_view(terminal: &TerminalControl, console: &ConsoleHandle) {
    console.pause().await;
    terminal.suspend();
}

/// Listens from now on. A signal that was ignored when this process started, by `nohup` or by a shell that runs it in
/// the background, stays ignored.
pub(in crate::commands) fn listen(
    kinds: impl IntoIterator<Item = (SignalKind, Signal)>,
) -> io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, received) = mpsc::unbounded_channel();
    let is_handled =
        |(kind, _): &(SignalKind, Signal)| !agent_process::is_signal_ignored(kind.as_raw_value());
    // Installing the first handler must not change what is found for the next.
    let kinds: Vec<_> = kinds.into_iter().filter(is_handled).collect();
    for (kind, meaning) in kinds {
        let mut stream = signal(kind)?;
        let sender = sender.clone();
        tokio::spawn(async move { while stream.recv().await.is_some() && sender.send(meaning).is_ok() {} });
    }
    Ok(received)
}
