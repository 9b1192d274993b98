//! What is said on the WebSocket, as TypeScript types for the web page.

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};

use agent_api::{PermissionRequested, PlanProposed, QuestionAsked};
use ralph_run::Record;
use ralph_store::{ApprovalKind, RunSummary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::{Config, Dependency, TS, TypeVisitor};

use super::protocol::{FromClient, ToClient};
use super::wire_layout::declaration;

const NOTE: &str = "// Made from the Rust code, and held against it by a test of ralph_server: see CONTRIBUTING.md. Do not edit.\n";

/// Everything the server says.
#[derive(TS)]
#[ts(untagged, rename = "ToClient")]
#[expect(dead_code, reason = "only its shape is wanted")]
enum Message {
    ToOne(#[ts(inline)] ToClient<'static>),
    ToMany(#[ts(inline)] ToMany),
}

/// What is encoded once for everybody: the shapes of what `live` writes. A test holds them against that.
#[derive(Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ToMany {
    /// Records of a run that follow each other.
    Records {
        run: String,
        epoch: String,
        /// The first record it stands for. Who has the one before has missed nothing.
        from: u64,
        /// The last one.
        to: u64,
        /// Pieces of text may be joined, or left out where their block follows.
        #[ts(as = "Vec<Record>")]
        records: Vec<Value>,
    },
    /// What has changed of the runs that go on.
    Runs {
        version: u64,
        /// Whether these are all; otherwise they are the ones that have changed.
        is_all: bool,
        runs: Vec<RunSummary>,
    },
    /// The fields that have changed of the runs that go on: for clients of version 2 of the protocol. A field that is here
    /// replaces the one that was told before. A run that was not told of before has all of them.
    RunsChanged {
        version: u64,
        /// Runs that were deleted. They are to be forgotten first; `runs` comes after that.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<String>>")]
        removed: Vec<String>,
        #[ts(type = "Array<{ id: string } & Partial<RunSummary>>")]
        runs: Vec<Map<String, Value>>,
    },
    /// Everything that waits for an answer, the oldest first.
    Inbox {
        version: u64,
        /// How many there are; the first of them are told.
        count: usize,
        approvals: Vec<Approval>,
    },
}

/// Something that waits for an answer.
#[derive(Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
struct Approval {
    run: String,
    request: String,
    kind: ApprovalKind,
    seq: u64,
    #[ts(type = "string")]
    asked_at: jiff::Timestamp,
    /// None if there is too much of it: the API has it.
    #[ts(as = "Option<ApprovalData>")]
    data: Option<Value>,
}

/// What somebody has to decide.
#[derive(TS)]
#[ts(untagged)]
#[expect(dead_code, reason = "only its shape is wanted")]
enum ApprovalData {
    Permission(PermissionRequested),
    Question(QuestionAsked),
    Plan(PlanProposed),
}

/// The types by the names of their files.
#[must_use]
pub fn typescript() -> BTreeMap<&'static str, String> {
    let mut types = Types {
        config: Config::new().with_large_int("number"),
        known: BTreeSet::new(),
        files: BTreeMap::new(),
    };
    types.visit::<Message>();
    types.visit::<FromClient>();
    let index = types
        .files
        .keys()
        .map(|file| format!("export * from './{file}';\n"));
    let index = format!("{NOTE}{}", index.collect::<String>());
    let homes: BTreeMap<String, &str> = (types.files.iter())
        .flat_map(|(file, types)| types.iter().map(|one| (one.name.clone(), *file)))
        .collect();
    let mut texts: BTreeMap<_, _> = (types.files.iter())
        .map(|(file, types)| (file_name(file), written(file, types, &homes)))
        .collect();
    texts.insert("index.ts", index);
    texts
}

struct Types {
    config: Config,
    known: BTreeSet<&'static str>,
    files: BTreeMap<&'static str, Vec<Declared>>,
}

struct Declared {
    name: String,
    text: String,
    needs: Vec<Dependency>,
}

impl TypeVisitor for Types {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_none() || !self.known.insert(type_name::<T>()) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let declared = Declared {
            name: T::ident(&self.config),
            text: declaration(&docs, &T::decl(&self.config)),
            needs: T::dependencies(&self.config),
        };
        let file = self.files.entry(home(type_name::<T>())).or_default();
        // By name, because the order in which types name each other is another one with each build.
        let place = file.partition_point(|other| other.name < declared.name);
        file.insert(place, declared);
        T::visit_dependencies(self);
    }
}

/// The file of a type, by the crate it is of.
fn home(type_name: &str) -> &'static str {
    match type_name.split("::").next() {
        Some("agent_api" | "agent_client") => "agent",
        Some("ralph_run") => "run",
        _ => "stream",
    }
}

fn file_name(file: &str) -> &'static str {
    match file {
        "agent" => "agent.ts",
        "run" => "run.ts",
        _ => "stream.ts",
    }
}

