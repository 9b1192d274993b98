//! `ConsoleThread`: runs a `Console` beside the run, so that a reader that is slow or stops reading delays only itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ralph_run::RecordStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};

use super::terminal::Console;

/// How often the status line can move, and how soon a reader that is gone is noticed.
const TICK_INTERVAL: Duration = Duration::from_millis(100);

/// A console on a thread of its own, which reads a [`RecordStream`] to its end.
#[derive(Debug)]
pub struct ConsoleThread {
    /// Dropped to stop the console.
    notices: Option<mpsc::UnboundedSender<String>>,
    closed: Option<oneshot::Receiver<()>>,
    finished: Option<oneshot::Receiver<ConsoleEnd>>,
    shown: Arc<AtomicU64>,
}

/// How a console ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConsoleEnd {
    /// Whether nothing reads its output any more.
    pub is_closed: bool,
    /// The exit code of the run, if its last record was shown.
    pub exit_code: Option<u8>,
}

impl ConsoleThread {
    /// Shows everything that `stream` gives.
    pub fn start(console: Console, stream: RecordStream) -> io::Result<Self> {
        let (notices, received) = mpsc::unbounded_channel();
        let (closed_sender, closed) = oneshot::channel();
        let (finished_sender, finished) = oneshot::channel();
        let shown = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&shown);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        thread::Builder::new()
            .name("console".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || {
                let end = runtime.block_on(show(console, stream, received, &counter));
                if end.is_closed {
                    // Without a run there is nothing to end.
                    let _ = closed_sender.send(());
                }
                let _ = finished_sender.send(end);
            })?;
        Ok(Self {
            notices: Some(notices),
            closed: Some(closed),
            finished: Some(finished),
            shown,
        })
    }

    /// Shows a line of our own.
    pub fn notice(&self, text: &str) {
        if let Some(notices) = &self.notices {
            // A console that has ended shows nothing.
            let _ = notices.send(text.to_owned());
        }
    }

    /// How many updates were shown: as long as this grows, the output is being read.
    pub fn shown(&self) -> u64 {
        self.shown.load(Ordering::Relaxed)
    }

    /// Leaves out whatever is not shown yet.
    pub fn stop(&mut self) {
        self.notices = None;
    }

    /// Resolves when nothing reads the output any more. Given out once.
    pub fn take_closed(&mut self) -> Option<oneshot::Receiver<()>> {
        self.closed.take()
    }

    /// Waits until everything is written or the reader is gone. Cancel-safe.
    pub async fn finished(&mut self) -> ConsoleEnd {
        let Some(finished) = &mut self.finished else {
            return ConsoleEnd::default();
        };
        let end = finished.await.unwrap_or_default();
        self.finished = None;
        end
    }
}

async fn show(
    mut console: Console,
    mut stream: RecordStream,
    mut notices: mpsc::UnboundedReceiver<String>,
    shown: &AtomicU64,
) -> ConsoleEnd {
    let mut ticks = interval(TICK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !console.is_closed() {
        tokio::select! {
            biased;
            notice = notices.recv() => match notice {
                Some(text) => console.notice(&text),
                None => break,
            },
            _ = ticks.tick() => console.tick(),
            update = stream.next() => match update {
                Some(update) => {
                    console.apply(&update);
                    shown.fetch_add(1, Ordering::Relaxed);
                }
                None => break,
            },
        }
    }
    console.finish();
    ConsoleEnd {
        is_closed: console.is_closed(),
        exit_code: console.exit_code(),
    }
}
