//! Pictures of the home screen.

use agent_api::{Body, ChangeKind, FileChange, ItemId, Piece, TextBlock, ToolFinished, ToolStatus};
use ralph_run::model::RunState;
use ralph_run::{EndReason, LimitKind, RunBody, RunEvent, Warned, WarningKind};
use ratatui::buffer::{Buffer, Cell};
use terminal_input::Key;

use super::{
    Clock, HomeScreen, agent, draw, ended, id, model, permission, press, run, screen, text_of, waiting,
    working,
};
use crate::input::RunSummary;
use crate::theme::ColorScheme;

const SIZES: [(u16, u16); 3] = [(60, 15), (80, 24), (200, 60)];

/// The text, and below it the colors of the first rows.
fn picture(buffer: &Buffer) -> String {
    let mut picture = text_of(buffer);
    let columns = usize::from(buffer.area.width);
    for (number, row) in buffer.content.chunks(columns).take(4).enumerate() {
        let mut spans = Vec::new();
        let mut start = 0;
        for part in row.chunk_by(|first, second| first.style() == second.style()) {
            let style = part.first().map(Cell::style).unwrap_or_default();
            if part.iter().any(|cell| cell.symbol() != " ") || !style.add_modifier.is_empty() {
                let fg = style.fg.map(|color| color.to_string()).unwrap_or_default();
                spans.push(format!("{start}:{fg} {:?}", style.add_modifier));
            }
            start += part.len();
        }
        picture.push_str(&format!("\nrow {number}: {}", spans.join(", ")));
    }
    picture
}

/// One that waits, one that works with warnings near its limit, one that reached its limit.
fn three() -> Vec<RunSummary> {
    let mut busy = working(2);
    busy.file.status.warnings = 2;
    busy.file.status.totals.cost = Some(agent_api::MicroUsd::new(8_700_000));
    let limit = EndReason::Limit(LimitKind::Cost).into();
    vec![waiting(1), busy, run(3, RunState::Ended { reason: limit })]
}

fn thousand() -> Vec<RunSummary> {
    (0..1_000)
        .map(|number| match number % 20 {
            0 if number < 100 => waiting(number),
            1 => working(number),
            _ => ended(number),
        })
        .collect()
}

fn preview() -> Box<ralph_run::model::RunModel> {
    let mut finished = ToolFinished::new(ItemId::new("t1"), ToolStatus::Completed);
    finished.changes = vec![
        FileChange::new(
            "/home/ada/project-1/src/parser.rs",
            ChangeKind::Modified,
            Some("@@ -1 +1,2 @@\n-a\n+b\n+c".into()),
        ),
        FileChange::new("/home/ada/project-1/tests/parser.rs", ChangeKind::Added, None),
    ];
    let text = TextBlock {
        item: ItemId::new("b1"),
        text: "The parser drops the last line.\n\nI will run the tests before I change anything else.".into(),
        piece: Piece::WHOLE,
        is_aborted: false,
    };
    let warned = Warned::new(WarningKind::CostNearLimit, "80% of the cost limit is used");
    model([
        agent(Body::ToolFinished(Box::new(finished))),
        agent(Body::TextBlock(text)),
        RunEvent::Run(RunBody::Warned(warned)),
        agent(Body::PermissionRequested(Box::new(permission("cargo test")))),
    ])
}

fn assert_pictures(name: &str, make: impl Fn(Clock) -> HomeScreen) {
    for (columns, rows) in SIZES {
        for (scheme, word) in [(ColorScheme::Dark, "dark"), (ColorScheme::Light, "light")] {
            let clock = Clock::new();
            let mut screen = make(clock);
            let (buffer, cursor) = draw(&mut screen, (columns, rows), scheme, clock.now);
            if let Some(cursor) = cursor {
                assert!(buffer.area.contains(cursor));
            }
            insta::assert_snapshot!(format!("{name}_{columns}x{rows}_{word}"), picture(&buffer));
        }
    }
}

#[test]
fn without_runs_the_screen_says_how_to_start_one() {
    assert_pictures("no_runs", |clock| {
        let mut screen = screen(Vec::new(), clock);
        screen.set_unreadable(2);
        screen
    });
}

#[test]
fn three_runs_at_every_size() {
    assert_pictures("three_runs", |clock| {
        let mut screen = screen(three(), clock);
        screen.set_preview(&id(1), preview(), clock.now);
        screen
    });
}

#[test]
fn a_thousand_runs_at_every_size() {
    assert_pictures("thousand_runs", |clock| {
        let mut screen = screen(thousand(), clock);
        press(&mut screen, "Gkk", clock);
        screen
    });
}

#[test]
fn lost_and_suspended_runs_are_called_so() {
    let clock = Clock::new();
    let (mut lost, mut suspended) = (working(1), waiting(2));
    (lost.is_lost, suspended.is_suspended) = (true, true);
    let mut screen = screen(vec![lost, suspended, ended(3)], clock);
    let (buffer, _) = draw(&mut screen, (80, 15), ColorScheme::None, clock.now);
    insta::assert_snapshot!(text_of(&buffer));
}

#[test]
fn a_request_is_below_the_list() {
    assert_pictures("request", |clock| {
        let mut screen = screen(three(), clock);
        let asked = super::asking(permission("cargo test\nrm -rf target"));
        screen.set_preview(&id(1), asked, clock.now);
        press(&mut screen, "y", clock);
        screen
    });
}

#[test]
fn the_form_for_a_new_run_at_every_size() {
    assert_pictures("new_run", |clock| {
        let mut screen = screen(three(), clock);
        press(&mut screen, "cFix the parser", clock);
        screen.key(&Key::Control('s'), clock.now);
        let names: Vec<String> = (1..=30).map(|number| format!("agent-{number}")).collect();
        let reason = format!("`backend` must be one of {}", names.join(", "));
        screen.started(Err(reason), true);
        screen
    });
}

#[test]
fn the_question_before_a_run_is_stopped_at_every_size() {
    assert_pictures("stop", |clock| {
        let mut screen = screen(three(), clock);
        press(&mut screen, "js", clock);
        screen
    });
}

#[test]
fn the_filter_at_every_size() {
    assert_pictures("filter", |clock| {
        let mut screen = screen(three(), clock);
        press(&mut screen, "\t/Task", clock);
        screen
    });
}

#[test]
fn a_picture_formats_only_rows_in_view() {
    let clock = Clock::new();
    let mut screen = screen(thousand(), clock);
    for (columns, rows) in SIZES {
        screen.formatted_rows = 0;
        draw(&mut screen, (columns, rows), ColorScheme::Dark, clock.now);
        // Without the heading, the heads of the columns and the footer.
        assert_eq!(screen.formatted_rows, usize::from(rows) - 3);
    }
}

#[test]
fn a_key_that_moves_the_cursor_and_its_frame_do_not_look_at_all_runs() {
    let clock = Clock::new();
    let mut screen = screen(thousand(), clock);
    screen.list.scans = 0;
    for key in [
        Key::Down,
        Key::Up,
        Key::PageDown,
        Key::PageUp,
        Key::End,
        Key::Home,
        Key::Character('j'),
    ] {
        screen.key(&key, clock.now);
        draw(&mut screen, (200, 60), ColorScheme::Dark, clock.now);
    }
    assert_eq!(screen.list.scans, 0);
}
