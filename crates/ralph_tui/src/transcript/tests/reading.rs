//! Scrolling, folding, selecting, searching and copying.

use agent_api::{
    Body, ItemId, Part, PlanEntry, PlanStatus, PlanUpdated, ToolFinished, ToolKind, ToolStarted, ToolStatus,
};
use proptest::prelude::{prop, prop_assert_eq, proptest};

use super::story::{Story, draw, rows_of};
use crate::transcript::TranscriptView;
use crate::transcript::view::{Filter, FoldTarget, Jump};

fn long_story(texts: usize) -> Story {
    let mut story = Story::new();
    for number in 0..texts {
        story.text(
            &format!("t{number}"),
            &format!("text {number} has some words that are wrapped in a narrow window"),
        );
    }
    story
}

fn bash(story: &mut Story, item: &str, command: &str, output: &str, exit_code: i32) {
    let mut tool = ToolStarted::new(ItemId::new(item), "Bash", ToolKind::Execute);
    tool.subject = Some(command.to_owned());
    story.agent(Body::ToolStarted(Box::new(tool)));
    let status = if exit_code == 0 {
        ToolStatus::Completed
    } else {
        ToolStatus::Failed
    };
    let mut end = ToolFinished::new(ItemId::new(item), status);
    end.output = output.to_owned();
    end.exit_code = Some(exit_code);
    story.agent(Body::ToolFinished(Box::new(end)));
}

fn top(view: &mut TranscriptView, story: &Story, width: u16, height: u16) -> String {
    rows_of(&draw(view, story, width, height))
        .into_iter()
        .find(|row| !row.trim().is_empty())
        .unwrap_or_default()
}

#[test]
fn the_end_is_followed_until_the_reader_scrolls_up_and_again_at_the_end() {
    let mut story = long_story(50);
    let mut view = TranscriptView::default();
    assert!(
        rows_of(&draw(&mut view, &story, 80, 10))
            .concat()
            .contains("text 49")
    );
    view.scroll(&story.transcript, -7);
    assert!(!view.is_following());
    let before = rows_of(&draw(&mut view, &story, 80, 10));
    story.text("new", "something new");
    assert_eq!(rows_of(&draw(&mut view, &story, 80, 10)), before);
    assert_eq!(view.new_cells_below(&story.transcript), 1);
    view.page(&story.transcript, 2);
    assert!(view.is_following());
    assert!(
        rows_of(&draw(&mut view, &story, 80, 10))
            .concat()
            .contains("something new")
    );
    assert_eq!(view.new_cells_below(&story.transcript), 0);
    view.to_top(&story.transcript);
    assert!(rows_of(&draw(&mut view, &story, 80, 10))[0].contains("text 0"));
}

#[test]
fn a_frame_beside_a_long_stream_lays_out_what_is_new() {
    let mut story = long_story(1_000);
    story.live("s", Part::Text, "```\n");
    for number in 0..10_000 {
        story.live("s", Part::Text, &format!("line {number}\n"));
    }
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 80, 24);
    let before = view.work();
    assert!(view.layout_count() <= 2, "{}", view.layout_count());
    for number in 0..10 {
        story.live("s", Part::Text, &format!("more {number}\n"));
        draw(&mut view, &story, 80, 24);
    }
    assert!(view.work() - before <= 20, "{}", view.work() - before);
    view.scroll(&story.transcript, -5_000);
    story.live("s", Part::Text, "still more\n");
    draw(&mut view, &story, 80, 24);
    assert!(view.work() - before <= 25 && view.layout_count() <= 2);
}

