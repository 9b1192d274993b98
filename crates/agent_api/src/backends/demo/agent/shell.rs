//! Commands, which are really run.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::inbox::Input;
use super::stage::{Played, Stage};

/// All of them take milliseconds.
const LIMIT: Duration = Duration::from_secs(20);
const MAX_OUTPUT_BYTES: u64 = 64 * 1024;

/// How a command ended.
pub(super) struct Outcome {
    /// 0 is success; none for a command that was killed.
    pub(super) code: Option<i32>,
    /// stdout and stderr in one, as they were written.
    pub(super) output: String,
}

impl Stage {
    /// Runs a command where the agent works, and listens meanwhile.
    pub(super) fn run(&mut self, command: &str) -> Played<Outcome> {
        let mut child = match self.start(command) {
            Ok(child) => child,
            Err(error) => {
                return Ok(Outcome {
                    code: None,
                    output: format!("`sh` cannot be started: {error}"),
                });
            }
        };
        let deadline = Instant::now() + LIMIT;
        let output = loop {
            if let Some(output) = self.output.take() {
                break output;
            }
            let Some(input) = self.inbox.next_until(deadline) else {
                end(&mut child);
                break b"it took too long and was stopped".to_vec();
            };
            if let Err(stop) = self.hear(input) {
                end(&mut child);
                return Err(stop);
            }
        };
        // It has closed its output, so it is about to exit.
        let code = child.wait().ok().and_then(|status| status.code());
        Ok(Outcome {
            code,
            output: String::from_utf8_lossy(&output).trim_end().to_owned(),
        })
    }

    fn start(&mut self, command: &str) -> io::Result<Child> {
        self.output = None;
        self.commands += 1;
        let (sender, number) = (self.inbox.sender(), self.commands);
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("exec 2>&1\n{command}"))
            .current_dir(&self.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take();
        thread::spawn(move || {
            let mut output = Vec::new();
            if let Some(mut stdout) = stdout {
                // What cannot be read is not there; the exit code decides.
                let _ = stdout.by_ref().take(MAX_OUTPUT_BYTES).read_to_end(&mut output);
                let _ = io::copy(&mut stdout, &mut io::sink());
            }
            // When the show is over, nobody listens.
            let _ = sender.send(Input::Output(number, output));
        });
        Ok(child)
    }
}

fn end(child: &mut Child) {
    // One that has just exited cannot be killed, and need not be.
    let _ = child.kill();
    let _ = child.wait();
}
