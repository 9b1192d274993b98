//! A server, as a process.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::stage::Stage;
use crate::process::explain;

const PATIENCE: Duration = Duration::from_secs(60);
const SAMPLE: Duration = Duration::from_millis(200);

/// A server that listens. It is killed when it is dropped.
pub struct Server {
    child: Child,
    /// Held, so that it can go on writing.
    _stdout: BufReader<ChildStdout>,
    stderr: PathBuf,
    pub address: SocketAddr,
    pub token: String,
    started: Instant,
}

impl Server {
    pub fn start(stage: &Stage) -> Result<Self, String> {
        Self::start_with(stage, None)
    }

    /// Starts it with its index in a database.
    pub fn start_with(stage: &Stage, database: Option<&str>) -> Result<Self, String> {
        let stderr = stage.path("server-stderr");
        let log = File::options()
            .create(true)
            .append(true)
            .open(&stderr)
            .map_err(explain)?;
        let mut command = stage.ralph(&stage.path("home"), &["serve", "--port", "0"]);
        command.envs(database.map(|url| ("RALPH_SERVER_DATABASE", url)));
        let started = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(explain)?;
        let mut stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut said = [String::new(), String::new()];
        for line in &mut said {
            stdout.read_line(line).map_err(explain)?;
        }
        let address = said[0]
            .trim()
            .strip_prefix("listening on http://")
            .and_then(|text| text.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!(
                "no server: {}",
                std::fs::read_to_string(&stderr).unwrap_or_default()
            ));
        };
        let token = std::fs::read_to_string(stage.path("state/ralph/server-token")).map_err(explain)?;
        Ok(Self {
            child,
            _stdout: stdout,
            stderr,
            address,
            token: token.trim().to_owned(),
            started,
        })
    }

    /// Waits until it can be used. Gives how long that took from its start.
    pub fn wait_until_ready(&self) -> Result<Duration, String> {
        self.wait("/ready", |status, _| status == 200)?;
        Ok(self.started.elapsed())
    }

    /// Waits until it knows these runs and has nothing left to do.
    pub fn wait_for(&self, runs: &[String]) -> Result<(), String> {
        for run in runs {
            self.wait(&format!("/api/v1/runs/{run}"), |status, _| status == 200)?;
        }
        self.wait_until_idle()
    }

    /// Waits until it has nothing left to do.
    pub fn wait_until_idle(&self) -> Result<(), String> {
        self.wait("/ready", |status, report| {
            status == 200 && report["text_lag"] == 0 && report["runs_waiting"] == 0
        })
    }

    fn wait(&self, path: &str, is_so: impl Fn(u16, &Value) -> bool) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let (status, body) = self.get(path)?;
            let report = serde_json::from_slice(&body).unwrap_or_default();
            if is_so(status, &report) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("the server does not get there: {report}"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Asks, with the token.
    pub fn get(&self, path: &str) -> Result<(u16, Vec<u8>), String> {
        let mut stream = TcpStream::connect(self.address).map_err(explain)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(explain)?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            self.address, self.token
        );
        stream.write_all(request.as_bytes()).map_err(explain)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(explain)?;
        let end = memchr::memmem::find(&answer, b"\r\n\r\n").ok_or("no answer")?;
        let body = answer.split_off(end + 4);
        let status = answer
            .get(9..12)
            .and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        Ok((status.ok_or("no status")?, body))
    }

    pub fn get_json(&self, path: &str) -> Result<Value, String> {
        let (status, body) = self.get(path)?;
        if status != 200 {
            return Err(format!(
                "{path} gives {status}: {}",
                String::from_utf8_lossy(&body)
            ));
        }
        serde_json::from_slice(&body).map_err(explain)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has in memory, in MB.
    pub fn memory(&self) -> Result<f64, String> {
        Ok(resident_kib(self.pid())? as f64 * 1024.0 / 1e6)
    }

    /// The time it has computed for.
    pub fn cpu(&self) -> Result<Duration, String> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).map_err(explain)?;
        let fields = text.rsplit_once(") ").ok_or("no stat")?.1;
        // User and system time, the 14th and 15th field.
        let ticks: u64 = fields
            .split(' ')
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse::<u64>().ok())
            .sum();
        Ok(Duration::from_millis(
            ticks * 1000 / rustix::param::clock_ticks_per_second(),
        ))
    }

    /// How often it complained about this.
    pub fn complaints(&self, about: &str) -> usize {
        std::fs::read_to_string(&self.stderr)
            .unwrap_or_default()
            .matches(about)
            .count()
    }

    /// Watches the most that it has in memory.
    pub fn watch_memory(&self) -> Watch {
        let (most, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (pid, seen, over) = (self.pid(), most.clone(), is_over.clone());
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                seen.fetch_max(resident_kib(pid).unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(SAMPLE);
            }
        });
        Watch { most, is_over }
    }

    pub fn kill(mut self) -> Result<(), String> {
        self.child.kill().map_err(explain)?;
        self.child.wait().map_err(explain)?;
        Ok(())
    }

    /// Asks it to end. It must, and with 0.
    pub fn stop(mut self) -> Result<(), String> {
        let pid = i32::try_from(self.pid())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or("no pid")?;
        kill_process(pid, Signal::TERM).map_err(explain)?;
        let status = self.child.wait().map_err(explain)?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the server ended with {status}"))
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Looks at a server's memory until it is dropped.
pub struct Watch {
    most: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Watch {
    /// In MB.
    pub fn most(&self) -> f64 {
        self.most.load(Ordering::Relaxed) as f64 * 1024.0 / 1e6
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn resident_kib(pid: u32) -> Result<u64, String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(explain)?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    resident
        .and_then(|text| text.trim().trim_end_matches("kB").trim().parse().ok())
        .ok_or("no VmRSS".into())
}
