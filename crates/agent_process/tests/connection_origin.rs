//! Recognising the clients that agents started, also those that hide.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader, IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use agent_process::{ConnectionOrigin, connection_origin};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

const HELPER: &str = "CONNECTION_ORIGIN_HELPER";
const SERVER: &str = "CONNECTION_ORIGIN_SERVER";

/// A process of its own, connected to the server, that hides its socket and then waits for its input to end.
struct Helper {
    child: Child,
}

impl Helper {
    /// Runs the test `helper` of this file, until it says that it is ready.
    fn new(how: &str, server: SocketAddr) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "helper", "--nocapture", "--test-threads=1"])
            .env(HELPER, how)
            .env(SERVER, server.to_string())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let ready = lines.map_while(Result::ok).any(|line| line == "ready");
        assert!(ready, "{how} failed");
        Self { child }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Not a test, unless [`Helper`] runs it.
#[test]
fn helper() {
    let Ok(how) = std::env::var(HELPER) else {
        return;
    };
    let server: SocketAddr = std::env::var(SERVER).unwrap().parse().unwrap();
    let socket = TcpStream::connect(server).unwrap();
    let wait = || {
        std::io::Write::write_all(&mut std::io::stderr(), b"\nready\n").unwrap();
        let _ = std::io::stdin().read(&mut [0]);
    };
    match how.as_str() {
        "open" => wait(),
        "not dumpable" => {
            set_dumpable_behavior(DumpableBehavior::NotDumpable).unwrap();
            wait();
        }
        "queued" => {
            let (sender, _receiver) = UnixStream::pair().unwrap();
            let sockets = [socket.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            assert!(control.push(SendAncillaryMessage::ScmRights(&sockets)));
            sendmsg(&sender, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
            drop(socket);
            wait();
        }
        "of one thread" => {
            let thread = std::thread::spawn(move || {
                #[expect(deprecated, reason = "sound for a thread that uses its own descriptors")]
                rustix::thread::unshare(rustix::thread::UnshareFlags::FILES).unwrap();
                let own = TcpStream::connect(server).unwrap();
                wait();
                drop(own);
            });
            drop(socket);
            thread.join().unwrap();
        }
        "closed" => {
            drop(socket);
            wait();
        }
        other => panic!("{other}"),
    }
}

fn own() -> [u32; 1] {
    [std::process::id()]
}

#[test]
fn the_process_behind_a_connection_is_found() {
    for address in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
        let Ok(listener) = TcpListener::bind(address) else {
            continue;
        };
        let server = listener.local_addr().unwrap();
        let ip = if address.starts_with("[::1]") {
            server.ip()
        } else {
            "127.0.0.1".parse().unwrap()
        };
        let target = SocketAddr::new(ip, server.port());
        let helper = Helper::new("open", target);
        let (accepted, client) = listener.accept().unwrap();
        let here = accepted.local_addr().unwrap();
        let origin = |client, ancestors: &[u32]| connection_origin(client, here, ancestors);
        assert_eq!(origin(client, &own()), ConnectionOrigin::Descendant);
        assert_eq!(origin(client, &[]), ConnectionOrigin::Unrelated);
        assert_eq!(origin(client, &[helper.child.id()]), ConnectionOrigin::Unrelated);
        // One of our own comes from above.
        let socket = TcpStream::connect(target).unwrap();
        let (_accepted, client) = listener.accept().unwrap();
        assert_eq!(origin(client, &own()), ConnectionOrigin::Unrelated);
        drop(socket);
    }
}

#[test]
fn a_client_that_hides_is_not_taken_for_an_unrelated_one() {
    for how in ["not dumpable", "queued", "of one thread", "closed"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _helper = Helper::new(how, listener.local_addr().unwrap());
        if how == "of one thread" {
            listener.accept().unwrap();
        }
        let (accepted, client) = listener.accept().unwrap();
        let here = accepted.local_addr().unwrap();
        let origin = connection_origin(client, here, &own());
        assert_ne!(origin, ConnectionOrigin::Unrelated, "{how}");
    }
}

#[test]
fn a_client_of_another_machine_is_unrelated() {
    // Reserved for documentation.
    let client = "192.0.2.1:5000".parse().unwrap();
    let server = "127.0.0.1:7878".parse().unwrap();
    assert_eq!(
        connection_origin(client, server, &own()),
        ConnectionOrigin::Unrelated
    );
}
