//! Connections that never finish their request, while the owner asks.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{explain, milliseconds, percentile, runtime};

const OWNER_ROUNDS: usize = 20;
/// How many connections are opened at the same time.
const AT_ONCE: usize = 500;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// `bench serve_half_open`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["sockets"])?;
    let sockets = arguments.number("sockets", 10_000)?;
    allow_files(sockets as u64 + 100)?;
    let stage = Stage::new("half-open")?;
    let table = Table::new("half open");
    let server = Server::start(&stage)?;
    server.wait_until_ready()?;
    let mut times = Vec::new();
    let opened = runtime()?.block_on(async {
        let mut opened: Vec<TcpStream> = Vec::new();
        while opened.len() < sockets {
            let mut opening = JoinSet::new();
            for _ in 0..AT_ONCE.min(sockets - opened.len()) {
                opening.spawn(half_open(server.address));
            }
            let connected = opening.join_all().await;
            let count = opened.len();
            opened.extend(connected.into_iter().flatten());
            if opened.len() == count {
                // The server takes no more of them.
                break;
            }
        }
        for _ in 0..OWNER_ROUNDS {
            let start = Instant::now();
            server.get_json("/api/v1/runs")?;
            times.push(milliseconds(start.elapsed()));
        }
        Ok::<_, String>(opened.len())
    })?;
    table.note("half-open connections", &opened.to_string());
    let slowest = percentile(&mut times, 100);
    table.most(
        &format!("owner's request, slowest of {OWNER_ROUNDS}, ms"),
        slowest,
        1000.0,
    );
    server.stop()
}

/// Connects from a loopback address other than the owner's.
async fn half_open(server: SocketAddr) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.bind((Ipv4Addr::new(127, 0, 0, 2), 0).into()).ok()?;
    let mut stream = timeout(CONNECT_TIMEOUT, socket.connect(server))
        .await
        .ok()?
        .ok()?;
    stream
        .write_all(b"GET /api/v1/runs HTTP/1.1\r\nhost: ")
        .await
        .ok()?;
    Some(stream)
}

fn allow_files(wanted: u64) -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let current = Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted)));
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).map_err(explain)
}
