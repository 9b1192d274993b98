//! Which agents are installed.

mod detector;
mod report;

pub use detector::{Detection, Detector};
pub use report::{Report, ReportEntry};
