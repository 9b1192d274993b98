//! `output_of`, `output_up_to`: run a program that answers quickly, such as `agent --version`, and return its output.

use std::time::Duration;

use crate::error::SpawnError;
use crate::exit::ExitReport;
use crate::spawn::spawn;
use crate::spec::{Limits, SpawnSpec};

/// How much of stdout [`output_of`] keeps.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// The output of a short program; see [`output_of`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ShortOutput {
    /// The start of stdout: 64 KiB, or what was asked for.
    pub stdout: Vec<u8>,
    /// Whether there was more.
    pub is_truncated: bool,
    /// How the program ended.
    pub exit: ExitReport,
}

/// Runs a program to its end and returns the start of its stdout. After `timeout` the program is stopped with much
/// shorter grace periods than [`spawn`] uses; the limits of `spec` are ignored.
///
/// # Errors
/// If the program could not be started.
pub async fn output_of(spec: SpawnSpec, timeout: Duration) -> Result<ShortOutput, SpawnError> {
    output_up_to(spec, timeout, MAX_OUTPUT_BYTES).await
}

/// As [`output_of`], with up to `max_bytes` of stdout. The rest is read and discarded, so that the program can finish.
///
/// # Errors
/// If the program could not be started.
pub async fn output_up_to(
    mut spec: SpawnSpec,
    timeout: Duration,
    max_bytes: usize,
) -> Result<ShortOutput, SpawnError> {
    spec.limits = Limits::default()
        .timeout(timeout)
        .interrupt_grace(Duration::ZERO)
        .terminate_grace(Duration::from_millis(200))
        .drain(Duration::from_millis(200))
        .exit_after_end_of_output(Duration::from_secs(1));
    let mut process = spawn(spec).await?;
    let (mut stdout, mut is_truncated) = (Vec::new(), false);
    while let Some(Ok(chunk)) = process.output.next_chunk().await {
        let room = max_bytes - stdout.len();
        stdout.extend_from_slice(&chunk[..chunk.len().min(room)]);
        is_truncated |= chunk.len() > room;
    }
    Ok(ShortOutput {
        stdout,
        is_truncated,
        exit: process.exit.await,
    })
}
