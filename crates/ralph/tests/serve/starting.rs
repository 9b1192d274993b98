//! Where a server starts, and where it does not.

use crate::stage::Stage;

#[test]
fn a_second_server_on_the_same_data_is_told_who_has_it() {
    let stage = Stage::new();
    let server = stage.serve();
    let (code, said) = stage.refused(&["serve", "--port", "0"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&server.pid().to_string()), "{said}");
    let (status, _) = server.door.ask("GET", "/ready", None);
    assert_eq!(status, 200, "the first one goes on");
}

#[test]
fn a_port_that_is_taken_is_told() {
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
    let (code, said) = stage.refused(&["serve", "--port", "0", "--bind", "0.0.0.0"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--allow-remote"), "{said}");
}