#[test]
fn a_frame_beside_a_long_running_call_lays_out_the_end_of_its_output() {
    let mut story = Story::new();
    let tool = ToolStarted::new(ItemId::new("b"), "Bash", ToolKind::Execute);
    story.agent(Body::ToolStarted(Box::new(tool)));
    for number in 0..20_000 {
        story.live("b", Part::ToolOutput, &format!("line {number}\n"));
    }
    let mut view = TranscriptView::default();
    view.toggle_fold(&story.transcript, FoldTarget::All);
    draw(&mut view, &story, 80, 24);
    let before = view.work();
    story.live("b", Part::ToolOutput, "the newest\n");
    let rows = rows_of(&draw(&mut view, &story, 80, 300)).join("\n");
    assert!(view.work() - before <= 210, "{}", view.work() - before);
    assert!(
        rows.contains("… 19801 earlier lines") && rows.contains("the newest"),
        "{rows}"
    );
    let end = ToolFinished::new(ItemId::new("b"), ToolStatus::Completed);
    story.agent(Body::ToolFinished(Box::new(end)));
    draw(&mut view, &story, 80, 24);
    view.search(&story.transcript, "line 12345");
    assert!(
        rows_of(&draw(&mut view, &story, 80, 24))
            .concat()
            .contains("line 12345")
    );
}

#[test]
fn a_filter_lays_out_and_visits_only_what_it_shows() {
    let mut story = long_story(5_000);
    bash(&mut story, "bad", "false", "error: no\n", 1);
    for number in 0..5_000 {
        story.text(&format!("n{number}"), "more");
    }
    let mut view = TranscriptView::default();
    view.set_filter(&story.transcript, Filter::Errors);
    let rows = rows_of(&draw(&mut view, &story, 60, 15));
    assert!(rows[0].contains("Bash: false"), "{rows:#?}");
    assert_eq!(view.layout_count(), 1);
    // A cell becomes visible when it changes, another one when it is added.
    let tool = ToolStarted::new(ItemId::new("late"), "Bash", ToolKind::Execute);
    story.agent(Body::ToolStarted(Box::new(tool)));
    draw(&mut view, &story, 60, 15);
    assert_eq!(view.layout_count(), 1);
    let end = ToolFinished::new(ItemId::new("late"), ToolStatus::Failed);
    story.agent(Body::ToolFinished(Box::new(end)));
    bash(&mut story, "last", "exit 3", "", 3);
    let rows = rows_of(&draw(&mut view, &story, 60, 15)).join("\n");
    assert_eq!(view.layout_count(), 3, "{rows}");
    view.set_filter(&story.transcript, Filter::All);
    assert!(
        rows_of(&draw(&mut view, &story, 60, 15))
            .concat()
            .contains("more")
    );
}

#[test]
fn what_the_agent_writes_has_no_mark_in_the_margin_and_everything_else_has() {
    let mut story = Story::new();
    bash(&mut story, "real", "cargo test", "", 0);
    story.text(
        "t",
        "`✓ Bash`: cargo test  1.2s\n\nVerify: cargo test: ok (1.5s)\n\n**Message delivered by web**\n> do it\n\n• • Bash",
    );
    story.run_json(
        &serde_json::json!({"type": "verify_finished", "data": {"command": "cargo test", "is_ok": false,
        "exit": {"code": 1}, "output": "", "duration_ms": 1}}),
    );
    let mut view = TranscriptView::default();
    let rows = rows_of(&draw(&mut view, &story, 80, 20));
    let marked: Vec<&String> = rows
        .iter()
        .filter(|row| !row.starts_with("  ") && !row.is_empty())
        .collect();
    assert_eq!(marked.len(), 2, "{rows:#?}");
    assert!(marked[0].starts_with("• ✓ Bash: cargo test") && marked[1].starts_with("• Verify: cargo test"));
}

#[test]
fn text_of_deltas_is_not_doubled_by_its_block() {
    let mut story = Story::new();
    story
        .live("a", Part::Text, "Hello ")
        .live("a", Part::Text, "world");
    story.text("a", "Hello world");
    let rows = rows_of(&draw(&mut TranscriptView::default(), &story, 60, 15)).concat();
    assert_eq!(rows.matches("Hello").count(), 1);
    assert_eq!(story.transcript.len(), 1);
}

