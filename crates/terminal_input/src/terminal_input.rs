//! `TerminalInput`: stdin as a keyboard. Owns the terminal's mode, and the thread that reads keys.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::sync::mpsc;

use super::decoder::{KeyDecoder, Pending};
use super::key::Key;
use super::paste_burst::PasteBurst;
use super::terminal_mode::{Form, MouseReports, ScreenOptions, TerminalMode};
use crate::background_query::{Background, ask_background};
use crate::foreground::is_in_foreground;

/// A byte ESC is the Escape key if nothing follows it for this long. A sequence may be cut by a slow connection.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(50);
/// A paste whose end was lost ends after this long without a byte.
const PASTE_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a process in the background looks whether it is in the foreground again.
const BACKGROUND_INTERVAL: Duration = Duration::from_millis(500);

/// How many groups of keys wait for the console. The others wait in the terminal.
const MAX_WAITING: usize = 64;

/// The keyboard of this process. Dropping it restores the terminal and discards unread keys.
#[derive(Debug)]
pub struct TerminalInput(TerminalControl);

/// Restores and sets the mode of the terminal around a suspension.
#[derive(Debug, Clone)]
pub struct TerminalControl {
    shared: Arc<Mutex<Shared>>,
    /// Wakes the reader.
    wake: Arc<OwnedFd>,
}

#[derive(Debug)]
struct Shared {
    mode: TerminalMode,
    use_of_terminal: Use,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Whenever this process is in the foreground.
    Wanted,
    /// Not until it continues.
    Suspended,
    Over,
}

/// What the reader waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Keys,
    Foreground,
    Continuation,
}

impl TerminalInput {
    /// Sets the terminal's mode and starts to read keys. The channel closes when the terminal is gone.
    pub fn open() -> io::Result<(Self, mpsc::Receiver<Vec<Key>>)> {
        let input = Prepared::new(Form::Line)?;
        // At once, so that nothing is echoed before the thread has started.
        lock(&input.shared).acquire();
        input.start(KeyDecoder::default(), Vec::new())
    }

    /// As [`Self::open`], for a program that uses the whole screen: on the alternate screen, with Ctrl-C and Ctrl-Z as
    /// keys. Keys typed while it starts are not lost.
    pub fn open_screen(options: ScreenOptions) -> io::Result<Screen> {
        let input = Prepared::new(Form::Screen(options))?;
        let is_ours = lock(&input.shared).acquire() == Some(Wait::Keys);
        let (background, typed) = if is_ours {
            ask_background()
        } else {
            (None, Vec::new())
        };
        let mut decoder = KeyDecoder::default();
        let typed = decoder.push(&typed);
        let (input, keys) = input.start(decoder, typed)?;
        Ok(Screen {
            input,
            keys,
            background,
        })
    }

    pub fn control(&self) -> TerminalControl {
        self.0.clone()
    }
}

/// A terminal that a program uses as a whole.
#[derive(Debug)]
pub struct Screen {
    pub input: TerminalInput,
    /// Closes when the terminal is gone.
    pub keys: mpsc::Receiver<Vec<Key>>,
    /// `None` if the terminal did not say it in time.
    pub background: Option<Background>,
}

/// Everything but the thread.
struct Prepared {
    shared: Arc<Mutex<Shared>>,
    wake: OwnedFd,
    wake_reader: OwnedFd,
    is_screen: bool,
}

impl Prepared {
    fn new(form: Form) -> io::Result<Self> {
        let (wake_reader, wake) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let shared = Arc::new(Mutex::new(Shared {
            mode: TerminalMode::new(form),
            use_of_terminal: Use::Wanted,
        }));
        Ok(Self {
            shared,
            wake,
            wake_reader,
            is_screen: form != Form::Line,
        })
    }

    fn start(
        self,
        decoder: KeyDecoder,
        typed: Vec<Key>,
    ) -> io::Result<(TerminalInput, mpsc::Receiver<Vec<Key>>)> {
        let Self {
            shared,
            wake,
            wake_reader,
            is_screen,
        } = self;
        let (sender, keys) = mpsc::channel(MAX_WAITING);
        let input = TerminalInput(TerminalControl {
            shared: Arc::clone(&shared),
            wake: Arc::new(wake),
        });
        if !typed.is_empty() {
            // There is room for the first group.
            let _ = sender.try_send(typed);
        }
        let burst = is_screen.then(PasteBurst::default);
        thread::Builder::new()
            .name("keyboard".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || read_keys(&shared, &wake_reader, decoder, burst, &sender))?;
        Ok((input, keys))
    }
}

impl Drop for TerminalInput {
    fn drop(&mut self) {
        self.0.release(Use::Over);
    }
}

impl TerminalControl {
    /// Restores the terminal until [`Self::resume`].
    pub fn suspend(&self) {
        self.release(Use::Suspended);
    }

    /// Sets the mode again as soon as this process is in the foreground. A shell may have changed it.
    pub fn resume(&self) {
        let mut shared = lock(&self.shared);
        if shared.use_of_terminal != Use::Over {
            shared.use_of_terminal = Use::Wanted;
            shared.mode.forget();
            shared.acquire();
        }
        drop(shared);
        self.wake();
    }

    /// Restores the terminal for good, for a process that is about to end. Can be called again.
    pub fn close(&self) {
        self.release(Use::Over);
    }

