//! What supervision costs and what it keeps its promises in.

mod burst;
mod idle;
mod latency;
mod memory;
mod survivors;
mod throughput;

use std::path::{Path, PathBuf};
use std::time::Duration;

use claude_code::{Capabilities, Client, Environment, PrintRequest, RunOptions, StdoutMode, Version};

pub use burst::run as burst;
pub use idle::{idle_children, run as idle};
pub use latency::run as latency;
pub use memory::{measured as memory_child, run as memory};
pub use survivors::{run as survivors, supervise};
pub use throughput::run as throughput;

/// The transports that are measured.
const TRANSPORTS: [(&str, StdoutMode); 2] = [("pipe", StdoutMode::Pipe), ("spool", StdoutMode::Spool)];

/// A runtime as a program that embeds us would have it.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(explain)
}

pub(crate) fn explain(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// A folder for a measurement, emptied first and removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("ralph-bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(explain)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An executable that runs a shell line, whatever arguments it is given.
fn program(folder: &Folder, line: &str) -> Result<PathBuf, String> {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.path("agent");
    std::fs::write(&path, format!("#!/bin/sh\n{line}\n")).map_err(explain)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).map_err(explain)?;
    Ok(path)
}

/// A client of that program, and a request to it through a transport.
fn client(binary: &Path) -> Result<Client, String> {
    let version: Version = "2.1.325".parse().map_err(|_| "version".to_owned())?;
    Ok(Client::builder()
        .binary(binary)
        .environment(Environment::clear().set("PATH", "/usr/local/bin:/usr/bin:/bin"))
        .capabilities(Capabilities::for_version(version))
        .build())
}

fn request(transport: StdoutMode, log: &Path) -> PrintRequest {
    let _ = std::fs::remove_file(log);
    PrintRequest::new("go").options(RunOptions::new().transport(transport).raw_log(log))
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    percentile(values, 50)
}

pub(crate) fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() * percent / 100).min(values.len().saturating_sub(1));
    values.get(index).copied().unwrap_or(f64::NAN)
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
