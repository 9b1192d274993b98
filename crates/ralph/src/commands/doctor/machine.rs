//! What the machine offers.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use agent_process::{FileFollower, GuardKind, SpawnSpec, capabilities};
use ralph_run::Home;

use super::check::Check;
use crate::commands::clean::format_bytes;

/// How long the answer of a small program may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Below this, a long run may not fit.
const LITTLE_BYTES: u64 = 1_000_000_000;

/// What keeps an agent from outliving its run.
pub(super) fn protection() -> Vec<Check> {
    let found = capabilities();
    let guard = match found.guard {
        GuardKind::Forked | GuardKind::Reexec => Check::ok(
            "guard",
            "what an agent starts ends with its run, even if ralph is killed",
        ),
        GuardKind::None => Check::warning(
            "guard",
            "none on this system: what an agent starts can survive if ralph is killed",
        ),
    };
    let namespaces = if found.pid_namespace {
        Check::ok("namespaces", "can be had; no sandbox uses them yet")
    } else {
        Check::ok("namespaces", "not allowed here; nothing needs them yet")
    };
    vec![guard, namespaces, watching()]
}

/// Whether the system tells when a file changes.
fn watching() -> Check {
    let told = std::env::current_exe().and_then(|program| FileFollower::open(&program, 0));
    if told.is_ok_and(|follower| follower.is_told()) {
        Check::ok("watching", "the system tells when files change")
    } else {
        Check::warning(
            "watching",
            "the system does not tell when files change: other terminals are up to 250 ms late",
        )
        .advise("raise fs.inotify.max_user_instances")
    }
}

/// Where things are kept.
pub(super) async fn directories(home: &Home, workspace: &Path) -> Vec<Check> {
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
    checks.extend(disk("disk", state).await);
    checks.push(self::workspace(workspace));
    checks
}

fn runs(home: &Home) -> Check {
    let state = home.state_directory();
    if let Err(error) = home.prepare() {
        return Check::failed("runs", format!("{:#}", anyhow::Error::new(error)));
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
        Check::warning("runs", format!("{found}: others can look into it"))
            .advise(format!("chmod 700 {}", state.display()))
    }
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

/// How much room there is, where `df` says.
async fn disk(subject: &str, path: &Path) -> Option<Check> {
    let mut spec = SpawnSpec::new("df");
    spec.args = vec!["-P".into(), "-k".into(), path.into()];
    let answer = agent_process::output_of(spec, PATIENCE).await.ok()?;
    let free_bytes = free(&String::from_utf8_lossy(&answer.stdout))?;
    let found = format!("{} free", format_bytes(free_bytes));
    Some(if free_bytes < LITTLE_BYTES {
        Check::warning(subject, found).advise("`ralph clean` removes finished runs")
    } else {
        Check::ok(subject, found)
    })
}

/// The fourth field of the second line, in the format of POSIX.
fn free(answer: &str) -> Option<u64> {
    let kilobytes: u64 = answer
        .lines()
        .nth(1)?
        .split_ascii_whitespace()
        .nth(3)?
        .parse()
        .ok()?;
    Some(kilobytes.saturating_mul(1_024))
}

#[cfg(test)]
mod tests {
    use super::free;

    #[test]
    fn free_room_is_read_from_the_portable_format() {
        let answer = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 100 40 60 40% /\n";
        assert_eq!(free(answer), Some(61_440));
        assert_eq!(free("df: nowhere\n"), None);
        assert_eq!(free(""), None);
    }
}
