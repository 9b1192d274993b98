//! Where there are no signals: none ever arrives, so only waiting for one fails the script.

use crate::report::Report;
use std::io;
use test_support::script::{Signal, Step};

#[derive(Clone, Default)]
pub(crate) struct Signals;

impl Signals {
    pub(crate) fn watch(_steps: &[Step], _report: Report, _arguments: Vec<String>) -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn ignore(&self, _signals: &[Signal]) -> Result<(), String> {
        Ok(())
    }

    pub(crate) fn play_on(&self, _signal: Signal, _steps: &[Step]) -> Result<(), String> {
        Ok(())
    }

    pub(crate) fn wait(&self, _signal: Signal) -> Result<(), String> {
        Err("there are no signals on this system".to_owned())
    }
}
