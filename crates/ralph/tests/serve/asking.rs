//! What agents ask, and who answers.

use serde_json::json;
use test_support::wait_until;

use crate::stage::{Stage, answered, asks, is_done, works};

#[test]
fn two_clients_see_the_same_and_the_first_answer_counts() {
    let mut stage = Stage::new();
    let gate = stage.path("gate");
    let script = works()
        .emit(asks("p", "Bash", &json!({"command": "ls"})))
        .expect_line(answered("p"))
        .wait_for_file(&gate)
        .then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let server = stage.serve();
    let run = server.start(&workspace, &json!({}));
    wait_until("a request", || !server.door.pending(&run).is_empty());
    let listed = server.door.get("/api/v1/runs");
    assert_eq!(listed["items"][0]["id"], run.as_str());
    let mut clients = [server.door.watch(&run, 0), server.door.watch(&run, 0)];
    for client in &mut clients {
        client.until("permission_requested", "ls");
    }
    let path = format!("/api/v1/runs/{run}/approvals/p");
    let (status, receipt) = server.door.post(&path, &json!({"kind": "allow"}));
    assert_eq!(status, 202, "{receipt}");
    let (status, late) = server.door.post(&path, &json!({"kind": "deny", "reason": "no"}));
    assert_eq!(
        (status, &late["code"]),
        (409, &json!("already_answered")),
        "{late}"
    );
    std::fs::write(&gate, "").unwrap();
    for client in &mut clients {
        client.until("run_ended", "completed");
    }
    assert_eq!(clients[0].records, clients[1].records);
    assert_eq!(clients[0].records.first().unwrap()["seq"], 1);
    // The index comes a moment later than what is seen live.
    wait_until("no request", || server.door.pending(&run).is_empty());
}

#[test]
fn the_command_line_and_the_server_show_and_change_one_queue() {
    let mut stage = Stage::new();
    let gate = stage.path("gate");
    let script = works().wait_for_file(&gate).then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let server = stage.serve();
    let run = server.start(&workspace, &json!({}));
    wait_until("a journal", || !stage.journal(&run).is_empty());
    let ralph = |args: &[&str]| {
        let output = stage.ralph(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let mut ids = Vec::new();
    for text in ["one", "two"] {
        let message = json!({"text": text, "mode": "queue"});
        // Before the agent is there it hears nothing.
        wait_until("a message that is taken", || {
            let (status, receipt) = server
                .door
                .post(&format!("/api/v1/runs/{run}/messages"), &message);
            status == 202 && !receipt.is_null()
        });
        let listed: serde_json::Value = serde_json::from_str(&ralph(&["queue", &run, "--json"])).unwrap();
        let last = listed.as_array().unwrap().last().unwrap();
        ids.push(last["id"].as_str().unwrap().to_owned());
    }
    ralph(&["queue", "edit", &run, &ids[0], "uno"]);
    ralph(&["queue", "withdraw", &run, &ids[1]]);
    let listed: serde_json::Value = serde_json::from_str(&ralph(&["queue", &run, "--json"])).unwrap();
    assert_eq!(
        (&listed[0]["text"], &listed[0]["state"], &listed[1]["state"]),
        (&json!("uno"), &json!("queued"), &json!("withdrawn"))
    );
    // The index comes a moment later than the journal.
    wait_until("the queue", || {
        server.door.get(&format!("/api/v1/runs/{run}/queue"))["items"] == listed
    });
    std::fs::write(&gate, "").unwrap();
}

#[test]
fn questions_and_plans_wait_for_a_person_in_every_permission_mode() {
    let mut stage = Stage::new();
    let server = stage.serve();
    let questions = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Blue", "description": "b"}, {"label": "Red", "description": "r"}]}]});
    for mode in ["ask", "accept_edits", "plan", "refuse", "bypass"] {
        let is_answered = stage.path(&format!("answered-{mode}"));
        let script = works()
            .emit(asks("q", "AskUserQuestion", &questions))
            .emit(asks("p", "ExitPlanMode", &json!({"plan": "# Plan"})))
            .expect_line(json!({"type": "control_request", "request": {"subtype": "set_permission_mode"}}))
            .expect_line(answered("q"))
            .create_file(&is_answered)
            .expect_line(answered("p"))
            .then(is_done());
        let workspace = stage.workspace(mode, &script);
        let run = server.start(&workspace, &json!({"permission_mode": mode}));
        wait_until("two requests", || server.door.pending(&run).len() == 2);
        let path = format!("/api/v1/runs/{run}/permission-mode");
        let (status, told) = server.door.post(&path, &json!({"mode": "bypass"}));
        assert_eq!(status, 202, "{mode}: {told}");
        assert_eq!(server.door.pending(&run).len(), 2, "{mode}: nobody has answered");
        assert!(!is_answered.exists(), "{mode}");
        for (request, answer) in [
            ("q", json!({"kind": "answers", "answers": ["Blue"]})),
            ("p", json!({"kind": "allow"})),
        ] {
            let path = format!("/api/v1/runs/{run}/approvals/{request}");
            let (status, told) = server.door.post(&path, &answer);
            assert_eq!(status, 202, "{mode}, {request}: {told}");
        }
        let mut watching = server.door.watch(&run, 0);
        watching.until("run_ended", "completed");
        assert!(is_answered.exists(), "{mode}");
    }
}
