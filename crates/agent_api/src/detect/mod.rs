//! Which agents are installed.

mod detector;
mod memory;
mod report;

pub use detector::{Detection, Detector};
pub use memory::{ProgramFile, VersionMemory};
pub use report::{Report, ReportEntry};
