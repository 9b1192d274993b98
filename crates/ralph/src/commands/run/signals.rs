//! `listen()`: the signals of this process, as a channel.

use std::io;

use ralph_run::machine::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

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
    let stop = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
    ending().into_iter().chain([(stop, Signal::Suspend)]).collect()
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
