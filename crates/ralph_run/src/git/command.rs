//! `GitCommand`: starts git so that nothing a repository contains makes it run another program.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use agent_process::{EnvPolicy, SpawnSpec, StdinMode, output_up_to};
use bytes::Bytes;

/// A repository's own settings can name programs that git would run: a hook, a file system monitor, or the transport of
/// a remote that is asked for objects which are missing. Pathspecs are names, never patterns.
const OPTIONS: [&str; 7] = [
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
];
const ENVIRONMENT: [(&str, &str); 6] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    // For versions of git that do not know the first one: no protocol has this name.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("LC_ALL", "C"),
];
/// What is left of our own environment: where git and the user's own settings are, and what Windows needs.
const INHERITED: [&str; 5] = ["PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SystemRoot"];

/// One question to git. Only for commands that read.
#[derive(Debug)]
pub(super) struct GitCommand {
    spec: SpawnSpec,
    max_bytes: usize,
}

/// What git wrote.
#[derive(Debug)]
pub(super) struct GitOutput {
    pub(super) bytes: Vec<u8>,
    /// Whether there was more.
    pub(super) is_truncated: bool,
}

impl GitCommand {
    /// A question about the repository around a folder, whose settings are in force.
    pub(super) fn new<S: AsRef<str>>(folder: &Path, arguments: &[S]) -> Self {
        let mut spec = SpawnSpec::new("git");
        spec.cwd = Some(folder.to_owned());
        let arguments = arguments.iter().map(|argument| argument.as_ref());
        spec.args = OPTIONS.into_iter().chain(arguments).map(Into::into).collect();
        let inherited = INHERITED
            .iter()
            .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        let set = ENVIRONMENT
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        spec.env = EnvPolicy::Clear {
            set: set.chain(inherited).collect(),
        };
        Self {
            spec,
            max_bytes: 64 << 10,
        }
    }

    /// Sets another variable.
    pub(super) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        if let EnvPolicy::Clear { set } = &mut self.spec.env {
            set.push((name.into(), value.into()));
        }
        self
    }

    pub(super) fn input(mut self, bytes: impl Into<Bytes>) -> Self {
        self.spec.stdin = StdinMode::Bytes(bytes.into());
        self
    }

    /// How much of the output is kept; 64 KiB by default.
    pub(super) fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// The output, if git succeeds in time.
    pub(super) async fn output(self, timeout: Duration) -> Option<GitOutput> {
        let output = output_up_to(self.spec, timeout, self.max_bytes).await.ok()?;
        if !output.exit.exit.success() {
            tracing::debug!(exit = ?output.exit.exit, "git has failed");
            return None;
        }
        Some(GitOutput {
            bytes: output.stdout,
            is_truncated: output.is_truncated,
        })
    }
}

/// Whether this is the whole name of a commit. Anything else from a journal could be read as an option.
pub(super) fn is_commit_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::is_commit_id;

    #[test]
    fn a_start_that_is_not_a_commit_id_is_not_given_to_git() {
        assert!(is_commit_id(&"0a".repeat(20)) && is_commit_id(&"0a".repeat(32)));
        for text in ["", "HEAD", "--output=/tmp/x", &"0g".repeat(20)] {
            assert!(!is_commit_id(text), "{text}");
        }
    }
}
