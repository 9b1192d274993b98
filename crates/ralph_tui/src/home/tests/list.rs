//! The list: order, cursor, filter, snoozing, actions, mouse.

use ralph_run::control::ControlCommand;
use ralph_run::model::{RunState, WaitingFor};
use ratatui::layout::Position;
use terminal_input::Key;

use super::{Clock, at, draw, ended, id, listed, press, run, screen, selected, text_of, waiting, working};
use crate::app::{App, ClockRate};
use crate::effect::Effect;
use crate::home::HomeScreen;
use crate::home::screen::HomeDialog;
use crate::input::{Input, RunSummary};
use crate::theme::{ColorScheme, Theme};

fn ids(numbers: &[u32]) -> Vec<String> {
    numbers.iter().map(|number| id(*number)).collect()
}

#[test]
fn runs_that_wait_come_first_then_active_then_ended_newest_first() {
    let mut early = waiting(2);
    early.file.status.state_since = Some(at("2026-11-18T11:00:00Z"));
    let runs = vec![ended(1), working(3), early, waiting(4), ended(5), working(6)];
    let screen = screen(runs, Clock::new());
    assert_eq!(listed(&screen), ids(&[4, 2, 6, 3, 5, 1]));
}

#[test]
fn activity_does_not_move_a_run() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2)], clock);
    let mut busy = run(1, RunState::Thinking);
    busy.file.status.state_since = Some(clock.now.at);
    busy.activity = vec![9_000; 30];
    screen.set_runs(vec![busy, working(2)], clock.now);
    assert_eq!(listed(&screen), ids(&[2, 1]));
}

#[test]
fn the_cursor_stays_on_its_run_when_others_appear_move_and_leave() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2), working(3)], clock);
    press(&mut screen, "j", clock);
    assert_eq!(selected(&screen), Some(id(2)));
    let runs = vec![waiting(3), working(9), working(8), working(2), ended(1)];
    screen.set_runs(runs, clock.now);
    assert_eq!(selected(&screen), Some(id(2)));
    assert_eq!(screen.list.selected_row(), Some(3));
    // The run ends: the cursor goes with it.
    screen.set_runs(vec![ended(2), working(8), ended(1)], clock.now);
    assert_eq!(
        (selected(&screen), screen.list.selected_row()),
        (Some(id(2)), Some(1))
    );
}

#[test]
fn an_action_is_about_the_selected_run_and_not_about_its_row() {
    let mut clock = Clock::new();
    let mut screen = screen(vec![working(1)], clock);
    // What is typed in one go stops nothing.
    assert_eq!(press(&mut screen, "syk", clock), []);
    clock.pass(500);
    screen.set_runs(vec![working(1), working(2), waiting(3)], clock.now);
    let effects = press(&mut screen, "y", clock);
    let command = ControlCommand::Stop;
    assert_eq!(effects, [Effect::Command { run: id(1), command }]);
}

#[test]
fn a_stop_asks_with_the_name_of_the_run_and_only_its_own_keys_answer() {
    let mut clock = Clock::new();
    let mut screen = screen(vec![working(7)], clock);
    assert_eq!(press(&mut screen, "s", clock), []);
    clock.pass(500);
    let (buffer, _) = draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now);
    assert!(text_of(&buffer).contains("┌─ Stop run 00000007 (Task 7)?"));
    assert!(text_of(&buffer).contains("y stop"));
    assert_eq!(press(&mut screen, "x", clock), []);
    assert_eq!(screen.key(&Key::Paste("y".to_owned()), clock.now), []);
    assert!(screen.dialog.is_some());
    assert_eq!(press(&mut screen, "n", clock), []);
    assert!(screen.dialog.is_none());
}

#[test]
fn a_new_filter_replaces_the_old_one() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2)], clock);
    press(&mut screen, "/00000001", clock);
    screen.key(&Key::Enter, clock.now);
    assert_eq!(listed(&screen), [id(1)]);
    press(&mut screen, "/00000002", clock);
    screen.key(&Key::Enter, clock.now);
    assert_eq!(listed(&screen), [id(2)]);
}

