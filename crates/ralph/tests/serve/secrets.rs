//! What nobody else may have.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;

use serde_json::json;
use test_support::{recorded, wait_until};

use crate::stage::{Stage, is_done, works};

#[test]
fn neither_a_runner_nor_its_agent_has_the_servers_token() {
    let mut stage = Stage::new();
    let (processes, gate) = (stage.path("processes"), stage.path("gate"));
    fs::create_dir(&processes).unwrap();
    let script = works()
        .record_process(&processes, "agent")
        .wait_for_file(&gate)
        .then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let server = stage.serve();
    let run = server.start(&workspace, &json!({}));
    wait_until("the agent", || !recorded::all(&processes).unwrap().is_empty());
    let agent = recorded::all(&processes).unwrap()[0].pid;
    let runner = stage.run_file(&run)["runner"]["pid"].as_u64().unwrap();
    for pid in [u64::from(agent), runner] {
        for file in ["environ", "cmdline"] {
            let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!text.is_empty());
            // Said without showing it.
            assert!(
                !text.contains(&server.door.token),
                "the token is in the {file} of a process"
            );
            assert!(!text.contains("RALPH_SERVER"), "{file}");
        }
    }
    fs::write(&gate, "").unwrap();
    server.door.watch(&run, 0).until("run_ended", "completed");
}

#[test]
fn everything_is_for_its_user_alone_whatever_the_umask() {
    let mut stage = Stage::new();
    let workspace = stage.workspace("workspace", &works().then(is_done()));
    let mut command = stage.command("/bin/sh");
    let ralph = env!("CARGO_BIN_EXE_ralph");
    command.args(["-c", "umask 000; exec \"$0\" serve --port 0", ralph]);
    let server = stage.serve_by(command);
    let run = server.start(&workspace, &json!({}));
    server.door.watch(&run, 0).until("run_ended", "completed");
    let mut count = 0;
    for directory in ["state", "data"] {
        // The directories of the user's system are the user's; ours begin below them.
        check(&stage.path(directory).join("ralph"), &mut count);
    }
    assert!(count > 8, "{count}");
}

fn check(path: &Path, count: &mut usize) {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        // It belonged to something that is over.
        return;
    };
    *count += 1;
    let mode = metadata.permissions().mode() & 0o777;
    if metadata.is_dir() {
        assert_eq!(mode, 0o700, "{}", path.display());
        for entry in fs::read_dir(path).unwrap() {
            check(&entry.unwrap().path(), count);
        }
    } else if metadata.file_type().is_socket() {
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    } else {
        assert_eq!(mode, 0o600, "{}: {mode:o}", path.display());
    }
}
