//! What the system says to us.

use std::io;
use std::sync::mpsc as rendezvous;
use std::thread;

use ralph_run::machine::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// What ends a run.
pub(super) fn all() -> Vec<(SignalKind, Signal)> {
    vec![
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::HangUp),
    ]
}

/// Listens from now on, on a thread of its own: whoever waits for a reader of our output must be told, too, and does
/// nothing else meanwhile. `note` is called there, before the signal is passed on.
pub(in crate::commands) fn listen(
    kinds: Vec<(SignalKind, Signal)>,
    note: impl Fn(Signal) + Clone + Send + 'static,
) -> io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, received) = mpsc::unbounded_channel();
    let (ready, is_ready) = rendezvous::channel();
    thread::Builder::new()
        .name("signals".to_owned())
        .stack_size(256 * 1024)
        .spawn(move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().build() {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            runtime.block_on(async move {
                let begun = begin(kinds, &note, &sender);
                let is_listening = begun.is_ok();
                if ready.send(begun).is_ok() && is_listening {
                    std::future::pending::<()>().await;
                }
            });
        })?;
    is_ready.recv().map_err(io::Error::other)??;
    Ok(received)
}

fn begin(
    kinds: Vec<(SignalKind, Signal)>,
    note: &(impl Fn(Signal) + Clone + Send + 'static),
    sender: &mpsc::UnboundedSender<Signal>,
) -> io::Result<()> {
    for (kind, meaning) in kinds {
        let mut stream = signal(kind)?;
        let (note, sender) = (note.clone(), sender.clone());
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                note(meaning);
                // A run that is over needs no signal, but its last words may still wait for a reader.
                let _ = sender.send(meaning);
            }
        });
    }
    Ok(())
}
