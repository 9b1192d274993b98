//! What a journal says about a run that nobody ended.

use agent_api::{Body, MicroUsd};
use jiff::Timestamp;

use crate::record::{Record, RunBody, RunEnded, RunEvent, RunStarted, Totals};

/// What a journal says about its run so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Number, time, iteration and attempt of the last record.
    pub(super) last: Option<(u64, Timestamp, u32, u32)>,
    pub(super) started: Option<(Timestamp, RunStarted)>,
    pub(super) ended: Option<(Timestamp, RunEnded)>,
    /// Of processes that have ended.
    closed: Totals,
    /// Of the one that has not, as far as it said.
    open: Option<Totals>,
}

impl Tally {
    pub(super) fn add(&mut self, record: &Record) {
        self.last = Some((record.seq, record.at, record.iteration, record.attempt));
        match &record.event {
            RunEvent::Agent(event) => {
                if let Body::Usage(usage) = &event.body {
                    let cost = usage.run.cost.map(|cost| cost.micro_usd);
                    self.open = Some(Totals {
                        tokens: usage.run.tokens,
                        cost,
                        is_estimate: true,
                        ..Totals::default()
                    });
                }
            }
            RunEvent::Run(RunBody::RunStarted(started)) => {
                self.started = Some((record.at, (**started).clone()));
            }
            RunEvent::Run(RunBody::AttemptEnded(ended)) => {
                self.closed = sum(self.closed, ended.totals);
                self.open = None;
            }
            RunEvent::Run(RunBody::RunEnded(ended)) => self.ended = Some((record.at, ended.clone())),
            RunEvent::Run(
                RunBody::IterationStarted(_)
                | RunBody::AttemptStarted(_)
                | RunBody::VerifyStarted(_)
                | RunBody::VerifyFinished(_)
                | RunBody::IterationEnded(_)
                | RunBody::Warned(_)
                | RunBody::SessionForked(_)
                | RunBody::CommandReceived(_)
                | RunBody::MessageSent(_)
                | RunBody::MessageAwaited(_),
            ) => {}
        }
    }

    /// What the run cost and used, as far as anybody wrote it down.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = self.open.map_or(self.closed, |open| sum(self.closed, open));
        if let (Some((began, _)), Some((_, last, ..))) = (&self.started, self.last) {
            // A clock that went back makes nothing negative.
            totals.duration_ms = u64::try_from(last.duration_since(*began).as_millis()).unwrap_or(0);
        }
        totals
    }
}

fn sum(first: Totals, second: Totals) -> Totals {
    Totals {
        tokens: first.tokens + second.tokens,
        cost: match (first.cost, second.cost) {
            (None, None) => None,
            (first, second) => Some(first.unwrap_or(MicroUsd::ZERO) + second.unwrap_or(MicroUsd::ZERO)),
        },
        is_estimate: first.is_estimate || second.is_estimate,
        turns: first.turns.saturating_add(second.turns),
        duration_ms: first.duration_ms.saturating_add(second.duration_ms),
    }
}
