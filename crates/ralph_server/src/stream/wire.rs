//! What is said on the WebSocket, as TypeScript types for the web page.

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};

use agent_api::{PermissionRequested, PlanProposed, QuestionAsked};
use ralph_run::Record;
use ralph_store::{ApprovalKind, RunSummary};
use serde::{Deserialize, Serialize};
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
        records: Vec<Record>,
    },
    /// What has changed of the runs that go on.
    Runs {
        version: u64,
        /// Whether these are all; otherwise they are the ones that have changed.
        is_all: bool,
        runs: Vec<RunSummary>,
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
    data: Option<ApprovalData>,
}

/// What somebody has to decide.
#[derive(Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(untagged)]
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
        Some("agent_api") => "agent",
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
