//! What a token, and a server, may start.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use ralph_run::control::PermissionChoice;
use ralph_server::{NewToken, Scope, ServerStartLimits, StartLimits};
use serde_json::{Value, json};

use crate::client::Answer;
use crate::stage::{Gate, Stage, ended};

fn token(stage: &Stage, limits: StartLimits, workspaces: Vec<PathBuf>) -> String {
    stage.token_with(NewToken {
        name: "ci".to_owned(),
        scope: Scope::Start,
        workspaces,
        limits,
        expires_at: None,
    })
}

async fn post(stage: &Stage, bearer: &str, path: &str, body: &Value) -> Answer {
    let headers = [("authorization", bearer), ("content-type", "application/json")];
    stage.ask("POST", path, &headers, &body.to_string()).await
}

/// Asks for a run that has these fields more.
async fn start(stage: &Stage, bearer: &str, more: &Value) -> Answer {
    let mut body = json!({"workspace": stage.directory.path(), "prompt": "x"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    post(stage, bearer, "/api/v1/runs", &body).await
}

/// A stage whose runs stay live until they are ended.
async fn live_stage() -> Stage {
    with_live_runs(Stage::new().await)
}

fn with_live_runs(stage: Stage) -> Stage {
    *stage.launcher.runners.lock().unwrap() = Some(Vec::new());
    tokio::spawn(stage.app.live.clone().work());
    stage
}

/// The run ends now, after these events.
async fn end(stage: &Stage, id: &str, events: &[Value]) {
    let run = stage.home.run(id).unwrap();
    let journal = std::fs::read_to_string(run.journal()).unwrap();
    let mut file = OpenOptions::new().append(true).open(run.journal()).unwrap();
    for (index, event) in events.iter().chain([&ended()]).enumerate() {
        let seq = journal.lines().count() + index + 1;
        let record =
            json!({"seq": seq, "at": Timestamp::now(), "iteration": 1, "attempt": 1, "event": event});
        writeln!(file, "{record}").unwrap();
    }
    std::fs::remove_file(stage.home.state_directory().join("active").join(id)).unwrap();
    stage.index().await;
}

#[tokio::test]
async fn a_confined_token_starts_runs_below_its_directories_and_nowhere_else() {
    let stage = Stage::new().await;
    let root = stage.directory.path().canonicalize().unwrap();
    for name in ["a", "a/below", "b", "ab"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    let link =
        |target: &str, name: &str| std::os::unix::fs::symlink(root.join(target), root.join(name)).unwrap();
    link("ab", "a/out");
    link("b", "a/across");
    link("a", "in");
    let bearer = token(
        &stage,
        StartLimits::default(),
        vec![root.join("a"), root.join("b")],
    );
    for (asked, meant) in [
        ("a", "a"),
        ("a/below/..", "a"),
        ("a/across", "b"),
        ("in/below", "a/below"),
    ] {
        let answer = start(&stage, &bearer, &json!({"workspace": root.join(asked)})).await;
        assert_eq!(answer.status, 201, "{asked}: {answer:?}");
        let started = stage.launcher.started.lock().unwrap().pop().unwrap();
        assert_eq!(started.workspace, root.join(meant), "{asked}");
    }
    for asked in ["ab", "a/out", "a/../ab", "b/../../", "absent", "a/absent"] {
        let answer = start(&stage, &bearer, &json!({"workspace": root.join(asked)})).await;
        assert_eq!(answer.problem(), (403, "workspace_not_allowed".into()), "{asked}");
        let problem = answer.json();
        assert_eq!(problem["errors"][0]["pointer"], "/workspace");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(&format!(
            "`{}` or `{}`",
            root.join("a").display(),
            root.join("b").display()
        )));
    }
    // Whose conversation this is, nobody knows.
    let foreign = json!({"workspace": root.join("a"), "resume": {"session_id": "elsewhere"}});
    let answer = start(&stage, &bearer, &foreign).await;
    assert_eq!(answer.problem(), (403, "workspace_not_allowed".into()));
    assert!(stage.launcher.started.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_token_starts_runs_in_its_permission_modes_and_keeps_them_there() {
    let stage = Stage::new().await;
    let limits = StartLimits {
        permission_modes: vec![PermissionChoice::Plan, PermissionChoice::AcceptEdits],
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    for (fields, mode) in [
        (json!({}), PermissionChoice::Plan),
        (
            json!({"permission_mode": "accept_edits"}),
            PermissionChoice::AcceptEdits,
        ),
    ] {
        assert_eq!(start(&stage, &bearer, &fields).await.status, 201);
        let started = stage.launcher.started.lock().unwrap().pop().unwrap();
        assert_eq!(started.permission_mode, Some(mode));
        assert_eq!(started.by.as_deref(), Some("token ci"));
    }
    for (fields, pointer) in [
        (json!({"permission_mode": "bypass"}), "/permission_mode"),
        (json!({"permission_mode": "ask"}), "/permission_mode"),
        (json!({"allowed_tools": ["Bash"]}), "/allowed_tools"),
        (json!({"mode": "coder"}), "/mode"),
        (json!({"trust": {"kind": "trust", "digest": "x"}}), "/trust"),
    ] {
        let answer = start(&stage, &bearer, &fields).await;
        assert_eq!(
            answer.problem(),
            (403, "permission_mode_not_allowed".into()),
            "{fields}"
        );
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer);
    }
    let run = stage.run(&[]).await;
    let path = format!("/api/v1/runs/{}/permission-mode", run.id());
    let answer = post(&stage, &bearer, &path, &json!({"mode": "bypass"})).await;
    assert_eq!(answer.problem(), (403, "permission_mode_not_allowed".into()));
    // Another token, and the owner, are not limited.
    let answer = start(&stage, &stage.bearer(), &json!({"permission_mode": "bypass"})).await;
    assert_eq!(answer.status, 201);
}

#[tokio::test]
async fn a_token_has_as_many_live_runs_as_it_may_with_its_sessions_and_after_a_restart() {
    let stage = live_stage().await;
    let limits = StartLimits {
        max_live_runs: Some(2),
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    let login = json!({"token": &bearer["Bearer ".len()..]});
    let login = post(&stage, "", "/api/v1/login", &login).await;
    let session = format!("Bearer {}", login.json()["key"].as_str().unwrap());
    let first = start(&stage, &bearer, &json!({})).await;
    assert_eq!(first.status, 201, "{first:?}");
    assert_eq!(start(&stage, &session, &json!({})).await.status, 201);
    // Runs of others do not count.
    assert_eq!(start(&stage, &stage.bearer(), &json!({})).await.status, 201);
    let restarted = stage.beside().await;
    for (stage, bearer, of) in [
        (&stage, &bearer, "token ci"),
        (&restarted, &bearer, "token ci"),
        (&stage, &session, "session "),
    ] {
        let answer = start(stage, bearer, &json!({})).await;
        assert_eq!(answer.problem(), (409, "live_run_limit".into()));
        let limit = answer.json()["limit"].clone();
        assert_eq!(
            (&limit["name"], &limit["limit"], &limit["current"]),
            (&json!("max_live_runs"), &json!(2), &json!(2))
        );
        assert!(limit["of"].as_str().unwrap().starts_with(of), "{limit}");
    }
    end(&stage, first.json()["id"].as_str().unwrap(), &[]).await;
    assert_eq!(start(&stage, &bearer, &json!({})).await.status, 201);
}

#[tokio::test]
async fn starts_at_the_same_moment_do_not_pass_a_limit_together() {
    let stage = Arc::new(live_stage().await);
    let limits = StartLimits {
        max_live_runs: Some(3),
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    let starts: Vec<_> = (0..10)
        .map(|_| {
            let (stage, bearer) = (Arc::clone(&stage), bearer.clone());
            tokio::spawn(async move { start(&stage, &bearer, &json!({})).await.status })
        })
        .collect();
    let mut statuses = Vec::new();
    for start in starts {
        statuses.push(start.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 409, 409, 409, 409, 409, 409, 409]);
}

#[tokio::test]
async fn a_start_that_fails_does_not_count() {
    let stage = live_stage().await;
    let limits = StartLimits {
        max_live_runs: Some(1),
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    let refused = ralph_server::LaunchError::Busy {
        message: "busy".into(),
    };
    *stage.launcher.refuse.lock().unwrap() = Some(refused);
    for _ in 0..2 {
        assert_eq!(start(&stage, &bearer, &json!({})).await.problem().1, "busy");
    }
    *stage.launcher.refuse.lock().unwrap() = None;
    let answer = start(&stage, &bearer, &json!({})).await;
    assert_eq!(
        (answer.status, &answer.json()["started_by"]),
        (201, &json!("token ci"))
    );
}

#[tokio::test]
async fn a_run_costs_no_more_than_its_token_allows() {
    let stage = Stage::new().await;
    let limits = StartLimits {
        max_run_cost_micro_usd: Some(5_000_000),
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    for asked in [None, Some(5_000_000)] {
        let answer = start(&stage, &bearer, &json!({"limits": {"cost_micro_usd": asked}})).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let started = stage.launcher.started.lock().unwrap().pop().unwrap();
        assert_eq!(started.cost_ceiling_micro_usd, Some(5_000_000));
    }
    for asked in [0, 5_000_001] {
        let answer = start(&stage, &bearer, &json!({"limits": {"cost_micro_usd": asked}})).await;
        assert_eq!(answer.problem(), (403, "cost_ceiling".into()));
        let problem = answer.json();
        assert_eq!(problem["errors"][0]["pointer"], "/limits/cost_micro_usd");
        assert_eq!(problem["limit"]["name"], "max_run_cost_micro_usd");
        assert_eq!(problem["limit"]["limit"], 5_000_000);
    }
    // What a run may cost cannot be raised later, either.
    let run = stage.run(&[]).await;
    let path = format!("/api/v1/runs/{}/top-up", run.id());
    let answer = post(&stage, &bearer, &path, &json!({"cost_micro_usd": 1})).await;
    assert_eq!(answer.problem(), (403, "cost_ceiling".into()));
}

#[tokio::test]
async fn the_runs_of_a_day_cost_no_more_than_their_token_allows_live_ones_included() {
    let stage = live_stage().await;
    let limits = StartLimits {
        max_day_cost_micro_usd: Some(10_000_000),
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    let ceiling = || {
        stage
            .launcher
            .started
            .lock()
            .unwrap()
            .pop()
            .unwrap()
            .cost_ceiling_micro_usd
    };
    let wanted = json!({"limits": {"cost_micro_usd": 7_000_000}});
    let first = start(&stage, &bearer, &wanted).await;
    assert_eq!((first.status, ceiling()), (201, Some(10_000_000)));
    let answer = start(&stage, &bearer, &wanted).await;
    assert_eq!(answer.problem(), (403, "cost_ceiling".into()));
    let limit = answer.json()["limit"].clone();
    assert_eq!(
        (&limit["name"], &limit["limit"], &limit["current"]),
        (
            &json!("max_day_cost_micro_usd"),
            &json!(10_000_000),
            &json!(7_000_000)
        )
    );
    let second = start(&stage, &bearer, &json!({})).await;
    assert_eq!((second.status, ceiling()), (201, Some(3_000_000)));
    assert_eq!(
        start(&stage, &bearer, &json!({})).await.problem().1,
        "cost_ceiling"
    );
    // The first one has not used all that it might have.
    let used = json!({"agent_kind": "demo", "type": "usage", "data": {"scope": "step", "model": "m", "tokens": {},
        "run": {"tokens": {"input": 1}, "cost": {"micro_usd": 4_000_000, "source": "reported"}, "is_partial": true}}});
    end(&stage, first.json()["id"].as_str().unwrap(), &[used]).await;
    let third = start(&stage, &bearer, &json!({})).await;
    assert_eq!((third.status, ceiling()), (201, Some(3_000_000)), "{third:?}");
}

#[tokio::test]
async fn a_run_that_has_a_directory_and_no_records_yet_counts_with_what_it_may_cost() {
    let stage = live_stage().await;
    let limits = StartLimits {
        max_day_cost_micro_usd: Some(10_000_000),
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    let gate = Arc::new(Gate::default());
    *stage.launcher.occupied.lock().unwrap() = Some(stage.home.clone());
    *stage.launcher.gate.lock().unwrap() = Some(Arc::clone(&gate));
    let wanted = json!({"limits": {"cost_micro_usd": 7_000_000}});
    let second = async {
        gate.begun.notified().await;
        *stage.launcher.gate.lock().unwrap() = None;
        start(&stage, &bearer, &wanted).await
    };
    let answer = tokio::select! {
        answer = second => answer,
        first = start(&stage, &bearer, &wanted) => panic!("the first one is not ready yet: {first:?}"),
    };
    assert_eq!(answer.problem(), (403, "cost_ceiling".into()));
    assert_eq!(answer.json()["limit"]["current"], 7_000_000);
}

#[tokio::test]
async fn starts_of_one_token_take_none_from_another() {
    let stage = Stage::new().await;
    let limits = StartLimits {
        max_live_runs: Some(0),
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    let mut codes = Vec::new();
    for _ in 0..70 {
        codes.push(start(&stage, &bearer, &json!({})).await.status);
    }
    assert!(codes.contains(&409) && codes.contains(&429), "{codes:?}");
    assert_eq!(start(&stage, &stage.bearer(), &json!({})).await.status, 201);
}

#[tokio::test]
async fn the_limits_of_a_server_hold_for_its_owner_and_for_all_runs() {
    let place = tempfile::tempdir().unwrap();
    let stage = Stage::limited(ServerStartLimits {
        workspaces: vec![place.path().canonicalize().unwrap()],
        limits: StartLimits {
            permission_modes: vec![PermissionChoice::Ask],
            max_live_runs: Some(1),
            ..StartLimits::default()
        },
    })
    .await;
    let stage = with_live_runs(stage);
    let bearer = stage.bearer();
    assert_eq!(
        start(&stage, &bearer, &json!({})).await.problem().1,
        "workspace_not_allowed"
    );
    let inside = json!({"workspace": place.path()});
    let bypass = json!({"workspace": place.path(), "permission_mode": "bypass"});
    let answer = start(&stage, &bearer, &bypass).await;
    assert_eq!(answer.problem().1, "permission_mode_not_allowed");
    assert_eq!(start(&stage, &bearer, &inside).await.status, 201);
    let answer = start(&stage, &bearer, &inside).await;
    assert_eq!(answer.problem(), (409, "live_run_limit".into()));
    assert_eq!(answer.json()["limit"]["of"], "this server");
}

#[tokio::test]
async fn without_the_index_nobody_spends_more_than_a_day_allows() {
    let stage = live_stage().await;
    let limits = StartLimits {
        max_day_cost_micro_usd: Some(10_000_000),
        ..StartLimits::default()
    };
    let bearer = token(&stage, limits, Vec::new());
    stage.app.store.close().await.unwrap();
    let answer = start(&stage, &bearer, &json!({})).await;
    assert!(answer.status >= 500, "{answer:?}");
    assert!(stage.launcher.started.lock().unwrap().is_empty());
}
