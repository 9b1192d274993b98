//! Trust: a `ralph.yml` that came with a repository can do little before the user has trusted it.
//!
//! [`load`] is the only way from the file on disk to settings: it reads the file once, asks the [`TrustStore`] whether
//! exactly these bytes and the scripts they name were trusted, and hands both to [`filter`], which decides key by key.
//! Limits below the default, the prompt and the promise always apply. Settings that execute, redirect or permit are
//! left out of a file that is not trusted, and reported.

mod digest;
mod filter;
mod load;
mod render;
mod rule;
mod scripts;
mod source;
mod store;

pub use filter::{LeftOut, filter};
pub use load::{Choice, Decision, Loaded, Policy, Reason, Subject, TrustError, load, look};
pub use render::{render_left_out, show};
pub use rule::{Risk, Rule, rule_of};
pub use store::{Entry, Listed, PathText, StoreError, TrustStore};
