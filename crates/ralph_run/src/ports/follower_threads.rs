//! `FollowerThreads`: two threads that read the journals of all active runs as they grow, for `LocalJournals`.
//!
//! A thread owns one inotify instance, one buffer and the runs that were given to it. It waits for any of them to
//! change, then serves all that have. Readers of a disk that does not answer hold up these threads and nothing else.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::change_watch::ChangeWatch;
use super::follow::{FollowEnd, FollowStep, JournalSink};
use crate::journal::JournalReader;

const THREADS: usize = 2;
/// How often the length of each file is checked, for file systems that send no notifications.
const SWEEP_INTERVAL: Duration = Duration::from_millis(250);
/// Number of sweeps between two checks that each path still names the file that is open.
const REPLACED_SWEEPS: u32 = 8;
/// A thread that is busy serves all that changed in this time together, instead of waking up for each write.
const TURN_INTERVAL: Duration = Duration::from_millis(2);

/// The threads. They end when this is dropped.
#[derive(Debug)]
pub(super) struct FollowerThreads {
    threads: Vec<Mutex<Handle>>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Handle {
    follows: mpsc::Sender<NewFollow>,
    wake: PipeWriter,
}

/// A journal to be followed.
struct NewFollow {
    path: PathBuf,
    offset: u64,
    sink: Box<dyn JournalSink>,
}

impl FollowerThreads {
    pub(super) fn spawn() -> io::Result<Self> {
        let spawn = |number| {
            let (follows, receiver) = mpsc::channel();
            let (awake, wake) = io::pipe()?;
            let follower = Follower {
                new: receiver,
                awake,
                watch: ChangeWatch::new(),
                follows: HashMap::new(),
                last_id: 0,
                ready: BTreeSet::new(),
                timers: BTreeSet::new(),
                buffer: Vec::new(),
                swept_at: Instant::now(),
                sweeps: 0,
            };
            thread::Builder::new()
                .name(format!("follow-{number}"))
                .spawn(move || follower.run())?;
            Ok(Mutex::new(Handle { follows, wake }))
        };
        Ok(Self {
            threads: (0..THREADS).map(spawn).collect::<io::Result<_>>()?,
            next: AtomicUsize::new(0),
        })
    }

    /// Follows a journal from `offset` on. The sink is told whether it can be opened.
    pub(super) fn follow(&self, path: PathBuf, offset: u64, sink: Box<dyn JournalSink>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % self.threads.len();
        let Some(thread) = self.threads.get(number) else {
            return;
        };
        let mut thread = thread.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread ends only with `self`. If it did, dropping the sink says so.
        let _ = thread.follows.send(NewFollow { path, offset, sink });
        let _ = thread.wake.write_all(&[0]);
    }
}

struct Follow {
    path: PathBuf,
    reader: JournalReader,
    watch: Option<i32>,
    sink: Box<dyn JournalSink>,
    timer: Option<Instant>,
}

struct Follower {
    new: mpsc::Receiver<NewFollow>,
    awake: PipeReader,
    watch: ChangeWatch,
    follows: HashMap<u64, Follow>,
    last_id: u64,
    /// Those that may have something to read.
    ready: BTreeSet<u64>,
    timers: BTreeSet<(Instant, u64)>,
    buffer: Vec<u8>,
    swept_at: Instant,
    sweeps: u32,
}

/// What came of serving a run.
enum Served {
    Waits { has_more: bool, timer: Option<Instant> },
    Reopened,
    Over,
}

impl Follower {
    fn run(mut self) {
        loop {
            let turn_began = Instant::now();
            if !self.accept() {
                return;
            }
            for id in std::mem::take(&mut self.ready) {
                self.serve(id, true);
            }
            let now = Instant::now();
            while let Some((_, id)) = self.timers.first().copied().filter(|(due, _)| *due <= now) {
                self.serve(id, false);
            }
            if now >= self.swept_at + SWEEP_INTERVAL {
                self.sweep(now);
            }
            if self.ready.is_empty() {
                self.wait(now);
                thread::sleep(TURN_INTERVAL.saturating_sub(turn_began.elapsed()));
            }
            let ready = &mut self.ready;
            if self.watch.drain(|id| _ = ready.insert(id)).is_err() {
                // Events were lost: any file may have changed.
                self.ready.extend(self.follows.keys());
            }
        }
    }