#[test]
fn a_stop_that_waits_for_an_answer_is_gone_with_its_run() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2)], clock);
    press(&mut screen, "js", clock);
    screen.set_runs(vec![ended(1), working(2)], clock.now);
    assert_eq!(press(&mut screen, "y", clock), []);
}

#[test]
fn only_what_fits_its_state_is_done_to_a_run() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(2), ended(1)], clock);
    let resume = |is_fork: bool| Effect::Resume { run: id(1), is_fork };
    assert_eq!(press(&mut screen, "r", clock), []);
    let is_fork = true;
    assert_eq!(
        press(&mut screen, "f", clock),
        [Effect::Resume { run: id(2), is_fork }]
    );
    screen.started(Err("no".to_owned()), true);
    press(&mut screen, "j", clock);
    assert_eq!(press(&mut screen, "r", clock), [resume(false)]);
    screen.started(Err("no".to_owned()), true);
    assert_eq!(press(&mut screen, "f", clock), [resume(true)]);
    assert_eq!(press(&mut screen, "s", clock), []);
    assert!(screen.dialog.is_none());
    assert_eq!(
        press(&mut screen, "b", clock),
        [Effect::OpenInBrowser { run: id(1) }]
    );
    assert_eq!(press(&mut screen, "z", clock), []);
    let open = screen.key(&Key::Enter, clock.now);
    assert_eq!(open, [Effect::Open { run: id(1) }]);
    assert_eq!(press(&mut screen, "q", clock), [Effect::Quit]);
}

#[test]
fn a_paste_into_the_list_does_nothing() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2)], clock);
    let paste = Key::Paste("qscjy/\r\n".to_owned());
    assert_eq!(screen.key(&paste, clock.now), []);
    assert_eq!(screen.key(&Key::OversizedPaste, clock.now), []);
    assert!(screen.dialog.is_none());
    assert_eq!(selected(&screen), Some(id(2)));
}

#[test]
fn the_filter_field_swallows_every_key() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2)], clock);
    let effects = press(&mut screen, "/qscfryn?bzw", clock);
    assert_eq!(effects, []);
    assert_eq!(screen.list.filter.text.text(), "qscfryn?bzw");
    assert!(matches!(screen.dialog, Some(HomeDialog::Filter)));
    screen.key(&Key::DeleteToStart, clock.now);
    screen.key(&Key::Paste("task\n0001".to_owned()), clock.now);
    assert_eq!(listed(&screen), ids(&[1]));
    screen.key(&Key::Enter, clock.now);
    let (buffer, _) = draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now);
    assert!(
        text_of(&buffer).contains("Filter: task 0001"),
        "{}",
        text_of(&buffer)
    );
    screen.key(&Key::Escape, clock.now);
    assert_eq!(screen.list.len(), 2);
}

#[test]
fn filters_by_words_state_and_workspace_add_up() {
    let clock = Clock::new();
    let runs = vec![waiting(1), working(4), ended(7), working(5)];
    let mut screen = screen(runs, clock);
    press(&mut screen, "w", clock);
    assert_eq!(listed(&screen), ids(&[1, 4, 7]));
    press(&mut screen, "\t\t", clock);
    assert_eq!(listed(&screen), ids(&[4]));
    press(&mut screen, "\t\t", clock);
    press(&mut screen, "/DEMO 0007", clock);
    assert_eq!(listed(&screen), ids(&[7]));
    press(&mut screen, "nothing", clock);
    assert_eq!((listed(&screen), selected(&screen)), (Vec::new(), None));
    screen.key(&Key::Escape, clock.now);
    screen.key(&Key::Escape, clock.now);
    assert_eq!(screen.list.len(), 4);
}

