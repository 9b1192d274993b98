//! `PasteBurst`: recognises a paste or a dictation that the terminal did not mark, by its speed.

use std::time::{Duration, Instant};

use crate::key::Key;

/// People do not type this many characters at once. A key that is held down repeats one character.
const MIN_CHARACTERS: usize = 6;
/// What follows this soon after a burst belongs to it: a slow connection delivers a paste in pieces.
const CONTINUATION_TIME: Duration = Duration::from_millis(30);

/// Keys of a full screen act at once, so a text that arrives as keys would act many times. Joined into
/// [`Key::Paste`], it is a text again.
#[derive(Debug, Default)]
pub(crate) struct PasteBurst {
    last_at: Option<Instant>,
}

impl PasteBurst {
    /// Takes the keys that were read at once, and joins them if they are a text.
    pub(crate) fn join(&mut self, keys: Vec<Key>, now: Instant) -> Vec<Key> {
        let is_continued = self
            .last_at
            .take()
            .is_some_and(|last| now.saturating_duration_since(last) < CONTINUATION_TIME);
        let Some(text) = text_of(&keys) else { return keys };
        // A program that types a text, such as `tmux send-keys`, presses Enter at once.
        let is_continuation = is_continued && text != "\n";
        let is_text = is_continuation || is_burst(&text);
        if !is_text || text.is_empty() {
            return keys;
        }
        self.last_at = Some(now);
        vec![Key::Paste(text)]
    }
}

/// The characters, if the keys are nothing else.
fn text_of(keys: &[Key]) -> Option<String> {
    keys.iter()
        .map(|key| match key {
            Key::Character(character) => Some(*character),
            Key::Enter | Key::LineBreak => Some('\n'),
            _ => None,
        })
        .collect()
}

fn is_burst(text: &str) -> bool {
    let first = text.chars().next();
    text.chars().count() >= MIN_CHARACTERS && text.chars().any(|other| Some(other) != first)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Key, PasteBurst};

    fn keys(text: &str) -> Vec<Key> {
        text.chars()
            .map(|character| match character {
                '\n' => Key::Enter,
                _ => Key::Character(character),
            })
            .collect()
    }

    #[test]
    fn a_text_that_arrives_at_once_is_a_paste_and_so_is_its_last_piece() {
        let (mut burst, start) = (PasteBurst::default(), Instant::now());
        assert_eq!(
            burst.join(keys("quit now\n"), start),
            [Key::Paste("quit now\n".to_owned())]
        );
        let soon = start + Duration::from_millis(20);
        assert_eq!(burst.join(keys("y\n"), soon), [Key::Paste("y\n".to_owned())]);
        assert_eq!(burst.join(keys("\n"), soon), [Key::Enter]);
        let later = soon + Duration::from_millis(50);
        assert_eq!(burst.join(keys("q"), later), keys("q"));
    }

    #[test]
    fn typed_keys_repeated_keys_and_sequences_stay_keys() {
        let (mut burst, now) = (PasteBurst::default(), Instant::now());
        for typed in ["jk", "dddddddddddd", "\n\n\n\n\n\n\n", "?"] {
            assert_eq!(burst.join(keys(typed), now), keys(typed));
        }
        let mut mixed = keys("abcdefgh");
        mixed.push(Key::Up);
        assert_eq!(burst.join(mixed.clone(), now), mixed);
    }
}
