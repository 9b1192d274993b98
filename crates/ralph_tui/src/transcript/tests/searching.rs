//! Searching: what is counted can be shown, what is new is found, and a long transcript is searched in slices.

use agent_api::{Body, ItemId, Part, ToolFinished, ToolKind, ToolStarted, ToolStatus};

use ratatui::buffer::Cell;

use super::story::{Story, draw, rows_of};
use crate::theme::{ColorScheme, Role, Theme};
use crate::transcript::TranscriptView;
use crate::transcript::view::{Filter, FoldTarget};

fn output(story: &mut Story, item: &str, text: &str) {
    let tool = ToolStarted::new(ItemId::new(item), "Bash", ToolKind::Execute);
    story.agent(Body::ToolStarted(Box::new(tool)));
    let mut end = ToolFinished::new(ItemId::new(item), ToolStatus::Completed);
    end.output = text.to_owned();
    story.agent(Body::ToolFinished(Box::new(end)));
}

#[test]
fn a_hit_in_the_hidden_part_of_a_cell_unfolds_it() {
    let mut story = Story::new();
    let lines: Vec<String> = (0..40).map(|number| format!("line {number}")).collect();
    output(&mut story, "b", &lines.join("\n"));
    let mut view = TranscriptView::default();
    let rows = rows_of(&draw(&mut view, &story, 60, 15)).concat();
    assert!(rows.contains("line 11") != rows.contains("line 30"), "{rows}");
    assert_eq!(view.search(&story.transcript, "line 3"), 11);
    let mut seen = Vec::new();
    for _ in 0..11 {
        let rows = rows_of(&draw(&mut view, &story, 60, 15));
        let number = view.hits().unwrap().0;
        let wanted = if number == 1 {
            "line 3".to_owned()
        } else {
            format!("line 3{}", number - 2)
        };
        assert!(
            rows.iter().any(|row| row.ends_with(&wanted)),
            "{wanted}: {rows:#?}"
        );
        seen.push(number);
        view.next_hit(&story.transcript);
    }
    assert_eq!(seen, (1..=11).collect::<Vec<_>>());
    assert_eq!(view.hits(), Some((1, 11)));
    view.previous_hit(&story.transcript);
    assert_eq!(view.hits(), Some((11, 11)));
}

#[test]
fn marks_of_markdown_are_neither_found_nor_in_the_way() {
    let mut story = Story::new();
    story.text(
        "t",
        "The **failing** test is in `parser.rs`, see [the log](http://x/long).",
    );
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 60, 15);
    assert_eq!(view.search(&story.transcript, "failing test is in parser"), 1);
    assert_eq!(view.search(&story.transcript, "**"), 0);
}

#[test]
fn labels_and_figures_are_found_like_texts() {
    let mut story = Story::new();
    let tool = ToolStarted::new(ItemId::new("b"), "Bash", ToolKind::Execute);
    story.agent(Body::ToolStarted(Box::new(tool)));
    let mut end = ToolFinished::new(ItemId::new("b"), ToolStatus::Failed);
    end.exit_code = Some(101);
    end.output = "a line of output\n".repeat(1_000);
    story.agent(Body::ToolFinished(Box::new(end)));
    story.text("t", "an un**believ**able bug in a &amp; b");
    story.agent(Body::QuestionAsked(Box::new(agent_api::QuestionAsked {
        request: agent_api::RequestId::new("q"),
        item: None,
        questions: vec![agent_api::Question {
            text: "Which?".to_owned(),
            header: None,
            options: vec![agent_api::QuestionOption {
                label: "one".to_owned(),
                description: Some("the slower way".to_owned()),
            }],
            is_multiple: false,
        }],
    })));
    story.run_json(
        &serde_json::json!({"type": "run_ended", "data": {"reason": "agent_error", "exit_code": 1,
        "iterations": 1, "totals": {"cost": 1_230_000}}}),
    );
    let mut view = TranscriptView::default();
    view.toggle_fold(&story.transcript, FoldTarget::All);
    let rows = rows_of(&draw(&mut view, &story, 80, 2_000)).join("\n");
    for query in [
        "exit code 101",
        "unbelievable",
        "a & b",
        "the slower way",
        "the agent ended first",
        "Duration",
        "$1.23",
    ] {
        assert!(rows.contains(query), "{query}");
        assert_eq!(view.search(&story.transcript, query), 1, "{query}");
    }
}

#[test]
fn text_that_is_appended_to_a_searched_cell_is_found() {
    let mut story = Story::new();
    story.live("t", Part::Text, "one needle");
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 60, 15);
    assert_eq!(view.search(&story.transcript, "needle"), 1);
    assert!(!view.has_stale_hits(&story.transcript));
    story.live("t", Part::Text, " and another needle");
    story.text("u", "a third needle");
    assert!(view.has_stale_hits(&story.transcript) && view.is_searching(&story.transcript));
    view.search_more(&story.transcript);
    assert_eq!(view.hits(), Some((1, 3)));
}

