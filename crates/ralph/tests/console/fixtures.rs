//! What the real CLI wrote, as a person sees it.

use std::collections::BTreeMap;

use agent_api::{Body, Event, Outcome};
use ralph::console::{Mode, Options};
use ralph_run::EndReason;
use run_view::{is_forbidden, sanitise};
use test_support::fixtures::{self, Fixture};

use crate::gate::without_joined;
use crate::stage::{Stage, claude_events};

fn show(events: &[Event], options: Options) -> (String, String) {
    let mut stage = Stage::new(options);
    stage.begin(1);
    for event in events {
        stage.event(event.clone());
        stage.tick(120);
    }
    stage.end_attempt(Outcome::Succeeded);
    stage.end(EndReason::Completed, None);
    stage.finish()
}

/// The texts that hold in the end, in order, as lines of the console without its prefix.
fn texts(events: &[Event]) -> Vec<String> {
    let (mut texts, mut order) = (BTreeMap::new(), Vec::new());
    for event in events {
        match &event.body {
            Body::TextBlock(block) => {
                let known: &mut String = texts.entry(block.item.clone()).or_default();
                known.push_str(&block.text);
                if block.piece.index == 0 {
                    order.push((block.item.clone(), event.parent.is_some()));
                }
            }
            Body::ItemDiscarded(discarded) => order.retain(|(item, _)| *item != discarded.item),
            _ => {}
        }
    }
    let shown = order.into_iter().map(|(item, is_inner)| {
        let text = sanitise(&texts[&item]).trim().to_owned();
        if is_inner {
            text.replace('\n', "\n  ")
        } else {
            text
        }
    });
    shown.filter(|text| !text.is_empty()).collect()
}

fn name(fixture: &Fixture) -> String {
    format!("{}/{}", fixture.version, fixture.name)
}

#[test]
fn every_text_is_there_exactly_once_and_in_order() {
    let mut compared = 0;
    for fixture in fixtures::all().unwrap() {
        let events = claude_events(&fixture.bytes);
        let expected = texts(&events);
        let (out, _) = show(&events, Options::piped(Mode::Default));
        // Everything that is no text has a label, is a note or belongs to the summary.
        let mut rest = out.as_str();
        for text in &expected {
            let line = format!("Claude: {text}\n");
            let place = rest.find(&line);
            assert!(place.is_some(), "{}: {text} is not in {rest}", name(&fixture));
            rest = &rest[place.unwrap() + line.len()..];
            compared += 1;
        }
        // An answer that was cut or discarded is shown, too.
        let incomplete = out.matches("Claude: ").count() - expected.len();
        let notes = out.matches("(answer ").count();
        let has_partials = fixture
            .capture
            .arguments
            .iter()
            .any(|argument| argument.contains("partial"));
        assert!(
            incomplete <= notes + usize::from(has_partials),
            "{}: {out}",
            name(&fixture)
        );
    }
    assert!(compared >= 300, "{compared}");
}

#[test]
fn live_text_on_a_terminal_is_that_of_a_pipe() {
    for fixture in fixtures::all().unwrap() {
        let events = claude_events(&fixture.bytes);
        let (piped, _) = show(&events, Options::piped(Mode::Verbose));
        let terminal = Options {
            is_terminal: true,
            width: 200,
            ..Options::piped(Mode::Verbose)
        };
        let (live, _) = show(&events, terminal);
        let rows: usize = piped.lines().map(|line| 1 + line.len() / 100).sum();
        let mut screen = vt100::Parser::new(u16::try_from(rows + 2).unwrap(), 200, 0);
        screen.process(live.replace('\n', "\r\n").as_bytes());
        // A screen wraps where a pipe does not.
        let joined = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(
            joined(&screen.screen().contents()),
            joined(&piped),
            "{}",
            name(&fixture)
        );
    }
}

#[test]
fn nothing_forbidden_reaches_a_pipe() {
    for fixture in fixtures::all().unwrap() {
        let events = claude_events(&fixture.bytes);
        for mode in [Mode::Default, Mode::Verbose, Mode::Json] {
            let (out, err) = show(&events, Options::piped(mode));
            assert_eq!(
                without_joined(&out)
                    .chars()
                    .find(|character| is_forbidden(*character)),
                None,
                "{}",
                name(&fixture)
            );
            assert_eq!(
                err.chars().find(|character| is_forbidden(*character)),
                None,
                "{}",
                name(&fixture)
            );
        }
    }
}

#[test]
fn json_is_the_records_and_quiet_is_nothing() {
    for fixture in fixtures::all().unwrap() {
        let events = claude_events(&fixture.bytes);
        assert_eq!(show(&events, Options::piped(Mode::Quiet)), Default::default());
        let (out, err) = show(&events, Options::piped(Mode::Json));
        assert_eq!(err, "");
        let records: Vec<ralph_run::Record> = out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let told = records.into_iter().filter_map(|record| match record.event {
            ralph_run::RunEvent::Agent(event) => Some(event),
            ralph_run::RunEvent::Run(_) | ralph_run::RunEvent::Unknown(_) => None,
        });
        assert!(told.eq(events), "{}", name(&fixture));
    }
}