    /// Whether the terminal has our mode now.
    #[must_use]
    pub fn is_held(&self) -> bool {
        lock(&self.shared).mode.is_set()
    }

    /// Reports this of the mouse of a full screen from now on.
    pub fn set_mouse(&self, mouse: MouseReports) {
        lock(&self.shared).mode.set_mouse(mouse);
    }

    /// Stops this process and the others of its job, as Ctrl-Z does. Returns when it is continued, or at once where no
    /// shell could continue it. The terminal is restored meanwhile.
    pub fn stop_job(&self) {
        self.suspend();
        // Process 0 stands for the group of this process.
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
        self.resume();
    }

    fn release(&self, use_of_terminal: Use) {
        let mut shared = lock(&self.shared);
        if shared.use_of_terminal != Use::Over {
            shared.use_of_terminal = use_of_terminal;
        }
        if is_in_foreground() {
            shared.mode.restore();
        } else {
            // The terminal belongs to another process, and changing it would stop this one.
            shared.mode.forget();
        }
        drop(shared);
        self.wake();
    }

    fn wake(&self) {
        // A full pipe wakes the reader as well.
        let _ = rustix::io::write(&*self.wake, &[0]);
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Sets the mode, if the terminal is ours to use. `None` once it is not wanted any more.
    fn acquire(&mut self) -> Option<Wait> {
        match self.use_of_terminal {
            Use::Over => None,
            Use::Suspended => Some(Wait::Continuation),
            Use::Wanted if !is_in_foreground() => {
                self.mode.forget();
                Some(Wait::Foreground)
            }
            Use::Wanted => {
                self.mode.set();
                Some(Wait::Keys)
            }
        }
    }
}

/// Reads keys until the terminal or the receiver is gone.
fn read_keys(
    shared: &Mutex<Shared>,
    wake: &OwnedFd,
    mut decoder: KeyDecoder,
    mut burst: Option<PasteBurst>,
    keys: &mpsc::Sender<Vec<Key>>,
) {
    let stdin = rustix::stdio::stdin();
    let mut buffer = vec![0; 16 * 1024];
    let mut empty_reads = 0;
    loop {
        let Some(wait) = lock(shared).acquire() else {
            return;
        };
        let timeout = match (wait, decoder.pending()) {
            (Wait::Continuation, _) | (Wait::Keys, Pending::Nothing) => None,
            (Wait::Foreground, _) => Some(BACKGROUND_INTERVAL),
            (Wait::Keys, Pending::Sequence) => Some(ESCAPE_TIMEOUT),
            (Wait::Keys, Pending::Paste) => Some(PASTE_TIMEOUT),
        };
        let events = match wait_for(&[(wake.as_fd(), true), (stdin, wait == Wait::Keys)], timeout) {
            Ok([woken, events]) => {
                if !woken.is_empty() {
                    let _ = rustix::io::read(wake, &mut buffer);
                    continue;
                }
                events
            }
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(_) => return,
        };
        if wait != Wait::Keys {
            continue;
        }
        let decoded = if events.contains(PollFlags::IN) {
            match read_announced(shared, &mut buffer) {
                // Discarded after it was announced, which cannot happen again and again.
                Ok(0) if empty_reads < 3 && !events.contains(PollFlags::HUP) => {
                    empty_reads += 1;
                    continue;
                }
                Ok(0) => return,
                Ok(length) => {
                    empty_reads = 0;
                    decoder.push(buffer.get(..length).unwrap_or_default())
                }
                Err(Errno::INTR | Errno::AGAIN) => continue,
                Err(_) => return,
            }
        } else if events.is_empty() {
            decoder.flush()
        } else {
            // The terminal is gone.
            return;
        };
        let decoded = match &mut burst {
            Some(burst) => burst.join(decoded, Instant::now()),
            None => decoded,
        };
        if !decoded.is_empty() && keys.blocking_send(decoded).is_err() {
            return;
        }
    }
}

/// Reads input that `poll` has announced, without waiting: `AGAIN` if it is gone, or not for this process any more.
fn read_announced(shared: &Mutex<Shared>, buffer: &mut [u8]) -> Result<usize, Errno> {
    // Code that restores the terminal discards its input while holding this lock. Without it, the read could wait for a key
    // that is meant for the next program.
    let shared = lock(shared);
    // To read in the background would stop this process.
    if !shared.mode.is_set() || !is_in_foreground() {
        return Err(Errno::AGAIN);
    }
    let stdin = rustix::stdio::stdin();
    let mut descriptors = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut descriptors, Some(&Timespec::default()))? {
        0 => Err(Errno::AGAIN),
        _ => rustix::io::read(stdin, buffer),
    }
}

type Descriptor<'a> = (std::os::fd::BorrowedFd<'a>, bool);

/// Waits for input on those of the descriptors that are wanted.
fn wait_for(descriptors: &[Descriptor<'_>; 2], timeout: Option<Duration>) -> Result<[PollFlags; 2], Errno> {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    let mut polled: Vec<PollFd<'_>> = descriptors
        .iter()
        .filter(|(_, is_wanted)| *is_wanted)
        .map(|(descriptor, _)| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN))
        .collect();
    poll(&mut polled, timeout.as_ref())?;
    let mut found = polled.iter().map(PollFd::revents);
    Ok(descriptors.map(|(_, is_wanted)| {
        let found = is_wanted.then(|| found.next()).flatten();
        found.unwrap_or(PollFlags::empty())
    }))
}
