//! Recognises recordings of Qwen Code, and builds the mapper that replays them.

use super::dialect::{DIALECT, EXTRAS};
use crate::backend::Mapper;
use crate::backends::claude_code::{ClaudeMapper, MapperSetup};
use crate::backends::recording::objects;

/// Whether a recording with these first lines is Qwen's.
pub(super) fn recognises(first_lines: &[&[u8]]) -> bool {
    objects(first_lines).any(|object| object.get("qwen_code_version").is_some())
}

/// Maps a recording of Qwen.
pub(super) fn replay_mapper() -> Box<dyn Mapper> {
    Box::new(ClaudeMapper::new(MapperSetup {
        dialect: DIALECT,
        extras: EXTRAS,
        ..MapperSetup::default()
    }))
}
