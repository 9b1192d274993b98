//! A stream behind a thread of its own, so that a reader who stops reading does not stop the run.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::hurry::Hurry;
use super::port::{Direct, Port, write_patiently};

/// How much may wait to be written.
const LIMIT_BYTES: usize = 1 << 20;

/// How much is written at a time, so that progress can be seen.
const PIECE_BYTES: usize = 64 * 1024;

/// How long a reader may read nothing before the run goes on without it. Limits, signals and the agent wait as long.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it is checked whether a reader may still be waited for without a limit.
const LOOK: Duration = Duration::from_millis(100);

/// What happens to a gap: text that was left out because nobody read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// A line says how much is missing.
    Told,
    /// Nothing says so: the lines are for programs and carry numbers.
    Silent,
}

/// A stream behind a thread of its own. A slow reader slows the run down; one that reads nothing for two seconds (a
/// pager, a terminal on hold) misses what comes then, and the run goes on. The journal has all of it. A patient one waits for its reader.
pub struct Queue<W> {
    state: State<W>,
    gap: Gap,
    patience: Duration,
    /// Waits without a limit until this is set.
    patient_until: Option<Hurry>,
    missing_bytes: u64,
}

enum State<W> {
    /// Nothing was sent yet, so there is no thread.
    Idle(Option<W>),
    Running(Arc<Shared>),
    /// There can be no thread.
    Direct(Box<dyn Port + Send>),
}

#[derive(Default)]
struct Shared {
    buffer: Mutex<Buffer>,
    /// Something is to be done.
    work: Condvar,
    /// Something was done.
    progress: Condvar,
}

#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// Taken by the thread and not written yet.
    taken: usize,
    written: u64,
    is_closed: bool,
    is_done: bool,
}

impl<W: Write + Send + 'static> Queue<W> {
    /// Writes to `writer`.
    #[must_use]
    pub fn new(writer: W, gap: Gap) -> Self {
        Self {
            state: State::Idle(Some(writer)),
            gap,
            patience: PATIENCE,
            patient_until: None,
            missing_bytes: 0,
        }
    }

    /// For a pipe or a file: whoever reads it wants all of it, so the run waits. Only when the process is asked to
    /// end, a reader that reads nothing must not keep it.
    #[must_use]
    pub fn patient_until(self, hurry: Hurry) -> Self {
        Self {
            patient_until: Some(hurry),
            ..self
        }
    }

    /// With another patience than two seconds.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    fn start(&mut self) {
        let State::Idle(writer) = &mut self.state else {
            return;
        };
        // The writer must survive a thread that cannot be started.
        let writer = Arc::new(Mutex::new(writer.take()));
        let shared = Arc::new(Shared::default());
        let (for_thread, writer_for_thread) = (Arc::clone(&shared), Arc::clone(&writer));
        let thread = thread::Builder::new()
            .name("console".to_owned())
            .stack_size(128 * 1024);
        let started = thread.spawn(move || {
            let writer = writer_for_thread
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if let Some(writer) = writer {
                for_thread.write_all(writer);
            }
        });
        self.state = match started {
            Ok(_) => State::Running(shared),
            Err(_) => match writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(writer) => State::Direct(Box::new(Direct::new(writer))),
                None => State::Idle(None),
            },
        };
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread.
    fn write_all(&self, mut writer: impl Write) {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let mut buffer = self.lock();
            while buffer.bytes.is_empty() && !buffer.is_done {
                buffer = self.work.wait(buffer).unwrap_or_else(PoisonError::into_inner);
            }
            if buffer.bytes.is_empty() {
                return;
            }
            std::mem::swap(&mut buffer.bytes, &mut bytes);
            buffer.taken = bytes.len();
            drop(buffer);
            for piece in bytes.chunks(PIECE_BYTES) {
                let written = write_patiently(&mut writer, piece).and_then(|()| writer.flush());
                let mut buffer = self.lock();
                buffer.taken -= piece.len();
                buffer.written += piece.len() as u64;
                buffer.is_closed = written.is_err();
                self.progress.notify_all();
                if buffer.is_closed {
                    return;
                }
            }
        }
    }

    /// Waits until no more than `most` bytes are left. False when nothing was written for too long.
    fn wait_until(&self, most: usize, patience: Duration, patient_until: Option<&Hurry>) -> bool {
        let mut buffer = self.lock();
        while buffer.waiting() > most && !buffer.is_closed {
            let before = buffer.written;
            let is_patient = patient_until.is_some_and(|hurry| !hurry.is_set());
            let (after, timeout) = self
                .progress
                .wait_timeout(buffer, if is_patient { LOOK } else { patience })
                .unwrap_or_else(PoisonError::into_inner);
            buffer = after;
            if !is_patient && timeout.timed_out() && buffer.written == before {
                return false;
            }
        }
        true
    }
}

impl Buffer {
    fn waiting(&self) -> usize {
        self.bytes.len() + self.taken
    }
}

impl<W: Write + Send + 'static> Port for Queue<W> {
    fn send(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.start();
        let shared = match &mut self.state {
            State::Running(shared) => Arc::clone(shared),
            State::Direct(direct) => return direct.send(text),
            State::Idle(_) => return,
        };
        // Whoever stopped reading is not waited for again before all is read.
        let is_open = if self.missing_bytes > 0 {
            shared.lock().waiting() == 0
        } else {
            shared.wait_until(LIMIT_BYTES, self.patience, self.patient_until.as_ref())
        };
        if !is_open {
            self.missing_bytes += text.len() as u64;
            return;
        }
        let missing = std::mem::take(&mut self.missing_bytes);
        let mut buffer = shared.lock();
        if missing > 0 && self.gap == Gap::Told {
            let note = format!("\n({missing} bytes are not shown, because nobody read them in time)\n");
            buffer.bytes.extend_from_slice(note.as_bytes());
        }
        buffer.bytes.extend_from_slice(text.as_bytes());
        shared.work.notify_one();
    }

    fn is_closed(&self) -> bool {
        match &self.state {
            State::Running(shared) => shared.lock().is_closed,
            State::Direct(direct) => direct.is_closed(),
            State::Idle(_) => false,
        }
    }

    fn is_behind(&self) -> bool {
        match &self.state {
            State::Running(shared) => shared.lock().waiting() > 0,
            State::Direct(_) | State::Idle(_) => false,
        }
    }

    fn finish(&mut self) {
        if let State::Running(shared) = &self.state {
            shared.lock().is_done = true;
            shared.work.notify_one();
            // Whoever was given up already is not waited for again.
            let patience = if self.missing_bytes > 0 {
                Duration::ZERO
            } else {
                self.patience
            };
            shared.wait_until(0, patience, self.patient_until.as_ref());
        }
    }
}
