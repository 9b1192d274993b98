//! `Terminal`: a terminal with `ralph` in it, which notes what arrives and when.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::param::clock_ticks_per_second;
use rustix::pty::OpenptFlags;
use rustix::termios::{Winsize, tcsetwinsize};

use crate::process::explain;

/// Only reached by a program that hangs.
const LIMIT: Duration = Duration::from_secs(60);
const LOOK_INTERVAL: Duration = Duration::from_micros(200);
/// Without work for so long, a frame is over.
const QUIET_TIME: Duration = Duration::from_millis(4);
/// What a program asks at its start, and what a usual terminal says to it.
const QUESTION: &[u8] = b"\x1b[c";
const ANSWER: &[u8] = b"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62;22c";

pub struct Terminal {
    keyboard: File,
    line: OwnedFd,
    child: Child,
    pid: u32,
    seen: Arc<Mutex<Seen>>,
    started_at: Instant,
}

type Watch = Box<dyn FnMut(&vt100::Screen, Instant) + Send>;

/// What has arrived.
pub struct Seen {
    parser: vt100::Parser,
    bytes: u64,
    last_at: Instant,
    first_since: Option<Instant>,
    watch: Option<Watch>,
}

impl Terminal {
    /// Starts a program in a session of its own, with this terminal.
    pub fn start(command: &Command, (columns, rows): (u16, u16)) -> Result<Self, String> {
        let keyboard = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map_err(explain)?;
        rustix::io::fcntl_setfd(&keyboard, rustix::io::FdFlags::CLOEXEC).map_err(explain)?;
        rustix::pty::grantpt(&keyboard).map_err(explain)?;
        rustix::pty::unlockpt(&keyboard).map_err(explain)?;
        let name = rustix::pty::ptsname(&keyboard, Vec::new()).map_err(explain)?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let line = rustix::fs::open(&name, flags, Mode::empty()).map_err(explain)?;
        tcsetwinsize(&line, size_of(columns, rows)).map_err(explain)?;
        let stream = || line.try_clone().map(Stdio::from).map_err(explain);
        let mut wrapped = Command::new("/usr/bin/setsid");
        wrapped
            .arg("--ctty")
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear();
        wrapped.envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        if let Some(directory) = command.get_current_dir() {
            wrapped.current_dir(directory);
        }
        wrapped
            .env("TERM", "xterm-256color")
            .stdin(stream()?)
            .stdout(stream()?)
            .stderr(stream()?);
        let keyboard = File::from(keyboard);
        let started_at = Instant::now();
        let seen = Arc::new(Mutex::new(Seen {
            parser: vt100::Parser::new(rows, columns, 0),
            bytes: 0,
            last_at: started_at,
            first_since: None,
            watch: None,
        }));
        let output = keyboard.try_clone().map_err(explain)?;
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || pump(output, &shared));
        let child = wrapped.spawn().map_err(explain)?;
        // `setsid` becomes the program.
        let pid = child.id();
        Ok(Self {
            keyboard,
            line,
            child,
            pid,
            seen,
            started_at,
        })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn screen(&self) -> String {
        self.seen().parser.screen().contents()
    }

    /// How many bytes were written.
    pub fn bytes(&self) -> u64 {
        self.seen().bytes
    }

    /// Looks at the screen whenever something has arrived.
    pub fn watch(&self, watch: impl FnMut(&vt100::Screen, Instant) + Send + 'static) {
        self.seen().watch = Some(Box::new(watch));
    }

    /// Waits until the screen shows a text. Since the start of the program.
    pub fn wait_for(&self, text: &str) -> Result<Duration, String> {
        loop {
            let now = Instant::now();
            let screen = self.screen();
            if screen.contains(text) {
                return Ok(self.seen().last_at.min(now) - self.started_at);
            }
            if self.started_at.elapsed() > LIMIT {
                return Err(format!("`{text}` is not on the screen:\n{screen}"));
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Presses a key: how long until something is written, if that is before `patience` ends.
    pub fn press(&mut self, key: &str, patience: Duration) -> Result<Option<Duration>, String> {
        self.seen().first_since = None;
        let start = Instant::now();
        self.keyboard.write_all(key.as_bytes()).map_err(explain)?;
        Ok(self.first_since(start, patience))
    }

    /// Changes the size: how long until something is written.
    pub fn resize(&mut self, columns: u16, rows: u16) -> Result<Option<Duration>, String> {
        {
            let mut seen = self.seen();
            seen.first_since = None;
            seen.parser.screen_mut().set_size(rows, columns);
        }
        let start = Instant::now();
        tcsetwinsize(&self.line, size_of(columns, rows)).map_err(explain)?;
        Ok(self.first_since(start, Duration::from_secs(1)))
    }

    fn first_since(&self, start: Instant, patience: Duration) -> Option<Duration> {
        loop {
            if let Some(at) = self.seen().first_since {
                return Some(at.saturating_duration_since(start));
            }
            if start.elapsed() > patience {
                return None;
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Waits until the program rests.
    pub fn settle(&self) -> Result<(), String> {
        let start = Instant::now();
        let (mut busy, mut since) = (self.busy()?, start);
        while since.elapsed() < QUIET_TIME && start.elapsed() < LIMIT {
            std::thread::sleep(LOOK_INTERVAL);
            let now = self.busy()?;
            if now != busy {
                (busy, since) = (now, Instant::now());
            }
        }
        Ok(())
    }

    /// The processor time of all its threads that live, exactly.
    pub fn busy(&self) -> Result<Duration, String> {
        let mut nanoseconds = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.pid))
            .map_err(explain)?
            .flatten()
        {
            // A thread may have just ended.
            let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            nanoseconds += text
                .split(' ')
                .next()
                .and_then(|time| time.parse::<u64>().ok())
                .unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// The processor time of all its threads, in the clock's ticks.
    pub fn cpu_time(&self) -> Result<Duration, String> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).map_err(explain)?;
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        // In user and in system mode: fields 14 and 15, counted from the name, which is the second.
        let times = fields.split_ascii_whitespace().skip(11).take(2);
        let ticks: u64 = times.filter_map(|time| time.parse::<u64>().ok()).sum();
        Ok(Duration::from_secs_f64(
            ticks as f64 / clock_ticks_per_second() as f64,
        ))
    }

    /// A figure of its memory in MB: `VmRSS:` or `VmHWM:`.
    pub fn memory(&self, name: &str) -> Result<f64, String> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).map_err(explain)?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse::<f64>().ok());
        Ok(kib.ok_or("memory is not known")? * 1024.0 / 1e6)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size_of(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_col: columns,
        ws_row: rows,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// Reads until the program has ended.
fn pump(mut output: File, shared: &Mutex<Seen>) {
    let mut buffer = [0; 65_536];
    let mut is_asked = false;
    while let Ok(length @ 1..) = output.read(&mut buffer) {
        let now = Instant::now();
        let bytes = &buffer[..length];
        if !is_asked && memchr::memmem::find(bytes, QUESTION).is_some() {
            is_asked = true;
            let _ = output.write_all(ANSWER);
        }
        let mut seen = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = &mut *seen;
        seen.bytes += length as u64;
        seen.last_at = now;
        seen.first_since.get_or_insert(now);
        seen.parser.process(bytes);
        if let Some(watch) = &mut seen.watch {
            watch(seen.parser.screen(), now);
        }
    }
}
