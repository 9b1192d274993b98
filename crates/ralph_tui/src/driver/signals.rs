//! `listen()`: the signals of a terminal UI, as a channel.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// Asks for the end: the number of the signal.
    End(i32),
    /// Ctrl-C in a program that was lent the terminal, or from elsewhere.
    Interrupt(i32),
    Resized,
    Continued,
}

/// Listens from now on.
pub(super) fn listen() -> io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, received) = mpsc::unbounded_channel();
    let end = |kind: SignalKind| (kind, Signal::End(kind.as_raw_value()));
    let interrupt = SignalKind::interrupt();
    for (kind, meaning) in [
        end(SignalKind::terminate()),
        end(SignalKind::hangup()),
        end(SignalKind::quit()),
        (interrupt, Signal::Interrupt(interrupt.as_raw_value())),
        (SignalKind::window_change(), Signal::Resized),
        (
            SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()),
            Signal::Continued,
        ),
    ] {
        let mut stream = signal(kind)?;
        let sender = sender.clone();
        tokio::spawn(async move { while stream.recv().await.is_some() && sender.send(meaning).is_ok() {} });
    }
    Ok(received)
}
