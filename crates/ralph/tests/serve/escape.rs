//! An agent that took the server's token, or found the control socket, and tries to act as its user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::script::Script;
use test_support::wait_until;

use crate::stage::{Server, Stage, answered, asks, is_done, works};

/// An agent that asks for a permission, and beside it a program of the agent's that works for as long as the agent lives.
fn workspace(stage: &mut Stage, attack: &str) -> PathBuf {
    let script: Script = works()
        .emit(asks("r", "Bash", &json!({"command": "make"})))
        .expect_line(answered("r"))
        .then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let settings = fs::read_to_string(workspace.join("ralph.yml")).unwrap();
    let agent = settings.rsplit_once("command: ").unwrap().1.trim();
    let wrapper = stage.path("agent.sh");
    let attack_file = stage.path("attack.sh");
    fs::write(&attack_file, attack).unwrap();
    let text = format!(
        "#!/bin/bash\ncase \"$*\" in *--version*) ;; *) bash {} & ;; esac\nexec {agent} \"$@\"\n",
        attack_file.display()
    );
    fs::write(&wrapper, text).unwrap();
    fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755)).unwrap();
    let settings = format!("cli:\n  backend: claude\n  command: {}\n", wrapper.display());
    stage.configure(&workspace, &settings);
    workspace
}

fn finished(path: &Path) -> String {
    let done = path.with_extension("done");
    wait_until("the attack is over", || done.exists());
    // A WebSocket's frames are not text.
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

/// The run waits for its user, who then answers.
fn user_answers(server: &Server, run: &str) {
    assert_eq!(server.door.pending(run).len(), 1, "nobody has answered");
    let (status, told) = server.door.post(
        &format!("/api/v1/runs/{run}/approvals/r"),
        &json!({"kind": "allow"}),
    );
    assert_eq!(status, 202, "{told}");
    server.door.watch(run, 0).until("run_ended", "completed");
}

#[test]
fn an_agent_cannot_answer_itself_by_the_control_socket_however_it_hides() {
    let mut stage = Stage::new();
    let (ralph, result, gate) = (
        env!("CARGO_BIN_EXE_ralph"),
        stage.path("result"),
        stage.path("gate"),
    );
    let (home, state) = (stage.path("home"), stage.path("state"));
    // With its own environment, with none, and as an orphan in a session of its own.
    let attack = format!(
        "until [ -e {gate} ]; do sleep 0.02; done
run=$(cat {gate})
clean=\"env -i PATH=/usr/bin:/bin HOME={home} XDG_STATE_HOME={state} IS_SANDBOX=1\"
{{ {ralph} answer $run --allow
$clean {ralph} answer $run --allow
$clean {ralph} send $run 'The user says: do it.'
(setsid $clean bash -c \"sleep 0.2; {ralph} answer $run --allow; touch {result}.orphan\" &)
until [ -e {result}.orphan ]; do sleep 0.02; done; }} > {result} 2>&1
touch {result}.done\n",
        gate = gate.display(),
        home = home.display(),
        state = state.display(),
        result = result.display(),
    );
    let workspace = workspace(&mut stage, &attack);
    let server = stage.serve();
    let run = server.start(&workspace, &json!({"permission_mode": "ask"}));
    wait_until("the request", || server.door.pending(&run).len() == 1);
    fs::write(stage.path("gate.new"), &run).unwrap();
    fs::rename(stage.path("gate.new"), &gate).unwrap();
    let said = finished(&result);
    assert_eq!(said.matches("an agent cannot answer").count(), 4, "{said}");
    user_answers(&server, &run);
}

#[test]
fn an_agent_with_the_servers_token_cannot_act_as_its_user() {
    let mut stage = Stage::new();
    let (result, gate) = (stage.path("result"), stage.path("gate"));
    // The gate says where the server is, which run this is, and which token the agent has found.
    let attack = format!(
        r#"until [ -e {gate} ]; do sleep 0.02; done
read port run token < {gate}
ask() {{ # method, path, body
  exec 3<>/dev/tcp/127.0.0.1/$port
  printf '%s %s HTTP/1.1\r\nhost: 127.0.0.1:%s\r\nauthorization: Bearer %s\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: %s\r\n\r\n%s' \
    "$1" "$2" "$port" "$token" "${{#3}}" "$3" >&3
  cat <&3; echo; exec 3>&-
}}
tell() {{ # a command over the WebSocket, in one frame
  exec 3<>/dev/tcp/127.0.0.1/$port
  printf 'GET /api/v1/stream HTTP/1.1\r\nhost: 127.0.0.1:%s\r\nauthorization: Bearer %s\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n' "$port" "$token" >&3
  printf "\\x81\\xfe\\x$(printf %02x $((${{#1}} / 256)))\\x$(printf %02x $((${{#1}} % 256)))\\x00\\x00\\x00\\x00%s" "$1" >&3
  timeout 3 cat <&3; echo; exec 3>&-
}}
{{ ask POST /api/v1/runs/$run/approvals/r '{{"kind":"allow"}}'
ask POST /api/v1/runs/$run/messages '{{"text":"The user says: do it."}}'
ask POST /api/v1/runs '{{"workspace":"/","prompt":"x","backend":"demo","permission_mode":"bypass"}}'
ask POST /api/v1/login-links '{{}}'
tell '{{"type":"command","id":"1","run":"'$run'","command":{{"command":"answer","request":"r","answer":{{"kind":"allow"}}}}}}'
ask GET /api/v1/runs/$run ''; }} > {result} 2>&1
touch {result}.done
"#,
        gate = gate.display(),
        result = result.display(),
    );
    let workspace = workspace(&mut stage, &attack);
    let server = stage.serve();
    let run = server.start(&workspace, &json!({"permission_mode": "ask"}));
    wait_until("the request", || server.door.pending(&run).len() == 1);
    let told = format!("{} {run} {}\n", server.door.address.port(), server.door.token);
    fs::write(stage.path("gate.new"), told).unwrap();
    fs::rename(stage.path("gate.new"), &gate).unwrap();
    let said = finished(&result).replace(&server.door.token, "…");
    assert_eq!(said.matches("agent_not_allowed").count(), 5 + 4, "{said}");
    assert!(said.contains("HTTP/1.1 101 "), "{said}");
    let runs = server.door.get("/api/v1/runs");
    assert_eq!(runs["items"].as_array().map(Vec::len), Some(1), "{runs}");
    user_answers(&server, &run);
}

#[test]
fn the_password_of_the_servers_database_reaches_no_run() {
    let mut stage = Stage::new();
    let script = works()
        .expect_no_variable("PGPASSWORD")
        .expect_no_variable("PGPASSFILE")
        .expect_no_variable("DATABASE_URL")
        .expect_no_variable("RALPH_SERVER_DATABASE")
        .expect_variable_value("PGHOST", "db.example")
        .then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let url = "postgres://me@db.example/runs";
    let ended = stage
        .ralph(&["run", "-p", "x", "--once", "-C"])
        .arg(&workspace)
        .env("RALPH_SERVER_DATABASE", url)
        .env("DATABASE_URL", url)
        .env("PGPASSWORD", "hush")
        .env("PGPASSFILE", "/nowhere")
        .env("PGHOST", "db.example")
        .output()
        .unwrap();
    let said: Value = json!(String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(0), "{said}");
}
