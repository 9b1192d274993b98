//! A scripted model on loopback, to run the real CLIs without a network: Anthropic's Messages API for Claude Code,
//! OpenAI's Responses for Codex and chat completions for Qwen Code, opencode and Copilot, Google's API for Gemini CLI.
//!
//! The newest user text with `SCENARIO:<name>[:<argument>]` chooses the model's answers ([`scenario_names`] lists the
//! scenarios, [`scripted_prompt`] makes one up). The step within a scenario is the number of the model's messages since
//! that text. Only error schedules ("fail twice, then work") count attempts, per scenario, step and session.
//!
//! Requests that offer no tools are a CLI's own business, such as a title for the session: outside the Messages API they
//! are answered with `OK`, whatever the scenario, and recorded with the label `aside`.
//!
//! A model can wait at a *gate*: `SCENARIO:gate:<name>` streams half of its text, reports that the gate is reached, and
//! continues when the test opens it. No test has to sleep.

mod apis;
mod events;
mod gate;
mod message;
mod request;
mod scenarios;
mod server;
mod service;
mod tools;

pub use message::{Block, scripted_prompt};
pub use request::RecordedRequest;
pub use scenarios::names as scenario_names;
pub use server::FakeModel;