#[test]
fn a_snoozed_run_is_below_the_active_ones_until_its_state_changes() {
    let clock = Clock::new();
    let mut screen = screen(vec![waiting(1), working(2), ended(3)], clock);
    press(&mut screen, "z", clock);
    assert_eq!(listed(&screen), ids(&[2, 1, 3]));
    assert_eq!(selected(&screen), Some(id(1)));
    screen.set_runs(vec![waiting(1), working(2), ended(3)], clock.now);
    assert_eq!(listed(&screen), ids(&[2, 1, 3]));
    let question = RunState::Waiting {
        what: WaitingFor::Question,
    };
    screen.set_runs(vec![run(1, question), working(2), ended(3)], clock.now);
    assert_eq!(listed(&screen), ids(&[1, 2, 3]));
    screen.set_runs(vec![waiting(1), working(2), ended(3)], clock.now);
    assert_eq!(listed(&screen), ids(&[1, 2, 3]));
}

fn place(row: u16) -> Position {
    Position::new(5, row)
}

#[test]
fn a_click_selects_and_a_second_one_opens_what_was_seen() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2), working(3)], clock);
    draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now);
    // The heading and the heads of the columns are above.
    assert_eq!(screen.click(place(3), clock.now), []);
    assert_eq!(selected(&screen), Some(id(2)));
    // A run appears above after the picture was drawn: the click is about what was there.
    screen.set_runs(vec![working(1), working(2), working(3), working(4)], clock.now);
    assert_eq!(screen.click(place(3), clock.now), [Effect::Open { run: id(2) }]);
    assert_eq!(screen.click(place(23), clock.now), []);
}

#[test]
fn control_c_cancels_what_is_open_and_leaves_when_pressed_twice() {
    let mut clock = Clock::new();
    let (mut app, _) = App::new(Theme::default(), None);
    app.update(Input::Runs(vec![working(1).into()]), clock.now);
    let mut press = |key: Key, now| app.update(Input::Key(key), now);
    let control_c = Key::Control('c');
    for open in ['s', 'c', '/'] {
        press(Key::Character(open), clock.pass(2_000));
        assert_eq!(press(control_c.clone(), clock.now), []);
    }
    assert_eq!(press(control_c.clone(), clock.now), []);
    assert_eq!(press(control_c.clone(), clock.pass(1_500)), []);
    assert_eq!(press(control_c, clock.pass(500)), [Effect::Quit]);
}

#[test]
fn nothing_ticks_while_nothing_changes() {
    let mut clock = Clock::new();
    let mut screen = screen(vec![ended(1), ended(2)], clock);
    draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now);
    let wait_at = |screen: &super::HomeScreen, clock: Clock, rate: ClockRate| {
        let next = screen.next_tick(clock.now, rate)?;
        Some(next.duration_since(clock.now.instant).as_secs())
    };
    let wait = |screen: &super::HomeScreen, clock: Clock| wait_at(screen, clock, ClockRate::EverySecond);
    // Ages are in hours here.
    assert!(wait(&screen, clock) > Some(60));
    screen.set_runs(vec![working(1), ended(2)], clock.now);
    draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now);
    assert_eq!(wait(&screen, clock), Some(1));
    assert_eq!(wait_at(&screen, clock, ClockRate::Slow), Some(10));
    screen.set_runs(Vec::<RunSummary>::new(), clock.pass(1));
    draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now);
    assert_eq!(wait(&screen, clock), None);
}

#[test]
fn a_run_that_was_started_is_selected_when_it_appears() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1)], clock);
    assert!(screen.started(Ok(id(5)), true));
    screen.set_runs(vec![working(1)], clock.now);
    assert_eq!(selected(&screen), Some(id(1)));
    screen.set_runs(vec![working(1), working(5)], clock.now);
    assert_eq!(selected(&screen), Some(id(5)));
}

#[test]
fn a_paste_into_the_list_does_nothing_and_says_so() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1)], clock);
    let effects = screen.key(&Key::Paste("sy\nq".to_owned()), clock.now);
    assert!(!effects.contains(&Effect::Quit));
    let (buffer, _) = draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now);
    let text: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
    assert!(text.contains("nothing takes a paste here"));
}

