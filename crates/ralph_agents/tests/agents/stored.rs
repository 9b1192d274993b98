//! Agents on disk.

use std::fs;

use jiff::Timestamp;
use ralph_agents::{
    Agent, AgentEvent, AgentName, AgentRecord, AgentRole, AgentStore, Desired, StartCount, Storage,
    StoreError,
};
use ralph_run::{Durability, Home};
use tempfile::TempDir;

use crate::world::agent;

fn store() -> (TempDir, AgentStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = AgentStore::new(Home::new(folder.path().join("state"), None));
    (folder, store)
}

fn name(name: &str) -> AgentName {
    name.parse().unwrap()
}

fn counted(run: &str) -> AgentRecord {
    AgentRecord {
        at: Timestamp::UNIX_EPOCH,
        event: AgentEvent::StartCounted(StartCount {
            run: run.to_owned(),
            start_number: 1,
            task: None,
            resumes: None,
            why: String::new(),
        }),
    }
}

#[test]
fn an_agent_is_created_once_read_changed_and_deleted() {
    let (_folder, mut store) = store();
    assert!(store.names().unwrap().is_empty());
    let mut planner = agent("a");
    planner.role = AgentRole::Own("gardener".to_owned());
    store.create(&planner).unwrap();
    assert!(matches!(store.create(&planner), Err(StoreError::Taken(_))));
    assert_eq!(store.load(&name("a")).unwrap(), planner);
    let changed = store
        .update(&name("a"), |agent| agent.desired = Desired::Paused)
        .unwrap();
    assert_eq!(store.agents().unwrap()[0].agent.as_ref().unwrap(), &changed);
    store.delete(&name("a"), |_| false).unwrap();
    assert!(store.names().unwrap().is_empty());
    assert!(matches!(store.load(&name("a")), Err(StoreError::Unknown(_))));
    assert!(matches!(
        store.delete(&name("a"), |_| true),
        Err(StoreError::Unknown(_))
    ));
}

#[test]
fn an_agent_with_an_active_run_is_not_deleted() {
    let (_folder, mut store) = store();
    store.create(&agent("a")).unwrap();
    store
        .append(&name("a"), &counted("run-1"), Durability::Synced)
        .unwrap();
    let refused = store.delete(&name("a"), |run| {
        assert_eq!(run, "run-1");
        false
    });
    assert!(matches!(refused, Err(StoreError::Running(_))));
    store.delete(&name("a"), |_| true).unwrap();
}

#[test]
fn a_deletion_that_was_cut_off_does_not_lose_an_agent_at_work() {
    let (folder, mut store) = store();
    store.create(&agent("a")).unwrap();
    store
        .append(&name("a"), &counted("run-1"), Durability::Synced)
        .unwrap();
    let file = folder.path().join("state/agents/a/agent.json");
    fs::rename(&file, file.with_extension("json.deleting")).unwrap();
    let refused = store.create(&agent("a"));
    assert!(matches!(refused, Err(StoreError::Taken(_))), "{refused:?}");
    assert_eq!(store.load(&name("a")).unwrap().name, name("a"));
    assert_eq!(store.state(&name("a")).unwrap().run.unwrap().id, "run-1");
}

#[test]
fn an_agent_under_the_name_of_a_deleted_one_has_a_journal_of_its_own() {
    let (_folder, mut store) = store();
    store.create(&agent("a")).unwrap();
    store.agents().unwrap();
    store
        .append(&name("a"), &counted("run-1"), Durability::Synced)
        .unwrap();
    store.delete(&name("a"), |_| true).unwrap();
    let mut second = agent("a");
    second.id = "another".to_owned();
    store.create(&second).unwrap();
    store.agents().unwrap();
    assert_eq!(store.state(&name("a")).unwrap().run, None);
    store
        .append(&name("a"), &counted("run-2"), Durability::Synced)
        .unwrap();
    assert_eq!(store.state(&name("a")).unwrap().run.unwrap().id, "run-2");
}

#[test]
fn fields_of_a_newer_version_survive_a_change_and_a_newer_format_is_refused() {
    let (_folder, store) = store();
    store.create(&agent("a")).unwrap();
    let path = store.agent_file(&name("a"));
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    json["mood"] = "good".into();
    fs::write(&path, json.to_string()).unwrap();
    store.update(&name("a"), Agent::start).unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        (json["mood"].as_str(), json["start_number"].as_u64()),
        (Some("good"), Some(2))
    );
    json["version"] = 2.into();
    fs::write(&path, json.to_string()).unwrap();
    let refused = store.update(&name("a"), Agent::start).unwrap_err();
    assert!(refused.to_string().contains("update ralph"), "{refused}");
}

#[test]
fn a_damaged_file_is_reported_and_costs_no_other_agent() {
    let (_folder, mut store) = store();
    for one in ["a", "b"] {
        store.create(&agent(one)).unwrap();
    }
    fs::write(store.agent_file(&name("a")), "{\"version\":1").unwrap();
    let loaded = store.agents().unwrap();
    assert!(matches!(loaded[0].agent, Err(StoreError::Corrupt { .. })));
    assert!(loaded[1].agent.is_ok());
}

#[test]
fn a_hundred_changes_at_once_are_all_kept() {
    let (_folder, store) = store();
    store.create(&agent("a")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                for _ in 0..10 {
                    store.update(&name("a"), Agent::start).unwrap();
                }
            });
        }
    });
    assert_eq!(store.load(&name("a")).unwrap().start_number, 101);
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_what_agents_are_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, mut store) = store();
    store.create(&agent("a")).unwrap();
    store
        .append(&name("a"), &counted("run-1"), Durability::Synced)
        .unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.directory(&name("a"))), 0o700);
    assert_eq!(mode(store.agent_file(&name("a"))), 0o600);
    assert_eq!(mode(store.journal(&name("a"))), 0o600);
}
