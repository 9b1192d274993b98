//! The command lines, inputs and environments of the backends, and how a run of each ends. The agents are scripted.
#![cfg(all(
    unix,
    feature = "amp",
    feature = "codex",
    feature = "gemini",
    feature = "pi",
    feature = "qwen"
))]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod amp_and_pi;
mod codex_app_server;
mod codex_exec;
mod codex_requests;
mod gemini;
mod qwen;
mod support;
