//! `ConsoleThread`: runs a `Console` beside the run, so that a reader that is slow or stops reading delays only itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ralph_run::{RecordStream, ViewUpdate};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::terminal::Console;
use crate::keyboard::{KeyboardSession, KeyboardSetup, SessionEvent};
use ralph_run::git::commits_since;

/// How soon the status line shows a change, and how soon a reader that is gone is noticed.
const TICK_INTERVAL: Duration = Duration::from_millis(200);

/// How long a suspension waits for a terminal that is on hold.
const PAUSE_TIMEOUT: Duration = Duration::from_millis(300);

/// A console on a thread of its own, which reads a [`RecordStream`] to its end.
#[derive(Debug)]
pub struct ConsoleThread {
    /// Dropped to stop the console.
    requests: Option<mpsc::UnboundedSender<Request>>,
    closed: Option<oneshot::Receiver<()>>,
    finished: Option<oneshot::Receiver<ConsoleEnd>>,
    shown: Arc<AtomicU64>,
}

/// Pauses a console around a suspension. Does not keep it alive.
#[derive(Debug, Clone)]
pub struct ConsoleHandle(mpsc::WeakUnboundedSender<Request>);

#[derive(Debug)]
enum Request {
    Notice(String),
    /// Takes the status line away; the sender is dropped when that is done.
    Pause(oneshot::Sender<()>),
    Resume,
    /// Whether Ctrl-C only cleared the message that is being written.
    Interrupt(oneshot::Sender<bool>),
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
    /// Shows everything that `stream` gives, and takes keys if there is a keyboard.
    pub fn start(
        console: Console,
        stream: RecordStream,
        keyboard: Option<KeyboardSetup>,
    ) -> io::Result<Self> {
        let (requests, received) = mpsc::unbounded_channel();
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
                let end = runtime.block_on(show(console, stream, received, keyboard, &counter));
                if end.is_closed {
                    // Without a run there is nothing to end.
                    let _ = closed_sender.send(());
                }
                let _ = finished_sender.send(end);
            })?;
        Ok(Self {
            requests: Some(requests),
            closed: Some(closed),
            finished: Some(finished),
            shown,
        })
    }

    /// Shows a line of our own.
    pub fn notice(&self, text: &str) {
        if let Some(requests) = &self.requests {
            // A console that has ended shows nothing.
            let _ = requests.send(Request::Notice(text.to_owned()));
        }
    }

    pub fn handle(&self) -> ConsoleHandle {
        let sender = self.requests.as_ref().map(mpsc::UnboundedSender::downgrade);
        // A console that was stopped has nothing to pause.
        ConsoleHandle(sender.unwrap_or_else(|| mpsc::unbounded_channel().0.downgrade()))
    }

    /// How many updates were shown: as long as this grows, the output is being read.
    pub fn shown(&self) -> u64 {
        self.shown.load(Ordering::Relaxed)
    }

    /// Leaves out whatever is not shown yet.
    pub fn stop(&mut self) {
        self.requests = None;
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

impl ConsoleHandle {
    /// Takes the status line away, so that a shell can use the terminal. Does not wait long for a terminal on hold.
    pub async fn pause(&self) {
        let (sender, done) = oneshot::channel();
        if self.send(Request::Pause(sender)) {
            let _ = timeout(PAUSE_TIMEOUT, done).await;
        }
    }

    /// Draws the status line again.
    pub fn resume(&self) {
        self.send(Request::Resume);
    }

    /// Ctrl-C was pressed. Whether that only cleared the message that is being written; otherwise it is meant for the run.
    pub async fn interrupt(&self) -> bool {
        let (sender, taken) = oneshot::channel();
        // A terminal on hold must not keep a run from being interrupted.
        self.send(Request::Interrupt(sender)) && matches!(timeout(PAUSE_TIMEOUT, taken).await, Ok(Ok(true)))
    }

    fn send(&self, request: Request) -> bool {
        self.0
            .upgrade()
            .is_some_and(|requests| requests.send(request).is_ok())
    }
}

async fn show(
    mut console: Console,
    mut stream: RecordStream,
    mut requests: mpsc::UnboundedReceiver<Request>,
    keyboard: Option<KeyboardSetup>,
    shown: &AtomicU64,
) -> ConsoleEnd {
    let mut keyboard = keyboard.map(KeyboardSession::start);
    let mut ticks = interval(TICK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !console.is_closed() {
        tokio::select! {
            biased;
            request = requests.recv() => match request {
                Some(Request::Notice(text)) => console.notice(&text),
                Some(Request::Pause(_done)) => console.pause(),
                Some(Request::Resume) => console.resume(),
                Some(Request::Interrupt(taken)) => {
                    if let Some(keyboard) = &mut keyboard {
                        let (is_taken, notices) = keyboard.interrupt();
                        notices.iter().for_each(|notice| console.notice(notice));
                        console.draw_input(keyboard);
                        let _ = taken.send(is_taken);
                    }
                }
                None => break,
            },
            event = next_event(&mut keyboard) => {
                if let Some(keyboard) = &mut keyboard {
                    for notice in keyboard.handle(event) {
                        console.notice(&notice);
                    }
                    console.draw_input(keyboard);
                }
            }
            _ = ticks.tick() => {
                console.tick();
                if let Some(keyboard) = &mut keyboard {
                    console.draw_input(keyboard);
                }
            }
            update = stream.next() => match update {
                Some(update) => {
                    if let Some((workspace, start, until)) = console.wants_commits(&update) {
                        console.set_commits(commits_since(&workspace, &start, until).await);
                    }
                    console.apply(&update);
                    if let (Some(keyboard), ViewUpdate::Record(record)) = (&mut keyboard, &update) {
                        keyboard.observe(record, console.run());
                        console.draw_input(keyboard);
                    }
                    shown.fetch_add(1, Ordering::Relaxed);
                }
                None => break,
            },
        }
    }
    if let Some(text) = keyboard.as_ref().and_then(KeyboardSession::unsent) {
        console.notice(&format!("your message was not sent: {text}"));
    }
    console.finish();
    ConsoleEnd {
        is_closed: console.is_closed(),
        exit_code: console.exit_code(),
    }
}

/// Never resolves without a keyboard.
async fn next_event(keyboard: &mut Option<KeyboardSession>) -> SessionEvent {
    match keyboard {
        Some(keyboard) => keyboard.next().await,
        None => std::future::pending().await,
    }
}
