//! `Runner`: the process that owns a run, and whether it is alive. Clients and `reconcile` ask it.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

/// The process that owns a run. Process ids are reused: with the time of its start
/// and the machine's boot it is unique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runner {
    pub pid: u32,
    /// When it started, in the system's ticks since the boot; 0 where the system does not say.
    #[serde(default)]
    pub start_time: u64,
    /// Which boot of the machine; empty where the system does not say.
    #[serde(default)]
    pub boot_id: String,
}

/// What is known about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    Alive,
    /// The process does not exist, or is a zombie.
    Gone,
    /// Another process has its number.
    Replaced,
    /// The machine was rebooted, or it is another machine.
    OtherBoot,
    Unknown,
}

impl Runner {
    pub fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_time: read_stat(pid).map_or(0, |stat| stat.start_time),
            boot_id: boot_id().unwrap_or_default(),
        }
    }

    /// Whether the process is still there.
    pub fn is_alive(&self) -> bool {
        self.liveness() == Liveness::Alive
    }

    /// What is known about the process.
    pub fn liveness(&self) -> Liveness {
        let Ok(boot_id) = boot_id() else {
            return Liveness::Unknown;
        };
        if boot_id != self.boot_id {
            return Liveness::OtherBoot;
        }
        match read_stat(self.pid) {
            Ok(stat) if stat.start_time != self.start_time => Liveness::Replaced,
            Ok(stat) if stat.is_dead => Liveness::Gone,
            Ok(_) => Liveness::Alive,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Liveness::Gone,
            // Read while the process went away.
            Err(_) => Liveness::Unknown,
        }
    }
}

/// What one process can ask of a run's runner without its control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerSignal {
    /// SIGTERM: end the run.
    Terminate,
    /// SIGCONT: continue after Ctrl-Z.
    Continue,
}

#[cfg(unix)]
impl Runner {
    /// Whether the process is stopped, by Ctrl-Z for example.
    pub fn is_stopped(&self) -> bool {
        self.is_alive() && read_stat(self.pid).is_ok_and(|stat| stat.is_stopped)
    }

    /// Sends a signal to this very process.
    pub fn signal(&self, signal: RunnerSignal) -> io::Result<()> {
        let signal = match signal {
            RunnerSignal::Terminate => rustix::process::Signal::TERM,
            RunnerSignal::Continue => rustix::process::Signal::CONT,
        };
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let pid = i32::try_from(self.pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        let pid = pid.ok_or_else(gone)?;
        #[cfg(target_os = "linux")]
        {
            // Opened before the check: then the signal cannot reach another process that gets the number.
            let process = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?;
            if !self.is_alive() {
                return Err(gone());
            }
            Ok(rustix::process::pidfd_send_signal(process, signal)?)
        }
        #[cfg(not(target_os = "linux"))]
        {
            if !self.is_alive() {
                return Err(gone());
            }
            Ok(rustix::process::kill_process(pid, signal)?)
        }
    }
}

fn boot_id() -> io::Result<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(text.trim_end().to_owned())
}

struct Stat {
    is_dead: bool,
    is_stopped: bool,
    start_time: u64,
}

fn read_stat(pid: u32) -> io::Result<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat"))?;
    parse_stat(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The process's name may contain anything; what follows its last parenthesis does not.
fn parse_stat(text: &[u8]) -> Option<Stat> {
    let name_end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(text.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    // Field 22 of the line; the state is field 3.
    let start_time = fields.nth(18)?.parse().ok()?;
    Some(Stat {
        is_dead: matches!(state, "Z" | "X" | "x"),
        is_stopped: state == "T",
        start_time,
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Liveness, Runner, parse_stat};

    #[test]
    fn this_process_is_alive() {
        let runner = Runner::current();
        assert!(runner.is_alive());
        assert!(runner.start_time > 0);
    }

    #[test]
    fn a_reused_number_is_not_the_runner() {
        let mut runner = Runner::current();
        runner.start_time += 1;
        assert_eq!(runner.liveness(), Liveness::Replaced);
        let mut runner = Runner::current();
        runner.boot_id = "another".to_owned();
        assert_eq!(runner.liveness(), Liveness::OtherBoot);
    }

    #[test]
    fn a_dead_child_that_is_not_reaped_is_gone() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let stat = super::read_stat(child.id()).unwrap();
        let runner = Runner {
            pid: child.id(),
            start_time: stat.start_time,
            ..Runner::current()
        };
        assert!(runner.is_alive());
        drop(child.stdin.take());
        while runner.is_alive() {
            std::thread::yield_now();
        }
        assert_eq!(runner.liveness(), Liveness::Gone);
        child.wait().unwrap();
        assert_eq!(runner.liveness(), Liveness::Gone);
    }

    #[test]
    fn a_name_full_of_parentheses_does_not_shift_the_fields() {
        let line = b"7 (a) S 1) (b) R 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        assert_eq!(parse_stat(line).map(|stat| stat.start_time), Some(4242));
    }
}
