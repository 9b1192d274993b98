//! The form for a new run.

use terminal_input::Key;

use super::{Clock, HomeScreen, draw, ended, id, press, screen, text_of, working};
use crate::app::App;
use crate::effect::{Effect, StartRequest};
use crate::home::screen::HomeDialog;
use crate::input::Input;
use crate::theme::{ColorScheme, Theme};

fn opened(clock: Clock) -> HomeScreen {
    let mut screen = screen(vec![working(1)], clock);
    press(&mut screen, "c", clock);
    screen
}

fn shown(screen: &mut HomeScreen, clock: Clock) -> String {
    text_of(&draw(screen, (80, 24), ColorScheme::Dark, clock.now).0)
}

#[test]
fn the_form_describes_a_run_in_this_workspace() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    assert_eq!(press(&mut screen, "qs?/ do it", clock), []);
    screen.key(&Key::LineBreak, clock.now);
    press(
        &mut screen,
        "twice\tdemo\tcoder\tdemo-1\t5\t2.50\tmake test\t  \t ",
        clock,
    );
    insta::assert_snapshot!(shown(&mut screen, clock));
    let effects = screen.key(&Key::Control('s'), clock.now);
    let some = |text: &str| Some(text.to_owned());
    let request = StartRequest {
        workspace: "/home/ada/project-1".to_owned(),
        prompt: "qs?/ do it\ntwice".to_owned(),
        backend: some("demo"),
        mode: some("coder"),
        model: some("demo-1"),
        max_iterations: some("5"),
        max_cost: some("2.50"),
        verify: some("make test"),
        asks: true,
        is_conversation: true,
    };
    assert_eq!(effects, [Effect::Start(Box::new(request))]);
}

#[test]
fn text_never_switches_a_choice() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    press(&mut screen, "do it", clock);
    for _ in 0..7 {
        screen.key(&Key::Character('\t'), clock.now);
    }
    assert!(shown(&mut screen, clock).contains("> Ask"));
    screen.key(&Key::Escape, clock.now);
    press(&mut screen, "c now fix", clock);
    let picture = shown(&mut screen, clock);
    assert!(picture.contains("[x] approve each action"), "{picture}");
    assert!(picture.contains("do it now fix"), "{picture}");
    for _ in 0..7 {
        screen.key(&Key::Character('\t'), clock.now);
    }
    press(&mut screen, ", all of it", clock);
    let picture = shown(&mut screen, clock);
    assert!(picture.contains("[x] approve each action"), "{picture}");
    assert!(picture.contains("do it now fix, all of it"), "{picture}");
    for _ in 0..7 {
        screen.key(&Key::Character('\t'), clock.now);
    }
    press(&mut screen, " ", clock);
    let picture = shown(&mut screen, clock);
    assert!(picture.contains("[ ] approve each action"), "{picture}");
    assert!(picture.contains("permission checks will be off"), "{picture}");
}

#[test]
fn a_run_without_a_prompt_is_not_started() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    assert_eq!(screen.key(&Key::Control('s'), clock.now), []);
    assert!(shown(&mut screen, clock).contains("enter a prompt"));
}

#[test]
fn enter_goes_on_and_starts_only_on_the_button() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    press(&mut screen, "do it", clock);
    for _ in 0..7 {
        assert_eq!(screen.key(&Key::Enter, clock.now), []);
    }
    screen.key(&Key::Down, clock.now);
    screen.key(&Key::Down, clock.now);
    let effects = screen.key(&Key::Enter, clock.now);
    assert!(matches!(effects.as_slice(), [Effect::Start(request)] if request.prompt == "do it"));
}

#[test]
fn the_prompt_can_be_written_in_the_editor() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    press(&mut screen, "draft", clock);
    let text = "draft".to_owned();
    assert_eq!(
        screen.key(&Key::Control('o'), clock.now),
        [Effect::EditText { text }]
    );
    screen.edited(Some("one\ntwo\nthree\nfour\nfive\nsix\n".to_owned()), clock.now);
    let rows = shown(&mut screen, clock);
    assert!(rows.contains("five") && rows.contains("six"), "{rows}");
    let effects = screen.key(&Key::Control('s'), clock.now);
    assert!(
        matches!(effects.as_slice(), [Effect::Start(request)] if request.prompt == "one\ntwo\nthree\nfour\nfive\nsix")
    );
}

#[test]
fn a_draft_survives_closing_and_a_failed_start() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    press(&mut screen, "do it", clock);
    screen.key(&Key::Escape, clock.now);
    assert!(screen.dialog.is_none());
    press(&mut screen, "c", clock);
    screen.key(&Key::Control('s'), clock.now);
    screen.started(Err("there is no backend `x`".to_owned()), true);
    let text = shown(&mut screen, clock);
    assert!(
        text.contains("do it") && text.contains("there is no backend `x`"),
        "{text}"
    );
    screen.key(&Key::Control('s'), clock.now);
    assert!(screen.started(Ok(id(9)), true));
    assert!(screen.dialog.is_none());
    press(&mut screen, "c", clock);
    assert!(!shown(&mut screen, clock).contains("do it"));
    assert!(matches!(screen.dialog, Some(HomeDialog::NewRun)));
}