#[test]
fn a_long_transcript_is_searched_in_slices_from_the_readers_place_on() {
    let mut story = Story::new();
    let filler = "words and words ".repeat(2_000);
    for number in 0..200 {
        let text = if number % 50 == 40 { "needle" } else { "hay" };
        output(
            &mut story,
            &number.to_string(),
            &format!("{filler}\n{text} {number}"),
        );
    }
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 60, 15);
    // At the end: the first slice finds nothing, and the reader stays.
    assert_eq!(view.search(&story.transcript, "needle"), 0);
    assert!(view.is_searching(&story.transcript) && view.is_following());
    let mut slices = 1;
    while view.is_searching(&story.transcript) {
        view.search_more(&story.transcript);
        slices += 1;
    }
    assert!((4..30).contains(&slices), "{slices}");
    assert_eq!(view.hits(), Some((1, 4)));
    assert_eq!(view.selected(), Some(40));
    // The reader went elsewhere meanwhile.
    view.to_bottom();
    draw(&mut view, &story, 60, 15);
    view.search(&story.transcript, "needle 14");
    view.stay();
    while view.is_searching(&story.transcript) {
        view.search_more(&story.transcript);
    }
    assert_eq!(view.hits(), Some((0, 1)));
    assert!(view.is_following() && view.next_hit(&story.transcript));
    assert_eq!((view.hits(), view.selected()), (Some((1, 1)), Some(140)));
}

#[test]
fn another_filter_searches_again_and_leaves_the_reader_where_he_is() {
    let mut story = Story::new();
    story.text("a", "needle");
    output(&mut story, "b", "needle");
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 60, 15);
    assert_eq!(view.search(&story.transcript, "needle"), 2);
    view.set_filter(&story.transcript, Filter::Tools);
    assert_eq!(view.hits(), Some((0, 1)));
}

#[test]
fn while_a_query_is_typed_every_step_starts_where_the_reader_was() {
    let mut story = Story::new();
    story.run_json(
        &serde_json::json!({"type": "iteration_started", "data": {"number": 1, "prompt": "a lone line"}}),
    );
    for number in 0..30 {
        story.text(&number.to_string(), &format!("text {number}"));
    }
    let lines: Vec<String> = (0..40).map(|number| format!("line {number}")).collect();
    output(&mut story, "b", &lines.join("\n"));
    let mut view = TranscriptView::default();
    let before = rows_of(&draw(&mut view, &story, 60, 15));
    view.begin_typing();
    for query in ["l", "lo", "lon"] {
        view.search(&story.transcript, query);
    }
    assert!(
        rows_of(&draw(&mut view, &story, 60, 15))
            .concat()
            .contains("a lone line")
    );
    for query in ["lo", "l", "li", "line 35"] {
        view.search(&story.transcript, query);
    }
    view.end_typing();
    assert!(
        rows_of(&draw(&mut view, &story, 60, 15))
            .concat()
            .contains("line 35")
    );
    // What was opened on the way is folded again.
    view.clear_search();
    view.to_top(&story.transcript);
    assert!(
        !rows_of(&draw(&mut view, &story, 60, 15))
            .concat()
            .contains("a lone line")
    );
    view.to_bottom();
    view.toggle_fold(&story.transcript, FoldTarget::Selected);
    draw(&mut view, &story, 60, 15);
    view.begin_typing();
    view.search(&story.transcript, "lone");
    view.cancel_typing();
    assert!(view.is_following());
    assert_eq!(rows_of(&draw(&mut view, &story, 60, 15)).last(), before.last());
}

#[test]
fn every_row_of_a_long_line_shows_its_hits_also_those_across_its_ends() {
    let mut story = Story::new();
    output(&mut story, "b", &"needle ".repeat(60));
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 60, 15);
    assert_eq!(view.search(&story.transcript, "needle"), 60);
    let buffer = draw(&mut view, &story, 60, 15);
    let hit = Theme::new(ColorScheme::Dark).style(Role::Hit);
    let current = Theme::new(ColorScheme::Dark).style(Role::CurrentHit);
    let is_marked = |cell: &Cell| {
        let style = cell.style();
        [hit, current].iter().any(|role| style.patch(*role) == style)
    };
    let letters = buffer.content.iter().filter(|cell| cell.symbol() == "d");
    let (marked, other): (Vec<&Cell>, Vec<&Cell>) = letters.partition(|cell| is_marked(cell));
    assert_eq!((marked.len(), other.len()), (60, 0));
}

#[test]
fn the_current_hit_is_marked_where_hits_could_overlap() {
    let mut story = Story::new();
    output(&mut story, "b", &"a".repeat(301));
    let mut view = TranscriptView::default();
    draw(&mut view, &story, 60, 15);
    assert_eq!(view.search(&story.transcript, "aa"), 150);
    let current = Theme::new(ColorScheme::Dark).style(Role::CurrentHit);
    for _ in 0..150 {
        let buffer = draw(&mut view, &story, 60, 15);
        let is_current = |cell: &&Cell| cell.symbol() == "a" && cell.style().patch(current) == cell.style();
        assert_eq!(
            buffer.content.iter().filter(is_current).count(),
            2,
            "{:?}",
            view.hits()
        );
        view.next_hit(&story.transcript);
    }
}
