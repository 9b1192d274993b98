//! The control socket between a run's loop and its clients.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ralph_run::control::{
    ControlClient, ControlCommand, ControlError, ControlServer, Greeting, MAX_LINE_BYTES, Receipt, Refusal,
    RefusalCode, SendMode, StatusReport,
};
use ralph_run::model::RunState;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// For whatever has to happen: reached only when it does not.
const PATIENCE: Duration = Duration::from_secs(20);

/// A run's loop that answers everything and counts what it did.
struct Run {
    path: PathBuf,
    done: Arc<AtomicUsize>,
    _folder: TempDir,
}

fn private_folder() -> TempDir {
    let mode = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().permissions(mode).tempdir().unwrap()
}

async fn server(folder: &Path) -> ControlServer {
    let greeting = Greeting::new("run-1", RunState::Thinking);
    ControlServer::bind(folder.join("control.sock"), greeting)
        .await
        .unwrap()
}

async fn run() -> Run {
    let folder = private_folder();
    let mut server = server(folder.path()).await;
    let done = Arc::new(AtomicUsize::new(0));
    let count = done.clone();
    let path = server.path().to_owned();
    tokio::spawn(async move {
        loop {
            let incoming = server.next().await;
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            incoming.reply.send(match incoming.command {
                ControlCommand::Send { text, .. } if text.trim().is_empty() => Err(Refusal::new(
                    RefusalCode::Invalid,
                    "an empty message: say something",
                )),
                ControlCommand::Send { .. } => Ok(Receipt {
                    message_id: Some(format!("message-{number}")),
                    ..Receipt::default()
                }),
                ControlCommand::Status => Ok(Receipt {
                    status: Some(StatusReport {
                        seq: number as u64,
                        ..StatusReport::default()
                    }),
                    ..Receipt::default()
                }),
                _ => Ok(Receipt::default()),
            });
        }
    });
    Run {
        path,
        done,
        _folder: folder,
    }
}

fn send(text: &str) -> ControlCommand {
    ControlCommand::Send {
        text: text.to_owned(),
        mode: SendMode::Queue,
    }
}

/// A client that speaks bytes.
struct Raw {
    stream: BufReader<UnixStream>,
    greeting: Value,
}

impl Raw {
    async fn connect(path: &Path) -> Self {
        let stream = BufReader::new(UnixStream::connect(path).await.unwrap());
        let mut raw = Self {
            stream,
            greeting: Value::Null,
        };
        raw.greeting = raw.line().await.unwrap();
        raw
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).await.unwrap();
    }

    /// The next line; none when the connection is closed.
    async fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.stream.read_line(&mut line)).await.unwrap();
        match read {
            Ok(0) => None,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => None,
            other => {
                other.unwrap();
                Some(serde_json::from_str(&line).unwrap())
            }
        }
    }

    async fn ask(&mut self, line: &str) -> Value {
        self.write(line.as_bytes()).await;
        self.write(b"\n").await;
        self.line().await.unwrap()
    }
}

#[tokio::test]
async fn a_command_gets_its_receipt() {
    let run = run().await;
    let mut client = ControlClient::connect(&run.path).await.unwrap();
    assert_eq!(client.greeting().run_id, "run-1");
    assert_eq!(client.greeting().state, RunState::Thinking);
    assert_eq!(client.protocol(), 2);
    let receipt = client.request(send("hello")).await.unwrap();
    assert_eq!(receipt.message_id.as_deref(), Some("message-1"));
    let refused = client.request(send(" ")).await.unwrap_err();
    assert!(matches!(refused, ControlError::Refused(refusal) if refusal.code == RefusalCode::Invalid));
    assert!(client.request(ControlCommand::Stop).await.is_ok());
}

#[tokio::test]
async fn the_greeting_says_where_the_run_is() {
    let folder = private_folder();
    let server = server(folder.path()).await;
    server.set_state(&RunState::Stopping);
    let raw = Raw::connect(server.path()).await;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        raw.greeting,
        json!({"ralph": version, "protocol": 2, "run_id": "run-1", "state": "stopping"})
    );
}