#[test]
fn a_long_reason_is_shown_in_full() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    let reason = format!(
        "the workspace {} is in use; stop that run first",
        "is very long ".repeat(8)
    );
    press(&mut screen, "do it", clock);
    screen.key(&Key::Control('s'), clock.now);
    screen.started(Err(reason), true);
    assert!(shown(&mut screen, clock).contains("stop that run first"));
}

#[test]
fn a_second_key_starts_no_second_run() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    press(&mut screen, "do it", clock);
    assert_eq!(screen.key(&Key::Control('s'), clock.now).len(), 1);
    assert_eq!(screen.key(&Key::Control('s'), clock.now), []);
    assert_eq!(press(&mut screen, "more", clock), []);
    let text = shown(&mut screen, clock);
    assert!(
        text.contains("starting…") && !text.contains("do itmore"),
        "{text}"
    );
    screen.started(Err("no".to_owned()), true);
    assert_eq!(screen.key(&Key::Control('s'), clock.now).len(), 1);

    let mut screen = super::screen(vec![ended(1)], clock);
    assert_eq!(press(&mut screen, "r", clock).len(), 1);
    assert!(shown(&mut screen, clock).contains("starting…"));
    assert_eq!(press(&mut screen, "rf", clock), []);
    assert!(shown(&mut screen, clock).contains("another run is being started"));
    press(&mut screen, "cdo it", clock);
    assert_eq!(screen.key(&Key::Control('s'), clock.now), []);
    // The draft is not what was started, and keeps the screen.
    assert!(!screen.started(Ok(id(9)), true));
    assert!(shown(&mut screen, clock).contains("do it"));
    assert_eq!(screen.key(&Key::Control('s'), clock.now).len(), 1);
}

#[test]
fn a_new_run_is_opened_only_where_it_was_asked_for() {
    let clock = Clock::new();
    let app = || {
        let (mut app, _) = App::new(Theme::new(ColorScheme::Dark), None);
        app.update(Input::Runs(vec![ended(1).into()]), clock.now);
        let effects = app.update(Input::Key(Key::Character('r')), clock.now);
        assert!(matches!(effects.as_slice(), [Effect::Resume { .. }]));
        app
    };
    let started = |app: &mut App| app.update(Input::Started(Ok(id(9))), clock.now);
    assert_eq!(started(&mut app()), [Effect::Open { run: id(9) }]);
    // A run, help, the text of the filter, and a form that asked for nothing.
    for key in [
        Key::Enter,
        Key::Character('?'),
        Key::Character('/'),
        Key::Character('c'),
    ] {
        let mut app = app();
        app.update(Input::Key(key.clone()), clock.now);
        assert_eq!(started(&mut app), [], "{key:?}");
        let area = ratatui::layout::Rect::new(0, 0, 80, 24);
        let mut buffer = ratatui::buffer::Buffer::empty(area);
        app.render(area, &mut buffer, clock.now);
        assert!(text_of(&buffer).contains("started run"), "{key:?}");
    }
}

#[test]
fn in_the_smallest_window_every_field_and_all_of_a_refusal_can_be_reached() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    press(&mut screen, "do it", clock);
    let reason: Vec<String> = (1..=60).map(|number| format!("word{number}")).collect();
    screen.key(&Key::Control('s'), clock.now);
    screen.started(Err(reason.join(" ")), true);
    let mut picture = || text_of(&draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now).0);
    let first = picture();
    assert!(
        first.contains("New run · ") && first.contains("more ↓"),
        "{first}"
    );
    assert!(first.contains("> Prompt"), "{first}");
    for word in &reason {
        assert!(first.contains(word), "{word}: {first}");
    }
    for label in [
        "Backend",
        "Mode",
        "Model",
        "Max iterations",
        "Max cost",
        "Verify",
        "Ask",
        "Conversation",
        "[ Start ]",
        "Workspace",
        "Prompt",
    ] {
        screen.key(&Key::Character('\t'), clock.now);
        let (buffer, cursor) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
        let picture = text_of(&buffer);
        let row = picture
            .lines()
            .position(|row| row.contains(&format!("> {label}")));
        let row = row.unwrap_or_else(|| panic!("{label} is not in view:\n{picture}"));
        assert_eq!(cursor.map(|cursor| usize::from(cursor.y)), Some(row), "{picture}");
        assert!(picture.contains("word60"), "{picture}");
    }
}

#[test]
fn a_prompt_of_three_lines_is_seen_whole_in_the_smallest_window() {
    let clock = Clock::new();
    let mut screen = opened(clock);
    for line in ["one", "two", "three"] {
        press(&mut screen, line, clock);
        screen.key(&Key::LineBreak, clock.now);
    }
    screen.key(&Key::Backspace, clock.now);
    let picture = text_of(&draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now).0);
    assert!(picture.contains("one") && picture.contains("three"), "{picture}");
}
