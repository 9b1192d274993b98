//! Untrusted text in every column, in the preview, in dialogs and in notices.

use std::sync::atomic::{AtomicUsize, Ordering};

use agent_api::{Body, ChangeKind, FileChange, ItemId, Piece, TextBlock, ToolFinished, ToolStatus};
use ralph_run::model::RunState;
use ralph_run::{RunBody, RunEvent, Warned, WarningKind};
use ratatui::buffer::Buffer;
use terminal_input::Key;

use super::{Clock, agent, draw, id, model, permission, press, screen, waiting, working};
use crate::hostile_texts::{assert_nothing_hostile, short_hostile_texts};
use crate::input::RunSummary;
use crate::theme::ColorScheme;

/// Those of every screen, giants among them.
fn texts() -> Vec<String> {
    let mut texts = short_hostile_texts();
    texts.push(String::new());
    texts.push("/a/very/long/path/that/never/ends/漢字漢字/\u{1b}[2J".to_owned());
    texts.push("/".repeat(46));
    texts.push("e\u{301}\u{302}\u{303}".repeat(500));
    texts.push("x".repeat(1_000_000));
    texts.push("/漢".repeat(5_000));
    texts
}

fn with_text(mut run: RunSummary, text: &str) -> RunSummary {
    let file = &mut run.file;
    file.task = Some(text.to_owned());
    file.prompt = text.to_owned();
    file.workspace = text.to_owned();
    file.display_name = text.to_owned();
    file.model = Some(text.to_owned());
    run
}

fn assert_safe(buffer: &Buffer, text: &str) {
    assert_nothing_hostile(buffer, buffer.area, text);
}

#[test]
fn nothing_forbidden_is_drawn_and_nothing_spills() {
    let texts = texts();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(text);
                }
            });
        }
    });
}

/// In the list, the preview, each dialog, each field and a notice.
fn check(text: &str) {
    let clock = Clock::new();
    let mut tool = with_text(working(2), text);
    tool.file.status.state = RunState::tool(text, Some(text));
    let runs = vec![with_text(waiting(1), text), tool];
    let mut screen = screen(runs, clock);
    let mut asked = permission(text);
    asked.description = Some(text.to_owned());
    let mut finished = ToolFinished::new(ItemId::new("t"), ToolStatus::Completed);
    finished.changes = vec![FileChange::new(text, ChangeKind::Modified, None)];
    let said = TextBlock {
        item: ItemId::new("b"),
        text: text.to_owned(),
        piece: Piece::WHOLE,
        is_aborted: false,
    };
    let warned = Warned::new(WarningKind::Degraded, text.to_owned());
    let model = model([
        RunEvent::Run(RunBody::Warned(warned)),
        agent(Body::ToolFinished(Box::new(finished))),
        agent(Body::TextBlock(said)),
        agent(Body::PermissionRequested(Box::new(asked))),
    ]);
    screen.set_preview(&id(1), model, clock.now);
    for size in [(60, 15), (141, 20)] {
        let (buffer, _) = draw(&mut screen, size, ColorScheme::Dark, clock.now);
        assert_safe(&buffer, text);
    }
    for keys in ["y", "\u{1b}", "s", "c"] {
        match keys {
            "\u{1b}" => drop(screen.key(&Key::Escape, clock.now)),
            _ => drop(press(&mut screen, keys, clock)),
        }
        screen.key(&Key::Down, clock.now);
        let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
        assert_safe(&buffer, text);
    }
    screen.key(&Key::Paste(text.to_owned()), clock.now);
    let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
    assert_safe(&buffer, text);
    screen.dialog = None;
    screen.notify(text.to_owned());
    let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
    assert_safe(&buffer, text);
    press(&mut screen, "/", clock);
    screen.key(&Key::Paste(text.to_owned()), clock.now);
    let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
    assert_safe(&buffer, text);
}

#[test]
fn a_run_id_of_another_program_is_safe() {
    let clock = Clock::new();
    let mut strange = working(1);
    strange.file.run_id = "\u{1b}[2J漢字漢字漢字漢字漢字漢字".to_owned();
    let mut screen = screen(vec![strange], clock);
    for keys in ["", "r", "s"] {
        press(&mut screen, keys, clock);
        let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
        assert_safe(&buffer, "id");
    }
}
