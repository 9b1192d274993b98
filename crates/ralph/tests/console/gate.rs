//! Nothing that a terminal obeys or hides gets through.

use proptest::prelude::*;
use run_view::{Sanitiser, is_forbidden, sanitise};
use serde::Deserialize;

#[derive(Deserialize)]
struct Payload {
    what: String,
    text: String,
    shown: String,
}

fn payloads() -> Vec<Payload> {
    serde_json::from_str(include_str!("payloads.json")).unwrap()
}

/// Without the joiners inside emoji, the only place where one may be.
pub(crate) fn without_joined(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let is_joint = |place: usize| {
        let is_picture = |character: &char| !character.is_alphanumeric() && *character > '\u{2000}';
        characters[place] == '\u{200d}'
            && place > 0
            && is_picture(&characters[place - 1])
            && characters.get(place + 1).is_some_and(is_picture)
    };
    (0..characters.len())
        .filter(|place| !is_joint(*place))
        .map(|place| characters[place])
        .collect()
}

#[test]
fn joined_emoji_survive_and_other_joiners_do_not() {
    for (text, shown) in [
        ("a 👩\u{200d}💻 b", "a 👩\u{200d}💻 b"),
        ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥"),
        ("👩\u{200d}x", "👩x"),
        ("x\u{200d}👩", "x👩"),
        ("👩\u{200d}\u{200d}💻", "👩💻"),
        ("👩\u{200d}", "👩"),
        ("👩\u{200d}\u{1b}[31m💻", "👩💻"),
        ("👩\u{200d}\u{202e}💻", "👩💻"),
    ] {
        assert_eq!(sanitise(text), shown);
        let each = text
            .char_indices()
            .map(|(at, character)| &text[at..at + character.len_utf8()]);
        assert_eq!(in_pieces(each), shown);
    }
}

fn in_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let (mut sanitiser, mut out) = (Sanitiser::default(), String::new());
    for piece in pieces {
        sanitiser.push(piece, &mut out);
    }
    out
}

#[test]
fn every_payload_of_the_corpus_is_disarmed() {
    let payloads = payloads();
    assert!(payloads.len() >= 200, "{}", payloads.len());
    for Payload { what, text, shown } in payloads {
        assert_eq!(sanitise(&text), shown, "{what}");
        assert!(!without_joined(&shown).contains(is_forbidden), "{what}");
    }
}

#[test]
fn a_payload_that_is_cut_anywhere_is_disarmed_the_same() {
    for Payload { what, text, shown } in payloads() {
        for (cut, _) in text.char_indices() {
            let (first, second) = text.split_at(cut);
            assert_eq!(in_pieces([first, "", second]), shown, "{what} at {cut}");
        }
        let each = text
            .char_indices()
            .map(|(at, character)| &text[at..at + character.len_utf8()]);
        assert_eq!(in_pieces(each), shown, "{what}");
    }
}

#[test]
fn harmless_text_is_not_copied() {
    let text = "fn main() { println!(\"é 漢字 😀\"); }\n\tend";
    assert!(matches!(sanitise(text), std::borrow::Cow::Borrowed(same) if same == text));
}

/// Text with many beginnings, ends and pieces of sequences in it.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => any::<char>().prop_map(String::from),
        4 => "[ -~]{0,6}",
        4 => "\u{1b}[\\[\\]PX^_()# -~]{0,3}",
        2 => "[\u{80}-\u{9f}\u{0}-\u{1f}\u{7f}]{1,3}",
        1 => "[\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2028}\u{2029}\u{feff}\u{e0000}-\u{e007f}]{1,3}",
        1 => Just("\u{1b}\\".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_forbidden_is_left_and_nothing_is_left_to_do(text in nasty()) {
        let clean = sanitise(&text).into_owned();
        prop_assert_eq!(without_joined(&clean).chars().find(|character| is_forbidden(*character)), None);
        prop_assert_eq!(sanitise(&clean).into_owned(), clean);
    }

    #[test]
    fn pieces_give_the_same_as_the_whole(pieces in prop::collection::vec(nasty(), 0..5)) {
        let whole = pieces.concat();
        prop_assert_eq!(in_pieces(pieces.iter().map(String::as_str)), sanitise(&whole).into_owned());
    }

    #[test]
    fn text_without_sequences_loses_no_letter(text in "[ -~éß漢字😀\n\t]{0,40}") {
        prop_assert_eq!(sanitise(&text).into_owned(), text);
    }
}
