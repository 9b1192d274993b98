//! Scrolling, searching, copying and leaving for other programs.

use ralph_run::RunKind;
use serde_json::json;
use terminal_input::Key;

use super::{Desk, RUN, run_of};
use crate::bindings::{Context, Keymap};
use crate::effect::{Destination, Effect};
use crate::transcript::Filter;

#[test]
fn following_is_paused_by_scrolling_up_and_continued_at_the_end() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("g");
    assert!(!run_of(&mut desk).view.is_following());
    desk.press("G");
    assert!(run_of(&mut desk).view.is_following());
    desk.press("f");
    assert!(!run_of(&mut desk).view.is_following());
    desk.press("f");
    assert!(run_of(&mut desk).view.is_following());
}

#[test]
fn the_filter_goes_through_all_kinds() {
    let mut desk = Desk::started(RunKind::Loop);
    let mut seen = Vec::new();
    for _ in 0..5 {
        desk.press("F");
        seen.push(run_of(&mut desk).view.filter());
    }
    let all = [
        Filter::Conversation,
        Filter::Tools,
        Filter::Edits,
        Filter::Errors,
        Filter::All,
    ];
    assert_eq!(seen, all);
    desk.press("FFF");
    assert!(desk.shows("edits only"));
}

#[test]
fn a_search_says_when_nothing_is_found() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("/zzzzzz\n");
    assert!(desk.shows("no match for zzzzzz"));
    desk.press("\u{1b}");
    desk.press("n");
    assert!(desk.shows("press / to search"));
}

#[test]
fn the_transcript_goes_to_a_file_the_editor_and_the_scrollback() {
    let mut desk = Desk::started(RunKind::Loop);
    let name = format!("ralph-{}.md", ralph_run::short_run_id(RUN));
    for (key, destination) in [
        ("w", Destination::File { name }),
        ("v", Destination::Editor),
        ("W", Destination::Scrollback),
    ] {
        let run = RUN.to_owned();
        assert_eq!(desk.press(key), [Effect::Transcript { run, destination }]);
        assert!(desk.shows("preparing the transcript…"));
    }
    // The editor had the transcript: nothing comes of it.
    let edited = crate::input::Input::Edited {
        text: Some("{}".to_owned()),
    };
    assert_eq!(desk.input(edited), []);
}

#[test]
fn a_jump_without_a_target_says_so() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("e");
    assert!(desk.shows("no later error"));
}

#[test]
fn every_key_of_the_run_is_handled_without_a_transcript() {
    let keymap = Keymap::default();
    for row in Context::ALL.into_iter().flat_map(|context| keymap.rows(context)) {
        let mut desk = Desk::new(RunKind::Loop);
        for key in &row.keys {
            desk.wait(1_000);
            desk.key(key.clone());
        }
        desk.screen(60, 15);
    }
}

#[test]
fn the_side_list_is_toggled_and_shows_iterations_and_files() {
    let mut desk = Desk::started(RunKind::Loop);
    let change = json!({"path": "/home/me/project/src/lib.rs", "kind": "modified", "lines": [12, 3]});
    desk.agent(
        "tool_started",
        &json!({"item": "t", "name": "Edit", "kind": "edit", "state": "running"}),
    );
    desk.agent(
        "tool_finished",
        &json!({"item": "t", "status": "completed", "output": "", "changes": [change]}),
    );
    let wide = desk.screen(120, 30);
    assert!(wide.contains("Iterations"), "{wide}");
    assert!(wide.contains("1 coder running"), "{wide}");
    assert!(wide.contains("src/lib.rs"), "{wide}");
    assert!(wide.contains("+12 −3"), "{wide}");
    assert!(!desk.screen(109, 30).contains("Iterations"));
    desk.press("s");
    assert!(!desk.screen(120, 30).contains("Iterations"));
}

#[test]
fn the_footer_drops_hints_and_keeps_help_and_quit() {
    let mut desk = Desk::started(RunKind::Loop);
    let narrow = desk.screen(60, 15);
    let footer = narrow.lines().last().unwrap().to_owned();
    assert!(footer.contains("? help") && footer.contains("q quit"), "{footer}");
    assert!(!footer.contains("side list"), "{footer}");
    assert!(desk.screen(200, 60).lines().last().unwrap().contains("search"));
}

#[test]
fn new_entries_are_counted_while_the_reader_is_elsewhere() {
    let mut desk = Desk::started(RunKind::Loop);
    let write = |desk: &mut Desk, item: &str| {
        desk.agent(
            "text_block",
            &json!({"item": item, "text": "line\n\n".repeat(10)}),
        );
        desk.screen(60, 15);
    };
    for item in ["a", "b", "c"] {
        write(&mut desk, item);
    }
    desk.key(Key::Character('g'));
    assert!(desk.screen(60, 15).lines().last().unwrap().contains("paused"));
    write(&mut desk, "d");
    assert!(desk.screen(60, 15).lines().last().unwrap().contains("1 new ↓"));
}

#[test]
fn a_page_is_read_in_full_and_closed() {
    let mut desk = Desk::started(RunKind::Loop);
    let line = format!("{{\"type\":\"\u{1b}[31m\"}}{}end", "x".repeat(5_000));
    desk.input(crate::input::Input::Page {
        title: "raw/1.ndjson".to_owned(),
        text: line,
    });
    assert!(desk.shows("raw/1.ndjson"));
    assert!(desk.shows("\\u{1b}[31m"));
    desk.press("G");
    desk.screen(100, 40);
    assert!(desk.shows("xend"));
    assert_eq!(desk.press("q"), []);
    assert!(!desk.shows("raw/1.ndjson"));
}

#[test]
fn a_notice_is_gone_with_the_next_key() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("e");
    assert!(desk.shows("no later error"));
    desk.press("j");
    assert!(!desk.shows("no later error"));
}
