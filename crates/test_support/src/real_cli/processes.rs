//! The processes of a workspace, found by its path in their environments.

use std::fs;
use std::path::Path;

/// Numbers and command lines of all processes that have the workspace's home, or anything else in it, in their
/// environment: an agent and everything that it started, also in another session or process group. Zombies do not count.
#[must_use]
pub fn processes_of(workspace: &Path) -> Vec<(u32, String)> {
    let needle = workspace.as_os_str().as_encoded_bytes();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter_map(|pid| {
            // A process that ends while it is looked at is none of those left.
            let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
            let is_meant = environment.windows(needle.len()).any(|window| window == needle);
            let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            is_meant.then_some((pid, command))
        })
        .collect()
}
