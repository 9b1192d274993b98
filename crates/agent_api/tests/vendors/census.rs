//! Every line of every fixture has a home.

use std::collections::{BTreeMap, BTreeSet};

use agent_api::{Body, Event};

use crate::replay::Vendor;

#[test]
fn every_recorded_line_becomes_an_event_with_a_reference_into_the_raw_log() {
    let mut table: BTreeMap<&'static str, [usize; 3]> = BTreeMap::new();
    let mut homeless = Vec::new();
    let mut counts = [0; 3];
    for (column, vendor) in Vendor::ALL.into_iter().enumerate() {
        for fixture in vendor.fixtures() {
            let replayed = vendor.replay(&fixture.bytes);
            let told: BTreeSet<u64> = replayed
                .events
                .iter()
                .filter_map(|event| event.raw)
                .map(|raw| raw.line)
                .collect();
            for (index, line) in fixture.bytes.split(|byte| *byte == b'\n').enumerate() {
                let is_blank = line.trim_ascii().is_empty();
                counts[column] += usize::from(!is_blank);
                if !is_blank && !told.contains(&(index as u64 + 1)) {
                    homeless.push(format!("{vendor:?}/{} line {}", fixture.name, index + 1));
                }
            }
            for event in &replayed.events {
                table.entry(event.body.name()).or_default()[column] += 1;
                assert_eq!(event.agent_kind, vendor.kind());
                if let Some(raw) = event.raw {
                    let end = usize::try_from(raw.offset + raw.length).unwrap();
                    assert!(end <= fixture.bytes.len(), "{}: {raw:?}", fixture.name);
                }
            }
        }
    }
    println!("{:24} {:>6} {:>6} {:>6}", "", "codex", "gemini", "qwen");
    for (name, [codex, gemini, qwen]) in &table {
        println!("{name:24} {codex:6} {gemini:6} {qwen:6}");
    }
    println!("{:24} {:6} {:6} {:6}", "lines", counts[0], counts[1], counts[2]);
    println!("{:24} {:6}", "lines without an event", homeless.len());
    assert!(homeless.is_empty(), "lines without a home: {homeless:#?}");
    assert!(
        counts.iter().all(|count| *count > 80),
        "too few lines: {counts:?}"
    );
    for (name, columns) in [
        ("session_started", [true, true, true]),
        ("turn_started", [true, true, true]),
        ("turn_finished", [true, true, true]),
        ("text_block", [true, true, true]),
        ("tool_started", [true, true, true]),
        ("tool_finished", [true, true, true]),
        ("plan_updated", [true, true, true]),
        ("usage", [true, true, true]),
        ("delta", [false, true, true]),
        ("user_message", [false, true, false]),
        ("item_discarded", [false, true, false]),
        ("thinking_block", [true, false, true]),
        ("retry_scheduled", [true, false, true]),
        ("task_updated", [true, false, false]),
        ("notice", [true, false, false]),
        ("error", [true, true, false]),
    ] {
        let seen = table.get(name).copied().unwrap_or_default();
        for (is_expected, count) in columns.into_iter().zip(seen) {
            assert!(!is_expected || count > 0, "`{name}` is missing: {seen:?}");
        }
    }
}

#[test]
fn nothing_that_is_captured_is_unknown() {
    let mut unknown = BTreeSet::new();
    for vendor in Vendor::ALL {
        for fixture in vendor.fixtures() {
            for body in vendor.replay(&fixture.bytes).bodies() {
                if let Body::Unknown(what) = body {
                    unknown.insert(format!("{vendor:?}: {}", what.type_name));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_event_survives_json() {
    for vendor in Vendor::ALL {
        for fixture in vendor.fixtures() {
            for event in vendor.replay(&fixture.bytes).events {
                let text = serde_json::to_string(&event).unwrap();
                let read: Event = serde_json::from_str(&text).unwrap();
                assert_eq!(read, event, "{vendor:?}/{}: {text}", fixture.name);
            }
        }
    }
}
