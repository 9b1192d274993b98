//! Text is there once, however it came.

use std::collections::BTreeMap;

use agent_api::{Body, DeltaMode, ItemId, Part};

use crate::replay::{Replayed, Vendor};

/// The texts that a view would show in the end, by the rules of the contract.
fn shown(replayed: &Replayed) -> Vec<String> {
    let mut deltas: BTreeMap<&ItemId, String> = BTreeMap::new();
    let mut blocks: Vec<(&ItemId, String)> = Vec::new();
    for body in replayed.bodies() {
        match body {
            Body::Delta(delta) if delta.part == Part::Text => {
                assert!(blocks.iter().all(|(item, _)| **item != delta.item));
                let known = deltas.entry(&delta.item).or_default();
                if delta.mode == DeltaMode::Snapshot {
                    known.clear();
                }
                known.push_str(&delta.text);
            }
            Body::TextBlock(block) => {
                if block.piece.index == 0 {
                    blocks.push((&block.item, String::new()));
                }
                let (_, text) = blocks.last_mut().unwrap();
                text.push_str(&block.text);
                if let Some(written) = deltas.get(&block.item).filter(|_| block.piece.is_last) {
                    assert_eq!(written, text, "deltas and block differ");
                }
            }
            Body::ItemDiscarded(discarded) => {
                deltas.remove(&discarded.item);
                blocks.retain(|(item, _)| **item != discarded.item);
            }
            _ => {}
        }
    }
    let complete: Vec<&ItemId> = blocks.iter().map(|(item, _)| *item).collect();
    deltas.retain(|item, _| !complete.contains(item));
    assert!(deltas.is_empty(), "text without a block: {deltas:?}");
    blocks.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn text_rebuilt_from_deltas_is_that_of_the_blocks_and_appears_once() {
    let mut with_deltas = 0;
    for vendor in Vendor::ALL {
        for fixture in vendor.fixtures() {
            let replayed = vendor.replay(&fixture.bytes);
            let texts = shown(&replayed);
            let has_deltas = replayed.bodies().any(|body| matches!(body, Body::Delta(_)));
            with_deltas += usize::from(has_deltas);
            for (index, text) in texts.iter().enumerate() {
                let is_repeated = texts[..index].contains(text);
                assert!(!is_repeated, "{vendor:?}/{}: twice `{text}`", fixture.name);
            }
        }
    }
    assert!(with_deltas > 20, "{with_deltas}");
}

#[test]
fn an_answer_that_gemini_repeats_is_shown_once() {
    let replayed = Vendor::Gemini.replay_fixture("midcut");
    assert_eq!(shown(&replayed), ["This text arrives slowly"]);
    let is_discarded = |body: &&Body| matches!(body, Body::ItemDiscarded(_));
    assert_eq!(replayed.bodies().filter(is_discarded).count(), 3);
}

#[test]
fn an_answer_in_other_words_goes_on_where_the_broken_one_ended() {
    let replayed = Vendor::Gemini.replay_fixture("midcut_once");
    let text = "This text arrives slowlyThe second attempt worked.";
    assert_eq!(shown(&replayed), [text]);
    assert_eq!(replayed.last_turn().unwrap().text.as_deref(), Some(text));
}

#[test]
fn an_answer_that_qwen_gives_up_is_not_shown() {
    let replayed = Vendor::Qwen.replay_fixture("early_end");
    let texts = shown(&replayed);
    assert_eq!(texts.len(), 1, "{texts:?}");
}

#[test]
fn every_character_arrives() {
    let expected = "Unicode: é 漢字 🎉 \u{2028} separator, tab\t quote\" back\\slash newline\nline2 👩‍💻 end";
    for vendor in Vendor::ALL {
        let texts = shown(&vendor.replay_fixture("unicode"));
        assert_eq!(texts, [expected], "{vendor:?}");
    }
}