#[test]
fn long_output_is_folded_and_unfolds() {
    let mut story = Story::new();
    let output: String = (0..40).map(|number| format!("line {number}\n")).collect();
    bash(&mut story, "b", "seq 40", &output, 0);
    let mut view = TranscriptView::default();
    let rows = rows_of(&draw(&mut view, &story, 60, 60));
    assert!(rows.contains(&"    … 28 more lines".to_owned()), "{rows:#?}");
    view.toggle_fold(&story.transcript, FoldTarget::Tools);
    assert!(rows_of(&draw(&mut view, &story, 60, 60)).contains(&"    line 39".to_owned()));
    view.toggle_fold(&story.transcript, FoldTarget::Selected);
    assert!(!rows_of(&draw(&mut view, &story, 60, 60)).contains(&"    line 39".to_owned()));
}

#[test]
fn hits_are_found_in_folded_cells_and_across_soft_wraps() {
    let mut story = long_story(30);
    let output: String = (0..40).map(|number| format!("out {number}\n")).collect();
    bash(
        &mut story,
        "b",
        "seq",
        &format!("{output}a \u{1b}[31mnee\u{1b}[0mdle here\n"),
        0,
    );
    story.text("z", "the end");
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 30, 15);
    assert_eq!(view.search(&story.transcript, "NEEDLE"), 0);
    assert_eq!(view.search(&story.transcript, "needle"), 1);
    assert!(
        rows_of(&draw(&mut view, &story, 30, 15))
            .concat()
            .contains("needle here")
    );
    // Broken into two rows at this width.
    assert_eq!(view.search(&story.transcript, "wrapped in a narrow"), 30);
    assert!(view.next_hit(&story.transcript));
    let buffer = draw(&mut view, &story, 30, 15);
    let current = buffer
        .content
        .iter()
        .filter(|cell| cell.modifier.contains(ratatui::style::Modifier::REVERSED));
    assert!(current.count() >= "wrapped in a".len());
    view.clear_search();
    assert_eq!(view.hits(), None);
    assert!(!view.next_hit(&story.transcript));
}

#[test]
fn jumps_and_filters_find_errors_and_edits() {
    let mut story = long_story(20);
    bash(&mut story, "ok", "true", "", 0);
    bash(&mut story, "bad", "false", "error: no\n", 1);
    story.text("z", "the end");
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 60, 15);
    view.to_top(&story.transcript);
    assert!(view.jump(&story.transcript, Jump::NextError));
    assert_eq!(view.selected(), Some(21));
    assert!(!view.jump(&story.transcript, Jump::NextError));
    assert!(view.copy_text(&story.transcript).unwrap().contains("error: no"));
    assert!(!view.jump(&story.transcript, Jump::NextEdit));
    view.set_filter(&story.transcript, Filter::Errors);
    let rows = rows_of(&draw(&mut view, &story, 60, 15)).concat();
    assert!(rows.contains("false") && !rows.contains("true") && !rows.contains("text"));
    view.select_previous(&story.transcript);
    assert_eq!(view.selected(), Some(21));
}

#[test]
fn a_click_selects_and_a_second_one_folds() {
    let mut story = long_story(2);
    story.text("l", "first\nsecond\nthird");
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 80, 20);
    view.click(&story.transcript, 4);
    assert_eq!(view.selected(), Some(2));
    view.click(&story.transcript, 4);
    assert!(
        rows_of(&draw(&mut view, &story, 80, 20))
            .concat()
            .contains("first  … 2 more lines")
    );
    view.click(&story.transcript, 19);
}

#[test]
fn the_place_is_kept_when_the_whole_transcript_replaces_its_tail() {
    let whole = long_story(100);
    let mut tail = Story::new();
    for index in 60..100 {
        let text = format!("text {index} has some words that are wrapped in a narrow window");
        tail.run_seq(index + 1);
        tail.text(&format!("t{index}"), &text);
    }
    let mut view = TranscriptView::default();
    draw(&mut view, &tail, 80, 10);
    view.scroll(&tail.transcript, -20);
    let before = rows_of(&draw(&mut view, &tail, 80, 10));
    view.replace(&tail.transcript, &whole.transcript);
    assert_eq!(rows_of(&draw(&mut view, &whole, 80, 10)), before);
}

