//! `Claim`: that somebody works on a task, and how earlier attempts failed. In the state directory, never in the
//! repository.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::TaskId;

/// The end of a failure's output that is kept.
const MAX_EVIDENCE_BYTES: usize = 8 << 10;

/// What is going on with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// Its run works on it.
    Doing,
    /// The work is finished and waits to be merged.
    Review,
    /// Nobody works on it; the claim keeps its failures.
    Released,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub version: u32,
    pub task: TaskId,
    pub state: ClaimState,
    /// Counts from 1.
    pub attempt: u32,
    /// The run that may change this claim.
    pub run: String,
    pub agent: Option<String>,
    /// What its task would change when the attempt began: the file may be gone or broken by now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<String>,
    /// One for each attempt that has failed or has not succeeded yet, oldest first.
    #[serde(default)]
    pub failures: Vec<Failure>,
    /// When this state began.
    pub since: Timestamp,
}

/// An attempt that failed. It is written before the attempt begins, so that a crash cannot lose it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub run: String,
    pub attempt: u32,
    pub at: Timestamp,
    /// The end of what went wrong; `None` as long as the attempt lasts.
    pub evidence: Option<String>,
}

impl Claim {
    pub const VERSION: u32 = 1;

    /// Whether a run has the task.
    pub fn is_held(&self) -> bool {
        match self.state {
            ClaimState::Doing | ClaimState::Review => true,
            ClaimState::Released => false,
        }
    }

    /// Attempts that have failed, without the one that lasts.
    pub fn failed_attempts(&self) -> usize {
        let is_over = |failure: &&Failure| self.state != ClaimState::Doing || failure.run != self.run;
        self.failures.iter().filter(is_over).count()
    }

    /// How the last attempt failed, for people and for the prompt of the next one.
    pub fn last_evidence(&self) -> Option<&str> {
        self.failures.last()?.evidence.as_deref()
    }

    /// The claim of a new attempt. Its failure is counted now and taken back by success.
    pub(crate) fn begin(
        before: Option<Self>,
        task: &TaskId,
        run: &str,
        agent: Option<&str>,
        at: Timestamp,
    ) -> Self {
        let (attempt, mut failures) = before.map_or((0, Vec::new()), |claim| (claim.attempt, claim.failures));
        let attempt = attempt.saturating_add(1);
        failures.push(Failure {
            run: run.to_owned(),
            attempt,
            at,
            evidence: None,
        });
        Self {
            version: Self::VERSION,
            task: task.clone(),
            state: ClaimState::Doing,
            attempt,
            run: run.to_owned(),
            agent: agent.map(str::to_owned),
            touches: Vec::new(),
            failures,
            since: at,
        }
    }

    /// Makes another run the one that works on the task.
    pub(crate) fn hand_over(&mut self, next_run: &str) {
        for failure in self.failures.iter_mut().filter(|failure| failure.run == self.run) {
            next_run.clone_into(&mut failure.run);
        }
        next_run.clone_into(&mut self.run);
    }

    /// Takes back the failure of this run: it has succeeded, or it does not count.
    pub(crate) fn forgive(&mut self) {
        self.failures.retain(|failure| failure.run != self.run);
    }

    /// Writes down how this run failed.
    pub(crate) fn record_failure(&mut self, evidence: &str, at: Timestamp) {
        let start = evidence.len().saturating_sub(MAX_EVIDENCE_BYTES);
        let tail = evidence
            .get(evidence.ceil_char_boundary(start)..)
            .unwrap_or_default();
        let evidence = Some(tail.trim().to_owned());
        if let Some(failure) = self.failures.iter_mut().find(|failure| failure.run == self.run) {
            failure.evidence = evidence;
            failure.at = at;
        } else {
            // The work was accepted for review, and turned out to be wrong.
            self.failures.push(Failure {
                run: self.run.clone(),
                attempt: self.attempt,
                at,
                evidence,
            });
        }
    }
}
