//! A terminal with a program in it, as a person sees and uses it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;
use rustix::pty::OpenptFlags;
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use test_support::wait_for;

use crate::stage::Stage;

const COLUMNS: u16 = 100;
const ROWS: u16 = 30;

/// Only reached by a test that fails.
const LIMIT: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(5);

/// A terminal of its own session. The program in it does not outlive the test.
pub(crate) struct Terminal {
    keyboard: File,
    /// The program's end, to look at its mode.
    line: OwnedFd,
    /// Before the program started.
    initial_mode: String,
    child: Option<Child>,
    screen: Arc<Mutex<vt100::Parser>>,
    written: Arc<Mutex<Vec<u8>>>,
    is_closed: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// `ralph` with these arguments.
    pub(crate) fn ralph(stage: &Stage, args: &[&str]) -> Self {
        let mut words = vec![env!("CARGO_BIN_EXE_ralph")];
        words.extend(args);
        Self::start(stage, &words, &[])
    }

    /// `ralph` with these arguments and variables.
    pub(crate) fn ralph_with(stage: &Stage, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut words = vec![env!("CARGO_BIN_EXE_ralph")];
        words.extend(args);
        Self::start(stage, &words, variables)
    }

    /// An interactive shell without an editor of its own, which would change the terminal's mode.
    pub(crate) fn shell(stage: &Stage) -> Self {
        Self::start(stage, &["/bin/sh", "-i", "+o", "emacs", "+o", "vi"], &[])
    }

    fn start(stage: &Stage, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let keyboard = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::io::fcntl_setfd(&keyboard, rustix::io::FdFlags::CLOEXEC).unwrap();
        rustix::pty::grantpt(&keyboard).unwrap();
        rustix::pty::unlockpt(&keyboard).unwrap();
        let name = rustix::pty::ptsname(&keyboard, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let line = rustix::fs::open(&name, flags, Mode::empty()).unwrap();
        let size = Winsize {
            ws_col: COLUMNS,
            ws_row: ROWS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&line, size).unwrap();
        let initial_mode = format!("{:?}", tcgetattr(&line).unwrap());
        let stream = || line.try_clone().unwrap();
        // A new session, with this terminal as its own.
        let child = Command::new("/usr/bin/setsid")
            .arg("--ctty")
            .args(words)
            .env_clear()
            .envs(stage.variables())
            .env("TERM", "xterm-256color")
            .env("PS1", "shell> ")
            .envs(variables.iter().copied())
            .current_dir(stage.workspace())
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .unwrap();
        let keyboard = File::from(keyboard);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 1_000)));
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut output = keyboard.try_clone().unwrap();
        let (shown, bytes) = (Arc::clone(&screen), Arc::clone(&written));
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while !closed.load(Ordering::Relaxed) {
                if !is_readable(&output) {
                    continue;
                }
                let Ok(length @ 1..) = output.read(&mut buffer) else {
                    return;
                };
                bytes.lock().unwrap().extend_from_slice(&buffer[..length]);
                shown.lock().unwrap().process(&buffer[..length]);
            }
        });
        Self {
            keyboard,
            line,
            initial_mode,
            child: Some(child),
            screen,
            written,
            is_closed,
            reader: Some(reader),
        }
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Everything that was ever written.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// Waits until the screen shows this.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let start = Instant::now();
        while !self.screen().contains(text) {
            assert!(
                start.elapsed() < LIMIT,
                "`{text}` is not on the screen:\n{}",
                self.screen()
            );
            std::thread::sleep(INTERVAL);
        }
    }

    /// Waits until a condition holds.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < LIMIT, "not {what}:\n{}", self.screen());
            std::thread::sleep(INTERVAL);
        }
    }

    /// Whether a program uses the whole screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.screen.lock().unwrap().screen().alternate_screen()
    }

    /// Whether a program is told of the mouse or of pastes, or hides the cursor.
    pub(crate) fn has_screen_modes(&self) -> bool {
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
            || screen.bracketed_paste()
            || screen.hide_cursor()
    }

    /// Changes the size of the window.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(rows, columns);
        let size = Winsize {
            ws_col: columns,
            ws_row: rows,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.line, size).unwrap();
    }

    /// Where the cursor stands: the text of its row, and its column.
    pub(crate) fn cursor(&self) -> (String, u16) {
        let parser = self.screen.lock().unwrap();
        let (row, column) = parser.screen().cursor_position();
        let text = parser.screen().rows(0, COLUMNS).nth(usize::from(row));
        (text.unwrap_or_default(), column)
    }

    pub(crate) fn initial_mode(&self) -> &str {
        &self.initial_mode
    }

    pub(crate) fn mode(&self) -> Termios {
        tcgetattr(&self.line).unwrap()
    }

    /// Whether what is typed appears on the screen without a program.
    pub(crate) fn has_echo(&self) -> bool {
        self.mode()
            .local_modes
            .contains(rustix::termios::LocalModes::ECHO)
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(self.child.as_ref().unwrap())
    }

    /// Waits for the end of the program.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let child = self.child.as_mut().unwrap();
        wait_for("the end of the program", || child.try_wait().unwrap())
    }

    /// Closes the terminal, as closing its window does. Gives the program that was in it.
    pub(crate) fn hang_up(mut self) -> Child {
        self.stop_reading();
        self.child.take().unwrap()
    }

    fn stop_reading(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.stop_reading();
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn is_readable(output: &File) -> bool {
    let soon = Timespec {
        tv_sec: 0,
        tv_nsec: 10_000_000,
    };
    let mut descriptors = [PollFd::new(output, PollFlags::IN)];
    poll(&mut descriptors, Some(&soon)).is_ok_and(|ready| ready > 0)
}