#[test]
fn the_transcript_as_markdown_keeps_fences() {
    let mut story = Story::new();
    story.text("a", "```rust\nfn a() {}\n```");
    bash(&mut story, "b", "cat x.md", "```\ncode\n```", 0);
    let markdown = story.transcript.to_markdown();
    assert!(
        markdown.starts_with("```rust\nfn a() {}\n```\n\n`Bash: cat x.md` ✓"),
        "{markdown}"
    );
    assert!(markdown.contains("````\n"), "{markdown}");
}

proptest! {
    #[test]
    fn the_anchor_stays_under_appends_and_other_widths(
        back in 12_isize..150,
        widths in prop::collection::vec(20_u16..120, 0..4),
        news in 0_usize..5,
    ) {
        let mut story = long_story(60);
        let mut view = TranscriptView::default();
        draw(&mut view, &story, 40, 10);
        view.scroll(&story.transcript, -back - 40);
        let before = top(&mut view, &story, 40, 10);
        for width in widths {
            draw(&mut view, &story, width, 10);
        }
        for number in 0..news {
            story.text(&format!("new{number}"), "new");
        }
        prop_assert_eq!(top(&mut view, &story, 40, 10), before);
    }

    #[test]
    fn rows_drawn_one_by_one_are_the_whole(height in 1_u16..6, width in 12_u16..40) {
        let story = long_story(5);
        let mut view = TranscriptView::default();
        let mut whole = rows_of(&draw(&mut view, &story, width, 200));
        while whole.last().is_some_and(String::is_empty) {
            whole.pop();
        }
        view.to_top(&story.transcript);
        view.set_following(false);
        let mut read = Vec::new();
        draw(&mut view, &story, width, height);
        view.to_top(&story.transcript);
        loop {
            let rows = rows_of(&draw(&mut view, &story, width, height));
            if view.is_following() {
                // The last page overlaps with the one before.
                let missing = whole.len() - read.len();
                read.extend_from_slice(&rows[rows.len() - missing..]);
                break;
            }
            read.extend(rows);
            view.scroll(&story.transcript, isize::try_from(height).unwrap());
        }
        prop_assert_eq!(read, whole);
    }
}

#[test]
fn iterations_after_a_raised_limit_are_counted_by_it() {
    let mut story = Story::new();
    let raised = serde_json::json!({"type": "limit_raised", "data": {"limit": "iterations", "to": 7}});
    let started = serde_json::json!({"type": "iteration_started", "data": {"number": 2, "prompt": "p"}});
    story.run_json(&raised).run_json(&started);
    let rows = rows_of(&draw(&mut TranscriptView::default(), &story, 60, 10)).concat();
    assert!(rows.contains("Iteration 2 of 7"), "{rows}");
}

#[test]
fn a_to_do_list_is_exported_as_a_task_list() {
    let mut story = Story::new();
    let entry = |text: &str, status| PlanEntry {
        text: text.to_owned(),
        status,
    };
    let entries = vec![
        entry("Read", PlanStatus::Completed),
        entry("Write", PlanStatus::InProgress),
        entry("Test", PlanStatus::Pending),
        entry("Rest", PlanStatus::Cancelled),
    ];
    story.agent(Body::PlanUpdated(PlanUpdated { item: None, entries }));
    let markdown = story.transcript.to_markdown();
    let list = "\n\n- [x] Read\n- [ ] Write (in progress)\n- [ ] Test\n- [ ] Rest (cancelled)\n";
    assert!(markdown.starts_with("**Plan**: "), "{markdown}");
    assert!(markdown.contains(list), "{markdown}");
}
