//! Recorded streams of Codex, Gemini CLI and Qwen Code in the common vocabulary: they fit, and nothing is lost.
#![cfg(all(
    feature = "codex",
    feature = "gemini",
    feature = "qwen",
    feature = "claude_code",
    feature = "pi"
))]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod app_server;
mod census;
mod codex;
#[cfg(unix)]
mod endings;
mod figures;
mod gemini;
mod hazards;
mod native;
mod pi;
mod qwen;
mod replay;
mod text;
