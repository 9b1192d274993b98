//! `listen()`: the signals of this process, as a channel.

use std::io;

use ralph_run::machine::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// The signals that end a run.
pub(super) fn ending() -> Vec<(SignalKind, Signal)> {
    let all = [
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::HangUp),
    ];
    not_ignored(all)
}

/// The signals of a run in a terminal: those that end it, and Ctrl-Z.
pub(super) fn in_terminal() -> Vec<(SignalKind, Signal)> {
    let stop = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
    let mut signals = ending();
    signals.extend(not_ignored([(stop, Signal::Suspend)]));
    signals
}

/// Leaves out what was ignored when this process started, by `nohup` or a shell that runs it in the background: it stays
/// ignored. Must be called before a handler is installed.
fn not_ignored<const N: usize>(signals: [(SignalKind, Signal); N]) -> Vec<(SignalKind, Signal)> {
    let is_heeded = |(kind, _): &(SignalKind, Signal)| !agent_process::is_signal_ignored(kind.as_raw_value());
    signals.into_iter().filter(is_heeded).collect()
}

pub(in crate::commands) fn listen(
    kinds: Vec<(SignalKind, Signal)>,
) -> io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, received) = mpsc::unbounded_channel();
    for (kind, meaning) in kinds {
        let mut stream = signal(kind)?;
        let sender = sender.clone();
        tokio::spawn(async move { while stream.recv().await.is_some() && sender.send(meaning).is_ok() {} });
    }
    Ok(received)
}
