//! `ThreadUsage`: what this run used, from totals that cover whole threads.

use std::collections::HashMap;

use json_lines::Value;

use crate::backends::codex::usage::canonical;
use crate::event::{ContextUse, RunUsage, Tokens, Usage, UsageScope};

/// Totals per thread: the run's own and those of its subagents. Codex counts a thread over all runs and forks.
#[derive(Debug, Default)]
pub(super) struct ThreadUsage {
    threads: HashMap<String, Totals>,
    is_partial: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    /// What the thread had used before this run.
    earlier: Tokens,
    total: Tokens,
}

impl ThreadUsage {
    /// A report of `thread/tokenUsage/updated`. `is_earlier` says that the thread's first turn of this run has not begun:
    /// a resumed thread repeats its last total then.
    pub(super) fn update(&mut self, thread: &str, report: &Value, is_earlier: bool) -> Usage {
        // A report without a total says nothing about it.
        if let Some(total) = report.get("total").filter(|total| total.is_object()) {
            self.note_total(thread, canonical(total), report, is_earlier);
        }
        let used = report.get("last").and_then(|last| last.count("totalTokens"));
        Usage {
            context: used.map(|used| ContextUse {
                used,
                size: report.count("modelContextWindow"),
            }),
            tokens: self.threads.get(thread).copied().unwrap_or_default().total,
            ..self.report()
        }
    }

    fn note_total(&mut self, thread: &str, total: Tokens, report: &Value, is_earlier: bool) {
        let last = report.get("last").map(canonical).unwrap_or_default();
        let totals = self.threads.entry(thread.to_owned()).or_insert_with(|| Totals {
            // Whatever is not of the last step is of earlier runs.
            earlier: total.since(last),
            total: Tokens::default(),
        });
        totals.total = total;
        if is_earlier {
            totals.earlier = total;
        }
    }

    /// A turn ended before its last step was reported.
    pub(super) fn note_missing(&mut self) -> Usage {
        self.is_partial = true;
        self.report()
    }

    fn report(&self) -> Usage {
        let mut run = Tokens::default();
        let mut all = Tokens::default();
        for totals in self.threads.values() {
            run += totals.total.since(totals.earlier);
            all += totals.total;
        }
        let run = RunUsage {
            tokens: run,
            is_partial: self.is_partial,
            ..RunUsage::default()
        };
        Usage::new(UsageScope::Session, all, run)
    }
}
