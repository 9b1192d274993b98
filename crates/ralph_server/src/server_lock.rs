//! `ServerLock`: says where this server listens, and `Running` finds it, so that a second `ralph serve` can point to it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::{Request, Response, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::auth::{AuthError, read_token};
use crate::own_server;

/// How long a server may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// An address and its newline.
const MAX_LOCK_BYTES: u64 = 128;
/// Before the address of a server that speaks TLS.
const HTTPS: &str = "https://";

fn lock_path(state_directory: &Path, port: u16) -> PathBuf {
    state_directory.join(format!("server-{port}.lock"))
}

/// Says where this server listens, for as long as it does. Only its user can write it, and its lock goes with the
/// process, however that ends: who finds it locked knows that it is a server of this user that listens there.
#[derive(Debug)]
pub(crate) struct ServerLock {
    path: PathBuf,
    _locked: File,
}

impl ServerLock {
    /// None where it cannot be put up: that costs a convenience, and no server stays away for it.
    pub(crate) fn acquire(state_directory: &Path, address: SocketAddr, is_tls: bool) -> Option<Self> {
        let path = lock_path(state_directory, address.port());
        match write(&path, address, is_tls) {
            Ok(locked) => Some(Self {
                path,
                _locked: locked,
            }),
            Err(error) => {
                tracing::debug!(%error, "cannot say where the server listens");
                None
            }
        }
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        // Before the lock goes: whoever locks it next has one of his own.
        let _ = fs::remove_file(&self.path);
    }
}

fn write(path: &Path, address: SocketAddr, is_tls: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.try_lock()?;
    // One that was killed left its own.
    file.set_len(0)?;
    file.rewind()?;
    let scheme = if is_tls { HTTPS } else { "" };
    writeln!(file, "{scheme}{address}")?;
    Ok(file)
}

/// A server of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    is_tls: bool,
    state_directory: PathBuf,
}

/// Why a server gives no login.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunningError {
    /// It cannot be reached, or does not answer.
    #[error("the server on {0} does not answer")]
    Silent(SocketAddr),
    /// It answers something else.
    #[error("cannot get a login link from the server on {address}: HTTP {status}")]
    Refused {
        /// Where it is.
        address: SocketAddr,
        /// What it answers.
        status: StatusCode,
    },
    /// The token cannot be read.
    #[error(transparent)]
    Auth(#[from] AuthError),
}

#[derive(Deserialize)]
struct Link {
    url: String,
}

impl Running {
    /// The server of this user that listens on a port; none if somebody else does.
    #[must_use]
    pub fn find(state_directory: &Path, port: u16) -> Option<Self> {
        let file = ralph_run::open_regular_file(&lock_path(state_directory, port)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            // It was killed, and whoever listens there now is somebody else.
            Ok(()) | Err(TryLockError::Error(_)) => return None,
        }
        let mut text = String::new();
        file.take(MAX_LOCK_BYTES).read_to_string(&mut text).ok()?;
        let text = text.trim();
        let is_tls = text.starts_with(HTTPS);
        let address: SocketAddr = text.strip_prefix(HTTPS).unwrap_or(text).parse().ok()?;
        (address.port() == port).then(|| Self {
            address,
            is_tls,
            state_directory: state_directory.to_owned(),
        })
    }

    /// Where it listens, with its scheme.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.is_tls { HTTPS } else { "http://" };
        format!("{scheme}{}", self.address)
    }

    /// A new address where a person logs in to it, once, within ten minutes. It is shown the token, which this user can
    /// read as it can.
    ///
    /// # Errors
    /// When the token cannot be read, or the server does not answer as it should.
    pub async fn login_url(&self) -> Result<String, RunningError> {
        let token = read_token(&self.state_directory)?;
        let address = self.address;
        let silent = || RunningError::Silent(address);
        let asked = timeout(ANSWER_TIMEOUT, self.ask(reachable(address), &token)).await;
        let (status, body) = asked.map_err(|_| silent())?.ok_or_else(silent)?;
        let link: Option<Link> = serde_json::from_slice(&body).ok();
        match link.filter(|_| status.is_success()) {
            Some(Link { url }) => Ok(url),
            None => Err(RunningError::Refused { address, status }),
        }
    }
}

impl Running {
    async fn ask(&self, address: SocketAddr, token: &str) -> Option<(StatusCode, Bytes)> {
        let stream = TcpStream::connect(address).await.ok()?;
        if !self.is_tls {
            return ask_over(stream, address, token).await;
        }
        let stream = own_server::connect(stream, address.ip()).await.ok()?;
        ask_over(stream, address, token).await
    }
}

/// One that listens everywhere is asked on this machine.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn ask_over(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    address: SocketAddr,
    token: &str,
) -> Option<(StatusCode, Bytes)> {
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    let request = Request::post("/api/v1/login-links")
        .header(header::HOST, address.to_string())
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Empty::<Bytes>::new())
        .ok()?;
    let asked = async { whole(sender.send_request(request).await.ok()?).await };
    let mut asked = std::pin::pin!(asked);
    tokio::select! {
        answer = &mut asked => answer,
        // What has arrived can still be read.
        _ = connection => asked.await,
    }
}

async fn whole(response: Response<Incoming>) -> Option<(StatusCode, Bytes)> {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await.ok()?;
    Some((head.status, body.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{Running, ServerLock, lock_path, reachable};

    #[test]
    fn a_server_is_found_by_its_port_for_as_long_as_it_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let address = "127.0.0.1:7878".parse().unwrap();
        assert_eq!(Running::find(directory.path(), 7878), None);
        let lock = ServerLock::acquire(directory.path(), address, false).unwrap();
        let found = Running::find(directory.path(), 7878).unwrap();
        assert_eq!(found.address, address);
        assert_eq!(Running::find(directory.path(), 7879), None);
        drop(lock);
        assert_eq!(Running::find(directory.path(), 7878), None);
        assert!(!lock_path(directory.path(), 7878).exists());
    }

    #[test]
    fn what_a_server_that_was_killed_leaves_behind_leads_nobody_anywhere() {
        let directory = tempfile::tempdir().unwrap();
        let path = lock_path(directory.path(), 7878);
        std::fs::write(&path, "127.0.0.1:7878\nand more that stood there\n").unwrap();
        assert_eq!(Running::find(directory.path(), 7878), None);
        let address = "[::1]:7878".parse().unwrap();
        let _lock = ServerLock::acquire(directory.path(), address, false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[::1]:7878\n");
        assert_eq!(
            Running::find(directory.path(), 7878).map(|found| found.address),
            Some(address)
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_its_user_can_read_where_a_server_listens() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let _lock = ServerLock::acquire(directory.path(), "127.0.0.1:7878".parse().unwrap(), true).unwrap();
        let path = lock_path(directory.path(), 7878);
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_server_that_listens_everywhere_is_asked_on_this_machine() {
        for (bound, asked) in [
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:1", "[::1]:1"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("192.168.1.5:1", "192.168.1.5:1"),
        ] {
            assert_eq!(reachable(bound.parse().unwrap()), asked.parse().unwrap());
        }
    }
}
