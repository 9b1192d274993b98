//! Recordings of the Gemini CLI.

use super::mapper::GeminiMapper;
use crate::backend::Mapper;
use crate::backends::recording::{objects, says};

/// Whether a recording with these first lines is Gemini's.
pub(super) fn recognises(first_lines: &[&[u8]]) -> bool {
    objects(first_lines).any(|object| says(&object, "type", "init") && object.get("session_id").is_some())
}

/// Maps a recording of Gemini.
pub(super) fn replay_mapper() -> Box<dyn Mapper> {
    Box::new(GeminiMapper::new())
}
