//! Texts of which a terminal would obey a part, or that do not fit anywhere; and what may come of them in a buffer. Tests
//! of every screen use them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use run_view::is_forbidden;
use unicode_width::UnicodeWidthStr as _;

pub(crate) fn hostile_texts() -> Vec<String> {
    let payloads = include_str!("../../ralph/tests/console/payloads.json");
    let payloads: Vec<serde_json::Value> = serde_json::from_str(payloads).unwrap();
    let text_of = |payload: &serde_json::Value| payload["text"].as_str().unwrap().to_owned();
    let mut texts: Vec<String> = payloads.iter().map(text_of).collect();
    for last in ('@'..='~').step_by(3) {
        texts.push(format!("a\u{1b}[1;2{last}b\u{9b}?25{last}c"));
    }
    for start in [
        "\u{1b}]8;;http://evil\u{7}",
        "\u{1b}]52;c;ZXZpbA==\u{1b}\\",
        "\u{1b}P+q",
        "\u{90}x",
        "\u{9d}0;t",
    ] {
        for end in ["", "\u{7}", "\u{1b}\\", "\u{9c}", "\n"] {
            texts.push(format!("{start}hidden{end}after"));
        }
    }
    for code in (0x80_u8..0xa0).step_by(2) {
        texts.push(format!("a{}b&#{code};&#x1b;[31m`&#27;`", char::from(code)));
    }
    for odd in [
        '\u{202e}',
        '\u{2066}',
        '\u{200b}',
        '\u{feff}',
        '\u{e0041}',
        '\u{ad}',
        '\u{2028}',
        '\0',
        '\u{7f}',
    ] {
        texts.push(format!(
            "**a{odd}b** [l{odd}](http://{odd}x) | {odd} |\n|--|\n# {odd}\n```{odd}\n{odd}code\n"
        ));
        texts.push(odd.to_string().repeat(100));
    }
    for column in 0..8 {
        let edge = " ".repeat(column);
        texts.push(format!("{edge}{}", "漢".repeat(100)));
        texts.push(format!("{edge}{}\t|", "👩\u{200d}👩\u{200d}👧".repeat(40)));
        texts.push(format!("{edge}\t\ta\tb\t{}", "e\u{301}".repeat(90)));
    }
    texts.push(format!("e{}", "\u{301}".repeat(10_000)));
    texts.push("\u{301}\u{301}starts with marks".to_owned());
    texts.push("x".repeat(1 << 20));
    texts.push("word ".repeat(200_000));
    texts.push("\t".repeat(100_000));
    texts.push(format!("```\n{}\n```\n", "x\t".repeat(500_000)));
    texts.push("\u{1b}[31ma\t\u{1b}[0m".repeat(100_000));
    texts.push(format!("`{}", "```` ".repeat(10_000)));
    texts.push("`".repeat(100_000));
    texts.push("\u{1b}[31m".repeat(1_000));
    texts.push("- ".repeat(500));
    texts.push(">".repeat(500));
    texts.push("[".repeat(2_000));
    texts
}

/// Those that are short enough to be drawn in many places.
pub(crate) fn short_hostile_texts() -> Vec<String> {
    let mut texts = hostile_texts();
    texts.retain(|text| text.len() <= 1 << 11);
    texts
}

/// Nothing forbidden, nothing outside of the area, which is surrounded by `#`, and no row that is wider than it seems.
#[track_caller]
pub(crate) fn assert_nothing_hostile(buffer: &Buffer, area: Rect, text: &str) {
    let shown = text
        .get(..60.min(text.floor_char_boundary(60)))
        .unwrap_or_default();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut hidden = 0;
        for x in buffer.area.left()..buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            if !area.contains((x, y).into()) {
                assert_eq!(symbol, "#", "spilled at {x},{y}: {shown:?}");
                continue;
            }
            // A joiner between pictures is the only one that the sanitiser leaves.
            let is_bad = |it: &char| (is_forbidden(*it) && *it != '\u{200d}') || it.is_control();
            let bad = symbol.chars().find(is_bad);
            assert_eq!(bad, None, "{symbol:?} in {shown:?}");
            assert!(symbol.len() <= 64, "{shown:?}");
            if hidden > 0 {
                assert_eq!(symbol, " ", "{shown:?}");
                hidden -= 1;
                continue;
            }
            assert!(
                usize::from(area.right() - x) >= symbol.width(),
                "{symbol:?} at the edge: {shown:?}"
            );
            hidden = symbol.width().saturating_sub(1);
        }
    }
}

#[test]
fn there_are_hundreds_of_texts() {
    assert!(hostile_texts().len() >= 250, "{}", hostile_texts().len());
    assert!(
        short_hostile_texts().len() >= 200,
        "{}",
        short_hostile_texts().len()
    );
}

/// Whether the assertion fails for a buffer of 6×1 cells, of which the first five are the area.
fn is_refused(change: impl FnOnce(&mut Buffer)) -> bool {
    let mut buffer = Buffer::with_lines(["     #"]);
    change(&mut buffer);
    let check = || assert_nothing_hostile(&buffer, Rect::new(0, 0, 5, 1), "");
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err()
}

#[test]
fn the_assertion_fails_where_it_should() {
    let put = |column: u16, symbol: &'static str| {
        move |buffer: &mut Buffer| {
            buffer[(column, 0)].set_symbol(symbol);
        }
    };
    assert!(!is_refused(put(0, "a")));
    assert!(!is_refused(put(3, "漢")));
    for forbidden in ["\u{1b}[2J", "\u{9b}", "\u{202e}", "\u{200b}", "\0", "\t"] {
        assert!(is_refused(put(0, forbidden)), "{forbidden:?}");
    }
    assert!(is_refused(put(5, "spilled")), "outside of the area");
    assert!(is_refused(put(4, "漢")), "half of it is outside");
    let half_covered = |buffer: &mut Buffer| {
        buffer[(0, 0)].set_symbol("漢");
        buffer[(1, 0)].set_symbol("x");
    };
    assert!(is_refused(half_covered));
    let marks = |buffer: &mut Buffer| {
        buffer[(0, 0)].set_symbol(&"\u{301}".repeat(100));
    };
    assert!(is_refused(marks));
}
