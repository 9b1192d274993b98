//! Short questions to programs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::SpawnError;
use crate::exit::ExitReport;
use crate::resolve::{resolve_cwd, resolve_env, resolve_program};
use crate::spawn::spawn;
use crate::spec::{EnvPolicy, Limits, SpawnSpec};

/// More than any short answer; a program that floods its output is not read any further.
const MOST_OUTPUT_BYTES: usize = 64 * 1024;

/// What a program answered.
#[derive(Debug)]
pub struct ShortAnswer {
    /// The start of what it wrote to stdout, 64 KiB at most.
    pub stdout: Vec<u8>,
    /// How it ended.
    pub exit: ExitReport,
}

/// Runs a program that answers at once, such as one asked for its version. It is stopped without ceremony after
/// `limit`, and leaves nothing behind.
///
/// # Errors
/// When it could not be started.
pub async fn ask(mut spec: SpawnSpec, limit: Duration) -> Result<ShortAnswer, SpawnError> {
    // Somebody who does not answer a simple question gets no time to say goodbye.
    spec.limits = Limits {
        timeout: Some(limit),
        interrupt_grace: Duration::ZERO,
        terminate_grace: Duration::from_millis(200),
        drain: Duration::from_millis(200),
        exit_after_end_of_output: Duration::from_secs(1),
        ..Limits::default()
    };
    let mut process = spawn(spec).await?;
    let mut stdout = Vec::new();
    while let Some(Ok(chunk)) = process.output.next_chunk().await {
        let room = MOST_OUTPUT_BYTES - stdout.len();
        stdout.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    Ok(ShortAnswer {
        stdout,
        exit: process.exit.await,
    })
}

/// The file that would be executed: a bare name is looked up in the `PATH` that the child would have, a relative path
/// counts from `cwd`.
///
/// # Errors
/// When there is none, or it cannot be executed.
pub fn find_program(program: &Path, cwd: Option<&Path>, env: &EnvPolicy) -> Result<PathBuf, SpawnError> {
    let mut spec = SpawnSpec::new(program);
    spec.cwd = cwd.map(Path::to_path_buf);
    spec.env = env.clone();
    resolve_program(program, &resolve_cwd(&spec)?, &resolve_env(&spec))
}
