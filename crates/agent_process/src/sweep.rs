//! Finding and ending what a killed guard left behind.

use std::fs;

use rustix::process::Signal;

use crate::guard::{everyone, member, signal_member};
use crate::spec::MARKER_VARIABLE;

/// How often the sweep looks again: a process may be born between the look and the kill of its parent.
const ROUNDS: usize = 20;

/// Kills every process that carries this marker in the environment it was started with, and says how many.
///
/// For runs whose runner is known to be dead. Finds nothing that cleared its environment or belongs to another
/// user. Spared are the caller and its ancestors, so that a run may sweep another one it was started by, and all
/// guards: they end by themselves, and with them what they guard, once their runner is gone.
#[must_use = "says how many processes were killed"]
pub fn sweep(marker: &str) -> u32 {
    let entry = format!("{MARKER_VARIABLE}={marker}").into_bytes();
    let spared = ancestors();
    let mut killed = std::collections::HashSet::new();
    for _ in 0..ROUNDS {
        let marked: Vec<_> = everyone()
            .into_iter()
            .filter(|process| {
                !spared.contains(&process.pid) && carries(process.pid, &entry) && !is_guard(process.pid)
            })
            .collect();
        if marked.is_empty() {
            break;
        }
        for process in marked {
            if signal_member(&process, Signal::KILL) {
                killed.insert((process.pid, process.started_ticks));
            }
        }
        std::thread::yield_now();
    }
    u32::try_from(killed.len()).unwrap_or(u32::MAX)
}

fn carries(pid: i32, entry: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == entry)
    })
}

/// Guards carry the environment of the process they were forked from, so also the marker of a run around it.
fn is_guard(pid: i32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    [crate::guard::GUARD_NAME, crate::guard::ZYGOTE_NAME]
        .iter()
        .any(|guard| guard.to_str() == Ok(name.trim_end()))
}

fn ancestors() -> Vec<i32> {
    let mut ancestors = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = ancestors
        .last()
        .copied()
        .and_then(member)
        .map(|process| process.parent)
        && parent > 0
    {
        ancestors.push(parent);
    }
    ancestors
}