    /// Takes new journals to follow. Returns false once the owner of the threads is gone.
    fn accept(&mut self) -> bool {
        loop {
            match self.new.try_recv() {
                Ok(new) => self.begin(new),
                Err(mpsc::TryRecvError::Empty) => return true,
                Err(mpsc::TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn begin(&mut self, new: NewFollow) {
        let NewFollow {
            path,
            offset,
            mut sink,
        } = new;
        self.last_id += 1;
        let id = self.last_id;
        // Before the first read, so that no write in between is missed.
        let watch = self.watch.add(&path, id);
        match JournalReader::open_at(&path, offset) {
            Ok(reader) => {
                let follow = Follow {
                    path,
                    reader,
                    watch,
                    sink,
                    timer: None,
                };
                self.follows.insert(id, follow);
                self.ready.insert(id);
            }
            Err(error) => {
                self.watch.remove(watch, id);
                sink.on_end(ended_by(error));
            }
        }
    }

    /// Lets a run read, or only tells it the time.
    fn serve(&mut self, id: u64, reads: bool) {
        let Some(mut follow) = self.follows.remove(&id) else {
            return;
        };
        if let Some(timer) = follow.timer.take() {
            self.timers.remove(&(timer, id));
        }
        let buffer = &mut self.buffer;
        let served = catch_unwind(AssertUnwindSafe(|| follow.serve(buffer, reads)));
        match served {
            Ok(Served::Waits { has_more, timer }) => {
                follow.timer = timer;
                self.timers.extend(timer.map(|timer| (timer, id)));
                if has_more {
                    self.ready.insert(id);
                }
            }
            Ok(Served::Reopened) => {
                self.watch.remove(follow.watch, id);
                follow.watch = self.watch.add(&follow.path, id);
                self.ready.insert(id);
            }
            Ok(Served::Over) => return self.watch.remove(follow.watch, id),
            Err(_) => {
                // One run's failure is not another's. Dropping the sink says that it failed.
                tracing::error!(path = %follow.path.display(), "following a journal has failed");
                return self.watch.remove(follow.watch, id);
            }
        }
        self.follows.insert(id, follow);
    }

    /// Looks for changes that came without a notification.
    fn sweep(&mut self, now: Instant) {
        self.swept_at = now;
        self.sweeps += 1;
        let checks_all = self.sweeps.is_multiple_of(REPLACED_SWEEPS);
        let changed = self.follows.iter().filter(|(_, follow)| {
            let length = follow.reader.length_bytes();
            checks_all || length.is_ok_and(|length| length != follow.reader.offset())
        });
        self.ready.extend(changed.map(|(id, _)| *id));
    }

    /// Waits until something may have changed.
    fn wait(&mut self, now: Instant) {
        let due = self.timers.first().map(|(due, _)| *due);
        let sweep = (!self.follows.is_empty()).then_some(self.swept_at + SWEEP_INTERVAL);
        let until = due.into_iter().chain(sweep).min();
        let timeout = until.map(|until| {
            let left = until.saturating_duration_since(now);
            Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        let is_awake = {
            let mut files = vec![PollFd::new(&self.awake, PollFlags::IN)];
            files.extend(
                self.watch
                    .descriptor()
                    .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)),
            );
            // An interruption is as good as a change.
            let _ = poll(&mut files, timeout.as_ref());
            files.first().is_some_and(|file| !file.revents().is_empty())
        };
        if is_awake {
            let _ = self.awake.read(&mut [0; 64]);
        }
    }
}

impl Follow {
    fn serve(&mut self, buffer: &mut Vec<u8>, reads: bool) -> Served {
        let Self {
            reader, sink, path, ..
        } = self;
        let mut has_more = false;
        if reads {
            let mut count = 0_u32;
            let read = reader.read(buffer, |item| {
                count += 1;
                sink.on_item(item);
            });
            match read {
                Ok(more) => has_more = more,
                Err(error) => {
                    sink.on_end(FollowEnd::Failed(error));
                    return Served::Over;
                }
            }
            if count == 0 && !has_more && reader.was_replaced() {
                return reopen(path, reader, sink.as_mut());
            }
        }
        match sink.on_batch(Instant::now(), has_more) {
            FollowStep::Wait(timer) => Served::Waits { has_more, timer },
            FollowStep::Stop => Served::Over,
        }
    }
}

fn reopen(path: &Path, reader: &mut JournalReader, sink: &mut dyn JournalSink) -> Served {
    match JournalReader::open(path) {
        Ok(other) => {
            *reader = other;
            sink.on_replaced();
            Served::Reopened
        }
        Err(error) => {
            sink.on_end(ended_by(error));
            Served::Over
        }
    }
}

fn ended_by(error: io::Error) -> FollowEnd {
    match error.kind() {
        io::ErrorKind::NotFound => FollowEnd::Gone,
        _ => FollowEnd::Failed(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::{Duration, Instant};

    use super::FollowerThreads;
    use crate::journal::JournalItem;
    use crate::ports::{FollowEnd, FollowStep, JournalSink};

    const PATIENCE: Duration = Duration::from_secs(30);

    #[derive(Debug, PartialEq, Eq)]
    enum Seen {
        Line(String),
        Replaced,
        Gone,
        Dropped,
    }

    /// Panics at the line `panic` and stops at the line `stop`.
    struct Recorder {
        seen: Sender<Seen>,
        stops: bool,
    }

    impl JournalSink for Recorder {
        fn on_item(&mut self, item: JournalItem<'_>) {
            let JournalItem::Line(line) = item else { return };
            let text = String::from_utf8(line.bytes.to_vec()).unwrap();
            assert_ne!(text, "panic");
            self.stops |= text == "stop";
            self.seen.send(Seen::Line(text)).unwrap();
        }

        fn on_batch(&mut self, _now: Instant, _has_more: bool) -> FollowStep {
            match self.stops {
                true => FollowStep::Stop,
                false => FollowStep::Wait(None),
            }
        }

        fn on_replaced(&mut self) {
            self.seen.send(Seen::Replaced).unwrap();
        }

        fn on_end(&mut self, end: FollowEnd) {
            assert!(matches!(end, FollowEnd::Gone), "{end:?}");
            self.seen.send(Seen::Gone).unwrap();
        }
    }

    impl Drop for Recorder {
        fn drop(&mut self) {
            let _ = self.seen.send(Seen::Dropped);
        }
    }

    fn follow(threads: &FollowerThreads, path: &Path, offset: u64) -> Receiver<Seen> {
        let (seen, receiver) = channel();
        threads.follow(path.to_owned(), offset, Box::new(Recorder { seen, stops: false }));
        receiver
    }

    fn append(path: &Path, text: &str) {
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn next(seen: &Receiver<Seen>) -> Seen {
        seen.recv_timeout(PATIENCE).unwrap()
    }

    fn line(text: &str) -> Seen {
        Seen::Line(text.to_owned())
    }

    #[test]
    fn lines_are_passed_on_as_they_are_written_until_the_sink_has_enough() {
        let directory = tempfile::tempdir().unwrap();
        let threads = FollowerThreads::spawn().unwrap();
        let runs: Vec<_> = (0..5)
            .map(|number| {
                let path = directory.path().join(number.to_string());
                std::fs::write(&path, "left out\nfirst\nha").unwrap();
                let seen = follow(&threads, &path, 9);
                (std::fs::File::options().append(true).open(&path).unwrap(), seen)
            })
            .collect();
        for (mut file, seen) in runs {
            assert_eq!(next(&seen), line("first"));
            file.write_all(b"lf\nstop\n").unwrap();
            assert_eq!(next(&seen), line("half"));
            assert_eq!(next(&seen), line("stop"));
            assert_eq!(next(&seen), Seen::Dropped);
        }
    }

    #[test]
    fn another_journal_is_read_from_its_start_and_a_missing_one_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let threads = FollowerThreads::spawn().unwrap();
        let path = directory.path().join("journal");
        std::fs::write(&path, "one\n").unwrap();
        let seen = follow(&threads, &path, 0);
        assert_eq!(next(&seen), line("one"));
        let other = directory.path().join("other");
        std::fs::write(&other, "two\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(next(&seen), Seen::Replaced);
        assert_eq!(next(&seen), line("two"));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(next(&seen), Seen::Gone);
        assert_eq!(next(&seen), Seen::Dropped);
        let seen = follow(&threads, &path, 0);
        assert_eq!(next(&seen), Seen::Gone);
    }

    #[test]
    fn a_sink_that_panics_ends_alone() {
        let directory = tempfile::tempdir().unwrap();
        let threads = FollowerThreads::spawn().unwrap();
        let paths = [0, 1, 2, 3].map(|number| directory.path().join(number.to_string()));
        let seen = paths.each_ref().map(|path| {
            std::fs::write(path, "one\n").unwrap();
            let seen = follow(&threads, path, 0);
            assert_eq!(next(&seen), line("one"));
            seen
        });
        append(&paths[0], "panic\n");
        assert_eq!(next(&seen[0]), Seen::Dropped);
        for (path, seen) in paths.iter().zip(&seen).skip(1) {
            append(path, "two\n");
            assert_eq!(next(seen), line("two"));
        }
        drop(threads);
        assert_eq!(next(&seen[1]), Seen::Dropped);
    }
}
