//! `output_of`: runs a program that answers quickly, such as `agent --version`, and returns its output.

use std::time::Duration;

use crate::error::SpawnError;
use crate::exit::ExitReport;
use crate::spawn::spawn;
use crate::spec::{Limits, SpawnSpec};

/// How much of stdout is kept. The rest is read and discarded, so that the program can finish.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// The output of a short program; see [`output_of`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ShortOutput {
    /// The first 64 KiB of stdout.
    pub stdout: Vec<u8>,
    /// How the program ended.
    pub exit: ExitReport,
}

/// Runs a program to its end and returns the start of its stdout. After `timeout` the program is stopped with much
/// shorter grace periods than [`spawn`] uses; the limits of `spec` are ignored.
///
/// # Errors
/// If the program could not be started.
pub async fn output_of(mut spec: SpawnSpec, timeout: Duration) -> Result<ShortOutput, SpawnError> {
    spec.limits = Limits::default()
        .timeout(timeout)
        .interrupt_grace(Duration::ZERO)
        .terminate_grace(Duration::from_millis(200))
        .drain(Duration::from_millis(200))
        .exit_after_end_of_output(Duration::from_secs(1));
    let mut process = spawn(spec).await?;
    let mut stdout = Vec::new();
    while let Some(Ok(chunk)) = process.output.next_chunk().await {
        let room = MAX_OUTPUT_BYTES - stdout.len();
        stdout.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    Ok(ShortOutput {
        stdout,
        exit: process.exit.await,
    })
}
