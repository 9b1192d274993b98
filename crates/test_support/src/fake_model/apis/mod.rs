//! The ways to talk to the model. A scenario is written once and is the same in all of them: a request is read as a
//! conversation of the Messages API, and the answer is sent in the words of the API that was asked.

mod api;
mod chat;
mod gemini;
mod playback;
mod reading;
mod responses;

pub(super) use api::Api;
