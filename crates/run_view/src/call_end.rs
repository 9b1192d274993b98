//! `CallEnd`: how a tool call ended, for every view.

use agent_api::{FileChange, ToolFinished, ToolStatus};

use crate::figures::format_duration;

/// More of an output than is ever looked at for its most useful line.
const MAX_OUTPUT_BYTES: usize = 16 * 1_024;

/// How a call ended: `✓ 1.2s`, or `✗ exit code 101, 4.2s` and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEnd {
    pub is_good: bool,
    /// Further facts, such as `+3 −1, 40ms`. Trusted.
    pub facts: String,
    /// Why it failed, in one line of its output. Not sanitised.
    pub reason: Option<String>,
}

impl CallEnd {
    #[must_use]
    pub fn new(finished: &ToolFinished, took_ms: u64) -> Self {
        let mut facts = Vec::new();
        let took = format_duration(took_ms);
        let is_good = match finished.status {
            ToolStatus::Completed => {
                facts.extend(describe_changes(&finished.changes));
                facts.extend(describe_code(finished));
                facts.push(took);
                true
            }
            ToolStatus::Failed => {
                facts.extend(describe_code(finished));
                facts.push(took);
                false
            }
            ToolStatus::Denied => {
                facts.push("denied".to_owned());
                false
            }
            ToolStatus::Cancelled => {
                facts.push(format!("cancelled after {took}"));
                false
            }
            ToolStatus::Background => {
                facts.push("continues in the background".to_owned());
                true
            }
        };
        Self {
            is_good,
            facts: facts.join(", "),
            reason: (finished.status == ToolStatus::Failed)
                .then(|| failure_line(&finished.output))
                .flatten(),
        }
    }

    /// For a row that has the whole output below it.
    #[must_use]
    pub fn without_reason(mut self) -> Self {
        self.reason = None;
        self
    }

    #[must_use]
    pub fn mark(&self) -> &'static str {
        if self.is_good { "✓" } else { "✗" }
    }
}

/// `+3 −1`, and how many files if there are several.
fn describe_changes(changes: &[FileChange]) -> Option<String> {
    let lines = changes.iter().filter_map(|change| change.lines);
    let (added, removed) =
        lines.reduce(|sum, lines| (sum.0.saturating_add(lines.0), sum.1.saturating_add(lines.1)))?;
    let lines = format!("+{added} −{removed}");
    Some(match changes.len() {
        1 => lines,
        files => format!("{files} files {lines}"),
    })
}

fn describe_code(finished: &ToolFinished) -> Option<String> {
    let code = finished.exit_code.filter(|code| *code != 0)?;
    Some(format!("exit code {code}"))
}

/// The line of an output that says best what failed: the first one that names an error, or else the last one.
fn failure_line(output: &str) -> Option<String> {
    const WORDS: [&str; 8] = [
        "error",
        "failed",
        "failure",
        "panicked",
        "fatal",
        "not found",
        "no such",
        "denied",
    ];
    let start = &output[..output.floor_char_boundary(MAX_OUTPUT_BYTES)];
    let lines = || {
        start
            .lines()
            .map(|line| line.trim().trim_start_matches("<tool_use_error>"))
            .map(|line| line.trim_end_matches("</tool_use_error>"))
            .filter(|line| !line.is_empty() && !is_exit_code(line))
    };
    let names_error = |line: &&str| {
        let line = line.to_lowercase();
        // A line such as `0 failed` names none.
        WORDS.iter().any(|word| line.contains(word))
            && !line.contains("0 failed")
            && !line.contains("0 errors")
    };
    let last = output
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty() && !is_exit_code(line));
    lines()
        .find(names_error)
        .or_else(|| match lines().count() {
            1 => lines().next(),
            _ => last,
        })
        .map(str::to_owned)
}

/// `Exit code 2`, which is shown already.
fn is_exit_code(line: &str) -> bool {
    let code = line.to_lowercase();
    code.strip_prefix("exit code")
        .is_some_and(|code| code.trim_matches([':', ' ']).parse::<i32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::failure_line;

    #[test]
    fn a_failure_is_explained_by_its_most_useful_line() {
        for (output, line) in [
            (
                "Exit code 101\n   Compiling a v1\nerror[E0308]: mismatched types\n  --> a.rs\n",
                Some("error[E0308]: mismatched types"),
            ),
            (
                "Exit code 1\nrunning 2 tests\ntest a ... ok\nassertion did not hold\n",
                Some("assertion did not hold"),
            ),
            (
                "<tool_use_error>Blocked: standalone sleep 321.</tool_use_error>",
                Some("Blocked: standalone sleep 321."),
            ),
            (
                "bash: nope: command not found\n",
                Some("bash: nope: command not found"),
            ),
            ("\n  Exit code 2\n\n", None),
            ("", None),
        ] {
            assert_eq!(failure_line(output).as_deref(), line, "{output}");
        }
    }
}
