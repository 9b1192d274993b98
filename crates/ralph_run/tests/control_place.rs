//! Where the control socket of a run is bound.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use ralph_run::control::{ControlClient, ControlServer, Greeting};
use ralph_run::model::RunState;
use ralph_run::{Home, RunDirectory};

/// A state directory in which no socket can be bound.
fn long_state(directory: &Path) -> PathBuf {
    directory.join("a-very-long-name".repeat(8)).join("state")
}

async fn bind(run: &RunDirectory) -> std::io::Result<ControlServer> {
    ControlServer::bind_for_run(run, Greeting::new(run.id(), RunState::Starting)).await
}

#[tokio::test]
async fn a_state_path_too_long_for_a_socket_needs_no_runtime_directory() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::new(long_state(directory.path()), None);
    let run = home.create_run(Timestamp::now()).unwrap();
    let server = bind(&run).await.unwrap();
    let folder = server.path().parent().unwrap().to_owned();
    assert!(folder.starts_with("/tmp"), "{}", folder.display());
    assert_eq!(folder, home.socket_folder());
    let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(run.socket(), server.path());
    ControlClient::connect(run.socket()).await.unwrap();
    // A client with another environment, such as a cron job's, finds it as well.
    let elsewhere = Home::new(home.state_directory(), Some(directory.path().to_owned()));
    let same = elsewhere.run(run.id()).unwrap();
    ControlClient::connect(same.socket()).await.unwrap();
    let socket = server.path().to_owned();
    drop(server);
    assert!(!socket.exists());
    assert!(std::fs::symlink_metadata(run.path().join("control.sock")).is_err());
}

#[tokio::test]
async fn many_runs_can_bind_in_one_folder_at_once() {
    let directory = tempfile::tempdir().unwrap();
    // Readable by others, as some tools leave it.
    let runtime = directory.path().join("run");
    std::fs::create_dir_all(runtime.join("ralph")).unwrap();
    std::fs::set_permissions(runtime.join("ralph"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = Home::new(long_state(directory.path()), Some(runtime.clone()));
    let mut binding = tokio::task::JoinSet::new();
    for _ in 0..60 {
        let run = home.create_run(Timestamp::now()).unwrap();
        binding.spawn(async move { bind(&run).await.map(|server| (run, server)) });
    }
    let bound = binding.join_all().await;
    for bound in bound {
        let (run, server) = bound.unwrap();
        assert_eq!(
            server.path(),
            runtime.join("ralph").join(format!("{}.sock", run.id()))
        );
        let client = ControlClient::connect(run.socket()).await.unwrap();
        assert_eq!(client.greeting().run_id, run.id());
    }
    let mode = std::fs::metadata(runtime.join("ralph"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700, "closed to others");
}

#[tokio::test]
async fn a_folder_that_is_a_link_is_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = directory.path().join("run");
    std::fs::create_dir_all(&runtime).unwrap();
    std::fs::create_dir(directory.path().join("theirs")).unwrap();
    std::os::unix::fs::symlink(directory.path().join("theirs"), runtime.join("ralph")).unwrap();
    let home = Home::new(long_state(directory.path()), Some(runtime));
    let run = home.create_run(Timestamp::now()).unwrap();
    let server = bind(&run).await.unwrap();
    assert!(server.path().starts_with("/tmp"), "{}", server.path().display());
    assert_eq!(
        std::fs::read_dir(directory.path().join("theirs"))
            .unwrap()
            .count(),
        0
    );
}

#[tokio::test]
async fn the_socket_of_a_live_runner_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::new(directory.path().join("s"), None);
    let run = home.create_run(Timestamp::now()).unwrap();
    let server = bind(&run).await.unwrap();
    let error = bind(&run).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse, "{error}");
    assert_eq!(run.socket(), server.path());
    ControlClient::connect(run.socket()).await.unwrap();
}
