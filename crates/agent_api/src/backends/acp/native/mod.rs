//! What opencode, Copilot and goose print without ACP (`opencode run --format json` and the like), for `replay`. ralph
//! itself starts these agents through ACP, which shows more.

mod copilot;
mod goose;
mod opencode;
mod output;

pub(super) use output::{COPILOT, GOOSE, NativeOutput, OPENCODE};
