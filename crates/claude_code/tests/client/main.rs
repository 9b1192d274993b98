//! The client against a scripted agent.

mod print;
mod probe;
mod session;
mod support;
