//! `docs/contract.md` says what the code does, as far as a test can tell.
#![expect(
    clippy::unwrap_used,
    reason = "a page that cannot be read has to fail the test"
)]

use std::collections::BTreeSet;

use agent_api::backends::claude_code::ClaudeCode;
use agent_api::backends::custom::Custom;
use agent_api::{Backend, Body, Event, bounds};
use demo_agent::{Demo, SPEED_EXTENSION};

const PAGE: &str = include_str!("../../../docs/contract.md");
const CAPABILITIES: &str = include_str!("../src/capability.rs");

/// The cells of all rows of a section's tables, without heads.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let section = PAGE.split(&format!("\n## {heading}\n")).nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// The words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn assert_all_quoted<'a>(names: impl IntoIterator<Item = &'a str>) {
    let all: BTreeSet<&str> = quoted(PAGE).collect();
    let missing: Vec<&str> = names.into_iter().filter(|name| !all.contains(name)).collect();
    assert!(missing.is_empty(), "docs/contract.md lacks {missing:?}");
}

fn capability_ids() -> Vec<&'static str> {
    let ids: Vec<&str> = CAPABILITIES
        .split('"')
        .filter(|text| text.starts_with("agent_api."))
        .collect();
    assert!(ids.len() >= 20, "found only {ids:?}");
    ids
}

fn with_separators(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn every_kind_of_event_is_in_the_contract() {
    assert_all_quoted(Body::NAMES.iter().copied());
    let shown: Vec<&str> = rows("Events")
        .into_iter()
        .flat_map(|row| quoted(row[0]))
        .collect();
    let shown: BTreeSet<&str> = shown.into_iter().collect();
    assert_eq!(shown, Body::NAMES.iter().copied().collect());
}

#[test]
fn the_event_in_the_contract_is_one() {
    let example = PAGE.split("```json\n").nth(1).unwrap().lines().next().unwrap();
    let event: Event = serde_json::from_str(example).unwrap();
    assert_eq!(serde_json::to_string(&event).unwrap(), example);
}

#[test]
fn the_contract_says_which_backend_can_do_what() {
    let backends: [Box<dyn Backend>; 3] = [
        Box::new(ClaudeCode::new()),
        Box::new(Demo::program("", [""; 0])),
        Box::new(Custom::new("", [""; 0])),
    ];
    let rows = rows("Capabilities");
    let shown: Vec<&str> = rows.iter().flat_map(|row| quoted(row[0])).collect();
    assert_eq!(shown, capability_ids(), "left: docs/contract.md, right: the code");
    for row in rows {
        let id = row[0].trim_matches('`');
        for (backend, cell) in backends.iter().zip(&row[2..]) {
            let profile = backend.profile();
            let is_shown = *cell == "yes";
            assert_eq!(is_shown, profile.has(id), "`{id}` of `{}`", profile.kind);
        }
    }
}

#[test]
fn every_extension_key_is_in_the_contract() {
    let keys = BTreeSet::from([SPEED_EXTENSION]);
    let rows = rows("Requests");
    let shown: BTreeSet<&str> = rows.iter().flat_map(|row| quoted(row[0])).collect();
    assert_eq!(shown, keys, "left: docs/contract.md, right: the code");
}

#[test]
fn every_bound_is_in_the_contract() {
    let section = PAGE.split("\n## Bounds\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let numbers = [
        bounds::TEXT_BYTES,
        bounds::MESSAGE_BYTES,
        bounds::JSON_BYTES,
        bounds::SESSION_ID_BYTES,
        bounds::LIST_ENTRIES,
        bounds::CHANNEL_EVENTS,
        bounds::FINAL_TEXT_BYTES,
    ];
    for number in numbers {
        let number = with_separators(number);
        let is_shown = section.contains(&format!("| {number} "));
        assert!(is_shown, "docs/contract.md does not name the bound {number}");
    }
}

#[test]
fn an_output_is_cut_where_the_contract_says() {
    let (output, _) = bounds::cut_output("x".repeat(bounds::TEXT_BYTES + 1));
    let mut kept = output.split(|c: char| c != 'x').filter(|part| part.len() > 1);
    let head = with_separators(kept.next().unwrap().len());
    let tail = with_separators(kept.next().unwrap().len());
    let cut = format!("the first {head} and the last {tail} stay");
    assert!(PAGE.contains(&cut), "{cut}");
}

/// Names that must exist: the compiler looks at each.
macro_rules! names {
    (traits: $($of_trait:path),+; types: $($of_type:ty),+; values: $($value:path),+ $(,)?) => {{
        $( let _ = std::marker::PhantomData::<dyn $of_trait>; )+
        $( let _ = std::marker::PhantomData::<$of_type>; )+
        $( let _ = $value; )+
        [$(stringify!($of_trait)),+, $(stringify!($of_type)),+, $(stringify!($value)),+].map(|name| name.replace(' ', ""))
    }};
}

#[test]
fn every_name_that_stands_for_one_of_the_source_documents_exists() {
    let existing = names! {
        traits: agent_api::Backend, agent_api::Mapper;
        types: agent_api::Body,
            agent_api::Completed,
            agent_api::Event,
            agent_api::Events,
            agent_api::Finished,
            agent_api::AgentRegistry,
            agent_api::Launch,
            agent_api::Profile,
            agent_api::RunHandle,
            agent_api::RunOptions,
            agent_api::backends::claude_code::ClaudeMapper,
            agent_api::backends::custom::TextMapper,
            agent_process::Process,
            agent_process::StdoutMode,
            claude_code::Event,
            claude_code::Handle,
            claude_code::Kind,
            claude_code::Request,
            claude_code::Response;
        values: agent_api::Body::Delta,
            agent_api::Body::Error,
            agent_api::Body::Finished,
            agent_api::Body::TextBlock,
            agent_api::Body::ToolFinished,
            agent_api::Body::ToolStarted,
            agent_api::Body::TurnFinished,
            agent_api::AgentRegistry::run,
            agent_api::Profile::has,
            agent_process::spawn,
            claude_code::Client::print_stream_json,
            claude_code::Client::run,
            claude_code::parse_line,
    };
    let exists = |name: &str| existing.iter().any(|known| known == name);
    let rows = rows("Names in the source documents");
    assert!(rows.len() >= 19, "found only {} rows", rows.len());
    let named = rows.iter().flat_map(|row| quoted(row[1]));
    let unknown: Vec<&str> = named
        .filter(|name| name.contains("::") && !exists(name))
        .collect();
    assert!(unknown.is_empty(), "not known to this test: {unknown:?}");
}