#[test]
fn what_took_the_place_of_a_run_that_is_gone_is_neither_stopped_nor_resumed() {
    let clock = Clock::new();
    let mut screen = screen(vec![ended(1), ended(2)], clock);
    assert_eq!(selected(&screen), Some(id(2)));
    screen.set_runs(vec![ended(1)], clock.now);
    assert_eq!(selected(&screen), Some(id(1)));
    assert_eq!(press(&mut screen, "rf", clock), []);
    let text = text_of(&draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now).0);
    assert!(text.contains("not in the list any more"), "{text}");
    assert_eq!(press(&mut screen, "jr", clock).len(), 1);
}

#[test]
fn a_long_journal_is_read_seldom_and_never_twice_at_once() {
    let mut clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2)], clock);
    screen.resized(200, clock.now);
    assert_eq!(screen.tick(clock.pass(200)).len(), 1);
    // Neither after a long time nor for another run.
    assert_eq!(screen.tick(clock.pass(60_000)), []);
    screen.key(&Key::Down, clock.now);
    assert_eq!(screen.tick(clock.pass(200)), []);
    screen.set_preview(&id(2), super::model([]), clock.now);
    assert_eq!(screen.tick(clock.now).len(), 1);
    screen.set_preview(&id(1), super::model([]), clock.pass(1_000));
    let mut changed = working(1);
    changed.file.status.iteration += 1;
    assert_eq!(screen.set_runs(vec![changed, working(2)], clock.now), []);
    assert_eq!(screen.tick(clock.pass(18_000)), []);
    assert_eq!(screen.tick(clock.pass(2_000)).len(), 1);
}

#[test]
fn a_conversation_that_waits_is_counted_and_stands_above_what_is_active() {
    let clock = Clock::new();
    let conversation = super::run(
        1,
        RunState::Waiting {
            what: WaitingFor::Message,
        },
    );
    let starting = super::run(2, RunState::Starting);
    let mut screen = screen(vec![starting, working(3), conversation, waiting(4)], clock);
    assert_eq!(listed(&screen), [id(4), id(1), id(3), id(2)]);
    let (buffer, _) = draw(&mut screen, (80, 24), ColorScheme::Dark, clock.now);
    assert!(text_of(&buffer).contains("2 waiting for you · 2 active"));
}

#[test]
fn a_scrolled_list_says_how_much_is_hidden() {
    let clock = Clock::new();
    let mut screen = screen((1..=40).map(working).collect(), clock);
    let shown =
        |screen: &mut super::HomeScreen| text_of(&draw(screen, (80, 15), ColorScheme::Dark, clock.now).0);
    assert!(shown(&mut screen).contains("28 more ↓"), "{}", shown(&mut screen));
    press(&mut screen, "G", clock);
    assert!(shown(&mut screen).contains("28 more ↑"), "{}", shown(&mut screen));
}

#[test]
fn the_filter_and_its_counts_fit_into_the_smallest_window() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1), ended(2)], clock);
    press(&mut screen, "\t\tw/Task", clock);
    screen.key(&Key::Enter, clock.now);
    let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
    let picture = text_of(&buffer);
    let filter = picture.lines().nth(1).unwrap();
    assert!(
        filter.starts_with("Filter: [active] [this workspace] Task"),
        "{filter}"
    );
    assert!(filter.ends_with(" 1 of 2"), "{filter}");
}

#[test]
fn a_question_hides_the_keys_that_do_not_work_meanwhile() {
    let clock = Clock::new();
    let mut screen = screen(vec![working(1)], clock);
    let footer = |screen: &mut HomeScreen| {
        let (buffer, _) = draw(screen, (80, 24), ColorScheme::Dark, clock.now);
        text_of(&buffer).lines().last().unwrap_or_default().to_owned()
    };
    assert!(footer(&mut screen).contains("s stop"));
    press(&mut screen, "s", clock);
    assert_eq!(footer(&mut screen), "");
}
