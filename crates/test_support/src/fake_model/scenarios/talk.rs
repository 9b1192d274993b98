//! Words, thoughts, and the ways in which a message can stop.

use super::table::Scenario;
use super::turn::Turn;
use crate::fake_model::message::{Answer, Block, Message, Usage};
use crate::fake_model::request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

pub(super) const SCENARIOS: &[(&str, Scenario)] = &[
    ("plain", |_| {
        [Block::text("Hello from the fake model. This is a plain answer.")].into()
    }),
    ("unicode", |_| {
        [Block::text("Unicode: é 漢字 🎉 \u{2028} separator, tab\t quote\" back\\slash newline\nline2 👩\u{200d}💻 end")].into()
    }),
    ("multitext", |_| {
        [
            Block::text("First text block."),
            Block::text("Second text block."),
        ]
        .into()
    }),
    ("empty", |_| Message::new([]).into()),
    ("thinking", thinking),
    ("redacted", |_| {
        let data = STANDARD.encode("redacted thinking").repeat(4);
        [
            Block::RedactedThinking { data },
            Block::text("Some thinking was redacted."),
        ]
        .into()
    }),
    ("bigtext", |turn| {
        let text = repeated("0123456789abcdef", turn.number_or(300_000));
        Message {
            delta_chars: 20_000,
            ..Message::new([Block::text(text)])
        }
        .into()
    }),
    ("chat", chat),
    ("refusal", |_| {
        Message::stopped_by([Block::text("I cannot")], "refusal").into()
    }),
    ("refusal_empty", |_| Message::stopped_by([], "refusal").into()),
    ("refuse_primary", |turn| {
        if turn.model().contains("opus") {
            return Message::stopped_by([Block::text("I cannot")], "refusal").into();
        }
        [Block::text(format!(
            "Answered by {} after a refusal.",
            turn.model()
        ))]
        .into()
    }),
    ("maxtokens", |turn| {
        if turn.step >= turn.number_or(usize::MAX) {
            return [Block::text("ens. Finished.")].into();
        }
        Message::stopped_by(
            [Block::text("This answer was cut off because of max_tok")],
            "max_tokens",
        )
        .into()
    }),
    ("pause_turn", |turn| {
        if turn.step == 0 {
            return Message::stopped_by([Block::text("Pausing.")], "pause_turn").into();
        }
        [Block::text("Resumed after pause_turn.")].into()
    }),
    ("ctxexceeded", |_| {
        Message::stopped_by([Block::text("Cut by window")], "model_context_window_exceeded").into()
    }),
    ("stopseq", |_| {
        Message::stopped_by([Block::text("Stopped at a sequence")], "stop_sequence").into()
    }),
    ("compactload", compact_load),
    ("generic", generic),
];

fn thinking(turn: &Turn<'_>) -> Answer {
    match turn.step {
        0 => [
            Block::thinking("Let me think about this step by step. First, the greeting."),
            Block::text("I thought, then I'll run a tool."),
            super::turn::bash("echo thought", "Echo"),
        ]
        .into(),
        _ => [
            Block::thinking("Now I can finish."),
            Block::text("Done thinking."),
        ]
        .into(),
    }
}

/// Says what it sees, so that a test can tell which conversation was resumed.
fn chat(turn: &Turn<'_>) -> Answer {
    let seen: Vec<String> = request::user_texts(turn.request)
        .iter()
        .map(|text| text.chars().take(60).collect())
        .collect();
    let count = request::message_count(turn.request);
    [Block::text(format!(
        "Turn reply. I can see {count} messages; user texts: {seen:?}"
    ))]
    .into()
}

/// Claims so many tokens that the CLI compacts its conversation.
fn compact_load(turn: &Turn<'_>) -> Answer {
    let usage = |input, output| {
        Some(Usage {
            input,
            output,
            cache_creation: 0,
            cache_read: 0,
        })
    };
    if turn.step == 0 {
        let blocks = [
            Block::text("Using lots of tokens."),
            super::turn::bash("echo step0", "First step"),
        ];
        return Message {
            usage: usage(turn.number_or(180_000) as u64, 500),
            ..Message::new(blocks)
        }
        .into();
    }
    Message {
        usage: usage(1000, 50),
        ..Message::new([Block::text("After the heavy step.")])
    }
    .into()
}

/// Plays the messages in the argument, see [`crate::fake_model::scripted_prompt`].
fn generic(turn: &Turn<'_>) -> Answer {
    let decode = || -> Option<Vec<Vec<Block>>> {
        let json = String::from_utf8(STANDARD.decode(turn.argument?).ok()?).ok()?;
        // The directory is text inside JSON strings.
        let directory = Value::from(turn.directory).to_string();
        serde_json::from_str(&json.replace("{cwd}", directory.trim_matches('"'))).ok()
    };
    let Some(steps) = decode() else {
        return [Block::text("The script is not base64 of JSON blocks.")].into();
    };
    let blocks = steps.into_iter().nth(turn.step);
    blocks.map_or_else(
        || [Block::text("Generic done.")].into(),
        |blocks| Message::new(blocks).into(),
    )
}

pub(super) fn repeated(pattern: &str, characters: usize) -> String {
    pattern.chars().cycle().take(characters).collect()
}
