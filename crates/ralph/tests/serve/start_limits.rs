//! What a token may start, and who is said to have started it, with the built program.

use serde_json::json;

use crate::client::Door;
use crate::stage::{Server, Stage, is_done, works};

/// The server as the holder of a new token meets it.
fn door(stage: &Stage, server: &Server, more: &[&str]) -> Door {
    let args = [&["token", "create", "ci", "--scope", "start"][..], more].concat();
    let made = stage.ralph(&args).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    Door {
        address: server.door.address,
        token: String::from_utf8(made.stdout).unwrap().trim().to_owned(),
    }
}

#[test]
fn a_run_has_the_ceiling_of_its_token_and_names_it() {
    let mut stage = Stage::new();
    let workspace = stage.workspace("workspace", &works().then(is_done()));
    let outside = stage.path("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, workspace.join("link")).unwrap();
    let server = stage.serve();
    let limits = ["--workspace", workspace.to_str().unwrap(), "--max-run-cost", "2"];
    let ci = door(&stage, &server, &limits);
    let wanted = json!({"workspace": workspace, "prompt": "Do it.", "once": true});
    let (status, run) = ci.post("/api/v1/runs", &wanted);
    assert_eq!((status, &run["started_by"]), (201, &json!("token ci")), "{run}");
    assert_eq!(run["max_cost_micro_usd"], 2_000_000);
    let id = run["id"].as_str().unwrap();
    server.door.watch(id, 0).until("run_ended", "reason");
    assert_eq!(stage.journal(id)[0]["event"]["data"]["by"], "token ci");
    assert_eq!(stage.run_file(id)["by"], "token ci");
    let shown = stage.ralph(&["show", id]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("Started by   token ci\n"), "{shown}");
    for place in [outside.clone(), workspace.join("link")] {
        let wanted = json!({"workspace": place, "prompt": "x"});
        let (status, told) = ci.post("/api/v1/runs", &wanted);
        assert_eq!(
            (status, &told["code"]),
            (403, &json!("workspace_not_allowed")),
            "{told}"
        );
    }
}

#[test]
fn an_agent_whose_cost_nobody_knows_is_not_started_with_a_ceiling() {
    let stage = Stage::new();
    let workspace = stage.path("workspace");
    std::fs::create_dir(&workspace).unwrap();
    stage.configure(&workspace, "cli:\n  backend: custom\n  command: cat\n");
    let server = stage.serve();
    let ci = door(&stage, &server, &["--max-run-cost", "2"]);
    let (status, told) = ci.post("/api/v1/runs", &json!({"workspace": workspace, "prompt": "x"}));
    assert_eq!((status, &told["code"]), (422, &json!("unprocessable")), "{told}");
    assert_eq!(told["errors"][0]["pointer"], "/limits/cost_micro_usd", "{told}");
}

#[test]
fn a_limit_of_the_workspace_below_the_ceiling_stays() {
    let mut stage = Stage::new();
    let workspace = stage.workspace("workspace", &works().then(is_done()));
    let settings = std::fs::read_to_string(workspace.join("ralph.yml")).unwrap();
    stage.configure(
        &workspace,
        &format!("{settings}event_loop:\n  max_cost_usd: 0.5\n"),
    );
    let server = stage.serve_by(stage.ralph(&["serve", "--port", "0", "--max-run-cost", "2"]));
    let run = server.start(&workspace, &json!({}));
    assert_eq!(stage.journal(&run)[0]["event"]["data"]["max_cost"], 500_000);
    let limits = json!({"cost_micro_usd": 3_000_000});
    let wanted = json!({"workspace": workspace, "prompt": "x", "limits": limits});
    let (status, told) = server.door.post("/api/v1/runs", &wanted);
    assert_eq!((status, &told["code"]), (403, &json!("cost_ceiling")), "{told}");
}

#[test]
fn a_server_whose_limits_make_no_sense_does_not_start() {
    let stage = Stage::new();
    for (args, said) in [
        (["--workspace", "/nowhere"], "/nowhere"),
        (["--max-day-cost", "0"], "`--max-day-cost` must be more than 0"),
    ] {
        let (code, told) = stage.refused(&[&["serve", "--port", "0"][..], &args].concat());
        assert_eq!(code, Some(78), "{told}");
        assert!(told.contains(said), "{told}");
    }
}
