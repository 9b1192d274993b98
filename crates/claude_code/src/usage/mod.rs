//! What a process used and what it cost, by the rules that the CLI really follows.

mod account;
mod tokens;

pub use account::{CostAccount, CostBasis};
pub use tokens::TokenCount;