#[tokio::test]
async fn a_repeated_id_is_done_once_and_gets_the_first_receipt_again() {
    let run = run().await;
    let mut first = ControlClient::connect(&run.path).await.unwrap();
    let mut second = ControlClient::connect(&run.path).await.unwrap();
    let receipt = first.request_as("same".into(), send("hello")).await.unwrap();
    assert_eq!(
        first.request_as("same".into(), send("hello")).await.unwrap(),
        receipt
    );
    assert_eq!(
        second.request_as("same".into(), send("hello")).await.unwrap(),
        receipt
    );
    assert_eq!(run.done.load(Ordering::SeqCst), 1);

    let reused = second.request_as("same".into(), send("something else")).await;
    assert!(matches!(reused, Err(ControlError::Refused(refusal)) if refusal.code == RefusalCode::IdReused));
    assert_eq!(run.done.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_command_that_is_repeated_while_it_is_done_is_answered_twice() {
    let folder = private_folder();
    let mut server = server(folder.path()).await;
    let mut first = Raw::connect(server.path()).await;
    let mut second = Raw::connect(server.path()).await;
    first.write(b"{\"id\":\"x\",\"command\":\"stop\"}\n").await;
    let incoming = server.next().await;
    // The answer to the second line says that the first one was read before.
    second
        .write(b"{\"id\":\"x\",\"command\":\"stop\"}\n{\"id\":\"y\",\"command\":\"fly\"}\n")
        .await;
    assert_eq!(second.line().await.unwrap()["code"], "unknown_command");
    incoming.reply.send(Ok(Receipt::default()));
    let expected = json!({"id": "x", "ok": true, "receipt": {}});
    assert_eq!(first.line().await.unwrap(), expected);
    assert_eq!(second.line().await.unwrap(), expected);
}

#[tokio::test]
async fn a_question_about_the_state_is_answered_anew() {
    let run = run().await;
    let mut client = ControlClient::connect(&run.path).await.unwrap();
    for seq in 1..=2 {
        let receipt = client
            .request_as("s".into(), ControlCommand::Status)
            .await
            .unwrap();
        assert_eq!(receipt.status.unwrap().seq, seq);
    }
}

#[tokio::test]
async fn a_connection_survives_what_cannot_be_read() {
    let run = run().await;
    let mut raw = Raw::connect(&run.path).await;
    for (line, id, code) in [
        ("", Value::Null, "malformed"),
        ("{\"id\":\"1\",", Value::Null, "malformed"),
        ("null", Value::Null, "malformed"),
        (
            "{\"id\":\"2\",\"command\":\"dance\"}",
            json!("2"),
            "unknown_command",
        ),
        (
            "{\"id\":\"3\",\"command\":\"send\",\"text\":7}",
            json!("3"),
            "invalid",
        ),
    ] {
        let answer = raw.ask(line).await;
        assert_eq!((&answer["id"], &answer["ok"]), (&id, &json!(false)), "{line}");
        assert_eq!(answer["code"], code, "{line}");
    }
    raw.write(b"\xff\xfe\x00\n").await;
    assert_eq!(raw.line().await.unwrap()["code"], "malformed");
    assert_eq!(raw.ask("{\"id\":\"4\",\"command\":\"stop\"}").await["ok"], true);
    assert_eq!(run.done.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_overlong_line_is_refused_and_the_next_one_is_done() {
    let run = run().await;
    let mut raw = Raw::connect(&run.path).await;
    let mut line = vec![b'x'; MAX_LINE_BYTES + 1];
    line.push(b'\n');
    raw.write(&line).await;
    assert_eq!(raw.line().await.unwrap()["code"], "too_long");
    assert_eq!(raw.ask("{\"id\":\"1\",\"command\":\"stop\"}").await["ok"], true);

    let mut client = ControlClient::connect(&run.path).await.unwrap();
    let text = "x".repeat(MAX_LINE_BYTES);
    assert!(matches!(
        client.request(send(&text)).await,
        Err(ControlError::TooLong { .. })
    ));
    let text = "x".repeat(MAX_LINE_BYTES - 200);
    assert!(client.request(send(&text)).await.is_ok());
}

#[tokio::test]
async fn a_client_that_closes_its_half_is_still_answered() {
    let run = run().await;
    let mut raw = Raw::connect(&run.path).await;
    raw.write(b"{\"id\":\"1\",\"command\":\"stop\"}\n").await;
    raw.stream.get_mut().shutdown().await.unwrap();
    assert_eq!(raw.line().await.unwrap()["ok"], true);
    assert_eq!(raw.line().await, None);
}

#[tokio::test]
async fn a_line_without_its_end_is_not_done() {
    let run = run().await;
    let mut raw = Raw::connect(&run.path).await;
    raw.write(b"{\"id\":\"1\",\"command\":\"kill\"}").await;
    raw.stream.get_mut().shutdown().await.unwrap();
    assert_eq!(raw.line().await, None);
    assert_eq!(run.done.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_dropped_and_the_others_are_served() {
    let run = run().await;
    let mut deaf = UnixStream::connect(&run.path).await.unwrap();
    let flood = tokio::spawn(async move {
        let line = format!("{{\"id\":\"{}\",\"command\":\"fly\"}}\n", "x".repeat(100)).repeat(100);
        let mut sent = 0;
        while deaf.write_all(line.as_bytes()).await.is_ok() {
            sent += line.len();
        }
        sent
    });
    // The time stands still while there is something to do, and then goes on to the server's limit.
    let sent = timeout(Duration::from_secs(60), flood).await.unwrap().unwrap();
    assert!(
        sent < 16 * 1024 * 1024,
        "{sent} bytes were taken from a client that reads nothing"
    );
    let mut client = ControlClient::connect(&run.path).await.unwrap();
    assert!(client.request(ControlCommand::Interrupt).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_clients_at_once_get_their_own_answers() {
    let run = run().await;
    let clients: Vec<_> = (0..50)
        .map(|_| {
            let path = run.path.clone();
            tokio::spawn(async move {
                let mut client = ControlClient::connect(path).await.unwrap();
                let mut ids = Vec::new();
                for _ in 0..20 {
                    let receipt = client.request(send("hello")).await.unwrap();
                    ids.push(receipt.message_id.unwrap());
                }
                ids
            })
        })
        .collect();
    let mut ids = Vec::new();
    for client in clients {
        ids.extend(timeout(PATIENCE, client).await.unwrap().unwrap());
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 1000);
    assert_eq!(run.done.load(Ordering::SeqCst), 1000);
}

#[tokio::test]
async fn there_is_an_end_to_the_number_of_clients() {
    let run = run().await;
    let mut clients = Vec::new();
    let refused = loop {
        match ControlClient::connect(&run.path).await {
            Ok(client) => clients.push(client),
            Err(error) => break error,
        }
        assert!(clients.len() < 1000);
    };
    assert!(matches!(refused, ControlError::Refused(refusal) if refusal.code == RefusalCode::TooManyClients));
    assert!(clients.len() >= 100);
    assert!(clients[0].request(ControlCommand::Stop).await.is_ok());
}

#[tokio::test]
async fn dropping_the_server_answers_everybody() {
    let folder = private_folder();
    let mut server = server(folder.path()).await;
    let path = server.path().to_owned();
    let mut clients = Vec::new();
    for number in 0..20 {
        let mut raw = Raw::connect(&path).await;
        let line = format!("{{\"id\":\"{number}\",\"command\":\"stop\"}}\n");
        raw.write(line.as_bytes()).await;
        clients.push(raw);
    }
    let mut idle = Raw::connect(&path).await;
    let mut watcher = ControlClient::connect(&path).await.unwrap();
    // One is being done, the others wait in the queue or have not been read yet.
    let held = server.next().await;
    drop(server);
    assert!(!path.exists());
    drop(held);
    for mut raw in clients {
        let answer = raw.line().await.unwrap();
        assert_eq!(
            (&answer["ok"], &answer["code"]),
            (&json!(false), &json!("run_ended"))
        );
        assert_eq!(raw.line().await, None);
    }
    assert_eq!(idle.line().await, None);
    timeout(PATIENCE, watcher.closed()).await.unwrap();
    assert!(matches!(
        ControlClient::connect(&path).await,
        Err(ControlError::NotRunning { .. })
    ));
}

#[tokio::test]
async fn closing_waits_until_the_last_answer_is_out() {
    let folder = private_folder();
    let mut server = server(folder.path()).await;
    let mut raw = Raw::connect(server.path()).await;
    raw.write(b"{\"id\":\"1\",\"command\":\"stop\"}\n").await;
    let incoming = server.next().await;
    incoming.reply.send(Ok(Receipt::default()));
    timeout(PATIENCE, server.close()).await.unwrap();
    assert_eq!(raw.line().await.unwrap()["ok"], true);
    assert_eq!(raw.line().await, None);
}

#[tokio::test]
async fn a_stale_socket_is_replaced() {
    let folder = private_folder();
    let path = folder.path().join("control.sock");
    // A runner that was killed leaves its socket behind, with nobody on it.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(matches!(
        ControlClient::connect(&path).await,
        Err(ControlError::NotRunning { .. })
    ));
    let server = server(folder.path()).await;
    assert!(ControlClient::connect(server.path()).await.is_ok());
}

#[tokio::test]
async fn a_second_server_is_refused_and_the_first_goes_on() {
    let run = run().await;
    let error = ControlServer::bind(&run.path, Greeting::new("run-2", RunState::Starting))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    let client = ControlClient::connect(&run.path).await.unwrap();
    assert_eq!(client.greeting().run_id, "run-1");
}

#[tokio::test]
async fn what_is_no_socket_is_left_alone() {
    let folder = private_folder();
    let path = folder.path().join("control.sock");
    std::fs::write(&path, "mine").unwrap();
    let error = ControlServer::bind(&path, Greeting::new("r", RunState::Thinking))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[tokio::test]
async fn a_planted_link_is_not_followed() {
    let folder = private_folder();
    let path = folder.path().join("control.sock");
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
    assert!(
        ControlServer::bind(&path, Greeting::new("r", RunState::Thinking))
            .await
            .is_err()
    );
    assert!(!folder.path().join("elsewhere").exists());
}

#[tokio::test]
async fn a_path_that_is_too_long_is_said_to_be() {
    let folder = private_folder();
    let path = folder.path().join("x".repeat(100));
    let error = ControlServer::bind(&path, Greeting::new("r", RunState::Thinking))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("at most 100)"), "{error}");
}

#[tokio::test]
async fn a_folder_that_others_can_enter_is_refused() {
    let folder = private_folder();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("control.sock");
    let error = ControlServer::bind(&path, Greeting::new("r", RunState::Thinking))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_socket_of_somebody_else_survives_ours() {
    let folder = private_folder();
    let server = server(folder.path()).await;
    std::fs::remove_file(server.path()).unwrap();
    let path = server.path().to_owned();
    let _other = std::os::unix::net::UnixListener::bind(&path).unwrap();
    drop(server);
    assert!(path.exists());
}

#[tokio::test(start_paused = true)]
async fn something_else_that_answers_is_no_runner() {
    let folder = private_folder();
    let path = folder.path().join("control.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"SSH-2.0\n").await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        let newer =
            json!({"ralph": "9.0.0", "protocol": 9, "oldest_protocol": 8, "run_id": "r", "state": "running"});
        stream.write_all(format!("{newer}\n").as_bytes()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        drop(stream);
        let (stream, _) = listener.accept().await.unwrap();
        (stream, listener)
    });
    let connect = || ControlClient::connect(&path);
    assert!(matches!(connect().await, Err(ControlError::NotARunner { .. })));
    assert!(matches!(connect().await, Err(ControlError::Incompatible { .. })));
    assert!(matches!(connect().await, Err(ControlError::Closed)));
    assert!(matches!(connect().await, Err(ControlError::Silent { .. })));
    task.await.unwrap();
}

/// Lets something go as far as it can by itself.
async fn begin<F: Future>(future: &mut std::pin::Pin<Box<F>>) {
    tokio::select! {
        biased;
        _ = future => unreachable!("nobody has answered"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn a_runner_that_leaves_at_any_moment_has_closed_the_connection() {
    let folder = private_folder();
    let path = folder.path().join("control.sock");
    // Before it has let anybody in: who waits does so in a line that is gone.
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let mut connecting = Box::pin(ControlClient::connect(&path));
    begin(&mut connecting).await;
    drop(listener);
    let told = connecting.await;
    assert!(matches!(told, Err(ControlError::Closed)), "{told:?}");
    std::fs::remove_file(&path).unwrap();

    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let greeting = serde_json::to_string(&Greeting::new("r", RunState::Thinking)).unwrap() + "\n";
    let greet = async || {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(greeting.as_bytes()).await.unwrap();
        stream
    };
    // With a command on its way that it has not read.
    let (client, stream) = tokio::join!(ControlClient::connect(&path), greet());
    let mut client = client.unwrap();
    let mut asking = Box::pin(client.request(ControlCommand::Stop));
    begin(&mut asking).await;
    drop(stream);
    let told = asking.await;
    assert!(matches!(told, Err(ControlError::Closed)), "{told:?}");
    // Before the command was sent.
    let (client, stream) = tokio::join!(ControlClient::connect(&path), greet());
    drop(stream);
    let told = client.unwrap().request(ControlCommand::Stop).await;
    assert!(matches!(told, Err(ControlError::Closed)), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_does_not_answer_in_time_is_not_waited_for() {
    let folder = private_folder();
    let server = server(folder.path()).await;
    let mut client = ControlClient::connect(server.path()).await.unwrap();
    assert!(matches!(
        client.request(ControlCommand::Stop).await,
        Err(ControlError::Silent { .. })
    ));
}

#[tokio::test]
async fn a_wait_for_a_command_can_be_given_up_without_losing_one() {
    let folder = private_folder();
    let mut server = server(folder.path()).await;
    let mut raw = Raw::connect(server.path()).await;
    for number in 0..200 {
        let line = format!("{{\"id\":\"{number}\",\"command\":\"stop\"}}\n");
        raw.write(line.as_bytes()).await;
        let incoming = loop {
            tokio::select! {
                biased;
                incoming = server.next() => break incoming,
                () = tokio::task::yield_now() => {}
            }
        };
        assert_eq!(incoming.command_id, number.to_string());
        incoming.reply.send(Ok(Receipt::default()));
        assert_eq!(raw.line().await.unwrap()["ok"], true);
    }
}

// ---- in a process of its own ----

const FOLDER_VARIABLE: &str = "CONTROL_TEST_FOLDER";

/// Runs one test of this file again, from an empty environment.
fn again(program: &Path, test: &str, folder: &Path) -> std::process::Command {
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-c", "umask 000; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(program)
        .arg(test)
        .env_clear()
        .env(FOLDER_VARIABLE, folder);
    command
}

#[tokio::test]
async fn a_socket_is_for_its_owner_alone_whatever_the_umask() {
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        let probe = Path::new(&folder).join("probe");
        std::fs::write(&probe, "").unwrap();
        assert_eq!(
            std::fs::metadata(&probe).unwrap().mode() & 0o777,
            0o666,
            "the umask is not 000"
        );
        let server = server(Path::new(&folder)).await;
        let mode = std::fs::metadata(server.path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        return;
    }
    let folder = private_folder();
    let program = std::env::current_exe().unwrap();
    let test = "a_socket_is_for_its_owner_alone_whatever_the_umask";
    let output = again(&program, test, folder.path()).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert!(folder.path().join("probe").exists(), "the test did not run");
}

#[tokio::test]
async fn another_user_is_not_even_greeted() {
    use std::os::unix::process::CommandExt as _;
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        let error = ControlClient::connect(Path::new(&folder).join("control.sock")).await;
        assert!(matches!(error, Err(ControlError::Closed)), "{error:?}");
        return;
    }
    let folder = private_folder();
    let server = server(folder.path()).await;
    if std::fs::metadata(server.path()).unwrap().uid() != 0 {
        // Only root can become somebody else; without that the rule itself is tested beside the code.
        return;
    }
    // As open as can be, so that only the look at the peer is left.
    for path in [folder.path(), server.path()] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = again(&program, "another_user_is_not_even_greeted", folder.path());
    command.uid(65534).gid(65534).current_dir("/");
    let output = tokio::task::spawn_blocking(move || command.output())
        .await
        .unwrap()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    assert!(ControlClient::connect(server.path()).await.is_ok());
}
