//! What the process found when it started.

use serde_json::{Value, json};
use std::io::IsTerminal as _;
use std::{env, fs, io};
use test_support::recorded::relatives;

#[derive(Clone)]
pub(crate) struct Report {
    descriptors: Value,
    signals: Value,
}

impl Report {
    /// Looks at what may change later: open descriptors, and signals that were ignored or blocked by whoever started us.
    pub(crate) fn take() -> Self {
        Self {
            descriptors: open_descriptors(),
            signals: inherited_signals(),
        }
    }

    pub(crate) fn line(&self, arguments: &[String]) -> String {
        let mut variables: Vec<String> = env::vars_os()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        variables.sort();
        let relatives = relatives("self");
        let report = json!({
            "type": "fake_report",
            "pid": std::process::id(),
            "parent_pid": relatives.map(|relatives| relatives.parent),
            "process_group": relatives.map(|relatives| relatives.group),
            "session": relatives.map(|relatives| relatives.session),
            "descriptors": self.descriptors,
            "signals": self.signals,
            "arguments": arguments,
            "variables": variables,
            "working_directory": env::current_dir().unwrap_or_default(),
            "terminals": {
                "stdin": io::stdin().is_terminal(),
                "stdout": io::stdout().is_terminal(),
                "stderr": io::stderr().is_terminal(),
            },
        });
        format!("{report}\n")
    }
}

/// `{"0":"pipe:[123]",…}`; null where the system does not show them.
fn open_descriptors() -> Value {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return Value::Null;
    };
    let own = format!("/proc/{}/fd", std::process::id());
    let targets = entries.flatten().filter_map(|entry| {
        let target = fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned();
        // The directory that is being read is a descriptor, too.
        (target != own).then(|| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                Value::from(target),
            )
        })
    });
    Value::Object(targets.collect())
}

/// Masks in hexadecimal, as in `/proc/self/status`. Rust's runtime ignores SIGPIPE before `main`: bit 12 is ours.
fn inherited_signals() -> Value {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return Value::Null;
    };
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(Value::Null, |mask| Value::from(mask.trim()))
    };
    json!({"ignored": mask("SigIgn:"), "blocked": mask("SigBlk:")})
}
