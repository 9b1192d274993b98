//! Untrusted text in every column, in the preview, in dialogs and in notices.

use ralph_run::model::RunState;
use ralph_run::{RunBody, RunEvent, Warned, WarningKind};
use ratatui::buffer::Buffer;
use run_view::is_forbidden;
use terminal_input::Key;

use super::{Clock, agent, draw, id, model, permission, press, screen, waiting, working};
use crate::input::RunSummary;
use crate::theme::ColorScheme;

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "\u{1b}[31mred\u{1b}[0m",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\",
        "\u{1b}]52;c;aGk=\u{7}",
        "\u{1b}P1$r\u{1b}\\",
        "\u{9b}31m",
        "\u{9d}0;x\u{9c}",
        "a\rb\nc\td\u{b}e\u{c}f\0g\u{8}h\u{7f}",
        "\u{202e}rtl\u{202c}\u{2066}x\u{2069}\u{200f}",
        "zero\u{200b}\u{200d}\u{feff}width",
        "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字",
        "a漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字",
        "👨\u{200d}👩\u{200d}👧 family ❤\u{fe0f} flag 🇩🇪",
        "\u{e000}\u{fdd0}\u{ffff}\u{10ffff}",
        "\u{2028}lines\u{2029}",
        "/a/very/long/path/that/never/ends/漢字漢字/\u{1b}[2J",
        "//////////////////////////////////////////////",
    ]
    .map(str::to_owned)
    .to_vec();
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
    let columns = usize::from(buffer.area.width);
    for row in buffer.content.chunks(columns) {
        let mut used = 0;
        for cell in row {
            if used > 0 {
                used -= 1;
                continue;
            }
            let symbol = cell.symbol();
            let found = symbol
                .chars()
                .find(|character| is_forbidden(*character) && *character != '\u{200d}');
            assert_eq!(found, None, "{symbol:?} of {:?}", text.get(..40).unwrap_or(text));
            used = run_view::width(symbol).saturating_sub(1);
        }
        assert_eq!(used, 0, "a character hangs over the edge");
    }
}

#[test]
fn nothing_forbidden_is_drawn_and_nothing_spills() {
    let clock = Clock::new();
    for text in texts() {
        let mut tool = with_text(working(2), &text);
        tool.file.status.state = RunState::tool(&text, Some(&text));
        let runs = vec![with_text(waiting(1), &text), tool];
        let mut screen = screen(runs, clock);
        let mut asked = permission(&text);
        asked.description = Some(text.clone());
        let warned = Warned::new(WarningKind::Degraded, text.clone());
        let model = model([
            RunEvent::Run(RunBody::Warned(warned)),
            agent(agent_api::Body::PermissionRequested(Box::new(asked))),
        ]);
        screen.set_preview(&id(1), model, clock.now);
        for size in [(60, 15), (81, 24), (141, 20), (200, 60)] {
            let (buffer, _) = draw(&mut screen, size, ColorScheme::Dark, clock.now);
            assert_safe(&buffer, &text);
        }
        for keys in ["y", "\u{1b}", "s", "c"] {
            match keys {
                "\u{1b}" => drop(screen.key(&Key::Escape, clock.now)),
                _ => drop(press(&mut screen, keys, clock)),
            }
            screen.key(&Key::Down, clock.now);
            let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
            assert_safe(&buffer, &text);
        }
        screen.key(&Key::Paste(text.clone()), clock.now);
        let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
        assert_safe(&buffer, &text);
        screen.dialog = None;
        screen.notify(text.clone());
        let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
        assert_safe(&buffer, &text);
        press(&mut screen, "/", clock);
        screen.key(&Key::Paste(text.clone()), clock.now);
        let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
        assert_safe(&buffer, &text);
    }
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
