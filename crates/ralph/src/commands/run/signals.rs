//! What the system says to us.

use ralph_run::machine::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// Listens from now on. Must be called on a runtime.
pub(super) fn listen() -> std::io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, received) = mpsc::unbounded_channel();
    for (kind, meaning) in [
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::HangUp),
    ] {
        let mut stream = signal(kind)?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                if sender.send(meaning).is_err() {
                    break;
                }
            }
        });
    }
    Ok(received)
}
