//! The machine part of `ralph doctor`: guard, file notifications, directories, disk.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use agent_process::{FileFollower, GuardKind, capabilities};
use ralph_run::Home;

use super::check::Check;
use crate::commands::clean::format_bytes;

/// Below this, a long run may not fit.
const LOW_BYTES: u64 = 1_000_000_000;

/// Whether an agent can outlive its run.
pub(super) fn protection() -> Vec<Check> {
    let found = capabilities();
    let guard = match found.guard {
        GuardKind::Forked | GuardKind::Reexec => Check::ok(
            "guard",
            "everything an agent starts ends with its run, even if ralph is killed",
        ),
        GuardKind::None => Check::warning(
            "guard",
            "none on this system: processes of an agent can survive if ralph is killed",
        ),
    };
    let namespaces = if found.pid_namespace {
        Check::ok("namespaces", "available; no sandbox uses them yet")
    } else {
        Check::ok("namespaces", "not allowed here; not needed yet")
    };
    vec![guard, namespaces, watching()]
}

/// Whether the system reports changes of files.
fn watching() -> Check {
    let follower = std::env::current_exe().and_then(|program| FileFollower::open(&program, 0));
    if follower.is_ok_and(|follower| follower.is_told()) {
        Check::ok("watching", "file notifications work")
    } else {
        Check::warning(
            "watching",
            "file notifications do not work: other terminals are up to 250 ms late",
        )
        .advise("raise fs.inotify.max_user_instances")
    }
}

pub(super) fn directories(home: &Home, workspace: &Path) -> Vec<Check> {
    let state = home.state_directory();
    let mut checks = vec![runs(home)];
    let sockets = home.socket_folder();
    if !sockets.starts_with(state) {
        let found = format!(
            "in `{}`: the path of the runs is too long for sockets",
            sockets.display()
        );
        checks.push(Check::ok("sockets", found));
    }
    checks.extend(disk(state));
    checks.push(self::workspace(workspace));
    checks
}

fn runs(home: &Home) -> Check {
    let state = home.state_directory();
    if let Err(error) = home.prepare() {
        return Check::failed("runs", format!("{:#}", anyhow::Error::new(error)));
    }
    if let Err(error) = try_to_write(state) {
        let place = state.display();
        return Check::failed("runs", format!("cannot write to {place}: {error}"));
    }
    let mode = state
        .metadata()
        .map_or(0, |metadata| metadata.permissions().mode() & 0o777);
    let count = home.list().map_or(0, |runs| runs.len());
    let runs = if count == 1 { "run" } else { "runs" };
    let found = format!("{} ({mode:04o}, {count} {runs})", state.display());
    if mode & 0o077 == 0 {
        Check::ok("runs", found)
    } else {
        Check::warning("runs", format!("{found}: other users can read it"))
            .advise(format!("chmod 700 {}", state.display()))
    }
}

/// A full disk or a read-only one shows only when something is written.
fn try_to_write(directory: &Path) -> io::Result<()> {
    let path = directory.join(format!(".doctor-{}", std::process::id()));
    let written = std::fs::write(&path, "x");
    // One that could not be written may still be there, empty.
    let _ = std::fs::remove_file(&path);
    written
}

fn workspace(workspace: &Path) -> Check {
    let place = workspace.display();
    match workspace.metadata() {
        Ok(metadata) if metadata.permissions().readonly() => {
            Check::warning("workspace", format!("{place} cannot be written to"))
        }
        Ok(_) => Check::ok("workspace", place.to_string()),
        Err(error) => Check::failed("workspace", format!("{place}: {error}")),
    }
}

fn disk(path: &Path) -> Option<Check> {
    let status = rustix::fs::statvfs(path).ok()?;
    let free_bytes = status.f_bavail.saturating_mul(status.f_frsize);
    let found = format!("{} free", format_bytes(free_bytes));
    Some(if free_bytes < LOW_BYTES {
        Check::warning("disk", found).advise("`ralph clean` removes finished runs")
    } else {
        Check::ok("disk", found)
    })
}
