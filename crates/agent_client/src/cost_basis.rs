//! `CostBasis`: what a session had cost before this run.

use crate::money::MicroUsd;
use crate::options::SessionChoice;

/// What is known about a session's cost before this run starts. Some agents report the cost of a resumed session as
/// one total that includes earlier runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CostBasis {
    /// A new session, which starts at zero.
    #[default]
    NewSession,
    /// A resumed or forked session whose total so far is known.
    Resumed {
        /// The last total that the session reported.
        session_total: MicroUsd,
    },
    /// A resumed or forked session whose total so far is not known.
    ResumedUnknown,
}

impl CostBasis {
    /// The basis for a session if the caller gives none.
    #[must_use]
    pub fn of(session: Option<&SessionChoice>) -> Self {
        match session {
            None | Some(SessionChoice::New | SessionChoice::NewWithId(_)) => Self::NewSession,
            Some(
                SessionChoice::Resume(_)
                | SessionChoice::Last
                | SessionChoice::Fork { .. }
                | SessionChoice::ForkLast { .. },
            ) => Self::ResumedUnknown,
        }
    }
}
