//! `LeftoverRuns`: ends the runs that a test started and left behind, for example because it failed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Kills every runner whose run is in a state directory below this folder (`FOLDER/*/ralph/runs/*`) when it is dropped.
/// What the agents of these runs started ends with them: a killed runner leaves nothing behind.
#[derive(Debug)]
pub struct LeftoverRuns(PathBuf);

impl LeftoverRuns {
    /// Looks below this folder when it is dropped, so it must be dropped before the folder is.
    #[must_use]
    pub fn below(folder: &Path) -> Self {
        Self(folder.to_owned())
    }
}

impl Drop for LeftoverRuns {
    fn drop(&mut self) {
        for state in folders(&self.0) {
            for run in folders(&state.join("ralph/runs")) {
                // A run that was never started, or whose runner is gone.
                let _ = kill_runner(&run.join("run.json"));
            }
        }
    }
}

fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

#[cfg(not(target_os = "linux"))]
fn kill_runner(_run_file: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn kill_runner(run_file: &Path) -> io::Result<()> {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    let file: serde_json::Value = serde_json::from_slice(&fs::read(run_file)?)?;
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    let runner = &file["runner"];
    let number = runner["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    // Some tests run a driver themselves.
    let number = number.filter(|pid| *pid != std::process::id()).ok_or_else(gone)?;
    let pid = i32::try_from(number)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(gone)?;
    // Opened before the check, so that the signal cannot reach another process with the same number.
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    if start_time(number)? != runner["start_time"].as_u64().unwrap_or_default() {
        return Err(gone());
    }
    Ok(pidfd_send_signal(process, Signal::KILL)?)
}

/// Field 22 of `/proc/PID/stat`. The name before it may contain anything but ends with the last parenthesis.
#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let field = fields.split_ascii_whitespace().nth(19).unwrap_or_default();
    field.parse().map_err(io::Error::other)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, Stdio};

    use serde_json::json;

    use super::{LeftoverRuns, start_time};

    fn sleeper() -> Child {
        let mut command = Command::new("sleep");
        command.arg("600").stdout(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn a_runner_is_killed_and_another_process_with_its_number_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (mut runner, mut other) = (sleeper(), sleeper());
        let started = start_time(runner.id()).unwrap();
        for (name, pid, start_time) in [
            ("a", runner.id(), started),
            ("b", other.id(), started + 1_000_000),
            ("c", std::process::id(), start_time(std::process::id()).unwrap()),
        ] {
            let run = folder.path().join("state/ralph/runs").join(name);
            fs::create_dir_all(&run).unwrap();
            let file = json!({"runner": {"pid": pid, "start_time": start_time}});
            fs::write(run.join("run.json"), file.to_string()).unwrap();
        }
        drop(LeftoverRuns::below(folder.path()));
        assert_eq!(runner.wait().unwrap().signal(), Some(9));
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
