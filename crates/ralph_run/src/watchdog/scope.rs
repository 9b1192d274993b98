//! `Scope`: where an agent may change files. `WatchRules` has one, and `ralph run` checks it before it starts.

use std::path::{Component, Path, PathBuf};

use agent_api::ToolStatus;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::calls::EndedCall;
use super::finding::{Finding, quoted};
use super::rules::{ScopeRule, WatchAction};
use super::workspace::Workspace;
use crate::record::{Evidence, WarningKind};

/// A run that changes files everywhere was reported often enough, unless the rule acts.
const MAX_REPORTED: usize = 100;
const MAX_EVIDENCE: usize = 10;

/// Where programs keep temporary files. Changes there are not reported.
const TEMPORARY: [&str; 4] = ["/tmp", "/var/tmp", "/private/tmp", "/var/folders"];

/// Glob patterns, relative to the workspace.
#[derive(Debug, Clone)]
pub struct Scope {
    patterns: Vec<String>,
    globs: GlobSet,
}

#[derive(Debug, thiserror::Error)]
#[error("invalid pattern `{pattern}`: {message}")]
pub struct ScopeError {
    pub pattern: String,
    pub message: String,
}

impl Scope {
    /// A pattern of a directory includes everything in it.
    ///
    /// # Errors
    /// If a pattern is invalid or does not stay within the workspace.
    pub fn new(patterns: &[String]) -> Result<Self, ScopeError> {
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns {
            let failed = |message: String| ScopeError {
                pattern: pattern.clone(),
                message,
            };
            let trimmed = pattern.trim_start_matches("./").trim_end_matches('/');
            let is_inside = Path::new(trimmed)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            if !is_inside || trimmed.is_empty() {
                return Err(failed(
                    "use a path below the workspace, such as `src/**`".to_owned(),
                ));
            }
            for pattern in [trimmed.to_owned(), format!("{trimmed}/**")] {
                let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
                globs.add(glob.map_err(|error| failed(error.kind().to_string()))?);
            }
        }
        let globs = globs.build().map_err(|error| ScopeError {
            pattern: patterns.join(", "),
            message: error.kind().to_string(),
        })?;
        Ok(Self {
            patterns: patterns.to_vec(),
            globs,
        })
    }

    /// Whether a path, relative to the workspace, is within the scope.
    pub fn contains(&self, path: &Path) -> bool {
        self.globs.is_match(path)
    }

    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }
}

/// Finds changes outside the workspace or the scope.
#[derive(Debug, Default)]
pub(super) struct ScopeWatch {
    /// The agent works in another directory, which was reported.
    is_elsewhere: bool,
    reported: Vec<PathBuf>,
}

impl ScopeWatch {
    pub(super) fn on_attempt_started(&mut self) {
        self.is_elsewhere = false;
    }

    pub(super) fn on_other_directory(&mut self) {
        self.is_elsewhere = true;
    }

    /// The driver has compared it with the workspace.
    pub(super) fn on_working_directory(&self, cwd: Option<&str>, workspace: &mut Workspace) {
        if let Some(cwd) = cwd.filter(|_| !self.is_elsewhere) {
            workspace.add_name(cwd);
        }
    }

    /// Reports each file once, as long as it remembers them all. A rule that interrupts or stops acts always.
    pub(super) fn observe(
        &mut self,
        call: EndedCall<'_>,
        workspace: &Workspace,
        rule: &ScopeRule,
    ) -> Option<Finding> {
        if rule.action == WatchAction::Off
            || call.finished.status != ToolStatus::Completed
            || !workspace.is_known()
        {
            return None;
        }
        let outside: Vec<PathBuf> = call
            .changed_paths()
            .into_iter()
            .filter(|path| !workspace.is_own(path))
            .map(|path| workspace.absolute(&path))
            .filter(|path| !is_allowed(path, workspace, rule) && !self.reported.contains(path))
            .collect();
        let first = outside.first()?;
        let message = message(first, workspace, rule);
        let room = MAX_REPORTED.saturating_sub(self.reported.len());
        if room == 0 && rule.action == WatchAction::Notify {
            return None;
        }
        self.reported.extend(outside.iter().take(room).cloned());
        let evidence = outside.iter().take(MAX_EVIDENCE).map(|path| Evidence {
            seq: call.seq,
            text: format!(
                "{} changed `{}`",
                call.started.name,
                quoted(&path.display().to_string())
            ),
        });
        Some(Finding::new(WarningKind::OutOfScope, rule.action, message).with(evidence))
    }
}

fn is_allowed(path: &Path, workspace: &Workspace, rule: &ScopeRule) -> bool {
    match workspace.relative(path) {
        Some(relative) => rule.scope.as_ref().is_none_or(|scope| scope.contains(relative)),
        None => TEMPORARY.iter().any(|temporary| path.starts_with(temporary)),
    }
}

fn message(path: &Path, workspace: &Workspace, rule: &ScopeRule) -> String {
    match (workspace.relative(path), &rule.scope) {
        (Some(relative), Some(scope)) => format!(
            "the agent changed `{}`, which is outside `watch.scope` ({})",
            quoted(&relative.display().to_string()),
            quoted(&scope.patterns().join(", "))
        ),
        _ => format!(
            "the agent changed `{}`, which is outside the workspace",
            quoted(&path.display().to_string())
        ),
    }
}