fn written(file: &str, types: &[Declared], homes: &BTreeMap<String, &str>) -> String {
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for need in types.iter().flat_map(|one| &one.needs) {
        match homes.get(&need.ts_name) {
            Some(home) if *home != file => {
                imports.entry(home).or_default().insert(&need.ts_name);
            }
            _ => {}
        }
    }
    let mut text = NOTE.to_owned();
    for (home, names) in imports {
        let names: Vec<_> = names.into_iter().collect();
        text.push_str(&format!(
            "import type {{ {} }} from './{home}';\n",
            names.join(", ")
        ));
    }
    for one in types {
        text.push('\n');
        text.push_str(&one.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use ralph_run::ports::Place;
    use ralph_store::{ApprovalKind, ApprovalRow, ApprovalState, RunSummary};
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use super::ToMany;
    use crate::live::{Board, Frame, Inbox, InboxReader, RunsForm};

    /// What is sent reads as its shape, and the shape says all of it.
    #[track_caller]
    fn fits(sent: &str) -> ToMany {
        let shape: ToMany = serde_json::from_str(sent).unwrap();
        let sent: Value = serde_json::from_str(sent).unwrap();
        assert_eq!(serde_json::to_value(&shape).unwrap(), sent);
        shape
    }

    #[test]
    fn the_list_of_runs_is_sent_as_the_types_say() {
        let run: RunSummary = serde_json::from_value(json!({
            "id": "r", "epoch": "e", "kind": "loop", "workspace": "/w", "backend": "demo", "display_name": "Demo",
            "title": "x", "started_at": "2026-11-16T00:00:00Z", "updated_at": "2026-11-16T00:00:01Z",
            "activity": {"state": "tool", "name": "Bash"}, "iteration": 1, "attempt": 1, "totals": {},
            "session_ids": [], "pending": 0, "errors": 0, "head_seq": 9
        }))
        .unwrap();
        let board = Board::default();
        board.update(&run);
        board.tick();
        let told = |version, form| {
            let (texts, _) = board.since(version, form);
            texts.iter().map(|text| fits(text)).collect::<Vec<_>>()
        };
        let runs = |version, is_all| ToMany::Runs {
            version,
            is_all,
            runs: vec![run.clone()],
        };
        for form in [RunsForm::Whole, RunsForm::Patches] {
            assert_eq!(told(None, form), [runs(1, true)]);
        }
        assert_eq!(told(Some(0), RunsForm::Whole), [runs(1, false)]);
        let fields = serde_json::to_value(&run).unwrap().as_object().unwrap().clone();
        let changed = ToMany::RunsChanged {
            version: 1,
            removed: vec![],
            runs: vec![fields],
        };
        assert_eq!(told(Some(0), RunsForm::Patches), [changed]);
    }

    #[test]
    fn what_waits_is_sent_as_the_types_say() {
        let asked = [
            (
                ApprovalKind::Permission,
                json!({"request": "a", "tool": "Bash", "kind": "execute", "input": {"command": "ls"}}),
            ),
            (
                ApprovalKind::Question,
                json!({"request": "b", "questions": [{"text": "Why?", "options": [{"label": "So"}]}]}),
            ),
            (ApprovalKind::Plan, json!({"request": "c", "plan": "# Do it"})),
        ];
        let inbox = Inbox::default();
        for (kind, data) in &asked {
            inbox.update(&ApprovalRow {
                run: "r".to_owned(),
                request: data["request"].to_string(),
                kind: *kind,
                seq: 3,
                asked_at: Timestamp::UNIX_EPOCH,
                data: to_raw_value(data).unwrap(),
                state: ApprovalState::Pending,
                closed_at: None,
            });
        }
        inbox.tick();
        let text = inbox.news(&mut InboxReader::default(), None);
        let ToMany::Inbox { approvals, .. } = fits(&text.unwrap()) else {
            panic!("no inbox");
        };
        let told = approvals
            .into_iter()
            .map(|approval| (approval.kind, approval.data.unwrap()));
        assert_eq!(told.collect::<Vec<_>>(), asked);
    }

    #[test]
    fn records_are_sent_as_the_types_say() {
        let record = json!({
            "seq": 4, "at": "2026-11-16T00:00:00Z", "iteration": 1, "attempt": 1,
            "event": {"agent_kind": "demo", "type": "text_block", "data": {"item": "i", "text": "x"}},
        });
        let frame = Frame::new(
            "r",
            "e",
            (3, 4),
            (Place::START, Place::START),
            &[record.to_string()],
        );
        let expected = ToMany::Records {
            run: "r".to_owned(),
            epoch: "e".to_owned(),
            from: 3,
            to: 4,
            records: vec![record],
        };
        assert_eq!(fits(&frame.text), expected);
    }
}
