//! Which agents are installed, and in which version.

mod detector;
mod program_file;

pub use detector::{DetectError, DetectedProgram, ProgramDetector, ProgramQuery};
pub use program_file::{ProgramFile, VersionMemory};
