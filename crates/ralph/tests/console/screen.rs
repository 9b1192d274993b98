//! What is on the screen, after every single write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ralph::console::{Mode, Options};

use crate::stage::{Stage, delta, text, tool};
use crate::story::play;
use agent_api::{
    Body, ContextUse, Cost, CostSource, MicroUsd, Part, RunUsage, Tokens, ToolKind, Usage, UsageScope,
};

const SPINNER: &str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

pub(crate) struct Screen {
    parser: vt100::Parser,
    width: u16,
}

impl Screen {
    pub(crate) fn new(rows: u16, width: u16) -> Self {
        Self {
            parser: vt100::Parser::new(rows, width, 0),
            width,
        }
    }

    /// As a terminal in its usual mode does it.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        self.parser.process(text.replace('\n', "\r\n").as_bytes());
    }

    pub(crate) fn rows(&self) -> Vec<String> {
        let rows = self
            .parser
            .screen()
            .rows(0, self.width)
            .map(|row| row.trim_end().to_owned());
        let mut rows: Vec<String> = rows.collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

pub(crate) fn terminal(width: u16) -> Options {
    Options {
        is_terminal: true,
        has_colours: true,
        width: usize::from(width),
        ..Options::piped(Mode::Default)
    }
}

fn is_status(row: &str) -> bool {
    row.starts_with(|first| SPINNER.contains(first))
}

#[test]
fn the_status_line_is_always_the_last_one_and_never_left_behind() {
    for width in [40, 80, 200] {
        let mut stage = Stage::new(terminal(width));
        play(&mut stage);
        let mut screen = Screen::new(300, width);
        let mut statuses = 0;
        for write in stage.out.writes() {
            screen.write(&write);
            let rows = screen.rows();
            let places: Vec<usize> = (0..rows.len()).filter(|place| is_status(&rows[*place])).collect();
            assert!(places.len() <= 1, "{rows:#?}");
            assert!(places.iter().all(|place| *place + 1 == rows.len()), "{rows:#?}");
            statuses += places.len();
        }
        assert!(statuses > 20, "{statuses}");
        stage.console.finish();
        assert!(!screen.rows().iter().any(|row| is_status(row)));
    }
}

#[test]
fn every_update_is_one_write_that_leaves_no_gap() {
    let mut stage = Stage::new(terminal(80));
    stage.begin(50);
    stage.tick(100);
    let writes = |stage: &Stage| stage.out.writes().len();
    let before = writes(&stage);
    stage.agent(tool("1", "Bash", ToolKind::Execute, "cargo test"));
    stage.tick(1_000);
    assert_eq!(writes(&stage), before + 1);
    // The status line is drawn again in the same write.
    let last = String::from_utf8(stage.out.writes().pop().unwrap()).unwrap();
    assert!(
        last.starts_with("\u{1b}[J") && last.contains("[Tool]") && last.contains(" · Bash 1s: cargo test"),
        "{last:?}"
    );
    // It moves once per second and not more often.
    for _ in 0..10 {
        stage.tick(100);
    }
    assert_eq!(writes(&stage), before + 2);
}

#[test]
fn a_clock_that_is_set_back_does_not_stop_the_status_line() {
    let mut stage = Stage::new(terminal(80));
    stage.begin(50);
    stage.tick(1_000);
    stage.tick(-3_600_000);
    stage.agent(text("1", "Still here."));
    let before = stage.out.writes().len();
    stage.tick(1_000);
    stage.tick(1_000);
    assert_eq!(stage.out.writes().len(), before + 2);
}

#[test]
fn the_status_line_fits_a_terminal_that_becomes_narrower() {
    let (mut stage, width) = (Stage::new(terminal(200)), Arc::new(AtomicUsize::new(200)));
    let measured = Arc::clone(&width);
    stage.console = stage
        .console
        .with_width(move || Some(measured.load(Ordering::Relaxed)));
    stage.begin(50);
    let long = "x".repeat(300);
    stage.agent(tool("1", "Bash", ToolKind::Execute, &long));
    stage.tick(100);
    width.store(60, Ordering::Relaxed);
    stage.tick(100);
    let mut screen = Screen::new(10, 60);
    screen.write(&stage.out.writes().pop().unwrap());
    assert_eq!(screen.rows().len(), 1, "{:#?}", screen.rows());
}

#[test]
fn the_cost_is_estimated_until_the_agent_reports_it() {
    let mut stage = Stage::new(terminal(80));
    stage.begin(50);
    let mut usage = Usage {
        scope: UsageScope::Step,
        tokens: Tokens::default(),
        cost: None,
        model: Some("claude-sonnet-4-5-20250929".to_owned()),
        context: None,
        run: RunUsage {
            tokens: Tokens {
                output: 100_000,
                ..Tokens::default()
            },
            cost: None,
            is_partial: true,
            may_include_earlier_runs: false,
        },
    };
    let shown = |stage: &mut Stage| {
        stage.tick(100);
        String::from_utf8(stage.out.writes().pop().unwrap()).unwrap()
    };
    stage.agent(Body::Usage(Box::new(usage.clone())));
    let status = shown(&mut stage);
    assert!(status.contains(" · ~$1.50 of $10.00 · "), "{status}");
    usage.run.is_partial = false;
    usage.run.cost = Some(Cost {
        micro_usd: MicroUsd::new(1_490_000),
        source: CostSource::Reported,
    });
    stage.agent(Body::Usage(Box::new(usage)));
    let status = shown(&mut stage);
    assert!(status.contains(" · $1.49 of $10.00 · "), "{status}");
}

#[test]
fn the_cost_includes_earlier_runs_of_the_task_and_the_context_has_the_size_of_its_model() {
    let mut stage = Stage::new(terminal(100));
    stage.begin_after(Some(MicroUsd::new(4_000_000)), 50);
    let usage = Usage {
        scope: UsageScope::Step,
        tokens: Tokens::default(),
        cost: None,
        model: Some("claude-sonnet-4-5-20250929".to_owned()),
        context: Some(ContextUse {
            used: 50_000,
            size: None,
        }),
        run: RunUsage {
            cost: Some(Cost::reported(MicroUsd::new(1_490_000))),
            ..RunUsage::default()
        },
    };
    stage.agent(Body::Usage(Box::new(usage.clone())));
    stage.subagent(
        "task",
        Body::Usage(Box::new(Usage {
            context: Some(ContextUse {
                used: 1_000,
                size: Some(200_000),
            }),
            ..usage
        })),
    );
    stage.tick(100);
    let status = String::from_utf8(stage.out.writes().pop().unwrap()).unwrap();
    assert!(status.contains(" · $5.49 of $10.00 · context 25% · "), "{status}");
}

#[test]
fn the_final_screen_reads_like_the_run() {
    let mut stage = Stage::new(terminal(80));
    play(&mut stage);
    let mut screen = Screen::new(100, 80);
    stage.out.writes().iter().for_each(|write| screen.write(write));
    insta::assert_snapshot!(screen.rows().join("\n"));
}

#[test]
fn a_narrow_terminal_cuts_what_has_one_line() {
    let mut stage = Stage::new(terminal(40));
    play(&mut stage);
    let mut screen = Screen::new(120, 40);
    stage.out.writes().iter().for_each(|write| screen.write(write));
    insta::assert_snapshot!(screen.rows().join("\n"));
}

#[test]
fn text_appears_as_it_comes_and_is_not_repeated() {
    let mut stage = Stage::new(terminal(80));
    stage.begin(1);
    let mut screen = Screen::new(10, 80);
    let mut seen = 0;
    let mut look = |stage: &Stage| {
        let writes = stage.out.writes();
        writes[seen..].iter().for_each(|write| screen.write(write));
        seen = writes.len();
        let mut rows = screen.rows();
        // The status line is always there, also below a line that is not finished.
        assert!(rows.pop().is_some_and(|row| is_status(&row)));
        rows
    };
    stage.tick(100);
    assert!(look(&stage).is_empty());
    stage.agent(delta("1", Part::Text, "Hel"));
    stage.tick(500);
    assert_eq!(look(&stage), ["Claude: Hel"]);
    stage.agent(delta("1", Part::Text, "lo\u{1b}"));
    stage.agent(delta("1", Part::Text, "[31m world\n"));
    assert_eq!(look(&stage), ["Claude: Hello world"]);
    stage.agent(delta("2", Part::Text, "Second"));
    assert_eq!(look(&stage), ["Claude: Hello world"]);
    stage.agent(text("1", "Hello\u{1b}[31m world\nBye"));
    assert_eq!(look(&stage), ["Claude: Hello world", "Bye", "Claude: Second"]);
    stage.agent(text("2", "Something else"));
    stage.tick(500);
    assert_eq!(
        look(&stage),
        [
            "Claude: Hello world",
            "Bye",
            "Claude: Second",
            "Claude: Something else"
        ]
    );
}

/// A stream that stalls in the middle of a line is when the status line is needed most.
#[test]
fn the_status_line_moves_below_an_unfinished_line_of_any_length() {
    for unit in ["a", "ab ", "漢", "a漢", "👩\u{200d}💻", "e\u{301}"] {
        for width in [20, 60, 80, 120] {
            for length in 1..3 * width {
                let rows = if length % 2 == 0 { 12 } else { 4 };
                let said: String = unit.chars().cycle().take(length).collect();
                let said = said.trim_end().trim_end_matches('\u{200d}').to_owned();
                frozen_stream_shows_a_moving_clock(&said, rows, width);
            }
        }
    }
}

fn frozen_stream_shows_a_moving_clock(said: &str, rows: u16, width: usize) {
    let columns = u16::try_from(width).unwrap();
    let (mut stage, mut screen) = (Stage::new(terminal(columns)), Screen::new(rows, columns));
    stage.begin(1);
    stage.tick(1_000);
    stage.agent(delta("1", Part::Text, said));
    let mut statuses = Vec::new();
    let mut seen = 0;
    let joined = |text: &str| text.split_whitespace().collect::<String>();
    let told = joined(&format!("Claude: {said}"));
    for _ in 0..3 {
        stage.tick(1_000);
        let writes = stage.out.writes();
        writes[seen..].iter().for_each(|write| screen.write(write));
        seen = writes.len();
        let mut shown = screen.rows();
        let status = shown.pop().unwrap();
        assert!(is_status(&status), "{said:?} {width}: {shown:#?} {status}");
        statuses.push(status);
        assert!(
            told.ends_with(&joined(&shown.concat())),
            "{said:?} {width}: {shown:#?}"
        );
    }
    statuses.dedup();
    assert_eq!(statuses.len(), 3, "{statuses:#?}");
    // The text continues where it was.
    stage.agent(delta("1", Part::Text, "!\nnext"));
    stage.out.writes()[seen..]
        .iter()
        .for_each(|write| screen.write(write));
    let mut shown = screen.rows();
    assert!(is_status(&shown.pop().unwrap()), "{said:?} {width}: {shown:#?}");
    assert_eq!(shown.pop().unwrap(), "next");
    assert!(
        format!("{told}!").ends_with(&joined(&shown.concat())),
        "{said:?} {width}: {shown:#?}"
    );
}

#[test]
fn a_streamed_answer_costs_the_terminal_at_most_three_times_its_text() {
    let sentence = "The quick brown fox runs `cargo test` and finds **three** bugs.\n\n- one\n- two\n\n```\nlet x = 1;\n```\n";
    let answer = sentence.repeat(64 * 1_024 / sentence.len() + 1);
    for size in [3, 7, 40] {
        let mut stage = Stage::new(terminal(80));
        stage.begin(50);
        stage.tick(1_000);
        let before = stage.out.bytes().len();
        let characters: Vec<char> = answer.chars().collect();
        for piece in characters.chunks(size) {
            stage.agent(delta("1", Part::Text, &piece.iter().collect::<String>()));
            stage.tick(20);
        }
        let written = stage.out.bytes().len() - before;
        assert!(
            written <= 3 * answer.len(),
            "{size}: {written} bytes for {}",
            answer.len()
        );
    }
}

#[test]
fn a_resized_terminal_keeps_no_stale_status_line() {
    for said in ["Hello", "Hello\n"] {
        let (mut stage, width) = (Stage::new(terminal(60)), Arc::new(AtomicUsize::new(60)));
        let measured = Arc::clone(&width);
        stage.console = stage
            .console
            .with_width(move || Some(measured.load(Ordering::Relaxed)));
        let mut screen = Screen::new(10, 60);
        stage.begin(50);
        stage.agent(tool("1", "Bash", ToolKind::Execute, &"x".repeat(100)));
        stage.agent(delta("1", Part::Text, said));
        let mut seen = 0;
        for columns in [60, 40, 100, 60] {
            width.store(columns, Ordering::Relaxed);
            screen.width = u16::try_from(columns).unwrap();
            screen.parser.screen_mut().set_size(10, screen.width);
            stage.tick(1_000);
            let writes = stage.out.writes();
            writes[seen..].iter().for_each(|write| screen.write(write));
            seen = writes.len();
            let rows = screen.rows();
            let statuses = rows.iter().filter(|row| is_status(row)).count();
            assert_eq!(statuses, 1, "{columns}: {rows:#?}");
            assert!(is_status(rows.last().unwrap()), "{columns}: {rows:#?}");
            assert!(rows.contains(&"Claude: Hello".to_owned()), "{columns}: {rows:#?}");
        }
    }
}
