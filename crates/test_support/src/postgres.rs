//! A PostgreSQL server for tests: its own data directory, socket and port, gone when the last test that uses it is over.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Where Debian keeps the programs, a directory for each version.
const INSTALLED: &str = "/usr/lib/postgresql";
/// The password of the user `postgres`, made up here.
pub const PASSWORD: &str = "hush-hush-4711";
const START_TIME: Duration = Duration::from_secs(60);
const STOP_TIME: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// It is not installed.
    #[error("PostgreSQL is not installed in `{INSTALLED}`: run scripts/install-tools")]
    Missing,
    /// A program or a file failed.
    #[error("{what}: {source}")]
    Io {
        /// What.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// A program said no.
    #[error("{what} failed: {said}")]
    Failed {
        /// Which.
        what: &'static str,
        /// What it said.
        said: String,
    },
}

/// A private server. It is stopped when it is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    home: TempDir,
    owner: Option<Owner>,
    port: u16,
    child: Mutex<Option<Child>>,
    databases: AtomicU64,
}

/// Who runs the server: it refuses to be run by root.
#[derive(Debug, Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
}

static SHARED: Mutex<Weak<PostgresServer>> = Mutex::new(Weak::new());

impl PostgresServer {
    /// The server of this process, which is started if there is none.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn shared() -> Result<Arc<Self>, PostgresError> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Ok(server);
        }
        let server = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&server);
        Ok(server)
    }

    /// Starts a server of its own.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start() -> Result<Self, PostgresError> {
        let programs = newest_programs().ok_or(PostgresError::Missing)?;
        let home = tempfile::Builder::new()
            .prefix("pg")
            .tempdir()
            .map_err(io_error("making a directory"))?;
        let owner = owner()?;
        if let Some(owner) = owner {
            std::os::unix::fs::chown(home.path(), Some(owner.user), Some(owner.group))
                .map_err(io_error("giving a directory away"))?;
        }
        let mut server = Self {
            programs,
            home,
            owner,
            port: 0,
            child: Mutex::new(None),
            databases: AtomicU64::new(0),
        };
        server.make_cluster()?;
        // Somebody else may take the port in the moment between: then another one is tried.
        let mut result = Ok(());
        for _ in 0..5 {
            server.port = free_port().map_err(io_error("looking for a port"))?;
            result = server.start_again();
            if result.is_ok() {
                break;
            }
        }
        result.map(|()| server)
    }

    /// Makes an empty database and gives its address, password included.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create_database(&self) -> Result<String, PostgresError> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        self.execute("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(self.url(&name))
    }

    /// The address of a database, password included.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!(
            "postgres://postgres:{PASSWORD}@127.0.0.1:{}/{database}",
            self.port
        )
    }

    /// The address of a database by the socket in the file system.
    #[must_use]
    pub fn socket_url(&self, database: &str) -> String {
        let directory = self.home.path().to_string_lossy().replace('/', "%2F");
        format!(
            "postgres://postgres:{PASSWORD}@{directory}:{}/{database}",
            self.port
        )
    }

    /// Runs SQL in a database and gives what it prints, without headings.
    ///
    /// # Errors
    /// When it fails.
    pub fn execute(&self, database: &str, sql: &str) -> Result<String, PostgresError> {
        let mut command = self.program("psql");
        command
            .env("PGPASSWORD", PASSWORD)
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--set", "ON_ERROR_STOP=1", "--username", "postgres", "--host"])
            .arg(self.home.path())
            .args([
                "--port",
                &self.port.to_string(),
                "--dbname",
                database,
                "--command",
                sql,
            ]);
        run("psql", &mut command)
    }

    /// Ends the server as an administrator does: whoever is connected is thrown out. Nothing happens if it is down.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&self) -> Result<(), PostgresError> {
        self.end(rustix::process::Signal::INT)
    }

    /// Starts a server that was stopped, on the same port.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start_again(&self) -> Result<(), PostgresError> {
        let log = fs::File::create(self.home.path().join("log")).map_err(io_error("making a log"))?;
        let errors = log.try_clone().map_err(io_error("making a log"))?;
        let mut command = self.program("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.home.path())
            .args(["-p", &self.port.to_string()])
            .args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
            .args(["-c", "shared_buffers=16MB", "-c", "max_connections=60"])
            .args(["-c", "log_statement=none", "-c", "autovacuum=off"])
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        let mut child = command.spawn().map_err(io_error("starting postgres"))?;
        let start = Instant::now();
        while !self.is_ready() {
            let ended = child.try_wait().map_err(io_error("waiting for postgres"))?;
            if ended.is_some() || start.elapsed() > START_TIME {
                let _ = child.kill();
                let _ = child.wait();
                let said = fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
                return Err(PostgresError::Failed {
                    what: "postgres",
                    said,
                });
            }
            thread::sleep(LOOK);
        }
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        Ok(())
    }

    fn is_ready(&self) -> bool {
        let mut command = self.program("pg_isready");
        command
            .arg("--quiet")
            .args(["--port", &self.port.to_string(), "--host"])
            .arg(self.home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn end(&self, signal: rustix::process::Signal) -> Result<(), PostgresError> {
        let Some(mut child) = self.child.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(());
        };
        if let Some(pid) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
            // It may have ended by itself.
            let _ = rustix::process::kill_process(pid, signal);
        }
        let start = Instant::now();
        loop {
            if child
                .try_wait()
                .map_err(io_error("waiting for postgres"))?
                .is_some()
            {
                return Ok(());
            }
            if start.elapsed() > STOP_TIME {
                let _ = child.kill();
                let _ = child.wait();
                let said = "it did not end".to_owned();
                return Err(PostgresError::Failed {
                    what: "postgres",
                    said,
                });
            }
            thread::sleep(LOOK);
        }
    }

    fn make_cluster(&self) -> Result<(), PostgresError> {
        let password = self.home.path().join("password");
        fs::write(&password, PASSWORD).map_err(io_error("writing a password"))?;
        let mut command = self.program("initdb");
        command
            .arg("-D")
            .arg(self.data())
            .args([
                "--no-sync",
                "--no-instructions",
                "--encoding",
                "UTF8",
                "--locale",
                "C",
            ])
            .args(["--auth", "scram-sha-256", "--username", "postgres", "--pwfile"])
            .arg(&password);
        run("initdb", &mut command).map(|_| ())
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// A program with an empty environment, as the owner of the server.
    fn program(&self, name: &str) -> Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(self.programs.join(name));
        command
            .env_clear()
            .env("LC_ALL", "C")
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        if let Some(owner) = self.owner {
            command.uid(owner.user).gid(owner.group);
        }
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // Without waiting for what it would write: nobody reads it again.
        let _ = self.end(rustix::process::Signal::QUIT);
    }
}

/// The programs of the newest version.
fn newest_programs() -> Option<PathBuf> {
    let versions = fs::read_dir(INSTALLED).ok()?.filter_map(Result::ok);
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    versions
        .map(|entry| entry.path())
        .filter(|path| path.join("bin/initdb").exists())
        .max_by_key(|path| version(path))
        .map(|path| path.join("bin"))
}

/// Somebody else, if we are root.
fn owner() -> Result<Option<Owner>, PostgresError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").map_err(io_error("reading the users"))?;
    let find = |wanted: &str| {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (name, user, group) = (fields.next()?, fields.nth(1)?, fields.next()?);
            (name == wanted).then(|| {
                Some(Owner {
                    user: user.parse().ok()?,
                    group: group.parse().ok()?,
                })
            })?
        })
    };
    Ok(find("postgres").or_else(|| find("nobody")))
}

fn free_port() -> io::Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()
        .map(|address| address.port())
}

fn run(what: &'static str, command: &mut Command) -> Result<String, PostgresError> {
    let output = command.output().map_err(io_error(what))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(PostgresError::Failed { what, said })
}

fn io_error(what: &'static str) -> impl Fn(io::Error) -> PostgresError {
    move |source| PostgresError::Io { what, source }
}
