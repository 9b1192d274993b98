//! A scripted model on loopback, to run the real CLIs without a network: Anthropic's Messages API for Claude Code,
//! OpenAI's Responses for Codex and chat completions for Qwen Code, Google's API for Gemini CLI.
//!
//! The newest user text with `SCENARIO:<name>[:<argument>]` chooses what the model says ([`scenario_names`] lists them).
//! How far it is follows from the conversation itself: the step is the number of the model's messages since that text.
//! Only error schedules ("fail twice, then work") count attempts, per scenario, step and session.
//!
//! Where a test needs the model to wait, it waits at a *gate*: `SCENARIO:gate:<name>` streams half of its text, says that
//! the gate is reached, and goes on when the test opens it. No test has to sleep.

mod apis;
mod events;
mod gate;
mod message;
mod request;
mod scenarios;
mod server;
mod service;

pub use message::{Block, scripted_prompt};
pub use request::RecordedRequest;
pub use scenarios::names as scenario_names;
pub use server::FakeModel;
