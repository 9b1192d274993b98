//! Where a server starts, and where it does not.

use serde_json::json;
use test_support::wait_until;

use crate::stage::{Stage, works};

#[test]
fn a_second_server_on_the_same_data_names_the_first() {
    let stage = Stage::new();
    let server = stage.serve();
    let (code, said) = stage.refused(&["serve", "--port", "0"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&server.pid().to_string()), "{said}");
    let (status, _) = server.door.ask("GET", "/ready", None);
    assert_eq!(status, 200, "the first one goes on");
}

#[test]
fn a_second_server_on_the_same_port_leads_to_the_first() {
    let stage = Stage::new();
    let server = stage.serve();
    let port = server.door.address.port().to_string();
    for more in [&[][..], &["--open"]] {
        let output = stage
            .ralph(&["serve", "--port", &port])
            .args(more)
            // Nothing that could open a browser.
            .env("PATH", stage.path("home"))
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}{told}");
        assert!(
            said.starts_with(&format!(
                "a server is already listening on http://{}\n",
                server.door.address
            )),
            "{said}"
        );
        let link = said.trim_end().rsplit(' ').next().unwrap();
        let path = link
            .strip_prefix(&format!("http://{}", server.door.address))
            .unwrap();
        assert!(!said.contains(&server.door.token) && !told.contains(&server.door.token));
        let code = path.strip_prefix("/login#code=").unwrap();
        let login = json!({"code": code});
        assert_eq!(
            server.door.ask("POST", "/api/v1/login", Some(&login)).0,
            201,
            "{link}"
        );
        assert_eq!(
            server.door.ask("POST", "/api/v1/login", Some(&login)).0,
            401,
            "it works once"
        );
        assert_eq!(
            told.contains("open the address yourself"),
            !more.is_empty(),
            "{told}"
        );
    }
    let (status, _) = server.door.ask("GET", "/ready", None);
    assert_eq!(status, 200, "the first one goes on");
}

#[test]
fn a_server_of_another_user_is_not_used_and_gets_no_secret() {
    let stage = Stage::new();
    let server = stage.serve();
    let address = server.door.address;
    server.kill();
    // Somebody else is quick to take the port.
    let taken = std::net::TcpListener::bind(address).unwrap();
    let (code, said) = stage.refused(&["serve", "--port", &address.port().to_string()]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("is taken"), "{said}");
    taken.set_nonblocking(true).unwrap();
    let nobody = taken.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_port_that_is_taken_is_reported() {
    let stage = Stage::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, said) = stage.refused(&["serve", "--port", &port]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("port {port} is taken")), "{said}");
}

#[test]
fn other_machines_are_let_in_only_if_that_is_said() {
    let stage = Stage::new();
    let remote = ["serve", "--port", "0", "--bind", "0.0.0.0"];
    let (code, said) = stage.refused(&remote);
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("--allow-remote"), "{said}");
    // What earlier versions only warned about.
    let (code, said) = stage.refused(&[&remote[..], &["--allow-remote"]].concat());
    assert_eq!(code, Some(78), "{said}");
    assert!(
        said.contains("--tls-cert FILE --tls-key FILE") && said.contains("--behind-proxy"),
        "{said}"
    );
}

#[test]
fn a_certificate_that_cannot_be_used_is_reported_before_anything_starts() {
    let stage = Stage::new();
    let absent = stage.path("absent.pem");
    let absent = absent.to_str().unwrap();
    let tls = ["serve", "--port", "0", "--tls-cert", absent, "--tls-key", absent];
    let (code, said) = stage.refused(&tls);
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains(absent) && said.contains("`--tls-cert`"), "{said}");
    assert_eq!(said.trim().lines().count(), 1, "{said}");
    let (code, said) = stage.refused(&tls[..5]);
    assert_eq!(code, Some(64), "{said}");
    assert!(said.contains("--tls-key"), "{said}");
}

#[test]
fn an_agent_that_cannot_ask_is_started_unless_somebody_wants_it_to() {
    let stage = Stage::new();
    let server = stage.serve();
    let workspace = stage.path("workspace");
    std::fs::create_dir(&workspace).unwrap();
    stage.configure(&workspace, "cli:\n  backend: custom\n  command: cat\n");
    let run = server.start(&workspace, &json!({}));
    let mut watching = server.door.watch(&run, 0);
    watching.until("run_ended", "reason");
    // Who asked for the run is gone by now: what was left out stands in the run.
    watching.until("warned", "does not support permission requests: ignored");
    let wanted = json!({"workspace": workspace, "prompt": "x", "once": true, "permission_mode": "ask"});
    let (status, told) = server.door.post("/api/v1/runs", &wanted);
    assert_eq!((status, &told["code"]), (422, &json!("unprocessable")), "{told}");
    let backends = server.door.get("/api/v1/backends");
    let of = |name: &str| {
        let items = backends["items"].as_array().unwrap();
        items.iter().find(|item| item["name"] == name).unwrap().clone()
    };
    assert_eq!(of("claude_code")["permission_modes"][0], "ask");
    let places = server.door.get("/api/v1/workspaces");
    let place = &places["items"][0];
    assert_eq!(place["path"], workspace.to_string_lossy().as_ref());
    assert_eq!(
        (&place["is_there"], &place["last_run"]),
        (&json!(true), &json!(run))
    );
}

#[test]
fn a_server_has_as_many_files_open_as_it_may_and_says_if_that_is_few() {
    let stage = Stage::new();
    let serve = |limits: &str| {
        let program = env!("CARGO_BIN_EXE_ralph");
        let mut command = stage.command("/bin/sh");
        command.args(["-c", &format!("{limits}; exec {program} serve --port 0 2>said")]);
        let server = stage.serve_by(command);
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max open files"))
            .unwrap();
        let soft = line.split_whitespace().nth(3).unwrap().to_owned();
        assert!(server.terminate().success());
        let said = std::fs::read_to_string(stage.path("home").join("said")).unwrap();
        (soft, said.contains("only 1000 files can be open"))
    };
    assert_eq!(
        serve("ulimit -Sn 256; ulimit -Hn 5000"),
        ("5000".to_owned(), false)
    );
    assert_eq!(
        serve("ulimit -Sn 256; ulimit -Hn 1000"),
        ("1000".to_owned(), true)
    );
}

#[test]
fn a_state_path_too_long_for_a_socket_does_not_keep_runs_from_starting() {
    let mut stage = Stage::in_state(&"a-very-long-name".repeat(8));
    let workspace = stage.workspace("workspace", &works().sleep_forever());
    let server = stage.serve();
    let run = server.start(&workspace, &json!({}));
    let (status, answer) = server.door.post(&format!("/api/v1/runs/{run}/stop"), &json!({}));
    assert_eq!(status, 202, "{answer}");
    wait_until("the end of the run", || {
        stage.run_file(&run)["reason"] == "stopped"
    });
}

#[test]
fn a_prompt_with_a_secret_is_refused_by_the_server() {
    let stage = Stage::new();
    let server = stage.serve();
    let workspace = stage.path("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let prompt = format!("push with ghp_{}", "a1B2c3D4e5".repeat(4));
    let wanted = json!({"workspace": workspace, "prompt": prompt, "backend": "demo"});
    let (status, told) = server.door.post("/api/v1/runs", &wanted);
    assert_eq!((status, &told["code"]), (422, &json!("unprocessable")), "{told}");
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.contains("a secret of kind `github` (line 1)"), "{told}");
}
