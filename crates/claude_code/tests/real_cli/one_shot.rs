//! One prompt, one run: the same events whatever the child writes to.

use claude_code::event::{ResultSubtype, System};
use claude_code::{Event, Kind, PartialMessages, RunOptions};
use libtest_mimic::Trial;

use super::stage::{Stage, TRANSPORTS, gists, last_result, trial};

/// What must be seen in the events of a scenario.
type Check = fn(&[Event], i32);

struct Case {
    scenario: &'static str,
    name: &'static str,
    options: fn(&Stage) -> RunOptions,
    check: Check,
    /// Tools that run at once may finish in any order.
    any_order: bool,
}

impl Case {
    const fn new(scenario: &'static str, name: &'static str, check: Check) -> Self {
        Self {
            scenario,
            name,
            options: whole_messages,
            check,
            any_order: false,
        }
    }
}

fn whole_messages(stage: &Stage) -> RunOptions {
    stage.options().partial_messages(PartialMessages::Off)
}

fn succeeds(events: &[Event], code: i32) {
    assert!(last_result(events).is_success(), "{:?}", gists(events));
    assert_eq!(code, 0);
    assert!(
        events
            .iter()
            .all(|event| !matches!(event.kind(), Kind::Unknown { .. })),
        "{:?}",
        gists(events)
    );
}

fn says(events: &[Event], part: &str) {
    let gists = gists(events);
    assert!(
        gists.iter().any(|gist| gist.contains(part)),
        "no `{part}` in {gists:#?}"
    );
}

const CASES: &[Case] = &[
    Case::new("plain", "a_text", |events, code| {
        succeeds(events, code);
        says(events, "assistant text Hello from the fake model");
    }),
    Case::new("unicode", "text_of_many_bytes", |events, code| {
        succeeds(events, code);
        says(events, "漢字 🎉 \u{2028} sep");
    }),
    Case::new("bash", "a_tool", |events, code| {
        succeeds(events, code);
        says(events, "call Bash");
        says(events, "user result error=false");
    }),
    Case {
        any_order: true,
        ..Case::new("parallel", "parallel_tools", |events, code| {
            succeeds(events, code);
            says(events, "user result error=true");
        })
    },
    Case::new("thinking", "thinking", |events, code| {
        succeeds(events, code);
        says(events, "assistant thinking Let me think");
    }),
    Case {
        options: Stage::options,
        ..Case::new("thinking", "partial_messages", |events, code| {
            succeeds(events, code);
            says(events, "stream_event");
        })
    },
    Case::new("subagent", "a_subagent", |events, code| {
        succeeds(events, code);
        says(events, "call Agent");
        assert!(events.iter().any(|event| event.parent_tool_use_id().is_some()));
    }),
    Case::new("err400", "an_api_error", |events, code| {
        assert_eq!((last_result(events).is_error, code), (Some(true), 1));
        assert_eq!(last_result(events).api_error_status, Some(400));
    }),
    Case::new("flaky:529x1", "a_retried_api_error", |events, code| {
        succeeds(events, code);
        assert!(
            events
                .iter()
                .any(|event| matches!(event.kind(), Kind::System(System::ApiRetry(_))))
        );
    }),
    Case {
        options: |stage| {
            stage
                .options_with(claude_code::PermissionMode::Ask)
                .partial_messages(PartialMessages::Off)
        },
        ..Case::new("write", "a_denial", |events, code| {
            assert_eq!(code, 0);
            assert_eq!(last_result(events).permission_denials.len(), 1);
            let denied = |event: &Event| matches!(event.kind(), Kind::System(System::PermissionDenied(_)));
            assert!(events.iter().any(denied));
        })
    },
    Case {
        options: |stage| whole_messages(stage).max_turns(2),
        ..Case::new("loop", "a_limit_of_turns", |events, code| {
            assert_eq!(last_result(events).subtype, Some(ResultSubtype::ErrorMaxTurns));
            assert!(!last_result(events).is_success());
            assert_eq!(code, 1);
        })
    },
    Case {
        options: Stage::options,
        ..Case::new(
            "midstreamerr",
            "a_message_broken_in_mid_stream",
            |events, code| {
                succeeds(events, code);
                let mut collector = claude_code::reconcile::TextCollector::new();
                events.iter().for_each(|event| collector.apply(event));
                assert_eq!(
                    collector.text(),
                    "The second attempt worked.",
                    "the broken message's text is gone"
                );
            },
        )
    },
    Case::new("bigwrite:2097152", "lines_of_two_megabytes", |events, code| {
        succeeds(events, code);
        assert!(events.iter().any(|event| event.raw().len() > 2 * 1024 * 1024));
    }),
    Case {
        options: |stage| {
            let prompt = claude_code::SystemPrompt::Text("Be brief. ".repeat(20_000));
            whole_messages(stage).append_system_prompt(prompt)
        },
        ..Case::new("plain", "a_system_prompt_larger_than_an_argument", succeeds)
    },
];

pub(crate) fn trials() -> Vec<Trial> {
    let same = CASES.iter().map(|case| {
        trial(
            format!("{}_gives_the_same_events_over_every_transport", case.name),
            move |stage| async move {
                let mut expected: Option<Vec<String>> = None;
                for (transport, mode) in TRANSPORTS {
                    // A file that is there already is answered differently.
                    let _ = std::fs::remove_file(stage.workspace.path().join("bigwrite.txt"));
                    let log = stage.workspace.root().join(format!("{transport}.ndjson"));
                    let options = (case.options)(&stage).transport(mode).raw_log(&log);
                    let (events, code) = stage.play(case.scenario, options).await;
                    (case.check)(&events, code);
                    assert_logged(&events, &std::fs::read(log).unwrap());
                    let mut gists = gists(&events);
                    if case.any_order {
                        gists.sort();
                    }
                    match &expected {
                        None => expected = Some(gists),
                        Some(expected) => assert_eq!(&gists, expected, "over {transport}"),
                    }
                }
            },
        )
    });
    same.collect()
}

/// Every event is in the raw log, byte for byte, where it says it is.
fn assert_logged(events: &[Event], log: &[u8]) {
    for event in events {
        let start = usize::try_from(event.offset()).unwrap();
        assert_eq!(&log[start..start + event.raw().len()], event.raw().as_ref());
    }
}
